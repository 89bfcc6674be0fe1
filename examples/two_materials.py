"""
Two materials
=============

A pyramid in which every other sphere is five times as stiff. Two bodies press like two springs in
series, so contacts soft-soft, soft-stiff and stiff-stiff relate as 1/5 : 1/3 : 1, and load moves
to the stiff ones. Rigid bodies alone know nothing of this.
"""

import sys

import numpy as np

import rigidlimit as rl

scene = rl.scenes.pyramid(6, young_ratio=5, drop=0)
result = rl.Simulation(scene).step()
relative = np.unique((result.stiffness / result.stiffness.max()).round(12))
np.testing.assert_allclose(relative, [1 / 5, 1 / 3, 1], rtol=1e-9)

# %%
# Mean force in contacts of each kind over the mean of all.

loaded = result.force > 1e-9 * result.force.max()
share = []
for k in relative:
    kind = np.isclose(result.stiffness / result.stiffness.max(), k)
    share.append(result.force[kind].mean() / result.force.mean())
    print(f"relative stiffness {k:.3f}: {share[-1]:.3f} of the mean force")
assert share[0] < share[1] < share[2]

# %%
# Only ratios enter: spheres of a thousandth of the stiffness carry the same forces.

soft = rl.Simulation(rl.scenes.pyramid(6, young=50e6, young_ratio=5, drop=0)).step()
np.testing.assert_allclose(soft.force, result.force, atol=1e-8 * result.force.max())

figure = rl.plots.force_network(result, view="front")
if len(sys.argv) > 1:  # python examples/two_materials.py materials.pdf
    rl.plots.save_figure(figure, sys.argv[1])
