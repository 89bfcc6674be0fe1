"""
Random packing and its force histogram
======================================

Disks of unequal size fall into a box. During the fall only contact dynamics is solved; the last
step adds the compatible forces. At rest the floor carries the whole weight, and the forces spread
over a few times their mean, as in every granular packing.
"""

import sys

import rigidlimit as rl

scene = rl.scenes.pile_2d(40)
simulation = rl.Simulation(scene, compatible="never")
result = simulation.run(until=scene.duration)
assert result.converged and simulation.at_rest

floor = scene.index("floor")
on_floor = (result.contacts.body == floor).any(axis=1)
weight = 9.81 * scene.bodies.mass.sum()
print(f"floor {result.force[on_floor].sum():.6f} N, weight {weight:.6f} N")
assert abs(result.force[on_floor].sum() - weight) < 1e-5 * weight

# %%
# How the forces are spread.

figure = rl.plots.force_histogram(result, methods=["compatible"])

# %%
# And where they run.

figure = rl.plots.force_network(result)
if len(sys.argv) > 1:  # python examples/packing.py packing.pdf
    rl.plots.save_figure(figure, sys.argv[1])
