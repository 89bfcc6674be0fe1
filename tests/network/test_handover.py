"""The factorization of contact dynamics, handed to compatible forces of the same step."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.forces import active_set
from rigidlimit.linear import LinearStats, Network
from rigidlimit.linear.low_rank_update import ChangingSystem
from rigidlimit.network import handover
from rigidlimit.network.handover import BorrowedSystem, Handover
from tests.problems import nearly_determinate


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch):
    monkeypatch.setattr(handover, "SMALL", 0)


def left(B, mass, D, held, arm, *, more_rows=0):
    """What step 1 leaves: its network has the rows of B in reverse with others before them, its
    columns divided by arm."""
    m, n = B.shape
    rng = np.random.default_rng(1)
    rows = np.arange(m)[::-1]
    mine = np.vstack([rng.normal(size=(more_rows, n)), B[rows]]) / arm
    inertia = sp.diags_array(mass / arm**2).tocsr()
    of_rows = np.concatenate([np.ones(more_rows), D[rows]])
    bears = np.concatenate([np.ones(more_rows, bool), held[rows]])
    network = Network(sp.csr_array(mine), mass=inertia, blocks=np.arange(n + 1))
    system = ChangingSystem(network, of_rows, bears, 0.0, LinearStats())
    handover = Handover()
    handover.leave(system, arm)
    full = np.concatenate([m + np.arange(more_rows), rows])
    handover.place(full, np.arange(n), (m + more_rows, n))
    return handover


def test_solves_like_the_matrix_itself(monkeypatch):
    """Reference twin: through columns of other sizes, rows in another order and contacts that come
    and go, it solves like a dense matrix with D in proportion."""
    monkeypatch.setattr(handover, "IN_ALL", 200)  # more solves than a walk is to take
    rng = np.random.default_rng(0)
    m, n = 60, 50
    B, D = rng.normal(size=(m, n)), 10.0 ** rng.uniform(-1, 1, m)
    held = rng.uniform(size=m) < 0.95
    arm, other = 10.0 ** rng.uniform(-1, 1, n), 10.0 ** rng.uniform(-1, 1, n)
    theirs = left(B, np.full(n, 1e-7), 1e3 * D, held, arm, more_rows=4)
    given = theirs.among(rows=np.arange(m), columns=np.arange(n), arm=other)
    network = Network(sp.csr_array(B / other), blocks=np.arange(n + 1))
    now = held.copy()
    now[[3, 17]] = ~now[[3, 17]]
    stats = LinearStats()
    system = BorrowedSystem.of(network, now, given, 2.0, stats)
    assert theirs.system is None and given.system is None  # nothing large is kept
    rhs = (B / other).T @ rng.normal(size=m)
    for _ in range(10):
        np.testing.assert_allclose(np.median(system.D[held]), 2.0, rtol=0.5)
        np.testing.assert_allclose(system.D / system.D[0], D / D[0], rtol=1e-12)
        active = np.where(system.held, system.D, 0.0)[:, None]
        K = (B / other).T @ (active * (B / other))
        if np.linalg.matrix_rank(K) == n:
            system.load_with(np.zeros(m), -rhs)
            # condition up to 1e7, residual 1e-14 of it
            np.testing.assert_allclose(K @ system.solve(rhs), rhs, atol=1e-9 * abs(rhs).max())
        change = rng.choice(m, 2, replace=False)
        assert system.would_serve(change)
        system.toggle(change)
    assert stats.factorizations == 0 and 0 < stats.products < 200


def test_is_left_alone_where_it_does_not_serve():
    """Property: no factor, contacts or degrees of freedom it does not know, or too many changes."""
    rng = np.random.default_rng(0)
    B, D, held = rng.normal(size=(80, 60)), np.ones(80), np.ones(80, bool)
    network = Network(sp.csr_array(B), blocks=np.arange(61))

    def of(handover, held=held):
        return BorrowedSystem.of(network, held, handover, 1.0, LinearStats())

    def again(held=held):
        return left(B, np.ones(60), D, held, np.ones(60))

    assert of(Handover()) is None
    assert of(again()) is not None
    unknown = again()
    unknown.row[7] = -1
    assert of(unknown) is None
    unknown = again()
    unknown.column[7] = -1
    assert of(unknown) is None
    assert of(again(np.arange(80) < 20)) is None  # 60 changes; a factor this small serves 30


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
@pytest.mark.parametrize("free", [False, True])
def test_forces_do_not_depend_on_it(free, exponent):
    """Cross-solver: with the D of step 1 or without, the same unique forces, where they have
    freedom and where they have none; only there does the factor of step 1 do."""
    counts = dict(redundant=5, idle=8) if free else dict(redundant=-3, idle=0)
    B, load, corner, k = nearly_determinate(1, **counts)
    m, n = B.shape
    D = 10.0 ** np.random.default_rng(0).uniform(2, 3, m)
    handover = left(B, np.full(n, 1e-5), D, corner > 0, np.ones(n))
    options = dict(stiffness=k, exponent=exponent)
    assert active_set.applies(corner, n)
    expected = rl.compatible_forces(B, load, **options)
    found = rl.compatible_forces(B, load, **options, admissible=corner, handover=handover)
    assert found.converged and expected.converged and handover.system is None
    # both balance to 1e-10; B has a condition number of some 100
    np.testing.assert_allclose(found.force, expected.force, atol=1e-8 * expected.force.max())
    assert (found.factorizations > 0) == free
    assert found.duality_gap < 1e-8


@pytest.mark.parametrize("counts", [dict(redundant=-3, idle=40), dict(redundant=5, idle=0)])
def test_is_given_up_where_it_leads_nowhere(counts):
    """Cross-solver and property: six masses heavier than the springs are stiff make each solve
    take seven steps or more. A factorization is made instead, and the forces are the same."""
    B, load, corner, k = nearly_determinate(1, n=80, **counts)
    m, n = B.shape
    mass = np.full(n, 1e-5)
    mass[:6] = 100.0
    handed = left(B, mass, np.ones(m), corner > 0, np.ones(n))
    expected = rl.compatible_forces(B, load, stiffness=k)
    found = rl.compatible_forces(B, load, stiffness=k, admissible=corner, handover=handed)
    assert found.converged and expected.converged and found.factorizations == 1
    # both balance to 1e-10; B has a condition number of some 100
    np.testing.assert_allclose(found.force, expected.force, atol=1e-8 * expected.force.max())
    # 455 and 214 if it is not given up; 30 in all, beyond which the last solve may go
    assert 0 < found.linear_iterations < 45


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_steps_of_a_packing_factorize_once(law):
    """Reference twin: in every step of a settling packing, beside a driven and a resting body, the
    second step's forces are those it finds alone; where step 1 factorized, it does not."""
    scene = rl.scenes.packing(count=80, seed=5)
    scene.add(rl.Sphere(0.01), position=(50, 0, 0), fixed=True, name="away")
    simulation, shared = rl.Simulation(scene, law=law), 0
    fixed = ~simulation.bodies.free.ravel()
    for _ in range(80):
        result = simulation.step()
        found = result.compatible
        assert found.converged
        chosen = np.flatnonzero(result.closed)
        if not len(chosen):
            continue
        alone = rl.compatible_forces(
            result.B[chosen],
            result.load,
            exponent=simulation.settings.exponent,
            stiffness=result.stiffness[chosen],
            fixed=fixed,
            admissible=result.classic.force[chosen],
        )
        largest = alone.force.max(initial=0.0)
        # both balance to 1e-10 of the load; condition up to some 100
        np.testing.assert_allclose(found.force, alone.force, rtol=0, atol=1e-8 * largest)
        shared += result.classic.factorizations > 0 and found.factorizations == 0
    assert shared > 60


def test_in_use_by_hand():
    """Reference twin and contract: the calls that the documentation gives; a handover of another
    step is emptied, and one of other contacts is told in one line."""
    rng = np.random.default_rng(0)
    B = np.vstack([rng.normal(size=(38, 40)), rng.normal(size=(4, 40)) * 1e-3])
    gap = np.concatenate([np.zeros(38), np.ones(4)])
    v = -B.T @ rng.uniform(0.5, 1.0, 42)
    h = rl.Handover()
    options = dict(tolerance=1e-10, handover=h)
    classic = rl.contact_dynamics(np.ones(40), B, gap, v, np.zeros(40), 1e-3, **options)
    closed = np.flatnonzero(gap == 0)
    force = classic.force[closed]
    assert classic.factorizations and h.system is not None
    load = B[closed].T @ force
    with pytest.raises(rl.errors.InputError, match="42 contacts, B of 38"):
        rl.compatible_forces(B[closed], load, admissible=force, handover=h)
    given = h.among(rows=closed)
    wider = np.hstack([B[closed], np.ones((38, 1))])
    with pytest.raises(rl.errors.InputError, match="40 degrees of freedom, B of 41; expected"):
        rl.compatible_forces(wider, np.append(load, 0.0), handover=given)
    found = rl.compatible_forces(B[closed], load, admissible=force, handover=given)
    assert found.converged and found.factorizations == 0
    np.testing.assert_allclose(found.force, force, rtol=0, atol=1e-9 * force.max())

    rl.contact_dynamics(np.ones(40), B, gap, v, np.zeros(40), 1e-3, **options)
    assert h.system is not None
    rl.contact_dynamics(np.ones(40), B, gap, -v, np.zeros(40), 1e-3, **options)
    assert h.system is None
    with pytest.raises(rl.errors.InputError, match="handover is a ndarray; expected a rigid"):
        rl.compatible_forces(B, load, handover=closed)


def test_small_systems_are_not_borrowed(monkeypatch):
    """Property: what is factorized in less than a millisecond is factorized anew."""
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    B, held = rng.normal(size=(30, 40)), np.ones(30, bool)
    given = left(B, np.ones(40), np.ones(30), held, np.ones(40))
    network = Network(sp.csr_array(B), blocks=np.arange(41))
    assert BorrowedSystem.of(network, held, given, 1.0, LinearStats()) is None
    assert given.system is None


@pytest.mark.parametrize("case", ["no load", "augmented_lagrangian", "gap_error", "p = 1.5"])
def test_is_empty_afterwards(case):
    """Contract: what is handed over, which is large, is let go where it is of no use, too."""
    rng = np.random.default_rng(0)
    B, held, force = rng.normal(size=(20, 20)), np.ones(20, bool), rng.uniform(0.5, 1.0, 20)
    handover = left(B, np.ones(20), np.ones(20), held, np.ones(20))
    options = {
        "no load": {},
        "augmented_lagrangian": dict(method=case),
        "gap_error": dict(gap_error=np.full(20, 1e-3)),
        "p = 1.5": dict(exponent=1.5),
    }[case]
    force = force * (case != "no load")
    assert handover.system is not None
    rl.compatible_forces(B, B.T @ force, admissible=force, handover=handover, **options)
    assert handover.system is None
