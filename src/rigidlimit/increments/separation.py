"""Moving bodies apart that overlap at the end of an increment, without velocities or forces.

An increment follows gaps to first order: bodies whose surfaces slide or turn overlap by the second
order of their way. Where bodies overlap by more than springs give way by and ``LEFT`` times
``slop``, they are moved by the smallest displacement a [m], in the metric of their inertia, that
undoes a part of it and lets no others overlap by more:

    min  a . M a / 2 + sum_i k_i max(0, e_i - (B a)_i)^2 / 2,
    e = PART x where x > 0, else x,      x = -(gap + dt u_n) - overlap of the spring - LEFT slop,

with the normal rows B. Of contacts that bore before e is no more than the way of their surfaces in
the step, so that bodies at rest stay where they are: those of an imported packing overlap by what
presses them. Velocities, and what contacts remember, stay.
"""

import numpy as np

from ..equilibrium.law import ContactLaw
from .problem import LEFT, Increment
from .settings import SEARCH
from .sweeps import accelerate

PART = 0.3
"""Of the excess that a step undoes: surfaces that slide on overlap by what a step adds over it."""

STIFF = 100.0
"""k over the stiffness of inertia of a contact: some hundredths of what is to be undone are left,
and the displacements of bodies that have no room stay bounded."""


def separation(
    increment: Increment, velocity: np.ndarray, overlap: np.ndarray, *, all_of_it: bool = False
) -> np.ndarray | None:
    """a (n,) [m] of the free degrees of freedom, None where no bodies overlap by so much.

    velocity (n,) [m/s]: of the increment. overlap (m,) [m/s]: of its springs. A fixed number of
    sweeps: what they leave, later steps undo. all_of_it: and not a part of the
    excess is undone.
    """
    (m, d), dt = increment.shape, increment.step.dt
    end = increment.gap / dt + increment.contact_velocity(velocity)[:, 0]
    beyond = -end - np.maximum(overlap, 0.0) - LEFT * increment.slop / dt
    if not (beyond > 0.0).any():
        return None
    # with a little more, passes in which STIFF leaves some of it come to an end
    undone = beyond + increment.slop / dt if all_of_it else PART * beyond
    lasting = increment.history.normal > 0.0
    undone = np.where(lasting, np.minimum(undone, increment.way / dt), undone)
    offset = np.zeros((m, d))
    offset[:, 0] = -np.where(beyond > 0.0, undone, beyond)
    smooth = ContactLaw(STIFF * increment.rho, np.ones(m), np.zeros(m), np.zeros((m, d - 1)), 2.0)
    force, y = np.zeros((m, d)), np.zeros(len(increment.dofs) + 1)
    blocks = increment.blocks
    accelerate(blocks, smooth.compiled, offset, force, y, SEARCH.chunk, SEARCH.momentum)
    return dt * (increment.root @ y[:-1])
