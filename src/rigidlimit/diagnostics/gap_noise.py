"""Spread of compatible forces under gap errors at random: linear, or sampled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Brief
from ..compatibility import compatible_forces
from ..errors import InputError
from .sensitivity import SETTINGS, sensitivity


@dataclass(frozen=True, repr=False)
class GapNoise(Brief):
    """Spread of the forces under independent gap errors. m contacts.

    Attributes
    ----------
    deviation : (m,) ndarray [N]
        Standard deviation of each force.
    mean : (m,) ndarray [N]
        Of the samples; of linear methods the forces without gap errors.
    method : str
        In words.
    samples : int
        Of random gaps; 0 if none were needed.
    failed : int
        Samples without an answer, left out.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> rl.gap_noise_spread(beam, [10.0, 0.0], 1e-3).method
    'linear, from all derivatives'
    """

    deviation: np.ndarray
    mean: np.ndarray
    method: str
    samples: int = 0
    failed: int = 0


def gap_noise_spread(
    B: MatrixLike,
    load: ArrayLike,
    size: ArrayLike,
    *,
    method: str = "linear",
    samples: int = 200,
    seed: int = 0,
    **options,
) -> GapNoise:
    """Standard deviation of each force for independent normal gap errors.

    Parameters
    ----------
    B, load
        As for ``compatible_forces``.
    size : float or (m,) [m]
        Standard deviation of the gap errors, in the unit of the displacement of
        ``compatible_forces`` (compare ``Sensitivity.mean_overlap``).
    method : {"linear", "sampled"}
        "linear" is right for errors well below the overlaps: exact from all derivatives up to
        3,000 contacts, else from random directions. "sampled" takes the forces themselves for
        random sets of gaps, contacts closing and opening as they do.
    samples : int
        Random directions or sets of gaps, two or more.
    seed : int
        Of the random numbers.
    **options
        Keywords of ``sensitivity``, or of ``compatible_forces`` for "sampled".

    Raises
    ------
    InputError
        For wrong shapes and values, a load that is not carried, and samples of which fewer than
        two have forces.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> rl.gap_noise_spread(beam, [10.0, 0.0], 0.3).deviation.round(4)  # k = 1
    array([0.1225, 0.2449, 0.1225])
    """
    if method not in ("linear", "sampled"):
        raise InputError(f"method is {method!r}; expected 'linear' or 'sampled'")
    if not (isinstance(samples, int | np.integer) and samples >= 2):
        raise InputError(f"samples is {samples!r}; expected a whole number of at least 2")
    B = arrays.sparse("B", B)
    m = B.shape[0]
    size = _per_contact("size", size, m)
    if (size < 0).any():
        raise InputError(f"size of contact {int(size.argmin())} is {size.min()}; expected >= 0")
    rng = arrays.generator(seed)
    if method == "sampled":
        return _sampled(B, load, size, samples, rng, options)
    at = sensitivity(B, load, **options)
    if m <= SETTINGS.matrix_limit:
        deviation = np.sqrt((at.matrix("gap") ** 2) @ size**2)
        return GapNoise(deviation, at.force, "linear, from all derivatives")
    total = np.zeros(m)
    for _ in range(samples):
        total += at.forward(gap=size * rng.choice([-1.0, 1.0], m)) ** 2
    how = f"linear, from {samples} random directions"
    return GapNoise(np.sqrt(total / samples), at.force, how, samples)


def _sampled(B, load, size, samples, rng, options):
    options = dict(options)
    m = B.shape[0]
    base = options.pop("gap_error", None)
    base = np.zeros(m) if base is None else _per_contact("gap_error", base, m)
    options.setdefault("tolerance", 1e-10)
    start, forces, failed = None, [], 0
    for _ in range(samples):
        gap = base + size * rng.normal(size=m)
        answer = compatible_forces(B, load, gap_error=gap, warm_start=start, **options)
        if answer.converged:
            forces.append(answer.force)
            start = answer.displacement
        else:
            failed += 1
    if len(forces) < 2:
        raise InputError(f"{failed} of {samples} samples have no forces: {answer.message}")
    forces = np.array(forces)
    how = f"sampled, {len(forces)} sets of gaps"
    return GapNoise(forces.std(axis=0, ddof=1), forces.mean(axis=0), how, samples, failed)


def _per_contact(name, value, m):
    return arrays.vector(name, value, m, what="contact (row of B)")
