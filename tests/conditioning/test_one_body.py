"""Motions that closed contacts hardly push along, body by body: which, and what is left of B."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.compatibility import compatible_forces
from rigidlimit.conditioning import one_body
from rigidlimit.conditioning.one_body import without_weak_motions
from rigidlimit.conditioning.screening import Columns
from rigidlimit.conditioning.several_bodies import HELD, NONE
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.status import Status
from tests.problems import assert_asks_the_same, turned

FREE = np.ones(6, bool)


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
    columns = Columns(np.tile(FREE, len(blocks)), reach)
    felt, pushed = without_weak_motions(B, load, force, columns)

    small = [int(((v > TOLERANCES.zero) & (v <= TOLERANCES.weak)).sum()) for v in values]
    assert sum(small) == 6
    for b, rows in enumerate(blocks):
        _, S, V = np.linalg.svd(rows)
        V = V[:6][np.pad(S, (0, 6 - len(S))) > TOLERANCES.weak]
        part = (felt[8 * b : 8 * b + 8, 6 * b : 6 * b + 6]).toarray()
        if small[b]:
            assert_asks_the_same(part / reach[6 * b : 6 * b + 6], rows @ V.T @ V)
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
    assert without_weak_motions(B, load, force, Columns(np.tile(FREE, 4), reach))[0] is B
    # the same with a slope of a tenth is left out
    B.data[B.data == slope] = 1e-7
    felt, _ = without_weak_motions(B, B.T @ force, force, Columns(np.tile(FREE, 4), reach))
    assert felt is not B and np.abs((felt[[9]] + felt[[10]]).toarray()).max() < 1e-13


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e4])
def test_rounding_of_a_spin_tells_nothing_in_any_unit(size):
    """Closed form: a roller on four supports at x, whose forces are linear in x. Its spin is felt
    by 4e-14 of its radius, as where faces lean after some steps: 2e-11 mm, more than arms of small
    bodies in metres, and nothing in any unit."""
    scene = rl.Scene(name="roller")
    scene.add(rl.Cylinder(0.3 * size, 1.0 * size), position=(0, 0, 0), name="roller")
    x = np.array([-0.4, -0.1, 0.2, 0.45]) * size
    B = np.zeros((4, 6))
    B[:, 2], B[:, 4] = 1.0, -x
    B[:, 3] = 4e-14 * scene.bodies.bounding_radius[0] * np.array([1.0, -0.9, 0.8, -1.0])
    B, admissible = sp.csr_array(B), np.array([3.0, 1.0, 1.5, 2.5])
    given = B.copy()
    asked = one_body.reduced_balance(scene.bodies, B, B.T @ admissible, admissible)
    assert (given != B).nnz == 0 and len(B.data) == len(given.data)
    answer = compatible_forces(*asked, admissible=admissible)
    line = np.polynomial.Polynomial.fit(x, admissible, 1)  # least squares keeps force and moment
    # solved to 1e-10; with the column kept forces are 0.3 N off
    np.testing.assert_allclose(answer.force, line(x), rtol=1e-8)


def wedge(slope, side):
    """A body between two walls that open by ``slope``, and one on the floor under another load."""
    blocks = [
        np.array([[1.0, slope, 0, 0, 0, 0], [-1.0, slope, 0, 0, 0, 0]]),
        np.array([[0, 1.0, 0, 0, 0, 0]]),
    ]
    force = np.array([1.0, 1.0, side])
    B = sp.csr_array(sp.block_diag(blocks))
    return B, B.T @ force, force, Columns(np.tile(FREE, 2), np.ones(12))


def test_a_loaded_wedge_is_held():
    """Closed form: forces H / (2 slope) of a load H in a wedge of 1e-9 stay, unless H itself is
    lost beside the other loads."""
    B, load, force, known = wedge(1e-9, side=0.0)
    assert without_weak_motions(B, load, force, known)[0] is B
    B, load, force, known = wedge(1e-9, side=1e-3)  # H = 2e-9 is 2e-6 of it
    assert without_weak_motions(B, load, force, known)[0] is B
    B, load, force, known = wedge(1e-9, side=1.0)
    assert without_weak_motions(B, load, force, known)[0] is not B


def test_held_motions_are_left_alone():
    """Property: a motion that is held is no motion, though contacts hardly push along it."""
    B, load, force, known = wedge(1e-9, side=1.0)
    held = known._replace(free=known.free & (np.arange(12) != 1))
    assert without_weak_motions(B, np.where(held.free, load, 0.0), force, held)[0] is B


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
    felt, pushed = without_weak_motions(B, load, force, Columns(np.tile(FREE, 4), reach))
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


def test_forces_do_not_depend_on_axes():
    """Property: two bodies of which the first hardly moves a contact along x, and which feel one
    motion of both not at all. Forces are those of the scene turned to where no entry of B is small:
    without the small entries they had to obey a motion felt by 3e-9, and were 0.4 N off."""
    rng = np.random.default_rng(6)
    first, second, both = rng.normal(size=(16, 6)), rng.normal(size=(16, 6)), rng.normal(size=12)
    first[:, 0] *= 2e-8
    first[:3, 2] = 4e-8, -3e-8, 1e-8
    both[0] = 0.0  # what the first one hardly feels is no part of it
    missed = first @ both[:6] + second @ both[6:]
    second -= np.outer(missed, both[6:]) / (both[6:] @ both[6:])
    B, force = np.hstack([first, second]), rng.uniform(0.5, 1.5, 16)
    forces = []
    for turn in (np.eye(12), np.kron(np.eye(2), turned(rng, 6))):
        of = sp.csr_array(B @ turn)
        known = Columns(np.tile(FREE, 2), np.ones(12))
        felt, pushed = without_weak_motions(of, of.T @ force, force, known)
        S = np.linalg.svd(felt.toarray())[1]
        assert felt is not of and not ((S > 1e-14) & (TOLERANCES.weak >= S)).any()
        forces.append(compatible_forces(felt, pushed, blocks=[0, 6, 12]).force)
    # solved to 1e-10
    np.testing.assert_allclose(forces[0], forces[1], rtol=0, atol=1e-8)


def test_a_step_that_stops_short_is_asked_for_less(monkeypatch):
    """Contract: where step 2 has not converged, motions of all bodies together are left out, and
    their forces are taken only if these have."""
    module = importlib.import_module("rigidlimit.step.forces")
    asked, solve = [], module.compatible_forces

    def stops_short(B, load, **options):
        asked.append(B)
        answer = solve(B, load, **options)
        return answer if len(asked) % 2 == 0 else replace(answer, status=Status.STALLED)

    def looser(bodies, B, load, force, how):
        return 1.0 * B, load

    def holding(bodies, B, load, force, how):
        last = B.indices.max()
        kept = sp.diags_array((np.arange(B.shape[1]) != last).astype(float))
        felt = sp.csr_array(B @ kept) if how == HELD else B
        felt.eliminate_zeros()
        return felt, np.where(bodies.free.ravel(), felt.T @ force, 0.0)

    monkeypatch.setattr(module, "compatible_forces", stops_short)
    monkeypatch.setattr(one_body, "without_motions_together", lambda *given: given[1:3])
    result = rl.Simulation("four-leg-table").step()
    assert (
        len(asked) == 1 and result.compatible.status is Status.STALLED and not result.several_bodies
    )
    asked.clear()
    monkeypatch.setattr(one_body, "without_motions_together", looser)
    result = rl.Simulation("four-leg-table").step()
    assert len(asked) == 2 and asked[0] is not asked[1] and result.compatible.converged
    # nothing was held, and nothing is said
    assert result.several_bodies == NONE and (result.balance[0] != asked[1]).nnz == 0
    assert not result.doubt
    asked.clear()
    monkeypatch.setattr(one_body, "without_motions_together", holding)
    result = rl.Simulation("four-leg-table").step()
    assert len(asked) == 2 and result.compatible.converged and "were excluded" in result.doubt
    assert result.several_bodies == HELD and (result.balance[0] != asked[1]).nnz == 0

    def hardly(bodies, B, load, force, how):
        felt = 1.0 * B
        felt.data[0] *= 1.0 + (how == HELD) * 1e-9
        return felt, felt.T @ force

    asked.clear()
    monkeypatch.setattr(one_body, "without_motions_together", hardly)
    result = rl.Simulation("four-leg-table").step()
    # the whole balance has these forces as well, known by its duality gap: nothing is said
    assert len(asked) == 2 and result.several_bodies == HELD and not result.doubt


@pytest.mark.parametrize("slope", [1e-3, 1e-5, 1e-8])
def test_last_digits_of_a_slope_tell_nothing(slope):
    """Property: three plates on one another, free to slide along a slope: normals that are off by
    their last digits ask for the same forces as exact ones, which need not know of the slide."""
    rng = np.random.default_rng(0)
    reach, arms = np.ones(18), (-1.0, -0.2, 0.9)
    rows = []
    for body in range(3):
        for arm in arms:
            row = np.zeros(18)
            normal = np.array([slope + 1e-16 * rng.uniform(-1, 1), 1.0])
            row[6 * body + np.array([0, 1, 5])] = *normal, arm
            if body:
                row[6 * body - 6 + np.array([0, 1, 5])] = *-normal, -arm
            rows.append(row)
    B = sp.csr_array(np.array(rows))
    force = rng.uniform(0.5, 1.5, len(rows))
    felt, load = without_weak_motions(B, B.T @ force, force, Columns(np.ones(18, bool), reach))
    assert not felt[:, ::6].nnz and (felt[:, 1::6] != B[:, 1::6]).nnz == 0
    other = compatible_forces(felt, load).force
    known = compatible_forces(sp.csr_array(felt), load, method="augmented_lagrangian").force
    # the paper's solver ends at its tolerance
    np.testing.assert_allclose(other, known, atol=1e-8)
    assert np.abs(B.T @ other - B.T @ force).max() < 1e-9
