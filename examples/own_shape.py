"""
Own shape
=========

Any convex body is the hull of its corners: here a stone with five corners below and three above.
It stands on five points, and three equations do not determine five forces.
"""

import sys

import numpy as np

import rigidlimit as rl

turn = 2 * np.pi * np.arange(5) / 5
base = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(5)])
top = np.array([[0.4, 0, 0.8], [-0.3, 0.4, 0.7], [-0.3, -0.4, 0.7]])
stone = rl.ConvexPolyhedron(np.concatenate([base, top]))
print(f"volume {stone.measure:.4f} m3, centre of mass {stone.centre.round(4)} m")

weight = 1000.0
scene = rl.Scene(name="stone", gravity=(0, 0, -10), duration=0.01)
scene.add(rl.HalfSpace(), position=(0, 0, 0), name="ground")
scene.add(stone, position=stone.centre, mass=weight / 10, name="stone")
result = rl.Simulation(scene).step()

# %%
# Corners on a regular polygon of radius R share the weight as W/n (1 + 2 x·X/R²), with x the
# centre of mass and X the corner.

corner, centre = result.contacts.point[:, :2], stone.centre[:2]
known = weight / 5 * (1 + 2 * corner @ centre)
print(result.force.round(4))
np.testing.assert_allclose(result.force, known, rtol=1e-6)

figure = rl.plots.floor_forces(result, methods=["compatible"])
if len(sys.argv) > 1:  # python examples/own_shape.py stone.pdf
    rl.plots.save_figure(figure, sys.argv[1])
