"""``rigidlimit collapse SCENE``: load factor of a pose, its mechanism, the least friction."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import InputError
from .compiling import watch_compiler
from .contacts import parts_of_force
from .folders import check_file, check_results
from .options import LIMITS
from .tables import new_table, terminal

AXES = "xyz"


def collapse(
    scene: Annotated[
        str,
        typer.Argument(
            help="A gallery scene or TOML file, at its pose, or a COMPAS assembly (.json)."
        ),
    ],
    push: Annotated[
        str | None,
        typer.Option(
            help="Direction of a push by all bodies' weights times the factor: x, -x, y, ..., or "
            "numbers like 1,0.2. Default x, as of an earthquake, or of a floor that tilts."
        ),
    ] = None,
    on: Annotated[
        str | None, typer.Option(help="Instead: a load that grows on the body of this name.")
    ] = None,
    force: Annotated[
        str | None, typer.Option(help="With --on: its force at factor 1 [N], like 0,-1000.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="With --on: the point where it acts [m]; default the body's centre."),
    ] = None,
    friction: Annotated[
        float | None, typer.Option(help="Friction of all contacts, in place of the scene's.")
    ] = None,
    supports: Annotated[
        str | None,
        typer.Option(
            help="Of a COMPAS assembly: blocks that are held, like 0,7, or lowest; default its own."
        ),
    ] = None,
    closed: Annotated[
        float | None,
        typer.Option(
            help="Gap up to which contacts may carry: over the scene's length, default 1e-6; of a "
            "COMPAS assembly over the blocks' size, default 1e-3."
        ),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Mechanism as .pdf, .png or .svg, seen from the front.")
    ] = None,
    thrust: Annotated[
        Path | None,
        typer.Option(help="Line of thrust and mobilised friction of the forces at rest, likewise."),
    ] = None,
    lower: Annotated[
        bool,
        typer.Option(
            help="Where the mechanism slides, also a lower estimate: an equilibrium of Coulomb's "
            "law, which slides without opening."
        ),
    ] = True,
    least_friction: Annotated[
        bool, typer.Option(help="Also find the least friction, by some 30 programs.")
    ] = True,
    seconds: Annotated[
        float,
        typer.Option(
            help="For the lower estimate, and for the least friction; what is proved until then "
            "is printed."
        ),
    ] = 60.0,
    out: Annotated[Path | None, typer.Option(help="Results as .json or .csv.")] = None,
) -> None:
    """Load factor at collapse of a scene at its pose, its mechanism, and the least friction.

    Limit analysis by the static theorem: with Coulomb friction an upper bound where the mechanism
    slides. Example: `rigidlimit collapse arch --picture mechanism.png`.
    """
    from .._support.arrays import positive
    from ..output.plots.style import figure_format

    check_results(out)
    positive("--seconds", seconds)
    for option, path in (("--picture", picture), ("--thrust", thrust)):
        check_file(option, path)
    for path in (picture, thrust):
        if path is not None:
            figure_format(path)
    watch_compiler()
    pose = _pose(scene, friction, supports, {} if closed is None else {"closed": closed})
    way, loads = _load(pose, push, on, force, at)
    pose.growing(way, loads)  # refuses a wrong one before anything is computed
    typer.echo(pose.message)
    found = pose.load_factor(way, loads=loads)
    typer.echo(found.message)
    if found.mechanism.any():
        _show(pose, found)
    _draw(pose, found, picture, thrust)
    low = None
    if lower and found.converged and not (found.exact and np.isfinite(found.factor)):
        typer.echo(f"lower estimate: up to {seconds:g} s ...", err=True)
        low = pose.sliding_load_factor(way, loads=loads, seconds=seconds, upper=found)
        typer.echo(low.message)
    least = None
    if least_friction and pose.friction.any():
        typer.echo(f"least friction: up to {seconds:g} s ...", err=True)
        least = pose.least_friction(seconds=seconds)
        typer.echo(least.message)
        typer.echo(pose.self_stress().message)
    _store(out, pose, found, low, least)
    if not found.converged:
        raise typer.Exit(1)


def _pose(scene: str, friction, supports, closed: dict):
    """The closed contacts of a scene, or the patches of a COMPAS assembly."""
    from ..pose import statics

    if not scene.lower().endswith(".json"):
        if supports is not None:
            raise InputError(f"--supports is for COMPAS assemblies, and {scene} is none")
        pose = statics(scene, **closed)
        return pose if friction is None else pose.with_friction(friction)
    from ..adapters import read_compas

    rough = {} if friction is None else {"friction": friction}
    held = supports
    if supports is not None and supports != "lowest":
        held = [name.strip() for name in supports.split(",")]
    return read_compas(scene).statics(supports=held, **rough, **closed)


def _load(pose, push, on, force, at):
    """(direction of the push or None, loads or None) from the options."""
    dim = pose.bodies.dim
    if on is None:
        if force is not None or at is not None:
            raise InputError("--force and --at are for --on; expected --on NAME with them")
        return _direction(push, dim), None
    if push is not None or force is None:
        raise InputError("--on needs --force, like 0,-1000, and takes no --push")
    value = _numbers("--force", force, dim)
    return None, {on: value if at is None else (value, _numbers("--at", at, dim))}


def _direction(text: str | None, dim: int) -> np.ndarray:
    text = "x" if text is None else text.strip()
    axis = text.lstrip("+-")
    if len(axis) == 1 and axis in AXES[:dim]:
        way = np.zeros(dim)
        way[AXES.index(axis)] = -1.0 if text.startswith("-") else 1.0
        return way
    return _numbers("--push", text, dim)


def _numbers(option: str, text: str, dim: int) -> np.ndarray:
    try:
        found = np.array([float(part) for part in text.split(",")])
    except ValueError:
        found = np.zeros(0)
    if found.shape != (dim,) or not np.isfinite(found).all():
        like = "1,0,0"[: 2 * dim - 1]
        raise InputError(f"{option} is {text!r}; expected {dim} numbers like {like}")
    return found


def _moves(pose, found) -> list[str]:
    return [
        " and ".join(word for word, does in (("opens", o), ("slides", s)) if does)
        for o, s in zip(found.opens, found.slides, strict=True)
    ]


def _show(pose, found) -> None:
    """Table of the contacts that move most in the mechanism."""
    from rich.markup import escape

    moves = _moves(pose, found)
    size = np.linalg.norm(found.displacement, axis=1)
    order = [i for i in np.argsort(-size, kind="stable") if moves[i]][: LIMITS.rows]
    names = pose.bodies.names
    table = new_table(
        f"{pose.name}: what moves most in the mechanism (largest displacement 1)",
        ("contact", "bodies", "opens by", "slides by", "contact does"),
        names="bodies",
    )
    for i in order:
        a, b = pose.contacts.body[i]
        slip = float(np.linalg.norm(found.displacement[i, 1:]))
        table.add_row(
            str(i),
            escape(f"{names[a]} - {names[b]}"),
            f"{found.displacement[i, 0]:.4f}",
            f"{slip:.4f}",
            moves[i],
        )
    terminal().print(table)


def _draw(pose, found, picture, thrust) -> None:
    from ..output import plots

    if picture is not None:
        if found.mechanism.any():
            heading = None if found.converged else "falls: the load at rest is not carried"
            plots.save_figure(plots.collapse_mechanism(pose, found, title=heading), picture)
            typer.echo(f"written: {picture}")
        else:
            typer.echo("no mechanism to draw: the load can grow without end")
    if thrust is not None:
        if not found.converged:
            typer.echo("no line of thrust to draw: no forces balance the load at rest")
            return
        plots.save_figure(plots.thrust_line(pose), thrust)
        typer.echo(f"written: {thrust}")


def _store(out, pose, found, low, least) -> None:
    from ..output.results import write_results

    if out is None:
        return
    names = pose.bodies.names
    parts = parts_of_force(pose.bodies.dim)
    columns = {"bodies": [f"{names[a]} - {names[b]}" for a, b in pose.contacts.body]}
    columns |= {f"force_{part}": found.force[:, k] for k, part in enumerate(parts)}
    columns |= {f"moves_{part}": found.displacement[:, k] for k, part in enumerate(parts)}
    columns |= {"opens": found.opens, "slides": found.slides, "friction": pose.friction}
    summary = {
        "title": pose.name,
        "unit": "N",
        "load_factor": found.factor,
        "exact_for_coulomb_mechanism": found.exact,
        "gap": found.gap,
        "residual": found.residual,
        "status": str(found.status),
    }
    if low is not None:
        summary |= {"lower_estimate": low.factor, "lower_estimate_status": str(low.status)}
    if least is not None:
        summary |= {"least_friction": least.factor, "least_friction_bracket": least.bracket}
    write_results(out, summary, columns)
    typer.echo(f"written: {out}")
