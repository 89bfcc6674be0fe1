"""Thresholds for rounding, weakly constrained motions and negligible forces in a step."""

from typing import NamedTuple

from ..compatibility.rough_light import LIGHT
from ..linear.column_scaling import ZERO


class Tolerances(NamedTuple):
    """Thresholds on the singular values S of motions (``screening.py``), on forces, and on sizes.

    zero: entries of B over the reach, and S, that are zero but for rounding of normals and arms:
        nothing below 1e-12 pins any force (``linear/column_scaling.py``).
    weak: largest S at which a motion without a load does not determine forces (``one_body.py``):
        the accuracy eps / S^2 of forces along it, in exact arithmetic with rounded normals, is
        1e-3 there. Slopes of 1e-6 are treated as real.
    look_every: rows of a body after which it is checked whether the others are needed.
    resisted: largest S at which step 1 may leave forces uncertain by more than 1e-6 at its
        tolerance of 1e-10.
    faint: entries of a column over reach so small that its rounding, divided by their size, could
        look like a resisted motion: normals are known to some 1e-16, and ``zero`` is 1e-13.
    rounds: repetitions of step 2, of the search for contacts that cannot carry force, and of the
        balance of light bodies; once or twice are typical.
    relevant: fraction of the largest overlap above which an overlap by a tilt affects forces and
        would put force on a contact.
    opened: opening required by the linear program, over the displacement of the farthest body:
        rows of a hundred bodies can open that far everywhere.
    most_contacts: contacts of one linear program, which takes a second then and grows like their
        square; where bodies that depend on tilts have more, they are reported and nothing is
        excluded.
    feasible: feasibility of the linear program.
    most_entries: largest number of entries of B, zeros included, for which collective motions are
        looked for: 0.1 s, as long as a solver takes to stop early there.
    most_pairs: largest square of the number of contacts for which contacts that cannot carry force
        are looked for: Z has nearly as many entries where few bodies have many contacts, and they
        cost a second at most.
    rank: fraction of the largest singular value below which one is zero, once motions are held.
    order: fraction by which the last degree of freedom counts less than the first, so that
        rounding does not choose among equal ones.
    small_part: largest number of entries of G, zeros included, for which a part is solved to
        rounding by least distance.
    solved: relative difference of |e - E y|^2 and rest below which they are above rounding.
    around: degrees of freedom around weakly constrained motions that are examined together: a
        factorization of 20 ms.
    nothing: fraction of the largest force below which a force error is negligible.
    active_sets: changes of the active set, which the least distance problem mostly finds at once.
    corrections: corrections of the forces on it.
    samples: random signs of rounding errors. One may miss by a hundredfold where a single contact
        decides.
    mostly: fraction of the largest change above which a contact limits a change of forces by
        f >= 0: others open, and the rest is changed further.
    converged: largest accepted force error, over tolerance times largest force, where step 1 is
        solved to it.
    stalled: the same where it is not: residuals may be parts of forces far below the largest.
    gap: error of the difference of two gaps in units of the last digit: two contacts, two bodies
        each, which are off by half a digit along each axis.
    tilt: the same of the lean of two contacts, opposite each other, over a body's radius.
    light: error of the balance of a body, over its own load, above which it is balanced by
        itself: a hundredth of what is reported.
    """

    zero: float = ZERO
    weak: float = 5e-7
    look_every: int = 4
    resisted: float = 1e-2
    faint: float = 1e-2
    rounds: int = 5
    relevant: float = 1e-3
    opened: float = 0.02
    most_contacts: int = 5_000
    feasible: float = 1e-9
    most_entries: int = 400_000
    most_pairs: int = 1_500_000
    rank: float = 1e-11
    order: float = 1e-3
    small_part: int = 100_000
    solved: float = 1e-3
    around: int = 6_000
    nothing: float = 1e-6
    active_sets: int = 50
    corrections: int = 8
    samples: int = 4
    mostly: float = 0.1
    converged: float = 1e4
    stalled: float = 1e-3
    gap: float = 4.0
    tilt: float = 2.0
    light: float = LIGHT


TOLERANCES = Tolerances()
