"""Which bodies of a model touch, and with which friction, by MuJoCo's rules.

Two geometries touch where contype of one meets conaffinity of the other, and their bodies are no
``<exclude>``; those of a ``<pair>`` in any case. Friction is that of the pair; else that of the
geometry of higher priority, or the larger of both; condim = 1 has none.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...scenes.scene import Scene
from .mjcf_bodies import Model, Unit
from .mjcf_left_out import LeftOut

BITS = 16
"""By how many bits a signature of two bodies shifts the first."""


@dataclass(frozen=True)
class Kind:
    """What a geometry brings to a contact."""

    contype: int
    conaffinity: int
    priority: int
    condim: int
    friction: float


@dataclass(frozen=True)
class Rule:
    """Of two bodies: how many of their pairs of geometries touch, of how many, with mu from least
    to most."""

    touch: int
    pairs: int
    least: float
    most: float


def _of_kinds(a: Kind, b: Kind) -> float | None:
    """Friction of two geometries; None where they pass through each other."""
    if not (a.contype & b.conaffinity or b.contype & a.conaffinity):
        return None
    if a.priority != b.priority:
        a = b = max(a, b, key=lambda kind: kind.priority)
    return max(a.friction, b.friction) if max(a.condim, b.condim) > 1 else 0.0


class ContactRules:
    """Rules of the units of a model. group: a name of each that passes through all of its like."""

    def __init__(self, model: Model, units: list[Unit], left_out: LeftOut):
        self.model, self.units, self.left_out = model, units, left_out
        m = model.model
        over = m.opt.enableflags & int(model.mujoco.mjtEnableBit.mjENBL_OVERRIDE)
        slip = np.full(m.ngeom, m.opt.o_friction[0]) if over else m.geom_friction[:, 0]
        columns = (m.geom_contype, m.geom_conaffinity, m.geom_priority, m.geom_condim, slip)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.kinds = [Kind(*row) for row in rows]
        self.own = [frozenset(self.kinds[g] for g in unit.geoms) for unit in units]
        self.of_pair = {
            tuple(sorted((int(m.pair_geom1[p]), int(m.pair_geom2[p])))): p for p in range(m.npair)
        }
        mask = (1 << BITS) - 1
        self.excluded = {
            frozenset((int(s) >> BITS, int(s) & mask)) for s in m.exclude_signature.tolist()
        }
        self.special = self._special()
        self.between = cache(self._between)
        self.group = self._groups()

    def _special(self) -> set[tuple[int, int]]:
        """Pairs of units of a ``<pair>`` or ``<exclude>``."""
        m = self.model.model
        unit_of = {g: k for k, unit in enumerate(self.units) for g in unit.geoms}
        of_body: dict[int, set[int]] = {}
        for g, k in unit_of.items():
            of_body.setdefault(int(m.geom_bodyid[g]), set()).add(k)
        found = {(unit_of[g], unit_of[h]) for g, h in self.of_pair if {g, h} <= unit_of.keys()}
        for bodies in self.excluded:
            first, second = (*bodies, *bodies)[:2]
            found |= {(i, j) for i in of_body.get(first, ()) for j in of_body.get(second, ())}
        return {tuple(sorted(pair)) for pair in found}

    def _groups(self) -> list[str | None]:
        """Bodies of a kind that passes through its like, as a group of the scene."""
        kept = {k for pair in self.special for k in pair}
        free = {k for k, unit in enumerate(self.units) if unit.free.any() and k not in kept}
        known = Counter(self.own[k] for k in sorted(free))
        silent = [own for own, n in known.items() if n > 1 and not self.between(own, own).touch]
        names = {own: f"pass through {k}" for k, own in enumerate(silent)}
        return [names.get(own) if k in free else None for k, own in enumerate(self.own)]

    @staticmethod
    def _between(one: frozenset[Kind], other: frozenset[Kind]) -> Rule:
        return _rule([_of_kinds(a, b) for a in one for b in other])

    def _of_geoms(self, i: int, j: int) -> Rule:
        """The rule of two units some of whose geometries have one of their own."""
        return _rule([self._two(g, h) for g in self.units[i].geoms for h in self.units[j].geoms])

    def _two(self, g: int, h: int) -> float | None:
        m = self.model.model
        pair = self.of_pair.get((min(g, h), max(g, h)))
        if pair is not None:
            return float(m.pair_friction[pair, 0]) if m.pair_dim[pair] > 1 else 0.0
        bodies = frozenset((int(m.geom_bodyid[g]), int(m.geom_bodyid[h])))
        return None if bodies in self.excluded else _of_kinds(self.kinds[g], self.kinds[h])

    def own_friction(self) -> list[float]:
        """mu of each unit's material: that between two of its like."""
        rules = [self.between(own, own) for own in self.own]
        return [
            rule.most
            if rule.touch
            else max(kind.friction if kind.condim > 1 else 0.0 for kind in own)
            for rule, own in zip(rules, self.own, strict=True)
        ]

    def apply(self, scene: Scene, *, friction: list[float] | None) -> None:
        """Set what differs from what scenes do: bodies that pass through each other, and friction
        (None: that of the materials) which is not the smaller of both."""
        moves = [unit.free.any() for unit in self.units]
        off = self.model.disabled("CONTACT") or self.model.disabled("CONSTRAINT")
        for i in range(len(self.units)):
            for j in range(i + 1, len(self.units)):
                if not (moves[i] or moves[j]):
                    continue
                special = (i, j) in self.special
                rule = self._of_geoms(i, j) if special else self.between(self.own[i], self.own[j])
                if off or not rule.touch:
                    if not (self.group[i] and self.group[i] == self.group[j]):
                        scene.exclude(i, j)
                    continue
                self._name(rule, i, j)
                if friction is not None and rule.most != min(friction[i], friction[j]):
                    scene.set_pair_friction(i, j, rule.most)

    def _name(self, rule: Rule, i: int, j: int) -> None:
        """Name what a rule of two bodies of several geometries cannot say."""
        both = f"{self.units[i].name} - {self.units[j].name}"
        if rule.touch < rule.pairs:
            self.left_out.add("contact filter of single geometries (all touch)", both)
        if rule.least < rule.most:
            self.left_out.add(f"friction of single geometries (all {rule.most:g})", both)


def _rule(found: list[float | None]) -> Rule:
    known = [mu for mu in found if mu is not None]
    return Rule(len(known), len(found), min(known, default=0.0), max(known, default=0.0))
