"""Which bodies are meant, and the force vectors on both bodies of each contact."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ...bodies import Disk, HalfSpace, Sphere
from ...bodies.cell import CellFrame
from ...errors import InputError, nearest
from ...step.force_network import ForceNetwork

Chosen = str | int | Sequence[str | int] | np.ndarray | None
"""Names or numbers of bodies; None: all that are free to move in some way, or all."""


def pushes(shown: ForceNetwork, method: str | None) -> tuple[np.ndarray, np.ndarray]:
    """(push, arm), (m, 2, 3) each: the force on either body of each contact, and where it acts
    from the centre that the body had where the step began."""
    push = shown.vectors(method)[:, None, :] * np.array([[-1.0], [1.0]])
    return push, shown.contacts.point[:, None, :] - centres(shown)


def centres(shown: ForceNetwork) -> np.ndarray:
    """Centres (m, 2, 3) [m] of both bodies of each contact where the step began; in a periodic cell
    the second is that of the image which is touched."""
    contacts = shown.contacts
    at = shown.start[contacts.body]
    if contacts.branch is not None:
        at[:, 1] = at[:, 0] + contacts.branch
    return at


def volumes(shown: ForceNetwork) -> np.ndarray:
    """Volume of each body, (n,) [m^3; m^2 in 2D]; nan for half-spaces and a periodic cell."""
    endless = HalfSpace | CellFrame
    volume = [np.nan if isinstance(s, endless) else s.measure for s in shown.bodies.shapes]
    return np.array(volume, float)[shown.bodies.shape_of]


def balls(shown: ForceNetwork) -> np.ndarray:
    """Indices of the balls, or disks, of which there is one at least."""
    found = np.flatnonzero(shown.bodies.are(Sphere, Disk))
    if not len(found):
        raise InputError("no body is a ball or a disk; expected some")
    return found


def chosen(shown: ForceNetwork, bodies: Chosen) -> np.ndarray:
    """Which bodies are meant, (n,) bool."""
    if bodies is None:
        return shown.bodies.free.any(axis=1) & ~shown.bodies.are(CellFrame)
    names, found = shown.bodies.names, np.zeros(len(shown.bodies), bool)
    for body in [bodies] if isinstance(bodies, str) else np.atleast_1d(bodies):
        if isinstance(body, str):
            if body not in names:
                raise InputError(f"bodies: no body is named {str(body)!r}; {nearest(body, names)}")
            found[names.index(body)] = True
        elif isinstance(body, int | np.integer) and 0 <= body < len(names):
            found[body] = True
        else:
            raise InputError(f"bodies: found {body}; expected names, or numbers below {len(names)}")
    return found


def growing_edges(what: str, edges: ArrayLike) -> np.ndarray:
    """Edges of bins (b + 1,), checked."""
    edges = np.asarray(edges, float)
    good = edges.ndim == 1 and len(edges) > 1 and np.isfinite(edges).all()
    if not (good and (np.diff(edges) > 0).all()):
        raise InputError(f"{what}: found {arrays.short(edges)}; expected two or more growing edges")
    return edges
