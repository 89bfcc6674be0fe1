"""``rigidlimit network DUMP``: the network file of a large packing, on one or more processes."""

from pathlib import Path
from typing import Annotated

import typer

from .compiling import watch_compiler
from .folders import check_file, check_new
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
    UnitsOption,
    WallFrictionOption,
    WallsOption,
    YoungOption,
    faces,
    material_of,
    numbers,
    wall_material_of,
)
from .pose_forces import NETWORKS


def network(
    dump: Annotated[Path, typer.Argument(help="Dump of atoms of LAMMPS or LIGGGHTS, as text.")],
    out: Annotated[Path, typer.Option(help="Network file to write, as .h5.")],
    stiffness: Annotated[
        float | None, typer.Option(help="Of every contact [N/m^(p-1)]; default: of the material.")
    ] = None,
    law: NewLawOption = "hooke",
    reach: Annotated[
        float | None,
        typer.Option(help="Largest gap of contacts [m]; default: a thousandth of the mean radius."),
    ] = None,
    springs: Annotated[
        Path | None,
        typer.Option(help="LAMMPS dump of pairs with tangential forces, which contacts remember."),
    ] = None,
    gravity: GravityOption = None,
    walls: WallsOption = None,
    periodic: PeriodicOption = "keep",
    friction: FrictionOption = 0.0,
    wall_friction: WallFrictionOption = None,
    young: YoungOption = 50e9,
    poisson: PoissonOption = 0.25,
    density: DensityOption = 2000.0,
    radius: RadiusOption = None,
    fixed: FixedOption = None,
    units: UnitsOption = None,
    frame: FrameOption = -1,
    overwrite: OverwriteOption = False,
) -> None:
    """Contacts of a packing that fits on no machine, as a network file; needs PETSc.

    Each process reads a slice of the dump and searches the contacts of its part: `mpiexec -n 4
    rigidlimit network huge.dump --stiffness 1e6 --out huge.h5`, then `mpiexec -n 4 rigidlimit
    forces huge.h5 --out forces.h5`.
    """
    from ..distributed import OtherRankError, network_of_dump
    from ..distributed.ranks import said_once

    watch_compiler()
    try:
        with said_once():
            check_file("--out", out, NETWORKS)
            check_new("--out", out, overwrite)
            balls = dict(
                fixed=numbers("--fixed", fixed, int) or (),
                gravity=numbers("--gravity", gravity, float),
                material=material_of(young, poisson, density, friction),
            )
            balls["wall_material"] = wall_material_of(balls["material"], wall_friction)
        network_of_dump(
            dump,
            out,
            frame=frame,
            units=units,
            radius=radius,
            springs=springs,
            walls=faces(walls),
            periodic=periodic,
            stiffness=stiffness,
            law=law,
            reach=reach,
            **balls,
            tell=lambda line: typer.echo(f"{line}; written: {out}"),
        )
    except OtherRankError:
        raise typer.Exit(2) from None
