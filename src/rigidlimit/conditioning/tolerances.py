"""What counts as rounding, as weak or as next to nothing in the data of a step."""

from typing import NamedTuple


class Tolerances(NamedTuple):
    """Of motions, by the singular values S of ``screening.py``; of sizes up to which it is done.

    zero: entries of B over the reach, and S, that are zero but for rounding of normals and arms:
        nothing below 1e-12 pins any force (``linear/column_scaling.py``).
    weak: S up to which a motion without a load tells nothing of forces (``one_body.py``): eps /
        S^2, to which exact arithmetic with rounded normals knows forces along it, is 1e-3 there.
        Slopes of 1e-6 are taken at their word.
    look_every: rows of a body after which it is seen whether the others need to be looked at.
    resisted: S up to which step 1 may leave more than 1e-6 open at its tolerance of 1e-10.
    faint: entries of a column over reach up to which its rounding, divided by their size, could
        pass for a motion that is resisted: normals are known to some 1e-16, and ``zero`` is 1e-13.
    rounds: times that step 2 is asked again, that contacts which cannot bear are looked for, and
        that light bodies are balanced; once or twice are the rule.
    tells: part of the largest overlap that a tilt may make before forces depend on it, and from
        which a contact would bear.
    opened: opening that the linear program asks for, over the way of the farthest body: rows of a
        hundred bodies can open that far everywhere.
    most_contacts: contacts of one linear program, which takes a second then and grows like their
        square; where bodies that depend on tilts have more, these are told and nothing is left out.
    feasible: feasibility of the linear program.
    most_entries: entries of B, zeros included, up to which motions of several bodies are looked
        for: 0.1 s, as long as a solver takes to stop short there.
    most_pairs: square of the number of contacts up to which contacts that cannot bear are looked
        for: Z has nearly as many entries where few bodies have many contacts, and they cost a
        second at most.
    rank: part of the largest singular value up to which one is zero, once motions are held.
    order: part by which the last degree of freedom counts less than the first, so that rounding
        does not choose among equal ones.
    small_part: entries of G, zeros included, up to which a part is solved to its last digits by
        least distance.
    solved: relative difference of |e - E y|^2 and rest up to which they are more than rounding.
    around: degrees of freedom around weakly resisted motions that are looked at together: a
        factorization of 20 ms.
    nothing: part of the largest force up to which what is open is next to nothing.
    active_sets: changes of the active set, which the least distance problem has mostly right.
    corrections: corrections of the forces on it.
    samples: draws of signs of last digits. One may miss by a hundredfold where a single contact
        decides.
    mostly: part of the largest change from which on a contact bounds a change of forces by f >= 0:
        others let go, and the rest goes on.
    converged: part of the largest force that may stay open, over the tolerance, where step 1 is
        solved to it.
    stalled: the same where it is not: residuals may be parts of forces far below the largest.
    gap: last digits that the difference of two gaps may be off by: two contacts, two bodies each,
        which are off by half a digit along each axis.
    tilt: last digits over a body's radius that two contacts, opposite each other, may lean by.
    light: part of a body's own load from which on it is balanced by itself: a hundredth of what is
        told.
    """

    zero: float = 1e-13
    weak: float = 5e-7
    look_every: int = 4
    resisted: float = 1e-2
    faint: float = 1e-2
    rounds: int = 5
    tells: float = 1e-3
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
    light: float = 1e-7


TOLERANCES = Tolerances()
