"""
Stop and resume
===============

A run can be stopped and go on later, bit for bit: what the next steps depend on is a handful of
arrays. On the command line ``rigidlimit run SCENE --out FILE.h5`` and ``--resume`` do the same.
"""

import io
import sys

import numpy as np

import rigidlimit as rl

whole = rl.Simulation("newton-cradle")
expected = whole.run(until=0.02)

first = rl.Simulation("newton-cradle")
first.run(until=0.008)
file = io.BytesIO()  # a file on disk does as well
np.savez(file, allow_pickle=False, **first.checkpoint())

# %%
# Later, in another process.

file.seek(0)
second = rl.Simulation("newton-cradle")
second.restore(dict(np.load(file)))
result = second.run(until=0.02)
assert np.array_equal(result.state.position, expected.state.position)
assert np.array_equal(result.state.velocity, expected.state.velocity)
speed = result.state.velocity[:, 0].round(6)
print("speeds along the row", speed, "m/s")
assert abs((whole.bodies.mass * speed).sum() / whole.bodies.mass[0] - 1) < 1e-6

figure = rl.plots.scene_figure(result, view="front")
if len(sys.argv) > 1:  # python examples/stop_and_resume.py cradle.pdf
    rl.plots.save_figure(figure, sys.argv[1])
