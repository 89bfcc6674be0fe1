"""The report of ``rigidlimit paper``: figures as PNG and PDF, and one HTML page that holds them."""

import base64
import html
import platform
from pathlib import Path

import numpy as np

from .. import __version__
from ..atomic import write_text
from ..collision.contacts import Contacts
from ..penalty.paper import EVERY_STEP, OVERSHOOT, SNAPSHOTS, TABLE_1, Case
from ..scenes import pyramid
from .plots import Frame, comparison, floor_forces, force_histogram, save_figure

METHODS = ["dem", "apgd", "pgs", "compatible"]
COLOURS = "viridis"


def beam_figure(beams):
    """Figures 1 to 5: bars of the three support forces by method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    panels = figure.subplots(1, len(beams), sharey=True)
    for panel, (stiffness, rows) in zip(panels, beams.items(), strict=True):
        width = 0.8 / len(rows)
        for k, (method, forces) in enumerate(rows.items()):
            x = np.arange(3) + (k - (len(rows) - 1) / 2) * width
            colour = ["#fde725", "#5ec962", "#21918c", "#3b528b"][k % 4]
            panel.bar(x, forces, width, label=method, color=colour, edgecolor="0.3", linewidth=0.4)
        panel.set_xticks(range(3), ["left", "middle", "right"])
        panel.set_title(f"contact stiffness {stiffness}")
    panels[0].set_ylabel("force, weight 10")
    panels[-1].legend(fontsize=7, frameon=False)
    return figure


def snapshot_figure(snapshots, radius):
    """Figure 7: speeds of the spheres at four times, seen from the front."""
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    figure = Figure(figsize=(11, 2.9), layout="constrained")
    panels = figure.subplots(1, len(SNAPSHOTS), sharex=True, sharey=True)
    top = float(snapshots["speed"].max()) or 1.0
    for panel, time, at, speed in zip(
        panels, SNAPSHOTS, snapshots["position"], snapshots["speed"], strict=True
    ):
        order = np.argsort(-at[:, 1])  # the front last
        drawn = PatchCollection([Circle(at[i, [0, 2]], radius) for i in order], cmap=COLOURS)
        drawn.set_array(speed[order])
        drawn.set_clim(0, top)
        panel.add_collection(drawn)
        panel.set_aspect("equal")
        panel.autoscale_view()
        panel.set_title(f"t = {1e3 * time:g} ms")
        panel.set_xlabel("x [m]")
    panels[0].set_ylabel("z [m]")
    figure.colorbar(drawn, ax=list(panels)).set_label("speed [m/s]")
    return figure


def case_frame(case: Case) -> Frame:
    """A case's packing at rest with the forces of every method."""
    m = len(case.point)
    scene = pyramid(case.base)
    contacts = Contacts(
        case.contact_body,
        np.arange(m),
        case.point,
        case.normal,
        np.zeros(m),
        np.zeros(m),
        len(case.position),
    )
    return Frame(
        bodies=scene.bodies,
        position=case.position,
        quaternion=scene.state.quaternion,
        contacts=contacts,
        forces=case.force,
        gravity=scene.gravity,
        name=case.name,
    )


def write_report(folder: Path, cases: list[Case], beams, snapshots, seconds: float) -> Path:
    """Figures as PNG and PDF in ``folder`` and report.html, self-contained; returns its path."""
    base = cases[0].base
    radius = 0.5 * float(np.linalg.norm(cases[0].position[1] - cases[0].position[0]))
    figures = [
        ("beam", "Figures 1-5: beam on three supports", beam_figure(beams)),
        ("settling", "Figure 7: settling", snapshot_figure(snapshots, radius)),
    ]
    numbers = ("8-12", "16-18", "13-15")
    for case, figure_numbers in zip(cases, numbers, strict=True):
        slug = case.name.replace(", ", "-").replace(" ", "-")
        shown, weights = case_frame(case), ("sphere weights", case.weight)
        methods = METHODS if case is cases[0] else ["dem", "compatible"]
        network = comparison(shown, methods=methods, view="front", pressure=False, units=weights)
        histogram = force_histogram(shown, methods=methods, units=weights, log=True)
        floor = floor_forces(shown, methods=METHODS, units=weights)
        of = f"Figures {figure_numbers}: {case.name}"
        figures.append((f"{slug}-network", f"{of}, force networks", network))
        figures.append((f"{slug}-histograms", f"{of}, histograms", histogram))
        figures.append((f"{slug}-floor", f"Figure 19: {case.name}, base layer", floor))
    parts = [_head(base, cases, seconds), _table(cases)]
    for name, caption, figure in figures:
        for ending in ("png", "pdf"):
            save_figure(figure, folder / f"{name}.{ending}")
        data = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
        parts.append(
            f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>"
        )
    path = folder / "report.html"
    write_text(path, _PAGE.format(body="\n".join(parts)))
    return path


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Compatible contact forces: section 8 anew</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem .8rem; border-bottom: 1px solid #8885; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
img {{ max-width: 100%; background: white; }}
figure {{ margin: 2rem 0; }}
</style></head><body>
{body}
</body></html>
"""


def _head(base, cases, seconds):
    case = cases[0]
    last, every = case.seconds["compatible"], case.seconds[EVERY_STEP]
    unbalanced = max(c.dem_unbalanced for c in cases)
    per_step = 1e6 * case.seconds["dem"] / max(case.dem_steps, 1)
    if case.whole_run:
        start = "from the drop, by itself, damped by 2 sqrt(k m) of one sphere's mass"
        took = (
            f"the DEM {case.seconds['dem']:.3g} s for the {1e3 * case.dem_time:.3g} ms it needed "
            f"to come to rest, {case.dem_seconds:.3g} s for the same physical time"
        )
    else:
        start = "from the pose in which contact dynamics came to rest"
        took = (
            f"the DEM would take {case.dem_seconds:.3g} s for the same physical time (not run: "
            "counted from its seconds a step)"
        )
    return (
        "<h1>Section 8 of Olsen &amp; Kamrin, run anew</h1>"
        f"<p>Square-based pyramid of {base} spheres along the base, 2.5 mm, "
        "2000 kg/m<sup>3</sup>, 50 GPa, layers dropped by 5 % of a radius, base layer fixed; "
        f"contact dynamics at 1 ms. The DEM marches at {case.dem_dt:.2g} s (0.8 of its "
        f"stability limit; its stiffness is 2 E* times the sphere's radius) {start}, "
        f"to an unbalanced force of {unbalanced:.0e} of the largest load on a sphere.</p>"
        f"<p>Uniform Hooke, wall clock: contact dynamics took {every:.2g} s with compatible "
        f"forces in every step, {last:.2g} s with those of the last, for "
        f"{1e3 * case.physical_time:.3g} ms of physical time; {took}, at {per_step:.3g} "
        "&micro;s a step: "
        f"{case.dem_seconds / every:.3g} and {case.dem_seconds / last:.3g} times as long. "
        f"rigidlimit {__version__}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}; {seconds:.0f} s in all.</p>"
    )


def _table(cases):
    rows = []
    for case in cases:
        paper = TABLE_1[case.name]
        cells = [case.name]
        for method in ("apgd", "pgs", "pgs permuted", "compatible"):
            own = case.floor_error[method]
            theirs = paper.get(method)
            shown = f"{own:.2g}" if own > 1e-3 else f"{own:.1e}"
            cells.append(shown + (f" (paper {theirs:g})" if theirs is not None else ""))
        cells.append(f"{case.contact_error['compatible']:.1e}")
        rows.append("<tr><td>" + "</td><td>".join(cells) + "</td></tr>")
    over = cases[0].overshoot
    return (
        "<h2>Table 1: relative error of the floor forces against the DEM</h2><table><tr>"
        "<th>contact model</th><th>APGD</th><th>PGS</th><th>PGS permuted</th><th>compatible</th>"
        "<th>compatible, all contacts</th></tr>" + "".join(rows) + "</table>"
        f"<p>Largest force over the DEM's, uniform Hooke: APGD {over['apgd']:+.0%} (paper "
        f"{OVERSHOOT['apgd']:+.0%}), PGS {over['pgs']:+.0%} (paper {OVERSHOOT['pgs']:+.0%}), "
        f"compatible {over['compatible']:+.1e}.</p>"
        "<p>Deviations. Classic forces are not unique, so their errors depend on numbering, "
        "starting forces and tolerance, which the paper does not state; here a cold start, layers "
        "numbered from below, residual 1e-10. The DEM's own stiffness limits the agreement: "
        "overlaps are about 1e-8 of a radius for Hooke and 1e-6 for Hertz, and so are the errors "
        "of the compatible forces.</p>"
    )
