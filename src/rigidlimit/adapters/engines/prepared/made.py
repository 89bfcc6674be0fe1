"""``EngineContacts`` of states that compiled code has read, made when they are asked for."""

from dataclasses import replace

import numpy as np

from ...._support.matrices import compact
from ..arguments import kept_as_is, stopped_short
from ..contacts import EngineContacts
from ..geometry import Places
from ..listed import Listed
from ..materials import by_name
from ..memory import ContactSprings
from ..mujoco import ADVICE, notes_of_mocap, notes_of_rows, notes_of_stiffness
from ..parts import NamedParts
from .answer import PARTS, Answer
from .columns import expanded


class Made(Answer):
    """``FoundForces`` of a state that was read by compiled code."""

    def __init__(self, mender, out: np.ndarray, springs=None):
        super().__init__(out)
        self.mender, self.before = mender, springs

    @property
    def goes_on(self) -> bool:
        return self.before is not None

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (m,) of solved contacts, and whether they took part."""
        return self.part("row"), self.part("took_part") != 0.0

    def springs(self) -> ContactSprings:
        """What the contacts remember, as ``memory.springs_of`` has it."""
        own = np.flatnonzero(self.part("took_part"))
        frame = self.part("frame").reshape(-1, 3, 3)[own]
        along = self.tangential[self.part("row")[own], :2]
        return ContactSprings(
            part=self.part("geom")[own],
            point=self.part("point")[own],
            normal=np.ascontiguousarray(frame[:, 0]),
            normal_force=self.part("remembered")[own],
            tangential=along[:, :1] * frame[:, 1] + along[:, 1:] * frame[:, 2],
        )

    def listed(self) -> Listed:
        """The contacts, without what only balance needs."""
        return Listed(
            contacts=self.count,
            row=self.part("row"),
            places=self._places(),
            engine_force=self.part("normal"),
            tangential=self.part("tangential"),
            friction=self.part("friction"),
        )

    def _places(self):
        geom, made = self.part("geom"), self.mender.made
        frame = self.part("frame").reshape(-1, 3, 3)
        parts = NamedParts(
            geom=geom, body=made.geom_body[geom], geoms=made.geoms, bodies=made.bodies
        )
        return Places(
            point=self.part("point"), normal=frame[:, 0], tangents=frame[:, 1:], names=parts.pairs,
            system=self.mender.system[parts.body], centre=self.part("centre"), parts=parts,
        )  # fmt: skip

    def contacts(self) -> EngineContacts:
        """The contacts, as the reader of the general path fills them."""
        mender = self.mender
        kept = {name: self.part(name) for name in PARTS}
        wanted, ncon = mender.wanted, self.count
        m, s, _, n = self.sizes
        rows = expanded(kept["values"], kept["column"], kept["count"], n)
        places = self._places()
        pyramids = bool(mender.model.opt.cone == mender.cone)
        stiffness, said = self._stiffness()
        as_is = kept_as_is(kept["tangential"], wanted.options.on_friction, self.other)
        residual = self.engine_residual
        made = EngineContacts(
            compact(rows[:, 0].copy()),
            kept["normal"],
            load=None if wanted.load_from == "engine" else kept["load"],
            load_from=wanted.load_from,
            held=mender.held,
            tangential=kept["tangential"],
            friction=kept["friction"],
            cone="pyramid" if pyramids and (kept["dim"] > 1).any() else "elliptic",
            sliding=compact(rows[:, 1:].reshape(m * s, n)),
            gap=kept["gap"],
            gap_tolerance=kept["gap_tolerance"],
            mechanism=mender.made.tree,
            columns=mender.made.columns,
            reach=kept["reach"],
            links=np.zeros((0, n)),
            link_accuracy=np.zeros(0),
            places=places,
            row=kept["row"],
            contacts=ncon,
            velocity=kept["velocity"],
            engine="MuJoCo",
            engine_residual=residual,
            stiffness=stiffness,
            springs=self.before,
            notes=(
                *said,
                *stopped_short("MuJoCo", residual, wanted.load_from, ADVICE, kept=as_is),
                *notes_of_rows(self.other, ncon - m),
                *notes_of_mocap(mender.made, places.parts.body),
            ),
        )
        given = wanted.given
        if not ncon:  # values of each contact are not of this number
            given = {name: value for name, value in given.items() if name == "own_accuracy"}
        return replace(made, **given) if given else made

    def _stiffness(self):
        """As ``mujoco._stiffness`` says it."""
        found, own = self.part("stiffness"), self.mender.stiffness
        said = notes_of_stiffness(own, self.direct, len(found))
        return own if by_name(own) else found, said
