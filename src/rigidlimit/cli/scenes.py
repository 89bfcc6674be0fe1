"""``rigidlimit scenes``: the gallery."""

import inspect
from pathlib import Path
from typing import Annotated

import typer

from .._support.words import counted
from ..errors import InputError
from .folders import check_file, check_new
from .tables import terminal


def scenes(
    name: Annotated[str | None, typer.Argument(help="Show one scene instead of the list.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write the scene as a TOML file.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --write if there is one.")
    ] = False,
) -> None:
    """List the gallery, or show one scene with its known answer and write it to a file."""
    from ..scenes import GALLERY, load

    check_file("--write", write, (".toml",))
    if name is None:
        if write is not None:
            raise InputError(
                "--write needs the name of a scene: rigidlimit scenes NAME --write FILE"
            )
        from rich.markup import escape
        from rich.table import Table

        table = Table(title="gallery")
        table.add_column("scene", style="bold", no_wrap=True)
        table.add_column("what it is")
        for entry, function in GALLERY.items():
            table.add_row(entry, escape(_first_sentence(inspect.getdoc(function))))
        console = terminal()
        console.print(table)
        console.print("rigidlimit run NAME computes one, rigidlimit scenes NAME explains it")
        return
    check_new("--write", write, overwrite)
    scene = load(name)
    if name in GALLERY:
        signature = inspect.signature(GALLERY[name]).replace(
            return_annotation=inspect.Signature.empty
        )
        typer.echo(f"{name}{signature}")
        typer.echo(inspect.getdoc(GALLERY[name]).replace("``", ""))
    typer.echo(
        f"{counted(len(scene), 'body')} in {scene.dim}D, law {scene.law}, dt {scene.dt:g} s, "
        f"duration {scene.duration:g} s"
    )
    for key, value in scene.reference.items():
        shown = [float(f"{v:.6g}") for v in value] if isinstance(value, list) else value
        typer.echo(f"known: {key} = {shown}")
    if write is not None:
        from ..scenes.toml import write_scene

        write_scene(scene, write)
        typer.echo(f"written: {write}")


def _first_sentence(text: str) -> str:
    """Description of a scene, without the known result that its docstring adds."""
    paragraph = " ".join(text.split("\n\n")[0].replace("``", "").split())
    return paragraph.split(" Known:")[0].split(". ")[0].rstrip(".") + "."
