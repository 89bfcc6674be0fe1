"""Packings for other programs: LAMMPS (and OVITO), tables, graphs of the force network."""

from .write import write_packing

__all__ = ["write_packing"]
