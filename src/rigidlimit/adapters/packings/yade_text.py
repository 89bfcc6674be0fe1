"""Text files of YADE's ``export.text`` and ``export.textExt``: x y z r, a line a sphere.

Five numbers a line without a format are x y z r matId. The first line may say another format:
``#format x_y_z_r_matId``, ``id_x_y_z_r_matId``, ``x_y_z_r_attrs``
(https://yade-dem.org/doc/yade.export.html).
"""

import numpy as np

from ...errors import InputError
from .balls import Balls
from .lines import Text

FORMATS = {
    "x_y_z_r": "x y z r",
    "x_y_z_r_matId": "x y z r matId",
    "id_x_y_z_r_matId": "id x y z r matId",
    "x_y_z_r_attrs": "x y z r",
}


def read_yade(text: Text) -> Balls:
    """The balls of the file."""
    form, kept = _form_and_rows(text)
    names = FORMATS[form].split()
    first, count = kept[0], len(kept)
    more = range(100) if form.endswith("attrs") else ()
    if kept[-1] - first + 1 == count:
        table = text.table(first, count, names, more=more)
    else:  # comments among them
        expected = f"{len(names)} numbers: {' '.join(names)}"
        table = np.array([text.numbers(k, len(names), expected) for k in kept])
    column = {name: table[:, k] for k, name in enumerate(names)}
    kinds = column.get("matId")
    return Balls(
        id=column["id"].astype(int) if "id" in column else np.arange(count),
        position=np.column_stack([column[axis] for axis in "xyz"]),
        radius=column["r"],
        # YADE counts materials from 0
        type=None if kinds is None else text.whole(kept, "matId", kinds),
    )


def _form_and_rows(text: Text) -> tuple[str, list[int]]:
    """The format, and the lines of balls."""
    form, kept = "x_y_z_r", []
    for k, line in enumerate(text.lines):
        words = line.split()
        if words[:1] == ["#format"]:
            form = words[1] if len(words) > 1 else ""
            if form not in FORMATS:
                clumps = " (these are clumps, which are not read: export their spheres)"
                raise text.wrong(k, f"one of {', '.join(FORMATS)}{clumps * ('clump' in form)}")
        elif words and not words[0].startswith("#"):
            kept.append(k)
    if kept and not says_format(text) and len(text.lines[kept[0]].split()) == 5:
        form = "x_y_z_r_matId"
    if not kept:
        raise InputError(f"{text.path}: no line with numbers; expected x y z r, a line a sphere")
    return form, kept


def says_format(text: Text) -> bool:
    """Whether the file says what its columns are."""
    return any(line.split()[:1] == ["#format"] for line in text.lines)
