"""Scenes of rough contacts: the engine's wrench, Coulomb's cones, no order, every symmetry."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES, apart, judged
from benchmarks.engine_worlds import MODULES, OVERLAPS, WORLDS
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


def check_scene(engine, name):
    """A scene in one engine, in three orders."""
    pytest.importorskip(MODULES[engine], reason=f"needs the extra rigidlimit[{engine}]")
    scene = SCENES[name](OVERLAPS[engine])
    mend = WORLDS[engine](scene)[1]
    rest = mend(load="rest")
    others = [WORLDS[engine](scene.shuffled(seed))[1](load="rest") for seed in (1, 2)]
    check(mend(), rest, others, scene.symmetries)
    return rest


@pytest.mark.parametrize("name", ["grasp of two fingers", "bricks with overhang", "peg"])
@pytest.mark.parametrize("engine", sorted(set(WORLDS) - {"newton", "mujoco"}))
def test_scenes_in_other_engines(engine, name):
    """Property, and peer: the same forces as in MuJoCo, whose parts overlap otherwise."""
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    rest = check_scene(engine, name)
    peer = from_mujoco(*SCENES[name]().made(), load="rest")
    # overlaps of 1e-5 m move contacts by as much, of bodies of 0.1 m
    assert apart(peer, rest) < 1e-3 * peer.force.max()


def check_table(engine):
    rest = check_scene(engine, "table")
    # closed form: 10 N down and 1 N along at 0.1 m below the middle, on arms of 0.5 m
    front = rest.places.sides.mean(axis=1)[:, 0] > 0
    np.testing.assert_allclose(
        rest.force[rest.row], np.where(front, 2.55, 2.45), atol=1e-4
    )  # overlaps
    total = rest.on("body 1" if engine == "pybullet" else "table")
    np.testing.assert_allclose(total.force, [-1, 0, 10], atol=1e-6)
    assert total.normal_force == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize("engine", sorted(set(WORLDS) - {"newton"}))
def test_table(engine):
    """Property: of a table on four feet under a slanting load. (Newton's: ``test_newton``.)"""
    check_table(engine)
