"""Results per contact as a JSON or CSV file, written whole or not at all.

JSON: {"summary": {...}, "contacts": {column: [...]}}; CSV: one line a contact, the summary left
out. Numbers that are not known are null, or empty in CSV; those without bound are "inf".
"""

import csv
import io
import json
from pathlib import Path

import numpy as np

from .._support import atomic
from .endings import RESULTS, check_ending


def write_results(path: Path, summary: dict, columns: dict) -> None:
    """columns: name -> one value a contact; "contact" numbers come first on their own."""
    check_ending("--out", path, RESULTS)
    count = len(next(iter(columns.values()), []))
    columns = {"contact": range(count)} | columns
    table = {name: [_plain(v) for v in values] for name, values in columns.items()}
    if path.suffix.lower() == ".json":
        plain = {name: _plain(value) for name, value in summary.items()}
        text = json.dumps({"summary": plain, "contacts": table}, indent=1, allow_nan=False) + "\n"
    else:
        sheet = io.StringIO()
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow(["" if v is None else v for v in row])
        text = sheet.getvalue()
    atomic.write_text(path, text)


def _plain(value):
    """A number, bool, text or list that JSON knows."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
