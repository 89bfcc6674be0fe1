"""Scenes: built in Python, read from TOML, or taken from the gallery."""

from .gallery import (
    GALLERY,
    beam,
    block_on_legs,
    box_stack,
    container,
    disk_in_corner,
    four_leg_table,
    l_block,
    newton_cradle,
    packing,
    pile_2d,
    pyramid,
)
from .load import load
from .scene import Scene

__all__ = [
    "GALLERY",
    "Scene",
    "beam",
    "block_on_legs",
    "box_stack",
    "container",
    "disk_in_corner",
    "four_leg_table",
    "l_block",
    "load",
    "newton_cradle",
    "packing",
    "pile_2d",
    "pyramid",
]
