"""Reference twin: forces of ``ArrayMender`` are those of ``mend_forces``, environment by
environment."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from benchmarks.engine_stacks import recorded_scene
from rigidlimit.adapters import ArrayMender
from rigidlimit.adapters.engines.prepared.forces import PreparedForces
from rigidlimit.errors import InputError
from rigidlimit.status import Status

SAME = 1e-10
"""Of the largest force: both solve to a balance of 1e-10 in contacts of condition 1, by the same
steps in another order of sums."""

BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])


def recorded_from(name):
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    return recorded_scene(name)


def is_same(batch, e, known):
    largest = known.force.max()
    np.testing.assert_allclose(batch.force[e], known.force, rtol=0.0, atol=SAME * largest)
    np.testing.assert_allclose(batch.tangential[e], known.tangential, rtol=0.0, atol=SAME * largest)
    assert batch.status[e] is known.status


@pytest.mark.parametrize("name", SCENES)
def test_environments_are_those_one_by_one(name):
    recorded = recorded_from(name)
    batch = recorded.mender().mend_many(mask=recorded.mask, **recorded.arrays)
    assert len(batch) == 5 and (batch.listed == recorded.mask).all()
    for e in range(5):
        known, mended = recorded.one(e), batch[e]
        is_same(batch, e, known)
        assert isinstance(mended, PreparedForces)
        assert mended.row.tolist() == known.row.tolist()
        np.testing.assert_allclose(
            mended.vectors, known.vectors, rtol=0.0, atol=SAME * known.force.max()
        )
        part = recorded.names[int(recorded.arrays["part"][e][recorded.mask[e]][0, 0])]
        np.testing.assert_allclose(
            mended.on(part).force, known.on(part).force, rtol=0.0, atol=1e-9 * known.force.max()
        )  # a sum of some ten forces


@pytest.mark.parametrize(
    "options",
    [
        dict(stiffness=3.0),
        dict(stiffness={"floor": 5.0}),
        dict(on_friction="keep"),
        dict(exponent=2.5),
        dict(tangential_stiffness=0.5),
    ],
    ids=str,
)
def test_options_mean_the_same(options):
    recorded = recorded_from("quadruped")
    batch = recorded.mender(**options).mend_many(mask=recorded.mask, **recorded.arrays)
    for e in range(5):
        is_same(batch, e, recorded.one(e, **options))
        assert isinstance(batch[e], PreparedForces)


def test_friction_by_name():
    recorded = recorded_from("quadruped")
    batch = recorded.mender(friction={"floor": 0.3}).mend_many(
        mask=recorded.mask, **recorded.arrays
    )
    for e in range(5):
        is_same(batch, e, recorded.one(e, own_friction={"floor": 0.3}))
    margin = batch[0].friction_margin[recorded.mask[0]]
    rubs = np.linalg.norm(batch.tangential[0], axis=1)[recorded.mask[0]]
    force = batch.force[0][recorded.mask[0]]
    # rounding: of the same numbers
    np.testing.assert_allclose(margin, 1.0 - rubs / (0.3 * force), atol=1e-12)


def test_loads_without_forces_of_an_engine():
    """Closed form: a beam on springs 1, 3, 1 under a load in the middle, and one without its middle
    support."""
    mask = np.array([[True, True, True], [True, False, True], [False, False, False]])
    load = np.array([[10.0, 0.0], [10.0, 0.0], [0.0, 0.0]])
    batch = ArrayMender().mend_many(BEAM, load=load, mask=mask, stiffness=[1.0, 3.0, 1.0])
    known = [[2.0, 6.0, 2.0], [5.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(batch.force, known, atol=1e-9)  # 1e-10 of the load, 10 N
    assert batch.converged.all() and batch.count.tolist() == [3, 2, 0]
    assert "3 states, 5 contacts, all converged" in repr(batch)


def test_what_is_the_same_in_all_environments_needs_no_axis():
    force = np.array([[0.65, 8.7, 0.65], [1.0, 2.0, 1.0]])
    mender = ArrayMender()
    np.testing.assert_array_equal(
        mender.mend_many(BEAM, force).force,
        mender.mend_many(np.stack([BEAM, BEAM]), force, mask=np.ones((1, 3), bool)).force,
    )


def test_an_environment_that_is_not_carried_has_its_status():
    """No contact can pull: a load that lifts the beam."""
    load = np.array([[10.0, 0.0], [-10.0, 0.0]])
    batch = ArrayMender().mend_many(BEAM, load=load)
    assert batch.status.tolist() == [Status.CONVERGED, Status.LOAD_NOT_CARRIED]
    assert batch.converged.tolist() == [True, False] and "1 not converged" in batch.message
    assert batch[1].status is Status.LOAD_NOT_CARRIED


def test_order_of_environments_and_threads_change_nothing():
    """Property: 40 environments, which threads share, are those in another order."""
    force = np.random.default_rng(0).uniform(1.0, 2.0, (40, 3))
    whole = ArrayMender().mend_many(BEAM, force).force
    order = np.random.default_rng(1).permutation(40)
    np.testing.assert_array_equal(ArrayMender().mend_many(BEAM, force[order]).force, whole[order])


class OnADevice:
    """As arrays of other libraries: DLPack alone."""

    def __init__(self, array):
        self.array = np.array(array)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Elsewhere(OnADevice):
    def __dlpack__(self, **options):
        raise BufferError("on another device")


def test_arrays_of_other_libraries():
    force = np.array([[0.65, 8.7, 0.65]])
    mender = ArrayMender()
    known = mender.mend_many(BEAM, force).force
    np.testing.assert_array_equal(mender.mend_many(OnADevice(BEAM), OnADevice(force)).force, known)
    # single precision: 1e-7 of each
    single = mender.mend_many(BEAM.astype(np.float32), force.astype(np.float32)).force
    np.testing.assert_allclose(single, known, rtol=1e-6)
    with pytest.raises(InputError, match=r"on another device.*memory of the CPU"):
        mender.mend_many(BEAM, Elsewhere(force))
    with pytest.raises(InputError, match="engine_force is 'forces'"):
        mender.mend_many(BEAM, "forces")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (dict(B=BEAM), "neither engine_force nor load"),
        (dict(B=BEAM[0], load=[1.0, 0.0]), r"B has shape \(2,\)"),
        (dict(B=BEAM, load=np.zeros((2, 3))), r"load has shape \(2, 3\).*\(env, n\)"),
        (
            dict(B=np.stack([BEAM, BEAM]), engine_force=np.ones((3, 3))),
            r"engine_force has shape \(3, 3\); expected \(2, 3\)",
        ),
        (dict(B=BEAM, engine_force=np.ones((2, 3)), mask=np.ones((2, 4))), "mask has shape"),
        (dict(B=BEAM, engine_force=np.ones(3), friction=np.ones((3, 3, 3))), "friction has shape"),
        (dict(B=BEAM, engine_force=np.ones(3), stiffness=-1.0), "stiffness is -1"),
        (dict(B=BEAM, engine_force=np.ones(3), gap_tolerance=-np.ones(3)), "gap_tolerance is -1"),
        (dict(B=BEAM, engine_force=np.ones(3), part=np.zeros((3, 2), int)), "names has 0"),
        (
            dict(B=np.stack([BEAM, np.nan * BEAM]), engine_force=np.ones(3)),
            "environment 1: .*finite",
        ),
        (dict(B=BEAM, engine_force=-np.ones((1, 3))), "environment 0: .*pull"),
        (dict(B=BEAM, engine_force=np.ones(3), friction=0.5), "environment 0: .*sliding"),
        (dict(B=BEAM, engine_force=np.ones(3), sliding=np.ones((3, 1, 2))), "two directions"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_bad_input_is_one_clear_error(given, found):
    with pytest.raises(InputError, match=found):
        ArrayMender().mend_many(**given)


def test_bad_options_are_one_clear_error():
    with pytest.raises(InputError, match="expected it by names of parts"):
        ArrayMender(friction=0.5)
    with pytest.raises(InputError, match="expected names="):
        ArrayMender(stiffness={"foot": 2.0})
    with pytest.raises(InputError, match="expected part= too"):
        ArrayMender(stiffness={"foot": 2.0}, names=["foot"]).mend_many(BEAM, np.ones(3))
    with pytest.raises(InputError, match="stifness"):
        ArrayMender(stifness=1.0)
    with pytest.raises(InputError, match="held has shape"):
        ArrayMender(held=[True]).mend_many(BEAM, np.ones(3))
