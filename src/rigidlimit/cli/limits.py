"""Default limits of what commands compute and show."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """
    Attributes
    ----------
    rows : rows of a table of motions or of a path.
    contacts : rows of a table of contacts.
    named : files that a line names one by one.
    intervals : contacts beyond which an interval takes seconds to minutes.
    cones : the same of rough contacts in space: six second-order cone programs each, of some
        milliseconds.
    degree : largest number of closed contacts for which the degree of indeterminacy is computed: a
        second or two.
        Random packings of 20,000 take half a minute.
    rests : difference of forces below which it is the accuracy of the DEM, at rest to 1e-8.
    """

    rows: int = 12
    contacts: int = 10
    named: int = 3
    intervals: int = 20_000
    cones: int = 60
    degree: int = 2_000
    rests: float = 1e-7


LIMITS = Limits()
