"""What counts as rounding in data of other programs, and how errors of captured data are judged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """Parts are relative, of what each says.

    Attributes
    ----------
    same_face : cosine of the angle between a given patch and a face of which it may be a part, and
        of that by which two faces that touch may lean on each other.
    sliver : largest area of a patch, over the smaller face's, that is ignored.
    flat : largest spread of z over the mean radius of balls whose centres lie in a plane.
    same : difference of centres over a body's size, and of moments over its square, that is
        rounding.
    even : difference of stiffnesses that is rounding.
    cut : eigenvalues below this part of the largest are rounding, whatever the noise.
    negative : a negative eigenvalue beyond this fraction of the largest, and beyond the asymmetry,
        is not noise: W is another matrix.
    certain : multiple of the estimated errors beyond which an eigenvalue is not an error, and a
        contact certainly open: the errors of the symmetric part are of the size of the asymmetry,
        not equal to it.
    zero : singular values below this part of the largest are rounding of B.
    most : largest number of entries of A of one island, zeros included, for which its singular
        values are computed: some 10 s. For larger ones the effect of errors is not known.
    loose : error of impulses by errors of slacks along a motion of closed contacts, over the
        largest impulse, above which they may decide which contacts are active: solutions for other
        errors are computed then.
    still : fraction of the largest velocity below which a contact is at rest; residuals are 1e-10.
    asymmetric : fraction of the largest entry of W by which opposite ones may differ, where its
        digits are not known.
    samples : number of such solutions, with other signs of the errors.
    """

    same_face: float = 0.9
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
