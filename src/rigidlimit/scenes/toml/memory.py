"""What rough contacts remember (``step.friction.Memory``), as tables of a scene file.

A table names a contact by its bodies, in the order of the file, and its feature. Vectors have one
number a direction of the scene, and act on the second body. Contacts that remember nothing are left
out, and so are kept forces that are those of the last step.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...collision.contacts import keyed
from ...errors import SceneError
from ...kinematics import framed
from .tables import ContactTable, lines_of

if TYPE_CHECKING:
    from ...step.friction import Memory
    from ..scene import Scene

UNIT = 1e-6
"""How far the length of a normal may be from one: digits typed by hand."""


def memory_lines(scene: "Scene", memory: "Memory") -> list[str]:
    """The tables ``[[contacts]]`` of a scene's memory."""
    lines, names, d = [], scene.bodies.names, scene.dim
    contacts = memory.contacts
    used = (memory.force != 0.0) | (memory.normal != 0.0)
    for i in np.flatnonzero(used | memory.tangential.any(axis=1)):
        keys = {
            "bodies": [names[k] for k in contacts.body[i]],
            "feature": int(contacts.feature[i]) or None,
            "normal": contacts.normal[i, :d],
            "tangent": contacts.tangents[i, 0] if d == 3 else None,
            "force": memory.force[i],
            "tangential_force": memory.tangential_force[i, :d],
            "kept_force": memory.normal[i],
            "kept_tangential_force": memory.tangential[i, :d],
        }
        for key, usual in (("kept_force", "force"), ("kept_tangential_force", "tangential_force")):
            if np.array_equal(keys[key], keys[usual]):
                del keys[key]
        lines += lines_of(keys, "[[contacts]]")
    return lines


def memory_of(scene: "Scene", tables: Sequence[ContactTable]) -> "Memory | None":
    """The memory in these tables; None if there are none. Raises SceneError."""
    from ...step.friction import Memory

    if not tables:
        return None
    rows = sorted(_checked(scene, number, table) for number, table in enumerate(tables))
    for before, after in itertools.pairwise(rows):
        if before[:3] == after[:3]:
            raise SceneError(
                f"contacts[{after[3]}]: the contact of contacts[{before[3]}]; expected each once"
            )
    ordered = [tables[row[3]] for row in rows]
    contacts = keyed(
        np.array([row[:2] for row in rows]), np.array([t.feature for t in ordered]), len(scene)
    )
    contacts = replace(contacts, normal=_vectors(ordered, "normal"))
    contacts = framed(contacts, scene.dim)
    if scene.dim == 3:
        given = [t.tangent is not None for t in ordered]
        first = np.array([t.tangent for t in ordered if t.tangent is not None]).reshape(-1, 3)
        contacts.tangents[given, 0] = first
        contacts.tangents[given, 1] = np.cross(contacts.normal[given], first)
    force = np.array([t.force for t in ordered])
    kept = np.array([t.force if t.kept_force is None else t.kept_force for t in ordered])
    along = _vectors(ordered, "tangential_force")
    kept_along = _vectors(ordered, "kept_tangential_force", "tangential_force")
    return Memory(contacts, force, along, kept, kept_along)


def _checked(scene: "Scene", number: int, table: ContactTable) -> tuple[int, int, int, int]:
    """Key of a contact and its place in the file."""
    place, d = f"contacts[{number}]", scene.dim
    try:
        a, b = (scene.index(name) for name in table.bodies)
    except SceneError as error:
        raise SceneError(f"{place}.bodies: {error}") from None
    if a >= b:
        raise SceneError(
            f"{place}.bodies: found {table.bodies}; expected two bodies in the order of the file"
        )
    for key in ("normal", "tangent", "tangential_force", "kept_tangential_force"):
        vector = getattr(table, key)
        if vector is not None and len(vector) != d:
            raise SceneError(f"{place}.{key}: found {len(vector)} numbers; expected {d}")
    if abs(np.linalg.norm(table.normal) - 1.0) > UNIT:
        raise SceneError(f"{place}.normal: found {table.normal}; expected a unit vector")
    return a, b, table.feature, number


def _vectors(tables: Sequence[ContactTable], key: str, usual: str = "") -> np.ndarray:
    """(m, 3) of what stands under ``key``, else ``usual``; third components zero in the plane."""
    rows = np.array([getattr(table, key) or getattr(table, usual) for table in tables])
    return np.pad(rows, ((0, 0), (0, 3 - rows.shape[1])))
