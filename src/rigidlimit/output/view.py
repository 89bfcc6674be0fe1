"""A run as one HTML file: a three-dimensional view that works offline, in any browser.

The page is ``viewer/page.html`` with everything it needs written into it: its own scripts and
style, three.js (viewer/three.min.js, bundled from the modules that viewer/three.entry.js names) and
the run. Arrays go in packed: element bytes of one significance side by side, which compresses
better, then gzip, then base64. Poses are 4-byte floats about the middle of the scene, plenty for
the eye; forces and gaps are the 8-byte floats of the file, so that what a click shows is exact.
"""

import base64
import gzip
import html
import json
from importlib import resources
from pathlib import Path

import numpy as np

from .._support.atomic import whole_file
from .._support.words import counted
from ..bodies import Bodies, Disk, Sphere
from ..compatibility.friction import mobilised_friction
from ..errors import InputError
from .endings import check_ending
from .hdf5 import Run, StoredStep, read_run
from .limits import LIMITS
from .plots.style import DARK, LIGHT, Palette, force_colours, label
from .view_bodies import arrays_of_bodies, box
from .view_cells import edges, images, within

PAGES = (".html", ".htm")

SCRIPTS = ("data.js", "quads.js", "bodies.js", "friction.js", "network.js", "overlay.js", "main.js")
TYPES = {"f4": np.float32, "f8": np.float64, "i4": np.int32, "i1": np.int8, "u1": np.uint8}
FORCES = {"classic": "force_classic", "compatible": "force", "dem": "force_dem"}
"""Sets of forces a stored step may have: name in the page -> attribute of the step."""


def write_view(run: Run | str | Path, path: str | Path, *, steps: int | None = None) -> Path:
    """Write the page of a run, whole or not at all; returns its path.

    steps: how many of the stored steps to take along, spread evenly, the last among them; default:
    as many as fit in 100 MB.
    """
    if steps is not None and steps < 1:
        raise InputError(f"steps is {steps}; expected at least 1")
    run = run if isinstance(run, Run) else read_run(run)
    path = Path(path)
    check_ending("the page", path, PAGES)
    chosen = _chosen(run, steps)
    page = _part("page.html")
    low, high = box(run, chosen)
    origin = 0.5 * (low + high)
    bodies, solid = arrays_of_bodies(run, origin, low - origin, high - origin)
    facts = []
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        before, after = page.split("{{head}}")
        middle, after = after.split("{{data}}")
        license_text = _part("LICENSE-three.txt").strip()
        before = _fill(
            before,
            version=html.escape(run.version),
            title=html.escape(run.scene.name),
            license=license_text,
            style=_part("style.css"),
        )
        arrays = []
        # the head, which describes the steps, precedes them in the page
        for k, number in enumerate(chosen):
            step = within(run[number], run.bodies)
            facts.append(_facts(step))
            shown = _arrays(step, solid, origin) | _arrays_of_cell(step, run.bodies, origin)
            arrays.append(_element(f"step-{k}", shown))
        head = _head(run, facts, bodies.pop("solids"), bodies.pop("patches"), low, high)
        file.write(before + _json(head) + middle)
        file.write(_element("bodies", bodies))
        file.writelines(arrays)
        scripts = "\n".join(_part(name) for name in SCRIPTS)
        file.write(_fill(after, three=_part("three.min.js"), scripts=scripts))
    return path


def _part(name: str) -> str:
    return (resources.files(__package__) / "viewer" / name).read_text(encoding="utf-8")


def _fill(text: str, **parts: str) -> str:
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return text


def _json(value) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _chosen(run: Run, steps: int | None) -> list[int]:
    """Which of the stored steps go into the page."""
    total = len(run)
    if steps is None:
        raw = sum(np.asarray(a).nbytes for a in _raw(run[-1]))
        steps = max(1, int(LIMITS.page / max(raw, 1)))
    if steps >= total:
        return list(range(total))
    if steps == 1:
        return [total - 1]
    return np.unique(np.linspace(0, total - 1, steps).round().astype(int)).tolist()


def _raw(step: StoredStep):
    contacts = step.contacts
    forces = [getattr(step, attribute) for attribute in FORCES.values()]
    if step.tangential is not None:  # vectors, sizes and mobilised friction of two methods
        forces += 2 * [contacts.point, contacts.gap]
    return [step.position, contacts.point, contacts.normal, contacts.gap] + [
        force for force in forces if force is not None
    ]


def _forces(step: StoredStep) -> dict[str, np.ndarray]:
    """The sets of forces this step has."""
    found = {name: getattr(step, attribute) for name, attribute in FORCES.items()}
    return {
        name: force
        for name, force in found.items()
        if force is not None and not (len(force) and np.isnan(force).all())
    }


def _facts(step: StoredStep) -> dict:
    forces = _forces(step)
    known = [np.nanmax(force) for force in forces.values() if len(force)]
    return {
        "number": step.number,
        "time": step.time,
        "contacts": len(step.contacts),
        "methods": list(forces),
        "largest": float(max(known, default=0.0)),
        **{k: v for k, v in step.info.items() if k.endswith("_status")},
    }


def _arrays(step: StoredStep, solid, origin) -> dict:
    contacts = step.contacts
    return {
        "position": (step.position - origin).astype(np.float32),
        "quaternion": step.quaternion[solid].astype(np.float32),
        "body": contacts.body.astype(np.int32),
        "feature": contacts.feature.astype(np.int32),
        "point": (contacts.point - origin).astype(np.float32),
        "normal": contacts.normal.astype(np.float32),
        "gap": contacts.gap.astype(np.float64),
        **{f"force_{name}": f.astype(np.float64) for name, f in _forces(step).items()},
        **_rubbing(step),
    }


def _arrays_of_cell(step: StoredStep, bodies: Bodies, origin) -> dict:
    """Outline of the periodic cell, images of bodies, and where a contact's second body stands."""
    if step.cell is None:
        return {}
    body, place = images(step, bodies)
    return {
        "image": body.astype(np.int32),
        "image_position": (place - origin).astype(np.float32),
        "branch": step.contacts.branch.astype(np.float32),
        "edges": (edges(step, bodies.dim) - origin).astype(np.float32),
    }


def _rubbing(step: StoredStep) -> dict:
    """Of contacts that rub: tangential forces and their sizes, mobilised friction, what slides."""
    if step.tangential is None:
        return {}
    forces = _forces(step)
    best = "compatible" if "compatible" in forces else "classic"
    out = {f"sliding_{best}": step.sliding.astype(np.uint8)}
    for name, along in (("classic", step.tangential_classic), ("compatible", step.tangential)):
        if name in forces:
            out[f"rub_{name}"] = along.astype(np.float32)
            out[f"tangential_{name}"] = np.linalg.norm(along, axis=1)
            out[f"mobilised_{name}"] = mobilised_friction(forces[name], along, step.friction)
    return out


def _element(name: str, arrays: dict[str, np.ndarray]) -> str:
    """A script element that holds the arrays; data.js reads it."""
    kinds = {np.dtype(kind): key for key, kind in TYPES.items()}
    listing, parts = [], []
    for key, array in arrays.items():
        flat = np.ascontiguousarray(array).ravel()
        listing.append([key, kinds[flat.dtype], flat.size])
        little = flat.astype(flat.dtype.newbyteorder("<"))
        parts.append(little.view(np.uint8).reshape(flat.size, flat.itemsize).T.tobytes())
    packed = base64.b64encode(gzip.compress(b"".join(parts), 6, mtime=0)).decode("ascii")
    return (
        f'<script type="application/octet-stream" id="{name}" '
        f"data-arrays='{json.dumps(listing)}'>{packed}</script>\n"
    )


def _bar(run: Run, size) -> float:
    """Length that the bars of the forces are drawn by [m]: a body's radius, within what looks well
    for the scene, be it one big body or small supports under a large one."""
    diagonal = float(np.linalg.norm(size))
    return float(
        np.clip(run.bodies.length, 0.08 * diagonal / len(run.bodies) ** (1 / 3), 0.1 * diagonal)
    )


def _colours(p: Palette) -> str:
    """The colour map of forces in pictures, (256, 3) bytes in base64."""
    table = (force_colours(p)(np.arange(256))[:, :3] * 255).round().astype(np.uint8)
    return base64.b64encode(table.tobytes()).decode("ascii")


def _head(run: Run, facts: list[dict], solids, patches, low, high) -> dict:
    names = [m for m in FORCES if any(m in fact["methods"] for fact in facts)]
    origin = 0.5 * (low + high)
    kept, total = len(facts), len(run)
    note = f"{run.path.name}: {counted(len(run.bodies), 'body')}, {counted(total, 'stored step')}"
    if not run.finished:
        note += ", unfinished"
    if kept < total:
        note += f", {kept} of them here"
    free = np.flatnonzero(run.bodies.free.any(axis=1))
    round_ = sum(isinstance(run.bodies.shape(b), Sphere | Disk) for b in free)
    return {
        "name": run.scene.name,
        "description": run.scene.description,
        "note": f"{note}; rigidlimit {run.version}",
        "dim": run.scene.dim,
        "origin": origin.tolist(),
        "low": (low - origin).tolist(),
        "high": (high - origin).tolist(),
        "bar": _bar(run, high - low),
        "names": list(run.bodies.names),
        "methods": [{"key": name, "label": label(name)} for name in names],
        "method": "compatible" if "compatible" in names else names[0],
        "rough": run[-1].tangential is not None,
        "style": "branches" if 2 * round_ > len(free) else "normals",
        "steps": facts,
        "solids": solids,
        "patches": patches,
        "colours": {"light": _colours(LIGHT), "dark": _colours(DARK)},
    }
