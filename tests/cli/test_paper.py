"""``rigidlimit paper`` on a small pyramid."""

import time

from tests.cli.program import rigidlimit


def test_report(tmp_path):
    """The report holds every figure and table 1; a second run takes the kept results."""
    done = rigidlimit("paper", "--base", 4, "--whole-run", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure>") == 11 and "(paper 1.9e-05)" in page
    assert "from the drop" in page and "for the same physical time" in page
    for name in ("beam", "settling", "uniform-Hooke-network", "uniform-Hooke-floor"):
        assert (tmp_path / f"{name}.png").exists() and (tmp_path / f"{name}.pdf").exists()
    for line in done.stdout.splitlines()[:3]:
        assert float(line.split("compatible ")[1].split(",")[0]) < 1e-5
    kept = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results").iterdir()}
    assert len(kept) == 4
    time.sleep(0.01)
    assert rigidlimit("paper", "--base", 4, "--whole-run", "--out", tmp_path).stdout == done.stdout
    assert kept == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results").iterdir()}
