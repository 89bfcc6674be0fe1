"""Rest of rigid bodies, for scenes that contact dynamics alone does not bring there.

Smooth bodies may slide and spin for ever, and a random packing creeps to rest over thousands of
steps, as every contact that opens or closes sets it moving again. ``settle`` ends such motion: by
kinetic damping (all bodies are stopped whenever the kinetic energy falls), and balls by their
pose of locally least potential energy. Neither can end anywhere but at rest, and contact dynamics
has the last word: ``Simulation.at_rest``, from zero velocities.

Only contacts that the rest closes may bear. The least energy closes them to 1e-12 of the scene's
length, and in a packing of thousands of balls others come within a millionth of it, the distance
up to which contact dynamics counts a contact as closed by default. One such contact makes a just
determinate packing indeterminate, and the forces, shared out, are no longer those of the limit:
``settle`` asks for ``CLOSED`` instead.

Balls. A pose at rest has


    F_ext + B^T f = 0,   0 <= f  _|_  Phi >= 0,

the conditions of a least potential energy among poses without overlap. ``rest_pose``: from a pose
near it, each round solves

    max over d of F_ext . d   subject to   Phi + B d >= 0,   |d_j| <= r l,

and moves by d (l: the scene's length, r: ``TRUST``). Balls are round, so that contacts curve away
from each other and the least energy lies in a corner of the set of poses, where as many contacts
bear as there are degrees of freedom: there the rounds converge as Newton's method does. Shapes
that can roll to the foot of a valley rest elsewhere; they are left to damping.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog

from .. import arrays
from ..bodies import Bodies, Disk, HalfSpace, Sphere, State
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..constraints import gap_gradient
from ..errors import InputError
from ..simulation import Simulation
from ..words import counted
from .simulation import PenaltySimulation

TRUST = 0.05
"""Longest way of a body in one round over the scene's length, in each direction."""

GAIN = 1e-9
"""Energy of a round over the heaviest load times the scene's length below which it is the last."""

CLOSED = 1e-9
"""Gap over the scene's length up to which a contact counts as closed in a least-energy pose."""

SOFT = (1e-4, 1e-3)
"""Stiffness scales at which the DEM settles a packing, one after the other: soft is quick."""

GONE = 30.0
"""Way of a body that touches nothing, over the scene's length, from which on it falls for ever."""

SETTLED = 1e-4
"""Unbalanced force over the heaviest load at which the soft DEM ends."""

TRIES = 3
"""How often a packing that compacts too long for linear programs goes through the DEM."""

PRECISE = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "ipm_optimality_tolerance": 1e-12,
}


@dataclass(frozen=True)
class Rest:
    """A scene at rest. simulation: contact dynamics that has just made a step without moving, from
    zero velocities unless ``alone``. alone: it came to rest by itself. how: in words."""

    simulation: Simulation
    alone: bool
    how: str


def settle(
    scene,
    *,
    by: str = "dynamics",
    max_steps: int = 5000,
    callback: Callable[[str], object] | None = None,
) -> Rest:
    """Bring a scene to rest, also where smooth bodies would slide, spin or creep for ever.

    scene: a ``Scene``, the name of one in the gallery, a TOML file, or a ``Simulation``, which goes
    on from its state, with the loads and gravity that were set, and is at rest afterwards. by:
    "dynamics", contact dynamics for the scene's duration; or "dem", a soft DEM, quicker for random
    packings of a thousand balls or more that have not far to fall. What still moves then is
    stopped, see the head of this file. max_steps: of contact dynamics. callback(text): how it goes.

    >>> import rigidlimit
    >>> rest = rigidlimit.settle("pile-2d")
    >>> rest.simulation.at_rest
    True
    >>> forces = rest.simulation.step(compatible=True).force
    """
    if by not in ("dynamics", "dem"):
        raise InputError(f"by is {by!r}; expected 'dynamics' or 'dem'")
    given = isinstance(scene, Simulation)
    if given and by == "dem":
        raise InputError(
            "by is 'dem' and a Simulation is given; expected by='dynamics': the DEM does not know "
            "of loads that were set since the beginning"
        )
    if not (1 <= arrays.number(max_steps) < np.inf):
        raise InputError(f"max_steps is {max_steps!r}; expected a number of steps, 1 or more")
    max_steps = int(max_steps)
    simulation = scene if given else Simulation(scene, compatible="never")
    scene = simulation.scene

    def tell(text):
        if callback is not None:
            callback(text)

    balls = _turns_nothing(simulation.bodies)
    how = "contact dynamics"
    if by == "dynamics":
        free_steps = int(np.ceil(scene.duration / simulation.dt)) + 50
        last = simulation.steps + min(free_steps, max_steps)
        while simulation.steps < last and not simulation.at_rest:
            tell(f"{how}, {simulation.step(compatible=False).summary}")
        if simulation.at_rest:
            return Rest(simulation, True, how)
    else:
        how = "DEM"
        simulation.state = _by_dem(scene, None, SOFT, SETTLED, tell)
    if not balls:
        how += ", then contact dynamics with kinetic damping"
        _stop_all(simulation, max_steps, lambda result: tell(f"{how}, {result.summary}"))
        return Rest(simulation, False, how)
    how += ", then least potential energy"
    simulation.settings = replace(simulation.settings, closed=CLOSED)
    for again in range(TRIES):
        if again:
            # still compacting, which programs do in small steps only
            state = simulation.state
            tolerance = SETTLED * 0.1**again
            simulation.state = _by_dem(scene, state, SOFT[-1:], tolerance, tell)
        simulation.start_from(
            *rest_pose(
                simulation.bodies,
                simulation.state,
                simulation.external_force,
                max_rounds=400 if by == "dynamics" else 40,
                callback=lambda text: tell(f"least potential energy, {text}"),
            )
        )
        if by == "dynamics" or again == TRIES - 1:
            _stop_all(simulation, max_steps, lambda result: tell(f"{how}, {result.summary}"))
            break
        simulation.step(compatible=False)
        if simulation.at_rest:
            break
    return Rest(simulation, False, how)


def _turns_nothing(bodies: Bodies) -> bool:
    """Whether turning moves no contact: of balls, and of others that are held against it."""
    turns = bodies.free[:, 3:].any(axis=1)
    return bool((~turns | bodies.are(Sphere, Disk)).all())


def _by_dem(scene, state: State | None, scales, tolerance: float, tell) -> State:
    """The pose in which a soft DEM rests, at one stiffness scale after the other."""
    for scale in scales:
        dem = PenaltySimulation(
            scene, state=state, stiffness_scale=scale, restitution=0.3, rest_tolerance=tolerance
        )
        ran = dem.run(callback=lambda p, s=scale: tell(f"DEM, stiffness x {s:g}, {p.text}"))
        state = _stopped(ran.state)
    return state


def _stop_all(simulation: Simulation, max_steps: int, tell) -> None:
    """Contact dynamics in which all bodies stop whenever the kinetic energy falls."""
    bodies = simulation.bodies
    mass = bodies.mass[:, None] * bodies.turning_arm**2 * bodies.free
    before, first, begun = 0.0, simulation.steps, simulation.state.position
    for _ in range(max_steps):
        result = simulation.step(compatible=False)
        tell(result)
        if simulation.at_rest:
            return
        way = np.linalg.norm(simulation.state.position - begun, axis=1)
        body = int(way.argmax())
        if way[body] > GONE * bodies.length and body not in result.contacts.body:
            break
        v = simulation.state.velocity
        energy = float((mass * v * v).sum())
        if energy < before:
            simulation.state, energy = _stopped(simulation.state), 0.0
        before = energy
    raise InputError(
        f"scene {simulation.scene.name!r} is not at rest after "
        f"{counted(simulation.steps - first, 'damped step')} of {simulation.dt:g} s, and "
        f"{bodies.names[body]!r} has gone {way[body]:.3g} m; expected a scene that comes to rest: "
        "bodies that rest on something, walls or a floor that hold them"
    )


def _stopped(state: State) -> State:
    return state.moved(velocity=np.zeros_like(state.velocity))


def rest_pose(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    *,
    max_rounds: int = 80,
    callback: Callable[[str], object] | None = None,
) -> tuple[State, Contacts, np.ndarray]:
    """Pose near ``state`` in which balls among half-spaces are at rest, with zero velocities.

    external_force (6 n,) [N]. callback(text): told of each round. Returns also the near contacts
    and their forces [N], the multipliers of the last round. The answer is to be judged by a step
    of contact dynamics, which must not move: after ``max_rounds`` it is as good as it got.
    """
    free = bodies.free.copy()
    free[:, 3:] = False
    dofs = np.flatnonzero(free.ravel())
    force = external_force[dofs]
    load, length = np.abs(force).max(initial=0.0), bodies.length
    if load == 0.0:
        raise InputError("no body is loaded; expected gravity or loads that press bodies together")
    solid = ~bodies.are(HalfSpace)
    trust, before, fails = TRUST, np.inf, 0
    for k in range(max_rounds):
        # no two bodies can meet in a round that are not listed: each moves sqrt(3) r l at most
        contacts = find_contacts(bodies, state, np.where(solid, 1.8 * trust * length, 0.0))
        B = gap_gradient(bodies, state, contacts)[:, dofs]
        answer = linprog(
            -force / load,
            A_ub=-B,
            b_ub=contacts.gap / length,
            bounds=(-trust, trust),
            method="highs-ipm",
            options=PRECISE,
        )
        if answer.x is None:
            # overlaps that one round cannot resolve
            trust, fails = 2 * trust, fails + 1
            if fails > 4:
                raise InputError(f"bodies overlap too much to part them: {answer.message}")
            continue
        way = np.zeros(6 * len(bodies))
        way[dofs] = length * answer.x
        state = state.moved(position=state.position + way.reshape(-1, 6)[:, :3])
        overlap = -contacts.gap.min(initial=0.0) / length
        if callback is not None:
            callback(
                f"round {k + 1}: {len(contacts)} near contacts, energy still gained "
                f"{-answer.fun:.0e}, longest way {np.abs(answer.x).max():.0e}"
            )
        # two rounds: parting overlaps costs energy, which may cancel a gain
        if overlap <= GAIN and max(abs(answer.fun), abs(before)) <= GAIN:
            break
        before = answer.fun
    return _stopped(state), contacts, -load * answer.ineqlin.marginals
