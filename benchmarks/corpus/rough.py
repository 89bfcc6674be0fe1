"""Entries with friction: closed forms, pyramids, captured steps of packings, silos and shear boxes,
captured problems of the Siconos project."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.adapters import read_captured, solve_coulomb
from rigidlimit.compatibility import ContactHistory
from tests.captured import FOLDER
from tests.equilibrium.problems import rough_pyramid
from tests.equilibrium.test_pyramids import two_materials
from tests.rough.test_closed_forms import groove

from .problems import Dynamics, Entry, Forces, captured
from .runs import STEP, steps

CAPTURED = Path(__file__).with_name("captured")


def _rows(given) -> tuple[sp.csr_array, sp.csr_array]:
    """(B, T) of kept rows."""
    parts = (given[f"rows_{part}"] for part in ("data", "indices", "indptr"))
    data, indices, starts = parts
    rows = sp.csr_array(
        (data, indices.astype(np.int32), starts.astype(np.int32)), shape=given["rows_shape"]
    )
    return _normal_and_tangential(rows, rows.shape[0] // _contacts(given))


def _contacts(given) -> int:
    return len(given["gap"] if "gap" in given else given["normal"])


def _normal_and_tangential(rows, d):
    """(B, T) of rows contact by contact, the normal one first."""
    at = np.arange(rows.shape[0])
    return rows[at % d == 0], rows[at % d > 0]


def _numbers(values):
    """One for all, or one a contact."""
    return float(values[0]) if len(values) == 1 else values


def captured_step(name):
    """A problem of the folder ``captured``; its SOURCE.md says what the arrays are."""
    with np.load(CAPTURED / f"{name}.npz") as file:
        given = dict(file)
    B, T = _rows(given)
    rough = dict(tangential=T, friction=_numbers(given["friction"]))
    n = B.shape[1]
    if name.startswith("step1"):
        arrays = {key: given[key] for key in ("gap", "velocity")}
        return [
            Dynamics(
                dict(
                    M=given["mass"],
                    B=B,
                    dt=float(given["dt"]),
                    external_force=np.zeros(n),
                    fixed=np.arange(n) >= n - int(given["held"]),
                    warm_start=given["start"],
                    **arrays,
                    **rough,
                )
            )
        ]
    return [
        Forces(
            dict(
                B=B,
                load=given["load"],
                stiffness=_numbers(given["stiffness"]),
                tangential_stiffness=_numbers(given["tangential_stiffness"]),
                exponent=float(given["exponent"]),
                history=ContactHistory(given["normal"], given["tangential"]),
                sliding_direction=given["sliding_direction"],
                **rough,
            )
        )
    ]


def pyramid(base, friction, *, ratio=2 / 7, two=False, push=0.0, exponent=2.0):
    """Unloaded before; ``push``: sideways on each ball, over its weight, in a second increment."""
    rows, weight, pairs = rough_pyramid(base)
    B, T = _normal_and_tangential(rows, 3)
    k = two_materials(pairs) if two else np.ones(len(pairs))
    given = dict(
        B=B,
        load=weight,
        stiffness=k,
        exponent=exponent,
        tangential=T,
        tangential_stiffness=ratio * k,
        friction=friction,
        blocks=np.arange(0, len(weight) + 1, 6),
    )
    if not push:
        return [Forces(given)]
    sideways = np.where(np.arange(len(weight)) % 6 == 0, push, 0.0)
    past = rl.compatible_forces(**given).history
    return [Forces(given | dict(load=weight + sideways, history=past))]


def falling_pyramid(base, friction):
    """Step 1 without forces to start from: weights that begin to fall."""
    rows, weight, _ = rough_pyramid(base)
    B, T = _normal_and_tangential(rows, 3)
    mass = np.where(np.arange(len(weight)) % 6 < 3, 1.0, 0.1)  # (2/5) (d/2)^2 of a ball
    still = dict(gap=np.zeros(B.shape[0]), velocity=np.zeros(len(weight)))
    given = dict(M=mass, B=B, external_force=-weight, dt=1e-3, tangential=T, friction=friction)
    return [Dynamics(given | still)]


def in_groove(angle, friction, ratio):
    B, T, load = groove(angle)
    given = dict(tangential=T, friction=friction, tangential_stiffness=ratio)
    return [Forces(dict(B=B, load=np.array(load), **given))]


def pulled_out_of_groove():
    """A load that no friction carries."""
    B, T, _ = groove(0.6)
    load = np.array([0.0, -1.0, 0.0])
    return [Forces(dict(B=B, load=load, tangential=T, friction=0.3, tangential_stiffness=0.5))]


def belts(slip):
    """A block on two belts that differ by ``slip``: sweeps change its forces by the slip each."""
    B = np.array([[0, 1, -1, 0], [0, 1, 1, 0]], float)
    T = np.array([[1, 0, 0, 0], [1, 0, 0, -slip]], float)
    given = dict(
        M=np.ones(4),
        gap=np.zeros(2),
        velocity=np.array([0.0, 0.0, 0.0, 1.0]),
        external_force=np.array([-0.2, -2.0, 0.0, 0.0]),
        fixed=np.arange(4) == 3,
        dt=1.0,
    )
    return [Dynamics(dict(B=B, tangential=T, friction=0.4, **given))]


def settling(count, after):
    """Step 1 of a rough packing as it settles by the two steps, after so many to 1e-3."""
    scene, found = rl.scenes.rough_packing(count), []
    simulation = rl.Simulation(scene, tolerance=1e-3, increments=2)
    for _ in range(after):
        simulation.step()
    with captured(*STEP, found=found):
        simulation.step()
    first = next(problem for problem, _ in found if problem.step == 1)
    return [Dynamics(first.given | dict(tolerance=1e-10))]


@dataclass(frozen=True)
class Impulses:
    """Step 1 of a captured problem: keywords of ``solve_coulomb``."""

    given: dict

    step = 1

    def solve(self, given=None):
        given = given or self.given
        return solve_coulomb(given["captured"])

    def answer(self, result):
        """What is unique, where anything is: the velocities at the contacts."""
        return result.velocity

    def size(self, result) -> float:
        """That of velocities, with impulses or without."""
        problem = self.given["captured"].local()
        found = (np.abs(v).max(initial=0.0) for v in (result.velocity, problem.q))
        return float(max(found)) or 1.0

    def systems(self, result) -> int:
        return result.systems

    @property
    def contacts(self) -> int:
        return self.given["captured"].contacts

    def in_order(self, order) -> dict:
        problem = self.given["captured"]
        rows = (problem.dim * order[:, None] + np.arange(problem.dim)).ravel()
        moved = dict(mu=problem.mu[order])
        if problem.kind == "local":
            moved |= dict(W=problem.W[rows][:, rows], q=problem.q[rows])
        else:
            moved |= dict(H=problem.H[:, rows], w=problem.w[rows])
        return dict(captured=replace(problem, **moved))

    def put_back(self, answer, order):
        return answer[np.argsort(order)]


def siconos(name):
    path = FOLDER / name if FOLDER else Path(name)
    return [Impulses(dict(captured=read_captured(path)))] if path.is_file() else []


STEP_1 = ("balls-36", "balls-49", "balls-58", "balls-80", "balls-90", "balls-170", "shear-1")
STEP_1 += ("shear-38", "shear-82", "shear-111", "silo-1-16", "silo-4-3")
STEP_2 = ("balls-46", "balls-66", "shear-61", "shear-63", "silo-1-1", "silo-4-5")

SCENES = {
    "groove": (rl.scenes.groove, 3),
    "incline that holds": (partial(rl.scenes.incline, 20.0, friction=0.5), 3),
    "incline that does not": (partial(rl.scenes.incline, 30.0, friction=0.3), 3),
    "ball that rolls": (partial(rl.scenes.rolling_ball, 20.0, friction=0.5), 3),
    "ladder that stands": (partial(rl.scenes.ladder, 60.0, friction=0.5), 3),
    "ladder that slips": (partial(rl.scenes.ladder, 30.0, friction=0.5), 3),
    "arch": (rl.scenes.arch, 2),
    "arch near its least thickness": (partial(rl.scenes.arch, 41, thickness=0.11), 2),
    "buttressed arch": (rl.scenes.buttressed_arch, 2),
    "pyramid of base 5": (rl.scenes.rough_pyramid, 5),
    "settling, 30 balls": (partial(rl.scenes.rough_packing, 30), 20),
}

SICONOS = (
    "Box_Stacks-i0122-82-5.hdf5",
    "BoxesStack1-i100000-32.hdf5.dat",
    "Capsules-i100-889.dat",
    "Confeti-ex03-Fc3D-SBM.dat",
    "GFC3D_TwoRods1.dat",
    "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
    "RockPile_tob1.dat",
    "Rover1039.dat",
    "Spheres-i099-356-679.hdf5",
    "fc2d_granularflowonwall_00667_00000.dat",
    "spheres-in-a-box-98-i10000-256-10.hdf5",
)

ENTRIES = [
    *[
        Entry(f"rough: groove of {a:g} at {mu:g}", partial(in_groove, a, mu, r))
        for a, mu, r in ((0.3, 0.4, 2 / 7), (1.1, 0.4, 0.8))
    ],
    Entry("rough: pulled out of a groove", pulled_out_of_groove),
    *[Entry(f"rough: belts that differ by {s:g}", partial(belts, s)) for s in (1e-2, 1e-7)],
    *[Entry(f"rough: {name}", steps(make, count)) for name, (make, count) in SCENES.items()],
    *[
        Entry(f"rough: pyramid {base} at {mu:g}", partial(pyramid, base, mu))
        for base, mu in ((5, 0.5), (5, 0.3), (5, 0.1), (10, 0.5), (10, 0.1), (10, 0.02))
    ],
    Entry("rough: pyramid 10, two materials", partial(pyramid, 10, 0.3, two=True)),
    Entry("rough: pyramid 10, Hertz", partial(pyramid, 10, 0.3, exponent=2.5)),
    Entry("rough: pyramid 10, k_t/k_n 0.8", partial(pyramid, 10, 0.3, ratio=0.8)),
    Entry("rough: pyramid 20 at 0.5", partial(pyramid, 20, 0.5), slow=True),
    *[
        Entry(f"rough: pyramid {base} pushed by {s:g}", partial(pyramid, base, 0.3, push=s))
        for base, s in ((5, 0.1), (10, 0.15))
    ],
    *[
        Entry(f"rough: pyramid {base} falls at {mu:g}", partial(falling_pyramid, base, mu))
        for base, mu in ((5, 0.5), (10, 0.2), (10, 0.8))
    ],
    Entry("rough: pyramid 20 falls at 0.5", partial(falling_pyramid, 20, 0.5), slow=True),
    Entry("rough: 600 balls settling, 2017 contacts", partial(settling, 600, 24), slow=True),
    *[Entry(f"rough: captured {n}, step 1", partial(captured_step, f"step1-{n}")) for n in STEP_1],
    *[Entry(f"rough: captured {n}, step 2", partial(captured_step, f"step2-{n}")) for n in STEP_2],
    *[Entry(f"rough: captured {name.split('.')[0]}", partial(siconos, name)) for name in SICONOS],
]
