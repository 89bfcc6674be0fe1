"""Scenes as TOML text. Units are SI: m, kg, s, N, Pa, rad.

    name = "ball on a plane"
    dim = 3
    gravity = [0, 0, -9.81]
    law = "hooke"                      # or "hertz", or the exponent p > 1

    [materials.glass]
    young = 50e9
    poisson = 0.25
    density = 2500
    friction = 0.4                     # 0 where it is left out; of two materials the smaller
    tangential_stiffness = 0.8         # k_t/k_n; where it is left out Mindlin's, from poisson

    [[bodies]]
    shape = "half-space"
    position = [0, 0, 0]
    normal = [0, 0, 1]

    [[bodies]]
    name = "ball"
    shape = "sphere"
    radius = 0.01
    position = [0, 0, 0.01]
    material = "glass"

    [[pairs]]                          # what holds for two bodies by name, one or more of:
    bodies = ["ball", "0"]
    stiffness = 2.0
    friction = 0.3
    tangential_stiffness = 1.0
    collide = false                    # they pass through one another

    [[contacts]]                       # what a rough contact remembers, as files are written
    bodies = ["0", "ball"]             # in the order of the file; forces act on the second
    normal = [0, 0, 1]                 # from the first to the second
    force = 0.1                        # N
    tangential_force = [0.02, 0, 0]

    [cell]                             # periodic: side lengths, or vectors row by row
    vectors = [1.0, 1.0, 2.0]
    periodic = [true, true, false]
    stress = [[50.0, 0.0, nan], [0.0, 50.0, nan], [nan, nan, nan]]  # nan: its rate is prescribed
    rate = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]

    [path]                             # of rigidlimit path; several follow one another: [[path]]
    kind = "simple-shear"
    strain = 0.2
    steps = 200
    pressure = 50.0

Bodies with the same ``group = "platens"`` do not collide with one another. A ``shape = "compound"``
has ``parts``, each a table with the keys of a shape. ``gallery = "pyramid"`` with a table
``[parameters]`` takes a gallery scene instead of bodies. A ``[[lattices]]`` table repeats a body on
a grid: ``counts`` per axis, ``spacing`` apart; balls of ``radii`` between two, moved about by
``jitter``, as they are poured.
"""

from .reading import parse_head, parse_scene, read_scene, scene_of_tables
from .shapes import read_mesh, shape_tables, shapes_of_tables
from .writing import head_text, scene_text, write_scene

__all__ = [
    "head_text",
    "parse_head",
    "parse_scene",
    "read_mesh",
    "read_scene",
    "scene_of_tables",
    "scene_text",
    "shape_tables",
    "shapes_of_tables",
    "write_scene",
]
