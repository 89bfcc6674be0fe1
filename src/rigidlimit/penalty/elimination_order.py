"""The order in which factorizations of a path eliminate bodies, kept from round to round."""

import numpy as np

from ..collision.contacts import Contacts
from ..linear import Network
from .energy_problem import SETTINGS


class EliminationOrder:
    """The order of elimination of bodies, kept as long as the contacts are mostly the same."""

    def __init__(self):
        self.place, self.known, self.rounds = None, np.zeros(0, np.int64), 0

    def meet(self, contacts: Contacts) -> None:
        """Forget the order if it is no longer that of these contacts."""
        self.rounds += 1
        pairs = contacts.body[:, 0] * contacts.bodies + contacts.body[:, 1]
        new = len(pairs) - int(np.isin(pairs, self.known).sum())
        if self.rounds > SETTINGS.kept or new > SETTINGS.new * len(pairs):
            self.place, self.known, self.rounds = None, pairs, 0

    def keep(self, network: Network) -> None:
        """Take over the order that a factorization of ``network`` found."""
        self.place = vars(network).get("elimination_order")
