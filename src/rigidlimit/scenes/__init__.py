"""Scenes: built in Python, read from TOML, or taken from the gallery."""

from .gallery import (
    beam,
    block_on_legs,
    box_stack,
    disk_in_corner,
    four_leg_table,
    l_block,
    newton_cradle,
)
from .granular import chute, drum, hopper, shear_box, silo, vibrated_box
from .load import load
from .masonry import arch, buttressed_arch, dome, tower, wall_with_door
from .names import GALLERY
from .packings import (
    container,
    packing,
    periodic_packing,
    pile_2d,
    pyramid,
    rough_packing,
    rough_pyramid,
)
from .rough import groove, heap, incline, ladder, rolling_ball
from .scene import Scene

__all__ = [
    "GALLERY",
    "Scene",
    "arch",
    "beam",
    "block_on_legs",
    "box_stack",
    "buttressed_arch",
    "chute",
    "container",
    "disk_in_corner",
    "dome",
    "drum",
    "four_leg_table",
    "groove",
    "heap",
    "hopper",
    "incline",
    "l_block",
    "ladder",
    "load",
    "newton_cradle",
    "packing",
    "periodic_packing",
    "pile_2d",
    "pyramid",
    "rolling_ball",
    "rough_packing",
    "rough_pyramid",
    "shear_box",
    "silo",
    "tower",
    "vibrated_box",
    "wall_with_door",
]
