"""Options of mending, and which of them each public function takes."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ...errors import InputError, nearest
from .coulomb import JOINT, ON_FRICTION

if TYPE_CHECKING:
    from .materials import ByContact
    from .memory import ContactSprings


class OfSolver(TypedDict, total=False):
    """Keywords that go on to ``compatible_forces``."""

    tolerance: float
    max_iterations: int | None
    method: str
    warm_start: ArrayLike | None
    gap_error: ArrayLike | None
    admissible: ArrayLike | None
    blocks: ArrayLike | None


class OfReader(OfSolver, total=False):
    """Keywords that readers of engines take beside those of their own."""

    friction_tolerance: float
    tangential_stiffness: float
    budget: float | None
    gap_tolerance: ArrayLike | None
    accuracy: ArrayLike | None
    friction: "ByContact | None"
    springs: "ContactSprings | None"


SOLVER = tuple(OfSolver.__annotations__)

BY_CONTACT = ("gap_error", "admissible")
"""Of these the ones with an entry a contact."""

OF_CONTACTS = {
    "gap_tolerance": "gap_tolerance",
    "accuracy": "own_accuracy",
    "friction": "own_friction",
    "springs": "springs",
}
"""Options of readers, and what of ``EngineContacts`` they set in place of the reader."""

READER = tuple(OfReader.__annotations__)
OF_MENDING = tuple(name for name in READER if name not in (*SOLVER, *OF_CONTACTS))
"""Further options that readers of engines take, beside those of their own."""


@dataclass(frozen=True)
class MendOptions:
    """How forces are mended.

    Parameters
    ----------
    exponent : float
        p of the contact law, as for ``compatible_forces``.
    on_friction : {"joint", "keep"}
        What becomes of friction forces, see ``mend_forces``.
    friction_tolerance : float
        Part of the largest normal force within which a force is at its bound, or unchanged.
    tangential_stiffness : float
        k_t / k_n of every contact, k_n = df_n/dc as for ``Material``, for on_friction="joint".
    budget : float [s], optional
        In which an equilibrium with friction is looked for; None: as long as it takes. Once it is
        spent, the best forces so far are returned, with the status ``APPROXIMATE``.
    solver : dict
        Keywords for ``compatible_forces``.

    Raises
    ------
    InputError
        For values out of range.

    Examples
    --------
    >>> from rigidlimit.adapters import MendOptions
    >>> MendOptions(exponent=2.5, budget=2e-3).on_friction
    'joint'
    """

    exponent: float = 2.0
    on_friction: str = JOINT
    friction_tolerance: float = 1e-6
    tangential_stiffness: float = 1.0
    budget: float | None = None
    solver: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if self.on_friction not in ON_FRICTION:
            known = ", ".join(ON_FRICTION)
            raise InputError(f"on_friction is {self.on_friction!r}; expected one of {known}")
        if not np.isfinite(arrays.number(self.exponent)):
            raise InputError(
                f"exponent is {self.exponent!r}; expected p > 1 (2 is Hooke, 2.5 is Hertz)"
            )
        arrays.positive("friction_tolerance", self.friction_tolerance)
        arrays.positive("tangential_stiffness", self.tangential_stiffness)
        if self.budget is not None:
            arrays.positive("budget", self.budget)

    def solver_for(self, rows: np.ndarray, m: int) -> dict[str, Any]:
        """Keywords for ``compatible_forces`` of some contacts.

        Parameters
        ----------
        rows : (b,) int
            Their indices.
        m : int
            Number of all.

        Raises
        ------
        InputError
            For a wrong number of entries.
        """
        chosen = dict(self.solver)
        for name in BY_CONTACT:
            if chosen.get(name) is not None:
                value = arrays.vector(name, chosen[name], m, what="contact (row of B)")
                chosen[name] = np.asarray(value)[rows]
        return chosen

    def solver_for_friction(self, n: int) -> dict[str, Any]:
        """Keywords for forces with friction.

        Parameters
        ----------
        n : int
            Degrees of freedom.

        Raises
        ------
        InputError
            For those that only normal forces know.
        """
        chosen = {name: value for name, value in self.solver.items() if value is not None}
        if chosen.pop("method", "newton") != "newton":
            raise InputError(
                f"method is {self.solver['method']!r} with friction; expected 'newton'"
            )
        chosen.pop("blocks", None)  # speeds up normal forces, no more
        if "tolerance" in chosen:
            arrays.positive("tolerance", chosen["tolerance"])
        if "warm_start" in chosen:
            start = chosen["warm_start"]
            chosen["warm_start"] = arrays.vector("warm_start", start, n, what="degree of freedom")
        for name in chosen.keys() - {"tolerance", "warm_start"}:
            raise InputError(
                f"{name} is given and contacts have friction; expected it with on_friction='keep'"
            )
        return chosen


def sorted_options(
    function: Callable, given: Mapping[str, Any], **own
) -> tuple[MendOptions, dict[str, Any]]:
    """Options of mending, ``own`` and those among ``given``, and what is left: of the contacts.

    function: the reader that was called. Raises InputError for a name that it does not take.
    """
    check_names(function, given, READER)
    mending = {name: given[name] for name in OF_MENDING if name in given}
    solver = {name: given[name] for name in SOLVER if name in given}
    left = {field: given[name] for name, field in OF_CONTACTS.items() if name in given}
    return MendOptions(solver=solver, **own, **mending), left


def check_names(function: Callable, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options that ``function`` does not take, with those that it does."""
    for name in given:
        if name not in known:
            named = set(inspect.signature(function).parameters) - {"options", "given"}
            raise InputError(
                f"{function.__name__} has no option {name!r}; "
                f"{nearest(name, sorted(named | set(known)))}"
            )
