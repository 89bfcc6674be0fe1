"""
A box pushed along a table
==========================

A finger pushes a loaded box of 5 kg along a table, harder and harder until it slides. Did it
matter here? Until it slides, yes: where a corner is near slipping MuJoCo's forces of the four
corners are off the stiff limit by up to a third of the largest. Once it slides, no: friction is at
its bound everywhere, and forces change by less than a hundredth. Just before, above some 17 N, no
equilibrium of Coulomb's law is found in many states, and forces are those of least energy, which
their status says. Needs ``pip install 'rigidlimit[mujoco]'``.
"""

import sys

import mujoco
import numpy as np
from matplotlib.figure import Figure

import rigidlimit as rl
from rigidlimit.adapters import Mender

model = mujoco.MjModel.from_xml_string("""<mujoco>
<option timestep="0.002" integrator="implicitfast" cone="elliptic"/>
<default><geom friction=".4" solref=".01 1"/></default>
<worldbody>
  <geom name="table" type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .1"><freejoint/>
    <geom name="box" type="box" size=".15 .1 .1" mass="3"/>
    <geom name="load" type="box" size=".03 .03 .03" pos=".06 .04 .13" mass="2"/></body>
  <body name="finger" pos="-.18 .02 .03"><joint name="push" type="slide" axis="1 0 0" damping="60"/>
    <geom name="tip" type="sphere" size=".03" mass=".5"/></body>
</worldbody><actuator><motor joint="push"/></actuator></mujoco>""")
data, mender = mujoco.MjData(model), Mender(model)
push, speed, change, corners = [], [], [], []
while data.time < 2.4:
    data.ctrl[0] = min(16 * data.time, 26)
    mujoco.mj_step(model, data, 5)
    mended = mender.mend(data)
    push.append(mended.on("tip").normal_force)
    speed.append(data.qvel[0])
    change.append(mended.largest_change)
    if np.ptp(data.contact.geom[:4], axis=0).max() == 0:  # the four corners
        corners.append([push[-1], *mended.engine_force[:4], *mended.force[:4]])

slides, change = np.array(speed) > 0.01, np.array(change)
before, after = change[~slides].max(), np.median(change[slides])
print(f"largest change {100 * before:.0f} % before it slides, {100 * after:.1f} % while it slides")
figure = Figure(figsize=(5.0, 2.8), layout="constrained")
axes, table = figure.subplots(), np.array([row for row in corners if 0.5 < row[0] < 19.0])
for k in range(4):
    axes.plot(table[:, 0], table[:, 1 + k], "--", color=f"C{k}")
    axes.plot(table[:, 0], table[:, 5 + k], color=f"C{k}")
axes.set(xlabel="push [N]", ylabel="normal force of a corner [N]")
axes.legend(["MuJoCo", "mended"], frameon=False)
np.testing.assert_allclose([before, after], [0.37, 0.0], atol=0.02)
if len(sys.argv) > 1:  # python examples/mujoco_push.py push.pdf
    rl.plots.save_figure(figure, sys.argv[1])
