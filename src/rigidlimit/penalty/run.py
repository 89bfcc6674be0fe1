"""The loop of one run of the penalty method: looks at its measures between bunches of steps."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..kinematics import framed
from ..status import Status
from ..step.motion import motion
from .engine import Measures
from .friction import contact_history
from .rest_criterion import RestCriterion, RestWatch
from .result import PenaltyProgress, PenaltyResult

if TYPE_CHECKING:
    from .simulation import PenaltySimulation


@dataclass(frozen=True)
class Settings:
    """Of the loop of a run.

    safety: time step chosen over the critical one.
    too_deep: overlap over the scene's length at which contacts are too soft to go on.
    early_looks: first checks, in which overlaps are looked at.
    late_looks: then in one of so many.
    check_every: steps between two looks at the energies, the critical step and the rest criterion.
    """

    safety: float = 0.8
    too_deep: float = 0.2
    early_looks: int = 10
    late_looks: int = 50
    check_every: int = 200


SETTINGS = Settings()


class TooSoft(InputError):
    """Bodies sink so far into each other that they are no longer those of the scene."""


class Run:
    """One run of ``sim`` to a time, or to rest."""

    def __init__(self, sim: "PenaltySimulation", until: float | None, max_steps: int):
        self.sim, self.until, self.last = sim, until, sim.steps + max_steps
        self.clock, self.began = time.perf_counter(), sim.time
        length = sim.bodies.length
        self.criterion = RestCriterion(sim.rest_tolerance, sim.load_size, sim.pull, length)
        rough = sim.law.friction is not None
        self.watch = RestWatch(self.criterion, sim.engine.kind, sim.steps, rough=rough)
        self.stopped = ""

    @property
    def seconds(self) -> float:
        """Wall clock since it began [s]."""
        return time.perf_counter() - self.clock

    def to_its_end(
        self, callback: Callable[[PenaltyProgress], object] | None, closed: float
    ) -> PenaltyResult:
        """See ``PenaltySimulation.run``."""
        looks, status = 0, None
        while status is None:
            early = looks < SETTINGS.early_looks or looks % SETTINGS.late_looks == 0
            if self.until is None and early:
                self._check_overlap()
            looks += 1
            measured, left = self._measured(), self.last - self.sim.steps
            status = self._status(left)
            if status is None:
                dt = self._advance(left, measured)
                if callback is not None and callback(self._progress(dt, measured)):
                    status = Status.MAX_ITERATIONS
        return self._result(status, measured, closed)

    def _measured(self) -> Measures:
        """Present measures, recorded by the watch; bodies that drift forever are stopped first."""
        sim, watch = self.sim, self.watch
        measured = sim.engine.measures()
        drifts = watch.drifts(measured, sim.steps, sim.dt)
        stop = self.until is None and sim.background is not None and drifts
        if stop:
            self.stopped = motion(sim.bodies, None, sim.state, sim.scene.dt) or self.stopped
            sim.engine.stop()
            measured = sim.engine.measures()
        watch.note(measured, sim.steps, stopped=stop)
        return measured

    def _status(self, left: int) -> Status | None:
        """How the run ended, None if it continues; left: steps that it may still make."""
        sim, until = self.sim, self.until
        if until is None:
            if self.watch.at_rest and sim.engine.settled():
                return Status.CONVERGED
            if self.watch.stalled:
                return Status.STALLED
        elif sim.time >= until - 1e-9 * sim.dt:
            return Status.CONVERGED
        return None if left > 0 else Status.MAX_ITERATIONS

    def _advance(self, left: int, measured: Measures) -> float:
        """Makes at most ``left`` steps up to the next look; returns their size [s]."""
        sim, until = self.sim, self.until
        sim.dt = dt = step_size(sim, measured.speed)
        steps = min(SETTINGS.check_every, left)
        if until is None:
            rate = 0.0 if sim.background in ("quench", None) else sim.background
            quench = sim.quenches and sim.background is not None and self.criterion.slow(measured)
            sim.steps += sim.engine.advance(steps, dt, float(rate), quench)
            return dt
        way = until - sim.time
        # with a free step the last ones end at ``until``; with a given one, just past it
        whole = int(np.ceil(way / dt - 1e-9))
        dt = dt if sim.fixed_dt else way / max(whole, 1)
        sim.steps += sim.engine.advance(max(1, min(steps, whole)), dt, 0.0, False)
        return dt

    def _progress(self, dt: float, measured: Measures) -> PenaltyProgress:
        """What a callback sees; measured: before the last steps, as the watch was."""
        sim, until, watch = self.sim, self.until, self.watch
        if until is None:
            fraction = watch.fraction
        else:
            fraction = (sim.time - self.began) / (until - self.began)
        seconds = self.seconds
        left = seconds * (1 - fraction) / fraction if fraction > 0 else np.inf
        return PenaltyProgress(
            sim.time, dt, sim.steps, fraction, seconds, left, watch.unbalanced, measured
        )

    def _result(self, status: Status, measured: Measures, closed: float) -> PenaltyResult:
        """With contacts of gaps up to ``closed`` over the scene's length."""
        sim, watch = self.sim, self.watch
        contacts, force = sim.engine.contact_forces(closed * sim.bodies.length)
        contacts = framed(contacts, sim.bodies.dim)
        tangential = sim.engine.tangential_forces(contacts)
        return PenaltyResult(
            scene=sim.scene,
            state=sim.state,
            contacts=contacts,
            force=force,
            tangential=tangential,
            history=contact_history(sim.bodies, sim.law, contacts, tangential),
            kinetic_energy=measured.kinetic_energy,
            elastic_energy=measured.elastic_energy,
            unbalanced=watch.unbalanced,
            steps=sim.steps,
            dt=sim.dt,
            status=status,
            at_rest=watch.at_rest,
            seconds=self.seconds,
            rest_tolerance=sim.rest_tolerance,
            stopped=self.stopped,
        )

    def _check_overlap(self) -> None:
        """Bodies that sink far into each other are no longer those of the scene."""
        sim = self.sim
        contacts, _ = sim.engine.contact_forces(0.0)
        deepest = -float(contacts.gap.min(initial=0.0))
        if deepest > SETTINGS.too_deep * sim.bodies.length:
            a, b = contacts.body[int(contacts.gap.argmin())]
            names = sim.bodies.names
            raise TooSoft(
                f"{names[a]!r} and {names[b]!r} overlap by {deepest:.2g} m at t = "
                f"{sim.time:.3g} s, bodies measure {sim.bodies.length:.2g} m: the contacts are "
                "too soft for these loads; raise the stiffness (Material, pair stiffness in N/m) "
                "or stiffness_scale"
            )


def step_size(sim: "PenaltySimulation", speed: float) -> float:
    """Time step [s] for bodies that are as fast as ``speed`` [m/s] at most.

    Raises InputError where the one that is given is above the critical one.
    """
    limit = sim.engine.limit()
    if sim.fixed_dt is not None:
        if sim.fixed_dt > limit:
            raise InputError(
                f"dt is {sim.fixed_dt:.4g} s; expected at most {limit:.4g} s, the critical "
                f"step of these masses, stiffnesses (scale {sim.law.scale:g}) and damping; "
                "take dt=None, a smaller dt or a smaller stiffness_scale"
            )
        return sim.fixed_dt
    return SETTINGS.safety * min(limit, _travel_step(sim, speed))


def _travel_step(sim, speed: float) -> float:
    """Time [s] in which a free body moves by a hundredth of the scene's length."""
    small = 1e-2 * sim.bodies.length
    fall = np.sqrt(2 * small / sim.pull) if sim.pull > 0 else np.inf
    return min(fall, small / speed if speed > 0 else np.inf, sim.scene.dt)
