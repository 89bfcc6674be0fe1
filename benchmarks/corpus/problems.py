"""What an entry of the corpus is: a solve with its arguments, or what leads to some.

``Dynamics`` and ``Forces`` hold the keywords of ``rigidlimit.contact_dynamics`` and
``rigidlimit.compatible_forces``, the two steps; ``Motion`` the arguments of
``increments.solve.solve``, which is both at once for rough bodies. ``captured`` collects those of a
run, of an adapter or of a file.
"""

import importlib
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from unittest import mock

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.increments.solve import solve as solve_increment


@dataclass(frozen=True)
class Dynamics:
    """Step 1: keywords of ``contact_dynamics``."""

    given: dict

    step = 1
    PER_CONTACT = ("gap", "restitution", "exists", "warm_start", "friction")

    def solve(self, given=None):
        return rl.contact_dynamics(**(given or self.given))

    def answer(self, result):
        """What is unique: the velocities."""
        return result.velocity

    def size(self, result) -> float:
        """The largest speed, at the end or without contact forces."""
        given, M = self.given, self.given["M"]
        inertia = M.diagonal() if np.ndim(M) == 2 else np.asarray(M)
        fall = given["dt"] * np.asarray(given["external_force"]) / np.where(inertia, inertia, 1.0)
        free = np.where(given.get("fixed", False), 0.0, given["velocity"] + fall)
        return float(max(np.abs(v).max(initial=0.0) for v in (result.velocity, free))) or 1.0

    def systems(self, result) -> int:
        """Linear ones that were solved by a factor."""
        return result.factorizations if smooth(self) else result.iterations

    @property
    def contacts(self) -> int:
        return self.given["B"].shape[0]

    def in_order(self, order) -> dict:
        return _permuted(self, order)

    def put_back(self, answer, order):
        """An answer to ``in_order(order)`` as one to the problem itself."""
        return answer


@dataclass(frozen=True)
class Forces:
    """Step 2: keywords of ``compatible_forces``."""

    given: dict

    step = 2
    PER_CONTACT = (
        "stiffness",
        "gap_error",
        "admissible",
        "tangential_stiffness",
        "friction",
        "sliding_direction",
    )

    def solve(self, given=None):
        return rl.compatible_forces(**(given or self.given))

    def answer(self, result):
        """What is unique: the forces (m,), or (m, d) with friction."""
        if smooth(self):
            return result.force
        return np.column_stack([result.force, result.tangential_force])

    def size(self, result) -> float:
        return float(result.force.max(initial=0.0)) or 1.0

    def systems(self, result) -> int:
        """Linear ones that were solved by a factor."""
        return result.factorizations if smooth(self) else result.iterations

    @property
    def contacts(self) -> int:
        return self.given["B"].shape[0]

    def in_order(self, order) -> dict:
        given = _permuted(self, order)
        if (past := given.get("history")) is not None:
            given["history"] = _reordered(past, order)
        return given

    def put_back(self, answer, order):
        return answer[np.argsort(order)]


@dataclass(frozen=True)
class Motion:
    """A step of rough bodies, motion and forces together: arguments of ``increments.solve``."""

    given: dict

    step = "both"
    PER_CONTACT = ("moved", "driven", "rho", "gap", "slop")

    def solve(self, given=None):
        given = given or self.given
        # as it was stated, without what a solve before has found out about its linear systems
        return solve_increment(**given | dict(increment=replace(given["increment"])))

    def answer(self, result):
        """Velocities (n,) and forces (m d,), each over the largest."""
        fastest = max(self.given["increment"].scale, np.abs(result.velocity).max(initial=0.0))
        strongest = np.abs(result.force).max(initial=0.0) or 1.0
        return np.concatenate([result.velocity / fastest, (result.force / strongest).ravel()])

    def size(self, result) -> float:
        return 1.0

    def systems(self, result) -> int:
        return result.systems

    @property
    def contacts(self) -> int:
        return self.given["increment"].shape[0]

    def in_order(self, order) -> dict:
        """Also the order in which sweeps go over the contacts."""
        known = self.given["increment"]
        d = known.shape[1]
        moved = {name: getattr(known, name)[order] for name in self.PER_CONTACT}
        moved["rows"] = known.rows[(d * order[:, None] + np.arange(d)).ravel()]
        moved |= {name: _reordered(getattr(known, name), order) for name in ("springs", "history")}
        return self.given | dict(increment=replace(known, **moved))

    def put_back(self, answer, order):
        """An answer to ``in_order(order)`` as one to the problem itself."""
        known = self.given["increment"]
        velocity, force = np.split(answer, [len(known.dofs)])
        force = force.reshape(known.shape)
        return np.concatenate([velocity, force[np.argsort(order)].ravel()])


def smooth(problem) -> bool:
    return problem.given.get("tangential") is None


def _reordered(record, order):
    """A record with its arrays, which have an entry a contact, in another order."""
    known = {f.name: getattr(record, f.name) for f in fields(record)}
    return replace(record, **{name: x[order] for name, x in known.items() if np.ndim(x) > 0})


def _permuted(problem, order):
    """The keywords of the problem with its contacts in another order."""
    given = dict(problem.given)
    given["B"] = _rows(given["B"])[order]
    if (T := given.get("tangential")) is not None:
        each = T.shape[0] // max(len(order), 1)
        given["tangential"] = _rows(T)[(each * order[:, None] + np.arange(each)).ravel()]
    for key in problem.PER_CONTACT:
        if np.ndim(given.get(key)) > 0:
            given[key] = np.asarray(given[key])[order]
    return given


def _rows(matrix):
    return sp.csr_array(matrix) if sp.issparse(matrix) else np.asarray(matrix)


def dynamics(problem, **options) -> Dynamics:
    """Of a ``ContactProblem``."""
    return Dynamics(
        dict(
            M=problem.mass,
            B=problem.B,
            gap=problem.bias * problem.dt,
            velocity=problem.free_velocity,
            external_force=np.zeros(problem.B.shape[1]),
            dt=problem.dt,
            **options,
        )
    )


def forces(B, load, **options) -> Forces:
    return Forces(dict(B=B, load=load, **options))


ASKED = {
    "contact_dynamics": (
        rl.contact_dynamics,
        Dynamics,
        ("M", "B", "gap", "velocity", "external_force", "dt"),
    ),
    "compatible_forces": (rl.compatible_forces, Forces, ("B", "load")),
    "solve": (solve_increment, Motion, ("increment", "s", "tolerance", "settings")),
}
"""By the names in the modules: the function, the problem that a call states, and its positional
arguments."""


@contextmanager
def captured(*modules: str, found: list):
    """Append the problems that these modules of rigidlimit solve to ``found``, with their results:
    (problem, result)."""

    def keeping(name):
        whole, kind, names = ASKED[name]

        def call(*arguments, **options):
            given = dict(zip(names, arguments, strict=False)) | options
            result = whole(**given)
            found.append((kind(given), result))
            return result

        return call

    with ExitStack() as patches:
        for module in modules:
            place = importlib.import_module(f"rigidlimit.{module}")
            names = [name for name in ASKED if getattr(place, name, None) is ASKED[name][0]]
            if not names:
                raise ValueError(f"rigidlimit.{module} solves no step")
            for name in names:
                patches.enter_context(mock.patch.object(place, name, keeping(name)))
        yield


@dataclass(frozen=True)
class Entry:
    """make(): problems; or for a run, (problem, result) of all its steps.

    slow: left out by --quick.
    """

    name: str
    make: Callable[[], list]
    slow: bool = False
