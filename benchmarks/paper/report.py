"""The report: figures as PNG and PDF, and one HTML page that holds them, in the paper's order and
with its numbers."""

import platform
from pathlib import Path

import numpy as np

from rigidlimit import __version__
from rigidlimit.output.page import captioned, write_page
from rigidlimit.output.plots import comparison, save_figure

from .cases import EVERY_STEP, FIGURES, OVERSHOOT, TABLE_1, Case
from .figures import (
    UNIT,
    beam_figure,
    bucket_edges,
    case_frame,
    floor_figure,
    histogram_figure,
    packing_figure,
    side_by_side_figure,
    snapshot_figure,
)

METHODS = ["dem", "apgd", "pgs", "compatible"]
ELSEWHERE = ["dem", "compatible"]
"""Methods of the cases of which classic contact dynamics knows nothing."""


def write_report(
    folder: Path,
    cases: list[Case],
    beams: dict[str, dict[str, list[float]]],
    snapshots: dict[str, np.ndarray],
    seconds: float,
) -> Path:
    """Figures as PNG and PDF in ``folder`` and report.html, self-contained; returns its path."""
    base = cases[0].base
    parts = [_head(base, cases, seconds)]
    for name, caption, figure in _figures(cases, beams, snapshots):
        if name == "floor":  # where the paper has it
            parts.append(_table(cases))
        for ending in ("png", "pdf"):
            save_figure(figure, folder / f"{name}.{ending}")
            figure.set_layout_engine("none")  # laid out once
        parts.append(captioned((folder / f"{name}.png").read_bytes(), caption))
    path = folder / "report.html"
    write_page(path, "Compatible contact forces: section 8 anew", parts)
    return path


def _figures(cases: list[Case], beams, snapshots):
    """(name, caption, figure) of each figure, in the paper's order."""
    by_name = {case.name: case for case in cases}
    radius = 0.5 * float(np.linalg.norm(cases[0].position[1] - cases[0].position[0]))
    shown = {name: METHODS if name == "uniform Hooke" else ELSEWHERE for name in FIGURES}
    edges = bucket_edges(cases, shown)
    yield (
        "beam",
        "Figures 1 to 5: support forces of the beam; dotted: exact. Equal stiffnesses: "
        "Gauss-Seidel in two orders (1), projected gradients (2), compatible (3); middle support "
        "three times as stiff: DEM (4), compatible (5)",
        beam_figure(beams),
    )
    yield "packing", "Figure 6: the packing at rest", packing_figure(cases[0])
    yield "settling", "Figure 7: speeds while it settles", snapshot_figure(snapshots, radius)
    for name, (first, last, beside) in FIGURES.items():
        case, methods = by_name[name], shown[name]
        slug = name.replace(", ", "-").replace(" ", "-")
        network = comparison(
            case_frame(case),
            methods=methods,
            view="front",
            pressure=False,
            units=(UNIT, case.weight),
        )
        yield f"{slug}-network", f"Figures {first}(a) to {last}(a): {name}, forces", network
        yield (
            f"{slug}-histograms",
            f"Figures {first}(b) to {last}(b): {name}, histograms of the forces",
            histogram_figure(case, methods, edges),
        )
        yield (
            f"{slug}-beside",
            f"Figure {beside}: {name}, histograms of DEM and compatible forces side by side",
            side_by_side_figure(case, edges),
        )
    yield (
        "floor",
        "Figure 19: forces on the base layer, all on one scale",
        floor_figure(cases, METHODS),
    )


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
        "<p>Uniform Hooke, wall clock without compilation: contact dynamics took "
        f"{every:.2g} s with compatible forces in every step, {last:.2g} s with those of the "
        "last, for "
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
