"""Along which axes the periodic box of a file stays so."""

from dataclasses import replace

import numpy as np

from ...errors import InputError
from .balls import Balls
from .box import Box


def kept_axes(periodic: str) -> np.ndarray:
    """Along which axes a periodic box stays so, (3,) bool."""
    if periodic in ("keep", "ignore"):
        return np.full(3, periodic == "keep")
    axes = set(periodic) if isinstance(periodic, str) else set()
    if not axes or not axes <= set("xyz"):
        raise InputError(f"periodic is {periodic!r}; expected 'keep', 'ignore', or axes, like 'xy'")
    return np.array([axis in axes for axis in "xyz"])


def periodic_down(balls: Balls, dim: int | None) -> bool:
    """Whether the file's box is periodic along the axis that gravity has by default."""
    return balls.box is not None and bool(balls.box.periodic[(dim or 3) - 1])


def check_width(balls: Balls, dim: int) -> None:
    """Raise InputError for balls that reach around a periodic box, as around that of one layer."""
    if balls.box is None or not len(balls):
        return
    widest = int(np.argmax(balls.radius))
    across = 2.0 * balls.radius[widest]
    for k in np.flatnonzero(balls.box.periodic[:dim]):
        width = abs(np.linalg.det(balls.box.edges)) / np.linalg.norm(
            np.cross(balls.box.edges[k - 2], balls.box.edges[k - 1])
        )
        if across > width:
            axis = "xyz"[k]
            others = "xyz".replace(axis, "")
            raise InputError(
                f"ball {balls.id[widest]} measures {across:.4g} m, the periodic box {width:.4g} m "
                f"along {axis}; of one layer of balls give periodic={others!r}, or dim=2 for disks "
                "in the plane (--periodic, --dim); periodic='ignore' takes no box as periodic"
            )


def in_box(balls: Balls, along: np.ndarray) -> Balls:
    """With centres within the box along its periodic edges; then periodic along (3,) alone."""
    box = balls.box
    if box is None or not box.periodic.any():
        return balls
    balls = replace(balls, position=box.wrapped(balls.position))
    return replace(balls, box=Box(box.origin, box.edges, box.periodic & along))
