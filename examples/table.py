"""
Table on four legs
==================

Euler's question of 1773: how do four equal legs share the weight of a stiff table? The leg at
(X, Y) carries W/4 (1 + x X/a² + y Y/b²) for a weight W at (x, y), as long as no leg lifts.
"""

import sys

import numpy as np

import rigidlimit as rl

x, y, a, b, weight = 0.2, 0.1, 1.0, 1.0, 100.0
result = rl.Simulation(rl.scenes.four_leg_table(load_at=(x, y))).step()
for point, force in zip(result.contacts.point, result.force, strict=True):
    X, Y = np.sign(point[:2]) * (a, b)
    known = weight / 4 * (1 + x * X / a**2 + y * Y / b**2)
    print(f"leg at ({X:+.0f}, {Y:+.0f}) m: {force:.4f} N, known {known:.4f} N")
    assert abs(force - known) < 1e-6 * weight

# %%
# Move the weight far towards one corner and the opposite leg lifts: the formula turns negative
# there, while contact forces cannot. Three legs then carry everything, by balance alone.

lifted = rl.Simulation(rl.scenes.four_leg_table(load_at=(0.7, 0.6))).step()
assert lifted.force.min() < 1e-9 * weight
np.testing.assert_allclose(np.sort(lifted.force), [0, 15, 20, 65], atol=1e-6)

figure = rl.plots.floor_forces(result, methods=["compatible"])
if len(sys.argv) > 1:  # python examples/table.py table.pdf
    rl.plots.save_figure(figure, sys.argv[1])
