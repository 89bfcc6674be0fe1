"""Compatible forces with friction on several processes: those of one, by every way that it has."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from benchmarks.distributed import pyramid
from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.pose import forces_at_pose
from rigidlimit.pose.pose_contacts import PoseContacts

from ..rough.test_stability import lid
from .networks import (
    Case,
    Command,
    ball_on_ball,
    boxes,
    launched,
    needs_petsc,
    network_of,
    off,
    one_process,
    rough_crystal,
    rough_wall,
    solved,
)

pytestmark = needs_petsc

SAME = 1e-9
"""Both solve to 1e-10 of the load."""

BALLS = {
    "hooke": (2.0, 1, "mumps"), "hooke 3": (2.0, 3, "mumps"), "hertz": (2.5, 2, "auto"),
    "stiffer": (3.0, 2, "auto"), "multigrid": (2.0, 2, "gamg"),
}  # fmt: skip
"""Exponent, ranks and linear solver. Where ranks outnumber the cores, each of thousands of sums
over them takes a turn of the scheduler: one case has three, so has a smooth one, and none the long
ways below."""

LAWS = ("mindlin", "mindlin/force")

PUSHED = np.array([300.0, -200.0, 0.0, 0.0, 0.0, 0.0])


def loose_crystal(friction: float, seed: int, law: str | float = "hooke") -> ContactNetwork:
    """Balls with fewer contacts, far from their lattice: most of these slide."""
    scene = rough_crystal(friction, seed=seed, noise=0.05)
    return ContactNetwork.of_scene(scene, stiffness=1e5, law=law)


WAYS = {
    "wall": (lambda: rough_wall(0.2), "finish", 2),
    "loose": (lambda: loose_crystal(0.2, 1), "relaxation", 2),
    "least": (lambda: loose_crystal(0.1, 2, "hertz"), "least energy", 2),
}
"""Network, the way that is taken last or on the way, and ranks."""


def agree(found: dict, wanted: rl.CompatibleForces) -> None:
    """Forces, state, ways and what contacts remember."""
    assert (found["status"], found["state"]) == (str(wanted.status), wanted.state)
    assert found["routes"].split() == " ".join(wanted.routes).split()
    assert found["residual"] <= 1e-10
    largest = wanted.force.max()
    assert off(found["force"], wanted.force) <= SAME
    assert np.abs(found["tangential_force"] - wanted.tangential_force).max() <= SAME * largest
    np.testing.assert_array_equal(found["sliding"] > 0, wanted.sliding)
    kept = found["history_normal"] - wanted.history.normal
    assert np.abs(kept).max() <= SAME * np.abs(wanted.history.normal).max()


def sprung(law: str) -> tuple[ContactNetwork, rl.CompatibleForces]:
    """A crystal with springs, pushed from where they come from; and that state."""
    network = ContactNetwork.of_scene(rough_crystal(), stiffness=1e5, law="hertz")
    network = replace(network, tangential_law=law)
    first = one_process(network)
    return replace(network, history=first.history, load=network.load + PUSHED), first


def copied(path) -> None:
    """Periodic copies of ``cell``."""
    scene, reach = rough_crystal(seed=1), 0.1
    network, vectors = cell(), np.diag([4.0, 4.0, 0.0])
    known = dict(stiffness=1e5, springs=None)
    branch = PoseContacts.within(reach, scene, scene.state, 2.0, **known).contacts.branch
    image = images_of(network.position, network.body, branch, vectors)
    write_copies(network, path, counts=(2, 2, 1), vectors=vectors, image=image)


def cell() -> ContactNetwork:
    return ContactNetwork.of_scene(rough_crystal(seed=1), stiffness=1e5, reach=0.1)


@pytest.fixture(scope="module")
def networks():
    known = {
        name: ContactNetwork.of_scene(rough_crystal(), stiffness=1e5, law=exponent)
        for name, (exponent, _, _) in BALLS.items()
    }
    known |= {name: make() for name, (make, _, _) in WAYS.items()}
    known["pushed"] = replace(known["hooke"], load=known["hooke"].load + PUSHED)
    known["carried by none"] = rough_wall(0.5, push=8.0)
    known["lid"] = ContactNetwork.of_scene(lid(0.6, 6 / 7).scene, stiffness=1e5)
    rubbing = rl.Material(friction=0.5)
    known["stress"] = ContactNetwork.of_scene(boxes(material=rubbing), stiffness=1e5)
    known["smooth stress"] = ContactNetwork.of_scene(boxes(), stiffness=1e5)
    return known


@pytest.fixture(scope="module")
def found(tmp_path_factory, networks):
    """All of them, by one start for each number of ranks."""

    def case(name: str, ranks: int, **options) -> Case:
        return Case(networks[name].write, ranks, options)

    cases = {name: case(name, ranks, solver=solver) for name, (_, ranks, solver) in BALLS.items()}
    cases |= {name: case(name, ranks) for name, (_, _, ranks) in WAYS.items()}
    for law in LAWS:
        cases[law.replace("/", "-")] = Case(sprung(law)[0].write, 2, {"increments": 3})
    cases["pushed"] = case("pushed", 2, history="multigrid")
    cases["sticks"], cases["slides"] = (
        Case(ball_on_ball(friction, (0.3, 0.4, 1.0)).write, 1) for friction in (0.6, 0.4)
    )
    cases |= {name: case(name, 2) for name in ("carried by none", "lid", "stress")}
    cases["smooth stress"] = case("smooth stress", 3)
    cases["loose by multigrid"] = Case(loose_crystal(0.2, 4).write, 2, {"solver": "gamg"})
    cases["copies"] = Case(copied, 2)
    smooth = network_of(rough_crystal(0.0), 2.0)
    cases["smooth by both"] = Case(smooth.write, 1, {"solver": "gamg+mumps"})
    cases["smooth in increments"] = Case(smooth.write, 1, {"increments": 2})
    folder = tmp_path_factory.mktemp("rough")
    wall = rough_wall(0.5)
    wall.write(folder / "any wall.h5")
    m = len(wall.body)
    with h5py.File(folder / "spoiled.h5", "w") as file:
        file.attrs["schema"] = "rigidlimit-forces-1"
        file["history_normal"], file["history_tangential"] = np.full(m, np.nan), np.zeros((m, 2))
    words = ("forces", folder / "any wall.h5", "--history", folder / "spoiled.h5")
    cases["history without numbers"] = Command(words, 2)
    words = ("forces", folder / "any wall.h5", "--history", "sticks")
    cases["history of another"] = Command(words, 2)
    return solved(folder, cases)


def test_multigrid_where_most_contacts_slide(found):
    """Cross-solver: one process finds no equilibrium of these either. With Jacobi's method for a
    smoother the search stalled, for systems that GMRES did not solve in 2,000 steps."""
    wanted = one_process(loose_crystal(0.2, 4))
    result = found["loose by multigrid"]
    assert result["status"] == str(wanted.status) == "load_not_carried"


def test_factorizes_where_multigrid_does_not_do(tmp_path, monkeypatch):
    """Cross-solver: without a preconditioner GMRES does not end in a cycle, and the answer is that
    of a factorization, to its digits."""
    network = pyramid(6, "Hooke", 0.3)
    path, out = tmp_path / "packing.h5", tmp_path / "forces.h5"
    network.write(path)
    monkeypatch.setenv(
        "PETSC_OPTIONS", "-pc_type none -ksp_gmres_restart 1 -mumps_ksp_converged_reason"
    )
    words = ("forces", path, "--solver", "gamg+mumps", "--out", out)
    done = launched(2, "-m", "rigidlimit", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mumps_ solve converged" in done.stdout
    with h5py.File(out) as file:
        assert off(file["force"][:], one_process(network).force) <= SAME


def test_what_contacts_remember_is_finite(found):
    """The error names the file and the contact; MUMPS had been said to lack memory."""
    told = found["history without numbers"]
    assert "history_normal nan in row 0; expected finite numbers" in told.stderr


def test_both_methods_are_for_friction(found):
    """Conjugate gradients, without friction, are not given up."""
    assert "smooth contacts; expected 'gamg'" in found["smooth by both"]["errors"][0]


@pytest.mark.parametrize("name", BALLS)
def test_balls_as_in_one_process(found, networks, name):
    """Cross-solver: the solver of one process. Of 243 contacts a third slides."""
    network = networks[name]
    assert network.components == 3 and network.width == 6
    wanted = one_process(network)
    assert wanted.converged and 50 < wanted.sliding.sum() < 200
    agree(found[name], wanted)


@pytest.mark.parametrize("name", WAYS)
def test_every_way_as_in_one_process(found, networks, name):
    """Cross-solver: interior path, relaxation, and least energy where there is no equilibrium."""
    wanted = one_process(networks[name])
    assert wanted.routes[-1] == WAYS[name][1] or WAYS[name][1] in wanted.routes
    agree(found[name], wanted)


@pytest.mark.parametrize("law", LAWS)
def test_from_given_springs(found, law):
    """Cross-solver: springs in the network file, and the load in three increments."""
    network, first = sprung(law)
    wanted = one_process(network, increments=3)
    assert wanted.state == "history" and off(wanted.force, first.force) > 0.01
    agree(found[law.replace("/", "-")], wanted)


def test_goes_on_from_earlier_forces(found, networks):
    """Cross-solver: what contacts remember is in the file of forces, whoever wrote it."""
    pushed = networks["pushed"]
    history = one_process(networks["hooke"]).history
    wanted = one_process(replace(pushed, history=history))
    assert off(wanted.force, one_process(pushed).force) > 1e-4  # the way matters
    agree(found["pushed"], wanted)


def test_one_contact_sticks_or_slides(found):
    """Closed form: a contact holds mu times its force along it, and no more."""
    assert found["sticks"]["status"] == "converged"
    np.testing.assert_allclose(found["sticks"]["force"], [1.0], rtol=1e-10)
    np.testing.assert_allclose(found["sticks"]["tangential_force"], [[0.3, 0.4]], rtol=1e-10)
    assert found["slides"]["status"] == "load_not_carried"


def test_a_load_that_is_not_carried(found, networks):
    """Cross-solver: the status, and by how much forces of least energy miss the load."""
    answer, wanted = found["carried by none"], one_process(networks["carried by none"])
    assert answer["status"] == str(wanted.status) == "load_not_carried"
    # forces of one process are those of the nearest load, found to 1e-5 of the load; here they are
    # where the path towards least energy ends
    assert answer["residual"] == pytest.approx(wanted.residual, abs=1e-5)


def test_copies_repeat_the_cell(found):
    """Property: of periodic copies each is in the cell's equilibrium, which Newton finds from the
    same start."""
    force = found["copies"]["force"].reshape(4, -1)
    assert off(force, np.broadcast_to(one_process(cell()).force, force.shape)) <= 1e-8


def test_leaves_an_unstable_equilibrium(found, networks):
    """Cross-solver: the stable equilibrium to which the same disturbance leads in one process."""
    wanted = one_process(networks["lid"])
    assert wanted.converged and wanted.several
    agree(found["lid"], wanted)


@pytest.mark.parametrize("name, friction", [("stress", 0.5), ("smooth stress", None)])
def test_stress_is_that_of_the_pose(found, name, friction):
    """Cross-check: ``rigidlimit.stress`` of the same forces, over a volume of 2."""
    material = None if friction is None else rl.Material(friction=friction)
    wanted = 2.0 * rl.stress(forces_at_pose(boxes(material=material), stiffness=1e5), volume=2.0)
    # forces are known to 1e-10 of the load
    off_by = 1e-8 * np.abs(wanted).max()
    np.testing.assert_allclose(found[name]["virial"], wanted, rtol=0.0, atol=off_by)


def test_increments_of_rough_contacts_alone(found):
    """Example: smooth contacts remember nothing."""
    (said,) = found["smooth in increments"]["errors"]
    assert said.startswith("InputError") and "has smooth contacts; expected rough ones" in said


def test_a_history_of_another_network(found):
    """Example, by the command: told once."""
    told = found["history of another"]
    assert told.codes == [2, 2] and told.stderr.count("rigidlimit:") == 1
    assert "with history_normal (1,); expected (84,), of the same network" in told.stderr
