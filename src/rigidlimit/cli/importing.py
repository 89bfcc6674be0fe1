"""``rigidlimit import FILE``: a packing of another program as a scene, and its forces."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, check_folder, check_new, check_results
from .options import (
    DensityOption,
    FixedOption,
    FrameOption,
    FrictionOption,
    GravityOption,
    NewLawOption,
    OverwriteOption,
    PeriodicOption,
    PoissonOption,
    RadiusOption,
    ResultsOption,
    TouchOption,
    UnitsOption,
    WallFrictionOption,
    WallsOption,
    YoungOption,
    faces,
    material_of,
    numbers,
    wall_material_of,
)
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
    touch: TouchOption = 0.0,
    springs: Annotated[
        Path | None, typer.Option(help="LAMMPS dump of pairs with tangential forces, for --forces.")
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
    gravity: GravityOption = None,
    walls: WallsOption = None,
    periodic: PeriodicOption = "keep",
    boundary: Annotated[
        str | None, typer.Option(help="Of data files, which do not say it: like ppf.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help='For tables without names: like "x y z diameter"; - skips a column.'),
    ] = None,
    friction: FrictionOption = 0.0,
    wall_friction: WallFrictionOption = None,
    young: YoungOption = 50e9,
    poisson: PoissonOption = 0.25,
    density: DensityOption = 2000.0,
    radius: RadiusOption = None,
    fixed: FixedOption = None,
    units: UnitsOption = None,
    frame: FrameOption = -1,
    dim: Annotated[int | None, typer.Option(help="2: disks in the plane.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Take over a packing of another program, as a scene file, and its forces.

    Example: `rigidlimit import rest.dump --walls all --stiffness 1e6 --forces --out rest.toml`.
    """
    from ..adapters import read_packing
    from ..output.vtk import write_paraview
    from ..scenes.toml import write_scene

    check_file("--out", out, (".toml",))
    check_new("--out", out, overwrite)
    check_results(results, "--results")
    check_folder("--vtk", vtk)
    options = (results, stiffness, springs, vtk, given, touch or None)
    wants = unbalanced or any(option is not None for option in options)
    if given is not None and (unbalanced or touch or stiffness is not None or springs is not None):
        raise InputError(
            "--given takes the program's own forces; remove --stiffness, --touch, --springs, "
            "--unbalanced"
        )
    if wants and not forces:
        raise InputError(
            "--stiffness, --touch, --springs, --unbalanced, --given, --results and --vtk are for "
            "forces; "
            "add --forces"
        )
    watch_compiler()
    material = material_of(young, poisson, density, friction)
    wall_material = wall_material_of(material, wall_friction)
    of_robots = friction == 0 and file.suffix in (".xml", ".urdf")
    packing = read_packing(
        file,
        frame=frame,
        units=units,
        dim=dim,
        radius=radius,
        material=None if of_robots else material,
        stiffness=stiffness,
        fixed=numbers("--fixed", fixed, int) or (),
        walls=faces(walls),
        wall_material=wall_material,
        periodic=periodic,
        boundary=boundary,
        columns=columns,
        springs=springs,
        contact_forces=given,
        gravity=numbers("--gravity", gravity, float),
        law=law,
    )
    typer.echo(packing.message)
    if out is not None:
        write_scene(packing.scene, out)
        typer.echo(f"written: {out}")
    if forces:
        found = packing.given or packing.forces(balance=not unbalanced, touch=touch)
        if vtk is not None:
            for path in write_paraview(found, vtk):
                typer.echo(f"written: {path}")
        report(found, 10, results)
