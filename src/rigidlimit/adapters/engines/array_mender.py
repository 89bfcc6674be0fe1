"""Mending prepared once for stacked arrays of any engine, as simulators of many environments have
them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays, threads
from ...errors import InputError
from .checks import checked, lengths, parts
from .contacts import EngineContacts
from .coulomb import JOINT
from .from_arrays import OPTIONS
from .geometry import OUTSIDE, Places
from .materials import ByContact, by_name
from .mend import mend
from .mended_batch import StackedBatch
from .options import BY_CONTACT, SOLVER, MendOptions, check_names
from .parts import NamedParts
from .prepared import codes
from .prepared.forces import PreparedForces
from .prepared.options import compiled_law, takes
from .prepared.pairs import PairTable
from .prepared.shares import ENGINE, TOTAL
from .prepared.stacked import mend_stack
from .result import MendedForces
from .stack_arrays import Found, Written, compiled_arrays, listed_values
from .stacks import Stack, stacked

TAKEN = tuple(name for name in SOLVER if name not in (*BY_CONTACT, "warm_start"))

CHECKED = (
    ("stiffness", np.nextafter(0.0, 1.0), "positive numbers"),
    ("friction", 0.0, "coefficients >= 0"),
    ("gap_tolerance", 0.0, "lengths >= 0"),
)

LEAST = 16
"""Environments from which they are shared among threads."""


class ArrayMender:
    """``mend_forces`` prepared once, for arrays with an axis of environments in front.

    What is the same in every environment and step is kept here; ``mend_many`` takes what changes.

    Parameters
    ----------
    held, mechanism, reach : (n,)
        As of ``mend_forces``; for free bodies of six velocities each mechanism is
        ``np.arange(n) // 6``.
    accuracy : float or (n,) [m]
        As of ``mend_forces``.
    stiffness : float, (contact,) or by names of parts
        Of contacts, as of ``mend_forces``.
    friction : by names of parts, optional
        Coefficients in place of those of the arrays; those that change, or that are numbers, go to
        ``mend_many``.
    names : sequence of str
        Of bodies or shapes, which ``part`` of ``mend_many`` counts.
    system : (parts,) int, optional
        The freely moving body or mechanism of each, -1 for what cannot move, for
        ``MendedForces.total``; None: of none.
    engine : str
        Its name, for messages.
    **options
        Exponent, on_friction, tangential_stiffness, friction_tolerance, budget and tolerance, as
        of ``mend_forces``.

    Raises
    ------
    InputError
        For names that are not known, and wrong shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from rigidlimit.adapters import ArrayMender
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> force = np.array([[0.65, 8.7, 0.65], [5.0, 0.0, 5.0]])  # of two environments
    >>> mask = np.array([[True, True, True], [True, False, True]])
    >>> batch = ArrayMender().mend_many(beam, force, mask=mask, stiffness=[1, 3, 1])
    >>> batch.force.round(9)
    array([[2., 6., 2.],
           [5., 0., 5.]])
    """

    def __init__(
        self,
        *,
        held: ArrayLike | None = None,
        mechanism: ArrayLike | None = None,
        reach: ArrayLike = 1.0,
        accuracy: ArrayLike | None = None,
        stiffness: ByContact = 1.0,
        friction: ByContact | None = None,
        names: Sequence[str] = (),
        system: ArrayLike | None = None,
        engine: str = "engine",
        **options: Any,
    ):
        check_names(ArrayMender, options, (*OPTIONS, *TAKEN))
        solver = {name: options.pop(name) for name in TAKEN if name in options}
        self.options = MendOptions(solver=solver, **options)
        self.names, self.engine = tuple(names), engine
        self.stiffness, self.friction = stiffness, friction
        if friction is not None and not by_name(friction):
            raise InputError(
                f"ArrayMender: friction is {arrays.short(friction)}; expected it by names of parts,"
                " or numbers with mend_many(friction=)"
            )
        for name, value in (("stiffness", stiffness), ("friction", friction)):
            if by_name(value) and not self.names:
                raise InputError(f"{name} is given by names; expected names= of the parts too")
        self._columns = held, mechanism, reach, accuracy
        self._model = self._given_columns = None
        count = len(self.names)
        systems = OUTSIDE if system is None else system
        self.system = arrays.integers("system", systems, count, what="part")
        self._law = compiled_law(self.options)
        nothing = np.zeros(count, int)
        self._tables = {
            name: PairTable(name, value, geoms=self.names, bodies=(), body=nothing + OUTSIDE)
            for name, value in (("stiffness", stiffness), ("friction", friction))
            if by_name(value)
        }

    def __repr__(self) -> str:
        how = "prepared" if takes(self.options) else "as mend_forces: its options"
        return f"<ArrayMender of arrays of {self.engine}, {how}>"

    def mend_many(
        self,
        B: ArrayLike,
        engine_force: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        load: ArrayLike | None = None,
        sliding: ArrayLike | None = None,
        tangential: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        gap_tolerance: ArrayLike | None = None,
        point: ArrayLike | None = None,
        normal: ArrayLike | None = None,
        tangents: ArrayLike | None = None,
        part: ArrayLike | None = None,
    ) -> StackedBatch:
        """Mended forces of each environment, as ``mend_forces`` has them one by one.

        Arrays are of NumPy, or of anything that has ``__array__`` or DLPack on the CPU. Each is as
        below, or without its first axis where it is the same in all environments.

        Parameters
        ----------
        B : (env, contact, n), gap gradient; B v > 0 opens.
        engine_force : (env, contact) [N], the engine's normal forces.
        mask : (env, contact) bool, contacts that there are; what others hold is not looked at.
        load : (env, n), to carry in place of the engine's resultant.
        sliding : (env, contact, s, n), velocities along the first s >= 2 tangential directions.
        tangential : (env, contact, k), friction forces and moments.
        friction : (env, contact) or (env, contact, k), coefficients, or a number.
        stiffness : (env, contact), in place of the mender's.
        gap, gap_tolerance : (env, contact) [m].
        point, normal : (env, contact, 3).
        tangents : (env, contact, 2, 3).
        part : (env, contact, 2)
            int, of ``names``, -1 for none: for what is by name, and forces as vectors.

        Returns
        -------
        StackedBatch : arrays over (env, contact), and ``batch[i]`` with all of environment i.

        Raises
        ------
        InputError : shapes that do not fit each other; what ``mend_forces`` refuses, with the
            number of the environment.
        """
        given = dict(
            B=B, engine_force=engine_force, mask=mask, load=load, sliding=sliding,
            tangential=tangential, friction=friction, stiffness=stiffness, gap=gap,
            gap_tolerance=gap_tolerance, point=point, normal=normal, tangents=tangents, part=part,
        )  # fmt: skip
        if B is None or (engine_force is None and load is None):
            raise InputError("mend_many: neither engine_force nor load is given; expected one")
        stack = stacked(given)
        self._check(stack)
        model = self._of_columns(stack.sizes["n"])
        batch = Written(stack)
        if self._prepared(stack):
            numbers = (TOTAL if "load" in stack else ENGINE, "point" in stack)
            arguments = compiled_arrays(stack, self.stiffness, self._tables)

            def work(begin, end):
                mend_stack(begin, end, model, arguments, numbers, self._law, batch.out)

            threads.in_pieces(work, stack.sizes["env"], least=LEAST)
        general = {}
        for e in np.flatnonzero(batch.code != codes.SOLVED).tolist():
            general[e] = self._general(stack, e)
            batch.take(e, general[e])
        return StackedBatch(
            batch.listed, batch.force, batch.tangential, batch.residual, general,
            lambda e: self._forces(stack, batch, e),
        )  # fmt: skip

    # one environment

    def _general(self, stack, e) -> MendedForces:
        try:
            return mend(self._contacts(stack, e), self.options)
        except InputError as wrong:
            raise InputError(f"environment {e}: {wrong}") from None

    def _forces(self, stack, batch, e) -> MendedForces:
        """What compiled code found, with all else made at access."""
        chosen = np.flatnonzero(batch.listed[e])
        found = Found(
            force=batch.force[e].copy(),
            tangential=batch.tangential[e].copy(),
            rough=bool(batch.rough[e]),
            residual=float(batch.residual[e]),
            solves=int(batch.solves[e]),
            own_rows=(chosen, batch.took_part[e, chosen]),
            made=lambda: checked(self._contacts(stack, e)),
        )
        return PreparedForces(found, self.options)

    def _contacts(self, stack, e) -> EngineContacts:
        """As a caller of ``mend_forces`` would give them."""
        c = stack.sizes["contact"]
        chosen = np.flatnonzero(stack.of("mask", e)) if "mask" in stack else np.arange(c)
        held, mechanism, reach, accuracy = self._given_columns
        own = {
            name: stack.of(name, e)[chosen]
            for name in ("engine_force", "tangential", "friction", "gap", "gap_tolerance")
            if name in stack
        }
        if "load" in stack:
            own["load"] = stack.of("load", e)
        if "sliding" in stack:
            own["sliding"] = stack.of("sliding", e)[chosen].reshape(-1, stack.sizes["n"])
        stiffness = stack.of("stiffness", e)[chosen] if "stiffness" in stack else self.stiffness
        return EngineContacts(
            stack.of("B", e)[chosen], stiffness=stiffness, own_friction=self.friction, held=held,
            mechanism=mechanism, reach=reach, own_accuracy=accuracy, row=chosen, contacts=c,
            engine=self.engine, places=self._places(stack, e, chosen), **own,
        )  # fmt: skip

    def _places(self, stack, e, chosen) -> Places | None:
        if "part" not in stack and "point" not in stack:
            return None
        m = len(chosen)
        none = np.zeros((1, stack.sizes["contact"], 3))
        known = stack.arrays | {
            name: none for name in ("point", "normal") if name not in stack.arrays
        }
        point, normal = (known[name][min(e, len(known[name]) - 1)][chosen] for name in
                         ("point", "normal"))  # fmt: skip
        part = np.full((m, 2), OUTSIDE)
        if "part" in stack:
            part = stack.of("part", e)[chosen]
        named = NamedParts(part, np.full_like(part, OUTSIDE), self.names, ())
        system = np.append(self.system, OUTSIDE)[part]
        tangents = stack.of("tangents", e)[chosen] if "tangents" in stack else None
        return Places(point, normal, named.pairs, system, None, tangents, named)

    # all environments

    def _check(self, stack: Stack) -> None:
        if "part" in stack:
            most = int(stack.arrays["part"].max(initial=-1))
            if most >= len(self.names):
                raise InputError(
                    f"part counts part {most}, and names has {len(self.names)}; expected one each"
                )
        elif self._tables:
            raise InputError("stiffness or friction is given by names; expected part= too")
        for name, least, wanted in CHECKED:
            if name in stack:
                values = listed_values(stack, name)
                if not ((values >= least) & (values < np.inf)).all():
                    raise InputError(f"{name} is {values.min():.6g}; expected {wanted}")

    def _of_columns(self, n):
        """held, mechanism, reach and accuracy (n,), checked once."""
        if self._model is not None and len(self._model[0]) == n:
            return self._model
        held, mechanism, reach, accuracy = self._columns
        held = arrays.vector("held", 0.0 if held is None else held, n, what="column of B") != 0
        number = np.zeros(0, np.int64)
        if mechanism is not None:
            mechanism = arrays.integers("mechanism", mechanism, n, what="column of B")
            number = np.unique(mechanism, return_inverse=True)[1].astype(np.int64)
        reach = lengths("reach", reach, n)
        known = parts("accuracy", 1e-6 if accuracy is None else accuracy, n, what="column of B")
        self._given_columns = held, mechanism, reach, accuracy
        self._model = held, number, np.array(reach, float), np.array(known, float)
        return self._model

    def _prepared(self, stack) -> bool:
        """Whether compiled code may read these."""
        named = "friction" in self._tables
        rough = named or any(name in stack for name in ("friction", "sliding", "tangential"))
        known = named or "friction" in stack
        rows = "sliding" in stack or self.options.on_friction != JOINT
        return takes(self.options) and (
            not rough or (known and rows and stack.sizes.get("k", 2) >= 2)
        )
