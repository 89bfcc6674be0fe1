"""
MuJoCo: forces that depend on the order
=======================================

A rigid beam of weight 10 on balls at x = -1/2, 0, 1/2, the middle one three times as stiff: stiff
elastic supports carry 2, 6, 2. MuJoCo's Gauss-Seidel solver, stopped after five sweeps, carries
what its order of contacts makes of it. Needs ``pip install 'rigidlimit[mujoco]'``.
"""

import itertools

import mujoco
import numpy as np

from rigidlimit.adapters import from_mujoco

SUPPORTS = {"left": -0.5, "middle": 0.0, "right": 0.5}


def beam(order):
    balls = "".join(
        f'<geom name="{name}" size=".1" pos="{SUPPORTS[name]} 0 0" condim="1" mass="0"/>'
        for name in order
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -10" solver="PGS" iterations="5"/><worldbody>
        <geom name="floor" type="plane" size="5 5 .1" condim="1"/>
        <body pos="0 0 .1"><freejoint/>
          <inertial pos="0 0 0" mass="1" diaginertia=".01 .1 .1"/>{balls}</body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    for _ in range(300):
        mujoco.mj_step(model, data)
    return model, data


def main():
    print(f"{'supports made in the order':28} {'MuJoCo':>22} {'compatible':>22}")
    for order in itertools.permutations(SUPPORTS):
        model, data = beam(order)
        names = [model.geom(g).name for g in data.contact.geom[:, 1]]
        stiffness = [3.0 if name == "middle" else 1.0 for name in names]
        # load="rest": MuJoCo stopped early, so its own resultant is not quite the weight
        mended = from_mujoco(model, data, stiffness=stiffness, load="rest")
        left_to_right = [names.index(name) for name in SUPPORTS]
        theirs, ours = mended.engine_force[left_to_right], mended.force[left_to_right]
        print(f"{', '.join(order):28} {_row(theirs)} {_row(ours)}")
        assert np.allclose(ours, [2, 6, 2], atol=1e-6)


def _row(force):
    return " ".join(f"{value:7.3f}" for value in force)


if __name__ == "__main__":
    main()
