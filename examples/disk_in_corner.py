"""
Disk in a corner
================

Two planes hold a disk of weight W. Two forces, two equations: balance alone determines them,
W sin(b)/sin(a + b) on the plane that rises at the angle a, and classic and compatible forces are
the same. Determinacy says so.
"""

import sys

import numpy as np

import rigidlimit as rl

weight, a, b = 10.0, np.radians(30), np.radians(45)
result = rl.Simulation(rl.scenes.disk_in_corner(30, 45, weight=weight)).step()
known = weight * np.sin([b, a]) / np.sin(a + b)
np.testing.assert_allclose(result.force, known, rtol=1e-9)
np.testing.assert_allclose(result.classic.force, known, rtol=1e-6)

free = result.bodies.free.ravel()
found = rl.determinacy(result.B, result.load, fixed=~free)
print(found.message)
assert found.degree == 0 and found.determined.all()

figure = rl.plots.force_network(result)
if len(sys.argv) > 1:  # python examples/disk_in_corner.py corner.pdf
    rl.plots.save_figure(figure, sys.argv[1])
