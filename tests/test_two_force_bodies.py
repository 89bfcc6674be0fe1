"""Rollers, balls and props held between two others, whose normals are not quite opposite."""

import numpy as np
import pytest
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.cli.app import app
from rigidlimit.conditioning.one_body import without_weak_motions
from rigidlimit.conditioning.screening import Columns
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.output.plots.determinacy import frame_determinacy
from rigidlimit.output.sources import network_of
from rigidlimit.output.writer import RunWriter

from .problems import wedge

SOLVERS = ("newton", "pgs", "apgd")
LOAD, DT = 1000.0, 1e-3


def bearing(law, digits=None, z=16, inner=0.04, roller=0.007):
    """A shaft on free rollers between it and flat pieces of a race, with rounded coordinates, and
    Stribeck's forces of its rollers, F cos^(p-1) psi / sum cos^p psi."""

    def written(x):
        return x if digits is None else np.round(x, digits)

    psi = 2 * np.pi * np.arange(z) / z - np.pi / 2
    scene = rl.Scene(name="bearing", dim=2, gravity=(0, 0), law=law)
    scene.add(rl.Disk(inner), position=(0, 0), mass=1.0, load=(0, -LOAD), name="shaft")
    for i, out in enumerate(np.column_stack([np.cos(psi), np.sin(psi)])):
        scene.add(
            rl.HalfSpace(2), position=written((inner + 2 * roller) * out), normal=-out, name=f"r{i}"
        )
        scene.add(rl.Disk(roller), position=written((inner + roller) * out), name=f"{i}", mass=0.3)
    p, pressed = {"hooke": 2.0, "hertz": 2.5}[law], np.maximum(-np.sin(psi), 0)
    return scene, LOAD * pressed ** (p - 1) / (pressed**p).sum()


def on_shaft(result, z=16):
    """Forces of the rollers on the shaft, (z,)."""
    force = np.zeros(z)
    for pair in rl.pair_forces(result):
        if pair["first"] == "shaft" and pair["second"].isdigit():
            force[int(pair["second"])] = pair["force"]
    return force


@pytest.mark.parametrize("digits", [None, 11, 10, 9])
@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_stribeck_with_rounded_coordinates(law, digits):
    """Closed form: Stribeck's forces, whose rollers lean by up to 1e-8."""
    scene, known = bearing(law, digits)
    result = rl.Simulation(scene, dt=DT).step()
    assert result.compatible.converged
    # the step closes gaps of half a last digit, which takes the shaft's 1 kg some force
    closing = 0.0 if digits is None else 1.0 * 10.0**-digits / DT**2
    np.testing.assert_allclose(on_shaft(result), known, atol=1e-7 + 2 * closing)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stribeck_for_every_solver(solver):
    """Cross-solver: with coordinates of ten digits; what pgs and apgd leave of step 1 is above
    their tolerance here, and still far below the forces."""
    options = {"max_iterations": 3000} if solver == "pgs" else {}
    scene, known = bearing("hooke", 10)
    result = rl.Simulation(scene, dt=DT, solver=solver, solver_options=options).step()
    assert result.compatible.converged and result.classic.residual < 1e-5
    np.testing.assert_allclose(on_shaft(result), known, atol=1e-2)  # residual times load


def leaning(tilt):
    """The bearing with rollers that lean by about ``tilt``, at random."""
    scene, known = bearing("hooke")
    simulation = rl.Simulation(scene, dt=DT)
    position, rng = simulation.state.position.copy(), np.random.default_rng(1)
    disks = [scene.index(str(i)) for i in range(16)]
    out = position[disks, :2] / 0.047
    along = tilt * 0.047 * rng.uniform(0.5, 1.0, 16) * rng.choice([-1, 1], 16)
    position[disks, :2] += along[:, None] * np.column_stack([-out[:, 1], out[:, 0]])
    return scene, known, simulation.state.moved(position=position)


def slipped(simulation):
    """The largest angle by which a roller has gone round the shaft."""
    position, scene = simulation.state.position, simulation.scene
    disks = [scene.index(str(i)) for i in range(16)]
    arm = position[disks, :2] - position[scene.index("shaft"), :2]
    psi = 2 * np.pi * np.arange(16) / 16 - np.pi / 2
    return np.abs(arm[:, 1] * np.cos(psi) - arm[:, 0] * np.sin(psi)).max() / 0.047


@pytest.mark.parametrize(("tilt", "steps"), [(0.0, 12), (1e-10, 30)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_stribeck_after_drift(solver, tilt, steps):
    """Closed form: without friction rollers slip out, tenfold in seventeen steps, from what they
    lean by rounding or from more; Stribeck's forces are there as long as they lean by less than
    the limit, whatever the solver had in between."""
    scene, known, state = leaning(tilt)
    simulation = rl.Simulation(scene, dt=DT, solver=solver)
    simulation.state = state
    for _ in range(steps):
        result = simulation.step()
    assert result.converged
    # from rest as cosh, 29 in thirty steps, of what each leaned; the loaded ones only
    assert slipped(simulation) > 20 * tilt
    # tolerance of step 1 times the load; the classic forces are 1 N and more off
    np.testing.assert_allclose(on_shaft(result), known, atol=1e-6)


def test_one_state_three_solvers():
    """Cross-solver: rollers that lean by 4e-7, just below the limit; classic forces differ by more
    than half, though all have converged."""
    scene, known, state = leaning(4e-7)
    classic = []
    for solver in SOLVERS:
        simulation = rl.Simulation(scene, dt=DT, solver=solver)
        simulation.state = state
        result = simulation.step()
        assert result.converged, result.message
        classic.append(result.classic.force.max())
        # leaning by t shifts forces by t of the largest
        np.testing.assert_allclose(on_shaft(result), known, atol=TOLERANCES.weak * LOAD)
    assert max(classic) > 1.2 * min(classic)


def test_result_says_what_was_asked():
    """Property: F~ stays that of eq. 37; the balance asked for is met to the tolerance, the whole
    one to the limit; determinacy and certificate of the balance agree with the forces."""
    scene, _, state = leaning(1e-8)
    simulation = rl.Simulation(scene, dt=DT, solver="pgs")
    simulation.state = state
    result = simulation.step()
    closed, fixed = np.flatnonzero(result.closed), ~result.bodies.free.ravel()
    B_full = result.B[closed]
    np.testing.assert_allclose(
        result.load[~fixed], (B_full.T @ result.classic.force[closed])[~fixed]
    )
    B, load = result.balance
    force = result.force[closed]
    assert np.abs(B.T @ force - load)[~fixed].max() <= 1e-10 * LOAD
    whole = np.abs(B_full.T @ force - result.load)[~fixed].max()
    assert 1e-10 * LOAD < whole <= TOLERANCES.weak * force.max()
    found = rl.determinacy(B, load, force=force, fixed=fixed)
    # sixteen forces of rollers, each handed on, and two loads that the shaft has to bear
    assert found.degree == 14
    assert found.distance < 1e-6 * LOAD  # to the accuracy of the nearest point
    assert rl.certify(B, load, force, fixed=fixed).compatible
    assert rl.determinacy(B_full, result.load, fixed=fixed).degree < 14


def test_determinacy_of_a_run(tmp_path):
    """Property: of a stored run the command line and the map judge what the step was asked: all 32
    forces are open, in 14 ways; the whole balance would determine some by the tilts."""
    path, (scene, _) = tmp_path / "run.h5", bearing("hooke", 10)
    simulation = rl.Simulation(scene, dt=DT)
    writer = RunWriter.start(path, simulation, {})
    result = simulation.step()
    writer.add(result)
    writer.finish()
    text = CliRunner().invoke(app, ["determinacy", str(path), "--intervals", "none"]).output
    assert "degree of indeterminacy 14: 0 of 32" in text, text
    for source in (result, str(path)):
        found, _ = frame_determinacy(network_of(source), intervals="none")
        assert found.degree == 14 and not found.determined.any()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tilt", [1e-11, 1e-9, 1e-7])
def test_beam_on_props(solver, tilt):
    """Closed form: four loose props of a beam that leans by ``tilt``; the two corners of each carry
    k (d + x t), and the beam's load and moment tell d and t."""
    scene = rl.Scene(name="props", dim=2, gravity=(0, 0))
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    places, half = np.linspace(-1, 1, 4), 0.05
    for i, x in enumerate(places):
        scene.add(rl.rectangle(2 * half, 1.0), position=(x, 0.5), mass=1.0, name=f"prop {i}")
    scene.add(
        rl.rectangle(2.5, 0.2),
        position=(0, 1.1),
        orientation=tilt,
        load=(0, -LOAD, 200.0),
        mass=5.0,
        name="beam",
    )
    result = rl.Simulation(scene, dt=DT, solver=solver).step()
    assert result.converged, result.message
    pairs = rl.pair_forces(result)
    force = [pair["force"] for pair in pairs if pair["second"] == "beam"]
    corners = np.add.outer(places, [-half, half])
    known = LOAD / 4 - 2 * 200.0 * places / (corners**2).sum()
    # the step closes gaps of tilt times a length, which takes the beam's 5 kg some force
    np.testing.assert_allclose(force, known, atol=1e-5 + 5.0 * tilt / DT**2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_balls_under_a_plate(solver):
    """Closed form: balls on a circle under an eccentric load carry F/z (1 + 2 e cos); the plate
    leans by 1e-9, and the balls are pressed between it and the floor."""
    z, radius, ball, e = 6, 0.1, 0.01, 0.3
    angle = 2 * np.pi * np.arange(z) / z + 0.1
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    scene = rl.Scene(name="thrust", gravity=(0, 0, 0))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    scene.add_many(rl.Sphere(ball), np.column_stack([ring, np.full(z, ball)]), mass=0.03)
    scene.add(
        rl.Box((0.3, 0.3, 0.02)),
        position=(0, 0, 2 * ball + 0.01),
        orientation=(1.0, 0, 0.5e-9, 0),
        load=(0, 0, -LOAD, 0, LOAD * e * radius, 0),
        mass=10.0,
        name="plate",
    )
    result = rl.Simulation(scene, dt=DT, solver=solver).step()
    assert result.converged
    pairs = rl.pair_forces(result)
    force = pairs["force"][pairs["second"] == "plate"]
    # gaps of 1e-10 m under 10 kg; the classic forces of pgs are 0.1 N off
    np.testing.assert_allclose(force, LOAD / z * (1 + 2 * e * np.cos(angle)), atol=3e-3)


@pytest.mark.parametrize("slope", [1e-4, 1e-6, 1e-8])
def test_wedges_are_taken_at_their_word(slope):
    """Closed form: a disk between two walls that open by ``slope`` is held by H / (2 sin slope)."""
    pull = 10.0
    scene = wedge(slope, pull)
    result = rl.Simulation(scene).step()
    assert result.converged
    closed = result.B[np.flatnonzero(result.closed)]
    columns = Columns.of(result.bodies)
    asked, _ = without_weak_motions(closed, result.load, result.force[result.closed], columns)
    assert asked is closed
    # normals are known to the last digit, 1e-16 of a slope
    np.testing.assert_allclose(result.force, pull / (2 * np.sin(slope)), rtol=1e-9 + 1e-15 / slope)
