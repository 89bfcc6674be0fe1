"""Force chains, and the force network as a graph.

J. F. Peters, M. Muthuswamy, J. Wibowo and A. Tordesillas, Phys. Rev. E 72, 2005, 041307: a chain
is a quasi-linear row of three or more particles that carry more than the average. A particle
carries so if its major principal stress is above the mean of all; a chain continues from one to the
next if the line between them is within an angle alpha of the major principal direction of both.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._support.display import Brief
from ..._support.words import counted
from ...compatibility.bearing import bearing
from ...errors import InputError, MissingExtra
from ...step.force_network import ForceNetwork
from ..limits import LIMITS
from ..sources import network_of
from .selection import Chosen, centres, chosen, volumes
from .tables import neighbours, pair_forces
from .tensors import body_stress, principal

if TYPE_CHECKING:
    import networkx

    from ..sources import Source

SHORTEST = 3
"""Bodies of a chain, at least."""


@dataclass(frozen=True, repr=False)
class ForceChains(Brief):
    """Rows of bodies that carry more than the average. n bodies.

    Attributes
    ----------
    pairs : (k, 2) int ndarray
        Bodies that are next to each other in a chain.
    chain : (n,) int ndarray
        Which chain each body is in, from 0, the one of most bodies; -1 for none.
    major : (n,) ndarray [Pa; N/m in 2D]
        Major principal stress of each body; nan where there is none.
    direction : (n, dim) ndarray
        Its unit vector; nan where there is none.
    share : float
        Part of the loaded bodies that chains hold.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.force_chains(rl.Simulation(rl.scenes.box_stack(8)).step())
    >>> len(found), found.chain  # floor, then boxes from below
    (1, array([-1,  0,  0,  0,  0, -1, -1, -1, -1]))
    """

    pairs: np.ndarray
    chain: np.ndarray
    major: np.ndarray
    direction: np.ndarray
    share: float

    def __len__(self) -> int:
        return int(self.chain.max(initial=-1)) + 1

    @property
    def message(self) -> str:
        if not len(self):
            return f"no force chain: no row of {SHORTEST} bodies carries more than the average"
        longest = int((self.chain == 0).sum())
        return (
            f"{counted(len(self), 'force chain')}, the largest of {counted(longest, 'body')}, with "
            f"{100 * self.share:.3g} % of the loaded bodies"
        )


def force_chains(
    source: "Source", *, angle: float = 45.0, bodies: Chosen = None, method: str | None = None
) -> ForceChains:
    """Force chains of a packing, as Peters et al. (2005) define them; those that touch are one.

    Parameters
    ----------
    angle : float [degrees]
        Largest angle between the line of two centres and the major principal direction of either.
    bodies : names or numbers, optional
        Those that chains are made of; by default all that are free to move. The mean stress is
        that of the loaded ones.
    source, method
        As of ``body_forces``.

    Raises
    ------
    InputError
        For an angle that is not above 0 and up to 90, a source without such forces, and names of
        no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation(rl.scenes.box_stack(8)).step()
    >>> rl.force_chains(step, angle=30.0).message
    '1 force chain, the largest of 4 bodies, with 50 % of the loaded bodies'
    """
    if not 0 < angle <= 90:
        raise InputError(f"angle is {angle!r}; expected degrees above 0, up to 90")
    shown = network_of(source)
    counts = chosen(shown, bodies) & np.isfinite(volumes(shown))
    bear = np.flatnonzero(bearing(shown.of(method)[1]))
    pairs, row = np.unique(shown.contacts.body[bear], axis=0, return_index=True)
    line = np.diff(centres(shown)[bear[row]], axis=1)[:, 0]
    n, dim = len(counts), shown.bodies.dim
    major, direction = np.full(n, np.nan), np.full((n, dim), np.nan)
    values, axes = principal(body_stress(shown, method=method)[counts])
    major[counts], direction[counts] = values[:, 0], axes[:, 0]
    bears = counts & (np.bincount(pairs.ravel(), minlength=n) > 0)
    strong = np.zeros(n, bool)
    if bears.any():
        strong[bears] = major[bears] >= major[bears].mean() * (1 - LIMITS.rounding)
    both = strong[pairs].all(axis=1)
    pairs, line = pairs[both], line[both, :dim]
    line /= np.linalg.norm(line, axis=1)[:, None]
    cosine = np.abs(np.einsum("kei,ki->ke", direction[pairs], line)).min(axis=1)
    pairs = pairs[cosine >= np.cos(np.radians(angle)) - LIMITS.rounding]
    graph = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    size = np.bincount(label)
    order = np.argsort(-size, kind="stable")
    kept = order[size[order] >= SHORTEST]
    number = np.full(len(size), -1)
    number[kept] = np.arange(len(kept))
    chain = number[label]
    pairs = pairs[chain[pairs[:, 0]] >= 0]
    share = float((chain[bears] >= 0).mean()) if bears.any() else 0.0
    return ForceChains(pairs, chain, major, direction, share)


def force_graph(
    source: "Source", *, angle: float = 45.0, method: str | None = None
) -> "networkx.Graph":
    """The force network as a graph of networkx (extra ``packings``).

    Parameters
    ----------
    angle : float [degrees]
        As of ``force_chains``.
    source, method
        As of ``body_forces``.

    Returns
    -------
    networkx.Graph
        Nodes are loaded bodies, by name, with x, y, z [m], radius [m], major principal stress
        [Pa], coordination, and chain (-1: in none). Edges are pairs that press on each other, with
        force [N], fx, fy, fz on the second, contacts, over_mean (force over the mean of all) and
        in_chain. ``networkx.write_graphml(graph, "chains.graphml")`` writes it.

    Raises
    ------
    InputError
        As of ``force_chains``.
    MissingExtra
        Without networkx.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> len(rl.force_graph(step).edges)
    3
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingExtra(
            f"networkx cannot be loaded ({error}); install it with pip install "
            "'rigidlimit[packings]'"
        ) from error
    shown = network_of(source)
    found = force_chains(shown, angle=angle, method=method)
    joints = pair_forces(shown, method=method)
    links = {frozenset(pair) for pair in found.pairs.tolist()}
    number = {name: k for k, name in enumerate(shown.bodies.names)}
    graph = networkx.Graph(name=shown.name)
    for name in dict.fromkeys([*joints["first"].tolist(), *joints["second"].tolist()]):
        graph.add_node(name, **_node(shown, found, number[name], method))
    mean = float(joints["force"].mean()) if len(joints) else 1.0
    for joint in joints:
        a, b = str(joint["first"]), str(joint["second"])
        graph.add_edge(
            a,
            b,
            first=a,
            force=float(joint["force"]),
            over_mean=float(joint["force"]) / mean,
            contacts=int(joint["contacts"]),
            in_chain=frozenset((number[a], number[b])) in links,
            **{key: float(joint[key]) for key in ("fx", "fy", "fz")},
        )
    counts = neighbours(shown, method=method)
    networkx.set_node_attributes(
        graph, {name: int(counts[number[name]]) for name in graph}, "coordination"
    )
    return graph


def _node(shown: ForceNetwork, found: ForceChains, body: int, method) -> dict:
    radius = float(shown.bodies.bounding_radius[body])
    known = {axis: float(shown.position[body, k]) for k, axis in enumerate("xyz")}
    if np.isfinite(radius):
        known["radius"] = radius
    if np.isfinite(found.major[body]):
        known["major_stress"] = float(found.major[body])
    return known | {"chain": int(found.chain[body])}
