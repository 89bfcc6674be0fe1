"""Mended forces that compiled code found, with all else made when it is asked for."""

from functools import cached_property
from typing import Protocol

import numpy as np

from ....compatibility.rough_result import HISTORY, UNLOADED
from ....status import Status
from ..contacts import EngineContacts
from ..listed import Listed
from ..memory import ContactSprings, springs_of
from ..mend import mended_as_filled
from ..options import MendOptions
from ..result import MendedForces


class FoundForces(Protocol):
    """What compiled code found for a state.

    force (contacts,), tangential (contacts, k): in the engine's list. rough: whether friction was
    found too; residual; solves: linear systems. goes_on: whether contacts go on from springs of an
    earlier state.
    """

    force: np.ndarray
    tangential: np.ndarray
    rough: bool
    residual: float
    solves: int
    goes_on: bool

    def contacts(self) -> EngineContacts:
        """The contacts of the state, not settled yet."""

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (m,) of solved contacts in the engine's list, and whether they took part."""

    def springs(self) -> ContactSprings | None:
        """What contacts remember; None: the general path tells."""

    def listed(self) -> Listed | None:
        """The engine's contacts and forces; None: as ``contacts`` has them."""


class PreparedForces(MendedForces):
    """``MendedForces`` whose forces, status and residual are at hand; contacts, balance, notes and
    message are made, by the general path from what was kept of the state, when they are asked for.
    """

    def __init__(self, found: FoundForces, options: MendOptions):
        self.__dict__.update(found=found, options=options)

    @cached_property
    def _general(self) -> MendedForces:
        return mended_as_filled(self.found.contacts(), self.options)

    @cached_property
    def contacts(self) -> EngineContacts:
        known = self.__dict__.get("_general")
        return self.found.contacts().settled() if known is None else known.contacts

    @cached_property
    def listed(self) -> Listed:
        listed = self.found.listed()
        return super().listed if listed is None else listed

    @cached_property
    def force(self) -> np.ndarray:
        return self.found.force

    @cached_property
    def tangential(self) -> np.ndarray:
        return self.found.tangential

    @property
    def pressing(self) -> np.ndarray:
        return self.force  # states with adhesion are not prepared

    @property
    def adhesion(self) -> np.ndarray:
        return np.zeros(len(self.force))

    @cached_property
    def bearing(self):
        return self._general.bearing

    @cached_property
    def shares(self):
        return self._general.shares

    @property
    def joint(self) -> bool:
        return self.found.rough

    @property
    def row(self) -> np.ndarray:
        row, took_part = self.found.rows()
        return row[took_part]

    @property
    def solved(self) -> np.ndarray:
        return np.flatnonzero(self.found.rows()[1])

    @property
    def state(self) -> np.ndarray:
        state = np.full(len(self.force), "", object)
        if self.joint:
            state[self.row] = HISTORY if self.found.goes_on else UNLOADED
        return state

    @cached_property
    def springs(self) -> ContactSprings | None:
        if not self.joint:
            return None
        known = self.found.springs()
        return springs_of(self) if known is None else known

    @property
    def kept(self) -> np.ndarray:
        return np.zeros(len(self.force), bool)

    @property
    def status(self) -> Status:
        return Status.CONVERGED

    @property
    def converged(self) -> bool:
        return True

    @property
    def residual(self) -> float:
        return self.found.residual

    @property
    def iterations(self) -> int:
        return self.found.solves
