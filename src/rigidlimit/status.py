"""What a solver says of its answer. Shared by contact dynamics and compatible forces."""

from enum import Enum
from typing import Protocol

from ._support.words import counted


class Status(Enum):
    """Outcome of a solve. ``value`` is the name in files; ``advice`` says what to try.

    Attributes
    ----------
    value : str
        "converged", "max_iterations", "stalled", "load_not_carried", "out_of_memory",
        "no_equilibrium", "jammed", "relaxed", "unbalanced", "approximate" or "unstable".
    advice : str
        What it means, and what to try.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> status = rl.Simulation("beam").step().classic.status
    >>> status is rl.Status.CONVERGED, status.advice
    (True, 'the residual is below the tolerance')
    >>> print(rl.Status.STALLED)
    stalled
    """

    CONVERGED = "converged"
    MAX_ITERATIONS = "max_iterations"
    STALLED = "stalled"
    LOAD_NOT_CARRIED = "load_not_carried"
    OUT_OF_MEMORY = "out_of_memory"
    NO_EQUILIBRIUM = "no_equilibrium"
    JAMMED = "jammed"
    RELAXED = "relaxed"
    UNBALANCED = "unbalanced"
    APPROXIMATE = "approximate"
    UNSTABLE = "unstable"

    @property
    def advice(self) -> str:
        return _ADVICE[self]

    def __str__(self) -> str:
        return self.value


_ADVICE = {
    Status.CONVERGED: "the residual is below the tolerance",
    Status.MAX_ITERATIONS: "raise max_iterations, loosen the tolerance, or take solver='newton'",
    Status.STALLED: (
        "rounding keeps the residual above the tolerance: rescale the problem, loosen the "
        "tolerance, or look for nearly dependent contacts with rigidlimit.determinacy"
    ),
    Status.LOAD_NOT_CARRIED: (
        "no forces f >= 0 (within the friction cones) balance this load through these contacts: "
        "check the sign of the load, missing contacts, and bodies that should be fixed"
    ),
    Status.NO_EQUILIBRIUM: (
        "no equilibrium of springs with Coulomb's law was found from this state: the forces are "
        "the admissible ones of least energy; give the history that the contacts come from, more "
        "increments, or more friction"
    ),
    Status.OUT_OF_MEMORY: (
        "the forces balance the load but need not be those of elastic bodies: to find these, a "
        "factorization needs more memory than is free (for a million contacts some 8 kB each); "
        "free memory, or use a machine with more"
    ),
    Status.RELAXED: (
        "the convex relaxation of friction is solved, in which contacts open while they slide; for "
        "Coulomb's law take solver='newton' or 'pgs'"
    ),
    Status.UNBALANCED: (
        "the forces are those of the overlaps as they stand; leave out balance=False for those of "
        "bodies at rest"
    ),
    Status.APPROXIMATE: (
        "the budget of the step was spent: forces are within the friction cones and go with the "
        "motion, but obey the contact law only to the residual; give a larger budget, a larger "
        "accuracy or a smaller time step if that is not enough"
    ),
    Status.UNSTABLE: (
        "springs with friction balance the load, but the equilibrium is unstable, and no stable "
        "one was found beside it: give the history that the contacts come from, or apply the load "
        "in increments"
    ),
    Status.JAMMED: (
        "no motion undoes all overlaps, as where held bodies overlap: the forces are those that "
        "keep overlaps from growing; check where held bodies stand (a press fit or a preload is a "
        "matter of finite stiffness: compatible_forces with gap_error)"
    ),
}


class HasStatus:
    """A result with the status of its solve."""

    __slots__ = ()

    status: Status

    @property
    def converged(self) -> bool:
        """Whether the status is "converged"."""
        return self.status is Status.CONVERGED


class Worked(Protocol):
    """A result that tells what it took."""

    linear_iterations: int
    factorizations: int


def work(answer: Worked) -> str:
    """ "(... conjugate gradient steps, ... factorizations)" of a result, for its message."""
    parts = [
        counted(count, name)
        for count, name in (
            (answer.linear_iterations, "conjugate gradient step"),
            (answer.factorizations, "factorization"),
        )
        if count
    ]
    return f" ({', '.join(parts)})" if parts else ""
