"""Balls as CSV, with units in the heads of columns; ``read_packing`` takes it back."""

import csv
import io

import numpy as np

UNITS = {
    "x": "m", "y": "m", "z": "m", "radius": "m", "mass": "kg", "vx": "m/s", "vy": "m/s",
    "vz": "m/s", "wx": "rad/s", "wy": "rad/s", "wz": "rad/s", "fx": "N", "fy": "N", "fz": "N",
}  # fmt: skip


def csv_text(table: np.ndarray, kind: np.ndarray) -> str:
    """The rows of a ``body_table``, with the types (k,) of the balls."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    planar = "z" not in table.dtype.names
    units = UNITS | {
        name: "N/m" if planar else "Pa" for name in table.dtype.names if name.startswith("stress")
    }
    writer.writerow(
        [f"{name} [{units[name]}]" if name in units else name for name in table.dtype.names]
        + ["type"]
    )
    writer.writerows((*row, each) for row, each in zip(table.tolist(), kind.tolist(), strict=True))
    return sheet.getvalue()
