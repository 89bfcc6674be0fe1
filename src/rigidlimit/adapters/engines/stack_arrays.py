"""Arrays between ``Stack`` and the compiled code of ``prepared.stacked``."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._support import arrays
from .contacts import EngineContacts
from .materials import ByContact, by_name
from .prepared import codes
from .prepared.pairs import PairTable
from .result import MendedForces
from .stacks import Stack


class Written:
    """What compiled code writes: arrays over environments.

    listed (env, contact) bool; others as ``prepared.stacked.mend_stack`` has them.
    """

    def __init__(self, stack: Stack):
        env, contact = stack.sizes["env"], stack.sizes["contact"]
        k = stack.sizes.get("k", 2)
        self.listed = np.broadcast_to(_listed(stack), (env, contact))
        self.code = np.full(env, codes.OTHER)
        self.force, self.tangential = np.zeros((env, contact)), np.zeros((env, contact, k))
        self.took_part, self.rough = np.zeros((env, contact), bool), np.zeros(env, bool)
        self.solves, self.residual = np.zeros(env, np.int64), np.zeros(env)

    @property
    def out(self) -> tuple:
        return (
            self.code, self.force, self.tangential, self.took_part, self.rough, self.solves,
            self.residual,
        )  # fmt: skip

    def take(self, e: int, mended: MendedForces) -> None:
        """The answer of the general path for one environment."""
        self.force[e], self.residual[e] = mended.force, mended.residual
        self.solves[e] = mended.iterations
        k = min(self.tangential.shape[2], mended.tangential.shape[1])
        self.tangential[e, :, :k] = mended.tangential[:, :k]


def compiled_arrays(stack: Stack, stiffness: ByContact, tables: dict[str, PairTable]) -> tuple:
    """What ``mend_stack`` takes as ``stack``; stiffness: the mender's."""
    contact, n = stack.sizes["contact"], stack.sizes["n"]
    stack.sizes.setdefault("k", 2)
    own = stack.arrays.get("stiffness")
    if own is None and not by_name(stiffness):
        own = arrays.vector("stiffness", stiffness, contact, what="contact")[None]
    unknown = np.nan if "friction" in tables else 0.0
    friction = stack.or_else("friction", unknown, "contact", "k")
    own, friction = _named(stack, tables, own, friction)
    return (
        _listed(stack),
        stack.arrays["B"],
        stack.arrays.get("sliding", np.zeros((1, contact, 0, n))),
        stack.or_else("engine_force", 0.0, "contact"),
        stack.or_else("tangential", 0.0, "contact", "k"),
        friction,
        own,
        stack.or_else("gap", -np.inf, "contact"),
        stack.or_else("gap_tolerance", -1.0, "contact"),
        stack.or_else("load", 0.0, "n"),
        stack.arrays.get("point", np.zeros((1, 0, 3))),
    )


def listed_values(stack: Stack, name: str) -> np.ndarray:
    """Values of one array of the contacts that there are."""
    values, mask = stack.arrays[name], _listed(stack)
    size = max(len(mask), len(values))
    mask = np.broadcast_to(mask, (size, mask.shape[1]))
    return np.broadcast_to(values, (size, *values.shape[1:]))[mask]


def _listed(stack):
    return stack.or_else("mask", True, "contact")


def _named(stack, tables, stiffness, friction):
    """Stiffness (env, contact) and friction (env, contact, k), those by names of parts too."""
    if not tables:
        return stiffness, friction
    part, listed = stack.arrays["part"], _listed(stack)
    env = max(len(part), len(listed), len(friction))
    part = np.broadcast_to(part, (env, *part.shape[1:]))
    listed = np.broadcast_to(listed, part.shape[:2]) & (part >= 0).all(axis=2)
    pairs = part[listed]
    for table in tables.values():
        table.learn(pairs)
    if stiffness is None:
        stiffness = np.ones(listed.shape)
        stiffness[listed] = tables["stiffness"].values[pairs[:, 0], pairs[:, 1]]
    if "friction" in tables:
        value = np.full(listed.shape, -1.0)
        value[listed] = tables["friction"].values[pairs[:, 0], pairs[:, 1]]
        friction = np.broadcast_to(friction, (env, *friction.shape[1:])).copy()
        known = (value >= 0.0)[..., None]
        friction[..., :2] = np.where(known, value[..., None], friction[..., :2])
    return stiffness, friction


@dataclass(frozen=True)
class Found:
    """``FoundForces`` of one environment. own_rows: what ``rows`` gives; made: gives its
    contacts."""

    force: np.ndarray
    tangential: np.ndarray
    rough: bool
    residual: float
    solves: int
    own_rows: tuple[np.ndarray, np.ndarray]
    made: Callable[[], EngineContacts]
    goes_on: bool = False

    def contacts(self) -> EngineContacts:
        return self.made()

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.own_rows

    def springs(self) -> None:
        return None

    def listed(self) -> None:
        return None
