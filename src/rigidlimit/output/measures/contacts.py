"""How many bodies press on each body, what rattles, and how far contacts are from sliding."""

from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ...forces.bearing import bearing
from ...forces.rough import AT_BOUND
from ..plots.frames import Frame, frame

if TYPE_CHECKING:
    from ...scenes.scene import Scene
    from ..plots.frames import Source


def neighbours(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """How many bodies press on each body, (n,).

    The mean over those with any, ``z[z > 0].mean()``, is the coordination number without
    rattlers; walls among the bodies have their own count. A pair that touches in several points
    counts once. A contact bears if its force is above 1e-9 of the largest. method, source: as in
    ``body_forces``.
    """
    shown = frame(source, scene=scene, index=index)
    force = shown.of(method)[1]
    pairs = np.unique(shown.contacts.body[bearing(force)], axis=0)
    return np.bincount(pairs.ravel(), minlength=len(shown.bodies))


def mobilised(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """Mobilised friction |f_t|/(mu f_n) of each contact, (m,); 0 where it does not bear.

    Its mean over the contacts that bear, ``x[x > 0].mean()``, says how far a packing is from
    sliding. method, source: as in ``body_forces``. Raises InputError where bodies are smooth.
    """
    shown = frame(source, scene=scene, index=index)
    return shown.mobilised(_rough_method(shown, method))


def sliding_fraction(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> float:
    """Share of the contacts that bear which slide, or are at their bound mu f_n.

    method, source: as in ``body_forces``. Raises InputError where bodies are smooth.
    """
    shown = frame(source, scene=scene, index=index)
    method = _rough_method(shown, method)
    bears = bearing(shown.forces[method])
    slides = shown.sliding.get(method)
    if slides is None:
        slides = shown.mobilised(method) >= 1.0 - AT_BOUND
    return float((slides & bears).sum() / max(bears.sum(), 1))


def _rough_method(shown: Frame, method: str | None) -> str:
    method, _ = shown.of(method)
    if method not in shown.tangential:
        raise InputError(
            f"the {method} forces have no tangential parts; expected bodies with friction"
        )
    return method
