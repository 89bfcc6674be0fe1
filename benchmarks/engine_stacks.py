"""Scenes of robots as the stacked arrays of simulators of many environments."""

import numpy as np

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import ArrayMender, Places, from_mujoco, mend_forces


def recorded_scene(name: str, moments: int = 5, seed: int = 0) -> "Recorded":
    """A scene of ``SCENES`` at some moments of a motion that is disturbed in every step."""
    import mujoco

    model, data = SCENES[name]().made()
    rng, found = np.random.default_rng(seed), []
    for _ in range(moments):
        data.qvel[:] += 1e-3 * rng.normal(size=model.nv)
        mujoco.mj_step(model, data)
        found.append(from_mujoco(model, data).contacts)
    return Recorded(found, rng)


class Recorded:
    """``EngineContacts`` of MuJoCo as stacked arrays with room for two more contacts than there
    are, in which stands what no one may look at.

    mask, arrays: what ``ArrayMender.mend_many`` takes; kept: what it takes once; names: of parts.
    """

    def __init__(self, found, rng):
        self.first = found[0]
        width, n = max(len(c.row) for c in found) + 2, found[0].B.shape[1]
        shape = (len(found), width)
        self.mask = np.zeros(shape, bool)
        self.arrays = dict(
            B=np.full((*shape, n), np.nan), engine_force=np.full(shape, np.inf),
            sliding=np.full((*shape, 2, n), np.nan), tangential=np.full((*shape, 2), np.nan),
            friction=np.full((*shape, 2), -1.0), gap=np.full(shape, np.nan),
            gap_tolerance=np.full(shape, 1e-5), point=np.full((*shape, 3), np.nan),
            normal=np.full((*shape, 3), np.nan), tangents=np.full((*shape, 2, 3), np.nan),
            part=np.zeros((*shape, 2), int),
        )  # fmt: skip
        for e, c in enumerate(found):
            own = np.sort(rng.choice(width, len(c.row), replace=False))
            self.mask[e, own] = True
            sliding = c.tangential_rows(np.arange(len(own)), 2)
            values = dict(
                B=c.B, engine_force=c.engine_force, sliding=sliding, tangential=c.tangential,
                friction=c.friction, gap=c.gap, gap_tolerance=c.gap_tolerance,
                point=c.places.point, normal=c.places.normal, tangents=c.places.tangents,
                part=c.places.parts.geom,
            )  # fmt: skip
            for key, value in values.items():
                value = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
                room = self.arrays[key]
                if key in ("tangential", "friction"):
                    value = value[:, :2]
                room[e, own] = value.reshape(len(own), *room.shape[2:])
        self.kept = dict(held=self.first.held, mechanism=self.first.mechanism)
        self.kept |= dict(reach=self.first.reach)
        self.names = self.first.places.parts.geoms

    def mender(self, **options):
        return ArrayMender(names=self.names, engine="MuJoCo", **self.kept, **options)

    def one(self, e, **options):
        """By ``mend_forces``."""
        own = np.flatnonzero(self.mask[e])
        a = {key: value[e, own] for key, value in self.arrays.items()}
        geometry = {key: a.pop(key) for key in ("point", "normal", "tangents")}
        part = a.pop("part")
        pairs = [tuple(self.names[i] for i in pair) for pair in part]
        places = Places(**geometry, names=pairs, system=np.full_like(part, -1))
        a["sliding"] = a["sliding"].reshape(-1, a["B"].shape[1])
        return mend_forces(
            **a, **self.kept, places=places, row=own, contacts=self.mask.shape[1],
            engine="MuJoCo", **options,
        )  # fmt: skip

    def repeated(self, count):
        """(mask, arrays) of so many environments, these again and again."""
        which = np.arange(count) % len(self.mask)
        return self.mask[which], {key: value[which] for key, value in self.arrays.items()}
