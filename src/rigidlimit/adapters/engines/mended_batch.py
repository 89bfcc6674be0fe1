"""Mended forces of many states, as arrays over states."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from ..._support.words import counted
from ...status import Status
from .prepared.answer import Answer
from .result import MendedForces


class MendedBatch:
    """``MendedForces`` of states of one model; ``batch[i]`` has all of state i.

    Arrays have as many columns as the state of most contacts; those of others are zero beyond.

    Attributes
    ----------
    count : (states,) int ndarray
        Contacts in the engine's list.
    listed : (states, contacts) bool ndarray
        Columns that are contacts of a state.
    force : (states, contacts) ndarray [N]
        As ``MendedForces.force``.
    tangential : (states, contacts, 5) ndarray [N, N m]
        As ``MendedForces.tangential``.
    converged : (states,) bool ndarray
    status : (states,) ndarray of Status
    residual : (states,) ndarray

    Examples
    --------
    >>> from rigidlimit.adapters import MendedBatch, mend_forces
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> batch = MendedBatch.of([mend_forces(beam, [0.0, 10.0, 0.0]), mend_forces([[1.0]], [5.0])])
    >>> batch.count, batch.force.round(2)
    (array([3, 1]), array([[3.33, 3.33, 3.33],
           [5.  , 0.  , 0.  ]]))
    """

    def __init__(self, answers: list, forces: Callable[[tuple], MendedForces]):
        self._answers, self._made = answers, forces
        self._whole: dict[int, MendedForces] = {}

    @classmethod
    def of(cls, mended: Iterable[MendedForces]) -> "MendedBatch":
        """Of mended forces of several states.

        Parameters
        ----------
        mended : iterable of MendedForces
            As ``Mender.along`` gives them.
        """
        return cls(list(mended), lambda answer: answer)

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, i: int) -> MendedForces:
        answer = self._answers[i]
        if isinstance(answer, MendedForces):
            return answer
        i = range(len(self))[i]
        if i not in self._whole:
            self._whole[i] = self._made(answer)
        return self._whole[i]

    def __iter__(self) -> Iterator[MendedForces]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<MendedBatch: {self.message}>"

    @cached_property
    def _named(self) -> "list[MendedForces | Answer]":
        return [a if isinstance(a, MendedForces) else Answer(a) for a in self._answers]

    @cached_property
    def count(self) -> np.ndarray:
        return np.array([len(known.force) for known in self._named], int)

    @cached_property
    def listed(self) -> np.ndarray:
        return np.arange(self.count.max(initial=0)) < self.count[:, None]

    @cached_property
    def force(self) -> np.ndarray:
        out = np.zeros(self.listed.shape)
        if out.size:
            out[self.listed] = np.concatenate([known.force for known in self._named])
        return out

    @cached_property
    def tangential(self) -> np.ndarray:
        out = np.zeros((*self.listed.shape, 5))
        for row, known in zip(out, self._named, strict=True):
            row[: len(known.tangential), : known.tangential.shape[1]] = known.tangential
        return out

    @cached_property
    def status(self) -> np.ndarray:
        known = [getattr(known, "status", Status.CONVERGED) for known in self._named]
        return np.array(known, object)

    @property
    def converged(self) -> np.ndarray:
        return self.status == Status.CONVERGED

    @cached_property
    def residual(self) -> np.ndarray:
        return np.array([known.residual for known in self._named])

    @property
    def message(self) -> str:
        """How many states and contacts, and how many of them were solved."""
        states, solved = len(self), int(self.converged.sum())
        said = f"{counted(states, 'state')}, {counted(int(self.count.sum()), 'contact')}"
        if solved == states:
            return f"{said}, all converged"
        first = int(np.flatnonzero(~self.converged)[0])
        return (
            f"{said}, {states - solved} not converged, first state {first}: {self[first].message}"
        )


class StackedBatch(MendedBatch):
    """``MendedBatch`` of stacked arrays: contacts stay in the columns in which they were given.

    ``tangential`` has the directions that were given, and contacts that a mask leaves out are
    zero.

    Attributes
    ----------
    listed : (env, contact) bool ndarray
        The mask.

    Examples
    --------
    >>> from rigidlimit.adapters import ArrayMender
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> batch = ArrayMender().mend_many(beam, [[0.65, 8.7, 0.65], [5.0, 0.0, 5.0]])
    >>> batch.force.shape, batch[1].force.round(4)
    ((2, 3), array([3.3333, 3.3333, 3.3333]))
    """

    def __init__(
        self,
        listed: np.ndarray,
        force: np.ndarray,
        tangential: np.ndarray,
        residual: np.ndarray,
        general: dict[int, MendedForces],
        forces: Callable[[int], MendedForces],
    ):
        super().__init__([general.get(e, e) for e in range(len(force))], forces)
        self.listed, self.force, self.tangential = listed, force, tangential
        self.residual, self._general = residual, general

    @cached_property
    def count(self) -> np.ndarray:
        return self.listed.sum(axis=1)

    @cached_property
    def status(self) -> np.ndarray:
        status = np.full(len(self), Status.CONVERGED, object)
        for e, mended in self._general.items():
            status[e] = mended.status
        return status
