"""
Beam on three supports
======================

The smallest problem with forces that rigid bodies leave open: a beam of weight 10 N on supports at
its ends and its middle. Balance of forces and moments gives two equations for three forces. Equal
stiff supports carry 10/3 N each; if the middle contact is three times as stiff they carry 2, 6
and 2 N.
"""

import sys

import numpy as np

import rigidlimit as rl

equal = rl.Simulation(rl.scenes.beam()).step()
np.testing.assert_allclose(equal.force, 10 / 3, rtol=1e-9)

# %%
# The classic forces of projected Gauss-Seidel depend on the order in which the supports are
# numbered: here the middle one first, which then carries everything.

plain = {"subspace": False}
in_order = rl.Simulation(rl.scenes.beam(), solver="pgs", solver_options=plain).step()
print("in order    ", in_order.classic.force.round(3))
scene = rl.scenes.beam(order=(1, 0, 2))
middle_first = rl.Simulation(scene, solver="pgs", solver_options=plain).step()
print("middle first", middle_first.classic.force.round(3))
np.testing.assert_allclose(middle_first.classic.force, [10, 0, 0], atol=1e-6)
np.testing.assert_allclose(middle_first.force, 10 / 3, rtol=1e-9)

# %%
# With a stiffer middle nothing changes for rigid bodies; projected gradient happens to give equal
# forces, as it does with equal supports.

result = rl.Simulation(rl.scenes.beam(stiffness=(1, 3, 1)), solver="apgd").step()
print("classic   ", result.classic.force.round(6), "N")
print("compatible", result.force.round(6), "N")
np.testing.assert_allclose(result.classic.force, 10 / 3, rtol=1e-6)
np.testing.assert_allclose(result.force, [2, 6, 2], rtol=1e-9)

figure = rl.plots.comparison(result)
if len(sys.argv) > 1:  # python examples/beam.py beam.pdf
    rl.plots.save_figure(figure, sys.argv[1])
