"""Which contacts are closed at the end of a step, and may carry compatible forces.

An active contact is closed to the accuracy of step 1: 1e-11 of a body's size. One without
force may also be closed (symmetric structures), with a gap as large as the rounding of written
coordinates, or it may be a neighbour that comes close and does not
touch, as a few do in every large packing; either gap may be 1e-7 of a body. One neighbour too many
makes determined forces indeterminate. The number of neighbours distinguishes them:
gaps between bodies that do not touch are spread evenly at this scale, so that N of them below
``WIDE`` leave N g / WIDE to be expected below g. The limit is where that is a thousandth,

    closed:  gap <= l min(CLOSED, max(CLOSED / N, 10 g_bearing, FLOOR)),

l the scene's reference length, g_bearing the widest gap over l of an active contact. A structure
without near neighbours gets CLOSED, a random packing of 2,000 balls some 1e-8.
"""

import numpy as np

from .bearing import bearing

CLOSED = 1e-6
"""Gap over the scene's length above which a contact is open in any case: coordinates of six digits
and more are forgiven."""

WIDE = 1e3 * CLOSED
"""Gap over the scene's length below which neighbours are counted."""

FLOOR = 1e-12
"""Gap over the scene's length below which a contact is always closed: rounded positions."""


def closing_gap(gap: np.ndarray, force: np.ndarray, length: float) -> float:
    """Largest gap [m] at which contacts count as closed. gap (m,) [m] and force (m,) [N]: at the
    end of the step, by step 1. length [m]: of the scene."""
    bears = bearing(force)
    near = np.count_nonzero(~bears & (gap > CLOSED * length) & (gap <= WIDE * length))
    solved = 10.0 * float(np.abs(gap[bears]).max(initial=0.0)) / length
    return length * min(CLOSED, max(CLOSED / max(near, 1), solved, FLOOR))
