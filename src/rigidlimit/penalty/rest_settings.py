"""How a scene is brought to rest (``rest.py``): when one way ends and the next begins."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Steps of contact dynamics, rounds of least energy with their mu, tries of the DEM.

    closed: largest gap over the scene's length of a closed contact in a least-energy pose.
    carried: largest unbalanced part of the loads, summed over bodies, at which contacts carry
    them: a tenth and less in a packing that creeps, a half in one that slides, all of it in one
        that falls.
    close: largest gap over the smaller one's radius at which bodies count as near, and not as
        poured loosely.
    creeps: steps of contact dynamics in which contacts carry the loads, less those in which they do
        not, after which what is left of motion is creeping and the least energy is searched for.
    soft: stiffness scales of the DEM: the softest is the quickest. The next one where bodies sink
        too far into each other, as those that fall from high, or lie under many others.
    sunk: overlap over the smaller one's radius, at rest, that is too far.
    near: overlap over the smaller one's radius, at rest, from which rounds of least energy still
        find the rest of rigid balls nearby.
    stiffer: factor by which a DEM of balls that sink further becomes stiffer: to part them moves
        others a hundred times as far, and a packing that is moved so far slides anew.
    settled: unbalanced force over the heaviest load at which the DEM ends, by tries: the next one
        where the packing had not come to rest yet, and only looked so between two slides.
    balanced: the same where rough bodies go on with the forces of the DEM: speeds at rest are a
        millionth of a free fall's at most, and balls that roll freely gather them step by step.
    begin: initial mu from there, where contact forces usually are as large as the heaviest load;
        less where that is a lid, or few balls are far heavier than most: with more, contacts of the
        others would be pushed apart first.
    loosened: strain by which a cell is stretched before rounds under its stress begin.
    roomy: mu then, which keeps as much room between bodies: what follows the path from there seldom
        slides.
    parted: mu where it is stretched by the overlaps of a DEM alone, which has slid already.
    near_under_stress: largest overlap over the smaller one's radius at which that is tried.
    roughly: unbalanced force at which a DEM of a stress ends that is to be made stiffer.
    harder: how often it may be.
    sliding_rounds: rounds of least energy in which a packing that does not slide is at rest: 40 to
        70.
    least: least part of the heaviest load that mu begins with, well above its end.
    calm: rate of background damping of the DEM of balls over sqrt(g/l), of a fall by the scene's
        length l. Slides of a whole packing end where their own inertia takes them: stops of all
        bodies, or stronger damping, leave it between two slides, where rounds of least energy set
        it off again.
    bounce: restitution of that DEM: weaker dampers of the contacts also allow longer steps.
    dem_steps: most steps of the DEM in one try.
    rounds: most rounds of least energy in a search; a hundred are the rule, several where packings
        slide.
    stops: stops of all bodies without a lower kinetic energy after which damping is given up:
        bodies that come to rest take one or two at most.
    last: most steps for the remaining overlaps of a scene at rest: large loads press them into
        small bodies, and each step reduces them to a hundredth.
    rises: part by which the kinetic energy must grow in a step, or all bodies are stopped. Bodies
        in free fall gain more; a smooth box that spins on the floor keeps its energy forever.
    gone: displacement of a body that touches nothing, over the scene's length, above which it
        falls forever.
    """

    closed: float = 1e-9
    carried: float = 0.1
    close: float = 1e-2
    creeps: int = 50
    soft: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    sunk: float = 1e-2
    near: float = 5e-4
    stiffer: float = 10.0
    settled: tuple[float, ...] = (1e-2, 1e-3, 1e-4)
    balanced: float = 1e-8
    begin: float = 1e-4
    loosened: float = 1e-2
    roomy: float = 0.1
    parted: float = 1e-3
    near_under_stress: float = 3e-3
    roughly: float = 0.1
    harder: int = 6
    sliding_rounds: int = 80
    least: float = 1e-4
    calm: float = 0.3
    bounce: float = 0.7
    dem_steps: int = 300_000
    rounds: int = 1000
    stops: int = 60
    last: int = 5
    rises: float = 1e-6
    gone: float = 30.0


SETTINGS = Settings()
