"""
A peg in its hole: which push came first?
=========================================

A peg of 0.5 kg that just fits is pushed sideways by 20 N at its head, and down by 15 N. Walls and
bottom share the load by friction, and what sticks remembers the order of the pushes. Did it matter
here? Yes: MuJoCo's friction creeps until the bottom carries 19.9 N in either order. With contacts
that remember it carries 10.0 N where the sideways push came first, 15.6 N where it came last.
(With 0.2 mm of clearance the peg strikes the wall, and how hard decides too: 8 to 13 N.)
Needs ``pip install 'rigidlimit[mujoco]'``.
"""

import sys

import mujoco
import numpy as np
from matplotlib.figure import Figure

import rigidlimit as rl
from rigidlimit.adapters import Mender

model = mujoco.MjModel.from_xml_string("""<mujoco>
<option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
<default><geom type="box" friction=".3" solref=".004 1"/></default>
<worldbody>
  <geom name="bottom" size=".05 .05 .01" pos="0 0 -.01"/>
  <geom name="left" size=".01001 .03 .03" pos="-.03 0 .03"/>
  <geom name="right" size=".01001 .03 .03" pos=".03 0 .03"/>
  <body name="peg" pos="0 0 .05999"><freejoint/><geom size=".02 .02 .06" mass=".5"/></body>
</worldbody></mujoco>""")


def pushed(sideways, down):
    """The peg, whose pushes grow for 0.3 s from these times on."""
    data = mujoco.MjData(model)
    while data.time < 1.5:
        aside, press = (np.clip((data.time - begin) / 0.3, 0, 1) for begin in (sideways, down))
        data.body("peg").xfrc_applied[:] = 20 * aside, 0, -15 * press, 0, aside, 0
        mujoco.mj_step(model, data, 5)
        yield data


figure, last = Figure(figsize=(6.5, 2.6), layout="constrained"), {}
panels = figure.subplots(1, 2, sharey=True)
for axes, order, begins in zip(panels, ("sideways", "down"), ((0.3, 0.9), (0.9, 0.3)), strict=True):
    nets = [mended.on("bottom") for mended in Mender(model).along(pushed(*begins))]
    pressed = -np.array([[net.engine_force[2], net.force[2]] for net in nets])
    axes.plot(0.005 * np.arange(len(nets)), pressed, label=["MuJoCo", "mended, remembering"])
    axes.set(title=f"{order} first", xlabel="time [s]")
    last[order] = pressed[-1]
    print(f"{order} first: {pressed[-1].round(1)} N at the bottom (MuJoCo, mended)")
panels[0].set_ylabel("force on the bottom [N]")
panels[0].legend(frameon=False)
theirs, ours = last["down"] - last["sideways"]
np.testing.assert_allclose([theirs, ours], [0.0, 5.6], atol=0.3)
if len(sys.argv) > 1:  # python examples/mujoco_peg.py peg.pdf
    rl.plots.save_figure(figure, sys.argv[1])
