"""
Is this arch safe?
==================

A semicircular arch of voussoirs, dry. It is pushed sideways until nothing balances the load any
more: it goes by four hinges. The thrust of its elastic forces, and the least friction and
thickness of the books, 0.395 and 0.1075 of the radius (Milankovitch 1907, Heyman 1969).
"""

import sys

import numpy as np

import rigidlimit as rl

arch = rl.statics(rl.scenes.arch(24, thickness=0.15, friction=0.6))
answer = arch.forces()
force = np.column_stack([answer.force, answer.tangential_force])
thrust = rl.plots.thrust_line(arch, force, title=f"forces of elastic bodies: {answer.state}")
feet = arch.joints(force).force[arch.joints(force).body[:, 0] == 0]
weight = arch.bodies.mass[1:].sum() * 9.81
np.testing.assert_allclose(feet[:, 1], weight / 2, rtol=1e-9)

# %%
# Pushed by a factor of its weight, as by a floor that tilts. The mechanism has no sliding contact,
# so it is one of Coulomb's law as well.

pushed = arch.load_factor()
print(pushed.message)
assert pushed.exact and pushed.opens.sum() == 4 and 0.14 < pushed.factor < 0.16

# %%
# How much friction it takes, and how much the thinnest one takes: that of the books.

print(arch.least_friction().message)
thin = rl.statics(rl.scenes.arch(32, thickness=0.1073))
least = thin.least_friction().factor
margin = thin.load_factor().factor
print(f"thickness 0.1073: friction {least:.4f}, pushed at most by {margin:.1e} of its weight")
assert abs(least - 0.395) < 1e-3 and 0 < margin < 1e-3
assert not rl.statics(rl.scenes.arch(32, thickness=0.107)).load_factor().converged

figure = rl.plots.collapse_mechanism(arch, pushed)
if len(sys.argv) > 1:  # python examples/arch.py arch.pdf
    rl.plots.save_figure(figure, sys.argv[1])
