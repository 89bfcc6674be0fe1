"""Whole steps and runs: Algorithm 1 on scenes."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.bodies.mass import mass_matrix
from rigidlimit.errors import ContactError, InputError, SceneWarning
from rigidlimit.scenes.packings import PYRAMID_LARGEST
from rigidlimit.step import StepSettings, velocities
from rigidlimit.step.settings import Problem

SOLVERS = ("newton", "pgs", "apgd")


def settle(scene, **options):
    """Run until at rest; (simulation, last result, smallest gap over the radius)."""
    simulation = rl.Simulation(scene, **options)
    lowest = 0.0
    while not simulation.at_rest:
        assert simulation.steps < 60
        result = simulation.step()
        assert result.converged, result.message
        lowest = min(lowest, result.contacts.gap.min(initial=0.0) / scene.bodies.length)
    return simulation, result, lowest


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (2, 0, 1)])
@pytest.mark.parametrize("stiffness", [(1, 1, 1), (1, 3, 1)])
def test_beam_in_every_order(solver, order, stiffness):
    """Closed form: 10/3 each, or 2, 6, 2, whatever the classic solver and numbering."""
    scene = rl.scenes.beam(stiffness=stiffness, order=order)
    result = rl.Simulation(scene, solver=solver).step()
    known = 10 * np.array(stiffness) / sum(stiffness)
    assert result.converged
    # 1e-10 relative is asked of the forces; step 1 is solved to 1e-11 for it to hold
    result = rl.Simulation(scene, solver=solver, tolerance=1e-12).step()
    np.testing.assert_allclose(result.force, known[list(order)], rtol=1e-10)


def test_classic_gauss_seidel_depends_on_the_order():
    """The paper's figure 1: the middle contact visited first takes all the weight."""
    first = rl.Simulation(rl.scenes.beam(order=(1, 0, 2)), solver="pgs").step()
    np.testing.assert_allclose(first.classic.force, [10, 0, 0], atol=1e-8)
    other = rl.Simulation(rl.scenes.beam(order=(0, 1, 2)), solver="pgs").step()
    assert np.abs(np.sort(other.classic.force) - np.sort(first.classic.force)).max() > 1


def test_dropped_beam():
    """Section 8.1: dropped by 1 % of a radius, settled, forces as known."""
    scene = rl.scenes.beam(stiffness=(1, 3, 1), drop=0.01)
    result = rl.Simulation(scene).run(until=scene.duration)
    np.testing.assert_allclose(result.force, [2, 6, 2], atol=1e-7)  # speeds left: 1e-9 of a fall


@pytest.mark.parametrize("base", [5, 10])
@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_dropped_pyramid(base, law):
    """Section 8.2: settles without overlap; at rest the forces are those of the static pyramid."""
    scene = rl.scenes.pyramid(base, law=law)
    _, result, lowest = settle(scene)
    assert lowest > -1e-6
    weight = scene.bodies.mass[-1] * 9.81
    # the known values have six decimals
    assert result.force.max() / weight == pytest.approx(PYRAMID_LARGEST[law][base], abs=2e-6)


@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_same_forces_from_other_solvers_orders_and_orientation(ratio):
    """Property: the forces depend on the packing alone (static pyramid, base 6)."""
    scene = rl.scenes.pyramid(6, drop=0, young_ratio=ratio)
    force = rl.Simulation(scene).step().force
    for solver in SOLVERS:
        other = rl.Simulation(scene, solver=solver).step()
        np.testing.assert_allclose(other.force, force, atol=1e-9 * force.max())

    # the whole scene turned, and its bodies numbered at random
    rng = np.random.default_rng(0)
    turn = rotations.normalized(rng.normal(size=4))
    R = rotations.matrix(turn)
    order = rng.permutation(len(scene))
    turned = rl.Scene(gravity=R @ scene.gravity)
    for k in order:
        turned.add(
            scene.bodies.shape(k),
            position=R @ scene.state.position[k],
            material=scene.bodies.materials[scene.bodies.material_of[k]],
            fixed=not scene.bodies.free[k].any(),
            name=str(k),
        )
    result = rl.Simulation(turned, closed=1e-6).step()
    mine = rl.Simulation(scene).step()
    place = np.argsort(order)  # new number of each old body
    pair = np.sort(place[mine.contacts.body], axis=1)
    at = {tuple(p): f for p, f in zip(result.contacts.body.tolist(), result.force, strict=True)}
    again = np.array([at.get(tuple(p), 0.0) for p in pair.tolist()])
    np.testing.assert_allclose(again, mine.force, atol=1e-9 * force.max())


@pytest.mark.parametrize("name", ["four-leg-table", "block-on-legs", "disk-in-corner", "l-block"])
def test_gallery_reference(name):
    """Closed forms stated by the gallery scenes."""
    scene = rl.scenes.load(name)
    result = rl.Simulation(scene).step()
    # residuals of 1e-10 with a moderate condition
    np.testing.assert_allclose(result.force, scene.reference["forces"], rtol=1e-8)


@pytest.mark.parametrize("load_at", [(0, 0), (0.3, -0.2), (-0.4, 0.4)])
def test_euler_table(load_at):
    """Closed form (Euler 1773): loads linear in leg position, inside the middle square."""
    scene = rl.scenes.four_leg_table(load_at)
    result = rl.Simulation(scene).step()
    np.testing.assert_allclose(result.force, scene.reference["forces"], rtol=1e-8)


def test_table_that_lifts_a_leg():
    """Closed form: far off centre along a diagonal, the opposite leg lifts; three legs are
    determinate."""
    result = rl.Simulation(rl.scenes.four_leg_table((0.8, 0.8))).step()
    legs = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)])
    # three legs 1, 2, 3: sum and two moments
    A = np.array([np.ones(3), legs[1:, 0], legs[1:, 1]])
    known = np.linalg.solve(A, [100, 80, 80])
    np.testing.assert_allclose(result.force, [0, *known], atol=1e-6)


def test_box_stack():
    """Closed form: four equal corner forces a face, adding up from the top."""
    scene = rl.scenes.box_stack(5)
    result = rl.Simulation(scene).step()
    known = np.repeat(scene.reference["corner forces from below"], 4)
    np.testing.assert_allclose(result.force, known, rtol=1e-8)


def test_pile_carries_its_weight():
    """Property: once the pile rests, the floor's forces add up to the weight; no overlap."""
    scene = rl.scenes.pile_2d(20)
    simulation = rl.Simulation(scene, compatible="never")
    lowest = []
    result = simulation.run(
        until=1.0, callback=lambda s, r: lowest.append(r.contacts.gap.min(initial=0.0))
    )
    floor = result.contacts.body[:, 0] == 0
    weight = -scene.external_force()[1::6][scene.bodies.free.any(axis=1)].sum()
    assert result.converged
    assert result.force[floor].sum() == pytest.approx(weight, rel=1e-3)  # speeds left in the pile
    assert min(lowest) > -1e-6 * scene.bodies.length


def test_container_of_boxes_and_ellipsoids():
    """Property: mixed convex shapes settle; every step converges, momentum balance holds."""
    scene = rl.scenes.container(8)
    simulation = rl.Simulation(scene, dt=1e-3)
    for _ in range(160):
        result = simulation.step()
        assert result.converged, result.message
        assert (result.force >= 0).all()
    # vertical momentum: contacts and gravity make up its change
    mass = scene.bodies.mass[5:]
    before = (mass * simulation.state.velocity[5:, 2]).sum()
    result = simulation.step()
    after = (mass * simulation.state.velocity[5:, 2]).sum()
    push = 0.0
    for (a, _), n, f in zip(
        result.contacts.body, result.contacts.normal, result.force, strict=True
    ):
        if a < 5:
            push += f * n[2]
    gained = (push - mass.sum() * 9.81) * simulation.dt
    assert after - before == pytest.approx(gained, abs=1e-9 * mass.sum())


def test_cradle_keeps_momentum_and_energy():
    """Property: with e_n = 1 a row of balls keeps momentum and energy, wherever in a step it is
    hit (it kept 0.4 of the energy)."""
    scene = rl.scenes.newton_cradle(6)
    simulation = rl.Simulation(scene)
    mass = scene.bodies.mass
    momentum = [(mass[:, None] * simulation.state.velocity[:, :3]).sum(axis=0)]
    energy = [0.5 * (mass * (simulation.state.velocity[:, :3] ** 2).sum(axis=1)).sum()]
    for _ in range(20):
        simulation.step()
        v = simulation.state.velocity[:, :3]
        momentum.append((mass[:, None] * v).sum(axis=0))
        energy.append(0.5 * (mass * (v**2).sum(axis=1)).sum())
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (21, 1)), atol=1e-12)
    # velocities are known to the solver's tolerance, 1e-10, of which the row has six
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    assert (np.diff(energy) <= 1e-10 * energy[0]).all()


def test_checkpoint_continues_exactly():
    """Property: restored from a checkpoint, a run repeats bit for bit."""
    scene = rl.scenes.pyramid(4)
    one = rl.Simulation(scene)
    for _ in range(8):
        one.step()
    saved = {k: v.copy() for k, v in one.checkpoint().items()}
    two = rl.Simulation(scene)
    two.restore(saved)
    for _ in range(4):
        a, b = one.step(), two.step()
        assert (a.force == b.force).all() and (a.state.position == b.state.position).all()


def test_compatible_forces_only_when_asked():
    """The cheap way: classic steps, compatible forces at the end."""
    simulation = rl.Simulation(rl.scenes.beam(), compatible="never")
    seen = []
    result = simulation.run(until=0.005, callback=lambda s, r: seen.append(r.compatible is None))
    assert result.compatible is not None and seen == [True] * 4 + [False]


def test_importing_is_light():
    """Property: the bare import pulls in none of the heavy parts."""
    import subprocess
    import sys

    code = "import rigidlimit, sys; print([m for m in sys.modules if m in set(%r)])"
    heavy = ["numba", "scipy.sparse", "matplotlib", "coal", "h5py", "pydantic", "meshio"]
    out = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr


def test_every_public_name_exists():
    """Property: each name in __all__ resolves."""
    for name in rl.__all__:
        assert getattr(rl, name) is not None


def test_scene_without_moving_bodies():
    """Nothing to compute: one clear error instead of an index out of bounds."""
    scene = rl.Scene()
    scene.add(rl.Sphere(1), position=(0, 0, 0), fixed=True)
    with pytest.raises(rl.errors.SceneError, match="every body is fixed"):
        rl.Simulation(scene)


def test_exponents_beyond_numbers():
    """l^(3-p) overflows long before p = 1e9: an error that names the law."""
    with pytest.raises(rl.errors.InputError, match="law: exponent"):
        rl.Simulation("beam", law=1e9).step()


def test_overlap_warns_once_and_only_where_deep():
    """A sphere 5 % in the floor is named with its speed gap/dt; a touching one is not."""
    for height, deep in ((0.095, True), (0.1, False)):
        scene = rl.Scene()
        scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
        scene.add(rl.Sphere(0.1), position=(0, 0, height), name="ball")
        simulation = rl.Simulation(scene, dt=1e-3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            simulation.step()
            simulation.step()
        assert len(caught) == deep
        if deep:
            assert "'floor' and 'ball' overlap by 0.005 m" in str(caught[0].message)
            assert "5 m/s" in str(caught[0].message)


def test_converged_forces_have_no_duality_gap():
    """Property: boxes and ellipsoids that settle have nearly dependent contacts now and then, where
    balanced forces may be far from the answer; what is called converged is not."""
    simulation = rl.Simulation(rl.scenes.container(count=60))
    converged = 0
    for _ in range(150):
        found = simulation.step().compatible
        converged += found.converged
        # ten times the tolerance, relative to the energy
        assert found.duality_gap <= 1e-9 or not found.converged
    assert converged >= 145


def bearing(rollers, digits):
    """A shaft on a ring of held rollers, coordinates rounded to so many digits of a metre;
    1 kN downwards."""
    angle = 2 * np.pi * np.arange(rollers) / rollers - np.pi / 2
    places = 0.047 * np.column_stack([np.cos(angle), np.sin(angle)])
    scene = rl.Scene(dim=2, gravity=(0, 0))
    scene.add(rl.Disk(0.04), position=(0, 0), mass=1.0, load=(0, -1000))
    scene.add_many(rl.Disk(0.007), places.round(digits), fixed=True)
    return scene, np.maximum(-places[:, 1], 0.0)


@pytest.mark.parametrize("digits", [8, 10, 12, 16])
def test_rounded_coordinates_are_no_jam(digits):
    """Closed form (Stribeck): 4 F/z cos on the lower half. Rounding leaves overlaps as well as
    gaps; both are forgiven up to 1e-6 of the scene's length, here 4e-8 m."""
    scene, height = bearing(16, digits)
    result = rl.Simulation(scene).step()
    assert result.converged, result.message
    # normals turn with the rounding; the load of step 1 is known to 1e-10
    known = 1000 * 0.047 * height / (height**2).sum()
    np.testing.assert_allclose(result.force, known, atol=1e-3)


def test_overlaps_that_rounding_does_not_explain_are_a_jam():
    """Property: rounded by more than the limit, or with a smaller limit, a full ring is jammed."""
    assert rl.Simulation(bearing(16, 6)[0]).step().classic.status is rl.Status.JAMMED
    strict = rl.Simulation(bearing(16, 9)[0], closed=1e-12).step()
    assert strict.classic.status is rl.Status.JAMMED


def test_a_run_that_its_callback_stops_has_compatible_forces():
    """Closed form: a run without compatible forces on the way, stopped at rest, returns those of
    its last step, W/3 on each support of the beam (it returned the classic ones unasked)."""
    simulation = rl.Simulation("beam", compatible="never", solver="pgs")
    result = simulation.run(until=1.0, callback=lambda run, _: run.at_rest)
    assert result.time < 1.0 and simulation.last is result
    # the load is as exact as step 1 is solved
    np.testing.assert_allclose(result.force, 10 / 3, rtol=1e-8)
    assert np.abs(result.classic.force - 10 / 3).max() > 0.1
    simulation.step()
    assert simulation.last.compatible is None
    assert simulation.run(until=simulation.time).compatible.converged


def test_what_pushes_is_told_alike_in_all_units():
    """Property: forces that loads, motions and the undoing of overlaps ask for are as many times
    the unit of length in millimetres; what is held, and the spin of balls, asks for none."""

    def pushes(unit, *, beside=False):
        scene = rl.Scene(gravity=(0, 0, -10 * unit))
        load = (3 * unit, 0, 0, 0, 0.2 * unit**2, 0)
        for x in (0, 1):
            scene.add(
                rl.Box((0.3 * unit, 0.2 * unit, 0.1 * unit)),
                position=(x * unit, 0, 0),
                orientation=(0.9, 0.1, 0.3, 0.2),
                angular_velocity=(0.0, 2.0, 1.0),
                mass=4.0,
                load=load,
            )
        if beside:
            scene.add(rl.Box((unit,) * 3), position=(0, 5 * unit, 0), mass=1e6, fixed=True)
        scene.add(
            rl.Sphere(0.1 * unit),
            position=(0, 9 * unit, 0),
            mass=1.0,
            angular_velocity=(99 * beside, 0, 0),
        )
        state, force = scene.state, scene.external_force()
        M = mass_matrix(scene.bodies, state)
        problem = Problem(scene.bodies, state, force, StepSettings(dt=1e-3), M, 1e-10)
        return velocities._largest_push(problem, 1e-5 * unit)

    once = pushes(1.0)
    assert 100.0 < once < 1e5  # weights and loads are 96 N, turns that stop some hundred
    np.testing.assert_allclose(pushes(1e3), 1e3 * once, rtol=1e-12)
    np.testing.assert_allclose(pushes(1.0, beside=True), once, rtol=1e-12)


def test_quaternions_that_are_no_rotations():
    """Contract: a state or checkpoint whose quaternions are not of unit length is one error, which
    names the body."""
    for given in ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]):
        simulation = rl.Simulation(rl.scenes.four_leg_table())
        saved = simulation.checkpoint()
        saved["quaternion"] = saved["quaternion"].copy()
        saved["quaternion"][-1] = given
        simulation.restore(saved)
        with pytest.raises(ContactError, match=r"quaternion .* unit length"):
            simulation.step()


def test_runs_without_end_are_told(monkeypatch):
    """Contract: a step of 1e-9 s in a run of 0.3 s is said with its number of steps and what they
    take, once, when the pace of the first ones is known; a run of minutes says nothing."""
    from rigidlimit._support import progress

    monkeypatch.setattr(progress, "FIRST", 0.02)
    count = []

    def some(simulation, result):
        count.append(result)
        return len(count) == 60

    simulation = rl.Simulation(rl.scenes.beam(), dt=1e-9)
    with pytest.warns(SceneWarning, match="300,000,000 steps of 1e-09 s take some") as told:
        simulation.run(until=0.3, callback=some)
    assert len(told) == 1
    count.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.Simulation(rl.scenes.beam(), dt=1e-6).run(until=1.0, callback=some)


def test_the_command_line_tells_of_runs_without_end(monkeypatch):
    """Contract: the same on the command line, also where it is quiet, on the error stream."""
    from typer.testing import CliRunner

    from rigidlimit._support import progress
    from rigidlimit.cli.app import app
    from rigidlimit.simulation import Simulation

    monkeypatch.setattr(progress, "FIRST", 0.0)
    step, seen = Simulation.step, []

    def stops(self, **options):
        seen.append(step(self, **options))
        if len(seen) == 3:
            raise InputError("enough")
        return seen[-1]

    monkeypatch.setattr(Simulation, "step", stops)
    result = CliRunner().invoke(app, ["run", "beam", "--dt", "1e-9", "--until", "0.3", "-q"])
    assert result.stderr.count("300,000,000 steps of 1e-09 s take some") == 1, result.output
    assert "days" in result.stderr or "years" in result.stderr


def test_a_jam_stands_still_and_is_not_at_rest():
    """Property: a disk 0.1 mm wider than its shaft does not move within a step, and no contact
    forces balance; `at_rest` called that rest. With 0.1 mm of room it is. A step that Gauss-Seidel
    left open is none either, though its speeds are as small."""
    for half, rests in ((0.09995, False), (0.10005, True)):
        scene = rl.Scene(dim=2, gravity=(0, -10))
        scene.add(rl.Disk(0.1), position=(0, 0.1), mass=1.0)
        scene.add(rl.HalfSpace(2), position=(0, 0))
        for x, angle in ((-half, -np.pi / 2), (half, np.pi / 2)):
            scene.add(rl.HalfSpace(2), position=(x, 0), orientation=angle)
        simulation = rl.Simulation(scene)
        assert not simulation.at_rest and not simulation.stands_still  # no step was made
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)  # of the overlap
            result = simulation.step()
        assert simulation.stands_still and simulation.at_rest == rests
        assert (result.classic.status is rl.Status.JAMMED) != rests
    # what a solver leaves open shows in its residual, whatever the speeds are
    simulation.last = replace(
        result, classic=replace(result.classic, status=rl.Status.STALLED, residual=1e-3)
    )
    assert simulation.stands_still and not simulation.at_rest
