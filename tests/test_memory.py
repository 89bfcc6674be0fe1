"""What is free, and what is not begun because it would not fit."""

import pytest

from rigidlimit._support import memory
from rigidlimit.errors import OutOfMemory

TABLE = "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable:   50 kB\n"


def test_the_kernels_table(tmp_path):
    """Example: what programs may still take, caches given back; without a table, half of all."""
    table = tmp_path / "meminfo"
    table.write_text(TABLE)
    assert memory._of_machine(table) == 50 * 1024
    assert 1e8 < memory._of_machine(tmp_path / "missing") < 1e15


@pytest.mark.parametrize(
    ("limit", "used", "free"), [("1000", "400", 700), ("max", "400", float("inf")), ("9", "400", 0)]
)
def test_a_container(tmp_path, limit, used, free):
    """Example: the control group's limit less what is used, of which files count as free."""
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_file 100\n")
    assert memory._of_container(tmp_path) == free


def test_groups_within_groups(tmp_path):
    """Example: the least of the process's own group and those above it, as in batch jobs."""
    mine = tmp_path / "cgroup"
    mine.write_text("0::/job/step\n")
    for folder, limit in ((tmp_path / "job", "900"), (tmp_path / "job" / "step", "max")):
        folder.mkdir()
        (folder / "memory.max").write_text(limit)
        (folder / "memory.current").write_text("400")
        (folder / "memory.stat").write_text("inactive_file 0\n")
    assert memory._of_container(tmp_path, mine) == 500


def test_an_older_container(tmp_path):
    """Example: version 1 of the control groups; no group at all."""
    assert memory._of_container(tmp_path) == float("inf")
    (tmp_path / "memory").mkdir()
    for name, text in (
        ("limit_in_bytes", "1000"),
        ("usage_in_bytes", "400"),
        ("stat", "total_inactive_file 5"),
    ):
        (tmp_path / "memory" / f"memory.{name}").write_text(text)
    assert memory._of_container(tmp_path) == 605


def test_what_does_not_fit_is_named(monkeypatch):
    """The message says what, how much, how much there is, and what to try."""
    monkeypatch.setattr(memory, "_of_machine", lambda: 1e9)
    memory.check_room(0.5e9, "the matrix")
    with pytest.raises(OutOfMemory, match=r"the matrix takes 2 GB.*found 0\.8 GB.*more"):
        memory.check_room(2e9, "the matrix")


def test_little_is_not_asked_for(monkeypatch):
    """Property: what is always there is made without a look at the system's tables."""
    monkeypatch.setattr(memory, "room", lambda: pytest.fail("asked"))
    assert memory.fits(1e6)
    memory.check_room(1e6, "a small factorization")
    monkeypatch.setattr(memory, "room", lambda: 1e8)
    assert memory.fits(5e7) and not memory.fits(2e8)
