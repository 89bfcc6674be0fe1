"""Rollers that lean by more than rounding, and by less than solvers of step 1 would feel."""

import importlib
from copy import copy
from dataclasses import replace

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.cli.app import app
from rigidlimit.conditioning import closed_contacts as module
from rigidlimit.conditioning import idle_contacts, several_bodies
from rigidlimit.conditioning.dense_lcp import Systems
from rigidlimit.conditioning.screening import Columns
from rigidlimit.conditioning.several_bodies import NONE, TAKEN
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.output.writer import RunWriter
from rigidlimit.scenes.toml import write_scene
from rigidlimit.status import Status

from .problems import wedge
from .test_two_force_bodies import leaning, on_shaft

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

SOLVERS = ("newton", "pgs", "apgd")
LOAD, DT = 1000.0, 1e-3


def plate(tilts, *, moment=20.0, r=0.02, m=0.3, M=5.0, length=1.2):
    """A loaded plate on rollers, each on a piece of floor that leans by its tilt; what rollers
    carry as rigid and as elastic bodies.

    A roller under f leaves along its floor, and its top sinks at dt f sin^2 tilt / m: the plate
    stands on springs of m / (dt sin^2 tilt) for its velocity.
    """
    x = np.linspace(-0.5, 0.5, len(tilts))
    scene = rl.Scene(name="plate", dim=2, gravity=(0, 0))
    for i, (tilt, at) in enumerate(zip(tilts, x, strict=True)):
        normal, centre = np.array([np.sin(tilt), np.cos(tilt)]), np.array([at, r])
        under = centre - (r + 0.01) * normal
        scene.add(
            rl.rectangle(3 * r, 0.02), position=under, orientation=-tilt, fixed=True, name=f"f{i}"
        )
        scene.add(rl.Disk(r), position=centre, mass=m, name=f"{i}")
    scene.add(
        rl.rectangle(length, 0.1),
        position=(0, 2 * r + 0.05),
        mass=M,
        load=(0, -LOAD, moment),
        name="plate",
    )
    inertia = M * (length**2 + 0.1**2) / 12

    def carried(k, own=(0.0, 0.0)):
        K = np.array([[k.sum(), k @ x], [k @ x, k @ x**2]]) + np.diag(own)
        v = np.linalg.solve(K, [-LOAD, moment])
        return -k * (v[0] + v[1] * x)

    rigid = carried(m / (DT * np.sin(tilts) ** 2), (M / DT, inertia / DT))
    return scene, rigid, carried(np.ones(len(tilts)))


def on_plate(result):
    """Forces of the rollers on the plate."""
    return np.array([p["force"] for p in rl.pair_forces(result) if p["second"] == "plate"])


TILTS = np.array([1.0, -1.7, 1.3, 1.1, -1.5])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [8e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_plate_on_leaning_rollers(size, solver):
    """Closed form: whatever the solver, forces are those of the tilts, from the least that count
    on; solvers on their own were off by a tenth of the load, converged."""
    scene, rigid, elastic = plate(size * TILTS)
    result = rl.Simulation(scene, dt=DT, solver=solver).step()
    assert result.converged and not result.doubt
    # last digits over S^2, S = tilt / sqrt 2, of normals that are exact but for one rounding
    np.testing.assert_allclose(on_plate(result), rigid, atol=LOAD * (1e-13 + 1e-20 / size**2))
    assert np.abs(rigid - elastic).max() > 0.05 * LOAD


@pytest.mark.parametrize("solver", SOLVERS)
def test_plate_on_rollers_that_hardly_lean(solver):
    """Closed form: below the limit the tilts tell nothing, and forces are elastic."""
    scene, _, elastic = plate(3e-7 * TILTS)
    result = rl.Simulation(scene, dt=DT, solver=solver).step()
    assert result.converged and not result.doubt
    # tilts that are left out times forces
    np.testing.assert_allclose(on_plate(result), elastic, atol=TOLERANCES.weak * LOAD)


@pytest.mark.parametrize("beside", [1.0, 1e5])
@pytest.mark.parametrize("slope", [1e-9, 1e-7, 1e-6, 1e-4])
def test_wedges_beside_other_loads(slope, beside):
    """Closed form: H / (2 sin slope), though another disk presses on its support with ``beside``,
    of which the residual of step 1 is a part: solvers on their own left the wedge empty."""
    pull = 10.0
    scene = wedge(slope, pull)
    scene.add(rl.Disk(0.05), position=(0, 5), fixed=True, name="base")
    scene.add(rl.Disk(0.05), position=(0, 5.1), mass=100.0, load=(0, -beside), name="other")
    for solver in SOLVERS:
        options = {} if solver == "newton" else {"max_iterations": 500}
        result = rl.Simulation(scene, solver=solver, solver_options=options).step()
        force = [p["force"] for p in rl.pair_forces(result) if "disk" in (p["first"], p["second"])]
        # as far as step 1 is asked to go; normals are known to the last digit, 1e-16 of a slope
        known = pull / (2 * np.sin(slope))
        np.testing.assert_allclose(force, [known, known], rtol=1e-6 + 3e-16 / slope)


@pytest.mark.parametrize("solver", SOLVERS)
def test_many_wedges_converge(solver):
    """Closed form: m g / (2 sin slope) in each of sixty wedges, far beyond what one of them holds;
    Gauss-Seidel stalled at a residual of 4e-8, with forces right to that."""
    rng = np.random.default_rng(0)
    slope, mass = 3e-5 * rng.uniform(0.75, 1.25, 60), rng.uniform(1, 10, 60)
    scene = rl.Scene(name="wedges", dim=2, gravity=(0, -9.81))
    for i in range(60):
        for side in (-1, 1):
            at = (3.0 * i + side * 0.3 / np.cos(slope[i]), 0)
            how = {"orientation": -side * slope[i], "fixed": True}
            scene.add(rl.rectangle(0.4, 0.5), position=at, **how)
        scene.add(rl.Disk(0.1), position=(3.0 * i, 0), mass=mass[i])
    result = rl.Simulation(scene, dt=DT, solver=solver).step()
    assert result.converged and not result.doubt
    known = (mass * 9.81 / (2 * np.sin(slope)))[result.contacts.body.max(axis=1) // 3]
    # rounding of places and of normals, 1e-16 over a slope
    np.testing.assert_allclose(result.force, known, rtol=1e-9)


@pytest.mark.parametrize("tilt", [2e-6, 1e-5])
def test_one_state_one_answer(tilt):
    """Cross-solver: a bearing whose rollers lean at random; forces, velocities and the balance are
    the same to rounding, where they differed by half. What rounded places leave open is told,
    and holds: the same bearing moved by a last digit."""
    scene, known, state = leaning(tilt)
    found = []
    for solver in SOLVERS:
        simulation = rl.Simulation(scene, dt=DT, solver=solver)
        simulation.state = state
        found.append(simulation.step())
        assert found[-1].converged
    force = on_shaft(found[0])
    assert np.abs(force - known).max() > 0.1 * LOAD  # tilts do matter
    for other in found[1:]:
        # the same least distance problem, from the same data
        np.testing.assert_allclose(on_shaft(other), force, atol=1e-6)
        np.testing.assert_allclose(other.state.velocity, found[0].state.velocity, atol=1e-12)
    moved = rl.Simulation(scene, dt=DT)
    moved.state = state.moved(position=state.position * (1 + 2.0**-52))
    changed = np.abs(on_shaft(moved.step()) - force).max()
    assert 0.0 < changed < 10 * found[0].open.max()
    told = found[0].open.max() > 1e-3 * force.max()
    assert bool(found[0].doubt) == told and (tilt < 5e-6) == told
    if told:
        assert "uncertain by" in found[0].message and "'shaft'" in found[0].doubt


def test_parts_too_large_are_told(monkeypatch):
    """Property: where bodies that hang together are too many to be solved again exactly, the step
    goes on to a thousandth of its tolerance (forces were off by more than 5 % of the load), and
    what is left is told."""
    scene, _, state = leaning(1e-5)
    simulation = rl.Simulation(scene, dt=DT, solver="pgs")
    simulation.state = state
    exact = on_shaft(simulation.step())
    monkeypatch.setattr(module, "TOLERANCES", TOLERANCES._replace(small_part=32 * 36 - 1))
    simulation = rl.Simulation(scene, dt=DT, solver="pgs")
    simulation.state = state
    result = simulation.step()
    off = np.abs(on_shaft(result) - exact).max()
    # below: enough to be told at all, six digits above the tolerance; how much hangs on last digits
    assert result.converged and 1e-4 * LOAD < off < 0.02 * LOAD
    assert result.doubt and result.open.max() > 0.1 * off


def test_bodies_that_make_up_for_it(monkeypatch):
    """Property: a box between two others, turned by 1e-6 with all of them, is felt by 1e-6 as it
    slides, and nothing depends on it: all slide together."""
    scene = rl.Scene(name="pile", gravity=(0, 0, -9.81))
    tilt = 1e-6
    turn = (np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0)
    out = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=out, name="floor")
    for i in range(3):
        scene.add(rl.Box((1.0, 1.0, 0.5)), position=(0.25 + 0.5 * i) * out, orientation=turn)
    looked = []
    monkeypatch.setattr(Systems, "solved", lambda self: looked.append(self))
    result = rl.Simulation(scene).step()
    assert result.converged and not looked and not result.open.any()


def test_the_command_line_tells(tmp_path):
    """Contract: ``rigidlimit run`` prints what is open, though all has converged."""
    scene, _, state = leaning(2e-6)
    path = tmp_path / "bearing.toml"
    moved = rl.Scene(name="leaning", dim=2, gravity=(0, 0), dt=DT, duration=DT)
    for i in range(len(scene)):
        at = state.position[i, :2]
        name, load = scene.bodies.names[i], (0, -LOAD) if scene.bodies.names[i] == "shaft" else None
        shape = scene.bodies.shape(i)
        if isinstance(shape, rl.Disk):
            mass = scene.bodies.mass[i]
            moved.add(shape, position=at, mass=mass, name=name, **({"load": load} if load else {}))
        else:
            moved.add(shape, position=at, normal=-at / np.hypot(*at), name=name)
    write_scene(moved, path)
    result = CliRunner().invoke(app, ["run", str(path)])
    assert result.exit_code == 0 and "uncertain by" in result.output, result.output


def row(n, z, digits, seed, *, roller=0.007):
    """A shaft on an open row of ``n`` rollers of a full complement of ``z``, which touch side by
    side; coordinates rounded to so many digits; Stribeck's forces."""
    inner = roller / np.sin(np.pi / z) - roller
    psi = -np.pi / 2 + 2 * np.pi / z * (np.arange(n) - (n - 1) / 2)
    rng = np.random.default_rng(seed)

    def written(x):
        return np.round(x + 10.0**-digits * rng.uniform(-0.5, 0.5, 2), digits)

    scene = rl.Scene(name="row", dim=2, gravity=(0, 0))
    scene.add(rl.Disk(inner), position=(0, 0), mass=1.0, load=(0, -LOAD), name="shaft")
    for i, p in enumerate(psi):
        out = np.array([np.cos(p), np.sin(p)])
        race = written((inner + 2 * roller) * out)
        scene.add(rl.HalfSpace(2), position=race, normal=-out, name=f"r{i}")
        scene.add(rl.Disk(roller), position=written((inner + roller) * out), mass=0.3, name=f"{i}")
    pressed = np.maximum(-np.sin(psi), 0)
    return scene, LOAD * pressed / (pressed**2).sum()


@pytest.mark.parametrize("solver", ["newton", "pgs"])
@pytest.mark.parametrize(
    ("n", "z", "digits", "seed"), [(7, 16, 10, 0), (7, 16, 9, 4), (5, 24, 9, 1)]
)
def test_open_rows_of_touching_rollers(n, z, digits, seed, solver):
    """Closed form: Stribeck's forces, though rollers that lean by rounding would have to pull at
    one another; the balance that was asked says so, and is met."""
    scene, known = row(n, z, digits, seed)
    options = {"max_iterations": 1000} if solver == "pgs" else {}
    result = rl.Simulation(scene, dt=DT, solver=solver, solver_options=options).step()
    assert result.compatible.converged and not result.doubt
    # gaps of a last digit are closed in a step, which takes rollers of 0.3 kg some force
    np.testing.assert_allclose(on_shaft(result, n), known, atol=10.0 * 0.3 * 10.0**-digits / DT**2)
    B, load = result.balance
    force = result.force[result.closed]
    assert np.abs(B.T @ force - load)[result.bodies.free.ravel()].max() <= 1e-9 * LOAD
    assert result.left_out.any() and not result.force[result.left_out].any()


def test_rows_that_hang_on_tilts_are_told():
    """Property: where sides bear more than the limit, by gaps of a last digit, they stay, and the
    result says on what its forces hang."""
    scene, known = row(5, 16, 8, 3)
    result = rl.Simulation(scene, dt=DT).step()
    assert result.converged and np.abs(on_shaft(result, 5) - known).max() > 0.1 * LOAD
    assert "depend on tilts" in result.message and "'0'" in result.doubt
    # of places that nobody rounded last digits alone are open
    bodies = copy(result.bodies)
    vars(bodies)["written"] = None
    exact = replace(result, bodies=bodies, input_rounding=None)
    assert result.tilt_dependent.any() and "depend on tilts" not in exact.doubt


@pytest.mark.parametrize("digits", [8, 7, 6])
@pytest.mark.parametrize(("n", "z"), [(3, 16), (4, 16), (7, 16), (5, 12)])
def test_rows_of_rounded_coordinates_are_told(n, z, digits):
    """Closed form: with eight digits and fewer, gaps and tilts of rounding decide which rollers
    bear; forces are Stribeck's, or the result says that they hang on rounding. Of these rows 83 of
    96 were wrong and silent."""
    for seed in range(8):
        scene, known = row(n, z, digits, seed)
        result = rl.Simulation(scene, dt=DT).step()
        off = np.abs(on_shaft(result, n) - known).max()
        # gaps of a last digit are closed in a step, which takes rollers of 0.3 kg some force
        right = off < 10.0 * 0.3 * 10.0**-digits / DT**2 and off < 0.01 * LOAD
        assert right or not result.converged or result.doubt, (seed, off)


def test_what_coordinates_cannot_tell_is_told():
    """Contract: the message names bodies, how much it is, the last digit and what to do; a user who
    says which gaps are closed is not asked."""
    scene, known = row(4, 16, 8, 6)
    result = rl.Simulation(scene, dt=DT).step()
    assert np.abs(on_shaft(result, 4) - known).max() > 0.1 * LOAD
    assert "multiples of 1e-08 m" in result.doubt and "'shaft'" in result.doubt
    assert "closed=" in result.doubt and result.doubt in result.message
    assert result.input_rounding.change.max() > 0.1 * LOAD
    assert rl.Simulation(scene, dt=DT, closed=1e-5).step().input_rounding is None


def test_long_displacements_ask_for_less():
    """Closed form: Stribeck's forces also where tilts of single rollers are taken at their word,
    but not what several of them together make of tilts (a tenth of the load).
    The step says so, and of the forces nothing is in doubt."""
    scene, known = row(5, 12, 9, 2)
    result = rl.Simulation(scene, dt=DT).step()
    assert result.converged and result.several_bodies == TAKEN and not result.doubt
    # gaps of a last digit are closed in a step, which takes rollers of 0.3 kg some force
    np.testing.assert_allclose(on_shaft(result, 5), known, atol=10.0 * 0.3e-9 / DT**2)


def test_motions_of_too_many_bodies_are_left_out_by_the_solver(monkeypatch):
    """Closed form: Stribeck's forces of the same row, were it too large for motions to be taken out
    (they were off by a tenth of the load); what that takes of the load is below what is known."""
    scene, known = row(5, 12, 9, 2)
    monkeypatch.setattr(several_bodies, "TOLERANCES", TOLERANCES._replace(most_entries=0))
    result = rl.Simulation(scene, dt=DT).step()
    assert result.converged and not result.several_bodies and not result.doubt
    # gaps of a last digit are closed in a step, which takes rollers of 0.3 kg some force
    np.testing.assert_allclose(on_shaft(result, 5), known, atol=10.0 * 0.3e-9 / DT**2)
    changed = np.abs(result.balance[1] - result.load)[result.bodies.free.ravel()].max()
    assert 0.0 < changed <= TOLERANCES.weak * result.force.sum()


def test_full_rings_bear_side_by_side():
    """Property: rollers all around press on one another if that is how they balance, and no contact
    is left out of a ring that is loaded from outside."""
    z, roller = 12, 0.01
    reach = roller / np.sin(np.pi / z)
    scene = rl.Scene(name="ring", dim=2, gravity=(0, 0))
    for i in range(z):
        out = np.array([np.cos(2 * np.pi * i / z), np.sin(2 * np.pi * i / z)])
        at = np.round(reach * out, 9)
        scene.add(rl.Disk(roller), position=at, mass=0.3, load=tuple(-LOAD * out), name=f"{i}")
    result = rl.Simulation(scene, dt=DT).step()
    assert result.compatible.converged and not result.left_out.any()
    # each side takes F / (2 sin pi/z); gaps of a last digit as above
    side = LOAD / (2 * np.sin(np.pi / z))
    np.testing.assert_allclose(result.force[result.closed], side, atol=10.0 * 0.3e-9 / DT**2)


def kept(path, scene, **options):
    """One step of a scene, and its frame from a file."""
    simulation = rl.Simulation(scene, dt=DT, **options)
    writer = RunWriter.start(path, simulation, {})
    result = simulation.step()
    writer.add(result)
    writer.finish()
    return result, rl.read_run(path).network


def test_runs_keep_what_was_left_out(tmp_path):
    """Property: the frame of a stored run has the balance of the step: contacts that cannot bear
    are left out there, too; the command line judges that one."""
    scene, _ = row(7, 16, 9, 4)
    result, frame = kept(tmp_path / "run.h5", scene)
    assert result.left_out.any()
    (B, load), (stored, kept_load) = result.balance, frame.balance
    assert (abs(stored - B) > 1e-13).nnz == 0  # places at the start are rounded once more
    np.testing.assert_allclose(kept_load, load, atol=1e-12 * LOAD)
    text = (
        CliRunner()
        .invoke(app, ["determinacy", str(tmp_path / "run.h5"), "--intervals", "none"])
        .output
    )
    # seven rollers, each handing on one force, and two loads on the shaft; six sides left out
    assert "degree of indeterminacy 5: 0 of 14" in text, text


def test_runs_keep_what_the_solver_left_out(tmp_path, monkeypatch):
    """Property: the frame of a stored run has the load of the step, with what motions that the
    solver left out took of it."""
    monkeypatch.setattr(several_bodies, "TOLERANCES", TOLERANCES._replace(most_entries=0))
    result, frame = kept(tmp_path / "run.h5", row(5, 12, 9, 2)[0])
    load, kept_load = result.balance[1], frame.balance[1]
    changed = np.abs(load - result.load)[result.bodies.free.ravel()].max()
    assert frame.unresolved and changed > 1e-10 * LOAD
    # places at the start are rounded once more; columns of nothing but tilts are met to less
    np.testing.assert_allclose(kept_load, load, atol=1e-8 * LOAD)


def test_runs_keep_whether_motions_were_left_out_together(tmp_path, monkeypatch):
    """Property: the same for motions of all bodies together; files without the mark, as of
    before, are read as they were."""
    from rigidlimit.conditioning import one_body

    asked = []

    def looser(bodies, B, load, force, how):
        asked.append(B)
        return 1.0 * B, 0.5 * load

    monkeypatch.setattr(one_body, "without_motions_together", looser)
    step = importlib.import_module("rigidlimit.step.forces")
    solve = step.compatible_forces

    def stops_short(B, load, **options):
        answer = solve(B, load, **options)
        return answer if asked else replace(answer, status=Status.STALLED)

    monkeypatch.setattr(step, "compatible_forces", stops_short)
    path = tmp_path / "run.h5"
    result, frame = kept(path, rl.scenes.four_leg_table())
    assert (
        result.several_bodies == frame.several_bodies == NONE
        and "together" not in rl.read_run(path)[0].info
    )
    np.testing.assert_allclose(frame.balance[1], 0.5 * result.load, atol=1e-12 * LOAD)
    with h5py.File(path, "r+") as file:
        (step_group,) = file["steps"].values()
        del step_group.attrs["together"], step_group["contacts/closed"]
        del step_group.attrs["checksum"]  # older files have none
    old = rl.read_run(path).network
    assert not old.several_bodies and old.stored_closed is None
    np.testing.assert_allclose(old.balance[1], result.load, atol=1e-12 * LOAD)


def test_what_no_linear_program_is_asked_for(monkeypatch):
    """Contract: contacts without any force ask for none (their load has no size), and neither do
    more contacts than one program serves; then nothing is left out."""
    B, free = sp.csr_array(np.ones((3, 6))), np.ones(6, bool)
    given = np.ones(1, bool), Columns(free, np.ones(6))
    assert not idle_contacts.never_bearing(B, np.zeros(3), *given).any()
    asked = []
    monkeypatch.setattr(idle_contacts, "_opened", lambda B, f: asked.append(B) or np.zeros(len(f)))
    idle_contacts.never_bearing(B, np.array([1.0, 0.0, 1.0]), *given)
    assert len(asked) == 1
    monkeypatch.setattr(idle_contacts, "TOLERANCES", TOLERANCES._replace(most_contacts=2))
    idle_contacts.never_bearing(B, np.array([1.0, 0.0, 1.0]), *given)
    assert len(asked) == 1


@pytest.mark.parametrize("solver", ["newton", "pgs"])
def test_active_sets_that_end_far_off_are_not_taken(solver, monkeypatch):
    """Property: forces that leave contacts more wrong than the solver did are no refinement."""
    scene, _, state = leaning(1e-5)
    given = {"value": 0.0, "found": False}

    def solved(self):
        return np.full(self.root.shape, given["value"]), np.full(len(self.root), given["found"])

    monkeypatch.setattr(Systems, "solved", solved)
    simulation = rl.Simulation(scene, dt=DT, solver=solver, compatible="never")
    simulation.state = state
    plain = simulation.step()
    given.update(value=2 * LOAD, found=True)
    simulation = rl.Simulation(scene, dt=DT, solver=solver, compatible="never")
    simulation.state = state
    np.testing.assert_array_equal(simulation.step().classic.force, plain.classic.force)


def wedges(count, tilt, *, seed=0):
    """(scene, normal forces (count, 2) [N]): balls of mass 1 pulled into wedges of their own, which
    open by angles around ``tilt`` on each side; every third ball has another beside it."""
    rng = np.random.default_rng(seed)
    r, pull = 0.1, 10.0
    scene, forces = rl.Scene(name="wedges", gravity=(0, 0, 0)), []
    for k in range(count):
        centre = np.array([1.0 * (k % 60), 1.0 * (k // 60), 0.0])
        angles = tilt * rng.uniform(0.7, 1.3, 2)
        for side, angle in zip((1, -1), angles, strict=True):
            normal = np.array([side * np.cos(angle), 0.0, np.sin(angle)])
            scene.add(rl.Sphere(r), position=centre - 2 * r * normal, fixed=True)
        scene.add(rl.Sphere(r), position=centre, mass=1.0, fixed=["y"], load=(0, 0, -pull))
        forces.append(pull * np.cos(angles[::-1]) / np.sin(angles.sum()))
        if k % 3 == 0:  # of another size: a ball beside, which rests on the first
            scene.add(rl.Sphere(r), position=centre + [0, 0, 2 * r], mass=1.0, fixed=["x", "y"])
    return scene, np.array(forces)


@pytest.mark.parametrize("tilt", [3e-5, 1e-3])
def test_many_wedges(tilt):
    """Closed form: f_1, f_2 = H cos a_2, H cos a_1 over sin(a_1 + a_2), in wedges of two sizes that
    are solved together; bodies beside them have nothing to do with it."""
    scene, known = wedges(100, tilt)
    result = rl.Simulation(scene, compatible="never").step()
    supports = np.flatnonzero(~scene.bodies.free.any(axis=1)).reshape(-1, 2)
    force = result.contacts.resultants(result.force)
    found = np.linalg.norm(force[supports], axis=2)
    # places are known to 1e-16 of 60 m, and tilts to that over 0.2 m
    np.testing.assert_allclose(found, known, rtol=2e-13 / tilt)


def test_wedges_are_solved_together(monkeypatch):
    """Reference twin: all wedges of one size at once get what each gets alone."""
    scene, _ = wedges(60, 3e-5)
    calls, solve, alone = [], Systems.solved, module.solved_exactly
    monkeypatch.setattr(Systems, "solved", lambda self: calls.append(self) or solve(self))
    together = rl.Simulation(scene, solver="pgs", compatible="never").step().classic
    count = sum(len(systems.root) for systems in calls)
    assert len(calls) <= 2 < count and together.force.max() > 1e5  # with a ball beside, and without

    def each(step, classic, rows, part_of, parts):
        for part in parts:
            classic = alone(step, classic, rows, part_of, np.array([part]))
        return classic

    monkeypatch.setattr(module, "solved_exactly", each)
    apart = rl.Simulation(scene, solver="pgs", compatible="never").step().classic
    assert sum(len(systems.root) == 1 for systems in calls) == count
    # both to the last digits
    np.testing.assert_allclose(together.force, apart.force, rtol=1e-14)
    np.testing.assert_allclose(together.velocity, apart.velocity, atol=1e-12)


def tipping(turn):
    """A plank with posts and a lid that begins to tip off its foot, all axes turned by ``turn``."""
    scene = rl.Scene(
        dim=2, gravity=(9.81 * np.sin(turn), -9.81 * np.cos(turn)), law="hertz", name="tipping"
    )

    def at(x, y):
        return np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y

    def block(size, centre, mass, name):
        scene.add(rl.rectangle(*size), position=at(*centre), orientation=turn, mass=mass, name=name)

    scene.add(rl.HalfSpace(2), position=(0, 0), normal=at(0, 1), name="floor")
    block((0.5, 0.75), (0, 0.375), 6.0, "foot")
    scene.add(rl.Disk(0.375), position=at(0.96, 0.375), mass=0.2, name="ball")
    block((2.6, 0.25), (-0.14, 0.875), 3.2, "plank")
    posts = (-1.1, 0.15, 2.0), (-0.75, 0.15, 2.0), (-0.04, 0.5, 0.7), (1.0, 0.5, 0.25)
    for i, (x, width, mass) in enumerate(posts):
        block((width, 0.9), (x, 1.45), mass, f"post{i}")
    block((2.6, 0.1), (-0.1, 1.95), 0.27, "lid")
    return scene


@pytest.mark.parametrize("steps", [2, 4])
def test_a_stack_that_begins_to_tip(steps):
    """Property: forces do not depend on the direction of the axes. The bodies on the plank slide
    freely along a slope of 1e-5, of which the last digits, divided by its size, passed for
    motions that are felt: forces were off by 3e-3 of the largest, converged and without doubt."""
    found = []
    for turn in (0.0, 0.3, 1.0, 2.0, -0.7):
        simulation = rl.Simulation(tipping(turn))
        for _ in range(steps):
            result = simulation.step()
        assert result.converged and not result.doubt
        found.append([pair["force"] for pair in rl.pair_forces(result)])
    # the tolerance of both steps, over the smallest singular value of the balance, 0.3
    np.testing.assert_allclose(found, [found[0]] * len(found), atol=1e-8 * np.max(found))
