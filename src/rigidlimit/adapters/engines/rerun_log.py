"""Mended forces in a recording of Rerun: arrows beside the engine's, curves of parts, and bodies
of a MuJoCo model."""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from .arguments import expect, imported
from .mujoco import library
from .mujoco_model import name_of
from .result import MendedForces

if TYPE_CHECKING:
    from mujoco import MjData, MjModel
    from rerun import RecordingStream

COLORS = {"engine": (230, 159, 0), "mended": (0, 114, 178)}

LONGEST = 0.5
"""Length of the arrow of the largest force of the first state, over the size of its contacts."""

THICK = 0.02
"""Radius of arrows, over the length of the longest of the first state."""

SHOWN = 3
"""Groups of geoms below this are those that MuJoCo's viewer shows at first."""

ENDLESS = 10.0
"""Half of the edge that a plane without end is drawn with [m]."""

THIN = 1e-3
"""Half of the thickness that a plane is drawn with [m]; its top is the plane."""


class RerunLog:
    """Log of mended forces to a Rerun recording, which ``rerun walk.rrd`` shows.

    Parameters
    ----------
    recording : rerun.RecordingStream, optional
        None: that of the process (``rerun.init``).
    path : str
        Entity below which all is logged.
    scale : float [m/N], optional
        Length of arrows; None: as fits the first state that has forces.
    parts : sequence of str
        Names of parts, as ``MendedForces.on`` takes them, whose normal force and friction margin
        are logged as curves.

    Raises
    ------
    MissingExtra
        Without the package (extra ``rerun``).

    Examples
    --------
    Beside a MuJoCo simulation, into a file:

    >>> import mujoco, rerun
    >>> from rigidlimit.adapters import Mender, RerunLog
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    ... </worldbody></mujoco>''')
    >>> data, mender = mujoco.MjData(model), Mender(model)
    >>> recording = rerun.RecordingStream("box")
    >>> recording.save("box.rrd")
    >>> log = RerunLog(recording, parts=["box"])
    >>> for _ in range(3):
    ...     mujoco.mj_step(model, data)
    ...     log.bodies(model, data, time=data.time)
    ...     log.forces(mender.mend(data), time=data.time)
    >>> recording.disconnect()
    """

    def __init__(
        self,
        recording: "RecordingStream | None" = None,
        *,
        path: str = "contacts",
        scale: float | None = None,
        parts: Sequence[str] = (),
    ):
        self.rerun = imported("rerun", engine="Rerun", extra="rerun")
        if recording is not None:
            expect("RerunLog", recording=(recording, self.rerun.RecordingStream))
        if scale is not None and not scale > 0.0:
            raise InputError(f"scale is {scale}; expected metres per newton, above 0")
        self.recording, self.path, self.scale = recording, path, scale
        self.parts = (parts,) if isinstance(parts, str) else tuple(parts)
        self._radius = 0.0
        self._shown: Any = None  # the model whose shapes were logged
        self._styled = False

    def forces(self, mended: MendedForces, *, time: float | None = None) -> None:
        """Arrows of both on the second part of each contact, ``PATH/mended`` and, shifted by their
        thickness, ``PATH/engine``; curves ``PATH/PART/normal_force`` of both and
        ``PATH/PART/friction_margin``; the message where forces did not converge.

        Parameters
        ----------
        mended : MendedForces
        time : float [s], optional
            On the timeline "time"; None: the recording's own.

        Raises
        ------
        InputError
            For a part that the model does not have, and without contact points.
        """
        self._at(time)
        listed = mended.listed
        if listed.places is None:
            raise InputError("arrows need places=: contact points, normals and tangents")
        point = listed.places.sides.mean(axis=1)
        both = {"mended": mended.vectors[listed.row], "engine": mended.engine_vectors[listed.row]}
        self._fit(both["mended"], listed.places)
        aside = np.zeros_like(point)
        if listed.places.tangents is not None:
            aside = 3.0 * self._radius * np.asarray(listed.places.tangents)[:, 0]
        for name, vectors in both.items():
            known = np.isfinite(vectors).all(axis=1)
            arrows = self.rerun.Arrows3D(
                vectors=(self.scale or 1.0) * vectors[known],
                origins=point[known] + (aside[known] if name == "engine" else 0.0),
                radii=self._radius,
                colors=COLORS[name],
                labels=[f"{np.linalg.norm(v):.3g} N" for v in vectors[known]],
                show_labels=False,
            )
            self._log(name, arrows)
        for part in self.parts:
            net = mended.on(part)
            engine = float(mended.engine_force[net.contacts].sum())
            self._log([part, "normal_force"], self.rerun.Scalars([net.normal_force, engine]))
            if np.isfinite(net.friction_margin):
                margin = self.rerun.Scalars([net.friction_margin])
                self._log([part, "friction_margin"], margin)
        if not mended.converged:
            self._log("message", self.rerun.TextLog(mended.message, level="WARN"))

    def bodies(self, model: "MjModel", data: "MjData", *, time: float | None = None) -> None:
        """Shapes of a MuJoCo model as it shows them (groups 0 to 2), below ``PATH/bodies``. Height
        fields, flexes and skins are left out.

        Parameters
        ----------
        model : MjModel
        data : MjData
            Whose poses are shown.
        time : float [s], optional
            As for ``forces``.
        """
        self._at(time)
        if self._shown is not model:
            for name, number, shape in _body_shapes(self.rerun, model):
                self._log(["bodies", name, f"geom {number}"], shape, static=True)
            self._shown = model
        for name, pose in _body_poses(self.rerun, model, data):
            self._log(["bodies", name], pose)

    def _at(self, time):
        if time is not None:
            self.rerun.set_time("time", duration=float(time), recording=self.recording)
        if not self._styled:
            self._styled = True
            lines = self.rerun.SeriesLines(
                names=["mended", "engine"], colors=[COLORS["mended"], COLORS["engine"]]
            )
            for part in self.parts:
                self._log([part, "normal_force"], lines, static=True)

    def _fit(self, vectors, places):
        """The scale of the first state with forces."""
        largest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
        if self._radius == 0.0 and largest > 0.0:
            longest = LONGEST * places.size if self.scale is None else self.scale * largest
            self.scale, self._radius = longest / largest, THICK * longest

    def _log(self, name, what, static=False):
        inner = [name] if isinstance(name, str) else list(name)
        whole = self.rerun.new_entity_path([*filter(None, self.path.split("/")), *inner])
        self.rerun.log(whole, what, static=static, recording=self.recording)


def _body_shapes(rerun: ModuleType, model: "MjModel") -> Iterator[tuple[str, int, Any]]:
    """(name of its body, number, shape in the body's frame) of each geom that is drawn."""
    mujoco = library()
    for i in range(int(model.ngeom)):
        if int(model.geom_group[i]) >= SHOWN:
            continue
        shape = _shape(rerun, mujoco, model, i)
        if shape is not None:
            yield name_of(mujoco, model, "BODY", model.geom_bodyid[i]), i, shape


def _body_poses(rerun: ModuleType, model: "MjModel", data: "MjData") -> Iterator[tuple[str, Any]]:
    """(name, transform) of each body."""
    mujoco = library()
    for i in range(int(model.nbody)):
        pose = rerun.Transform3D(
            translation=np.array(data.xpos[i]), quaternion=_turned(data.xquat[i])
        )
        yield name_of(mujoco, model, "BODY", i), pose


def _shape(rerun, mujoco, model, i):
    kinds, size = mujoco.mjtGeom, np.array(model.geom_size[i], float)
    kind, at = int(model.geom_type[i]), np.array(model.geom_pos[i], float)
    color = (255 * np.array(model.geom_rgba[i], float)).astype(np.uint8)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[i])
    turn = turn.reshape(3, 3)
    placed = dict(quaternions=[_turned(model.geom_quat[i])], colors=[color])
    solid = placed | dict(centers=[at], fill_mode="solid")
    if kind == int(kinds.mjGEOM_PLANE):
        half = np.append(np.where(size[:2] > 0.0, size[:2], ENDLESS), THIN)
        return rerun.Boxes3D(half_sizes=[half], **solid | dict(centers=[at - THIN * turn[:, 2]]))
    if kind == int(kinds.mjGEOM_BOX):
        return rerun.Boxes3D(half_sizes=[size], **solid)
    if kind == int(kinds.mjGEOM_SPHERE):
        return rerun.Ellipsoids3D(half_sizes=[np.repeat(size[0], 3)], **solid)
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        return rerun.Ellipsoids3D(half_sizes=[size], **solid)
    if kind == int(kinds.mjGEOM_CYLINDER):
        return rerun.Cylinders3D(lengths=[2 * size[1]], radii=[size[0]], **solid)
    if kind == int(kinds.mjGEOM_CAPSULE):
        # Rerun's begins at its lower centre and goes up
        low = at - size[1] * turn[:, 2]
        return rerun.Capsules3D(
            lengths=[2 * size[1]], radii=[size[0]], translations=[low], fill_mode="solid", **placed
        )
    if kind == int(kinds.mjGEOM_MESH):
        return _mesh(rerun, model, int(model.geom_dataid[i]), at, turn, color)
    return None


def _mesh(rerun, model, mesh, at, turn, color):
    begin, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    points = np.array(model.mesh_vert[begin : begin + count], float)
    return rerun.Mesh3D(
        vertex_positions=points @ turn.T + at,
        triangle_indices=np.array(model.mesh_face[first : first + faces]),
        albedo_factor=color,
    )


def _turned(quaternion):
    """MuJoCo's (w, x, y, z) as (x, y, z, w)."""
    return np.roll(np.array(quaternion, float), -1)
