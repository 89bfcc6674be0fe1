"""Motions that closed contacts hardly push along, body by body: which, and what is left of B."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.forces import compatible_forces, tilts
from rigidlimit.forces.tilts import LIMIT, ROUNDED, felt_balance, felt_together, known_balance
from rigidlimit.status import Status

FREE = np.ones(6, bool)


def turned(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def block(rng, contacts, values):
    """Rows (contacts, 6) of one body with these singular values, their motions in any direction."""
    k = len(values)
    return turned(rng, contacts)[:, :k] * values @ turned(rng, 6)[:k]


def system(rng, blocks, reach):
    """B of unconnected bodies with these blocks over reach, forces, F~ and what else it takes."""
    B = sp.csr_array(sp.block_diag(blocks)) @ sp.diags_array(reach)
    B = sp.csr_array(B)
    B.sort_indices()
    force = rng.uniform(0.5, 1.5, B.shape[0])
    return B, B.T @ force, force


def test_agrees_with_singular_values_body_by_body():
    """Reference twin: the dense decomposition of every body's block, planted values on both sides
    of the limit and motions that nothing feels among them."""
    rng = np.random.default_rng(3)
    values = [
        np.array([2.0, 1.5, 1.0, 0.5, 0.2, s]) for s in (1e-3, 1e-5, 2e-6, 1e-7, 1e-10, 1e-12)
    ]
    values += [np.array([1.0, 0.7, 1e-8, 1e-9]), np.array([1.0, 1e-11]), np.array([1.0, 0.9])]
    blocks = [block(rng, 8, v) for v in values]
    reach = rng.uniform(0.01, 50.0, 6 * len(blocks))
    B, load, force = system(rng, blocks, reach)
    felt, pushed = felt_balance(B, load, force, free=np.tile(FREE, len(blocks)), reach=reach)

    small = [int(((v > ROUNDED) & (v <= LIMIT)).sum()) for v in values]
    assert sum(small) == 6
    for b, rows in enumerate(blocks):
        _, S, V = np.linalg.svd(rows)
        V = V[:6][np.pad(S, (0, 6 - len(S))) > LIMIT]
        part = (felt[8 * b : 8 * b + 8, 6 * b : 6 * b + 6]).toarray()
        # directions of motions are known to 1e-16 over the gap between their values, here 0.2
        np.testing.assert_allclose(part / reach[6 * b : 6 * b + 6], rows @ V.T @ V, atol=1e-13)
    np.testing.assert_allclose(pushed, felt.T @ force)
    # where nothing was left out, the very numbers of B
    same = np.repeat(np.array(small) == 0, 6)
    assert (felt[:, same] != B[:, same]).nnz == 0


def test_nothing_small_nothing_done():
    """Property: bodies whose values are zero, rounding or above the limit keep their balance."""
    rng = np.random.default_rng(4)
    slope = 1e-6
    opposite = np.array([[1.0, 0, 0, 0, 0, 0], [-1.0, slope, 0, 0, 0, 0]])
    oblique = np.array([[0.6, 0.8, 0, 0, 0, 0], [-0.6, -0.8, 0, 0, 0, 0]])  # zero but for rounding
    blocks = [block(rng, 9, np.linspace(2, 1e-3, 6)), opposite, oblique, np.ones((1, 6))]
    reach = np.ones(24)
    B, load, force = system(rng, blocks, reach)
    assert felt_balance(B, load, force, free=np.tile(FREE, 4), reach=reach)[0] is B
    # the same with a slope of a tenth is left out
    B.data[B.data == slope] = 1e-7
    felt, _ = felt_balance(B, B.T @ force, force, free=np.tile(FREE, 4), reach=reach)
    assert felt is not B and np.abs((felt[[9]] + felt[[10]]).toarray()).max() < 1e-13


def wedge(slope, side):
    """A body between two walls that open by ``slope``, and one on the floor under another load."""
    blocks = [
        np.array([[1.0, slope, 0, 0, 0, 0], [-1.0, slope, 0, 0, 0, 0]]),
        np.array([[0, 1.0, 0, 0, 0, 0]]),
    ]
    force = np.array([1.0, 1.0, side])
    B = sp.csr_array(sp.block_diag(blocks))
    return B, B.T @ force, force, dict(free=np.tile(FREE, 2), reach=np.ones(12))


def test_a_loaded_wedge_is_held():
    """Closed form: forces H / (2 slope) of a load H in a wedge of 1e-9 stay, unless H itself is
    lost beside the other loads."""
    B, load, force, known = wedge(1e-9, side=0.0)
    assert felt_balance(B, load, force, **known)[0] is B
    B, load, force, known = wedge(1e-9, side=1e-3)  # H = 2e-9 is 2e-6 of it
    assert felt_balance(B, load, force, **known)[0] is B
    B, load, force, known = wedge(1e-9, side=1.0)
    assert felt_balance(B, load, force, **known)[0] is not B


def test_held_motions_are_left_alone():
    """Property: a motion that is held is no motion, though contacts hardly push along it."""
    B, load, force, known = wedge(1e-9, side=1.0)
    held = known | dict(free=known["free"] & (np.arange(12) != 1))
    assert felt_balance(B, np.where(held["free"], load, 0.0), force, **held)[0] is B


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_law_and_balance_of_the_whole(exponent):
    """Property: f = k (-B u)^(p-1) with the B of the velocities, the balance is broken by no more
    than the limit, and a warm start from u is the answer. A shaft on three rollers, in any
    direction, which lean by 1e-9."""
    rng = np.random.default_rng(5)
    B, reach = np.zeros((6, 24)), np.tile([1.0, 1.0, 1.0, 0.5, 0.5, 0.5], 4)
    for i, angle in enumerate((-0.7, 0.1, 0.8)):
        out, along = np.array([np.sin(angle), -np.cos(angle)]), [np.cos(angle), np.sin(angle)]
        own = slice(6 + 6 * i, 8 + 6 * i)
        B[2 * i, :2], B[2 * i, 5], B[2 * i, own] = -out, 0.2 * i - 0.1, out
        B[2 * i + 1, own] = -out + 1e-9 * rng.normal() * np.array(along)
    B = sp.csr_array(B)
    force = np.repeat([4.0, 5.0, 3.0], 2)
    load = B.T @ force
    felt, pushed = felt_balance(B, load, force, free=np.tile(FREE, 4), reach=reach)
    assert felt is not B
    answer = compatible_forces(felt, pushed, exponent=exponent, tolerance=1e-13)
    assert answer.converged
    u = answer.displacement
    # tilts of 1e-9 times displacements of a few overlaps
    overlap = np.maximum(-(B @ u), 0)
    np.testing.assert_allclose(overlap ** (exponent - 1), answer.force, rtol=3e-8)
    # tilt times force, and no more, is gone
    missing = B.T @ answer.force - load
    assert np.abs(missing).max() < 1e-8 * force.max()
    again = compatible_forces(felt, pushed, exponent=exponent, warm_start=u)
    assert again.iterations == 0 < answer.iterations


def stack(seed, soft):
    """Two bodies whose motions together, not those of either alone, are felt by ``soft``: B, forces
    and F~."""
    rng = np.random.default_rng(seed)
    values = np.array([2.0, 1.5, 1.2, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, soft])
    B = sp.csr_array(turned(rng, 16)[:, :12] * values @ turned(rng, 12))
    force = rng.uniform(0.5, 1.5, 16)
    return B, force, B.T @ force


@pytest.mark.parametrize("soft", [1e-12, 1e-9, 1e-7])
def test_motions_of_all_bodies_together(soft):
    """Reference twin: the dense decomposition; what is left feels all other motions as before, and
    a balance of it is one of the whole to the limit."""
    scene = rl.Scene(gravity=(0, 0, 0))
    for i in range(2):
        scene.add(rl.Sphere(1.0), position=(3 * i, 0, 0))
    bodies = scene.bodies
    B, force, load = stack(0, soft)
    assert known_balance(bodies, B, load, force)[0] is B
    felt, pushed = felt_together(bodies, B, load, force)
    U, S, VT = np.linalg.svd(B.toarray(), full_matrices=False)
    left = S > LIMIT
    assert left.sum() == 11
    # entries up to the limit are none
    np.testing.assert_allclose(felt.toarray(), U[:, left] * S[left] @ VT[left], atol=2 * LIMIT)
    np.testing.assert_allclose(pushed, felt.T @ force)
    other = compatible_forces(felt, pushed).force
    assert np.abs(B.T @ other - load).max() <= 4 * LIMIT * force.sum()


def test_motions_together_stay_where_they_are_felt_or_loaded(monkeypatch):
    """Property: nothing is left out above the limit, against a load of its own, or of large B."""
    scene = rl.Scene(gravity=(0, 0, 0))
    for i in range(2):
        scene.add(rl.Sphere(1.0), position=(3 * i, 0, 0))
    B, force, load = stack(0, 1e-6)
    assert felt_together(scene.bodies, B, load, force)[0] is B
    B, force, load = stack(0, 1e-9)
    VT = np.linalg.svd(B.toarray(), full_matrices=False)[2]
    held = load + 1e-3 * np.abs(load).max() * VT[-1]
    assert felt_together(scene.bodies, B, held, force)[0] is B
    monkeypatch.setattr(tilts, "LARGEST", 16 * 12 - 1)
    assert felt_together(scene.bodies, B, load, force)[0] is B


def test_a_step_that_stops_short_is_asked_for_less(monkeypatch):
    """Contract: where step 2 has not converged, motions of all bodies together are left out, and
    their forces are taken only if these have."""
    module = importlib.import_module("rigidlimit.step")
    asked, solve = [], module.compatible_forces

    def stops_short(B, load, **options):
        asked.append(B)
        answer = solve(B, load, **options)
        return answer if len(asked) % 2 == 0 else replace(answer, status=Status.STALLED)

    def looser(bodies, B, load, force):
        return 1.0 * B, load

    monkeypatch.setattr(module, "compatible_forces", stops_short)
    monkeypatch.setattr(tilts, "felt_together", lambda bodies, B, load, force: (B, load))
    result = rl.Simulation("four-leg-table").step()
    assert len(asked) == 1 and result.compatible.status is Status.STALLED and not result.together
    asked.clear()
    monkeypatch.setattr(tilts, "felt_together", looser)
    result = rl.Simulation("four-leg-table").step()
    assert len(asked) == 2 and asked[0] is not asked[1] and result.compatible.converged
    assert result.together and (result.balance[0] != asked[1]).nnz == 0
