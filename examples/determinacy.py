"""
What is determined, and how far the rest is open
================================================

Before any stiffness is chosen: the admissible forces of a table with its weight in the middle form
a line segment. Each leg may carry anything from 0 to half the weight, opposite legs alike; the
compatible answer, a quarter each, is in the middle.
"""

import sys

import numpy as np

import rigidlimit as rl

weight = 100.0
result = rl.Simulation(rl.scenes.four_leg_table(load_at=(0, 0), weight=weight)).step()
fixed = ~result.bodies.free.ravel()
found = rl.determinacy(result.B, result.load, force=result.force, fixed=fixed)
print(found.message)
assert found.degree == 1 and not found.determined.any()
np.testing.assert_allclose(found.interval, [[0, weight / 2]] * 4, atol=1e-6)
np.testing.assert_allclose(result.force, weight / 4, rtol=1e-9)
np.testing.assert_allclose(found.position, 0.5, atol=1e-6)

# %%
# Right above a leg nothing is open any more: that leg carries everything.

corner = rl.Simulation(rl.scenes.four_leg_table(load_at=(1, 1), weight=weight)).step()
found_at_leg = rl.determinacy(corner.B, corner.load, fixed=fixed)
assert found_at_leg.degree == 0
np.testing.assert_allclose(np.sort(corner.force), [0, 0, 0, weight], atol=1e-6)

figure = rl.plots.determinacy_map(result, view="front")
if len(sys.argv) > 1:  # python examples/determinacy.py determinacy.pdf
    rl.plots.save_figure(figure, sys.argv[1])
