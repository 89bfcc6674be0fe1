"""Compatible forces on several processes: those of one, and of a cell that its copies repeat."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from scipy.spatial import cKDTree

from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.distributed.network_file import NetworkFile
from rigidlimit.pose import forces_at_pose

from .networks import (
    Case,
    Command,
    boxes,
    column,
    crystal,
    found_force,
    launched,
    needs_petsc,
    network_of,
    off,
    reference,
    solved,
)

pytestmark = needs_petsc

SAME = 1e-9
"""Both solve to 1e-10 of the load, which forces of contacts in parallel share."""

BALLS = {
    "hooke": (2.0, 1, "mumps"), "hooke 2": (2.0, 2, "mumps"), "multigrid": (2.0, 2, "gamg"),
    "hertz": (2.5, 2, "auto"), "stiffer": (3.0, 1, "gamg"), "softer": (1.5, 2, "auto"),
    "softer 1": (1.5, 1, "auto"),
}  # fmt: skip
"""Exponent, ranks and linear solver."""

VECTORS = np.diag([4.0, 4.0, 0.0])


def beside(column: ContactNetwork, balls: int, contacts: int = 2) -> ContactNetwork:
    """Its first contacts, and balls far away that touch nothing."""
    far = 1e3 + np.arange(3.0 * balls).reshape(balls, 3)
    return replace(
        column,
        position=np.concatenate([column.position, far]),
        load=np.concatenate([column.load, np.zeros((balls, 3))]),
        free=np.concatenate([column.free, np.ones((balls, 3), bool)]),
        body=column.body[:contacts],
        rows=column.rows[:contacts],
        stiffness=column.stiffness[:contacts],
    )


def sideways(base: int = 3) -> ContactNetwork:
    """A pyramid of balls on a held layer, pushed aside harder than it can bear."""
    layers = [
        np.stack(np.meshgrid(*[np.arange(side) + 0.5 * k] * 2, [np.sqrt(0.5) * k]), -1)
        for k, side in enumerate(range(base, 0, -1))
    ]
    position = np.concatenate([layer.reshape(-1, 3) for layer in layers])
    pairs = cKDTree(position).query_pairs(1.0 + 1e-9, output_type="ndarray")
    normal = position[pairs[:, 1]] - position[pairs[:, 0]]
    load = np.tile([-3.0, 0.0, 1.0], (len(position), 1))
    free = np.repeat(position[:, 2:] > 0.1, 3, axis=1)
    rows, springs = np.stack([-normal, normal], axis=1), np.ones(len(pairs))
    return ContactNetwork(position, load, free, pairs, rows, springs)


@pytest.fixture(scope="module")
def networks():
    known = {name: network_of(crystal(), BALLS[name][0]) for name in BALLS}
    known |= {"boxes": network_of(boxes(), 2.0), "softest": column(0.9, balls=4)}
    known["softest"] = replace(known["softest"], exponent=1.01)
    unlike = 1e5 ** np.random.default_rng(0).random(len(known["hooke"].body))
    softer = known["softer"]
    part = column(0.0, balls=9)
    part = replace(part, gap=np.full(8, -0.01), stiffness=np.full(8, 1e5))
    known |= {"relaxing": part, "relaxing by Hertz": replace(part, exponent=2.5)}
    known["pressed"] = replace(softer, load=np.zeros_like(softer.load))
    return known | {"unlike": replace(known["hooke"], stiffness=1e3 * unlike, gap=None)}


@pytest.fixture(scope="module")
def pose():
    return forces_at_pose(crystal(seed=1), stiffness=1e5, law="hooke")


@pytest.fixture(scope="module")
def found(tmp_path_factory, networks, pose):
    """All of them, by one start for each number of ranks."""
    cases = {
        name: Case(networks[name].write, ranks, {"solver": solver})
        for name, (_, ranks, solver) in BALLS.items()
    }
    cases["again"] = Case(networks["hooke"].write, 2, {"start": "hooke"})
    others = networks.keys() - BALLS.keys()
    cases |= {name: Case(networks[name].write, 2) for name in sorted(others)}
    cell = ContactNetwork.of_pose(pose)
    image = images_of(cell.position, cell.body, pose.contacts.branch, VECTORS)
    assert image.any() and not image[:, 2].any()
    periodic = dict(counts=(3, 2, 1), vectors=VECTORS, image=image)
    cases["copies"] = Case(lambda path: write_copies(cell, path, **periodic), 2)
    cases["column"], cases["pulled"] = (Case(column(load).write, 2) for load in (2.5, -2.5))
    folder = tmp_path_factory.mktemp("smooth")
    unequal = column(0.1, balls=21)
    unequal.load[1, 2] = 10.0
    cases["unequal"] = Case(unequal.write, 2)
    cases["far from the others"] = Case(beside(column(2.5), 4).write, 2)
    cases["no contacts"] = Case(beside(column(2.5), 4, 0).write, 2)
    for name, most in (("sideways", 300), ("sideways, briefly", 10)):
        cases[name] = Case(sideways().write, 2, {"max_iterations": most})
    for most in (0, -1, 2.5):
        cases[f"at most {most}"] = Case(column(1.0).write, 2, {"max_iterations": most})
    words = ("forces", folder / "told.h5", "--stiffness", 1e5)
    cases["told a stiffness"] = Command(words, 2)
    cases["told to overwrite it"] = Command(
        ("forces", folder / "told.h5", "--out", folder / "told.h5"), 2
    )
    words = ("forces", folder / "told.h5", "--out", folder / "told of a pull.h5")
    cases["told to overwrite another"] = Command(words, 2)
    cases["one body"] = Case(column(1.0, balls=2).write, 2)
    for name, pull in (("told", 2.5), ("told of a pull", -2.5)):
        column(pull).write(folder / f"{name}.h5")
        words = ("forces", folder / f"{name}.h5", "--out", folder / f"{name}-forces.h5")
        cases[name] = Command(words, 2)
    return solved(folder, cases) | {"folder": folder}


@pytest.mark.parametrize("name", BALLS)
def test_balls_as_in_one_process(found, networks, name):
    """Cross-solver: the driver of one process."""
    network = networks[name]
    assert network.width == 3 and network.gap is not None
    assert off(found_force(found[name]), reference(network)) <= SAME


def test_boxes_as_in_one_process(found, networks):
    """Cross-solver: bodies that turn, with contacts on corners in parallel."""
    network = networks["boxes"]
    assert network.width == 6
    assert off(found_force(found["boxes"]), reference(network)) <= SAME


def test_the_softest_law(found):
    """Closed form: in a column, whose overlaps are its load to the hundredth power, each contact
    has the load."""
    np.testing.assert_allclose(found_force(found["softest"]), [0.9] * 3, rtol=1e-10)


@pytest.mark.parametrize("name", ["unlike", "pressed"])
def test_ways_of_the_path(found, networks, name):
    """Cross-solver: stiffnesses over five orders of magnitude, where the interior path begins; a
    soft law with overlaps and no load."""
    assert off(found_force(found[name]), reference(networks[name])) <= SAME


@pytest.mark.parametrize("name", ["relaxing", "relaxing by Hertz"])
def test_overlaps_that_may_relax(found, name):
    """Closed form: a free column has no forces in the end, to the rounding of what its overlaps
    press with before."""
    relaxed = found[name]
    assert found_force(relaxed).max() <= 1e-9 * 1e5 * 0.01
    assert relaxed["coordination"] == 0.0


def test_copies_repeat_the_cell(found, pose):
    """Analytic: forces are unique, so that those of periodic copies are the cell's."""
    force = found_force(found["copies"]).reshape(6, -1)
    assert off(force, np.broadcast_to(pose.force, force.shape)) <= 1e-8


def test_begins_with_earlier_displacements(found):
    """Property: from its own end a solve has nothing left to do, on any number of ranks."""
    again = found["again"]
    assert len(again["history"]) == 1
    assert off(found_force(again), found_force(found["hooke"])) <= SAME


def test_a_column_bears_what_lies_on_it(found):
    """Closed form: each contact has the load of the top; a pull is carried by none."""
    np.testing.assert_allclose(found_force(found["column"]), [2.5, 2.5], rtol=1e-10)
    assert found["pulled"]["status"] == "load_not_carried"


def test_loads_that_nothing_carries_are_not_short_of_iterations(found):
    """Property: more iterations are the advice only where those allowed are spent."""
    assert found["sideways"]["status"] in ("stalled", "load_not_carried")
    assert found["sideways, briefly"]["status"] == "max_iterations"


def test_ranks_without_contacts(found):
    """Closed form: the same column where the other rank has nothing but bodies that touch nothing,
    and loads of none where nobody touches."""
    np.testing.assert_allclose(found_force(found["far from the others"]), [2.5] * 2, rtol=1e-10)
    nobody = found["no contacts"]
    assert len(nobody["force"]) == 0 and nobody["status"] == "load_not_carried"


@pytest.mark.parametrize(
    "name, other, said",
    [
        ("told to overwrite it", "told", "the network itself"),
        ("told to overwrite another", "told of a pull", "which is a network file"),
    ],
)
def test_networks_are_not_overwritten(found, name, other, said):
    """The file is whole after it was named as that of the forces, under its name or another."""
    told = found[name]
    assert told.codes[0] and f"{said}; expected another file" in told.stderr
    assert NetworkFile(found["folder"] / f"{other}.h5").contacts == 2


def test_every_force_counts_in_the_distribution(found):
    """Closed form: of 20 contacts one bears 17 times the mean, beyond the last bin; the integral of
    P(f) is the part of the others, as of ``force_distribution``."""
    assert found["unequal"]["distribution"].sum() * 0.1 == pytest.approx(19 / 20, rel=1e-12)


@pytest.mark.parametrize("most", [0, -1, 2.5])
def test_iterations_are_a_positive_number(found, most):
    """The error says what was found and what is expected, on one rank."""
    mistake, other = found[f"at most {most}"]["errors"]
    assert mistake == f"InputError: max_iterations is {most}; expected a positive integer"
    assert other.startswith("OtherRankError")


def test_options_of_scenes_are_refused_once(found):
    """Every rank sees the arguments; one of two says what is wrong with them."""
    told = found["told a stiffness"]
    assert told.codes == [2, 2]
    assert told.stderr.count("--stiffness is given with a network file") == 1


def test_more_ranks_than_bodies(found):
    """Example: one rank has the error, the other one knows of it."""
    mistake, other = found["one body"]["errors"]
    assert mistake.startswith("InputError: 2 ranks for 1 body that moves; expected")
    assert other.startswith("OtherRankError")


@pytest.mark.parametrize(
    "name, code, said", [("told", 0, "converged"), ("told of a pull", 1, "load_not_carried")]
)
def test_the_command_on_two_ranks(found, name, code, said):
    """Closed form, by the command: its message is told once, and a pull ends it with 1."""
    told = found[name]
    assert told.codes == [code] * 2 and told.err == [""] * 2
    assert told.stdout.count(f"mumps on 2 ranks: {said}") == 1
    with h5py.File(found["folder"] / f"{name}-forces.h5") as file:
        assert name != "told" or np.allclose(file["force"][:], [2.5, 2.5], rtol=1e-10, atol=0.0)


def test_mistakes_are_one_line_on_one_rank(tmp_path):
    """Example, by the program: what is wrong is on the slice of the second rank alone, and is told
    once."""
    network = network_of(crystal(), 2.0)
    last = len(network.body) - 1
    stiffness = np.where(np.arange(last + 1) == last, -1.0, network.stiffness)
    replace(network, stiffness=stiffness).write(tmp_path / "balls.h5")
    words = ("forces", tmp_path / "balls.h5", "--out", tmp_path / "out.h5")
    done = launched(2, "-m", "rigidlimit", *words)
    assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1
    assert f"contacts/stiffness[{last}] is -1.0; expected a positive number" in done.stderr
    assert not (tmp_path / "out.h5").exists()


def test_what_one_rank_cannot_do_ends_all(tmp_path):
    """Example: the file that the first rank writes may not grow, as on a full disk: one line, and
    the file that was there stays."""
    column(2.5).write(tmp_path / "column.h5")
    out = tmp_path / "forces.h5"
    out.write_bytes(b"before")
    arguments = ["rigidlimit", "forces", str(tmp_path / "column.h5"), "--out", str(out)]
    code = (
        "import resource, sys; from rigidlimit.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        f"sys.argv = {arguments!r}; main()"
    )
    done = launched(2, "-c", code)
    assert done.returncode != 0 and done.stderr.count("rigidlimit:") == 1, done.stderr
    assert "forces.h5: cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr and out.read_bytes() == b"before"
