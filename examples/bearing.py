"""
Stribeck's bearing
==================

How do the rollers of a bearing share a radial load F? Stribeck (1901): the race sinks by d, roller
i at the angle ψ is pressed by c = d cos ψ, and with f = k c^(p-1) balance asks that
f = F cos^(p-1) ψ / Σ cos^p ψ over the loaded half. The largest of z forces is 4 F/z for Hooke's
law, 4.37 F/z for balls (Hertz). Rigid mechanics determines none of them.
"""

import sys

import numpy as np

import rigidlimit as rl

z, F, inner, roller = 16, 1000.0, 0.04, 0.007
psi = 2 * np.pi * np.arange(z) / z - np.pi / 2  # roller 0 is below
out = np.column_stack([np.cos(psi), np.sin(psi)])


def bearing(law):  # rollers are held: what keeps them in their places is the cage
    scene = rl.Scene(name="bearing", dim=2, gravity=(0, 0), law=law)
    scene.add(rl.Disk(inner), position=(0, 0), mass=1, load=(0, -F), name="shaft")
    scene.add_many(rl.Disk(roller), (inner + roller) * out, fixed=True)
    return scene


loaded = np.maximum(-out[:, 1], 0)
for law, p, factor in (("hooke", 2, 4.0), ("hertz", 2.5, 4.37)):
    result = rl.Simulation(bearing(law)).step()
    force = result.force
    assert result.converged
    print(law, force.round(2), "largest", (force.max() * z / F).round(3), "F/z")
    np.testing.assert_allclose(force, F * loaded ** (p - 1) / (loaded**p).sum(), atol=1e-6)
    assert abs(force.max() * z / F - factor) < 0.01

# %%
# A radial clearance narrows the loaded zone: c = d cos ψ - g. It is of the size of the elastic
# overlaps, so the stiffness of a roller counts, here 1e10 N/m^1.5, and rigid geometry has no gap.

clearance = np.full(z, 10e-6)
tight = rl.compatible_forces(-out, [0, F], stiffness=1e10, exponent=2.5)
loose = rl.compatible_forces(-out, [0, F], stiffness=1e10, exponent=2.5, gap_error=clearance)
sunk = -loose.displacement[1]
assert tight.converged and loose.converged
np.testing.assert_allclose(
    loose.force, 1e10 * np.maximum(sunk * loaded - clearance, 0) ** 1.5, atol=1e-5
)
print("largest", tight.force.max().round(1), "N; with clearance", loose.force.max().round(1), "N")

figure = rl.plots.force_network(result)
if len(sys.argv) > 1:  # python examples/bearing.py bearing.pdf
    rl.plots.save_figure(figure, sys.argv[1])
