"""Sizes and tolerances that the diagnostics of smooth and of rough contacts share."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """Parts are of loads or forces of order one.

    balanced: largest imbalance over the largest load of admissible forces.
    doubtful: factor between a value and its threshold below which a degree is in doubt.
    free_of: fraction of a self-stress below which a contact counts as free of it.
    ray: rank tolerance where rays of cones in space are among the faces: the accuracy of programs.
    dense: largest number of contacts, or generators of cones, for which self-stresses come from a
        dense decomposition.
    agreed: distance of bounds and forces reached, over the largest force, at which they have met.
    exact_size: largest number of contacts that can carry force for which linear programs are used
        with intervals="auto", where bounds do not meet the forces reached.
    all_intervals: largest number of undetermined contacts that all get their interval if none are
        chosen.
    all_intervals_in_cones: the same with friction.
    solved: gap and residuals required of conic solvers.
    accepted: gap and residual, over the larger of 1 and the forces, with which an answer is still
        one; sharp: those with which no other way is tried.
    great: most that forces count in the measure of their own residual.
    refuted: what a certificate leaves outside its cones, for a unit of work: no forces below its
        inverse, in units of the load, are admissible then.
    in_balance: imbalance, and distance from the cones, over the largest force, with which forces
        show that some balance: friction that they need is known to some hundred times that.
    rounding: imbalance, over the largest force, that is not corrected.
    bears: fraction of the largest force above which a force is active, or is below its bound.
    cap: most that a contact may add to the sum, over the largest load: none shall pay for the
        others.
    unloaded: force, over the largest load, below which a contact counts as unable to carry.
    decided: distance from 0 or 1 below which an indicator counts as that value.
    rounds: programs after which the search for contacts that can carry ends early.
    rescalings: restarts of that search in units of the forces found; alike: ratio of old and new
        units below which none is needed.
    most_friction: largest factor of friction that is tried.
    least_friction: smallest one: where a squeeze is enough, as of a block between walls, any
        friction will do, with forces that grow as it falls.
    no_factor: load factor that is none: rounding of the programs.
    moves: fraction of the largest displacement at a contact above which it counts as opening or
        sliding.
    """

    balanced: float = 1e-8
    doubtful: float = 1e3
    free_of: float = 1e-6
    ray: float = 1e-5
    dense: int = 1500
    agreed: float = 1e-6
    exact_size: int = 30_000
    all_intervals: int = 2000
    all_intervals_in_cones: int = 300
    solved: float = 1e-11
    accepted: float = 1e-7
    sharp: float = 1e-9
    great: float = 1e2
    refuted: float = 1e-9
    in_balance: float = 1e-11
    rounding: float = 1e-13
    bears: float = 1e-8
    cap: float = 1e-2
    unloaded: float = 1e-7
    decided: float = 1e-3
    rounds: int = 50
    rescalings: int = 3
    alike: float = 1e4
    most_friction: float = 1e4
    least_friction: float = 1e-4
    no_factor: float = 1e-10
    moves: float = 1e-6


TOLERANCES = Tolerances()
