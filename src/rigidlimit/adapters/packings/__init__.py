"""Packings of other programs: LAMMPS, LIGGGHTS, YADE, CSV, and the geometry of MJCF and URDF."""
