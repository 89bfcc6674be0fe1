"""MuJoCo's data that are not of one step: old forces, moved bodies, solvers stopped early."""

import numpy as np
import pytest

from rigidlimit.adapters import from_mujoco
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

SCENE = """<mujoco><option {option}/><default><geom condim="{dim}"/></default><worldbody>
<geom type="plane" size="5 5 .1"/>
<body name="low" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .2 .1" mass="1"/></body>
<body pos=".05 .02 .55"><freejoint/><geom type="box" size=".1 .2 .1" mass="3"/></body>
<body pos="1 0 .25"><joint type="hinge" axis="0 1 0" damping=".3"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/></body>
</worldbody></mujoco>"""
SOLVERS = ("PGS", "CG", "Newton")
CONES = ("pyramidal", "elliptic")
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")


def made(option="", dim=3):
    model = mujoco.MjModel.from_xml_string(SCENE.format(option=option, dim=dim))
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_step_leaves_is_taken(solver, cone, integrator):
    """Property: along a fall, an impact and rest, data after mj_step and mj_forward are of one
    state, by whatever solver, cone and integrator; nothing is refused. Dense and sparse Jacobians
    take turns, so that each goes with each of the others."""
    turn = SOLVERS.index(solver) + CONES.index(cone) + INTEGRATORS.index(integrator)
    for k, dim in enumerate((1, 3, 4, 6)):
        jacobian = ("dense", "sparse")[(turn + k) % 2]
        option = f'solver="{solver}" cone="{cone}" integrator="{integrator}" jacobian="{jacobian}"'
        model, data = made(option, dim)
        for step in range(250):
            data.qfrc_applied[:] = np.sin(step + np.arange(model.nv))
            mujoco.mj_step(model, data)
            if step % 25 == 0:
                from_mujoco(model, data, on_friction="keep")
    mujoco.mj_forward(model, data)
    from_mujoco(model, data, on_friction="keep")


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_newer_than_forces_are_refused(solver, cone):
    """Property: after mj_step1 alone contacts are new and forces are those of the step before, or
    none (they were mended as if they were of these contacts)."""
    model, data = made(f'solver="{solver}" cone="{cone}"')
    refused = 0
    for step in range(200):
        mujoco.mj_step1(model, data)
        if data.nefc and 80 < step < 120:  # while they land
            with pytest.raises(InputError, match="not those of its present contacts"):
                from_mujoco(model, data)
            refused += 1
        mujoco.mj_step2(model, data)
        if data.nefc and (80 < step < 120 or step % 10 == 0):
            from_mujoco(model, data, on_friction="keep")
    assert refused > 5


@pytest.mark.parametrize("left", [np.nan, 1e300])
def test_rows_newer_than_forces_are_refused_whatever_is_in_memory(left):
    """Property: after mj_step1 alone efc_b and efc_force are what was in memory before, and may be
    no numbers: contacts are new all the same, and nothing is unstable."""
    model, data = made()
    while not data.nefc:
        mujoco.mj_step(model, data)
    mujoco.mj_step1(model, data)
    assert data.ncon
    data.efc_b[:], data.efc_force[:] = left, left
    with pytest.raises(InputError, match="not those of its present contacts"):
        from_mujoco(model, data)


def test_bodies_moved_by_hand_are_refused():
    """Property: once qpos was set, contacts and forces are of another pose; mj_forward makes them
    anew. A speed that was set leaves them what they are."""
    model, data = made()
    for _ in range(600):
        mujoco.mj_step(model, data)
    for moved in (0.05, -1e-3):
        data.qpos[2] += moved
        with pytest.raises(InputError, match="qpos puts low elsewhere"):
            from_mujoco(model, data)
        mujoco.mj_forward(model, data)
        from_mujoco(model, data)
    data.qpos[3:7] = np.cos(0.3), 0, 0, np.sin(0.3)
    with pytest.raises(InputError, match="qpos puts low elsewhere"):
        from_mujoco(model, data)
    mujoco.mj_forward(model, data)
    data.qvel[0] += 1.0
    from_mujoco(model, data)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", ["PGS", "CG"])
def test_solvers_that_stop_early_are_told(solver, cone):
    """Property: after one or two iterations MuJoCo's forces are off its own solution, and the
    message says by how much; let iterate, it says nothing. (Newton ends here after one.)"""
    few = "1" if solver == "CG" else "2"
    model, data = made(f'solver="{solver}" cone="{cone}" iterations="{few}"')
    for _ in range(120):
        mujoco.mj_step(model, data)
    mended = from_mujoco(model, data, on_friction="keep")
    assert mended.contacts.engine_residual > 1e-3 and "solver stopped" in mended.message
    model.opt.iterations, model.opt.tolerance = 5000, 0.0
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data, on_friction="keep")
    assert mended.contacts.engine_residual < 1e-3 and "solver stopped" not in mended.message
