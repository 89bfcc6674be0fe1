"""
Check against a DEM
===================

Compatible forces claim to be the limit of stiff elastic contact. The claim can be tested: the same
pyramid at rest by the penalty method, at three stiffnesses. The difference shrinks as one over the
stiffness, slope -1 in this chart, because the overlaps that disturb the geometry do.
"""

import sys

from matplotlib.figure import Figure

import rigidlimit as rl
from rigidlimit.penalty import stiffness_sweep

scale, error, slope = stiffness_sweep(rl.scenes.pyramid(4), (1e-5, 1e-4, 1e-3))
for s, e in zip(scale, error, strict=True):
    print(f"E = {50e9 * s:.0e} Pa: relative difference of all contact forces {e:.1e}")
print(f"slope {slope:.4f}")
assert abs(slope + 1) < 0.01
assert error[-1] < 2e-6

figure = Figure(figsize=(3.5, 2.4), layout="constrained")
axes = figure.subplots()
axes.loglog(50e9 * scale, error, "o-")
axes.set_xlabel("Young's modulus of the DEM [Pa]")
axes.set_ylabel("difference of forces [-]")
if len(sys.argv) > 1:  # python examples/dem_check.py dem.pdf
    rl.plots.save_figure(figure, sys.argv[1])
