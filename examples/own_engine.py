"""
Bring your own engine
=====================

The second step of the method needs no scene and no shapes, only what every rigid-body engine has:
the gap gradient B (contacts x degrees of freedom) and a load. Here two boxes lie on one another,
four contacts at each level; the engine is a few lines of numpy.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import rigidlimit as rl

# two bodies with three degrees of freedom each that matter: rise, turn about x, turn about y
corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.5
lever = np.column_stack([np.ones(4), corner[:, 1], -corner[:, 0]])
floor = np.hstack([lever, np.zeros((4, 3))])  # the lower box over the ground
between = np.hstack([-lever, lever])  # the upper box over the lower one
B = np.vstack([floor, between])

M = np.array([2.0, 0.2, 0.2, 1.0, 0.1, 0.1])
gravity = -9.81 * M * [1, 0, 0, 1, 0, 0]
gravity[4] -= 0.2 * 9.81  # someone leans on the upper box: a moment about x

# %%
# Step 1, here by the library; an engine has its own. Velocities are unique, forces are not.

v, dt = np.zeros(6), 1e-3
step = rl.contact_dynamics(M, B, np.zeros(8), v, gravity, dt, solver="pgs")

# %%
# Step 2: the load is what the contacts must deliver, M (v+ - v)/dt - F_ext. Give it without its
# rounding errors as B^T f of the engine's own forces.

load = B.T @ step.force
np.testing.assert_allclose(load, M * (step.velocity - v) / dt - gravity, atol=1e-8)
answer = rl.compatible_forces(B, load)
np.testing.assert_allclose(answer.force[:4].sum(), 3 * 9.81, rtol=1e-9)
upper = 9.81 * (1 / 4 + 0.2 * corner[:, 1])  # W/4 + moment * lever / sum of levers squared
np.testing.assert_allclose(answer.force[4:], upper, rtol=1e-9)
print(answer.force.round(4), answer.message)

figure = Figure(figsize=(3.5, 2.4), layout="constrained")
axes = figure.subplots()
axes.bar(np.arange(8) - 0.2, step.force, 0.4, color="#999999", label="classic")
axes.bar(np.arange(8) + 0.2, answer.force, 0.4, color="#0072b2", label="compatible")
axes.set_xlabel("contact (4 to 7: between boxes)")
axes.set_ylabel("force [N]")
axes.legend(frameon=False)
if len(sys.argv) > 1:  # python examples/own_engine.py forces.pdf
    rl.plots.save_figure(figure, sys.argv[1])
