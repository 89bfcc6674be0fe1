"""``rigidlimit settle SCENE``: bring a scene to rest and write it, as a starting point."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, check_new, same_file
from .options import OverwriteOption, QuietOption, SceneArgument


class By(StrEnum):
    state = "state"
    dynamics = "dynamics"
    dem = "dem"


def settle(
    scene: SceneArgument,
    out: Annotated[Path | None, typer.Option(help="TOML file for the scene at rest.")] = None,
    by: Annotated[
        By,
        typer.Option(
            help="Who goes first: contact dynamics, or a soft DEM that pours the scene anew; as "
            "the state has it, the DEM where balls are poured loosely."
        ),
    ] = By.state,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Give up after so much time [s].")
    ] = None,
    overwrite: OverwriteOption = False,
    quiet: QuietOption = False,
) -> None:
    """Bring a scene to rest, also where bodies without friction would slide, spin or creep forever.

    Example: `rigidlimit settle packing --out rest.toml`, then `rigidlimit run rest.toml`. A scene
    that does not come to rest is one error, and nothing is written.
    """
    from rich.console import Console

    from ..penalty import settle as bring_to_rest
    from ..scenes import load
    from ..scenes.toml import write_scene
    from .forces import show_forces

    check_file("--out", out, (".toml",))
    if same_file(out, Path(scene)):
        raise InputError(f"--out is {out}, the scene itself; expected another file")
    check_new("--out", out, overwrite)
    loaded = load(scene)
    watch_compiler(quiet=quiet)
    with Console(stderr=True, quiet=quiet).status("settling") as status:
        rest = bring_to_rest(loaded, by=str(by), max_seconds=max_seconds, callback=status.update)
    simulation = rest.simulation
    if not quiet:
        result = simulation.step(compatible=True)
        show_forces(simulation, result)
        typer.echo(rest.message)
    if out is not None:
        loaded.memory = simulation.memory
        write_scene(loaded, out, rest.state)
        if not quiet:
            typer.echo(f"written: {out}")
