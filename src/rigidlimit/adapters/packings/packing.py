"""``read_packing``: a packing from another program's file as a scene, and its forces."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..._support.display import Brief
from ..._support.words import counted
from ...bodies import Material
from ...errors import InputError, SceneError, nearest
from ...pose import PoseForces, Springs, forces_at_pose
from ...scenes.scene import Scene
from .balls import UNITS, Balls, as_scene
from .box import Box
from .csv_table import read_csv
from .lammps_data import begins_data, read_data
from .lammps_dump import begins_dump, read_dump
from .lammps_local import read_local, springs_of
from .lines import Text, read_text
from .yade_text import read_yade

FORMATS = {
    "lammps-dump": "LAMMPS or LIGGGHTS dump",
    "lammps-data": "LAMMPS or LIGGGHTS data file",
    "yade": "YADE text",
    "csv": "CSV",
    "mjcf": "MJCF or URDF",
}


@dataclass(frozen=True, repr=False)
class Packing(Brief):
    """A packing that was read, in SI units.

    scene: its bodies, balls in the order of their ids and named by them, then walls. box: the
    file's, or None; where it is periodic the scene has it as its ``cell``. columns: other numbers
    of the file, name -> (n,), as they stand, one a ball; "type" (n,) where the file has types.
    stiffness [N/m^(p-1)]: of every contact, as given, or None. notes: what of the file is not in
    the scene. springs: tangential forces of contacts that rub, as read, or None. left_out: elements
    of a model (MJCF, URDF) that were not taken over, {kind: names}.
    """

    scene: Scene
    format: str
    box: Box | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    stiffness: float | None = None
    notes: tuple[str, ...] = ()
    springs: Springs | None = None
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def message(self) -> str:
        said = f"{self.scene.name}: {counted(len(self.scene), 'body')} from {FORMATS[self.format]}"
        box = "" if self.box is None else f", box {self.box.message}"
        return said + box + "".join(f"; {note}" for note in self.notes)

    def forces(
        self,
        *,
        stiffness: float | None = None,
        law: str | float | None = None,
        springs: Springs | None = None,
        balance: bool = True,
    ) -> PoseForces:
        """Forces at the imported pose, with its own overlaps (``forces_at_pose``).

        Parameters
        ----------
        stiffness : float, optional
            Of every contact [N/m^(p-1)]; by default that given to ``read_packing``, else that of
            the materials.
        law, springs
            As of ``forces_at_pose``; springs by default those that were read.
        balance : bool
            False: the forces that overlaps and springs press with as they stand, as of a packing
            that was not at rest.

        Raises
        ------
        InputError
            Where nothing touches.
        """
        stiffness = self.stiffness if stiffness is None else stiffness
        springs = self.springs if springs is None else springs
        return forces_at_pose(
            self.scene, stiffness=stiffness, law=law, springs=springs, balance=balance
        )


def read_packing(
    path: str | Path,
    *,
    format: str | None = None,
    frame: int = -1,
    units: str | None = None,
    dim: int | None = None,
    radius: float | dict[int, float] | None = None,
    material: Material | dict[int, Material] | None = None,
    stiffness: float | None = None,
    fixed: Sequence[int] = (),
    walls: bool | Sequence[str] = False,
    periodic: str = "keep",
    boundary: str | None = None,
    atom_style: str | None = None,
    springs: str | Path | None = None,
    gravity: ArrayLike | None = None,
    law: str | float = "hooke",
    dt: float = 1e-3,
) -> Packing:
    """A packing from a file of LAMMPS, LIGGGHTS, YADE, MuJoCo, of a table, or of a robot.

    Parameters
    ----------
    path
        Data file or dump of LAMMPS or LIGGGHTS, text of YADE (x y z r), CSV with named columns,
        MJCF or URDF; plain or gzip.
    format : str, optional
        "lammps-dump", "lammps-data", "yade", "csv" or "mjcf"; by default told by the contents.
    frame : int
        Which snapshot of a dump: 0 the first, -1 the last.
    units : str, optional
        LAMMPS' "si", "cgs", "micro", "nano" or "lj" (taken as they are); by default what the file
        says, else "si".
    dim : int, optional
        2 for disks in the plane; by default 3, and 2 for tables without z.
    radius : float or dict, optional
        [m] where the file has none: of all balls, or by type.
    material : Material or dict, optional
        Of all balls, or by type. Its density counts where the file has neither mass nor density.
    stiffness : float, optional
        Of every contact [N/m^(p-1)], for ``Packing.forces``.
    fixed : sequence of int
        Types whose balls are held.
    walls : bool or sequence of str
        True: half-spaces at the faces of the box that are not periodic; or some of "xlo", "xhi",
        "ylo", ...
    periodic : str
        "keep": a periodic box becomes the scene's ``cell``; "ignore": nothing touches across it;
        axes, like "xy": it stays periodic along these alone, as of one layer of balls between
        faces that LAMMPS wants periodic (boundary p p p).
    boundary : str, optional
        Of data files, which do not say it: like "ppf".
    atom_style : str, optional
        Of data files that do not say it: "sphere" (default), "granular", "bpm/sphere", "atomic".
    springs
        LAMMPS' dump of pairs (local) with two ids and the tangential force on the first: what
        contacts that rub remember, for ``Packing.forces``.
    gravity, law, dt
        Of the scene; no file says them. By default 9.81 m/s^2 downwards, and none in boxes that
        are periodic downwards, in the file also where ``periodic`` names other axes.

    Raises
    ------
    InputError
        With file and line where the file does not fit its format.
    """
    path = Path(path)
    along = _kept_axes(periodic)
    if format is not None and format not in FORMATS:
        raise InputError(f"format is {format!r}; {nearest(format, FORMATS)}")
    of_scene = dict(gravity=gravity, law=law, dt=dt)
    text = read_text(path)
    format = format or _format_of(text)
    if format == "mjcf":
        from .mjcf import read_mjcf

        scene, left_out = read_mjcf(path, material=material, **of_scene)
        names = {kind: tuple(each) for kind, each in left_out.names.items()}
        return Packing(scene, format, stiffness=stiffness, notes=left_out.notes, left_out=names)
    if boundary is not None and format != "lammps-data":
        raise InputError(
            f"{path}: boundary is given, but {FORMATS[format]} says it itself, or has none; remove "
            "boundary="
        )
    balls = {
        "lammps-dump": lambda: read_dump(text, frame),
        "lammps-data": lambda: read_data(text, style=atom_style, boundary=boundary),
        "yade": lambda: read_yade(text),
        "csv": lambda: read_csv(text),
    }[format]()
    name = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    with _named(path):
        balls = balls.scaled(units).with_radius(radius)
        if periodic not in ("keep", "ignore") and gravity is None and _periodic_down(balls, dim):
            of_scene["gravity"] = np.zeros(dim or 3)
        balls = _in_box(balls, along)
        _check_width(balls, dim or (2 if balls.planar else 3))
        scene = as_scene(
            balls, name, dim=dim, material=material, fixed=fixed, walls=walls, **of_scene
        )
    columns = balls.columns | ({} if balls.type is None else {"type": balls.type})
    kept, notes = None, ()
    if format == "lammps-data" and boundary is None:
        notes = ("data files do not say what is periodic, boundary= does",)
    if springs is not None:
        pairs = read_local(read_text(springs), frame)
        with _named(springs):
            kept = springs_of(scene.bodies, scene.state, *pairs, _newtons(units or balls.units))
        scene.springs = kept
    return Packing(scene, format, balls.box, columns, stiffness, notes, kept)


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Errors of input with the file in front; those of the scene name its bodies."""
    try:
        yield
    except SceneError:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _newtons(units: str) -> float:
    """Newtons in one of LAMMPS' units of force."""
    length, mass, time = UNITS[units or "si"]
    return mass * length / time**2


def _kept_axes(periodic: str) -> np.ndarray:
    """Along which axes a periodic box stays so, (3,) bool."""
    if periodic in ("keep", "ignore"):
        return np.full(3, periodic == "keep")
    axes = set(periodic) if isinstance(periodic, str) else set()
    if not axes or not axes <= set("xyz"):
        raise InputError(f"periodic is {periodic!r}; expected 'keep', 'ignore', or axes, like 'xy'")
    return np.array([axis in axes for axis in "xyz"])


def _periodic_down(balls: Balls, dim: int | None) -> bool:
    """Whether the file's box is periodic along the axis that gravity has by default."""
    return balls.box is not None and bool(balls.box.periodic[(dim or 3) - 1])


def _check_width(balls: Balls, dim: int) -> None:
    """Raise InputError for balls that reach around a periodic box, as around that of one layer."""
    if balls.box is None or not len(balls):
        return
    widest = int(np.argmax(balls.radius))
    across = 2.0 * balls.radius[widest]
    for k in np.flatnonzero(balls.box.periodic[:dim]):
        width = abs(np.linalg.det(balls.box.edges)) / np.linalg.norm(
            np.cross(balls.box.edges[k - 2], balls.box.edges[k - 1])
        )
        if across > width:
            axis = "xyz"[k]
            others = "xyz".replace(axis, "")
            raise InputError(
                f"ball {balls.id[widest]} measures {across:.4g} m, the periodic box {width:.4g} m "
                f"along {axis}; of one layer of balls give periodic={others!r}, or dim=2 for disks "
                "in the plane (--periodic, --dim); periodic='ignore' takes no box as periodic"
            )


def _in_box(balls: Balls, along: np.ndarray) -> Balls:
    """With centres within the box along its periodic edges; then periodic along (3,) alone."""
    box = balls.box
    if box is None or not box.periodic.any():
        return balls
    balls = replace(balls, position=box.wrapped(balls.position))
    return replace(balls, box=Box(box.origin, box.edges, box.periodic & along))


def _format_of(text: Text) -> str:
    """The format, by contents and, of tables, by a line of names."""
    head = next((line for line in text.lines if line.strip()), "").strip()
    if not head:
        raise InputError(
            f"{text.path}: an empty file; expected one of {', '.join(FORMATS.values())}"
        )
    if head.startswith("<"):
        return "mjcf"
    if begins_dump(text):
        return "lammps-dump"
    if begins_data(text):
        return "lammps-data"
    first = next((k for k in text.lines if k.strip() and not k.startswith("#")), "")
    words = first.replace(",", " ").replace(";", " ").split()
    if words and any(word[0].isalpha() for word in words):
        if any(word.lower() in ("x", "x[m]") for word in words):
            return "csv"
    elif len(words) >= 4 and "," not in first:
        return "yade"
    raise InputError(
        f"{text.path}: begins with {head[:60]!r}, which is none of {', '.join(FORMATS.values())}; "
        "a table begins with the names of its columns, x, y, z, radius; a mesh is a shape of a "
        'scene file (shape = "polyhedron", mesh = ...)'
    )
