"""Up to how much is drawn, listed or kept at once, so that it takes a second and fits in memory."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """
    Attributes
    ----------
    waiting : bytes of steps that wait to be written: quick steps of a large scene would fill
        gigabytes within the ten seconds from one checkpoint to the next.
    packed : number of values above which an array is compressed.
    page : bytes of steps a page carries: browsers open text of about this size within seconds.
    exact : largest number of bodies times steps for which the extent of a page is that of the
        bodies' surfaces.
    surfaces : largest number of balls with surfaces in ParaView, 5 kB and 0.3 ms each a step.
    listed : bodies listed of a scene in a notebook.
    drawn : largest number of bodies that a notebook draws: it takes about a second.
    pairs : pairs of a point and a line that are processed together: some 100 MB.
    intervals : largest number of closed contacts for which the widths of their intervals are
        computed, two linear programs each. Larger systems get their degree and which forces are
        determined.
    cones : the same of rough contacts in space: six second-order cone programs each, of some
        milliseconds.
    rounding : of angles [rad] and cosines at the edges of bins and of chains.
    """

    waiting: int = 64 * 2**20
    packed: int = 256
    page: int = 100_000_000
    exact: int = 20_000
    surfaces: int = 5_000
    listed: int = 12
    drawn: int = 5_000
    pairs: int = 2_000_000
    intervals: int = 1_000
    cones: int = 60
    rounding: float = 1e-9


LIMITS = Limits()
