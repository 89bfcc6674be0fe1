"""
Cannonball pyramid
==================

Spheres stacked on a square base of fixed ones, the packing of section 8.2 of Olsen and Kamrin.
Every inner sphere has twelve neighbours, so the forces are far from determined. The classic ones
come from projected Gauss-Seidel; the largest compatible one is 2.163714 times the weight of a
sphere at ten spheres along the base, for equal Hookean contacts.
"""

import sys

import rigidlimit as rl

scene = rl.scenes.pyramid(10, drop=0)
simulation = rl.Simulation(scene, solver="pgs", solver_options={"subspace": False})
result = simulation.step()
weight = 9.81 * scene.bodies.mass[-1]
classic, compatible = result.classic.force.max() / weight, result.force.max() / weight
print(f"largest force over the weight of a sphere: classic {classic:.4f}, {compatible:.6f}")
assert abs(compatible - scene.reference["largest over weight"]) < 2e-6
assert classic > 1.2 * compatible

# %%
# Another numbering of the contacts gives other classic forces and the same compatible ones.

options = {"subspace": False, "order": "random"}
other = rl.Simulation(scene, solver="pgs", solver_options=options).step()
print(f"in random order: classic {other.classic.force.max() / weight:.4f}")
assert abs(other.force - result.force).max() < 1e-6 * weight
assert abs(other.classic.force - result.classic.force).max() > 0.1 * weight

figure = rl.plots.comparison(result, view="front")
if len(sys.argv) > 1:  # python examples/pyramid.py pyramid.pdf
    rl.plots.save_figure(figure, sys.argv[1])
