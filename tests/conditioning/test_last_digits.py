"""Evidence for what last digits leave open of the forces of a step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import sqrtm

import rigidlimit as rl
from benchmarks.corpus.runs import column
from rigidlimit.conditioning import closed_contacts as module
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.linear import column_arms
from tests.test_two_force_bodies import leaning

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

DT = 1e-3


def springs_of(monkeypatch, scene, state):
    """The stiff springs of a step, B (k, n) and mass (n, n) that they stand on."""
    made, make = [], module.Response.__init__

    def kept(self, *given):
        make(self, *given)
        made.append((self, *given))

    monkeypatch.setattr(module.Response, "__init__", kept)
    simulation = rl.Simulation(scene, dt=DT)
    simulation.state = state
    simulation.step()
    springs, step, balance, _, free = made[0]
    dofs = np.flatnonzero(free & (abs(balance).sum(axis=0) > 0))
    return springs, balance[:, dofs].toarray(), step.M[dofs][:, dofs].toarray()


@pytest.mark.parametrize("tilt", [1e-5, 1e-4])
def test_springs_answer_as_contacts(tilt, monkeypatch):
    """Reference twin: the dense decomposition of N = G G^T, whose small eigenvalues are those of
    the tilts; springs of 1 / (weak^2 N_ii) differ by (weak / S)^2 there, S a third of the tilt."""
    scene, _, state = leaning(tilt)
    springs, B, mass = springs_of(monkeypatch, scene, state)
    G = np.sqrt(DT) * B @ sqrtm(np.linalg.inv(mass)).real
    U, S, _ = np.linalg.svd(G, full_matrices=False)
    telling = S > 1e-12
    U, S = U[:, telling], S[telling]
    change = np.random.default_rng(0).normal(size=len(G))
    known = -U @ (U.T @ change / S**2)
    found = springs._least(change[:, None], 1)[0][:, 0]
    atol = np.abs(known).max() * (1e-4 + 20 * (TOLERANCES.weak / tilt) ** 2)
    np.testing.assert_allclose(found, known, atol=atol)


def test_bodies_that_bear_nothing_leave_nothing_open():
    """A step of a collapsing column: displacements are far off around balls whose contacts are
    closed and bear no force, which had ended in an error of LAPACK."""
    simulation = rl.Simulation(column())
    for _ in range(4):
        step = simulation.step()
        assert step.classic.converged and step.compatible.converged


@pytest.mark.parametrize("solver", ["newton", "pgs"])
def test_closed_faces_are_not_open(solver):
    """Property: boxes on one another, four contacts a face but for rounding: whichever forces a
    solver finds there, those of the step hang on no last digits, and nothing is said."""
    rng = np.random.default_rng(0)
    scene = rl.Scene(name="pile", gravity=(0, 0, -9.81))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    for i in range(4):
        at = (0.01 * rng.normal(), 0.01 * rng.normal(), 0.1 + 0.2 * i)
        scene.add(rl.Box((0.3, 0.3, 0.2)), position=at)
    simulation = rl.Simulation(scene, dt=DT, solver=solver)
    for _ in range(5):
        result = simulation.step()
        assert result.converged and not result.doubt


def test_changes_stay_above_no_force():
    """Closed form: of forces 3 and 1 that change by (20, -20) and back, the second lets go first on
    the way there, the first on the way back: thrice as far. Contacts that hardly change let go."""
    force, change = np.array([3.0, 1.0, 1e-9]), np.array([20.0, -20.0, -1e-3])
    np.testing.assert_allclose(module._bounded(change, force), np.abs(change) * 3.0 / 20.0)
    np.testing.assert_allclose(module._bounded(0.01 * change, force), np.abs(0.01 * change))


def mixed_packing(name="mixed_packing"):
    """200 balls, boxes, capsules, cylinders and ellipsoids in a box, as they settle; or where they
    lie close, "dense_packing", and 104 steps later, "weakly_held_packing"."""
    rng, side = np.random.default_rng(0), 0.35
    scene = rl.Scene(name="mixed", dt=2e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    walls = ((0, 0), (1, 0)), ((side, 0), (-1, 0)), ((0, 0), (0, 1)), ((0, side), (0, -1))
    for at, normal in walls:
        scene.add(rl.HalfSpace(), position=(*at, 0), normal=(*normal, 0))
    for k in range(200):
        a = (rng.normal(size=4), rng.uniform(0.8, 1.2))[1]
        shapes = (
            rl.Sphere(0.03 * a),
            rl.Box((0.04 * a, 0.035 * a, 0.03 * a)),
            rl.Capsule(0.015 * a, 0.03 * a),
            rl.Cylinder(0.018 * a, 0.04 * a),
            rl.Ellipsoid((0.03 * a, 0.02 * a, 0.025 * a)),
        )
        scene.add(shapes[k % 5], position=(0, 0, k))
    kept = np.load(Path(__file__).parent / f"{name}.npz")
    simulation = rl.Simulation(scene)
    simulation.state = simulation.state.moved(**{name: kept[name] for name in kept.files})
    return simulation


@pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")
def test_packings_that_move_are_not_open():
    """Property: places moved by their last digits change forces by 1e-11 of the largest, and
    nothing
    is said. Motions of single boxes that contacts hardly resist said "open by 7e14 N": other bodies
    give way."""
    simulation = mixed_packing()
    state, rng = simulation.state, np.random.default_rng(1)
    result = simulation.step()
    assert result.converged and result.open.max() <= 1e-3 * result.force.max()
    simulation = mixed_packing()
    last = rng.choice([-1, 0, 1], state.position.shape) * 2.0**-52
    simulation.state = state.moved(position=state.position * (1 + last))
    moved = simulation.step()
    assert len(moved.force) == len(result.force)
    # last digits of gaps over the step, as forces, ten thousand times
    np.testing.assert_allclose(moved.force, result.force, atol=1e-9 * result.force.max())


@pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")
def test_steps_go_on_where_their_tolerance_leaves_forces_open():
    """Property: forces at the default tolerance are those at a thousandth of it, and nothing is
    said. Some contacts hardly resist their bodies: at the tolerance forces were off by 23 % of the
    largest, and called open."""
    simulation = mixed_packing("dense_packing")
    begun, settings = simulation.checkpoint(), simulation.settings
    result = simulation.step(compatible=True)
    simulation.restore(begun)
    simulation.settings = replace(settings, tolerance=1e-13)
    tight = simulation.step(compatible=True)
    assert result.converged and result.classic.tolerance == settings.tolerance
    assert not result.open_forces
    known = result.contacts.carry_over(tight.contacts, tight.force)
    # far below the thousandth that is told, far above rounding, 1e-12 here
    np.testing.assert_allclose(result.force, known, atol=1e-6 * known.max())


@pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")
def test_motions_of_many_bodies_that_data_do_not_resolve():
    """Property: forces are those at a thousandth of the tolerance, and those of places moved by
    their last digits. Cross-solver: Clarabel on the balance that the step tells. Some motions of a
    hundred bodies are felt by 1e-9: forces were off by 4 % of the largest between tolerances, and
    nothing was said."""
    simulation = mixed_packing("weakly_held_packing")
    begun, settings, state = simulation.checkpoint(), simulation.settings, simulation.state
    result = simulation.step(compatible=True)
    assert result.converged and not result.open_forces and result.compatible.force_error < 1e-3
    largest = result.force.max()
    last = np.random.default_rng(1).choice([-1, 0, 1], state.position.shape) * 2.0**-52
    for change in ({"tolerance": 1e-13}, {}):
        simulation.restore(begun)
        simulation.settings = replace(settings, **change)
        if not change:
            simulation.state = state.moved(position=state.position * (1 + last))
        other = simulation.step(compatible=True)
        known = result.contacts.carry_over(other.contacts, other.force)
        # far below the thousandth that is told, far above rounding
        np.testing.assert_allclose(result.force, known, atol=1e-6 * largest)
    clarabel = pytest.importorskip("clarabel")
    B, load = result.balance
    arm, moved = column_arms(B)
    dofs = np.flatnonzero(result.bodies.free.ravel() & moved)
    m, size = B.shape[0], np.abs(load).max()
    A = sp.csc_matrix(sp.vstack([(B[:, dofs] / arm[dofs]).T, -sp.eye_array(m)]))
    b = np.append(load[dofs] / arm[dofs] / size, np.zeros(m))
    P = sp.csc_matrix(sp.diags_array(result.stiffness.max() / result.stiffness[result.closed]))
    cones = [clarabel.ZeroConeT(len(dofs)), clarabel.NonnegativeConeT(m)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    found = clarabel.DefaultSolver(P, np.zeros(m), A, b, cones, options).solve()
    # its residual of 1e-8 over motions that contacts feel by a hundredth
    force = result.compatible.force
    np.testing.assert_allclose(np.array(found.x) * size, force, atol=1e-4 * largest)


@pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")
def test_the_whole_balance_needs_no_given_forces():
    """Cross-solver: forces for the load alone are those that the search among forces finds from
    given ones (Newton's were off by 5e-3 of the largest, balanced to 1e-11, with 5e-6 told)."""
    result = mixed_packing("weakly_held_packing").step(compatible=True)
    closed, bodies = np.flatnonzero(result.closed), result.bodies
    problem = dict(stiffness=result.stiffness[closed], fixed=~bodies.free.ravel())
    problem |= dict(B=result.B[closed], load=result.load, blocks=bodies.blocks)
    given = rl.compatible_forces(**problem, admissible=result.classic.force[closed])
    found = rl.compatible_forces(**problem)
    assert given.converged and found.converged and found.force_error < 1e-3
    # rounding of the load, 1e-16, over motions that contacts feel by 1e-9
    np.testing.assert_allclose(found.force, given.force, atol=1e-6 * given.force.max())
