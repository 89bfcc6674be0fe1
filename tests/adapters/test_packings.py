"""Packings of other programs: what their files say, line by line, and what is refused."""

import gzip

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters.packings.box import of_bounds
from rigidlimit.errors import InputError

DUMP = """ITEM: UNITS
si
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z radius
1 1 0.5 0.5 0.5 0.1
ITEM: TIMESTEP
100
ITEM: NUMBER OF ATOMS
3
ITEM: BOX BOUNDS ff ff fm
0 1.0
-1 1
0 2
ITEM: ATOMS id type element x y z vx vy vz omegax omegay omegaz radius mass fx
3 2 C 0.7 0.30000000000000004 0.1 0 0 -1 0 0 3 0.1 4 0.5
1 1 C 0.1 0.3 0.1 1 0 0 0 0 1 0.1 2 0.5
2 1 C 0.3 0.3 0.1 2 0 0 0 0 2 0.1 3 0.5
"""

DATA = """LAMMPS data file via write_data, version 22 Jul 2025, timestep = 0, units = cgs

2 atoms
2 atom types

0 10 xlo xhi
0 10 ylo yhi
-1 9 zlo zhi

Atoms # sphere

2 2 2.0 3.0 3.0 1.0 1.0 0 0 0
1 1 2.0 2.0 1.0 1.0 1.0 0 0 0

Velocities

2 10 20 30 40 50 60
1 1 2 3 4 5 6
"""

YADE = "#format x_y_z_r_matId\n# a comment\n0.1 0.1 0.1 0.1 0\n0.3 0.1 0.1 0.1 1\n"

CSV = "name,x [mm],y [mm],radius [mm],vx [m/s]\nleft,100,100,100,1\nright,300,100,100,-1\n"


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def test_dump(written):
    """Evidence: the numbers of the file, in the order of ids; the last snapshot unless asked."""
    path = written("rest.dump.gz", DUMP)
    packing = rl.read_packing(path, walls=True)
    scene, state = packing.scene, packing.scene.state
    assert packing.format == "lammps-dump" and scene.name == "rest"
    assert list(scene.bodies.names[:3]) == ["1", "2", "3"] and len(scene) == 9
    np.testing.assert_array_equal(
        state.position[:3], [[0.1, 0.3, 0.1], [0.3, 0.3, 0.1], [0.7, 0.30000000000000004, 0.1]]
    )
    np.testing.assert_array_equal(state.velocity[2], [0, 0, -1, 0, 0, 3])
    np.testing.assert_array_equal(scene.bodies.mass[:3], [2, 3, 4])
    np.testing.assert_array_equal(packing.columns["fx"], [0.5] * 3)
    np.testing.assert_array_equal(packing.columns["type"], [1, 1, 2])
    low = scene.index("wall-ylo")
    np.testing.assert_array_equal(state.position[low], [0, -1, 0])
    first = rl.read_packing(path, frame=0, fixed=[1])
    assert len(first.scene) == 1 and not first.scene.bodies.free.any()


def test_data_in_other_units(written):
    """Evidence: LAMMPS' definitions: cgs in the head, mass = density times that of a ball."""
    packing = rl.read_packing(
        written("rest.data", DATA), material={1: rl.Material(), 2: rl.Material(friction=0.3)}
    )
    bodies, state = packing.scene.bodies, packing.scene.state
    np.testing.assert_allclose(state.position, [[0.01, 0.01, 0.01], [0.03, 0.01, 0.01]], rtol=1e-15)
    # 2 and 3 g/cm^3 times 4/3 pi cm^3; a few roundings
    np.testing.assert_allclose(bodies.mass, [8e-3 * np.pi / 3, 12e-3 * np.pi / 3], rtol=1e-14)
    np.testing.assert_allclose(state.velocity[1], [0.1, 0.2, 0.3, 40, 50, 60], rtol=1e-15)
    assert [bodies.materials[k].friction for k in bodies.material_of] == [0.0, 0.3]


def test_yade_and_tables(written):
    """Evidence: the numbers of the files; the two make the same pair, one of them in the plane."""
    yade = rl.read_packing(written("pair.txt", YADE))
    assert list(yade.columns["type"]) == [0, 1] and yade.scene.dim == 3
    table = rl.read_packing(written("pair.csv", CSV))
    assert table.scene.dim == 2 and table.scene.bodies.names == ("left", "right")
    np.testing.assert_allclose(
        table.scene.state.position[:, :2], yade.scene.state.position[:, :2], rtol=1e-15
    )
    np.testing.assert_array_equal(table.scene.state.velocity[:, 0], [1, -1])


LIGGGHTS = """ITEM: TIMESTEP
800
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS ff ff mm
-0.05 0.05
-0.05 0.05
0 0.15
ITEM: ATOMS id type type x y z ix iy iz vx vy vz fx fy fz omegax omegay omegaz radius
2 1 1 0.01 0.02 0.0301 0 0 0 0.1 0 -0.2 0 0 -0.01 0 3 0 0.0025
1 1 1 -0.01 0.02 0.0025 0 0 0 0 0 0 0 0 0.02 0 0 0 0.0025
"""


def test_liggghts_dump(written):
    """Evidence: the columns of LIGGGHTS' tutorials, its type twice and no mass: that is the
    material's density times the volume."""
    packing = rl.read_packing(
        written("dump800.liggghts", LIGGGHTS), material=rl.Material(density=2500), walls=["zlo"]
    )
    bodies, state = packing.scene.bodies, packing.scene.state
    np.testing.assert_array_equal(state.position[1], [0.01, 0.02, 0.0301])
    np.testing.assert_array_equal(state.velocity[1], [0.1, 0, -0.2, 0, 3, 0])
    np.testing.assert_allclose(bodies.mass[:2], 2500 * 4 / 3 * np.pi * 0.0025**3, rtol=1e-14)
    np.testing.assert_array_equal(packing.columns["fz"], [0.02, -0.01])
    assert packing.forces().message.count("1 of") == 1  # the one on the floor bears


TETRAHEDRON = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
4
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z radius mass
1 1 0.4 0.4 0.1 0.1 1
2 1 0.6 0.4 0.1 0.1 1
3 2 0.5 0.5732050807568877 0.1 0.1 1
4 1 0.5 0.45773502691896257 0.2632993161855452 0.1 1
"""


def test_a_word_among_positions_is_named(written):
    """Contract: the line of the word, and not the columns, is what is wrong."""
    path = written("word.dump", TETRAHEDRON.replace("1 1 0.4 0.4", "1 1 abc 0.4"))
    with pytest.raises(InputError, match="line 10"):
        rl.read_packing(path)


def test_walls_rub_as_balls_do(written):
    """Closed form: a ball on three others on a floor stands if friction is above the tangent of
    half the angle of its contacts to the vertical, sin a = 1/sqrt(3): 0.3178; on a smooth floor
    never."""
    path = written("tetrahedron.dump", TETRAHEDRON)

    def stands(friction, **of_walls):
        material = rl.Material(friction=friction)
        packing = rl.read_packing(path, material=material, walls=["zlo"], **of_walls)
        return rl.statics(packing.scene).forces().converged

    assert stands(0.32) and not stands(0.31)
    assert not stands(0.9, wall_material=rl.Material())
    by_type = {1: rl.Material(friction=0.32), 2: rl.Material(friction=0.4)}
    with pytest.raises(InputError, match="materials by type; expected wall_material= too"):
        rl.read_packing(path, material=by_type, walls=["zlo"])
    packing = rl.read_packing(path, material=by_type, walls=["zlo"], wall_material=by_type[2])
    assert rl.statics(packing.scene).forces().converged


def test_triclinic_box(written):
    """Closed form: LAMMPS' bounding box of a box with tilts, and scaled positions within it."""
    low, high, (xy, xz, yz) = np.array([0, 0, 0.0]), np.array([4, 3, 2.0]), (1.0, -0.5, 0.25)
    along = (0, xy, xz, xy + xz)
    lines = [
        f"{low[0] + min(along)} {high[0] + max(along)} {xy}",
        f"{low[1]} {high[1] + yz} {xz}",
        f"{low[2]} {high[2]} {yz}",
    ]
    text = "\n".join(
        [
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS xy xz yz pp pp pp",
            *lines,
            "ITEM: ATOMS id xs ys zs radius\n1 0.5 0.5 0.5 0.1\n2 1.5 0.5 -0.5 0.1\n",
        ]
    )
    path = written("tilted.dump", text)
    packing = rl.read_packing(path)
    expected = of_bounds(low, high, (xy, xz, yz), (True, True, True))
    np.testing.assert_allclose(packing.box.edges, expected.edges, rtol=1e-15)
    np.testing.assert_allclose(packing.box.volume, 24.0, rtol=1e-14)
    np.testing.assert_array_equal(packing.scene.cell.vectors, packing.box.edges)
    middle = np.array([2.0, 1.5, 1.0]) + [0.5 * (xy + xz), 0.5 * yz, 0]
    # the second is an image of the first
    np.testing.assert_allclose(packing.scene.state.position[:2], [middle, middle], rtol=1e-14)
    # without the cell there may be walls, whose planes hold two edges each
    closed = rl.read_packing(path, periodic="ignore", walls=["ylo", "yhi"])
    assert closed.scene.cell is None
    assert closed.scene.bodies.names[2:] == ("wall-ylo", "wall-yhi")
    point, normal = closed.box.wall("yhi")
    np.testing.assert_allclose(normal @ closed.box.edges[[0, 2]].T, 0.0, atol=1e-15)
    assert normal[1] < 0 and point[1] == 3.0


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "a.dump",
            DUMP.replace("0.3 0.3 0.1 2 0", "0.3 x 0.1 2 0"),
            r"line 24: found '2 1 C 0.3 x.*for y",
        ),
        ("a.dump", DUMP.replace(" 4 0.5", " 4"), "line 22: .*expected 15 words"),
        ("a.dump", DUMP.replace("radius mass", "size mass"), "radius or diameter"),
        ("a.dump", DUMP.replace("ITEM: ATOMS id", "ITEM: ENTRIES id"), "dump of atoms"),
        ("a.dump", DUMP.replace("0.1 4 0.5", "-0.1 4 0.5"), "ball 3: radius is -0.1"),
        (
            "a.data",
            DATA.replace("2 2 2.0 3.0 3.0", "2 2 2.0 3.0"),
            "line 12: found '2 2 2.0.*7 words",
        ),
        ("a.data", DATA.replace("# sphere", "# full"), "style 'full'"),
        ("a.data", DATA.replace("0 10 ylo yhi\n", ""), "ylo yhi: found none"),
        ("a.data", DATA.replace("2 10 20", "3 10 20"), "ids of Atoms"),
        ("a.txt", YADE.replace("0.3 0.1", "0.3 b"), "line 4: .*a number for y"),
        ("a.txt", YADE.replace("x_y_z_r_matId", "x_y_z_r_clumpId"), "clumps"),
        ("a.csv", CSV.replace("radius [mm]", "radius [furlong]"), "line 1: .*unit of radius"),
        ("a.csv", CSV.replace("300,100", "300"), "line 3: .*5 entries"),
        ("a.csv", CSV.replace("right,300", "right,?"), "line 3: .*a number for x"),
        ("a.csv", CSV.replace("right", "left"), "left is there twice"),
        ("a.bin", "\x01\x02", "none of LAMMPS"),
        ("a.csv", " \n", "an empty file"),
        ("a.csv", "x,y,z\n0,0,0\n", "no column radius or diameter"),
        ("a.dump", DUMP.replace("BOUNDS", "BOUNDS pp qq ff"), "line .*three pairs of pp"),
        ("a.csv", CSV.replace("x [mm],y [mm]", "a,b"), "names of its columns, x, y, z"),
        ("a.csv", "x,y,radius,type\n0,0,1,1\n3,0,1,1.5\n", "line 3: .*a whole number for type"),
        ("a.csv", "x,y,z,radius\n0,0,0,1\n3,0,0,1e-300\n", "ball 1: radius is 1e-300; .* masses"),
        ("a.csv", "x,y,z,radius\n0,0,0,1e200\n3,0,0,1\n", "ball 0: radius is 1e.200; .* masses"),
        (
            "a.csv",
            "x,y,z,radius,density\n0,0,0,1e-50,1e-200\n",
            "ball 0: its radius and density make a mass of 0 kg",
        ),
        ("a.dump", DUMP.replace("ATOMS\n3", "ATOMS\n-3"), "line 16: found '-3'"),
        ("a.dump", DUMP.replace("-1 1", "1 -1"), "line 19: found '1 -1'; expected an upper bound"),
        ("a.dump", DUMP[: DUMP.index("1 1 0.5")].replace("ATOMS\n1", "ATOMS\n0"), "no atoms"),
    ],
)
def test_what_is_refused(written, name, text, told):
    """Property: one line that names the file, the line or ball, and what was expected."""
    with pytest.raises(InputError, match=told) as error:
        rl.read_packing(written(name, text))
    assert name in str(error.value)


MJCF = """<mujoco><worldbody>
<geom name="floor" type="plane" size="1 1 1" friction="0.4 0 0"/>
<body name="ball" pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>
<body name="ell" pos="1 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="2"/>
 <body pos="0.3 0 0.1"><geom type="box" size="0.1 0.1 0.2" mass="1"/></body></body>
<body name="arm" pos="3 0 0.5"><joint type="hinge"/>
 <geom type="capsule" size="0.1 0.2"/></body>
</worldbody></mujoco>"""

URDF = """<robot name="r"><link name="base"><collision><origin xyz="0 0 1"/>
<geometry><box size="2 2 1"/></geometry></collision></link></robot>"""


def test_models_of_robots(written):
    """Evidence: MuJoCo's own loader; a welded pair is one body with the mass of both."""
    pytest.importorskip("mujoco")
    packing = rl.read_packing(written("model.xml", MJCF))
    scene = packing.scene
    assert scene.bodies.names == ("floor", "ball", "ell", "arm")
    assert "held as they stand (arm)" in packing.message
    assert list(scene.bodies.free.any(axis=1)) == [False, True, True, False]
    np.testing.assert_allclose(scene.bodies.mass[1:3], [2, 3], rtol=1e-15)
    # (2 (0, 0, 0) + 1 (0.3, 0, 0.1))/3 from the first body's place
    np.testing.assert_allclose(scene.state.position[2], [1.1, 0, 0.1 + 0.1 / 3], rtol=1e-14)
    # of boxes about the common centre, by Steiner
    about_y = 2 * (0.16 + 0.04) / 12 + 2 * (0.01 + 0.01 / 9)
    about_y += (0.04 + 0.16) / 12 + (0.04 + 0.04 / 9)
    np.testing.assert_allclose(scene.bodies.inertia[2, 1, 1], about_y, rtol=1e-12)
    forces = rl.body_forces(rl.Simulation(scene).step())
    # the step's residual
    np.testing.assert_allclose(forces[1, 2], 2 * 9.81, rtol=1e-8)
    table = rl.read_packing(written("robot.urdf", URDF)).scene
    assert list(table.bodies.shape(0).size) == [2, 2, 1] and table.state.position[0, 2] == 1


def test_scene_file_keeps_every_digit(written, tmp_path):
    """Property: positions, velocities, radii and masses of a dump, written as a scene and read
    back, are the same to the last bit."""
    rng = np.random.default_rng(0)
    rows = [
        " ".join(
            [str(k + 1), "1", *map(repr, rng.normal(size=6).tolist()), repr(rng.uniform()), "2"]
        )
        for k in range(20)
    ]
    head = (
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n20\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n"
    )
    columns = "ITEM: ATOMS id type x y z vx vy vz radius mass\n"
    path = written("random.dump", head + columns + "\n".join(rows) + "\n")
    scene = rl.read_packing(path).scene
    from rigidlimit.scenes.toml import read_scene, write_scene

    write_scene(scene, tmp_path / "scene.toml")
    again = read_scene(tmp_path / "scene.toml")
    values = np.array([row.split() for row in rows], float)
    np.testing.assert_array_equal(scene.state.position, values[:, 2:5])
    for one, other in (
        (scene.state.position, again.state.position),
        (scene.state.velocity, again.state.velocity),
        (scene.bodies.mass, again.bodies.mass),
        (scene.bodies.bounding_radius, again.bodies.bounding_radius),
    ):
        np.testing.assert_array_equal(one, other)
