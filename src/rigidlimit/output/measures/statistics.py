"""How forces are distributed and correlated: P(f), participation, correlation in space.

Forces are over their mean in each sample. Of P(f) the tail is exponential in packings and the
chains of large forces are in it (C.-h. Liu et al., Science 269, 1995, 513; F. Radjai, M. Jean,
J.-J. Moreau and S. Roux, Phys. Rev. Lett. 77, 1996, 274).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from ..._support import arrays
from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..sources import network_of
from .selection import Chosen, around, chosen, growing_edges, start_cell

if TYPE_CHECKING:
    from ..sources import Source

CARRYING = 1e-6
"""Part of the largest force above which a contact counts as carrying load. More than
``compatibility.bearing`` has: a DEM at rest is accurate to 1e-8, which would lower the mean."""

PARTS = ("normal", "tangential", "total")


@dataclass(frozen=True, repr=False)
class ForceDistribution(Brief):
    """P(f) of f over its mean, over S samples and b bins.

    Attributes
    ----------
    edges : (b + 1,) ndarray
        Of the bins.
    density : (b,) ndarray
        Mean of the samples' densities.
    error : (b,) ndarray
        Its standard error, of one sample that of counting.
    densities : (S, b) ndarray
    mean : (S,) ndarray [N]
        Force of each sample.
    contacts : (S,) int ndarray
        That carry.
    tail_from : float
        Force over the mean from which the decay is fitted.
    decay, decay_error : float
        Rate beta of the tail exp(-beta f) above ``tail_from`` with its standard error, by maximum
        likelihood; nan without a tail.
    participation : (S,) ndarray
        See ``participation``.
    middle : (b,) ndarray
        Middles of the bins.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> forces = np.random.default_rng(1).exponential(2.0, 10_000)  # [N]
    >>> found = rl.force_distribution(forces)
    >>> round(found.decay, 1), found.decay_error < 0.05
    (1.0, True)
    """

    edges: np.ndarray
    density: np.ndarray
    error: np.ndarray
    densities: np.ndarray
    mean: np.ndarray
    contacts: np.ndarray
    tail_from: float
    decay: float
    decay_error: float
    participation: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        """Middles of the bins (b,)."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @property
    def message(self) -> str:
        return (
            f"P(f) of {counted(int(self.contacts.sum()), 'contact')} in "
            f"{counted(len(self.contacts), 'sample')}, tail above {self.tail_from:g}: "
            f"exp(-({self.decay:.3g} +- {self.decay_error:.2g}) f)"
        )


def force_distribution(
    sources: "Source | np.ndarray | Iterable[Source | np.ndarray]",
    *,
    bins: int | np.ndarray = 30,
    tail_from: float = 1.5,
    part: str = "normal",
    bodies: Chosen = None,
    method: str | None = None,
) -> ForceDistribution:
    """Distribution P(f) of contact forces over their mean, over one sample or an ensemble.

    Parameters
    ----------
    sources : source as of ``body_forces``, (m,) [N], or list of these
        Forces, or whose they are, a sample each.
    bins : int or (b + 1,)
        Number of bins up to the largest force, or their edges.
    tail_from : float
        Force over the mean from which the decay is fitted.
    part : {"normal", "tangential", "total"}
        Which part of the force.
    bodies : names or numbers, optional
        Contacts between two of these; by default between two that are free to move, which leaves
        out forces on walls.
    method
        As of ``body_forces``.

    Raises
    ------
    InputError
        Where a sample has no contact that carries, for another part, and for tangential parts of
        smooth bodies.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> found = rl.force_distribution(step, bins=10)
    >>> found.message[:24], found.density.shape
    ('P(f) of 60 contacts in 1', (10,))
    """
    if part not in PARTS:
        raise InputError(f"part is {part!r}; expected {', '.join(PARTS)}")
    samples = sources if _is_many(sources) else [sources]
    forces = []
    for number, sample in enumerate(samples):
        every = _forces(sample, part, bodies, method)
        forces.append(_carrying(every, f"sample {number}: "))
    if not forces:
        raise InputError("no samples are given; expected one source at least")
    mean = np.array([f.mean() for f in forces])
    scaled = [f / m for f, m in zip(forces, mean, strict=True)]
    edges = _edges(bins, max(f.max() for f in scaled))
    counts = np.array([np.histogram(f, edges)[0] for f in scaled])
    total = np.array([len(f) for f in scaled])
    densities = counts / (total[:, None] * np.diff(edges))
    if len(scaled) > 1:
        error = densities.std(axis=0, ddof=1) / np.sqrt(len(scaled))
    else:
        error = np.sqrt(counts[0] * (1 - counts[0] / total[0])) / (total[0] * np.diff(edges))
    tail = np.concatenate([f[f > tail_from] for f in scaled]) - tail_from
    decay = 1.0 / tail.mean() if len(tail) else np.nan
    return ForceDistribution(
        edges=edges,
        density=densities.mean(axis=0),
        error=error,
        densities=densities,
        mean=mean,
        contacts=total,
        tail_from=float(tail_from),
        decay=float(decay),
        decay_error=float(decay / np.sqrt(max(len(tail), 1))),
        participation=np.array([_participation(f) for f in forces]),
    )


def mueth_distribution(f: np.ndarray) -> np.ndarray:
    """P(f) = a (1 - b exp(-f^2)) exp(-beta f) with a = 3, b = 0.75, beta = 1.5.

    A fit to the forces of glass beads on the walls of their container (D. M. Mueth, H. M. Jaeger
    and S. R. Nagel, Phys. Rev. E 57, 1998, 3164).

    Parameters
    ----------
    f : (k,)
        Forces over their mean.

    Returns
    -------
    (k,) ndarray
        Probability density.

    Raises
    ------
    ValueError
        For what is no array of numbers.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> rl.output.measures.mueth_distribution(np.array([0.0, 1.0, 3.0])).round(4)
    array([0.75  , 0.4847, 0.0333])
    """
    f = np.asarray(f, float)
    return 3.0 * (1.0 - 0.75 * np.exp(-(f**2))) * np.exp(-1.5 * f)


def participation(
    source: "Source | np.ndarray", *, bodies: Chosen = None, method: str | None = None
) -> float:
    """Participation number 1/(M sum q_i^2), q_i = f_i/sum f, of the M contacts that carry.

    H. A. Makse, D. L. Johnson and L. M. Schwartz, Phys. Rev. Lett. 84, 2000, 4160.

    Parameters
    ----------
    source : as of ``force_distribution``, or (m,) array [N]
        Forces, or whose they are.
    bodies : names or numbers, optional
        Only contacts of these.
    method
        As of ``body_forces``.

    Returns
    -------
    float
        1 where all forces are alike, 1/M where one contact carries all.

    Raises
    ------
    InputError
        Where no contact carries.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> rl.participation(np.array([1.0, 1.0, 2.0]))
    0.8888888888888888
    """
    return _participation(_carrying(_forces(source, "normal", bodies, method)))


def force_correlation(
    source: "Source", edges: np.ndarray, *, bodies: Chosen = None, method: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Correlation <f_i f_j>/<f>^2 of normal forces by the distance of their contacts.

    1 where forces know nothing of one another (D. M. Mueth, H. M. Jaeger and S. R. Nagel, Phys.
    Rev. E 57, 1998, 3164).

    Parameters
    ----------
    edges : (b + 1,) [m]
        Of the bins of distance.
    bodies : names or numbers, optional
        As of ``force_distribution``.
    source, method
        As of ``body_forces``.

    Returns
    -------
    correlation : (b,) ndarray
        nan where there are no pairs.
    pairs : (b,) ndarray
        Number of pairs.

    Raises
    ------
    InputError
        For edges that do not grow, and where no contact carries.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()  # balls of 2.5 mm
    >>> correlation, pairs = rl.force_correlation(step, np.array([0.0, 2.6e-3, 5.2e-3]))
    >>> pairs
    array([464., 992.])
    """
    shown = network_of(source)
    edges = growing_edges("edges", edges)
    f = shown.of(method)[1]
    keep = _between(shown, bodies) & (f > CARRYING * f.max(initial=0.0))
    f, place = f[keep], shown.contacts.point[keep]
    if not len(f):
        raise InputError("no contact carries load; expected some")
    place, image = around(shown, place, start_cell(shown), edges[-1])
    pairs = cKDTree(place).query_pairs(edges[-1], output_type="ndarray")
    pairs = pairs[pairs[:, 0] < len(f)]
    apart = np.linalg.norm(place[pairs[:, 0]] - place[pairs[:, 1]], axis=1)
    # two with an image across the cell are found twice
    once = np.where(pairs[:, 1] < len(f), 1.0, 0.5)
    number = np.histogram(apart, edges, weights=once)[0]
    once *= f[pairs[:, 0]] * f[image[pairs[:, 1]]]
    total = np.histogram(apart, edges, weights=once)[0]
    with np.errstate(invalid="ignore"):
        return total / number / f.mean() ** 2, number


def _is_many(sources) -> bool:
    if isinstance(sources, np.ndarray):
        return sources.ndim > 1
    single = isinstance(sources, str | Path | ForceNetwork) or hasattr(type(sources), "network")
    return not single and isinstance(sources, Iterable)


def _forces(sample, part, bodies, method) -> np.ndarray:
    """(m,) [N] of one sample."""
    if isinstance(sample, np.ndarray):
        return arrays.vector("forces", sample, len(sample), what="contact")
    shown = network_of(sample)
    method, force = shown.of(method)
    if part != "normal":
        if method not in shown.tangential:
            raise InputError(
                f"part {part!r}: the {method} forces have no tangential parts; expected bodies "
                "with friction"
            )
        vectors = shown.tangential[method] if part == "tangential" else shown.vectors(method)
        force = np.linalg.norm(vectors, axis=1)
    return force[_between(shown, bodies)]


def _between(shown: ForceNetwork, bodies: Chosen) -> np.ndarray:
    """Contacts between two of the bodies, (m,) bool."""
    return chosen(shown, bodies)[shown.contacts.body].all(axis=1)


def _carrying(force: np.ndarray, of: str = "") -> np.ndarray:
    """The forces that carry load."""
    force = force[force > CARRYING * force.max(initial=0.0)]
    if not len(force):
        raise InputError(f"{of}no contact carries load; expected some")
    return force


def _participation(f: np.ndarray) -> float:
    return float(f.sum() ** 2 / (len(f) * (f @ f)))


def _edges(bins, largest: float) -> np.ndarray:
    if np.ndim(bins) == 0:
        return np.linspace(0.0, largest * (1 + 1e-12), int(arrays.positive("bins", bins)) + 1)
    return growing_edges("bins", bins)
