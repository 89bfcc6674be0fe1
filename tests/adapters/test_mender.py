"""Reference twin: forces of ``Mender`` are those of ``from_mujoco``, from arrays to answer in
compiled code."""

import ctypes
import re

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import Mender, from_mujoco
from rigidlimit.adapters.engines import mujoco_addresses as addresses
from rigidlimit.adapters.engines import mujoco_view
from rigidlimit.adapters.engines.prepared.forces import PreparedForces
from rigidlimit.errors import InputError
from tests.adapters.problems import advanced

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

SAME = 1e-10
"""Of the largest force: both solve to a balance of 1e-10 in contacts of condition 1, by the same
steps in another order of sums."""

FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
BOX = (
    '<body name="{0}" pos="0 0 {1}"><freejoint/>'
    '<geom name="{0}" type="box" size=".1 .1 .1" {2}/></body>'
)


def stack(**option):
    boxes = "".join(BOX.format(name, z, "") for name, z in (("low", 0.1), ("high", 0.3)))
    return advanced(FLOOR + boxes, option=" ".join(f'{k}="{v}"' for k, v in option.items()))


def is_same(mended, known):
    largest = max(np.abs(known.force).max(initial=0.0), 1e-300)
    np.testing.assert_allclose(mended.force, known.force, rtol=0.0, atol=SAME * largest)
    np.testing.assert_allclose(mended.tangential, known.tangential, rtol=0.0, atol=SAME * largest)


def without_digits(message):
    """Residuals and changes of rounding are not the same in both."""
    return re.sub(r"residual \S+ |after \d+ linear systems?|\d(\.\d)?e-1\d of", "", message)


@pytest.mark.parametrize("load", ["engine", "rest"])
@pytest.mark.parametrize("name", SCENES)
def test_forces_and_words_are_those_of_the_general_path(name, load):
    model, data = SCENES[name]().made()
    mended, known = Mender(model, load=load).mend(data), from_mujoco(model, data, load=load)
    assert isinstance(mended, PreparedForces)
    is_same(mended, known)
    assert without_digits(mended.message) == without_digits(known.message)
    assert mended.state.tolist() == known.state.tolist()
    assert mended.row.tolist() == known.row.tolist()
    np.testing.assert_allclose(mended.vectors, known.vectors, atol=SAME * known.force.max())


@pytest.mark.parametrize(
    "options",
    [
        dict(stiffness={"floor": 5.0}),
        dict(stiffness=3.0),
        dict(friction={"low": 0.3}),
        dict(friction=0.0),
        dict(on_friction="keep"),
        dict(exponent=2.5),
        dict(held=[]),
        dict(tangential_stiffness=0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_options_mean_the_same(options, cone, jacobian):
    model, data = stack(cone=cone, jacobian=jacobian)
    mender = Mender(model, **options)
    is_same(mender.mend(data), from_mujoco(model, data, **options))
    assert not mender.general and isinstance(mender.mend(data), PreparedForces)


def test_states_of_a_motion():
    """A box falls on its edge, tips over and slides to rest: contacts come and go, stick and
    slide."""
    model, data = advanced(FLOOR + BOX.format("box", 0.25, ""), steps=0)
    data.qpos[3:] = 0.9, 0.3, 0.1, 0.0
    data.qvel[:2] = 1.0, 0.3
    mender, prepared, states = Mender(model), 0, 0
    for step in range(600):
        mujoco.mj_step(model, data)
        if step % 7:
            continue
        states += 1
        mended = mender.mend(data)
        is_same(mended, from_mujoco(model, data))
        prepared += isinstance(mended, PreparedForces)
    assert prepared > 0.7 * states
    assert "no contacts" in Mender(model).mend(mujoco.MjData(model)).message


def test_what_is_not_prepared_goes_the_general_way():
    """Rigid links and adhesion: the same call, the same forces."""
    weld = '<equality><weld body1="low" body2="high"/></equality>'
    boxes = FLOOR + "".join(BOX.format(n, z, "") for n, z in (("low", 0.1), ("high", 0.3)))
    model, data = advanced(boxes, extra=weld)
    mended, known = Mender(model).mend(data), from_mujoco(model, data)
    assert not isinstance(mended, PreparedForces)
    is_same(mended, known)
    if hasattr(mujoco.MjModel, "geom_adhesion"):
        model, data = advanced(FLOOR + BOX.format("box", 0.1, 'mass="3" adhesion="20"'))
        mender = Mender(model)
        assert mender.general == "adhesion" and "adhesion" in repr(mender)
        is_same(mender.mend(data), from_mujoco(model, data))


def test_many_states_are_those_one_by_one():
    """States of unlike numbers of contacts, one of them without any, and from one MjData that moves
    on between them."""
    model, data = stack()
    mender, states, forces = Mender(model), [], []
    for lift in (0.0, 0.0, 1.0, 0.0):
        state = mujoco.MjData(model)
        state.qpos[:], state.qvel[:] = data.qpos, data.qvel
        state.qpos[[2, 9]] += lift, 2.0 * lift
        mujoco.mj_step(model, state)
        states.append(state)
    batch = mender.mend_many(states)
    assert len(batch) == 4 and batch.converged.all() and "4 states" in repr(batch)
    assert batch.count.tolist() == [8, 8, 0, 8] and batch.listed.sum() == 24
    for i, state in enumerate(states):
        one = mender.mend(state)
        np.testing.assert_array_equal(batch.force[i, : batch.count[i]], one.force)
        np.testing.assert_array_equal(batch[i].tangential, one.tangential)

    def motion():
        for _ in range(3):
            mujoco.mj_step(model, data)
            forces.append(mender.mend(data).force)
            yield data

    batch = mender.mend_many(motion())
    np.testing.assert_array_equal(batch.force, forces)
    assert len({id(mended) for mended in batch}) == 3


def test_arrays_are_found_where_mujoco_points_to(monkeypatch):
    """Contract: pointers of mjData to its contacts and rows are those of the arrays that MuJoCo's
    bindings give, in states of other sizes than those that told them; where none are sure, the
    arrays are asked, and forces are the same."""
    offsets, fields = addresses.pointers(mujoco), addresses.contact_fields(mujoco)
    assert offsets is not None and fields is not None
    for option in (dict(cone="elliptic", jacobian="sparse"), dict(jacobian="dense")):
        model, data = stack(**option)
        known = [data.contact.dist, *addresses.fields(data)]
        for offset, array in zip(offsets.tolist(), known, strict=True):
            found = ctypes.c_void_p.from_address(data._address + offset).value
            assert found == addresses.address(array)
        mended = Mender(model).mend(data)
        monkeypatch.setattr(mujoco_view, "pointers", lambda mujoco: None)
        asked = Mender(model)
        monkeypatch.undo()
        assert not asked._states.moving and Mender(model)._states.moving
        np.testing.assert_array_equal(asked.mend(data).force, mended.force)
        monkeypatch.setattr(mujoco_view, "contact_fields", lambda mujoco: None)
        assert "unknown types" in Mender(model).general
        monkeypatch.undo()
        is_same(mended, from_mujoco(model, data))


def test_no_order_of_contacts_decides():
    """Property: orders of bodies leave forces what they are, to 1e-8 of the largest (1e-10 on the
    balance, in contacts of condition 100)."""
    forces = []
    for seed in (None, 1, 2):
        scene = SCENES["tray"]()
        model, data = (scene if seed is None else scene.shuffled(seed)).made()
        mended = Mender(model, load="rest").mend(data)
        at = np.round(data.contact.pos, 3)
        order = np.lexsort(at.T)
        forces.append(mended.force[order])
    for other in forces[1:]:
        np.testing.assert_allclose(other, forces[0], rtol=0.0, atol=1e-8 * forces[0].max())


def test_normal_forces_that_hang_on_little():
    """Reference twin: boxes without friction that tumble in a bin, where some motions are hardly
    resisted: a balance to 1e-10 left forces that differed by 1e-5 from those of ``from_mujoco``."""
    rng = np.random.default_rng(0)
    boxes = "".join(
        f'<body pos="{x} {y} {0.1 + 0.12 * i}" euler="{a} {b} {c}"><freejoint/>'
        '<geom type="box" size=".05 .04 .03" density="1000"/></body>'
        for i, (x, y, _, a, b, c) in enumerate(
            np.hstack([rng.uniform(-0.1, 0.1, 3), rng.uniform(0, 90, 3)]) for _ in range(4)
        )
    )
    walls = "".join(
        f'<geom type="plane" size="1 1 .1" pos="{0.15 * x} {0.15 * y} 0" zaxis="{-x} {-y} .3"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    default = '<default><geom condim="1"/></default>'
    model, data = advanced(FLOOR + walls + boxes, 0, default, 'timestep=".002"')
    mender, prepared = Mender(model), 0
    for step in range(800):
        mujoco.mj_step(model, data)
        if step % 50 == 0 and data.ncon:
            mended = mender.mend(data)
            prepared += isinstance(mended, PreparedForces)
            is_same(mended, from_mujoco(model, data))
    assert prepared > 5


def test_bad_input_is_one_clear_error():
    model, data = stack()
    mender, other = Mender(model), advanced(FLOOR + BOX.format("box", 0.1, ""))[1]
    with pytest.raises(InputError, match="expected the MjData of this model"):
        mender.mend(other)
    with pytest.raises(InputError, match="expected"):
        mender.mend(model)
    with pytest.raises(InputError, match=r"state 1: .*expected the MjData of this model"):
        mender.mend_many([data, other])
    with pytest.raises(InputError, match="stifness"):
        Mender(model, stifness=1.0)
    with pytest.raises(InputError, match="tolerance is 'a'; expected a positive number"):
        Mender(model, tolerance="a")
    for wrong in ("x", ["x"]):
        with pytest.raises(InputError, match="equalities names 'x'; expected 'rigid', 'given'"):
            Mender(model, equalities=wrong)
    with pytest.raises(InputError, match="friction is a function that does not take two arguments"):
        Mender(model, friction=lambda: 1.0).mend(data)
    with pytest.raises(InputError, match="no geom"):
        Mender(model, stiffness={"flor": 1.0}).mend(data)
    data.qpos[0] += 0.3
    with pytest.raises(InputError, match=r"mj_forward|mj_step"):
        mender.mend(data)
    data.qpos[0] -= 0.3
    for name in ("qpos", "qvel", "qacc"):
        values = getattr(data, name)
        for place, wrong in ((4, np.nan), (1, np.inf)):
            known, values[place] = values[place], wrong
            with pytest.raises(InputError, match=rf"data\.{name}\[{place}\] is {wrong}; .*finite"):
                mender.mend(data)
            values[place] = known
    assert isinstance(mender.mend(data), PreparedForces)
