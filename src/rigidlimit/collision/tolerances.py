"""When lengths, angles and normals of bodies in contact count as equal, and how far searches go.

A ``NamedTuple``: kernels take its fields for constants when they are compiled.
"""

from typing import NamedTuple


class Tolerances(NamedTuple):
    """Lengths are over the size that each says.

    rounding: differences of separations, gaps and unit normals that are rounding, over the pair's
        size.
    exact: what separations gain, or points lie off a normal, at a search's end, over the pair's
        size.
    equal: separations over the pair's size, cosines and ratios of lengths that are alike: far above
        rounding of positions, far below any overlap or gap that is meant.
    parallel: sine of the largest angle at which axes, edges, and a cylinder and its plane, count
        as parallel and touch at two points.
    common: common stretch of parallel lines, over the first one's length, above which it has
        two ends.
    flush: steps and tilts at a seam, over the smaller part's radius, that are none: as of
        coordinates in single precision, or of turns that were written down with seven digits.
    aligned: largest value of 1 - cos of the angle between a contact's normal and a face's at which
        the face is in contact.
    snap: distance over the smaller face's size below which the corners of a patch are one.
    nearer: rise of the neighbours' gaps over a constructed corner's, over ``snap``, above which it
        is kept.
    level: corners less than this above the lowest one, over the pair's size, count as lowest, too.
    nearly_across: cosine between a contact's normal and a face's normal (11 degrees) above which
        the corners of the face's patch are examined as well; further off they are out of reach.
    realised: largest difference between the distance of two points and the separation, over the
        pair's size, at which the points realise it.
    gauss: slack of the test that two edges' arcs meet; a doubtful pair is tested by all corners.
    stands_out: times what is rounding that a point may stand outside a rim: between the two ways
        out there is little to choose.
    flat: determinant of a second derivative over its diagonal's product that is no top.
    wide: cosine of the angle beyond which tied normals do not determine a direction: 45.6 degrees,
        so that rounding does not decide for faces at 45. Normals closer than that, as around a
        corner of a fine mesh, agree on the direction, and their bodies need the contact that holds
        them apart.
    near: turn of the direction [rad] within which a point that becomes the furthest one is looked
        at.
    gap_rounding: gap over the distance of a body's points from the origin that is rounding, and
        counts as 0. In packings that cannot move, gaps of one unit in the last place cannot all be
        opened; and over a small step they are velocities.
    farthest: reach [m] above which squares of lengths overflow.
    steps: steps of Newton between two ellipsoids.
    bounds: steps of Gilbert's iteration; what is still within reach by then is searched in full.
    edges: largest number of edges of a polytope for which closed forms with capsules are cheaper
        than coal's search.
    edge_pairs: largest product of the numbers of edges for which trying all pairs is cheaper than
        coal's search.
    threaded: pairs of balls, and contacts to be put in order, that several threads share.
    threaded_search: balls from which the search is shared by threads; for fewer, starting them
        costs more.
    threaded_polytopes: pairs of polytopes that several threads share.
    """

    rounding: float = 1e-12
    exact: float = 1e-13
    equal: float = 1e-9
    parallel: float = 1e-3
    common: float = 1e-6
    flush: float = 1e-6
    aligned: float = 1e-6
    snap: float = 1e-3
    nearer: float = 1e-7
    level: float = 1e-3
    nearly_across: float = 0.98
    realised: float = 1e-11
    gauss: float = 1e-10
    stands_out: int = 100
    flat: float = 1e-14
    wide: float = 0.7
    near: float = 0.02
    gap_rounding: float = 1e-14
    farthest: float = 1e100
    steps: int = 30
    bounds: int = 12
    edges: int = 500
    edge_pairs: int = 100_000
    threaded: int = 100_000
    threaded_search: int = 50_000
    threaded_polytopes: int = 5_000


TOLERANCES = Tolerances()
