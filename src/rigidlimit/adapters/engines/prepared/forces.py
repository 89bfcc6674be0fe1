"""Mended forces that compiled code found, with all else made when it is asked for."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ....compatibility.rough_result import HISTORY, UNLOADED
from ....status import Status
from ..contacts import EngineContacts
from ..listed import Listed
from ..memory import ContactSprings, springs_of
from ..mend import mended_as_filled
from ..options import MendOptions
from ..result import MendedForces


class PreparedForces(MendedForces):
    """``MendedForces`` whose forces, status and residual are at hand; contacts, balance, notes and
    message are made, by the general path from what was kept of the state, when they are asked for.

    made: gives the ``EngineContacts`` of this state, not settled yet. force (contacts,), tangential
    (contacts, k): in the engine's list. rows: gives (row (m,), took_part (m,) bool): places of
    solved contacts there, and whether they took part. rough: whether friction was found too.
    springs: gives what contacts remember; None: the general path does. goes_on: whether they go on
    from springs of an earlier state. listed: gives the engine's contacts; None: from ``made``.
    """

    def __init__(
        self,
        made: Callable[[], EngineContacts],
        options: MendOptions,
        force: np.ndarray,
        tangential: np.ndarray,
        rows: Callable[[], tuple[np.ndarray, np.ndarray]],
        rough: bool,
        residual: float,
        iterations: int,
        springs: Callable[[], ContactSprings | None] | None = None,
        goes_on: bool = False,
        listed: Callable[[], Listed] | None = None,
    ):
        self.__dict__.update(
            _made=made, options=options, force=force, tangential=tangential, _rows=rows,
            _rough=rough, _residual=residual, _iterations=iterations,
            _springs=springs, _goes_on=goes_on, _listed=listed,
        )  # fmt: skip

    @cached_property
    def _general(self) -> MendedForces:
        return mended_as_filled(self._made(), self.options)

    @cached_property
    def contacts(self) -> EngineContacts:
        known = self.__dict__.get("_general")
        return self._made().settled() if known is None else known.contacts

    @cached_property
    def listed(self) -> Listed:
        return super().listed if self._listed is None else self._listed()

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
        return self._rough

    @property
    def row(self) -> np.ndarray:
        row, took_part = self._rows()
        return row[took_part]

    @property
    def solved(self) -> np.ndarray:
        return np.flatnonzero(self._rows()[1])

    @property
    def state(self) -> np.ndarray:
        state = np.full(len(self.force), "", object)
        if self._rough:
            state[self.row] = HISTORY if self._goes_on else UNLOADED
        return state

    @cached_property
    def springs(self) -> ContactSprings | None:
        return springs_of(self) if self._springs is None else self._springs()

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
        return self._residual

    @property
    def iterations(self) -> int:
        return self._iterations
