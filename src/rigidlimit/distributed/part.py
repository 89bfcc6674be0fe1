"""What one rank holds of a network: its bodies, their contacts, and copies of the bodies they meet.

A contact between bodies of two ranks is held by both, so that forces on a rank's own bodies, and
their rows of K = B^T D B, are sums over its own contacts: all that is sent in a solve are the
displacements of the bodies met (ghosts).
"""

from dataclasses import dataclass, replace

import numpy as np

from .._support.words import counted
from ..compatibility import ContactHistory
from ..errors import InputError
from ..linear.column_scaling import ROUNDING
from .network import HISTORY, ContactNetwork
from .network_file import NetworkFile
from .partition import by_space
from .ranks import Ranks


@dataclass(frozen=True, eq=False)
class Rubbing:
    """friction, stiffness (m,): mu and k_t of the contacts of a part; history: what they remember,
    or None; law: ``tangential_law``."""

    friction: np.ndarray
    stiffness: np.ndarray
    history: ContactHistory | None
    law: str


@dataclass(frozen=True, eq=False)
class Part:
    """o own bodies, g ghosts, m contacts of d rows, w degrees of freedom a body.

    first: number of the first own body among all that move. number (o + g,): of own bodies and
    ghosts among all that move. body (m, 2): own bodies from 0, then ghosts; -1 for one that is
    held. rows (m, 2, d, w): entries of B over the arms, zero where held. load (o, w): over the
    arms. moved (o, w): degrees of freedom that are free and move contacts. arm (o, w): longest of
    each column, as of ``column_arms``. loose: largest load over its arm on degrees of freedom that
    no contact moves. place (m,): number in the file. mine (m,) bool: whether this rank answers for
    it (once each). origin (o,): number of own bodies in the file. position (o, 3). rubbing: of
    rough contacts. span (m, 2, 3) [m]: from the centres of both bodies to the contact, or None.
    """

    first: int
    number: np.ndarray
    position: np.ndarray
    origin: np.ndarray
    load: np.ndarray
    moved: np.ndarray
    arm: np.ndarray
    loose: float
    body: np.ndarray
    rows: np.ndarray
    stiffness: np.ndarray
    gap: np.ndarray | None
    place: np.ndarray
    mine: np.ndarray
    rubbing: Rubbing | None = None
    span: np.ndarray | None = None

    @property
    def own(self) -> int:
        return len(self.origin)

    @property
    def width(self) -> int:
        return self.load.shape[1]

    @property
    def components(self) -> int:
        return self.rows.shape[2]


def read_part(file: NetworkFile, ranks: Ranks) -> Part:
    """This rank's part of the network: read by slices, dealt out, and brought to its rank."""
    bodies, contacts = ranks.slice_of(file.bodies), ranks.slice_of(file.contacts)
    slice_ = ranks.together(lambda: file.part(bodies, contacts))
    moves = slice_.free.any(axis=1)
    moving = int(ranks.sum(np.count_nonzero(moves)))
    if moving < ranks.size:
        ranks.refuse(
            InputError(
                f"{ranks.size} ranks for {counted(moving, 'body')} that move{'s' * (moving == 1)}; "
                "expected at most one rank a body"
            )
        )
    # bodies: those that move get a rank, and a number among those that move
    to_rank = by_space(slice_.position[moves], ranks)
    place, own = ranks.places(to_rank)
    w = file.width
    columns = [
        slice_.position,
        slice_.load,
        slice_.free,
        bodies[0] + np.arange(len(moves))[:, None],
    ]
    came = ranks.send(np.hstack(columns)[moves], place, own)
    position, load, free = came[:, :3], came[:, 3 : 3 + w], came[:, 3 + w : 3 + 2 * w] > 0
    owner = np.full((len(moves), 2), -1.0)  # number and rank
    owner[moves] = np.column_stack([place, to_rank])
    # contacts: to the ranks of both bodies
    known = ranks.fetch(owner, slice_.body.ravel()).astype(np.int64).reshape(-1, 2, 2)
    number, of_rank = known[:, :, 0], known[:, :, 1]
    between = of_rank.max(axis=1) >= 0
    double = between & (of_rank[:, 0] != of_rank[:, 1]) & (of_rank.min(axis=1) >= 0)
    row = np.concatenate([np.flatnonzero(between), np.flatnonzero(double)])
    answers = np.arange(len(row)) < np.count_nonzero(between)
    to = np.where(answers, of_rank.max(axis=1)[row], of_rank.min(axis=1)[row])
    place, m = ranks.places(to)
    gap = np.zeros(len(row)) if slice_.gap is None else slice_.gap[row]
    numbers = np.column_stack([number[row], contacts[0] + row, answers, slice_.stiffness[row], gap])
    came_rows = np.hstack([numbers, slice_.rows[row].reshape(len(row), 2 * file.components * w)])
    slice_ = replace(slice_, rows=slice_.rows[:0])
    there = ranks.send(came_rows, place, m)
    part = _assembled(ranks, position, load, free, came[:, -1], there, file)
    if slice_.arm is not None:
        part = replace(part, span=ranks.fetch(slice_.arm, part.place))
    if file.rough:
        part = replace(part, rubbing=_rubbing(slice_, part.place, ranks))
    return part


def _rubbing(slice_: ContactNetwork, place: np.ndarray, ranks: Ranks) -> Rubbing:
    """Of the contacts (m,) at these places of the file, of which this rank has read a slice."""
    friction, stiffness = (
        ranks.fetch(values, place) for values in (slice_.friction, slice_.tangential_stiffness)
    )
    history = None if slice_.history is None else fetch_history(slice_.history, place, ranks)
    return Rubbing(friction, stiffness, history, slice_.tangential_law)


def fetch_history(history: ContactHistory, place: np.ndarray, ranks: Ranks) -> ContactHistory:
    """Of the contacts (m,) at these places, of a history that the ranks have by slices."""
    arrays = (getattr(history, name) for name in HISTORY)
    return ContactHistory(*(None if a is None else ranks.fetch(a, place) for a in arrays))


def _assembled(ranks: Ranks, position, load, free, origin, there, file: NetworkFile) -> Part:
    """The part of bodies and contacts that have come to this rank."""
    own, w = load.shape
    first = int(ranks.each(own)[: ranks.rank].sum())
    number = there[:, :2].astype(np.int64)
    foreign = np.unique(number[(number >= 0) & ((number < first) | (number >= first + own))])
    local = np.where(number >= 0, number - first, -1)
    away = (number >= 0) & ((local < 0) | (local >= own))
    local[away] = own + np.searchsorted(foreign, number[away])
    rows = np.ascontiguousarray(there[:, 6:]).reshape(-1, 2, file.components, w)
    # the longest arm of each column: over own contacts, which are all that an own body has
    arm = np.zeros((own, w))
    for side in range(2):
        held = (local[:, side] >= 0) & (local[:, side] < own)
        np.maximum.at(arm, local[held, side], np.linalg.norm(rows[held, side], axis=1))
    longest = ranks.max(arm.max(initial=0.0))
    touched = arm > ROUNDING * min(1.0, longest)
    arm[~touched] = 1.0
    moved = free & touched
    all_numbers = np.concatenate([first + np.arange(own), foreign])
    scale = np.vstack([np.where(moved, 1.0 / arm, 0.0), np.zeros((len(foreign), w))])
    scale[own:] = ranks.fetch(scale[:own], foreign)
    for side in range(2):
        here = local[:, side] >= 0
        rows[here, side] *= scale[local[here, side], None]
        rows[~here, side] = 0.0
    loose = ranks.max(np.abs(np.where(free & ~touched, load, 0.0)).max(initial=0.0))
    return Part(
        first=first,
        number=all_numbers,
        position=position,
        origin=origin.astype(np.int64),
        load=np.where(moved, load / arm, 0.0),
        moved=moved,
        arm=arm,
        loose=loose,
        body=local,
        rows=rows,
        stiffness=np.ascontiguousarray(there[:, 4]),
        gap=np.ascontiguousarray(there[:, 5]) if file.has_gaps else None,
        place=there[:, 2].astype(np.int64),
        mine=there[:, 3] > 0,
    )
