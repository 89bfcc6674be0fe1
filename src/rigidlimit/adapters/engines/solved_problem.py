"""The problem that was solved for an engine's contacts, in plain names."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.display import Brief
from ...compatibility import CompatibleForces, RoughForces
from ...status import Status
from .balance import Balance
from .contacts import EngineContacts
from .geometry import Places
from .options import MendOptions
from .shares import Bearing, Shares


@dataclass(frozen=True, repr=False)
class SolvedProblem(Brief):
    """Of ``MendedForces``: its parts, and what the contacts that took part (b of them) obey."""

    contacts: EngineContacts
    options: MendOptions
    bearing: Bearing
    shares: Shares

    @property
    def solved(self) -> np.ndarray:
        """(b,) int, which rows of ``contacts.B`` took part."""
        return self.bearing.rows

    @property
    def balance(self) -> Balance:
        """What the forces of these obey."""
        return self.shares.balance

    @property
    def answer(self) -> CompatibleForces:
        """What the solver found for these; with friction ``RoughForces``."""
        return self.shares.answer

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self.contacts.engine

    @property
    def row(self) -> np.ndarray:
        """Place in the engine's list of each contact that took part, (b,)."""
        return self.contacts.row[self.solved]

    @property
    def places(self) -> Places | None:
        """Geometry of the contacts that took part."""
        places = self.contacts.places
        return None if places is None else places[self.solved]

    @property
    def B(self) -> sp.csr_array:
        """(b, n), normal rows of the problem solved; without friction or with friction given ready
        for ``determinacy(B, load, fixed=held)``."""
        return sp.csr_array(self.balance.normal_rows)

    @property
    def T(self) -> sp.csr_array:
        """(2 b, n), tangential rows of the problem solved, none without friction."""
        return sp.csr_array(self.balance.tangential_rows)

    @property
    def load(self) -> np.ndarray:
        """(n,) [N, N m], of the problem solved: of ``pressing`` forces, where contacts adhere."""
        return self.balance.load

    @property
    def stiffness(self) -> np.ndarray:
        """(b,), of the contacts that took part."""
        return self.contacts.stiffness[self.solved]

    @property
    def friction(self) -> np.ndarray:
        """(b,), of the contacts that took part, the larger where there are two; rows of ``T`` along
        the other direction are as much smaller."""
        return self.contacts.coefficients[0][self.solved]

    @property
    def held(self) -> np.ndarray:
        """(n,) bool, degrees of freedom taken as rigidly held."""
        return self.contacts.held

    @property
    def motions(self) -> sp.csr_array:
        """(n, n), engine velocities of B's columns, the identity where nothing is left out."""
        return self.balance.matrix()

    @property
    def load_from(self) -> str:
        """ "engine", "step", "rest" or "given"."""
        return self.contacts.load_from

    @property
    def joint(self) -> bool:
        """Whether normal and friction forces were found together; else friction is the engine's."""
        return isinstance(self.answer, RoughForces)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader did, and what was left out."""
        return self.balance.notes

    @property
    def status(self) -> Status:
        """What the solver says of its answer; of islands that were solved each on its own that of
        the worst."""
        return self.answer.status

    @property
    def residual(self) -> float:
        """Imbalance of the answer, as of ``CompatibleForces``."""
        return self.answer.residual

    @property
    def iterations(self) -> int:
        """Of the solver, in all."""
        return self.answer.iterations

    @property
    def converged(self) -> bool:
        return self.answer.converged
