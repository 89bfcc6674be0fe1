"""What counts as rounding in data of other programs, and how errors of captured data are judged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """Parts are relative, of what each says.

    Attributes
    ----------
    same_face : cosine of the angle between a given patch and a face of which it may be a part.
    opposite : sine of the angle between two faces up to which they look against each other.
    sliver : area of a patch, over the smaller face's, up to which it is none.
    flat : spread of z over the mean radius of balls up to which their centres lie in a plane.
    same : difference of centres over a body's size, and of moments over its square, that is
        rounding.
    even : difference of stiffnesses that is rounding.
    cut : eigenvalues below this part of the largest are rounding, whatever the noise.
    negative : a negative eigenvalue beyond this part of the largest, and beyond what asymmetry
        tells, is no noise: W is another matrix.
    certain : multiple of the errors told beyond which an eigenvalue is none, and a contact open
        for certain: the errors of the symmetric part are of the size of those that the asymmetry
        tells, not equal.
    zero : singular values below this part of the largest are rounding of B.
    most : entries of A of one island, zeros included, up to which its singular values are looked
        at: some 10 s. Of larger ones it is not known how far errors move impulses.
    loose : part of the largest impulse that errors of slacks leave open along a motion of closed
        contacts, from which on they may decide which of them bear: answers to other errors are
        looked at then.
    still : part of the largest velocity up to which a contact is at rest; residuals are 1e-10.
    asymmetric : part of the largest entry of W by which opposite ones may differ, where its digits
        tell no more.
    samples : such answers, to other signs of the errors.
    """

    same_face: float = 0.9
    opposite: float = 1e-3
    sliver: float = 1e-9
    flat: float = 1e-9
    same: float = 1e-9
    even: float = 1e-13
    cut: float = 1e-12
    negative: float = 1e-6
    certain: float = 3.0
    zero: float = 1e-13
    most: int = 4_000_000
    loose: float = 1e-3
    still: float = 1e-6
    asymmetric: float = 1e-9
    samples: int = 6


TOLERANCES = Tolerances()
