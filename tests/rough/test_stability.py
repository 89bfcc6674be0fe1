"""Equilibria of rough contacts that a disturbance leaves: confined balls under a lid."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.equilibrium.law import ContactLaw
from rigidlimit.equilibrium.mechanics import Bodies
from rigidlimit.equilibrium.rows import contact_rows
from rigidlimit.equilibrium.solve import solve
from rigidlimit.equilibrium.stability import growth


def lid(friction: float, ratio: float, side: int = 3, layers: int = 5) -> rl.Statics:
    """Contacts of equal balls in square layers of ``side`` and ``side - 1``, in turn, between rough
    floor and walls under a lid that moves along z. ratio: k_t/k_n."""
    scene = rl.Scene(name="lid")
    rough = rl.Material(friction=friction, tangential_stiffness=ratio)
    high = np.sqrt(0.5)
    walls = [((1, 0, 0), (0, 0, 0)), ((-1, 0, 0), (side, 0, 0)), ((0, 1, 0), (0, 0, 0))]
    for normal, at in [((0, 0, 1), (0, 0, 0)), *walls, ((0, -1, 0), (0, side, 0))]:
        scene.add(rl.HalfSpace(), position=at, normal=normal, material=rough)
    for k in range(layers):
        across = np.arange(side - k % 2) + 0.5 * (1 + k % 2)
        x, y = (a.ravel() for a in np.meshgrid(across, across))
        at = np.column_stack([x, y, np.full(len(x), 0.5 + k * high)])
        scene.add_many(rl.Sphere(0.5), at, mass=1.0, material=rough)
    top = 1.0 + (layers - 1) * high
    scene.add(rl.HalfSpace(), position=(0, 0, top), normal=(0, 0, -1), mass=10.0, material=rough)
    return rl.statics(scene)


def loaded(pose: rl.Statics, steps: int):
    """Forces (m, 3) after the load in equal steps, and the results."""
    results, history = [], None
    for k in range(1, steps + 1):
        found = rl.compatible_forces(
            pose.B,
            pose.load * k / steps,
            tangential=pose.T,
            friction=pose.friction,
            stiffness=pose.stiffness,
            tangential_stiffness=pose.tangential_stiffness,
            fixed=~pose.bodies.free.ravel(),
            history=history,
        )
        results.append(found)
        history = found.history
    return np.column_stack([found.force, found.tangential_force]), results


@pytest.mark.parametrize(
    ("friction", "ratio", "unstable"),
    [(0.5, 2 / 7, False), (0.8, 2 / 7, False), (0.4, 6 / 7, True), (0.6, 6 / 7, True)],
)
def test_forces_do_not_depend_on_the_steps_of_a_load(friction, ratio, unstable):
    """Property: the law is homogeneous, so that one load in 1, 2 or 16 steps gives the same forces
    where the equilibrium is stable. (The unstable ones, symmetric to 1e-13, were left in the
    sixteenth step: 3 and 5 % of the largest force off, all converged.)"""
    pose = lid(friction, ratio)
    once, results = loaded(pose, 1)
    assert results[0].converged and results[0].several is unstable
    assert ("one of several" in results[0].message) is unstable
    for steps in (2, 16):
        force, results = loaded(pose, steps)
        assert results[-1].converged
        # the tolerance of 1e-10 on the balance, in contacts of condition 10 or so, in each step
        np.testing.assert_allclose(force, once, rtol=0.0, atol=1e-8 * np.abs(once).max())


@pytest.mark.parametrize("friction", [0.4, 0.6, 0.8])
@pytest.mark.parametrize(("ratio", "several"), [(2 / 7, False), (6 / 7, True)])
def test_first_steps_say_that_there_are_several_equilibria(friction, ratio, several):
    """Cross-solver: as ``compatible_forces`` says of the same lids. Sweeps end in one of the stable
    equilibria, which one by the order of contacts; nothing was said."""
    motion = rl.Simulation(lid(friction, ratio).scene).step().classic
    assert motion.converged and motion.stiffness == 1e12
    assert motion.several is several
    assert ("one of several" in motion.message) is several


@pytest.mark.parametrize(("ratio", "unstable"), [(2 / 7, False), (6 / 7, True)])
def test_growth_is_that_of_the_tangent(ratio, unstable):
    """Reference twin: eigenvalues of K = B^T D B in a dense matrix, at the equilibrium that
    Newton's method finds."""
    pose = lid(0.5, ratio)
    free = pose.bodies.free.ravel()
    rows, d = contact_rows(pose.B[:, free], pose.T[:, free])
    size, m = pose.stiffness.max(), len(pose.friction)
    stiffness = pose.stiffness / size, pose.tangential_stiffness / size
    law = ContactLaw(*stiffness, pose.friction, np.zeros((m, d - 1)))
    load = pose.load[free] / np.abs(pose.load).max()
    bodies, none = Bodies(rows, -load, d, shift=1e-10), np.zeros(len(load))
    found, _ = solve(bodies, law, none, tolerance=1e-10, force_size=1.0)
    assert found.converged
    D = law.respond(bodies.displacement(found.x))[1]
    K = sum(
        rows[d * i : d * i + d].T @ (D[i] @ rows[d * i : d * i + d].toarray()) for i in range(m)
    )
    least = np.linalg.eigvals(K).real.min()
    grows = growth(bodies, law, found.x)
    assert (grows is not None) is unstable is bool(least < 0.0)
    if unstable:
        v = grows.motion
        # 1e-3 of the transform's eigenvalue is a few percent of a rate near its pole
        assert grows.rate == pytest.approx(-least, rel=0.05)
        assert np.linalg.norm(K @ v + grows.rate * v) <= 0.05 * grows.rate * np.linalg.norm(v)
