"""What a model has and scenes do not, by kind and element."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .mjcf_bodies import Model, Unit

SHOWN = 3
"""Names of a kind in a message; all are in ``LeftOut.names``."""


@dataclass
class LeftOut:
    """What was not taken over. names: of elements, by kind; said: in words."""

    names: dict[str, list[str]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def add(self, kind: str, *names: str) -> None:
        if names:
            known = self.names.setdefault(kind, [])
            known += [name for name in names if name not in known]

    def note(self, text: str) -> None:
        self.said.append(text)

    @property
    def notes(self) -> tuple[str, ...]:
        """A line a kind, the first names of each."""
        kinds = []
        for kind, names in self.names.items():
            shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
            count = f"{len(names)}: " if len(names) > 1 else ""
            kinds.append(f"{kind} ({count}{shown})")
        head = ("not taken over as in MuJoCo: " + "; ".join(kinds),) if kinds else ()
        return (*self.said, *head)


def name_what_scenes_lack(model: "Model", units: "list[Unit]", left_out: LeftOut) -> None:
    """Name forces and contacts of the model that the scene does not have."""
    m = model.model
    moves = [unit for unit in units if unit.free.any()]
    bodies = np.concatenate([unit.bodies for unit in moves] or [np.zeros(0, int)])
    _name_joints(model, bodies, left_out)
    _name_geoms(model, [g for unit in units for g in unit.geoms], left_out)
    acts = (
        _any(m.tendon_stiffness) | _any(m.tendon_stiffnesspoly) | _any(m.tendon_damping)
        | _any(m.tendon_dampingpoly) | _any(m.tendon_limited) | _any(m.tendon_frictionloss)
        | _any(m.tendon_armature)
    )  # fmt: skip
    left_out.add("tendon", *(model.name("tendon", t) for t in np.flatnonzero(acts)))
    left_out.add("actuator", *(model.name("actuator", a) for a in range(m.nu)))
    left_out.add("flex", *(model.name("flex", f) for f in range(m.nflex)))
    left_out.add("plugin", *(f"plugin{k}" for k in range(m.nplugin)))
    if (m.opt.density or m.opt.viscosity) and len(bodies):
        left_out.add("fluid", "density" if m.opt.density else "viscosity")
    for p in range(m.npair):
        _name_pair(model, p, left_out)
    for flag in ("CONTACT", "CONSTRAINT", "EQUALITY", "LIMIT", "PASSIVE", "SPRING", "DAMPER"):
        if hasattr(model.mujoco.mjtDisableBit, f"mjDSBL_{flag}") and model.disabled(flag):
            left_out.add("disabled by a flag of the model", flag.lower())


def _any(values: np.ndarray) -> np.ndarray:
    """(n,) bool: rows that are not zero."""
    return np.asarray(values, bool).any(axis=tuple(range(1, np.ndim(values))))


def _name_joints(model: "Model", bodies: np.ndarray, left_out: LeftOut) -> None:
    """Forces at the joints by which moving bodies are attached to the world."""
    m = model.model
    for j in np.flatnonzero(np.isin(m.jnt_bodyid, bodies)):
        if not model.roots[m.jnt_bodyid[j]]:
            continue  # held, and named so
        name = model.name("joint", j)
        dofs = np.flatnonzero(m.dof_jntid == j)
        if m.jnt_stiffness[j] or np.any(m.jnt_stiffnesspoly[j]):
            left_out.add("joint stiffness", name)
        if m.jnt_limited[j]:
            left_out.add("joint limit", name)
        for what in ("damping", "frictionloss", "armature"):
            if getattr(m, f"dof_{what}")[dofs].any():
                left_out.add(f"joint {what}", name)


def _name_geoms(model: "Model", geoms: list[int], left_out: LeftOut) -> None:
    """Properties of geometries that contacts of a scene do not have."""
    m = model.model
    known = {
        "torsional and rolling friction": m.geom_condim > 3,
        "contact at a distance (margin)": m.geom_margin - m.geom_gap > 0.0,
    }
    for what in ("adhesion", "surfacevel"):  # since MuJoCo 4
        if hasattr(m, f"geom_{what}"):
            known[what] = _any(getattr(m, f"geom_{what}"))
    for what, has in known.items():
        left_out.add(what, *(model.name("geom", g) for g in geoms if has[g]))


def _name_pair(model: "Model", p: int, left_out: LeftOut) -> None:
    m = model.model
    name = m.pair(p).name or f"pair{p}"
    if m.pair_dim[p] > 3:
        left_out.add("torsional and rolling friction", name)
    if m.pair_dim[p] > 1 and m.pair_friction[p, 0] != m.pair_friction[p, 1]:
        left_out.add("friction that differs by direction (the first is taken)", name)
    if m.pair_margin[p] - m.pair_gap[p] > 0.0:
        left_out.add("contact at a distance (margin)", name)
    if np.any(getattr(m, "pair_adhesion", np.zeros(m.npair))[p]):
        left_out.add("adhesion", name)
