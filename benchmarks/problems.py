"""Problems of the benchmarks: the two solves of a step as plain arrays, at any size.

Pyramids are built directly from the lattice, without a scene and without a contact search: unit
spheres of unit mass under unit gravity (compatible forces) or GRAVITY (contact dynamics), the base
layer held. Scenes of the library give the problems of packings, columns and boxes (``replay``).
"""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.bodies.mass import mass_matrix
from rigidlimit.compatibility.closed import CLOSED
from rigidlimit.dynamics.problem import ContactProblem
from rigidlimit.penalty.rest import settle as settle_scene

from .measure import Answer, Clock, measure, told

GRAVITY = 9.81


@dataclass(frozen=True)
class Compatibility:
    """Eq. 36: B (m, n), load (n,), stiffness (m,) with largest 1, exponent p."""

    name: str
    B: sp.csr_array
    load: np.ndarray
    stiffness: np.ndarray
    exponent: float = 2.0
    blocks: np.ndarray | None = None

    @cached_property
    def size(self) -> float:
        return float(np.abs(self.load).max())

    def balance(self, f) -> float:
        """max |B^T f - F| / max |F|."""
        return float(np.abs(self.B.T @ f - self.load).max() / self.size)


@dataclass(frozen=True)
class Dynamics:
    """Eqs 20-22: B (m, n), mass (n,), bias = Phi/dt (m,) [m/s], velocity v (n,), force F_ext (n,).

    ``judge`` is the library's own statement of the problem, with the residual for every solver.
    """

    name: str
    B: sp.csr_array
    mass: np.ndarray
    bias: np.ndarray
    velocity: np.ndarray
    external_force: np.ndarray
    dt: float

    @cached_property
    def judge(self) -> ContactProblem:
        return ContactProblem(
            B=self.B,
            mass=sp.csr_array(sp.diags_array(self.mass)),
            inverse_mass=sp.csr_array(sp.diags_array(1 / self.mass)),
            bias=self.bias,
            free_velocity=self.velocity + self.dt * self.external_force / self.mass,
            dt=self.dt,
        )


def pyramid_contacts(base: int) -> int:
    """Number of contacts of a pyramid whose base layer is held."""
    s = np.arange(1, base, dtype=np.int64)
    return int(4 * (s**2).sum() + 2 * (s * (s - 1)).sum())


def pyramid_pairs(base: int):
    """(a, b, normal): pairs of touching spheres, a < b, not both held; normal (m, 3) from a to b.

    Layer l is a square of (base - l)^2 spheres in the hollows of the one below.
    """
    first = np.concatenate([[0], np.cumsum(np.arange(base, 0, -1) ** 2)])
    low, high, normals = [], [], []

    def pairs(a, b, normal):
        low.append(a.ravel())
        high.append(b.ravel())
        normals.append(np.broadcast_to(np.asarray(normal, float), (a.size, 3)))

    rise = np.sqrt(0.5)
    for layer in range(1, base):
        side = base - layer
        mine = first[layer] + np.arange(side * side).reshape(side, side)
        below = first[layer - 1] + np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
        for di in (0, 1):
            for dj in (0, 1):
                under = below[di : di + side, dj : dj + side]
                pairs(under, mine, (0.5 - di, 0.5 - dj, rise))
        pairs(mine[:-1], mine[1:], (1, 0, 0))
        pairs(mine[:, :-1], mine[:, 1:], (0, 1, 0))
    a, b = np.concatenate(low), np.concatenate(high)
    order = np.lexsort((b, a))
    return a[order], b[order], np.concatenate(normals)[order]


def pyramid_gradient(base: int) -> sp.csr_array:
    """B (m, 3 n) of the pyramid over the free spheres, rows in order of the pairs."""
    a, b, normal = pyramid_pairs(base)
    held = base * base
    spheres = int((np.arange(1, base + 1) ** 2).sum())
    free = a >= held  # b lies above a and is always free
    count = np.where(free, 6, 3)
    indptr = np.concatenate([[0], np.cumsum(count)])
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1])
    axis = np.arange(3)
    at = indptr[:-1][free][:, None] + axis
    indices[at] = 3 * (a[free] - held)[:, None] + axis
    data[at] = -normal[free]
    at = (indptr[1:] - 3)[:, None] + axis
    indices[at] = 3 * (b - held)[:, None] + axis
    data[at] = normal
    shape = (len(a), 3 * (spheres - held))
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    B = sp.csr_array((data, indices, indptr), shape=shape)
    B.eliminate_zeros()
    return B


LAWS = {
    "Hooke": (1.0, 2.0),
    "two materials 1:5": (5.0, 2.0),
    "two materials 1:1000": (1000.0, 2.0),
    "Hertz": (1.0, 2.5),
}
"""Name: (ratio of the moduli of spheres of odd and even number, exponent)."""


def compatibility(base: int, law: str = "Hooke") -> Compatibility:
    """The pyramid at rest under unit gravity; stiffness is the series of the two spheres'."""
    ratio, exponent = LAWS[law]
    B = pyramid_gradient(base)
    load = np.zeros(B.shape[1])
    load[2::3] = 1.0
    stiffness = np.ones(B.shape[0])
    if ratio != 1.0:
        a, b, _ = pyramid_pairs(base)
        modulus_a, modulus_b = np.where(a % 2, ratio, 1.0), np.where(b % 2, ratio, 1.0)
        stiffness = 2 / (1 / modulus_a + 1 / modulus_b)
        stiffness /= stiffness.max()
    blocks = np.arange(0, B.shape[1] + 1, 3)
    return Compatibility(f"pyramid {base}, {law}", B, load, stiffness, exponent, blocks)


STATES = ("rest", "impact", "random")


def dynamics(base: int, state: str = "rest", *, seed=0, dt=1e-3) -> Dynamics:
    """The pyramid in one step: at rest, hitting its held base, or gaps and velocities at random."""
    B = pyramid_gradient(base)
    m, n = B.shape
    velocity, bias, external = np.zeros(n), np.zeros(m), np.zeros(n)
    external[2::3] = -GRAVITY
    if state == "impact":
        velocity[2::3] = -1.0
    elif state == "random":
        rng = np.random.default_rng(seed)
        velocity = rng.normal(size=n)
        bias = rng.uniform(0.0, 0.5, m)
    return Dynamics(f"pyramid {base}, {state}", B, np.ones(n), bias, velocity, external, dt)


@dataclass(frozen=True)
class Recorded:
    """One step of a simulation as plain arguments of the two solves, and what it started from.

    warm_force (m,): forces of the step before, on this step's contacts; warm_displacement (6 n,).
    """

    dynamics: dict
    compatible: dict
    warm_force: np.ndarray | None
    warm_displacement: np.ndarray | None
    result: object


def replay(simulation: rl.Simulation) -> Recorded:
    """Make one step and return its two problems; what ``rigidlimit.step`` passes on."""
    bodies, before, warm = simulation.bodies, simulation.state, simulation._warm
    M = mass_matrix(bodies, before)
    velocity = before.velocity.ravel().copy()
    result = simulation.step(compatible=True)
    contacts, closed = result.contacts, result.closed
    fixed = ~bodies.free.ravel()
    first = dict(
        M=M,
        B=result.B,
        gap=contacts.gap,
        velocity=velocity,
        external_force=simulation.external_force,
        dt=simulation.dt,
        exists=contacts.gap <= (simulation.settings.closed or CLOSED) * bodies.length,
        fixed=fixed,
        restitution=simulation.settings.restitution,
    )
    second = dict(
        B=result.B[np.flatnonzero(closed)],
        load=result.load,
        stiffness=result.stiffness[closed],
        exponent=simulation.settings.exponent,
        fixed=fixed,
        admissible=result.classic.force[closed],
        blocks=np.arange(0, 6 * len(bodies) + 1, 6),
    )
    force = None if warm is None else contacts.carry_over(warm.contacts, warm.force)
    return Recorded(first, second, force, None if warm is None else warm.displacement, result)


def packing_at_rest(count: int, *, seed=3, seconds=120.0, folder: Path | None = None):
    """(scene, state) of spheres of unequal size poured into a box and settled by a soft DEM.

    Stops after ``seconds`` of CPU time where rest takes longer; the contact dynamics steps that
    follow settle the rest. Kept in ``folder`` for the next run.
    """
    scene = rl.scenes.packing(count, seed=seed)

    def settle():
        dem = rl.PenaltySimulation(
            scene, stiffness_scale=1e-4, restitution=0.1, rest_tolerance=1e-6
        )
        start, clock = time.process_time(), Clock()
        with clock:
            end = dem.run(callback=lambda _: time.process_time() - start > seconds)
        return Answer(_pose(end.state), clock, end.steps)

    return scene, _kept(scene, settle, f"packing-{count}-{seed}", folder)


def packing_exactly_at_rest(count: int, *, seed=3, folder: Path | None = None):
    """(scene, state) of the same, brought to the rest that contact dynamics leaves as it is."""
    scene = rl.scenes.packing(count, seed=seed)

    def settle():
        clock = Clock()
        with clock:
            rest = settle_scene(scene, by="dem")
        return Answer(_pose(rest.simulation.state), clock, 1)

    return scene, _kept(scene, settle, f"rest-{count}-{seed}", folder)


def _pose(state):
    return np.hstack([state.position, state.quaternion])


def _kept(scene, settle, name, folder):
    """The state at the pose that ``settle`` ends in, kept in ``folder`` under this name."""
    kept = None if folder is None else Path(folder) / f"{name}.npz"
    if kept is not None and kept.exists():
        with np.load(kept) as saved:
            position, quaternion = saved["position"], saved["quaternion"]
    else:
        # in a process of its own: its threads must not be there when others are forked
        with told(f"  settling {name}"):
            pose = measure(settle, repeat=0).answer.force
        position, quaternion = pose[:, :3], pose[:, 3:]
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(kept, position=position, quaternion=quaternion)
    still = np.zeros_like(scene.state.velocity)
    return scene.state.moved(position=position, quaternion=quaternion, velocity=still)


def recorded_compatibility(recorded: Recorded, name: str) -> Compatibility:
    """Eq. 36 of a recorded step on the degrees of freedom that its closed contacts move."""
    given = recorded.compatible
    B = sp.csr_array(given["B"])
    size = np.zeros(B.shape[1])
    np.maximum.at(size, B.indices, np.abs(B.data))
    # rotations of smooth spheres have arms of rounding size only
    used = np.flatnonzero(~given["fixed"] & (size > 1e-8 * size.max()))
    starts = np.searchsorted(used, given["blocks"])
    return Compatibility(
        name,
        sp.csr_array(B[:, used]),
        given["load"][used],
        given["stiffness"] / given["stiffness"].max(),
        given["exponent"],
        np.unique(starts),
    )


def column(width=4, height=12, *, seed=1) -> rl.Scene:
    """A column of spheres of unequal size on the floor, without walls: it collapses."""
    rng = np.random.default_rng(seed)
    scene = rl.Scene(name="column", dt=1e-3, description="a collapsing column of spheres")
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    for k in range(height):
        for i in range(width):
            for j in range(width):
                r = 1e-3 * rng.uniform(0.85, 1.0)
                jitter = 1e-3 * rng.uniform(-0.1, 0.1, 2)
                x, y = 2e-3 * np.array([i, j]) + jitter + 1e-3 * (k % 2) * 0.5
                scene.add(rl.Sphere(r), position=(x, y, 1e-3 + 1.9e-3 * k))
    return scene


def wall_of_boxes(courses=6, length=6) -> rl.Scene:
    """Boxes laid in running bond on a plane, every face in contact at its corners."""
    scene = rl.Scene(name="wall", dt=1e-3, description="boxes in running bond")
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    for k in range(courses):
        for i in range(length - k % 2):
            at = (0.2 * i + 0.1 * (k % 2), 0.0, 0.05 + 0.1 * k)
            scene.add(rl.Box((0.198, 0.1, 0.1)), position=at, mass=4.0)
    return scene
