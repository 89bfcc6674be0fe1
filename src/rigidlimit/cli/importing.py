"""``rigidlimit import FILE``: a packing of another program as a scene, and its forces."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, check_folder, check_new, check_results
from .options import NewLawOption, OverwriteOption, ResultsOption
from .pose_forces import report


def import_packing(
    file: Annotated[
        Path,
        typer.Argument(
            help="Data file or dump of LAMMPS or LIGGGHTS, text of YADE (x y z r), .data or "
            ".restart of MercuryDPM, legacy VTK as text, CSV with named columns, a table with "
            "--columns, MJCF or URDF; also as .gz."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Scene to write, as .toml.")] = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Forces at the imported pose, with its own overlaps.")
    ] = False,
    stiffness: Annotated[
        float | None, typer.Option(help="Of every contact [N/m^(p-1)], for --forces.")
    ] = None,
    springs: Annotated[
        Path | None,
        typer.Option(help="LAMMPS dump of pairs with tangential forces, for --forces."),
    ] = None,
    given: Annotated[
        Path | None,
        typer.Option(
            help="The program's own contact forces instead, for --forces: a local dump of ids and "
            "forces, .fstat, or a table id1, id2, fx, fy, fz."
        ),
    ] = None,
    unbalanced: Annotated[
        bool,
        typer.Option(
            "--unbalanced", help="Forces of the overlaps as they stand, as of balls in motion."
        ),
    ] = False,
    results: ResultsOption = None,
    vtk: Annotated[
        Path | None, typer.Option(help="Folder for ParaView files of the forces.")
    ] = None,
    law: NewLawOption = "hooke",
    gravity: Annotated[
        str | None, typer.Option(help="Like 0,0,-9.81 (the default), or 0,0,0 [m/s^2].")
    ] = None,
    walls: Annotated[
        str | None,
        typer.Option(help="Faces of the box that are walls: all, or some, like xlo,xhi,zlo."),
    ] = None,
    periodic: Annotated[
        str,
        typer.Option(
            help="keep a periodic box; ignore: it is taken as one that is not; or axes along which "
            "it stays periodic, like xy of one layer of balls."
        ),
    ] = "keep",
    boundary: Annotated[
        str | None, typer.Option(help="Of data files, which do not say it: like ppf.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help='For tables without names: like "x y z diameter"; - skips a column.'),
    ] = None,
    friction: Annotated[float, typer.Option(help="Coefficient of friction.")] = 0.0,
    young: Annotated[float, typer.Option(help="Young's modulus [Pa].")] = 50e9,
    poisson: Annotated[float, typer.Option(help="Poisson's ratio.")] = 0.25,
    density: Annotated[
        float, typer.Option(help="Where the file has neither mass nor density [kg/m^3].")
    ] = 2000.0,
    radius: Annotated[
        float | None, typer.Option(help="Of all balls, where the file has none [m].")
    ] = None,
    fixed: Annotated[
        str | None, typer.Option(help="Types whose balls are held, like 2 or 2,3.")
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(help="LAMMPS units: si, cgs, micro, nano or lj, if the file does not say."),
    ] = None,
    frame: Annotated[int, typer.Option(help="Snapshot of a dump: 0 the first, -1 the last.")] = -1,
    dim: Annotated[int | None, typer.Option(help="2: disks in the plane.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Take over a packing of another program, as a scene file, and its forces.

    Example: `rigidlimit import rest.dump --walls all --stiffness 1e6 --forces --out rest.toml`.
    """
    from ..adapters import read_packing
    from ..bodies import Material
    from ..output.vtk import write_paraview
    from ..scenes.toml import write_scene

    check_file("--out", out, (".toml",))
    check_new("--out", out, overwrite)
    check_results(results, "--results")
    check_folder("--vtk", vtk)
    options = (results, stiffness, springs, vtk, given)
    wants = unbalanced or any(option is not None for option in options)
    if given is not None and (unbalanced or stiffness is not None or springs is not None):
        raise InputError(
            "--given takes the program's own forces; remove --stiffness, --springs, --unbalanced"
        )
    if wants and not forces:
        raise InputError(
            "--stiffness, --springs, --unbalanced, --given, --results and --vtk are for forces; "
            "add --forces"
        )
    watch_compiler()
    name = "default" if friction == 0 else f"mu {friction:g}"
    material = Material(young, poisson, density, name, friction)
    of_robots = friction == 0 and file.suffix in (".xml", ".urdf")
    packing = read_packing(
        file,
        frame=frame,
        units=units,
        dim=dim,
        radius=radius,
        material=None if of_robots else material,
        stiffness=stiffness,
        fixed=_numbers("--fixed", fixed, int) or (),
        walls=walls == "all" or (walls.split(",") if walls else False),
        periodic=periodic,
        boundary=boundary,
        columns=columns,
        springs=springs,
        contact_forces=given,
        gravity=_numbers("--gravity", gravity, float),
        law=law,
    )
    typer.echo(packing.message)
    if out is not None:
        write_scene(packing.scene, out)
        typer.echo(f"written: {out}")
    if forces:
        found = packing.given or packing.forces(balance=not unbalanced)
        if vtk is not None:
            for path in write_paraview(found, vtk):
                typer.echo(f"written: {path}")
        report(found, 10, results)


def _numbers(option: str, text: str | None, kind: type) -> list | None:
    """Numbers parted by commas."""
    if text is None:
        return None
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"{option} is {text!r}; expected numbers parted by commas") from None
