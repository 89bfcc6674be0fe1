"""Which contacts count as closed at the end of a step."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies.convex import rectangle
from rigidlimit.compatibility.bearing import BEARING, bearing
from rigidlimit.compatibility.closed import CLOSED, FLOOR, closing_gap


def test_structure_without_near_neighbours():
    """Closed form: nothing comes near without touching, so that coordinates of six digits do."""
    gap = np.array([0.0, 3e-7, 1e-12, 0.5])
    assert closing_gap(gap, np.array([1.0, 0, 2, 0]), 1.0) == CLOSED
    assert closing_gap(100 * gap, np.array([1.0, 0, 2, 0]), 100.0) == 100 * CLOSED  # other units
    assert closing_gap(np.zeros(0), np.zeros(0), 2.0) == 2 * CLOSED


def test_limit_falls_with_the_number_of_near_neighbours():
    """Closed form: N neighbours below 1e-3 leave N g / 1e-3 below g; a thousandth at 1e-6 / N."""
    bearing, far = np.zeros(50), np.full(70, 2e-3)
    for near, limit in ((1, 1e-6), (20, 5e-8), (100, 1e-8), (10**7, FLOOR)):
        gap = np.concatenate([bearing, np.linspace(2e-6, 1e-3, near), far])
        force = np.where(np.arange(len(gap)) < 50, 1.0, 0.0)
        assert closing_gap(gap, force, 1.0) == pytest.approx(limit, rel=1e-12)


def test_what_bears_is_closed():
    """Property: wherever a loose step 1 leaves the contacts that bear, up to 1e-6, they count."""
    rng = np.random.default_rng(0)
    near = rng.uniform(1e-5, 1e-3, 10_000)
    for error in (1e-12, 1e-9, 1e-7, 5e-7):
        gap = np.concatenate([error * rng.uniform(-1, 1, 200), near])
        force = np.concatenate([rng.uniform(2 * BEARING, 1, 200), np.zeros(len(near))])
        limit = closing_gap(gap, force, 1.0)
        assert gap[:200].max() <= limit <= CLOSED


@pytest.mark.parametrize(("balls", "known"), [(0, [10 / 3] * 3), (60, [5.0, 0.0, 5.0])])
def test_support_a_little_low(balls, known):
    """Closed form: a middle support 3e-7 of the length low is taken for rounded coordinates where
    all else touches exactly or is far away, and for a gap where 60 disks come near a floor."""
    scene = rl.scenes.beam()
    radius = scene.bodies.bounding_radius[0]
    low = rl.Scene(name="low", dim=2, gravity=(0, -10), dt=1e-3)
    for k in range(4):
        x, y = scene.state.position[k, :2]
        y -= 3e-7 * radius if k == 1 else 0.0
        more = dict(fixed=True) if k < 3 else dict(mass=1.0)
        low.add(scene.bodies.shape(k), position=(x, y), **more)
    low.add(rectangle(200 * radius, 1.0), position=(60 * radius, -1.5), fixed=True, name="floor")
    for k, gap in enumerate(np.linspace(3e-4, 9e-4, balls)):
        # they fall by 1e-5 in the step, a ten-thousandth of their radius
        low.add(rl.Disk(radius), position=(3 * k * radius, -1.0 + radius * (1 + gap)), mass=1.0)
    for closed, forces in ((None, known), (1e-6, [10 / 3] * 3), (1e-9, [5.0, 0.0, 5.0])):
        result = rl.Simulation(low, closed=closed).step()
        held = np.argsort(result.contacts.body.min(axis=1), kind="stable")[:3]
        np.testing.assert_allclose(result.force[held], forces, rtol=1e-6, atol=1e-6)


def test_packing_loses_no_contact_that_bears():
    """Property: over a packing as it comes to rest every contact that bears in step 1 is closed,
    the limit falls to 1e-7 of a ball, and the compatible forces balance what it delivers."""
    simulation = rl.Simulation(rl.scenes.packing(150, seed=2))
    least = np.inf
    for _ in range(150):
        result = simulation.step()
        force = result.classic.force
        bears = bearing(force)
        assert result.closed[bears].all() and result.converged
        gap = result.classic.slack * result.dt
        length = simulation.bodies.length
        least = min(least, closing_gap(gap, force, length) / length)
    assert least < 1.5e-7
