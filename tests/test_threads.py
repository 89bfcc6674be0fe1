"""Loops over several threads, and what they must not change."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit._support import threads
from rigidlimit.collision import balls, broadphase, polytopes, search
from rigidlimit.collision.broadphase import meeting_balls
from rigidlimit.collision.search import find_contacts
from rigidlimit.collision.tolerances import TOLERANCES
from rigidlimit.errors import ContactError

THREADED = (balls, broadphase, polytopes, search)
"""Modules whose loops are shared."""


def share_from(size, patch):
    """Let threads share loops of this size and longer."""
    limits = TOLERANCES._replace(threaded=size, threaded_search=size, threaded_polytopes=size)
    for module in THREADED:
        patch.setattr(module, "TOLERANCES", limits)


@pytest.fixture(params=["1", "2", "3"])
def count(request, monkeypatch):
    """Loops of any size are cut and shared by 1, 2 or 3 threads."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", request.param)
    share_from(1, monkeypatch)
    return int(request.param)


def cloud(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-9, 9, (n, 3)), 2.0 ** -rng.uniform(0, 5, n)


def boxes(n):
    """n turned boxes that overlap."""
    rng = np.random.default_rng(2)
    scene = rl.Scene()
    scene.add_many(
        rl.Box((0.3, 0.2, 0.1)), rng.uniform(0, 1, (n, 3)), quaternions=rng.normal(size=(n, 4))
    )
    return scene


@pytest.mark.parametrize("n", [1, 2, 17, 3000])
def test_pairs_do_not_depend_on_threads(n, count):
    """Property: the same pairs in the same order, and as many tests, as in one uncut loop; with
    fewer balls than pieces too."""
    centre, radius = cloud(n)
    found, tests = meeting_balls(centre, radius)
    with pytest.MonkeyPatch.context() as patch:
        share_from(n + 1, patch)
        uncut, tests_uncut = meeting_balls(centre, radius)
    assert tests == tests_uncut
    np.testing.assert_array_equal(found, uncut)
    assert n < 3000 or len(found) > 1000


@pytest.mark.parametrize("make", [rl.scenes.packing, boxes])
def test_contacts_do_not_depend_on_threads(make, count):
    """Property: contacts of balls of unlike sizes, and of boxes, are the same to the last digit."""
    scene = make(300)
    found = find_contacts(scene.bodies, scene.state, 1e-3)
    with pytest.MonkeyPatch.context() as patch:
        share_from(10**9, patch)
        uncut = find_contacts(scene.bodies, scene.state, 1e-3)
    assert len(found) > 300
    for field in ("body", "feature", "point", "normal", "gap", "curvature"):
        np.testing.assert_array_equal(getattr(found, field), getattr(uncut, field))


def test_coincident_centres_are_told(count):
    """Property: an error of a piece is the error of the whole."""
    scene = rl.Scene()
    scene.add_many(rl.Sphere(0.5), [[2.0 * k, 0, 0] for k in range(40)])
    scene.add(rl.Sphere(0.5), position=(40, 0, 0), name="twin")
    with pytest.raises(ContactError, match="'20' and 'twin' have the same centre"):
        find_contacts(scene.bodies, scene.state, 0.01)


def test_called_from_several_threads(count):
    """Property: callers in threads of their own do not disturb each other."""
    clouds = [cloud(2000, seed) for seed in range(6)]
    expected = [meeting_balls(*c)[0] for c in clouds]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda c: meeting_balls(*c)[0], clouds))
    for mine, alone in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, alone)


def test_threads_run_together(monkeypatch):
    """Property: two pieces are under way at once, or the barrier would break."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    barrier = threading.Barrier(2, timeout=20)
    pieces = threads.in_pieces(lambda a, b: barrier.wait() >= 0 and (a, b), 100, least=1)
    assert pieces[0][0] == 0 and pieces[-1][1] == 100
    assert all(a[1] == b[0] for a, b in itertools.pairwise(pieces))
    assert len(pieces) % 2 == 0


@pytest.mark.parametrize(("given", "most"), [("1", 1), ("3", 3), ("64", threads.MOST)])
def test_number_of_threads(given, most, monkeypatch):
    """Example: NUMBA_NUM_THREADS sets it, up to MOST."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", given)
    assert threads.thread_count() == most


def test_number_of_threads_is_that_of_the_cores(monkeypatch):
    """Property: without a wish, or with one that is no number, as many as cores, up to MOST."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", "")
    assert 1 <= threads.thread_count() <= threads.MOST
