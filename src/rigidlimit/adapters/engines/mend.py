"""Compatible forces in place of those that another rigid-body engine found.

The engine has made its step: m contacts with normal forces f_e (m,) [N] and gap gradient B (m, n)
in its own velocities. Its resultant F~ = B^T f_e is kept, so acceleration, total force and moment
stay the engine's own; f >= 0 with B^T f = F~ is chosen anew by eq. 36 (Olsen & Kamrin), which
makes it independent of the engine's contact order, start and iteration count.

Stages, in turn:

1. ``checked``, for arrays of callers, and ``EngineContacts.settled``: what the reader of the engine
   found, in arrays of known shapes.
2. ``bearing_contacts``: contacts that can carry force. Open ones carry nothing in any admissible f
   (eq. 21); no balance determines those between parts that links hold to each other.
3. Weakly determined motions are left out of their balance (``balance``).
4. ``shared_jointly``: normal and friction forces at once, from the total wrench, with Coulomb's
   cones. Without friction, or where it is kept as the engine has it, ``shared_out``: eq. 36.
"""

from dataclasses import replace

import numpy as np

from ..._support.deadline import within
from .balance import Balance
from .checks import checked
from .contacts import EngineContacts
from .coulomb import JOINT
from .joint import check_joint, joint_balance
from .options import MendOptions
from .result import MendedForces
from .shares import Bearing, shared_jointly, shared_out


def mend(contacts: EngineContacts, options: MendOptions) -> MendedForces:
    """Mended forces of one step of an engine.

    Parameters
    ----------
    contacts : EngineContacts
        Of the step.
    options : MendOptions

    Raises
    ------
    InputError
        For wrong shapes, and for friction whose directions or coefficients ``options.on_friction``
        needs and that are not given.

    Examples
    --------
    >>> from rigidlimit.adapters import EngineContacts, MendOptions, mend
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> mend(EngineContacts(beam, [0.65, 8.7, 0.65]), MendOptions()).force.round(4)
    array([3.3333, 3.3333, 3.3333])
    """
    return mended_as_filled(checked(contacts), options)


def mended_as_filled(contacts: EngineContacts, options: MendOptions) -> MendedForces:
    """The same of arrays that are of known shapes already."""
    with within(options.budget):
        return _mended(contacts, options)


def _mended(contacts, options):
    contacts = contacts.settled()
    joint = options.on_friction == JOINT and contacts.rough
    if joint:
        check_joint(contacts)
    bearing = bearing_contacts(contacts, options, joint)
    bearing = replace(bearing, balance=bearing.balance.without_weak_motions())
    shares = (shared_jointly if joint else shared_out)(contacts, bearing, options)
    return MendedForces(contacts, options, bearing, shares)


def bearing_contacts(contacts: EngineContacts, options: MendOptions, joint: bool) -> Bearing:
    """Contacts that can carry force, and the balance of their forces along the motions that links
    allow; joint: of normal and tangential ones."""
    opened, powerless = contacts.open, contacts.powerless
    if joint:
        balance = joint_balance(contacts, options.friction_tolerance)
    else:
        balance = normal_balance(contacts)
    bearing = ~opened & ~powerless
    balance, within = balance.without_links(contacts.links, contacts.link_accuracy, bearing)
    powerless = powerless & ~opened
    if powerless.any():
        within = within | powerless
        balance = balance.noted(_pushes_on_nothing(contacts, powerless))
    rows = np.flatnonzero(~opened & ~within)
    return Bearing(rows, balance.of(rows), opened, within)


def normal_balance(contacts: EngineContacts) -> Balance:
    """The balance of normal forces, with friction as given."""
    return Balance(
        contacts.B,
        contacts.load,
        contacts.held,
        contacts.mechanism,
        contacts.reach,
        contacts.accuracy,
        contacts.pressing,
        contacts.lean,
        contacts.stated_accuracy,
        notes=contacts.notes,
    )


def _pushes_on_nothing(contacts, powerless):
    first = int(np.flatnonzero(powerless)[0])
    more = int(powerless.sum()) - 1
    others = {0: "", 1: ", and so does 1 other"}.get(more, f", and so do {more} others")
    return (
        f"{contacts.where(first)} pushes on nothing that can move{others}: no balance "
        "determines its force, and the engine's is kept"
    )
