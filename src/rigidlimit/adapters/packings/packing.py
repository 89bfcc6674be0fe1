"""``read_packing``: a packing from another program's file as a scene, and its forces."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..._support.display import Brief
from ..._support.words import counted
from ...bodies import Material
from ...errors import InputError, nearest
from ...pose import PoseForces, Springs, forces_at_pose, given_forces
from ...scenes.scene import Scene
from .balls import Balls, as_scene, check_width, in_box, kept_axes, newtons, periodic_down
from .box import Box
from .contact_forces import read_contact_forces, walls_left_out
from .lammps_local import read_local, springs_of
from .lines import named, read_text
from .reading import FORMATS, format_of, notes_of, read_balls


@dataclass(frozen=True, repr=False)
class Packing(Brief):
    r"""A packing that was read, in SI units. n balls.

    Attributes
    ----------
    scene : Scene
        Its bodies, balls in the order of their ids and named by them, then walls.
    format : str
        As of ``read_packing``.
    box : Box or None
        The file's; where it is periodic the scene has it as its ``cell``.
    columns : dict of str to (n,) ndarray
        Other numbers of the file, as they stand, one a ball; "type" where the file has types.
    stiffness : float [N/m^(p-1)] or None
        Of every contact, as given.
    notes : tuple of str
        What of the file is not in the scene.
    springs : Springs or None
        Tangential forces of contacts that rub, as read.
    left_out : dict of str to tuple of str
        Elements of a model (MJCF, URDF) that were not taken over: names by kind.
    given : PoseForces or None
        Contact forces of the program that made the packing, as read.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> with open("balls.csv", "w") as file:
    ...     print("x,y,z,radius", "0,0,0,0.5", "0,0,0.99,0.5", sep="\n", file=file)
    >>> packing = rl.read_packing("balls.csv", fixed=())
    >>> packing.format, len(packing.scene), packing.scene.name
    ('csv', 2, 'balls')
    """

    scene: Scene
    format: str
    box: Box | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    stiffness: float | None = None
    notes: tuple[str, ...] = ()
    springs: Springs | None = None
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    given: PoseForces | None = None

    @property
    def message(self) -> str:
        said = f"{self.scene.name}: {counted(len(self.scene), 'body')} from {FORMATS[self.format]}"
        box = "" if self.box is None else f", box {self.box.in_words(self.scene.dim)}"
        return said + box + "".join(f"; {note}" for note in self.notes)

    def forces(
        self,
        *,
        stiffness: float | None = None,
        law: str | float | None = None,
        springs: Springs | None = None,
        balance: bool = True,
        touch: float = 0.0,
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
        touch : float [m]
            Gaps up to this are closed, as of packings whose balls do not quite touch.

        Raises
        ------
        InputError
            Where nothing touches.
        """
        stiffness = self.stiffness if stiffness is None else stiffness
        springs = self.springs if springs is None else springs
        return forces_at_pose(
            self.scene, stiffness=stiffness, law=law, springs=springs, balance=balance, touch=touch
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
    wall_material: Material | None = None,
    periodic: str = "keep",
    boundary: str | None = None,
    atom_style: str | None = None,
    columns: str | None = None,
    springs: str | Path | None = None,
    contact_forces: str | Path | None = None,
    gravity: ArrayLike | None = None,
    law: str | float = "hooke",
    dt: float = 1e-3,
) -> Packing:
    r"""A packing from a file of LAMMPS, LIGGGHTS, YADE, MercuryDPM, MuJoCo, VTK, or of a table.

    Parameters
    ----------
    path : str or Path
        Data file or dump of LAMMPS or LIGGGHTS, text of YADE (x y z r), ``.data`` or ``.restart``
        of MercuryDPM, legacy VTK as text, CSV with named columns, a table with ``columns``, MJCF
        or URDF; plain or gzip.
    format : str, optional
        "lammps-dump", "lammps-data", "yade", "mercury-data", "mercury-restart", "vtk", "csv",
        "raw" or "mjcf"; by default found from the contents.
    frame : int
        Which snapshot of a dump: 0 the first, -1 the last.
    units : str, optional
        LAMMPS' "si", "cgs", "micro", "nano" or "lj" (taken as they are); by default what the file
        says, else "si".
    dim : int, optional
        2 for disks in the plane; by default 3, and 2 for tables without z.
    radius : float or dict [m], optional
        Where the file has none: of all balls, or by type.
    material : Material or dict, optional
        Of all balls, or by type. Its density counts where the file has neither mass nor density.
    stiffness : float [N/m^(p-1)], optional
        Of every contact, for ``Packing.forces``.
    fixed : sequence of int
        Types whose balls are held.
    walls : bool or sequence of str
        True: half-spaces at the faces of the box that are not periodic; or some of "xlo", "xhi",
        "ylo", ...
    wall_material : Material, optional
        Of these walls; by default that of the balls, where it is one. A contact has the smaller
        friction of its two sides.
    periodic : str
        "keep": a periodic box becomes the scene's ``cell``; "ignore": nothing touches across it;
        axes, like "xy": it stays periodic along these alone, as of one layer of balls between
        faces that LAMMPS wants periodic (boundary p p p).
    boundary : str, optional
        Of data files, which do not say it: like "ppf".
    atom_style : str, optional
        Of data files that do not say it: "sphere" (default), "granular", "bpm/sphere", "atomic".
    columns : str, optional
        Of tables without a line of names: like "x y z diameter"; "-" for one that is left out.
    springs : str or Path, optional
        LAMMPS' dump of pairs (local) with two ids and the tangential force on the first: what
        contacts that rub remember, for ``Packing.forces``.
    contact_forces : str or Path, optional
        Contact forces of the program itself, which become ``Packing.given``: LIGGGHTS' or LAMMPS'
        local dump of ids and forces, MercuryDPM's ``.fstat``, or a table id1, id2, fx, fy, fz.
    gravity : (dim,) [m/s^2], optional
        No file says it. By default 9.81 downwards, and none in boxes that are periodic downwards,
        in the file also where ``periodic`` names other axes.
    law : str or float
        Of the scene: "hooke", "hertz" or the exponent p; no file says it.
    dt : float [s]
        Of the scene; no file says it.

    Raises
    ------
    InputError
        With file and line where the file does not fit its format.
    SceneError
        For bodies that a scene does not take, and models (MJCF, URDF) that cannot be read.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> with open("balls.csv", "w") as file:
    ...     print("x,y,z,radius,density", "0,0,0.5,0.5,1000", sep="\n", file=file)
    >>> scene = rl.read_packing("balls.csv").scene
    >>> floor = scene.add(rl.HalfSpace(), position=(0, 0, 0.001))  # by hand
    >>> rl.forces_at_pose(scene).force.round(1)  # N, its weight
    array([5136.5])
    """
    path = Path(path)
    along = kept_axes(periodic)
    if format is not None and format not in FORMATS:
        raise InputError(f"format is {format!r}; {nearest(format, FORMATS)}")
    of_scene = dict(gravity=gravity, law=law, dt=dt)
    text = read_text(path)
    if columns is not None:
        if format not in (None, "raw"):
            raise InputError(f"columns is given beside format={format!r}; remove one of them")
        format = "raw"
    format = format or format_of(text)
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
    balls = read_balls(
        text, format, frame=frame, columns=columns, style=atom_style, boundary=boundary
    )
    name = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    with named(path):
        balls = balls.scaled(units).with_radius(radius)
        if periodic not in ("keep", "ignore") and gravity is None and periodic_down(balls, dim):
            of_scene["gravity"] = np.zeros(dim or 3)
        balls = in_box(balls, along)
        check_width(balls, dim or (2 if balls.planar else 3))
        scene = as_scene(
            balls,
            name,
            dim=dim,
            material=material,
            fixed=fixed,
            walls=walls,
            wall_material=wall_material,
            **of_scene,
        )
    columns = balls.columns | ({} if balls.type is None else {"type": balls.type})
    kept, notes = None, notes_of(text, format, boundary)
    if springs is not None:
        pairs = read_local(read_text(springs), frame)
        with named(springs):
            kept = springs_of(scene.bodies, scene.state, *pairs, newtons(units or balls.units))
        kept = replace(kept, stiffness=stiffness)
        scene.springs = kept
    given = None
    if contact_forces is not None:
        factor = newtons(units or balls.units)
        given, more = _given(scene, balls, Path(contact_forces), frame, factor)
        notes += more
    return Packing(scene, format, balls.box, columns, stiffness, notes, kept, given=given)


def _given(
    scene: Scene, balls: Balls, path: Path, frame: int, factor: float
) -> tuple[PoseForces, tuple[str, ...]]:
    """(forces that a file states, notes of what is left out); factor: N of a unit of force."""
    known = {str(each) for each in balls.id.tolist()}
    pairs, force, walls = read_contact_forces(read_text(path), frame, known)
    with named(path):
        found = given_forces(scene, pairs, factor * force, source=path.name)
    return found, walls_left_out(walls)
