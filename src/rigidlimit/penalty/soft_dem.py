"""The DEM that takes a scene near its rest: as soft as the scene allows, then stiffer."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..simulation import Simulation
from ..step.apart import moved_apart, near_contacts
from .rest_checks import SETTINGS, stopped, sunk_by
from .run import TooSoft
from .simulation import PenaltySimulation
from .squeezed import is_squeezed, largest_loads, softness


class SoftDem:
    """The DEM of a scene that ``settle`` brings to rest.

    round: whether all bodies that move are balls, without moments. tell(text): how it goes. borne:
    (contacts, forces (m,) [N]) at its last rest, or None. stopped: who moved on under balanced
    forces on the way there, in words. running: whether it is on its way.
    """

    def __init__(self, simulation: Simulation, round: bool, tell: Callable[[str], None]):
        self.simulation, self.round, self.tell = simulation, round, tell
        self.rough, self.balls = simulation.rough, round and not simulation.rough
        self.dem: PenaltySimulation | None = None
        self.running, self.borne, self.stopped = False, None, ""

    def to_rest(self, tolerance: float):
        """The pose of rest of the softest DEM that the scene allows; for balls, which continue by
        least energy, one that is near that of rigid balls. Continues from its last state."""
        sunk = self._by_softest(tolerance) if self.dem is None else self.run(tolerance)
        if self.balls and SETTINGS.near < sunk < np.inf:
            self.renew(SETTINGS.stiffer * self.dem.stiffness_scale)
            self.run(tolerance)

    def _by_softest(self, tolerance: float) -> float:
        """How far bodies sink at rest in the softest applicable DEM, see ``run``."""
        simulation, scales = self.simulation, SETTINGS.soft
        while True:
            self.renew(scales[0])
            scales = scales[1:]
            scale, sunk = self.dem.stiffness_scale, self.run(tolerance)
            if sunk <= SETTINGS.sunk or not scales:
                return sunk
            if sunk < np.inf:
                # c = (f/k)^(1/(p-1)): passing over scales that would not do
                enough = scale * (sunk / SETTINGS.sunk) ** (simulation.settings.exponent - 1.0)
                scales = tuple(each for each in scales if each >= enough) or scales[-1:]

    def run(self, tolerance: float) -> float:
        """How far bodies sink (``sunk_by``) where the DEM comes to rest; inf, and no DEM is left,
        if it was too soft."""
        simulation, dem = self.simulation, self.dem
        dem.rest_tolerance, self.running = tolerance, True
        try:
            ran = dem.run(
                max_steps=SETTINGS.dem_steps if self.balls else 50_000_000,
                callback=lambda p: self.tell(f"DEM, stiffness x {dem.stiffness_scale:g}, {p.text}"),
            )
        except TooSoft:
            if dem.stiffness_scale == SETTINGS.soft[-1] and not (self.balls or self.rough):
                raise
            self.dem = None
            return np.inf
        finally:
            self.running = False
        self.stopped = ran.stopped
        simulation.state = stopped(ran.state, simulation.bodies)
        self.borne = ran.contacts, np.maximum(ran.force, 0.0)
        return sunk_by(ran.contacts, simulation.bodies)

    def renew(self, scale: float):
        """A DEM of this stiffness, from the present pose."""
        simulation = self.simulation
        damping = {"restitution": 0.3}
        # in a cell nothing but damping holds what lies loose
        if self.balls or is_squeezed(simulation.bodies):
            _, pull = largest_loads(simulation.bodies, simulation.external_force)
            calm = float(SETTINGS.calm * np.sqrt(pull / simulation.bodies.length))
            damping = {"restitution": SETTINGS.bounce, "background": calm, "quenches": False}
        given = {"external_force": simulation.external_force}
        if simulation.bodies.cell is not None:  # it may be prescribed another stress by now
            scene, given = simulation.scene_now(), {}
        else:
            scene = simulation.scene
        self.dem = PenaltySimulation(
            scene, state=simulation.state, stiffness_scale=scale, **given, **damping
        )

    def softness(self, sunk: float) -> float:
        """Stiffness scale of a DEM to begin with; of balls under a stress, which sink by ``sunk``
        of their radius."""
        simulation = self.simulation
        if not (self.round and is_squeezed(simulation.bodies)):
            return SETTINGS.soft[0]
        pairs, exponent = simulation.scene.pair_stiffness, simulation.settings.exponent
        return softness(simulation.bodies, exponent, pairs, sunk)

    def rough_to_rest(self):
        """The pose in which a DEM with friction rests, poured again where it was too soft, its
        contacts with their forces and springs."""
        simulation, scale = self.simulation, self.softness(SETTINGS.near)
        begun = simulation.state
        if simulation.memory is None:  # deep overlaps would throw bodies about
            near = near_contacts(simulation.bodies, begun)
            begun, _ = moved_apart(simulation.bodies, begun, simulation.settings, near)
        while True:
            simulation.state = begun
            self.renew(scale)
            sunk = self.run(SETTINGS.balanced)
            if sunk <= SETTINGS.near:
                break
            # c = (f/k)^(1/(p-1)), and a little more than enough
            deeper = 2.0 * sunk / SETTINGS.near if sunk < np.inf else SETTINGS.stiffer
            scale *= deeper ** (simulation.settings.exponent - 1.0)
        deepest = -float(self.borne[0].gap.min(initial=0.0))
        closed = max(1.01 * deepest / simulation.bodies.length, SETTINGS.closed)
        simulation.settings = replace(simulation.settings, closed=closed)
        # with contacts that are open by as little, which remember that
        ran = self.dem.run(self.dem.time, closed=closed)
        simulation.start_from(simulation.state, ran.contacts, ran.force, history=ran.history)
