"""``rigidlimit demo``: the main job on two scenes, with a picture."""

from pathlib import Path
from typing import Annotated

import typer

from .._support.words import counted
from .compiling import watch_compiler
from .folders import check_folder


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo-output"),
    base: Annotated[int, typer.Option(min=2, help="Spheres along the pyramid's base.")] = 20,
) -> None:
    """A beam on three supports and a dropped cannonball pyramid: classic against compatible."""
    check_folder("--out", out)
    watch_compiler()
    from dataclasses import replace

    import numpy as np

    from ..output.plots import comparison, save_figure
    from ..scenes import beam, pyramid
    from ..simulation import Simulation

    def say(text: str = ""):
        typer.echo(text)

    say("A beam of weight 10 on three supports, left, middle, right")
    for stiffness in ((1, 1, 1), (1, 3, 1)):
        say(f"  contact stiffness {' : '.join(map(str, stiffness))}")
        for order in ((0, 1, 2), (1, 0, 2)):
            scene = beam(stiffness=stiffness, order=order)
            result = Simulation(scene, solver="pgs").step()
            place = np.argsort(order)
            first = ("left", "middle")[order[0] == 1]
            classic, force = result.classic.force[place], result.force[place]
            say(
                f"    {first + ' contact first':22} classic (Gauss-Seidel) {_row(classic)}   "
                f"compatible {_row(force)}"
            )
    say()
    say(f"Cannonball pyramid of base {base}, layers dropped by 5 % of a radius, at rest")
    answers = {}
    for solver in ("pgs", "newton"):
        scene = pyramid(base)
        simulation = Simulation(scene, solver=solver, compatible="never")
        while not simulation.at_rest and simulation.time < 0.2:
            simulation.step()
        result = simulation.step(compatible=True)
        answers[solver] = result
        weight = scene.bodies.mass[-1] * 9.81
        classic, force = result.classic.force.max() / weight, result.force.max() / weight
        say(
            f"  solver {solver:7} {counted(simulation.steps, 'step')}, "
            f"{counted(len(result.contacts), 'contact')}; largest force over a sphere's weight: "
            f"classic {classic:.6f}, compatible {force:.6f}"
        )
    known = scene.reference.get("largest over weight")
    if known is not None:
        say(f"  static reference: {known:.6f}")
    result = answers["pgs"]
    both = {"classic (projected Gauss-Seidel)": result.classic.force, "compatible": result.force}
    middle, half = result.state.position[:, 1].mean(), 0.51 * scene.bodies.length
    figure = comparison(
        replace(result.network, forces=both),
        view="front",
        pressure=False,
        slab=(middle - half, middle + half),
        units=("sphere weights", weight),
        title="Pyramid at rest, contacts of the middle slice",
    )
    picture = out / "pyramid.png"
    save_figure(figure, picture)
    say(f"  picture: {picture}")


def _row(values) -> str:
    return ", ".join(f"{v:7.4f}" for v in values)
