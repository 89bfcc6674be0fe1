"""Tables and small pictures of scenes, steps, forces, determinacy and runs for Jupyter."""

import base64
import html as markup
import io
import weakref

import numpy as np

from .._support.words import counted
from ..bodies import HalfSpace
from ..compatibility.bearing import bearing
from ..errors import RigidlimitError
from ..scenes.scene import Scene
from .limits import LIMITS

_last: tuple = (None, None, None)


def html(thing: object) -> str:
    """The thing as an HTML fragment with its picture in it."""
    heading, rows, columns = _table(thing)
    head = ""
    if columns:
        cells = "".join(f"<th>{markup.escape(c)}</th>" for c in columns)
        head = f"<thead><tr>{cells}</tr></thead>"
    body = "".join(
        "<tr>" + "".join(f"<td>{markup.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    picture = png(thing)
    image = ""
    if picture is not None:
        data = base64.b64encode(picture).decode()
        alt = markup.escape(f"picture: {heading}")
        image = f'<img alt="{alt}" src="data:image/png;base64,{data}">'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"><div>'
        f"<b>{markup.escape(heading)}</b><table>{head}<tbody>{body}</tbody></table></div>"
        f"{image}</div>"
    )


def png(thing: object) -> bytes | None:
    """The small picture as PNG; None where there is nothing to draw."""
    global _last
    # Jupyter asks for HTML and PNG of the same thing: draw once
    bodies = len(thing) if isinstance(thing, Scene) else None  # a scene may have grown
    if _last[0] is not None and _last[0]() is thing and _last[1] == bodies:
        return _last[2]
    try:
        figure = _picture(thing)
    except RigidlimitError:
        figure = None
    data = None
    if figure is not None:
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        data = stream.getvalue()
    _last = (weakref.ref(thing), bodies, data)
    return data


def _table(thing):
    """(heading, rows, names of columns or none)."""
    name = type(thing).__name__
    return {
        "Scene": _scene,
        "StepResult": _step,
        "CompatibleForces": _compatible,
        "RoughForces": _compatible,
        "ContactDynamicsResult": _classic,
        "RoughDynamicsResult": _classic,
        "IncrementResult": _classic,
        "Determinacy": _determinacy,
        "Run": _run,
    }[name](thing)


def _scene(scene):
    if not len(scene):
        return f"{scene.name}: no bodies yet", [], ()
    bodies, state = scene.bodies, scene.state
    rows = []
    for k in range(min(len(bodies), LIMITS.listed)):
        shape = bodies.shape(k)
        place = ", ".join(f"{x:.4g}" for x in state.position[k, : bodies.dim])
        held = "fixed" if not bodies.free[k].any() else "free"
        mass = "" if isinstance(shape, HalfSpace) else f"{bodies.mass[k]:.4g}"
        rows.append((bodies.names[k], type(shape).__name__, place, mass, held))
    if len(bodies) > LIMITS.listed:
        rows.append((f"and {len(bodies) - LIMITS.listed} more", "", "", "", ""))
    heading = (
        f"{scene.name}: {counted(len(bodies), 'body')} in {scene.dim}D, law {scene.law}, "
        f"dt {scene.dt:g} s"
    )
    return heading, rows, ("body", "shape", "position [m]", "mass [kg]", "")


def _newtons(force, sliding=None) -> list:
    carrying = force[bearing(force)]
    mean = f"{carrying.mean():.6g} N" if len(carrying) else "none"
    return [
        ("carry load", f"{len(carrying)} of {counted(len(force), 'contact')}"),
        ("largest force", f"{force.max(initial=0.0):.6g} N"),
        ("mean of those", mean),
        *([] if sliding is None else [("slide", counted(int(sliding.sum()), "contact"))]),
    ]


def _step(result):
    rows = [("classic", _status(result.classic))]
    if result.compatible is not None:
        rows.append(("compatible", _status(result.compatible)))
    sliding = None if result.T is None else result.sliding
    return f"step to t = {result.time:.6g} s", rows + _newtons(result.force, sliding), ()


def _status(answer) -> str:
    return (
        f"{answer.status}, residual {answer.residual:.1e} (tolerance {answer.tolerance:.0e}), "
        f"{counted(answer.iterations, 'iteration')}"
    )


def _compatible(forces):
    rows = [("status", _status(forces)), *_newtons(forces.force, getattr(forces, "sliding", None))]
    if not forces.converged:
        rows.append(("try", forces.status.advice))
    return f"compatible forces by {forces.method}", rows, ()


def _classic(result):
    rows = [("status", _status(result)), *_newtons(result.force, getattr(result, "sliding", None))]
    if not result.converged:
        rows.append(("try", result.status.advice))
    return f"contact dynamics by {result.solver} (forces not unique)", rows, ()


def _determinacy(found):
    m = len(found.determined)
    rows = [
        ("degree of indeterminacy", found.degree),
        ("determined", f"{int(found.determined.sum())} of {counted(m, 'contact')}"),
        ("always zero", counted(int((~found.can_carry).sum()), "contact")),
        ("rank", f"{found.rank.rank} by {found.rank.method}, tolerance {found.rank.tolerance:.0e}"),
        ("intervals", found.interval_method),
    ]
    if found.diameter > 0:
        rows.append(("widest interval", f"{found.diameter:.6g} N"))
    return "determinacy of the contact forces", rows, ()


def _run(run):
    steps = len(run)
    stored = counted(steps, "stored step")
    if not run.finished:
        stored += ", unfinished"
    rows = [
        ("scene", f"{run.scene.name}: {counted(len(run.scene), 'body')} in {run.scene.dim}D"),
        ("time", f"{run.times[0]:.6g} to {run.times[-1]:.6g} s, {stored}"),
        *((key, value) for key, value in run.settings.items()),
        ("rigidlimit", run.version),
    ]
    return f"run {run.path.name}", rows, ()


def _picture(thing):
    from .plots.network import force_network, scene_figure
    from .sources import network_of

    name = type(thing).__name__
    if name == "Scene":
        if not len(thing) or len(thing) > LIMITS.drawn:
            return None
        return scene_figure(thing, view="front")
    if name in ("StepResult", "Run"):
        shown = network_of(thing)
        return force_network(shown, view="front") if len(shown.bodies) <= LIMITS.drawn else None
    if name == "Determinacy":
        return _intervals(thing)
    return _spread(thing.force)


def _spread(force):
    """Histogram of forces that have no picture of their bodies."""
    from .plots.charts import histogram_of

    if not len(force) or not force.max() > 0:
        return None
    return histogram_of(force)


def _intervals(found):
    """Intervals of the undetermined contacts, widest first, with the example inside."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from .plots.style import LAYOUT, look, tidy, unit

    which = np.flatnonzero(~found.determined & np.isfinite(found.width))
    if not len(which):
        return None
    which = which[np.argsort(-found.width[which], kind="stable")]
    low, high = found.interval[which].T
    factor, name = unit(float(high.max()), "N")
    with look(False) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.0), layout="constrained")
        panel = figure.subplots()
        place = np.arange(1, len(which) + 1)
        panel.vlines(place, low * factor, high * factor, color=p.marks[1], linewidth=1.5)
        panel.plot(place, found.example[which] * factor, ".", color=p.marks[0], markersize=4)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.set_xlabel("undetermined contacts, widest first [-]")
        panel.set_ylabel(f"admissible force [{name}]")
        tidy(panel, p)
        return figure
