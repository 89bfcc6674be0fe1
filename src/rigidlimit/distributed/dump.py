"""A LAMMPS dump as a network file, by parts: ``mpiexec -n 4 rigidlimit network huge.dump``.

Each rank reads a slice of the lines, sends each ball to the rank that has its part of space, gets
copies of the balls that may touch its own (ghosts, over periodic faces their images), and searches
the contacts of these as of any scene. No rank holds more than its part.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import positive
from .._support.words import counted
from ..adapters.packings.balls import (
    Balls,
    as_scene,
    check_width,
    in_box,
    kept_axes,
    newtons,
    periodic_down,
    wall_faces,
)
from ..adapters.packings.dump_slices import read_slice
from ..bodies import Material
from ..compatibility.friction import has_friction
from ..compatibility.law import HERTZ
from ..errors import InputError
from ..pose.overlaps import NEAR
from ..scenes.scene import Scene
from .dump_pairs import Numbering, pairs_of, place_of
from .network import ContactNetwork, network_of_part
from .network_file import new_network
from .partition import by_space
from .ranks import Ranks

OPTIONAL = ("radius", "type", "mass", "density")
"""Columns of a dump that go along with a ball, where it has them."""


def network_of_dump(
    path: str | PathLike, out: str | PathLike, *, frame: int = -1, units: str | None = None,
    radius: float | dict[int, float] | None = None,
    material: Material | dict[int, Material] | None = None, fixed: Sequence[int] = (),
    walls: bool | Sequence[str] = False, wall_material: Material | None = None,
    periodic: str = "keep", gravity: ArrayLike | None = None,
    stiffness: float | None = None, law: str | float = "hooke", reach: float | None = None,
    springs: str | PathLike | None = None, tell: Callable[[str], None] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Write the network file of a dump's balls, with friction where the material has it.

    Called on all ranks (one without mpiexec). Bodies are in the order of the ids, then walls.
    Contacts are those of overlaps and small gaps at the pose; nothing is solved here.

    Parameters
    ----------
    path : path
        Dump of atoms as text, not compressed.
    out : path
        Network file (HDF5), which appears whole.
    frame, units, radius, material, fixed, walls, wall_material, periodic, gravity
        As of ``read_packing``.
    stiffness : float [N/m^(p-1)], optional
        Of every contact; by default of the materials.
    law : str or float
        "hooke", "hertz" or the exponent p.
    reach : float [m], optional
        Largest gap of the contacts; by default a thousandth of the mean radius.
    springs : path, optional
        Dump of pairs (local) of the same snapshot, as of ``read_packing``: ids and tangential
        forces, which contacts with friction remember.
    tell : function of a line, optional
        Called on the first rank.

    Returns
    -------
    tuple of int
        Bodies and contacts of the file.

    Raises
    ------
    InputError
        With file and line, or ball, on the rank that found it; ``OtherRankError`` on the others.
    """
    ranks = Ranks()
    path = Path(path)
    with ranks.ending_together():
        place = place_of(path, frame, ranks)
        balls, down = ranks.together(lambda: _read(path, place, ranks, units, radius, periodic))
        read = int(ranks.sum(len(balls)))
        if read != place.count:
            ranks.refuse(
                InputError(
                    f"{path}: the snapshot has {counted(read, 'line')} of atoms; expected "
                    f"{place.count}, as its head says"
                )
            )
        numbering = Numbering(path, balls.id, ranks)
        number = numbering.of(balls.id)
        if gravity is None and down and periodic != "ignore":  # as of ``read_packing``
            gravity = np.zeros(3)
        size = NEAR * ranks.sum(balls.radius.sum()) / place.count
        length = _median(balls.radius, ranks)
        reach = size if reach is None else positive("reach", reach)
        of_scene = dict(
            material=material, wall_material=wall_material, fixed=fixed, gravity=gravity, law=law
        )
        own, ghosts = _with_ghosts(balls, number, reach, ranks)
        pairs = None
        if springs is not None:
            factor = newtons(units or balls.units)
            pairs = pairs_of(Path(springs), frame, factor, numbering, own.id, ranks)
        joined = (path, own, ghosts, walls, of_scene)
        scene, faces = ranks.together(lambda: _scene(*joined))
        # a part may have smooth balls alone, or no contacts
        rough = ranks.max(has_friction(scene.bodies, scene.pair_friction)) > 0.0
        of_contacts = dict(stiffness=stiffness, reach=reach, rough=rough)
        part, loads = ranks.together(
            lambda: _part(scene, own, ghosts, faces, place.count, pairs, of_contacts, length)
        )
        width = 6 if ranks.max(part.turns) > 0.0 else 3
        part, loads = part.narrowed(width), loads.narrowed(width)
        counts = len(loads.position) + place.count, int(ranks.sum(len(part.body)))
        if not counts[1]:
            ranks.refuse(
                InputError(
                    f"{path}: no bodies touch, so that there are no contact forces; expected balls "
                    "that touch or overlap, or a larger reach"
                )
            )
        if tell is not None and ranks.first:
            tell(f"{path.name}: {place.count} balls, {counted(counts[1], 'contact')}")
        _write(Path(out), part, own.id, loads, counts, ranks)
        return counts


def _read(path, place, ranks: Ranks, units, radius, periodic) -> tuple[Balls, bool]:
    """The balls of this rank's slice in SI units, within the box; whether the file's box is
    periodic downwards."""
    along = kept_axes(periodic)
    balls = read_slice(path, place, ranks.rank, ranks.size).scaled(units).with_radius(radius)
    inside = in_box(balls, along)
    check_width(inside, 3)
    return inside, periodic_down(balls, 3)


def _with_ghosts(
    balls: Balls, number: np.ndarray, reach: float, ranks: Ranks
) -> tuple[Balls, Balls]:
    """The balls of this rank's part of space, in the order of their numbers, and those of others
    that may touch them, periodic images too. Their ids are the numbers."""
    names = [name for name in OPTIONAL if getattr(balls, name) is not None]
    columns = [number[:, None], balls.position, *(getattr(balls, name)[:, None] for name in names)]
    table = np.hstack([np.asarray(each, float) for each in columns])
    place, count = ranks.places(by_space(balls.position, ranks))
    own = ranks.send(table, place, count)
    own = own[np.argsort(own[:, 0])]
    at, margin = own[:, 1:4], 2.0 * ranks.max(balls.radius.max()) + reach
    ends = [at.min(axis=0, initial=np.inf), at.max(axis=0, initial=-np.inf)]
    boxes = ranks.joined(np.concatenate(ends)).reshape(-1, 2, 3)
    sent, to = [own[:0]], [np.zeros(0, np.int64)]
    periodic = np.zeros(3, bool) if balls.box is None else balls.box.periodic
    for turns in product(*((-1, 0, 1) if p else (0,) for p in periodic)):
        moved = at + np.array(turns) @ balls.box.edges if any(turns) else at
        for rank, (low, high) in enumerate(boxes):
            if rank == ranks.rank and not any(turns):
                continue
            near = ((moved >= low - margin) & (moved <= high + margin)).all(axis=1)
            sent.append(np.hstack([own[near, :1], moved[near], own[near, 4:]]))
            to.append(np.full(np.count_nonzero(near), rank))
    place, count = ranks.places(np.concatenate(to))
    ghosts = ranks.send(np.vstack(sent), place, count)
    return tuple(_balls(each, names, balls) for each in (own, ghosts))


def _balls(table: np.ndarray, names: list[str], like: Balls) -> Balls:
    columns = dict(zip(names, table[:, 4:].T, strict=True))
    if "type" in columns:
        columns["type"] = columns["type"].astype(int)
    return Balls(table[:, 0].astype(np.int64), table[:, 1:4].copy(), box=like.box, **columns)


def _scene(path, own: Balls, ghosts: Balls, walls, of_scene) -> tuple[Scene, int]:
    """The balls of this rank, ghosts, and the walls at the faces of the box; how many walls."""
    faces = wall_faces(own.box, walls, 3)
    joined = {
        name: np.concatenate([getattr(own, name), getattr(ghosts, name)])
        for name in ("position", *OPTIONAL) if getattr(own, name) is not None
    }  # fmt: skip
    number = np.arange(len(own) + len(ghosts))
    box = None if own.box is None else replace(own.box, periodic=np.zeros(3, bool))
    scene = as_scene(Balls(number, box=box, **joined), path.name, dim=3, walls=faces, **of_scene)
    return scene, len(faces)


def _median(values: np.ndarray, ranks: Ranks) -> float:
    """Of the values (k,) of all ranks, by bisection: no rank holds them all."""

    def smallest(k: int) -> float:
        low = ranks.min(values.min(initial=np.inf))
        high = ranks.max(values.max(initial=-np.inf))
        while low < high:
            middle = low + 0.5 * (high - low)
            below = values <= (middle if middle < high else low)
            if ranks.sum(np.count_nonzero(below)) > k:
                high = ranks.max(values[below].max(initial=-np.inf))
            else:
                low = ranks.min(values[~below].min(initial=np.inf))
        return float(low)

    count = int(ranks.sum(len(values)))
    return 0.5 * (smallest((count - 1) // 2) + smallest(count // 2))


def _part(
    scene: Scene, own: Balls, ghosts: Balls, faces: int, count: int, pairs, of_contacts, length
):
    """(contacts that this rank answers for, as a network of the numbers in the file, network of the
    walls alone). length [m]: reference length of the whole scene, which that of a part is not."""
    balls = len(own) + len(ghosts)
    number = np.concatenate([own.id, ghosts.id, count + np.arange(faces)])
    springs = None if pairs is None else pairs.springs(scene.bodies, scene.state, number)
    network = network_of_part(scene, law=None, springs=springs, **of_contacts)
    if of_contacts["stiffness"] is None and network.exponent != HERTZ:  # of ``contact_stiffness``
        unlike = (length / scene.bodies.length) ** (3.0 - network.exponent)
        names = [name for name in network.of_contacts if name.endswith("stiffness")]
        network = replace(network, **{name: unlike * getattr(network, name) for name in names})
    mine = np.arange(len(number)) < len(own)
    ghost = (np.arange(len(number)) < balls) & ~mine
    a, b = network.body.T
    ours = (mine[a] | mine[b]) & ~(ghost[a] | ghost[b])
    # between a ball and a copy, the rank that has the ball of the lower number answers
    ours |= mine[a] & ghost[b] & (number[a] < number[b])
    ours |= ghost[a] & mine[b] & (number[b] < number[a])
    arrays = {name: values[ours] for name, values in network.of_contacts.items()}
    part = network.with_contacts(
        arrays | {"body": number[arrays["body"]]}, position=network.position[: len(own)],
        load=network.load[: len(own)], free=network.free[: len(own)],
    )  # fmt: skip
    of_walls = replace(
        network, position=network.position[balls:], load=network.load[balls:],
        free=network.free[balls:],
    )  # fmt: skip
    return part, of_walls


def _write(out: Path, part: ContactNetwork, number, walls: ContactNetwork, counts, ranks: Ranks):
    """The file of the first rank, to which the others send their parts, one at a time."""
    bodies, contacts = counts
    balls = bodies - len(walls.position)
    first, last = ranks.slice_of(balls)
    w = part.width
    table = np.hstack([part.position, part.load, part.free])
    table = ranks.send(table, number, last - first)
    with ExitStack() as open_files:
        file = ranks.together(
            lambda: open_files.enter_context(new_network(out, bodies, contacts, part))
            if ranks.first else None
        )  # fmt: skip
        body = contact = 0
        for rank in range(ranks.size):
            came = ranks.brought(table, rank)
            of_contacts = part.of_contacts.items()
            rows = {name: ranks.brought(values, rank) for name, values in of_contacts}
            if not ranks.first:
                continue
            slice_ = part.with_contacts(
                rows, position=came[:, :3], load=came[:, 3 : 3 + w], free=came[:, 3 + w :] > 0
            )
            file.put_bodies(body, slice_)
            file.put_contacts(contact, slice_)
            body, contact = body + len(came), contact + len(slice_.body)
        if ranks.first:
            file.put_bodies(body, walls)
        # writes that failed are told as the file is closed
        ranks.together(open_files.close)
