"""How much memory this process may still take, so that nothing is begun that cannot fit.

Systems promise more memory than there is and stop the process once it is used; so large
factorizations check here first. Containers have limits of their own (control groups).
"""

import os
from pathlib import Path

from ..errors import OutOfMemory

GROUPS = Path("/sys/fs/cgroup")
KEPT = 0.8
"""Part of what is free that one object may take."""

LITTLE = 8e7
"""Bytes assumed to be available without a check, which takes half a millisecond each time."""


def room() -> float:
    """Bytes that one object may take; inf where the system does not say."""
    return KEPT * min(_of_machine(), _of_container())


def fits(size: float) -> bool:
    """Whether one object of ``size`` bytes may be made."""
    return size <= LITTLE or size <= room()


def check_room(size: float, what: str) -> None:
    """Raises OutOfMemory if ``what``, "the factorization of ...", of ``size`` bytes is too much."""
    if not fits(size):
        free = room()
        raise OutOfMemory(
            f"{what} takes {size / 1e9:.2g} GB of memory; found {free / 1e9:.2g} GB to take "
            "(0.8 of what is free): free memory, or use a machine with more"
        )


def _of_machine(table: Path = Path("/proc/meminfo")) -> float:
    try:
        for line in table.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:  # systems that do not report free memory
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        return 0.5 * pages * size if min(pages, size) > 0 else float("inf")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _of_container(groups: Path = GROUPS, mine: Path = Path("/proc/self/cgroup")) -> float:
    """Of this process's control groups and those above them, version 2 or 1; inf where there is no
    limit. Containers may see their own group as the root, so that is always read, too."""
    try:
        lines = [line.split(":", 2) for line in mine.read_text().splitlines()]
    except OSError:
        lines = []
    free = float("inf")
    for root, kinds, limit, used, files in (
        (groups, ("",), "max", "current", "inactive_file"),
        (groups / "memory", ("memory",), "limit_in_bytes", "usage_in_bytes", "total_inactive_file"),
    ):
        folders = {root}
        for _, kind, path in (line for line in lines if len(line) == 3):
            if kind in kinds:
                folder = root / path.strip("/")
                folders.update(f for f in (folder, *folder.parents) if f.is_relative_to(root))
        for folder in folders:
            free = min(free, _left(folder, limit, used, files))
    return free


def _left(folder: Path, limit: str, used: str, files: str) -> float:
    """Of one control group."""
    try:
        free = int((folder / f"memory.{limit}").read_text())
        free -= int((folder / f"memory.{used}").read_text())
        for line in (folder / "memory.stat").read_text().splitlines():
            name, size = line.split()
            free += int(size) * (name == files)  # given back when wanted
        return max(0.0, float(free))
    except (OSError, ValueError):  # no such file, or "max"
        return float("inf")
