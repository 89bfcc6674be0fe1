"""
A walk: how near to slipping is each foot?
==========================================

A robot of 13 kg creeps on four feet, one in the air at a time. Did it matter here? That depends on
what moves its legs. With the torques that its servos deliver, no: each leg's own balance tells what
its foot carries, and normal forces are MuJoCo's to 0.01 N. With joints that hold their places, yes:
where four feet are on the ground, feet carry up to 33 N more or less, and margins of friction
follow; with other gaits it was 10 to 29 N. Needs ``pip install 'rigidlimit[mujoco]'``.
"""

import sys

import mujoco
import numpy as np
from matplotlib.figure import Figure

import rigidlimit as rl
from rigidlimit.adapters import Mender

FEET = {"HL": (-0.2, 0.12), "FL": (0.2, 0.12), "HR": (-0.2, -0.12), "FR": (0.2, -0.12)}
legs = "".join(
    f"""<body pos="{x} {y} -.05"><joint name="{name} x" type="slide" axis="1 0 0" damping="10"/>
    <geom type="capsule" size=".015" fromto="0 0 0 0 0 -.1" mass=".3"/>
    <body pos="0 0 -.1"><joint name="{name} z" type="slide" axis="0 0 1" damping="10"/>
      <geom name="{name}" type="sphere" size=".02" pos="0 0 -.13" mass=".3"/></body></body>"""
    for name, (x, y) in FEET.items()
)
joints = [f"{name} {axis}" for name in FEET for axis in "xz"]
servos = "".join(f'<position joint="{joint}" kp="20000" kv="600"/>' for joint in joints)
model = mujoco.MjModel.from_xml_string(f"""<mujoco><default><geom friction=".6"/></default>
<option integrator="implicitfast" cone="elliptic"/>
<worldbody><geom type="plane" size="3 3 .1"/><body pos="0 0 .3"><freejoint/>{legs}
  <geom type="box" size=".25 .1 .04" mass="8"/>
  <geom type="box" size=".05 .05 .05" pos=".02 0 .09" mass="2"/></body></worldbody>
<actuator>{servos}</actuator></mujoco>""")
data, torques, rigid = mujoco.MjData(model), Mender(model), Mender(model, held=joints)
margins, changes = [], []
while data.time < 5.0:  # hind feet forward, torso back, front feet forward, torso forward
    slot = max(data.time - 0.6, 0) / 0.8
    part = np.clip(slot - np.array([0, 3, 1, 4]), 0, 1)
    part = part**2 * (3 - 2 * part)
    data.ctrl[::2] = 0.08 * part - np.interp(slot, [0, 2, 3, 5, 7], [0.06, 0.06, 0, 0, 0.14])
    data.ctrl[1::2] = 0.03 * np.sin(np.pi * part)
    mujoco.mj_step(model, data, 20)
    both = torques.mend(data), rigid.mend(data)
    margins.append([[mended.on(name).friction_margin for name in FEET] for mended in both])
    changes.append([np.abs(mended.change).max() for mended in both])
known, held = np.max(changes[15:], axis=0)
print(f"normal forces change by {known:.2f} N with torques, {held:.0f} N with rigid joints")
figure = Figure(figsize=(6.5, 2.6), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for k, title in enumerate(("servos' torques", "rigid joints")):
    panels[k].plot(0.04 * np.arange(1, 1 + len(margins)), np.array(margins)[:, k], label=list(FEET))
    panels[k].set(title=title, xlabel="time [s]", ylabel="friction margin" if k == 0 else None)
panels[1].legend(frameon=False, loc=(0.48, 0.08))
np.testing.assert_allclose([known, held], [0.0, 33.0], atol=2.0)
if len(sys.argv) > 1:  # python examples/mujoco_walk.py walk.pdf
    rl.plots.save_figure(figure, sys.argv[1])
