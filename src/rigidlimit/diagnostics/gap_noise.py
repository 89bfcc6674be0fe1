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
    """Spread of the forces under independent gap errors.

    deviation (m,) [N]: standard deviation of each force; mean (m,) [N]. method: in words.
    samples: of random gaps, 0 if none were needed. failed: samples without an answer, left out.
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
    """Standard deviation of each force for independent normal gap errors of deviation ``size``.

    size: [m], a number or (m,), in the unit of the displacement of ``compatible_forces`` (compare
    ``Sensitivity.mean_overlap``). method: "linear", right for errors well below the overlaps
    (exact from all derivatives up to matrix_limit contacts, else from ``samples`` random
    directions), or "sampled": the forces themselves for ``samples`` random sets of gaps, contacts
    closing and opening as they do. options: as for ``sensitivity``.
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
    rng = np.random.default_rng(seed)
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
