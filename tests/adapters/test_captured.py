"""Captured problems: FCLIB files, and the method on real ones."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.adapters import (
    CapturedProblem,
    capture,
    normal_problem,
    read_captured,
    solve_captured,
    write_fclib,
)
from rigidlimit.bodies.mass import mass_matrix
from rigidlimit.errors import InputError, OutputError
from tests.captured import NAMES, captured_file
from tests.problems import pyramid

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

BOXES = "BoxesStack1-i100000-32.hdf5.dat"


def normal_part(name):
    return normal_problem(read_captured(captured_file(name)))


def off(force, reference):
    """Largest difference over the largest force."""
    return np.abs(force - reference).max() / reference.max()


@pytest.mark.parametrize("name", NAMES)
def test_captured_problem_is_solved(name):
    """Property: balance to 1e-10, no pull, complementary, compatible; degree with its tolerance."""
    answer = solve_captured(normal_part(name))
    assert answer.converged and answer.compatible.residual <= 1e-10
    balance = np.abs(answer.B.T @ answer.compatible.force - answer.load).max()
    # the residual divides column by column by the longest arm; entries of B are 0.3 to 4 here
    assert balance <= 1e-9 * np.abs(answer.load).max()
    certificate = rl.certify(answer.B, answer.load, answer.compatible.force)
    assert certificate.compatible, certificate.message
    # the velocities that the compatible impulses give close no contact
    problem = answer.problem
    M = sp.csc_array(problem.M)
    without = problem.B @ sp.linalg.spsolve(M, problem.impulse) + problem.gap
    slack = without + problem.B @ sp.linalg.spsolve(M, problem.B.T @ answer.force)
    # 1e-12 of step 1 times the ratio of the masses involved
    assert slack.min() > -1e-9 * np.abs(without).max()
    known = rl.determinacy(answer.B, answer.load, force=answer.compatible.force)
    assert known.degree >= 0 and known.rank.tolerance == 1e-9 and "1e-09" in known.message
    assert known.distance <= 1e-9 * answer.force.max()
    inside = (known.interval[:, 0] - 1e-7 * answer.force.max() <= answer.compatible.force) & (
        answer.compatible.force <= known.interval[:, 1] + 1e-7 * answer.force.max()
    )
    assert inside.all()


@pytest.mark.parametrize(("name", "degree"), list(zip(NAMES, (0, 13, 9, 0, 0), strict=True)))
def test_degree_of_captured_problems(name, degree):
    """Reference twin where all contacts can carry: m - rank B by dense singular values of W_NN or
    B. In the stack of boxes three contacts carry 1e-8 of the largest force at most: flagged."""
    problem = normal_part(name)
    answer = solve_captured(problem)
    known = rl.determinacy(answer.B, answer.load, intervals="none")
    B = problem.B[answer.closed].toarray()
    assert known.can_carry.all()
    assert known.degree == len(B) - np.linalg.matrix_rank(B @ B.T, rtol=1e-12) == degree
    assert known.doubtful == (name == BOXES)


@pytest.mark.parametrize("name", NAMES)
def test_forces_do_not_depend_on_the_order(name):
    """Property, 20 random contact orders: the same forces to 1e-8."""
    problem = normal_part(name)
    reference = solve_captured(problem).force
    rng = np.random.default_rng(1)
    for _ in range(20):
        order = rng.permutation(len(reference))
        force = np.empty_like(reference)
        force[order] = solve_captured(problem.in_order(order)).force
        assert off(force, reference) <= 1e-8


@pytest.mark.parametrize("solver", ["pgs", "apgd"])
@pytest.mark.parametrize("name", NAMES)
def test_forces_do_not_depend_on_the_classic_solver(name, solver):
    """Cross-solver: the same forces to 1e-8 from every classic solver."""
    problem = normal_part(name)
    answer = solve_captured(problem, solver=solver)
    assert answer.converged and answer.classic.solver == solver
    assert off(answer.force, solve_captured(problem).force) <= 1e-8


def test_classic_forces_of_a_stack_depend_on_the_order():
    """The stack of boxes: Gauss-Seidel forward and in reverse differ by about 150 % in the
    Euclidean norm, the compatible forces by less than 1e-8."""
    problem = normal_part(BOXES)
    forward = solve_captured(problem, solver="pgs", order="natural")
    reverse = solve_captured(problem, solver="pgs", order="reverse")
    f, g = forward.classic.force, reverse.classic.force
    assert forward.classic.converged and reverse.classic.converged
    assert 1.2 < np.linalg.norm(f - g) / np.linalg.norm(g) < 1.8
    assert off(forward.force, reverse.force) < 1e-8


def same(a: CapturedProblem, b: CapturedProblem):
    assert (a.kind, a.dim, a.title, a.description) == (b.kind, b.dim, b.title, b.description)
    for name in ("mu", "q", "f", "w"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None)
        if left is not None:
            np.testing.assert_array_equal(left, right)
    for name in ("W", "M", "H"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert left.shape == right.shape and (left != right).nnz == 0


def small_problem(kind, *, dim=3):
    """Two contacts of a body with three degrees of freedom, random values."""
    rng = np.random.default_rng(3)
    rows = 2 * dim
    H = sp.csr_array(rng.normal(size=(3, rows)))
    mu = np.array([0.5, 0.25])
    words = dict(title="two contacts", description="values at random")
    if kind == "global":
        M = sp.csr_array(np.diag([2.0, 3.0, 4.0]))
        return CapturedProblem(
            "global", dim, mu, M=M, H=H, f=rng.normal(size=3), w=rng.normal(size=rows), **words
        )
    return CapturedProblem("local", dim, mu, W=sp.csr_array(H.T @ H), q=rng.normal(size=rows),
                           **words)  # fmt: skip


@pytest.mark.parametrize("kind", ["local", "global"])
@pytest.mark.parametrize("dim", [2, 3])
def test_fclib_round_trip(tmp_path, kind, dim):
    """Write and read give the same values, bit for bit."""
    problem = small_problem(kind, dim=dim)
    write_fclib(problem, tmp_path / "p.hdf5")
    same(read_captured(tmp_path / "p.hdf5"), problem)


@pytest.mark.parametrize("name", NAMES)
def test_captured_file_round_trip(tmp_path, name):
    """Real files survive reading and writing."""
    problem = read_captured(captured_file(name))
    write_fclib(problem, tmp_path / "p.hdf5")
    same(read_captured(tmp_path / "p.hdf5"), problem)


@pytest.mark.parametrize("nz", [-2, "triplets"])
def test_other_matrix_forms(tmp_path, nz):
    """FCLIB's compressed rows and triplets read as the same matrices."""
    import h5py

    problem = small_problem("local")
    path = tmp_path / "p.hdf5"
    write_fclib(problem, path)
    W = problem.W
    with h5py.File(path, "r+") as file:
        group = file["fclib_local/W"]
        for key in ("nz", "p", "i", "x"):
            del group[key]
        if nz == -2:
            group["nz"], group["p"], group["i"], group["x"] = [-2], W.indptr, W.indices, W.data
        else:
            W = W.tocoo()
            group["nz"], group["p"], group["i"], group["x"] = [W.nnz], W.col, W.row, W.data
    same(read_captured(path), problem)


def test_global_and_local_of_one_problem_agree():
    """Cross-form: eliminating the velocities of a global problem leaves its forces."""
    step1 = pyramid(4)
    M, B = step1.mass, step1.B
    impulse = M @ step1.free_velocity
    whole = capture(B, M, step1.bias, impulse, title="pyramid")
    H = whole.H
    inverse = sp.diags_array(1 / M.diagonal())
    local = CapturedProblem(
        "local", 3, whole.mu, W=sp.csr_array(H.T @ inverse @ H),
        q=whole.w + H.T @ (inverse @ impulse),
    )  # fmt: skip
    a, b = (solve_captured(normal_problem(p)) for p in (whole, local))
    assert a.converged and b.converged and b.problem.local
    assert off(b.force, a.force) < 1e-8


def local_problem(W, q):
    """W and q of normal rows as a local problem with one idle tangential row."""
    W, m = sp.coo_array(W), len(q)
    W = sp.csr_array(sp.coo_array((W.data, (2 * W.row, 2 * W.col)), shape=(2 * m, 2 * m)))
    return CapturedProblem("local", 2, np.zeros(m), W=W, q=np.ravel(np.c_[q, np.zeros(m)]))


def noisy_pyramid(noise, seed=0):
    """(W, q) of a pyramid's contacts, the entries of W off by ``noise`` at random, and the
    impulses without it."""
    step1 = pyramid(3)
    M, B = step1.mass, step1.B
    W = (B @ sp.diags_array(1 / M.diagonal()) @ B.T).toarray()
    exact = solve_captured(normal_problem(capture(B, M, step1.bias, M @ step1.free_velocity)))
    off_by = np.random.default_rng(seed).uniform(-1, 1, W.shape)
    return W * (1 + noise * off_by), step1.bias + B @ step1.free_velocity, exact.force


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-4])
def test_noise_is_cut_off(noise):
    """Analytic: a pyramid's W has rank 15 of 24. With noise it has full rank, and forces made
    constraints of the noise: off by 60 %. Cut at the noise it gives the exact forces, as far as
    they are known. Property: the order of the contacts does not matter."""
    W, q, exact = noisy_pyramid(noise)
    answer = solve_captured(normal_problem(local_problem(W, q)))
    assert answer.problem.B.shape[1] == 15
    # errors of W times its pseudo-inverse, whose norm is 4
    assert off(answer.force, exact) < 10 * noise
    rng = np.random.default_rng(1)
    for _ in range(5):
        order = rng.permutation(len(q))
        other = solve_captured(normal_problem(local_problem(W[np.ix_(order, order)], q[order])))
        # 1e-12 of step 1, on constraints that differ by the noise alone
        assert off(other.force, answer.force[order]) < 1e-8
    # which contacts are closed lies within the noise: the data do not determine the forces
    assert answer.doubtful > 0 and answer.data_error > 0.1
    certificate = rl.certify(
        answer.B, answer.load, answer.compatible.force, data_error=answer.data_error
    )
    assert not certificate.compatible and "not certified" in certificate.verdict
    assert certificate.admissible


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_data_are_those_of_other_data(seed):
    """Reference twin: forces of W with other errors of the same size lie some standard deviations
    away, not more and not far less. Six contacts, none of them redundant."""
    noise = 1e-6
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(6, 6)) + 4 * np.eye(6)
    W = B @ B.T
    q = -W @ rng.uniform(1, 2, 6)
    spread = noise * np.abs(W) * rng.uniform(-1, 1, W.shape)
    answer = solve_captured(normal_problem(local_problem(W + spread, q)))
    found = [
        off(solve_captured(normal_problem(local_problem(W + change, q))).force, answer.force)
        for change in (noise * np.abs(W) * rng.uniform(-1, 1, (20, 6, 6)))
    ]
    assert answer.doubtful == 0
    # largest of six over 20 samples; errors seen in the asymmetry alone are random themselves
    assert 0.1 * max(found) < answer.data_error < 10 * max(found)


def test_symmetric_data_are_certified():
    """All digits there: nothing but rounding, and a certificate."""
    W, q, exact = noisy_pyramid(0.0)
    answer = solve_captured(normal_problem(local_problem(W, q)))
    assert off(answer.force, exact) < 1e-9 and answer.data_error < 1e-9 and not answer.doubtful
    assert rl.certify(
        answer.B, answer.load, answer.compatible.force, data_error=answer.data_error
    ).compatible


def test_cut_of_a_local_problem():
    """What is cut is what was asked for; a cut must be positive."""
    W, q, _ = noisy_pyramid(1e-6)
    problem = normal_problem(local_problem(W, q), cut=1e-12)
    assert problem.B.shape[1] > 15 and problem.threshold == 1e-12
    for kind in ("local", "global"):
        for wrong in (-1.0, 0.0, np.nan, 1.0, 2.0, "a"):
            with pytest.raises(InputError, match=r"cut is .*; expected a number between 0 and 1"):
                normal_problem(small_problem(kind), cut=wrong)
    with pytest.raises(InputError, match="this one is global and has B itself: expected no cut"):
        normal_problem(small_problem("global"), cut=0.1)


def test_printed_digits_are_noise():
    """Property: six digits of W are an error of 5e-6, though it is symmetric."""
    W, q, _ = noisy_pyramid(0.0)
    digits = np.vectorize(lambda v: float(f"{v:.6g}"))(W * np.pi)
    problem = normal_problem(replace(local_problem(digits, q), rounding=5e-6))
    assert problem.asymmetry == 0.0 and 1e-6 < problem.noise < 2e-5
    assert solve_captured(problem).data_error > 1e-6


def test_asymmetry_and_cut_are_reported():
    """A W made asymmetric by 1e-7 says so, and is still solved; a negative one is refused."""
    problem = small_problem("local")
    W = problem.W.toarray()
    W[0, 3] += 1e-7 * np.abs(W).max()
    found = normal_problem(CapturedProblem("local", 3, problem.mu, W=sp.csr_array(W), q=problem.q))
    normal = np.abs(W[::3, ::3]).max()
    assert found.asymmetry == pytest.approx(1e-7 * np.abs(W).max() / normal, rel=1e-3)
    negative = CapturedProblem("local", 3, problem.mu, W=-problem.W, q=problem.q)
    with pytest.raises(InputError, match="eigenvalue"):
        normal_problem(negative)


def test_captured_step_is_the_step(tmp_path):
    """A problem of this library, written and read, has the forces of the problem itself."""
    step1 = pyramid(4, state="impact")
    impulse = step1.mass @ step1.free_velocity
    write_fclib(capture(step1.B, step1.mass, step1.bias, impulse), tmp_path / "p.hdf5")
    answer = solve_captured(normal_problem(read_captured(tmp_path / "p.hdf5")))
    direct = rl.contact_dynamics(
        step1.mass, step1.B, step1.bias * step1.dt, step1.free_velocity,
        np.zeros(step1.B.shape[1]), step1.dt, tolerance=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(answer.classic.velocity, direct.velocity, atol=1e-9)


DAMAGE = {
    "not HDF5": (lambda file, path: None, "not readable as HDF5"),
    "no group": (lambda file, path: file.move("fclib_local", "other"), "expected a group"),
    "no W": (lambda file, path: file.__delitem__("fclib_local/W"), "lacks"),
    "no q": (lambda file, path: file.__delitem__("fclib_local/vectors/q"), "lacks"),
    "short q": (lambda file, path: put(file, "vectors/q", np.zeros(5)), "q in .* has shape"),
    "bad nz": (lambda file, path: put(file, "W/nz", [-7]), "nz = -7"),
    "fewer nz": (lambda file, path: put(file, "W/nz", [5]), r"nz = 5 triplets, and 7, 36 and 36"),
    "wild row": (lambda file, path: put(file, "W/i", np.full(36, 99)), "damaged"),
    "wild pointer": (lambda file, path: put(file, "W/p", np.arange(7) * 50), "damaged"),
    "short p": (lambda file, path: put(file, "W/p", np.arange(3)), "damaged"),
    "nan": (lambda file, path: put(file, "vectors/q", np.full(6, np.nan)), "not finite"),
    "dim": (lambda file, path: put(file, "spacedim", [4]), "dimension"),
    "rolling": (lambda file, path: put(file, "spacedim", [5]), "rolling friction"),
    "equalities": (lambda file, path: put(file, "V", [0.0]), "equality"),
}


def put(file, name, value):
    name = f"fclib_local/{name}"
    if name in file:
        del file[name]
    file[name] = value


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files(tmp_path, damage):
    """Every damage is one OutputError that names the file and what is wrong."""
    import h5py

    path = tmp_path / "p.hdf5"
    write_fclib(small_problem("local"), path)
    change, message = DAMAGE[damage]
    if damage == "not HDF5":
        path.write_bytes(path.read_bytes()[:700])
    else:
        with h5py.File(path, "r+") as file:
            change(file, path)
    with pytest.raises(OutputError, match=message):
        read_captured(path)


def test_missing_file(tmp_path):
    """Property: in either form a file that is not there is one clear error."""
    with pytest.raises(OutputError, match="no file"):
        read_captured(tmp_path / "none.hdf5")
    with pytest.raises(OutputError, match="no file"):
        read_captured(tmp_path / "none.dat")


def leaning_blocks(columns=3, layers=3, tilt=1e-6, seed=2):
    """(W, q, floor, weight): blocks in columns side by side, which lean by ``tilt``; floor (m,)
    bool: contacts on it; weight [N s] of a step."""
    scene, rng, dt = rl.Scene(dt=1e-2), np.random.default_rng(seed), 1e-2
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for i, j in np.ndindex(columns, layers):
        turned = np.array([1.0, *(tilt * rng.normal(size=3))])
        at = np.array([i, 0.0, 0.5 + j]) + tilt * rng.normal(size=3)
        orientation = tuple(turned / np.linalg.norm(turned))
        scene.add(rl.Box((1, 1, 1)), position=tuple(at), orientation=orientation)
    simulation = rl.Simulation(scene, compatible="never")
    result, bodies = simulation.step(), scene.bodies
    free = bodies.free.ravel()
    B = sp.csr_array(result.B)[:, free]
    inverse = 1 / mass_matrix(bodies, result.state).diagonal()[free]
    q = B @ (inverse * simulation.external_force[free]) * dt
    floor = (result.contacts.body == 0).any(axis=1)
    weight = 9.81 * dt * bodies.mass[1:].sum()
    return (B @ sp.diags_array(inverse) @ B.T).toarray(), q, floor, weight


def test_contacts_that_cannot_bear_but_by_tilts():
    """Closed form: the floor bears the weight, to the tilts. Property: what the order of the
    contacts changes is no more than the error that is told, and no certificate is given. Sides of
    blocks that lean by a millionth stopped step 2 short."""
    W, q, floor, weight = leaning_blocks(4, 4, seed=4)
    answer = solve_captured(normal_problem(local_problem(W, q)))
    assert answer.converged and answer.idle > 0
    assert answer.force[floor].sum() == pytest.approx(weight, rel=1e-6)
    order = np.random.default_rng(0).permutation(len(q))
    other = solve_captured(normal_problem(local_problem(W[np.ix_(order, order)], q[order])))
    assert other.converged and off(other.force, answer.force[order]) < answer.data_error
    certificate = rl.certify(
        answer.B, answer.load, answer.compatible.force, data_error=answer.data_error
    )
    assert "not certified" in certificate.verdict


@pytest.mark.parametrize(
    ("size", "seed", "determined"),
    [((3, 3), 1, False), ((5, 2), 1, False), ((5, 2), 3, False), ((2, 2), 2, True)],
)
def test_weakly_resisted_motions_are_told(size, seed, determined):
    """Property: what the order of the contacts changes is no more than the error that is told.
    Blocks that lean by 1e-6 have motions that W feels by 1e-12: forces along them hang on its last
    digits. Where forces of contacts that bear do not, a certificate is given. Slacks of four sides
    lie at the limit: by errors of W without those of its eigenvectors one order was certified."""
    W, q, _, _ = leaning_blocks(*size, seed=seed)
    answer = solve_captured(normal_problem(local_problem(W, q)))
    for k in range(2):
        order = np.random.default_rng(k).permutation(len(q))
        other = solve_captured(normal_problem(local_problem(W[np.ix_(order, order)], q[order])))
        # 1e-9 of the largest force counts as none
        told = max(answer.data_error, other.data_error, 1e-9)
        assert other.converged and off(other.force, answer.force[order]) <= told
        certificate = rl.certify(
            other.B, other.load, other.compatible.force, data_error=other.data_error
        )
        assert certificate.compatible == determined


def test_other_last_digits_are_looked_at():
    """Property: where sides that lean by 3e-8 are closed, last digits of W decide which of them
    bear, and whether others close. One of those that may bear had no weak motion, and was certified
    beside forces a fifth of the largest away."""
    W, q, _, _ = leaning_blocks(3, 3, tilt=3e-8, seed=685)
    rng, found = np.random.default_rng(2), []
    for order in (np.arange(len(q)), rng.permutation(len(q))):
        answer = solve_captured(normal_problem(local_problem(W[np.ix_(order, order)], q[order])))
        certificate = rl.certify(
            answer.B, answer.load, answer.compatible.force, data_error=answer.data_error
        )
        found.append((answer, certificate.compatible))
    assert not any(certified for _, certified in found)
    assert min(answer.data_error for answer, _ in found) > 0.1


def test_few_motions_that_are_weakly_resisted_are_solved_to_the_last_digit():
    """Reference twin: two bodies, one of which feels a contact by a tilt of 1e-5, so that W feels
    the impulse of the other side by 1e-10. Closed form: M v = B^T f + impulse of bodies at rest."""
    tilt = 1e-5
    B = np.array([[1.0, 0.0], [-1.0, tilt]])
    f = np.array([2.0, 1.0])
    W = B @ B.T
    answer = solve_captured(normal_problem(local_problem(W, -W @ f)))
    # last digits of W and q over the least eigenvalue, 1e-10 / 2
    assert off(answer.force, f) < 1e-5 and 1e-8 < answer.data_error < 1e-4
    assert answer.classic.residual < 1e-14
