"""
A grasp that lets go and takes hold again
=========================================

Thumb, index and middle hold a box of 0.4 kg; the middle finger lets go for half a second and takes
hold again. What the others carry in between stays with them, as they stick. Did it matter here?
Yes: in MuJoCo index and middle carry 1.1 and 0.9 N of the weight afterwards, as before; memory
leaves 0.2 and 1.8 N (0.3 and 2.0 N without ``noslip``). Needs ``pip install 'rigidlimit[mujoco]'``.
"""

import sys

import mujoco
import numpy as np
from matplotlib.figure import Figure

import rigidlimit as rl
from rigidlimit.adapters import Mender

FINGERS = {"thumb": (-0.04, 0.0), "index": (0.04, 0.02), "middle": (0.04, -0.02)}
fingers = "".join(
    f'<body name="{name}" pos="{x} 0 {z}"><joint name="{name}" type="slide" damping="30" '
    f'axis="{-np.sign(x)} 0 0"/><geom name="{name}" type="sphere" size=".01" mass=".1"/></body>'
    for name, (x, z) in FINGERS.items()
)
motors = "".join(f'<motor joint="{name}"/>' for name in FINGERS)
model = mujoco.MjModel.from_xml_string(f"""<mujoco>
<option timestep="0.001" integrator="implicitfast" cone="elliptic" noslip_iterations="10"/>
<default><geom friction=".8" solref=".004 1"/></default>
<worldbody>{fingers}
  <body name="box"><freejoint/><geom name="box" type="box" size=".03 .03 .05" mass=".4"/></body>
</worldbody><actuator>{motors}</actuator></mujoco>""")


def regrasp():
    """12 N from the thumb against both fingers, or the index alone from 0.8 to 1 s."""
    data = mujoco.MjData(model)
    while data.time < 1.8:
        middle = 6 * np.interp(data.time, [0.5, 0.8, 0.8, 1.0, 1.0, 1.3], [1, 0, -0.2, -0.2, 0, 1])
        data.ctrl[:] = 12, 12 - max(middle, 0), middle
        mujoco.mj_step(model, data, 10)
        yield data


mender, lifts = Mender(model), []
for mended in mender.along(regrasp()):
    nets = [mended.on("box", by=name) for name in FINGERS]
    lifts.append([[net.engine_force[2] for net in nets], [net.force[2] for net in nets]])
figure = Figure(figsize=(6.5, 2.6), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for axes, found, title in zip(panels, np.swapaxes(lifts, 0, 1), ("MuJoCo", "mended"), strict=True):
    axes.plot(0.01 * np.arange(len(found)), found, label=list(FINGERS))
    axes.set(title=title, xlabel="time [s]")
    print(f"{title}: {found[-1].round(2)} N of the weight on thumb, index and middle")
panels[0].set_ylabel("force up on the box [N]")
panels[1].legend(frameon=False)
np.testing.assert_allclose(lifts[-1][1][2], 1.8, atol=0.1)
if len(sys.argv) > 1:  # python examples/mujoco_regrasp.py regrasp.pdf
    rl.plots.save_figure(figure, sys.argv[1])
