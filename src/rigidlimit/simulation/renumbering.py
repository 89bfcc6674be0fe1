"""What a simulation keeps when bodies come or go: the forces of the contacts that stay.

Contacts are known by their bodies and their feature. Where bodies get other numbers, in the same
order, keys of the contacts that stay get others in the same order too.
"""

from dataclasses import replace

import numpy as np

from ..collision.contacts import Contacts
from ..step import WarmStart
from ..step.friction import KEPT, OF_THE_STEP, Memory


def renumbered_warm_start(
    warm: WarmStart | None, before: np.ndarray, count: int
) -> WarmStart | None:
    """The warm start of ``count`` bodies, of which row i was row before[i] (count,), -1 for new
    ones; those that are left stand in their old order."""
    if warm is None:
        return None
    number = np.full(warm.contacts.bodies, -1)
    kept = np.flatnonzero(before >= 0)
    number[before[kept]] = kept
    stay = np.flatnonzero((number[warm.contacts.body] >= 0).all(axis=1))
    displacement = np.zeros((count, 6))
    displacement[kept] = warm.displacement.reshape(-1, 6)[before[kept]]
    memory = warm.memory
    if memory is not None:
        own = np.flatnonzero((number[memory.contacts.body] >= 0).all(axis=1))
        memory = Memory(
            _renumbered(memory.contacts, own, number, count),
            **{name: getattr(memory, name)[own] for name in KEPT},
            **{name: getattr(memory, name) for name in OF_THE_STEP},
        )
    contacts = _renumbered(warm.contacts, stay, number, count)
    return WarmStart(contacts, warm.force[stay], displacement.ravel(), memory)


def _renumbered(contacts: Contacts, which: np.ndarray, number: np.ndarray, count: int) -> Contacts:
    chosen = contacts.select(which)
    return replace(chosen, body=number[chosen.body], bodies=count)
