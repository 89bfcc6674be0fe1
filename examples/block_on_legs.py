"""
Block on many legs
==================

A stiff block on eleven equal legs, its weight in the middle: W/11 each. With a weight at the
distance x from the middle the forces lie on a straight line, W/n (1 + x X n / sum of X²), because
the block stays straight while the legs give way.
"""

import sys

import numpy as np

import rigidlimit as rl

legs, weight = 11, 10.0
result = rl.Simulation(rl.scenes.block_on_legs(legs, weight=weight)).step()
np.testing.assert_allclose(result.force, weight / legs, rtol=1e-9)

# %%
# The same block under a weight that is 0.3 m off the middle, from its equations alone: one row of
# B a leg, with the rise of the block and its turn as columns.

X = np.linspace(-1, 1, legs)
x = 0.3
B = np.column_stack([np.ones(legs), X])
answer = rl.compatible_forces(B, [weight, weight * x])
np.testing.assert_allclose(answer.force, weight / legs * (1 + x * X * legs / (X @ X)), rtol=1e-9)
print(answer.force.round(4), answer.status)

figure = rl.plots.force_network(result)
if len(sys.argv) > 1:  # python examples/block_on_legs.py block.pdf
    rl.plots.save_figure(figure, sys.argv[1])
