"""Figures of the paper's section 8, drawn anew from results of ``benchmarks.paper.cases``.

Forces of the packing are in weights of one sphere in every figure, so that they can be compared.
"""

import warnings

import numpy as np

from rigidlimit.collision.contacts import Contacts
from rigidlimit.compatibility.bearing import bearing
from rigidlimit.output.plots import scene_figure
from rigidlimit.output.plots.canvas import Extent
from rigidlimit.output.plots.floor import draw_floor, floor_extent, floor_load, floor_points
from rigidlimit.output.plots.spatial import Fallback
from rigidlimit.output.plots.style import LAYOUT, force_colours, label, look, tidy
from rigidlimit.scenes import pyramid
from rigidlimit.step.force_network import ForceNetwork

from .cases import SNAPSHOTS, Case

BINS = 30
UNIT = "sphere weights"
HEADERS = {
    "uniform Hooke": "uniform Hookean",
    "uniform Hertz": "uniform Hertzian",
    "two materials, Hooke": "multi-species Hookean",
}
"""Contact models as the paper's table 1 and figure 19 call them."""


def case_frame(case: Case) -> ForceNetwork:
    """A case's packing at rest with the forces of every method."""
    m = len(case.point)
    scene = pyramid(case.base)
    gaps = np.zeros(m)
    return ForceNetwork(
        bodies=scene.bodies,
        position=case.position,
        quaternion=scene.state.quaternion,
        contacts=Contacts(
            case.contact_body, np.arange(m), case.point, case.normal, gaps, gaps, len(case.position)
        ),
        forces=case.force,
        gravity=scene.gravity,
        name=case.name,
    )


def beam_figure(beams: dict[str, dict[str, list[float]]]):
    """Figures 1 to 5: bars of the three support forces, a panel a set of stiffnesses.

    beams: {ratio of stiffnesses: {method: three forces, weight 10}}.
    """
    from matplotlib.figure import Figure

    with look(False) as p:
        figure = Figure(figsize=(2 * LAYOUT.column, 2.8), layout="constrained")
        widths = [len(rows) for rows in beams.values()]
        panels = figure.subplots(1, len(beams), sharey=True, width_ratios=widths)
        colours: dict[str, str] = {}
        for panel, (stiffness, rows) in zip(panels, beams.items(), strict=True):
            width = 0.8 / len(rows)
            ratio = np.array([float(k) for k in stiffness.split(":")])
            for place, exact in enumerate(10 * ratio / ratio.sum()):
                panel.hlines(exact, place - 0.46, place + 0.46, p.ink, linewidth=0.8, linestyle=":")
            for k, (method, forces) in enumerate(rows.items()):
                x = np.arange(3) + (k - (len(rows) - 1) / 2) * width
                colour = colours.setdefault(method, p.marks[len(colours) % len(p.marks)])
                panel.bar(x, forces, width, label=method, color=colour, edgecolor=p.paper)
            panel.set_xticks(range(3), ["left", "middle", "right"])
            panel.set_title(f"contact stiffness {stiffness}")
            tidy(panel, p)
        panels[0].set_ylabel("support force, weight 10")
        handles = {}
        for panel in panels:
            for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
                handles.setdefault(name, handle)
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3)
        return figure


def packing_figure(case: Case):
    """Figure 6: the packing at rest, in space where that can be drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Fallback)
        return scene_figure(case_frame(case))


def snapshot_figure(snapshots: dict[str, np.ndarray], radius: float):
    """Figure 7: speeds of the spheres at four times, seen from the front."""
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    with look(False) as p:
        figure = Figure(figsize=(2 * LAYOUT.column, 1.9), layout="constrained")
        panels = figure.subplots(1, len(SNAPSHOTS), sharex=True, sharey=True)
        top = float(snapshots["speed"].max()) or 1.0
        at = 1e3 * snapshots["position"]
        for panel, time, x, speed in zip(panels, SNAPSHOTS, at, snapshots["speed"], strict=True):
            order = np.argsort(-x[:, 1])  # the front last
            circles = [Circle(x[i, [0, 2]], 1e3 * radius) for i in order]
            drawn = PatchCollection(
                circles, cmap=force_colours(p), edgecolor=p.edge, linewidths=0.15
            )
            drawn.set_array(speed[order])
            drawn.set_clim(0, top)
            panel.add_collection(drawn)
            panel.set_aspect("equal")
            panel.autoscale_view()
            panel.set_title(f"t = {1e3 * time:g} ms")
            panel.set_xlabel("x [mm]")
            tidy(panel, p)
        panels[0].set_ylabel("z [mm]")
        figure.colorbar(drawn, ax=list(panels), pad=0.01).set_label("speed [m/s]")
        return figure


def weights(case: Case, method: str) -> np.ndarray:
    """Forces of the active contacts, in sphere weights."""
    force = case.force[method]
    return force[bearing(force, case.force["dem"].max(initial=0.0))] / case.weight


def bucket_edges(cases: list[Case], methods: dict[str, list[str]]) -> np.ndarray:
    """One set of buckets for the histograms of all cases. methods: those shown, by case."""
    top = max(weights(case, m).max(initial=0.0) for case in cases for m in methods[case.name])
    return np.linspace(0.0, top * (1 + 1e-12) or 1.0, BINS + 1)


def histogram_figure(case: Case, methods: list[str], edges: np.ndarray):
    """Figures 8(b) to 17(b): numbers of contacts by force, a panel a method, common scales."""
    from matplotlib.figure import Figure

    with look(False) as p:
        rows = -(-len(methods) // 2)
        figure = Figure(figsize=(2 * LAYOUT.column, 0.3 + 1.8 * rows), layout="constrained")
        panels = figure.subplots(rows, 2, squeeze=False, sharex=True, sharey=True)
        for panel, method in zip(panels.flat, methods, strict=True):
            force = weights(case, method)
            panel.hist(force, edges, color=p.marks[1], edgecolor=p.paper, linewidth=0.3)
            panel.set_title(f"{label(method)}: {len(force)} contacts, largest {force.max():.3g}")
            panel.set_xlim(0, edges[-1])
            tidy(panel, p)
        figure.supxlabel(f"contact force [{UNIT}]", fontsize=8)
        figure.supylabel("number of contacts [-]", fontsize=8)
        return figure


def side_by_side_figure(case: Case, edges: np.ndarray):
    """Figures 12, 15 and 18: the DEM's histogram and the compatible one, bar beside bar."""
    from matplotlib.figure import Figure

    with look(False) as p:
        figure = Figure(figsize=(2 * LAYOUT.column, 2.3), layout="constrained")
        panel = figure.subplots()
        panel.hist(
            [weights(case, m) for m in ("dem", "compatible")],
            edges,
            label=["DEM", "compatible"],
            color=p.marks[:2],
            rwidth=0.9,
        )
        panel.set_xlim(0, edges[-1])
        panel.set_xlabel(f"contact force [{UNIT}]")
        panel.set_ylabel("number of contacts [-]")
        panel.legend()
        tidy(panel, p)
        return figure


def floor_figure(cases: list[Case], methods: list[str]):
    """Figure 19: force on each sphere of the base layer, a column a contact model, a row a method,
    all on one scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    frames = [case_frame(case) for case in cases]
    points = [floor_points(shown) for shown in frames]
    loads = {
        (case.name, method): floor_load(shown, case.force[method], row, len(at)) / case.weight
        for case, shown, (at, _, row) in zip(cases, frames, points, strict=True)
        for method in methods
    }
    extent: Extent = floor_extent(frames[0], points[0][1])
    scale = Normalize(0, max(float(load.max()) for load in loads.values()))
    left, top, right, gap = 0.3, 0.25, 0.85, 0.1  # in inches, as pictures of bodies are laid out
    with look(False) as p:
        width = 2 * LAYOUT.column
        size = (width - left - right) / len(cases) - gap
        height = top + len(methods) * (size + gap)
        figure = Figure(figsize=(width, height))
        for row, method in enumerate(methods):
            for column, case in enumerate(cases):
                x, y = left + column * (size + gap), height - top - size - row * (size + gap)
                place = (x / width, y / height, size / width, size / height)
                panel = figure.add_axes(place)
                panel.set(xticks=[], yticks=[], aspect="equal")
                panel.set_xlim(extent.low[0], extent.high[0])
                panel.set_ylim(extent.low[1], extent.high[1])
                panel.spines[:].set_visible(False)
                at, body, _ = points[column]
                draw_floor(panel, frames[column], (at, body), scale(loads[case.name, method]), p)
                if row == 0:
                    panel.set_title(HEADERS.get(case.name, case.name), pad=4)
                if column == 0:
                    panel.set_ylabel(label(method))
        place = (1 - (right - 0.2) / width, 0.25, 0.12 / width, 0.5)
        bar = figure.colorbar(ScalarMappable(scale, force_colours(p)), figure.add_axes(place))
        bar.set_label(f"force on the base layer [{UNIT}]")
        bar.outline.set_linewidth(0.4)
        return figure
