"""Scenes of rough contacts: the engine's wrench, Coulomb's cones, no order, every symmetry."""

import numpy as np
import pytest

from benchmarks.engine_scenes import ACROSS_Y, SCENES, judged
from benchmarks.engine_tables import MODULES, ORDERS, TABLES
from rigidlimit.adapters import from_mujoco


def check(own, rest, others, symmetries):
    """own: with the engine's load; rest: at rest, with ``others`` of other orders."""
    kept, free = judged(own), judged(rest, others, symmetries)
    assert own.converged and rest.converged and not own.kept.any()
    # what is asked for: 1e-9 of the wrench, 1e-10 of cones, 1e-8 between orders and reflections
    assert kept.wrench < 1e-9
    assert max(kept.cone, free.cone) < 1e-10
    assert max(free.order, free.symmetry) < 1e-8


@pytest.mark.parametrize("name", SCENES)
def test_scenes_in_mujoco(name):
    """Property: of nine scenes, each in three orders of creation; two sweeps of Gauss-Seidel give
    other forces in every order, and the same mended ones."""
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    scene = SCENES[name]()
    own = from_mujoco(*scene.made())
    rest = from_mujoco(*scene.made(), load="rest")
    few = dict(solver="PGS", iterations=2, cone="pyramidal")
    others = [from_mujoco(*scene.made(seed, **few), load="rest") for seed in (1, 2)]
    check(own, rest, others, scene.symmetries)


def check_table(engine):
    """A table in one engine, its feet in three orders."""
    made = [TABLES[engine](order)[1] for order in ORDERS]
    rest, *others = (mend(load="rest") for mend in made)
    own = made[0](load="engine")
    check(own, rest, others, (ACROSS_Y,))
    # closed form: 10 N down and 1 N along at 0.1 m below the middle, on arms of 0.5 m
    front = rest.places.point.reshape(4, -1)[:, 0] > 0
    np.testing.assert_allclose(rest.force, np.where(front, 2.55, 2.45), atol=1e-4)  # as settled
    total = rest.on("body 1" if engine == "pybullet" else "table")
    np.testing.assert_allclose(total.force, [-1, 0, 10], atol=1e-6)
    assert total.normal_force == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize("engine", sorted(set(TABLES) - {"newton"}))
def test_table(engine):
    """Property: of a table on four feet under a slanting load. (Newton's: ``test_newton``.)"""
    pytest.importorskip(MODULES[engine], reason=f"needs the extra rigidlimit[{engine}]")
    check_table(engine)
