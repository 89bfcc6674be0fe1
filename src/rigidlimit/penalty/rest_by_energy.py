"""The pose of locally least potential energy that is sought from a pose near it (``rest.py``)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..simulation import Simulation
from .least_energy import force_scale, least_energy
from .rest_checks import SETTINGS, stopped, turns_nothing
from .soft_dem import SoftDem
from .squeezed import is_squeezed, parting_strain, stretched


class LeastEnergyRest:
    """Each search returns whether it led to rest. rounds: of least energy, in all. tell(text):
    callback for progress messages."""

    def __init__(self, simulation: Simulation, dem: SoftDem, tell: Callable[[str], None]):
        self.simulation, self.dem, self.tell, self.rounds = simulation, dem, tell, 0

    def from_poured(self) -> bool:
        """From the pose in which a DEM of balls rests, after more of it where that is too far to
        go; of other bodies that of the DEM, which are left to damping from there."""
        bodies = self.simulation.bodies
        if not self.dem.balls:
            self.dem.to_rest(SETTINGS.settled[-1])
            return turns_nothing(bodies) and self._rounds(SETTINGS.begin)
        if is_squeezed(bodies):
            return self._from_squeezed()
        for tolerance in SETTINGS.settled:
            self.dem.to_rest(tolerance)
            if self._rounds(self._part_of_heaviest() * SETTINGS.begin):
                return True
        return False

    def _from_squeezed(self) -> bool:
        """The same of balls under the stress of a cell, by a DEM that is soft at first, and stiffer
        where rounds from its rest slide: a DEM is at the end of a slide sooner."""
        bodies, scale = self.simulation.bodies, self.dem.softness(SETTINGS.sunk)
        begin, tolerance = SETTINGS.parted, SETTINGS.roughly
        for _ in range(SETTINGS.harder):
            self.dem.renew(scale)
            if self.dem.run(tolerance) <= SETTINGS.near_under_stress:
                parted = parting_strain(bodies, self.dem.borne[0])
                if self._from_loosened(parted, begin, SETTINGS.sliding_rounds):
                    return True
                begin /= SETTINGS.stiffer
            scale, tolerance = SETTINGS.stiffer * scale, SETTINGS.settled[0]
        return False

    def from_present_contacts(self) -> bool:
        """From the pose of the last step and its forces; if that fails nothing changes."""
        simulation = self.simulation
        before, last = simulation.checkpoint(), simulation.last
        if is_squeezed(self.simulation.bodies):
            found = self._from_loosened(SETTINGS.loosened, SETTINGS.roomy, SETTINGS.rounds)
        else:
            self.dem.borne = last.contacts, last.classic.force
            found = self._rounds(self._part_of_heaviest() * SETTINGS.begin)
        if not found:
            simulation.restore(before)
        return found

    def _from_loosened(self, strain: float, begin: float, rounds: int) -> bool:
        """Of bodies under a stress, from where they have room: the cell is stretched a little,
        which undoes overlaps at once."""
        simulation = self.simulation
        simulation.state = stretched(simulation.bodies, simulation.state, strain)
        self.dem.borne = None
        return self._rounds(begin, rounds)

    def _part_of_heaviest(self) -> float:
        """The usual contact force, as the DEM has it, over the heaviest load; 1 at most."""
        if self.dem.borne is None or not self.dem.borne[1].any():
            return 1.0
        force, simulation = self.dem.borne[1], self.simulation
        heaviest = force_scale(simulation.bodies, simulation.state, simulation.external_force)
        return float(np.clip(np.median(force[force > 0.0]) / heaviest, SETTINGS.least, 1.0))

    def _rounds(self, begin: float, most: int = SETTINGS.rounds) -> bool:
        """Whether rounds of least energy led from the present pose to rest; mu begins there."""
        simulation = self.simulation
        found = least_energy(
            simulation.bodies,
            simulation.state,
            simulation.external_force,
            start=self.dem.borne,
            begin=begin,
            max_rounds=most,
            callback=lambda text: self.tell(f"least potential energy, {text}"),
        )
        self.rounds += found.rounds
        if found.converged:
            # others come within what else counts as closed, see ``rest.py``
            simulation.settings = replace(simulation.settings, closed=SETTINGS.closed)
        velocity = stopped(simulation.state, simulation.bodies).velocity
        simulation.start_from(found.state.moved(velocity=velocity), found.contacts, found.force)
        return found.converged
