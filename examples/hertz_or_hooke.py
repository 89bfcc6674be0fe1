"""
Hertz or Hooke
==============

The law of the contacts changes the forces even in the rigid limit: k c for Hooke (p = 2) and
k c^(3/2) for Hertz (p = 5/2). On three equal supports under a beam the two agree as long as the
beam does not turn, and differ when it does.
"""

import sys

import numpy as np

import rigidlimit as rl

X = np.array([-1.0, 0.0, 1.0])
B = np.column_stack([np.ones(3), X])
load = [3.0, 1.0]  # a force of 3 N and a moment of 1 N m about the middle

hooke = rl.compatible_forces(B, load, exponent=2).force
np.testing.assert_allclose(hooke, [0.5, 1.0, 1.5], rtol=1e-9)

# %%
# Hertz: the overlaps c = a + b X lie on a line, f = c^(3/2). A few steps of bisection for b/a,
# with f3 - f1 = 1 N and f1 + f2 + f3 = 3 N, is all that the known answer takes.

low, high = 0.0, 1.0
for _ in range(60):
    slope = (low + high) / 2
    f = np.maximum(1 + slope * X, 0) ** 1.5
    low, high = (slope, high) if (f[2] - f[0]) / f.sum() < 1 / 3 else (low, slope)
hertz = rl.compatible_forces(B, load, exponent=2.5).force
np.testing.assert_allclose(hertz, 3 * f / f.sum(), rtol=1e-8)
print("Hooke", hooke.round(4), "Hertz", hertz.round(4))

# %%
# In a pyramid of ten spheres along the base the largest force differs by 2.3 percent.

forces = {}
for law, known in ("hooke", 2.163714), ("hertz", 2.214344):
    scene = rl.scenes.pyramid(10, law=law, drop=0)
    result = rl.Simulation(scene).step()
    forces[law] = result.force.max() / (9.81 * scene.bodies.mass[-1])
    assert abs(forces[law] - known) < 2e-6
print({law: round(force, 4) for law, force in forces.items()})

figure = rl.plots.force_histogram(result, methods=["compatible"])
if len(sys.argv) > 1:  # python examples/hertz_or_hooke.py hertz.pdf
    rl.plots.save_figure(figure, sys.argv[1])
