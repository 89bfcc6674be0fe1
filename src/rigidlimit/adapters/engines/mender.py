"""Mending prepared once for a MuJoCo model, and then at the speed of its engine.

What stays from state to step is kept in ``Mender``: names, trees, tables of stiffness and friction
by pair. What changes goes from MuJoCo's arrays to forces in compiled code (``prepared``), without
an object of Python between. A state that this does not read, or that it cannot decide, goes the way
of ``from_mujoco``; results are the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..._support import arrays
from ...errors import InputError
from .arguments import expect, joint_names
from .geometry import OUTSIDE
from .materials import ByContact, by_name
from .memory import ContactSprings, checked_springs, springs_as_arrays
from .mended_batch import MendedBatch
from .mujoco import from_mujoco, held_columns, library
from .mujoco_model import structure
from .mujoco_view import StateArrays, View
from .prepared import codes
from .prepared.forces import PreparedForces
from .prepared.made import Made
from .prepared.mujoco_read import mend_mujoco
from .prepared.options import compiled_law, takes
from .prepared.pairs import PairTable
from .prepared.shares import AS_GIVEN, ENGINE, TOTAL
from .reading import asked
from .result import MendedForces

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

MOST = 40_000
"""Entries of the rows, zeros included, up to which compiled code takes a state: 60 contacts and
more of a dozen free bodies. Beyond, sparse matrices are faster."""

NOTHING = np.zeros(0)
NO_TABLE = np.zeros((0, 0))
NO_FRICTION = np.zeros((0, 5))

KINDS = {"engine": ENGINE, "rest": AS_GIVEN, "given": TOTAL}


class Mender:
    """``from_mujoco`` prepared for one model, for the states of a simulation.

    Parameters
    ----------
    model : mujoco.MjModel
        What is kept of it is that of now: make a new ``Mender`` after a change of its bodies,
        geoms or joints. Its options (timestep, cone, gravity) are read in each state.
    stiffness, friction, held, equalities
        As of ``from_mujoco``.
    **options
        Load, exponent, on_friction and the other keywords of ``from_mujoco``.

    Attributes
    ----------
    general : str
        Why states of this model are mended as ``from_mujoco`` does it, in some 1 ms; "" where they
        are prepared.

    Raises
    ------
    InputError
        As ``from_mujoco``.

    Examples
    --------
    >>> import mujoco
    >>> from rigidlimit.adapters import Mender
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    ... </worldbody></mujoco>''')
    >>> data, mender = mujoco.MjData(model), Mender(model)
    >>> for _ in range(200):
    ...     mujoco.mj_step(model, data)
    >>> mended = mender.mend(data)
    >>> mended.force.round(2)
    array([2.45, 2.45, 2.45, 2.45])
    """

    def __init__(
        self,
        model: "MjModel",
        *,
        stiffness: ByContact | None = None,
        friction: ByContact | None = None,
        held: Sequence[str] | str | np.ndarray | None = None,
        equalities: Sequence[str] | str = "rigid",
        **options: Any,
    ):
        mujoco = self.mujoco = library()
        expect("Mender", model=(model, mujoco.MjModel))
        self.model, self.stiffness, self.equalities = model, stiffness, equalities
        if friction is not None:
            options = options | dict(friction=friction)
        self.given = options | dict(stiffness=stiffness, held=held, equalities=equalities)
        own = dict(options)
        self.wanted = asked(
            from_mujoco,
            own,
            load=own.pop("load", "engine"),
            exponent=own.pop("exponent", 2.0),
            on_friction=own.pop("on_friction", "joint"),
        )
        self.made = structure(mujoco, model)
        self.held = held_columns(mujoco, model, held)
        joint_names(equalities, "equalities", "equality")
        self._states = StateArrays(mujoco, model)
        self._views: WeakKeyDictionary = WeakKeyDictionary()
        # reach, load and velocity of a state without contacts
        self._at_rest = np.repeat([1.0, 0.0, 0.0], int(model.nv))
        self._tables(stiffness, friction)
        self._law = compiled_law(self.wanted.options)
        self._springs = stiffness is None and self.wanted.options.exponent == 2.0
        self.general = self._not_prepared()
        self.cone = self._states.codes.cone
        self.system = self._systems()

    def __repr__(self) -> str:
        how = f"as from_mujoco: {self.general}" if self.general else "prepared"
        return f"<Mender of {self.model.nbody - 1} bodies, {how}>"

    def mend(self, data: "MjData") -> MendedForces:
        """Mended forces of one state, as ``from_mujoco`` has them.

        data : mjData after ``mj_step`` or ``mj_forward``. What is not asked of the result is not
        made: its message, notes and balance come from what was kept of the state.

        Raises
        ------
        InputError : data of another model, or forces that are not of the present state.
        """
        answer = self._answer(data)
        return answer if isinstance(answer, MendedForces) else self._forces(answer)

    def mend_many(self, states: Iterable["MjData"]) -> MendedBatch:
        """Mended forces of many states of the model, each as ``mend`` has them.

        states : MjData of as many environments, or of moments of a trajectory; each may be changed
        as soon as it has been read, so that one MjData may be stepped on between them.

        Raises
        ------
        InputError : as ``mend``, with the number of the state.
        """
        answers = []
        for i, data in enumerate(states):
            try:
                answers.append(self._answer(data))
            except InputError as wrong:
                raise InputError(f"state {i}: {wrong}") from None
        return MendedBatch(answers, self._forces)

    def along(
        self, states: Iterable["MjData"], *, springs: ContactSprings | None = None
    ) -> Iterator[MendedForces]:
        """Mended forces of one state after another, whose contacts remember: each goes on from the
        springs of the one before it, matched by pair of geoms and nearest point.

        What ``mend`` has are the forces of contacts loaded slowly from nothing. Where a grasp was
        squeezed, pushed and let go, what sticks keeps friction forces that no balance tells, and
        they depend on the way. ``MendedBatch.of`` makes arrays of the states.

        states : one MjData that moves on between them, or several, in order of time. springs : of a
            state before the first (``MendedForces.springs``); None: contacts begin without forces.

        Where normal and friction forces
        are not found together (``on_friction="keep"``, no friction), there is nothing to remember.

        Raises
        ------
        InputError : as ``mend``, with the number of the state.
        """
        for i, data in enumerate(states):
            try:
                answer = self._answer(data, springs)
            except InputError as wrong:
                raise InputError(f"state {i}: {wrong}") from None
            mended = answer
            if not isinstance(answer, MendedForces):
                mended = self._forces(answer, springs)
            springs = mended.springs
            yield mended

    # a state

    def _answer(self, data, springs=None):
        """The answer of compiled code, or ``MendedForces`` of the general path."""
        given = self.given
        if springs is not None:
            given = given | dict(springs=checked_springs(springs))
        try:
            view = self._views[data]
        except (KeyError, TypeError):
            view = self._view(data)
        if data.ncon == 0 and self.wanted.load_from == "engine" and not self.general:
            return self._without_contacts(data, view)
        if self._left(data, view) or (springs is not None and self.wanted.options.exponent != 2.0):
            return from_mujoco(self.model, data, **given)
        memory = springs_as_arrays(springs)
        answer = mend_mujoco(*self._arguments(data, view), memory)
        if answer[0] == codes.UNKNOWN_PAIR:
            for pairs in self._pairs.values():
                pairs.learn(np.array(data.contact.geom, int).reshape(-1, 2))
            answer = mend_mujoco(*self._arguments(data, view), memory)
        if answer[0] != codes.SOLVED:
            return from_mujoco(self.model, data, **given)
        return answer

    def _forces(self, answer, springs=None) -> MendedForces:
        made = Made(self, answer, springs)
        _, force, tangential, _, _, rough, solves, residual, *_ = answer
        options = self.wanted.options
        return PreparedForces(
            made, options, force, tangential, made.rows, rough, residual, solves,
            made.springs, springs is not None, made.listed,
        )  # fmt: skip

    def _without_contacts(self, data, view) -> tuple:
        """Fields of ``Answer`` of a state without contacts."""
        n = len(self.held)
        kept = self._at_rest.copy()
        kept[2 * n :] = view.qvel
        return (
            codes.SOLVED, NOTHING, NO_FRICTION, kept, (0, 2, 1, n), False, 0, 0.0, 0.0, data.nefc, 0
        )  # fmt: skip

    def _left(self, data, view) -> bool:
        """Whether this state is left to the general path."""
        own = self._constant[10], self._constant[11]
        return bool(
            self.general
            or (view.asleep is not None and view.asleep.max() >= 0)
            or (len(view.active) > 0 and view.active.any() and self.equalities != "given")
            or 3 * data.ncon * len(self.held) > MOST
            or any(len(values) > 1 and len(values) != data.ncon for values in own)
        )

    def _arguments(self, data, view) -> tuple:
        """What ``mend_mujoco`` takes of a state."""
        contact, efc, state, places, flags = self._states.of(data, view)
        numbers = KINDS[self.wanted.load_from], *flags, self._springs
        return self._constant, contact, efc, state, places, self._load(data), numbers, self._law

    def _load(self, data):
        """Load (n,) before what normal forces deliver, as ``KINDS`` have it."""
        if self.wanted.load_from == "rest":
            return -(data.qfrc_smooth + data.qfrc_constraint)
        if self.wanted.load_from == "given":
            return arrays.vector("load", self.wanted.load, len(self.held), what="column")
        return np.zeros(len(self.held))

    def _view(self, data):
        expect("mend", data=(data, self.mujoco.MjData))
        if self.model.nv != len(data.qvel) or self.model.nbody != len(data.xpos):
            from_mujoco(self.model, data, **self.given)  # raises
        view = self._views[data] = View(data)
        return view

    # the model

    def _not_prepared(self) -> str:
        """Why compiled code does not read states of this model, or ""."""
        model, made = self.model, self.made
        moving = made.body_tree >= 0
        mass = np.bincount(
            made.tree[made.body_column[moving]],
            weights=np.array(model.body_mass, float)[moving],
            minlength=int(made.tree.max(initial=-1)) + 1,
        )
        pulls = [getattr(model, name, NOTHING) for name in ("geom_adhesion", "pair_adhesion")]
        reasons = {
            "its options": not takes(self.wanted.options),
            "springs are given": self.wanted.given.get("springs") is not None,
            "gap_tolerance is given": "gap_tolerance" in self.wanted.given,
            "accuracy is given by column": np.ndim(self.wanted.given.get("own_accuracy", 0.0)) > 0,
            "trees without mass": not (mass > 0.0).all(),
            "no degrees of freedom": int(model.nv) == 0,
            "flexible bodies": int(model.nflex) > 0,
            "adhesion": any(np.any(pull) for pull in pulls),
        }
        return next((why for why, found in reasons.items() if found), "")

    def _systems(self):
        """(nbody,): free system of each body, or OUTSIDE where held joints hold its base."""
        made = self.made
        whole = ~self.held[made.base_columns].any(axis=1)
        if whole.all():
            return made.system
        system = np.full(len(made.root), OUTSIDE)
        system[made.bases[whole]] = np.arange(int(whole.sum()))
        return system[made.root]

    def _tables(self, stiffness, friction):
        names = dict(geoms=self.made.geoms, bodies=self.made.bodies, body=self.made.geom_body)
        self._pairs = {}
        tables, own = [], []
        for name, given in (("stiffness", stiffness), ("friction", friction)):
            table, values = NO_TABLE, NOTHING
            if given is not None and by_name(given):
                self._pairs[name] = PairTable(name, given, **names)
                table = self._pairs[name].values
            elif given is not None:
                values = np.atleast_1d(np.asarray(given, float))
            tables.append(table)
            own.append(values)
        made, n = self.made, int(self.model.nv)
        accuracy = self.wanted.given.get("own_accuracy", 1e-6)
        self._constant = (
            np.ascontiguousarray(made.tree, np.int64),
            np.ascontiguousarray(made.turns),
            np.ascontiguousarray(made.geom_body, np.int64),
            np.ascontiguousarray(made.body_tree, np.int64),
            np.ascontiguousarray(made.body_column, np.int64),
            np.array(self.model.body_mass, float),
            self.held,
            np.full(n, float(accuracy)) if np.ndim(accuracy) == 0 else np.zeros(n),
            *tables,
            *own,
        )
