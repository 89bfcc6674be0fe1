"""What friction adds to a time step: frames, tangential rows, memory of contacts.

Step 1 is solved with exact Coulomb friction, from the forces of the step before, and finds which
contacts slide. Step 2 is one increment of the elastic law from what the closed contacts remember:
contacts that slide in step 1 bear mu f_n against their slip, the others follow their springs. The
first step of a simulation, which remembers nothing, is the unloaded state.

Gaps and overlaps up to the closing tolerance count as none (the slop of physics engines): stuck
contacts outnumber degrees of freedom, and could not all close them.

Memory goes with the contact's key, turned with its normal and with the mean spin of its bodies; a
contact that opens forgets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..bodies import Bodies, State
from ..bodies.materials import MINDLIN
from ..collision.contacts import Contacts
from ..compatibility import ContactHistory, RoughForces, compatible_forces
from ..compatibility.closed import closing_gap
from ..compatibility.friction import contact_friction, contact_tangential_stiffness, has_friction
from ..diagnostics.cones.count import rough_degree
from ..diagnostics.degree import Degree
from ..dynamics import RoughDynamicsResult, contact_dynamics
from ..equilibrium.rows import directions
from ..increments import IncrementResult
from ..kinematics import (
    carry_tangential,
    framed,
    in_frame,
    in_world,
    mean_turn,
    tangential_gradient,
)
from ..status import Status

if TYPE_CHECKING:
    from .result import StepResult
    from .settings import Problem, StepSettings


@dataclass(frozen=True)
class Friction:
    """Friction of pairs of bodies, beside that of their materials.

    pair_friction: {(i, j): mu}, pair_ratio: {(i, j): k_t/k_n} for pairs of bodies.
    tangential_law: "mindlin" or "mindlin/force". increments: of step 2 within a time step.
    """

    pair_friction: dict | None = None
    pair_ratio: dict | None = None
    tangential_law: str = MINDLIN
    increments: int = 1

    def acts_on(self, bodies: Bodies) -> bool:
        """Whether any two bodies have friction between them."""
        return has_friction(bodies, self.pair_friction)


@dataclass(frozen=True)
class Memory:
    """What the contacts of one step hand to those of the next. Tangential vectors in the world.

    force (m,), tangential_force (m, 3) [N]: of the step, from which step 1 starts. normal (m,),
    tangential (m, 3) [N]: ``ContactHistory``; zero where the contact was open. stiffness, energy
    [J], spring_scale: of ``IncrementResult``; 0 of other steps.
    """

    contacts: Contacts
    force: np.ndarray
    tangential_force: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    stiffness: float = 0.0
    energy: float = 0.0
    spring_scale: float = 0.0

    def at(self, contacts: Contacts, velocity: np.ndarray, dt: float) -> "Memory":
        """The memory of these contacts; velocity (n, 6): with which the bodies came here."""
        turn = mean_turn(contacts, velocity, dt)
        return replace(
            self,
            contacts=contacts,
            force=contacts.carry_over(self.contacts, self.force),
            tangential_force=carry_tangential(contacts, self.contacts, self.tangential_force, turn),
            normal=contacts.carry_over(self.contacts, self.normal),
            tangential=carry_tangential(contacts, self.contacts, self.tangential, turn),
        )


def rough_contacts(
    contacts: Contacts, bodies: Bodies, state: State, memory: Memory | None, dt: float
) -> tuple[Contacts, Memory | None]:
    """The contacts with tangents, and what they remember."""
    contacts = framed(contacts, bodies.dim, None if memory is None else memory.contacts)
    return contacts, None if memory is None else memory.at(contacts, state.velocity, dt)


def dynamics(
    problem: "Problem",
    contacts: Contacts,
    B: sp.csr_array,
    memory: Memory | None,
    exists: np.ndarray,
    fewer: tuple[Contacts, RoughDynamicsResult] | None = None,
) -> tuple[RoughDynamicsResult, sp.csr_array, np.ndarray]:
    """Step 1 with friction: (result, T, mu (m,)). exists (m,) bool: for the law of restitution.
    fewer: contacts of a search that fell short, and their answer, from which this one starts."""
    bodies, settings = problem.bodies, problem.settings
    T = tangential_gradient(bodies, problem.state, contacts)
    mu = contact_friction(bodies, contacts, settings.friction.pair_friction)
    start = None
    if fewer is not None:
        found, answer = fewer
        borne = carry_tangential(contacts, found, in_world(found, answer.tangential_force))
        normal = contacts.carry_over(found, answer.force)
        start = np.column_stack([normal, in_frame(contacts, borne)])
    elif memory is not None:
        start = np.column_stack([memory.force, in_frame(contacts, memory.tangential_force)])
    # closed contacts stay as they are: where bodies stick, more contacts than degrees of freedom
    # cannot all close what rounding and earlier steps left, and would pass on forces without end
    bore = np.zeros(len(contacts)) if memory is None else memory.force
    slight = closing_gap(contacts.gap, bore, bodies.length)
    if settings.closed is not None:
        slight = settings.closed * bodies.length
    result = contact_dynamics(
        problem.M,
        B,
        np.where(np.abs(contacts.gap) <= slight, 0.0, contacts.gap),
        problem.velocity,
        problem.external_force,
        problem.dt,
        restitution=settings.restitution,
        exists=exists,
        fixed=~problem.free,
        solver=settings.solver,
        tolerance=settings.tolerance,
        tangential=T,
        friction=mu,
        warm_start=start,
        **(settings.solver_options or {}),
    )
    return result, T, mu


def compatible(found: "StepResult", settings: "StepSettings", memory: Memory | None) -> RoughForces:
    """Step 2 of ``found`` on its closed contacts."""
    bodies, contacts, options = found.bodies, found.contacts, settings.friction
    chosen = np.flatnonzero(found.closed)
    k_t = contact_tangential_stiffness(
        bodies, contacts, found.stiffness, settings.exponent, options.pair_ratio
    )
    history = None
    if memory is not None and (memory.normal.any() or memory.tangential.any()):
        history = ContactHistory(
            memory.normal[chosen], in_frame(contacts, memory.tangential)[chosen]
        )
    return compatible_forces(
        submatrix(found.B, rows=chosen),
        found.load,
        stiffness=found.stiffness[chosen],
        exponent=settings.exponent,
        fixed=~bodies.free.ravel(),
        tolerance=settings.tolerance,
        tangential=_tangential_rows(found, chosen),
        tangential_stiffness=k_t[chosen],
        friction=found.friction[chosen],
        history=history,
        sliding_direction=sliding_direction(found)[chosen],
        increments=options.increments,
        tangential_law=options.tangential_law,
        blocks=bodies.blocks,
    )


def _tangential_rows(found: "StepResult", chosen: np.ndarray) -> sp.csr_array:
    """Rows of T of the contacts ``chosen`` (k,), (d - 1) k of them."""
    each = found.T.shape[0] // max(len(found.contacts), 1)
    return submatrix(found.T, rows=(each * chosen[:, None] + np.arange(each)).ravel())


def sliding_direction(found: "StepResult") -> np.ndarray:
    """Tangential forces of contacts that slide in step 1 (m, d-1), else zero: against the slip, by
    the digits with which step 1 balances."""
    slides = (found.classic.sliding & (found.friction > 0.0))[:, None]
    return np.where(slides, found.classic.tangential_force, 0.0)


def degree(found: "StepResult") -> Degree:
    """Degree of indeterminacy of the closed contacts of ``found``."""
    chosen = np.flatnonzero(found.closed)
    known = np.column_stack([found.classic.force, found.classic.tangential_force])
    mean = 0.5 * (known + np.column_stack([found.force, found.tangential_force]))
    return rough_degree(
        submatrix(found.B, rows=chosen),
        mean[chosen],
        tangential=_tangential_rows(found, chosen),
        friction=found.friction[chosen],
        fixed=~found.bodies.free.ravel(),
        sliding_direction=sliding_direction(found)[chosen],
        blocks=found.bodies.blocks,
    )


def remembered(found: "StepResult") -> Memory | None:
    """What the contacts of the step ``found`` hand on. Without forces of step 2 that balance they
    keep their memory, but for those that slid in step 1, which bear at their bound against it."""
    if found.T is None:
        return None
    if isinstance(found.classic, IncrementResult):
        motion, borne = found.classic, in_world(found.contacts, found.classic.tangential_force)
        return Memory(
            found.contacts,
            motion.force,
            borne,
            motion.trial,
            borne,
            motion.stiffness,
            motion.elastic_energy,
            motion.spring_scale,
        )
    memory, answer = found.memory, found.compatible
    contacts, m = found.contacts, len(found.contacts)
    normal, tangential = np.zeros(m), np.zeros((m, 3))
    if answer is not None and answer.status in (Status.CONVERGED, Status.NO_EQUILIBRIUM):
        if found.closed.any():
            chosen = np.flatnonzero(found.closed)
            history, own = answer.history, contacts.select(chosen)
            normal[chosen], tangential[chosen] = history.normal, in_world(own, history.tangential)
    elif memory is not None:
        normal = np.where(found.closed, memory.normal, 0.0)
        tangential = np.where(found.closed[:, None], memory.tangential, 0.0)
        against = in_world(contacts, directions(found.classic.tangential_force))
        bound = found.friction * np.maximum(normal, 0.0)
        slid = (found.classic.sliding & found.closed)[:, None]
        tangential = np.where(slid, bound[:, None] * against, tangential)
    borne = in_world(contacts, found.tangential_force)
    return Memory(contacts, found.force, borne, normal, tangential)


STORED = ("normal", "tangents")
"""Geometry of contacts that a memory needs beside their keys."""

KEPT = ("force", "tangential_force", "normal", "tangential")
"""Of a memory, contact by contact."""

OF_THE_STEP = ("stiffness", "energy", "spring_scale")
"""Of a memory, of all contacts together."""


def stored(memory: Memory) -> dict[str, np.ndarray]:
    """The memory as arrays, for a checkpoint that holds the keys of its contacts."""
    out = {f"memory_contact_{name}": getattr(memory.contacts, name) for name in STORED}
    out |= {f"memory_{name}": np.array(getattr(memory, name)) for name in OF_THE_STEP}
    return out | {f"memory_{name}": getattr(memory, name) for name in KEPT}


def restored(contacts: Contacts, saved: Mapping[str, np.ndarray]) -> Memory | None:
    """The memory that ``stored`` put away, at contacts with the same keys; None if none."""
    if "memory_force" not in saved:
        return None
    geometry = {name: np.array(saved[f"memory_contact_{name}"]) for name in STORED}
    kept = (np.array(saved[f"memory_{name}"]) for name in KEPT)
    step = (float(saved.get(f"memory_{name}", 0.0)) for name in OF_THE_STEP)
    return Memory(replace(contacts, **geometry), *kept, *step)
