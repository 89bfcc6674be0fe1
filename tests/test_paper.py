"""The benchmark that runs section 8 of the paper anew, on a small pyramid."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from benchmarks.paper import __main__ as paper
from benchmarks.paper import report
from benchmarks.paper.cases import CASES, run_beam, run_case, run_snapshots
from benchmarks.paper.figures import floor_figure, side_by_side_figure
from rigidlimit.output.plots import spatial


def test_report(tmp_path, monkeypatch, capsys):
    """The report holds every figure and table 1; a second run takes the kept results (its figures
    are not drawn again here)."""
    # every figure is saved twice: dots take longest
    save = Figure.savefig
    coarse = {"dpi": 60}
    monkeypatch.setattr(Figure, "savefig", lambda *a, **given: save(*a, **(given | coarse)))
    monkeypatch.setattr(spatial, "LAYOUT", replace(spatial.LAYOUT, pixels=450))
    command = ["paper", "--base", "3", "--whole-run", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", command)
    paper.main()
    table = [line for line in capsys.readouterr().out.splitlines() if "floor forces" in line]
    assert len(table) == 3
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure>") == 13 and "(paper 1.9e-05)" in page
    numbers = re.findall(r"<figcaption>Figures? (\d+)|<h2>Table (1)", page)
    numbers = [int(figure or 0) for figure, _ in numbers]
    assert numbers == [1, 6, 7, 8, 8, 12, 13, 13, 15, 16, 16, 18, 0, 19]
    assert "from the drop" in page and "for the same physical time" in page
    for name in ("beam", "settling", "uniform-Hooke-network", "floor"):
        assert (tmp_path / f"{name}.png").exists() and (tmp_path / f"{name}.pdf").exists()
    for line in table:
        assert float(line.split("compatible ")[1].split(",")[0]) < 1e-5
    kept = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results").iterdir()}
    assert len(kept) == 5
    time.sleep(0.01)
    monkeypatch.setattr(paper, "write_report", lambda folder, *_: folder / "report.html")
    paper.main()
    assert capsys.readouterr().out.splitlines()[:3] == table
    assert kept == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results").iterdir()}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The cases, and the figures of the report by name, of a pyramid of base 3."""
    folder = tmp_path_factory.mktemp("results")
    cases = [run_case(name, 3, folder, str, whole_run=False) for name in CASES]
    made = report._figures(cases, run_beam(folder), run_snapshots(3, folder))
    return cases, {name: figure for name, _, figure in made}


def test_beam_has_bars_of_the_dem(figures):
    """Closed form: 2, 6, 2 under a middle three times as stiff, by both methods shown."""
    _, panel = figures[1]["beam"].axes
    bars = {bar.get_label(): [patch.get_height() for patch in bar] for bar in panel.containers}
    # the DEM's stiffness of 50 GPa leaves 1e-7
    np.testing.assert_allclose(bars["DEM"], [2, 6, 2], rtol=1e-5)
    np.testing.assert_allclose(bars["compatible"], [2, 6, 2], rtol=1e-9)


def test_histograms_have_one_unit(figures):
    """Property: forces in sphere weights, the same buckets in every histogram of the report, and
    as many contacts in them as bear."""
    cases, made = figures
    limits = {
        axes.get_xlim()
        for name, figure in made.items()
        if name.endswith(("histograms", "beside"))
        for axes in figure.axes
    }
    assert len(limits) == 1
    edges = np.linspace(*limits.pop(), 31)
    panel = side_by_side_figure(cases[0], edges).axes[0]
    dem, compatible = ([bar.get_height() for bar in c] for c in panel.containers)
    assert sum(dem) == sum(compatible) == (cases[0].force["dem"] > 1e-6 * cases[0].weight).sum()
    assert np.abs(np.subtract(dem, compatible)).sum() <= 2  # at an edge of buckets


def test_floor_maps_have_one_scale(figures):
    """Property: a row a method, a column a contact model, and equal colours are equal forces."""
    cases, _ = figures
    methods = ["dem", "compatible"]
    *panels, bar = floor_figure(cases, methods).axes
    assert len(panels) == len(methods) * len(cases)
    assert [axes.get_ylabel() for axes in panels[::3]] == ["DEM", "compatible"]
    assert panels[0].get_title() == "uniform Hookean" and "sphere weights" in bar.get_ylabel()
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert len({tuple(axes.get_position().size.round(9)) for axes in panels}) == 1
    top = max(axes.collections[0].get_facecolor()[:, :3].sum(axis=1).min() for axes in panels[2:3])
    # only the case with the largest force reaches the end of the scale, which is not black
    assert top > 0.5
