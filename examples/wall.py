"""
Wall of blocks
==============

A dry wall in the plane, six courses of blocks, each set off by half a block against the one
below, without mortar or friction. How a bed joint shares its load among the corners of the blocks
is open to rigid bodies; its total is the weight above it.
"""

import sys

import numpy as np

import rigidlimit as rl

width, height, courses, weight = 0.4, 0.2, 6, 100.0
scene = rl.Scene(name="wall", dim=2, gravity=(0, -10), duration=0.01)
scene.add(rl.HalfSpace(2), position=(0, 0), name="ground")
rows = []
for course in range(courses):
    blocks = 4 - course % 2  # every other course is one block shorter
    x = (np.arange(blocks) - (blocks - 1) / 2) * (width + 0.01)
    centres = np.column_stack([x, np.full(blocks, (course + 0.5) * height)])
    rows.append(scene.add_many(rl.rectangle(width, height), centres, mass=weight / 10))

result = rl.Simulation(scene).step()
assert result.converged
course_of = {body: course for course, row in enumerate(rows) for body in row}
lower = np.array([course_of.get(min(pair), -1) for pair in result.contacts.body])
for joint in range(-1, courses - 1):
    above = weight * sum(len(row) for row in rows[joint + 1 :])
    carried = result.force[lower == joint].sum()
    print(f"joint {joint + 1}: {(lower == joint).sum()} contacts carry {carried:.4f} N")
    assert abs(carried - above) < 1e-8 * above

# %%
# The wall is symmetric, and so are its compatible forces.

at, force = result.contacts.point, result.force
for point, f in zip(at, force, strict=True):
    mirror = np.abs(at - point * [-1, 1, 1]).sum(axis=1).argmin()
    assert abs(force[mirror] - f) < 1e-6 * weight

figure = rl.plots.force_network(result)
if len(sys.argv) > 1:  # python examples/wall.py wall.pdf
    rl.plots.save_figure(figure, sys.argv[1])
