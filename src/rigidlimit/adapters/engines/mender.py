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
from .arguments import expect
from .links import free_systems
from .materials import ByContact, by_name
from .memory import ContactSprings, checked_springs
from .mended_batch import MendedBatch
from .mujoco import from_mujoco, held_columns, library
from .mujoco_addresses import address
from .mujoco_links import named_equalities
from .mujoco_model import structure
from .mujoco_view import StateArrays, View
from .prepared import codes
from .prepared.answer import CODE, without_contacts
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

NOTHING = np.zeros(0)
NO_TABLE = np.zeros((0, 0))

SPRINGS = 26
"""Place of the address of springs among what compiled code takes of a model."""

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
        named_equalities(mujoco, model, equalities)  # raises
        self._states = StateArrays(mujoco, model)
        self._views: WeakKeyDictionary = WeakKeyDictionary()
        self._load, self._springs = np.zeros(int(model.nv)), np.zeros(5, np.int64)
        if self.wanted.load_from == "given":
            load = arrays.vector("load", self.wanted.load, len(self.held), what="column")
            self._load = load.astype(float)
        self._options_now: tuple = ()
        self._options = np.array([
            *np.zeros(8), KINDS[self.wanted.load_from],
            stiffness is None and self.wanted.options.exponent == 2.0, equalities == "given",
            *compiled_law(self.wanted.options),
        ])  # fmt: skip
        self._model = self._tables(stiffness, friction)
        self.general = self._not_prepared()
        self.cone = self._states.codes.cone
        made = self.made
        self.system = free_systems(made.root, made.bases, made.base_columns, self.held)

    def __repr__(self) -> str:
        how = f"as from_mujoco: {self.general}" if self.general else "prepared"
        return f"<Mender of {self.model.nbody - 1} bodies, {how}>"

    def mend(self, data: "MjData") -> MendedForces:
        """Mended forces of one state, as ``from_mujoco`` has them.

        What is not asked of the result is not made: its message, notes and balance come from what
        was kept of the state.

        Parameters
        ----------
        data : MjData
            After ``mj_step`` or ``mj_forward``.

        Raises
        ------
        InputError
            For data of another model, or forces that are not of the present state.
        """
        answer = self._answer(data)
        return answer if isinstance(answer, MendedForces) else self._forces(answer)

    def mend_many(self, states: Iterable["MjData"]) -> MendedBatch:
        """Mended forces of many states of the model, each as ``mend`` has them.

        Parameters
        ----------
        states : iterable of MjData
            Of as many environments, or of moments of a trajectory; each may be changed as soon as
            it has been read, so that one MjData may be stepped on between them.

        Raises
        ------
        InputError
            As ``mend``, with the number of the state.
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
        they depend on the way. ``MendedBatch.of`` makes arrays of the states. Where normal and
        friction forces are not found together (``on_friction="keep"``, no friction), there is
        nothing to remember.

        Parameters
        ----------
        states : iterable of MjData
            One that moves on between them, or several, in order of time.
        springs : ContactSprings, optional
            Of a state before the first (``MendedForces.springs``); None: contacts begin without
            forces.

        Raises
        ------
        InputError
            As ``mend``, with the number of the state.
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
            return without_contacts(view.qvel, data.nefc)
        if self.general or (springs is not None and self.wanted.options.exponent != 2.0):
            return from_mujoco(self.model, data, **given)
        states, model = self._states, self._model
        if self.wanted.load_from == "rest":
            # what holds all at rest, before what normal forces deliver
            np.add(data.qfrc_smooth, data.qfrc_constraint, out=self._load)
            np.negative(self._load, out=self._load)
        now = states.now()
        if now != self._options_now:
            options = states.options()
            self._options_now, self._options[: len(options)] = now, options
        earlier = () if springs is None else springs.arrays
        if springs is not None:
            self._springs[:] = [address(array) for array in earlier]
            model[SPRINGS : SPRINGS + 2] = address(self._springs), len(springs)
        states.pose(data, view)
        place, ncon, nefc = states.place(data, view), data.ncon, data.nefc
        answer = mend_mujoco(model, place, ncon, nefc, False)
        if answer[CODE] == codes.FAR:
            states.pose_before(view)
            answer = mend_mujoco(model, place, ncon, nefc, True)
        if answer[CODE] == codes.UNKNOWN_PAIR:
            for pairs in self._pairs.values():
                pairs.learn(np.array(data.contact.geom, int).reshape(-1, 2))
            states.pose_before(view)
            answer = mend_mujoco(model, place, ncon, nefc, True)
        if springs is not None:
            model[SPRINGS] = 0
        if answer[CODE] != codes.SOLVED:
            return from_mujoco(self.model, data, **given)
        return answer

    def _forces(self, answer, springs=None) -> MendedForces:
        return PreparedForces(Made(self, answer, springs), self.wanted.options)

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
            "its arrays are of unknown types": not self._states.known,
            "adhesion": any(np.any(pull) for pull in pulls),
        }
        return next((why for why, found in reasons.items() if found), "")

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
                numbers = "finite numbers, one per contact"
                values = np.atleast_1d(arrays.finite(name, given, expected=numbers))
                if name == "stiffness" and not (values > 0.0).all():
                    raise InputError(f"stiffness is {values.min()}; expected positive numbers")
            tables.append(table)
            own.append(values)
        made, n = self.made, int(self.model.nv)
        accuracy = self.wanted.given.get("own_accuracy", 1e-6)
        # kept, as compiled code goes by their addresses
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
        sizes = n, len(made.body_tree), len(made.geom_body), *map(len, (*tables, *own))
        states = self._states
        load = 0 if self.wanted.load_from == "engine" else address(self._load)
        return np.array([
            *sizes, *map(address, self._constant), *states.poses, load, address(self._options),
            0, 0, *states.layout,
        ], np.int64)  # fmt: skip
