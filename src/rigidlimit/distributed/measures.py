"""Measures of a network on all ranks, by sums over them."""

import numpy as np

from .part import Part
from .ranks import Ranks


def coordination(part: Part, bears: np.ndarray, ranks: Ranks) -> float:
    """Contacts that bear, of bodies that move and touch one that does."""
    touching = np.zeros(part.own + 1)
    for side in range(2):
        body = part.body[bears, side]
        body = np.where((body >= 0) & (body < part.own), body, part.own)
        touching += np.bincount(body, minlength=part.own + 1)
    count = ranks.sum(np.count_nonzero(touching[:-1]))
    return ranks.sum(touching[:-1].sum()) / max(count, 1.0)


BINS = np.linspace(0.0, 6.0, 61)
"""Edges of P(f), forces over their mean."""


def distribution(force: np.ndarray, mean: float, bearing: int, ranks: Ranks) -> np.ndarray:
    """P(f) of forces over their mean, (60,), by the ``BINS``, of so many on all ranks, as
    ``force_distribution`` has it: what is beyond the last bin counts as well."""
    numbers, _ = np.histogram(force / (mean or 1.0), BINS)
    return ranks.total(numbers) / max(bearing, 1) / (BINS[1] - BINS[0])


def virial(part: Part, force: np.ndarray, ranks: Ranks) -> np.ndarray | None:
    """-sum over the bodies that move and their contacts of x f^T, (3, 3) [N m], of forces (m, d): V
    times the mean stress of ``rigidlimit.stress``. None where the file has no arms of contacts.

    x: from the body's centre to the contact. A contact of two ranks is on both, so that sums over
    own bodies are complete. Where a body that moves is held along an axis, forces along it are left
    out.
    """
    if part.span is None:
        return None
    total = np.zeros((3, 3))
    for side in range(2):
        body = part.body[:, side]
        here = np.flatnonzero((body >= 0) & (body < part.own))
        # rows are over the arms, and zero where held: a contact pushes along its translations
        arm = part.arm[body[here], :3]
        push = np.einsum("mdk,md->mk", part.rows[here, side, :, :3], force[here]) * arm
        total -= np.einsum("mi,mj->ij", part.span[here, side], push)
    return ranks.total(total)
