"""A user's mistakes in Python: one error of rigidlimit that says what was found and expected; and
what objects show of themselves."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import mend_forces
from rigidlimit.bodies import State
from rigidlimit.errors import RigidlimitError
from rigidlimit.output.hdf5 import RunWriter
from rigidlimit.output.view import write_view
from rigidlimit.output.vtk import write_paraview
from rigidlimit.penalty import compare, stiffness_sweep
from rigidlimit.status import Status

BALL = rl.Sphere(0.1)
AT = ((0, 0, 0), (0, 0, 1))
FLOOR = ([[1.0]], [1.0])


def _ball():
    scene = rl.Scene()
    scene.add(BALL, position=(0, 0, 0))
    return scene


def _two_balls():
    scene = _ball()
    scene.add(BALL, position=(3, 0, 0))
    return scene


LADDER = ([[0, 1, -1.0], [-1, 0, 1.7]], [0, 900.0, 350.0])
TANGENTS = np.array([[-1, 0, -1.7], [0, -1, -1.0]])


def _rough(B=LADDER[0], **options):
    return rl.compatible_forces(B, LADDER[1], friction=0.3, **options)


def _one(B=FLOOR[0], load=FLOOR[1], **options):
    return rl.compatible_forces(B, load, **options)


def _restored(**others):
    simulation = rl.Simulation("beam")
    simulation.restore(simulation.checkpoint() | others)


def _dynamics(**options):
    return rl.contact_dynamics(np.ones(1), [[1.0]], [0.0], [0.0], [-1.0], 1e-3, **options)


@pytest.mark.parametrize(
    ("mistake", "fragment"),
    [
        (lambda: rl.Simulation("beam", solver="gs"), "did you mean 'pgs'"),
        (lambda: _rough(tangential=np.repeat(TANGENTS, 2, axis=0)), "one motion at every contact"),
        (lambda: _rough(tangential=np.vstack([TANGENTS] * 2)), "one motion at every contact"),
        (lambda: _rough(tangential=5), "tangential is 5; expected the tangential rows"),
        (lambda: _rough(np.ones((3, 3)), tangential=2), "B has 3 rows; expected 2 a contact"),
        (lambda: rl.Simulation("beam", solver_options={"opning": 1}), "did you mean 'opening'"),
        (lambda: rl.Simulation("beam", solver_options={"tolerance": 1}), "no option 'tolerance'"),
        (lambda: rl.Simulation("beam", restitution="a"), "restitution is 'a'"),
        (lambda: rl.Simulation("beam", dt="a"), "dt is 'a'"),
        (lambda: rl.Simulation("beam", dt=1e-300), "square is zero"),
        (lambda: rl.Simulation("beam", dt=1e-30).run(until=0.1), "advance; expected a longer step"),
        (lambda: rl.Simulation("beam", dt=1e-3).run(until=1e300), "advance; expected an earlier"),
        (lambda: rl.Simulation("beam", tolerance=None), "tolerance is None"),
        (lambda: rl.Simulation("beam", tolerance=1), "tolerance is 1; expected a positive"),
        (lambda: rl.Simulation("beam").run(until="a"), "until is 'a'"),
        (lambda: rl.Simulation(3), "scene is 3; expected a Scene"),
        (lambda: _dynamics(tolerence=1), "did you mean 'tolerance'"),
        (lambda: _dynamics(solver="pgs", ordr="reverse"), "did you mean 'order'"),
        (lambda: _dynamics(warm_start="a"), "warm_start is 'a'"),
        (lambda: _dynamics(max_iterations="a"), "max_iterations is 'a'; expected a positive"),
        (lambda: _dynamics(exists=[np.nan]), r"exists is \[nan\]; expected true or false"),
        (lambda: _dynamics(solver=[1]), r"solver is \[1\]"),
        (lambda: _dynamics(solver="pgs", order=[[1], [1, 2]]), "not a permutation"),
        (lambda: _one([[1j]]), "B is not a matrix of numbers"),
        (lambda: _one(load=[1j]), r"load is \[1j\]; expected numbers"),
        (lambda: _one(load=np.ma.masked_array([1.0], [1])), "load is a MaskedArray"),
        (lambda: _one(blocks="a"), "blocks has entries like a"),
        (lambda: _one(max_iterations=-3), "max_iterations is -3; expected a positive integer"),
        (lambda: _one(unresolved=-1), "unresolved is -1; expected a number >= 0"),
        (lambda: _one(method=np.ones(2)), "method is array"),
        (lambda: _one(fixed=[np.nan]), r"fixed is \[nan\]; expected true or false per column"),
        (lambda: _one(exponent=np.datetime64("2020")), "exponent is np.datetime64"),
        (lambda: _rough(tangential=[[1], [1, 2]]), "tangential is not a matrix"),
        (lambda: _rough(tangential=TANGENTS, sliding_direction="a"), "sliding_direction has shape"),
        (
            lambda: rl.self_stress(["a"], tangential=[[1.0]], friction=1),
            "B is not a matrix of numbers",
        ),
        (lambda: rl.load_factor(*LADDER, "a", tangential=TANGENTS, friction=1), "growing is 'a'"),
        (lambda: rl.determinacy(*FLOOR, workers="a"), "workers is 'a'; expected a positive"),
        (lambda: rl.gap_noise_spread(*FLOOR, 0.1, seed="a"), "seed is 'a'; expected an integer"),
        (lambda: rl.certify(*FLOOR, [1.0], slack=[0.0], slack_scale=-1), "slack_scale is -1"),
        (lambda: rl.certify(*FLOOR, [1.0], data_error=-1), "data_error is -1"),
        (lambda: rl.Cell((1, 1), stress=np.inf), "stress is inf; expected finite numbers"),
        (lambda: rl.Cell((np.inf, 1)), "expected side lengths"),
        (lambda: rl.Cell((1, 1), stress="100"), "stress is '100'; expected finite numbers"),
        (lambda: rl.Cell((1, 1), stress=[["1", None], [None, 1]]), "expected finite numbers"),
        (lambda: _restored(time=np.nan), "'time' of the checkpoint"),
        (lambda: _restored(quaternion=np.zeros((2, 4))), r"expected \(4, 4\)"),
        (lambda: rl.Simulation("beam").start_from(3, 4, 5), "start_from got 3 and 4"),
        (lambda: rl.PenaltySimulation("beam", restitution="a"), "restitution is 'a'"),
        (lambda: rl.PenaltySimulation("beam", threads=-3), "threads is -3"),
        (lambda: rl.PenaltySimulation("beam", tangential_law="a"), "tangential_law is 'a'"),
        (lambda: rl.PenaltySimulation("beam").run(closed=-1), "closed is -1"),
        (lambda: rl.PenaltySimulation("beam").run(max_steps="a"), "max_steps is 'a'"),
        (lambda: rl.PenaltySimulation("beam").run(until=np.inf), "until is inf"),
        (lambda: rl.principal("a"), "tensor is 'a'; expected finite"),
        (lambda: rl.settle("beam", callback="a"), "callback is 'a'; expected a function"),
        (lambda: rl.Simulation("beam").restore(3), "the checkpoint is 3; expected what Simulation"),
        (lambda: rl.Simulation("beam").restore(np.zeros((9, 9))), "the checkpoint is a ndarray"),
        (lambda: rl.Simulation("beam").restore({}), "the checkpoint has no 'position'"),
        (lambda: rl.Simulation("beam").restore(rl.Simulation(_ball()).checkpoint()), "of 1 body"),
        (lambda: compare(3), "scene is 3; expected a Scene"),
        (lambda: compare("beam", settle="x"), "settle is 'x'; expected 'dynamics' or 'dem'"),
        (lambda: stiffness_sweep("beam", scales=[]), "scales has 0 entries; expected two"),
        (lambda: RunWriter.start("x.h5", "beam", {}), "simulation is 'beam'; expected a Sim"),
        (lambda: RunWriter.start("x.h5", rl.Simulation("beam"), {"a": set()}), "kept as JSON"),
        (lambda: RunWriter.start("x.h5", rl.Simulation("beam"), {}, every=0), "every is 0"),
        (lambda: RunWriter.start("x.xyz", rl.Simulation("beam"), {}), "try x.h5"),
        (lambda: write_view("none.h5", "x.html"), "none.h5: no such file"),
        (lambda: rl.read_run("."), "a folder; expected the name of a run's file"),
        (lambda: rl.Scene().add_many(BALL, AT, quaternions=[[1, 0, 0, 0]]), "expected 2 rows"),
        (lambda: rl.Scene().add_many(BALL, AT, quaternions=np.zeros((2, 4))), "not zero"),
        (lambda: rl.Scene().add_many(BALL, AT, quaternions=[0.3, 0.4]), r"of shape \(2,\)"),
        (lambda: _ball().index(0.5), "body 0.5 does not exist"),
        (lambda: write_paraview("none.h5", "x"), "none.h5: no such file"),
        (lambda: rl.Scene(dt="a"), "dt is 'a'"),
        (lambda: rl.Scene(restitution="a"), "restitution is 'a'"),
        (lambda: rl.Scene().add(BALL, position=(0, 0, 0), fixed=3), "fixed names 3"),
        (lambda: rl.Scene().add(BALL, position=(0, 0, 0), load="a"), "load: found"),
        (lambda: rl.Scene().add(BALL, position=(0, 0, 0), mass="a"), "mass of body '0' is 'a'"),
        (lambda: rl.Scene().add(BALL, position=(0, 0, 0), orientation="a"), "a quaternion"),
        (lambda: rl.Scene().index(None), "body None does not exist"),
        (lambda: rl.Material(young="a"), "young is 'a'"),
        (lambda: rl.Material(friction=True), "friction is True; expected a finite"),
        (lambda: rl.Material(young=np.True_), "True_?; expected a positive modulus"),
        (lambda: rl.Scene(dt=True), "dt is True"),
        (lambda: _two_balls().set_pair_friction(0, 1.0, 0.5), "body 1.0 does not exist"),
        (lambda: _two_balls().set_pair_friction(True, 0, 0.5), "body True does not exist"),
        (lambda: _two_balls().set_pair_friction(0, 1, True), "is True; expected a finite mu"),
        (lambda: rl.Material(poisson=None), "poisson is None"),
        (lambda: rl.Box(1), "size is 1; expected three lengths"),
        (lambda: rl.Box((1, 2)), "expected three lengths"),
        (lambda: rl.Box((1, 2, "a")), r"size\[2\] is"),
        (lambda: rl.Ellipsoid(1), "semi_axes is 1"),
        (lambda: rl.Sphere(None), "radius is None"),
        (lambda: rl.ConvexPolyhedron("a"), "points are no numbers"),
        (lambda: rl.Polygon([["a", "b"]]), "points are no numbers"),
        (lambda: rl.compatible_forces(*FLOOR, stiffness="a"), "stiffness is 'a'"),
        (lambda: rl.compatible_forces(*FLOOR, exponent="a"), "exponent is 'a'"),
        (lambda: rl.compatible_forces(*FLOOR, fixed="a"), "fixed is 'a'"),
        (lambda: mend_forces([[1.0]], [1.0], tolerence=1), "did you mean 'tolerance'"),
        (lambda: mend_forces([[1.0]], [1.0], on_frction="keep"), "did you mean 'on_friction'"),
    ],
)
def test_mistakes_are_told(mistake, fragment, tmp_path, monkeypatch):
    """A user's mistake, as soon as it is made: an error of rigidlimit, never a bare one, and no
    file left."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RigidlimitError, match=fragment):
        mistake()
    assert not list(tmp_path.iterdir())


def test_objects_show_themselves_in_a_line_or_two():
    """Property: no object that a user meets prints its arrays, however many bodies it has."""
    scene = rl.scenes.pile_2d()
    simulation = rl.Simulation(scene)
    result = simulation.step()
    closed = np.flatnonzero(result.closed)
    answer = result.compatible
    B, fixed = result.B[closed], ~result.bodies.free.ravel()
    for thing in (
        scene,
        scene.bodies,
        scene.state,
        result,
        result.contacts,
        result.classic,
        answer,
        rl.determinacy(B, result.load, fixed=fixed, intervals="none"),
        rl.certify(B, result.load, answer.force, fixed=fixed),
        mend_forces(B, answer.force, held=fixed),
    ):
        shown = repr(thing)
        # a thousand letters: the longest message is about 500
        assert type(thing).__name__ in shown and len(shown) < 1000 and "array([" not in shown
    state = State(np.zeros((1, 3)), np.ones((1, 4)), np.zeros((1, 6)), 0.5)
    assert repr(state).startswith("<State: position=ndarray (1, 3)") and "time=0.5" in repr(state)


def test_a_load_of_unsolved_dynamics_says_so():
    """Example: a step whose motion was not found; its load need not be one that contacts carry."""
    result = rl.Simulation(rl.scenes.groove(), dt=1e-3).step()
    assert "did not converge" not in result.message
    result = replace(
        result,
        classic=replace(result.classic, status=Status.STALLED, worst=1),
        compatible=replace(result.compatible, status=Status.LOAD_NOT_CARRIED),
    )
    assert "that load is of contact dynamics that did not converge" in result.message
    assert "the worst is contact 1" in result.classic.message


def pressed() -> rl.Scene:
    """A disk on the floor, which overlaps by what it would at half the stiffness of 1e6."""
    scene = rl.Scene(dim=2, gravity=(0, -10.0))
    scene.add(rl.HalfSpace(2), position=(0, 0))
    scene.add(rl.Disk(0.1), position=(0, 0.1 - 2e-5), mass=1)
    return scene


def test_messages_have_a_finding_a_line():
    """Contract: no line of a message is longer than a reader takes in, 300 letters (of the gallery
    they were up to 550), and what changes the reading of the forces comes before how they were
    solved."""
    asked = [rl.Simulation(name).step() for name in ("beam", "arch", "rough-pyramid", "incline")]
    asked += [rl.forces_at_pose(name) for name in ("arch", "pyramid")]
    statics = rl.statics("ladder")
    asked += [statics.load_factor(), statics.sliding_load_factor(), statics.forces()]
    asked.append(rl.compatible_forces(statics.B, -statics.load))
    for found in asked:
        assert max(map(len, found.message.splitlines())) <= 300, found.message
    soft = rl.forces_at_pose(pressed(), stiffness=1e6)
    assert soft.message.startswith("the pose is not the rest of this stiffness")
