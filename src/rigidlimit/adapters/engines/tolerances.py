"""Thresholds for rounding, weakly constrained motions and notes on an engine's step."""

from dataclasses import dataclass

from ...conditioning.tolerances import TOLERANCES as CONDITIONING
from ...linear.column_scaling import ROUNDING, ZERO


@dataclass(frozen=True)
class Tolerances:
    """Parts are relative, of what each says.

    Attributes
    ----------
    rounding : part of a row of B, of a motion or of its load that counts as zero exactly.
    link_rounding : the same once rigid links have changed the motions.
    pull : fraction of the largest force below which pulling ones are an engine's rounding.
    touching : gap over the size of a contact's bodies (``places``) below which it is closed.
    unresisted : fraction of the largest load below which one that no contact resists is rounding.
    sure : singular value of one body's rows, over the largest, that its square resolves reliably.
    slight : the same of several bodies together, however coarse an engine's geometry: tall stacks
        and long rows tip and bend with 1e-3 and less, and are to be held all the same.
    long : displacements over overlaps above which motions of several bodies are looked for.
    far : the same where it can only be reported, whatever the units of turns.
    most : largest number of entries, zeros included, of connected bodies for which that is done:
        0.1 s.
    lever : factor for anchors close together, which amplify a position error beyond the size of a
        mechanism.
    least_accurate : the least accuracy assumed for links.
    blunt : changes of gaps by motions are noise below the accuracy of links, at most this.
    stopped : residual of an engine's solver over the largest force above which it is reported.
    soft : position error of an equality, over the size of its mechanism, above which it is
    reported.
    slow : the same of its time 1/sqrt(k) [s].
    at_limit : part of a constraint's largest force from which it is no rigid link: PyBullet bounds
        each of its rows, and reports sums of them.
    same_state : largest residual over the right-hand side at which rows and forces are of one
    state.
    steps : largest motion since the contacts were found, over that of one step, to count as one
    step.
    still : motion over the extent of the model that is rounding.
    aside : part of the size of a link by which its contact points may be off its bounding box;
        in models of pybullet_data they are within it, but for a step's motion.
    single : accuracy of geometry in single precision, after a few operations.
    stale : accuracy where Bullet keeps the normals of contact points that it does not find anew.
    diverged : largest force over the weight of the model above which the weight is lost in the
        rounding of forces, to 1e-4 and more.
    """

    rounding: float = ZERO
    link_rounding: float = ROUNDING
    pull: float = 1e-9
    touching: float = 1e-5
    unresisted: float = 1e-10
    sure: float = 1e-5
    slight: float = 1e-6
    long: float = CONDITIONING.relevant / CONDITIONING.weak
    far: float = 1e6
    most: int = CONDITIONING.most_entries
    lever: float = 10.0
    least_accurate: float = 1e-2
    blunt: float = 1e-3
    stopped: float = 1e-3
    soft: float = 0.02
    slow: float = 0.1
    at_limit: float = 0.5
    same_state: float = 1e-9
    steps: float = 2.0
    still: float = 1e-6
    aside: float = 0.02
    single: float = 1e-5
    stale: float = 1e-4
    diverged: float = 1e12


TOLERANCES = Tolerances()
