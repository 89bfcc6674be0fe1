"""The scene builder, the gallery and TOML files."""

import re
import warnings

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, SceneError, SceneWarning
from rigidlimit.scenes.pairs import PAIR_KEYS
from rigidlimit.scenes.toml import parse_scene, read_scene, scene_text, write_scene

FLOOR = '[[bodies]]\nshape = "half-space"\nposition = [0, 0, 0]\n'
BALL = '[[bodies]]\nshape = "sphere"\nradius = 0.1\nposition = [0, 0, 0]\n'
PAIR = '[[pairs]]\nbodies = ["0", "1"]\n'
TWO = FLOOR + BALL + PAIR
CLUMP = '[[bodies]]\nshape = "compound"\n'
POLYGON = 'dim = 2\n[[bodies]]\nshape = "polygon"\nposition = [0,0]\n'


def assert_same(a, b):
    """Two scenes with the same bodies, state, loads and laws."""
    for name in ("mass", "free", "inertia"):
        np.testing.assert_allclose(getattr(a.bodies, name), getattr(b.bodies, name), rtol=1e-12)
    for name in ("position", "quaternion", "velocity"):
        np.testing.assert_allclose(getattr(a.state, name), getattr(b.state, name), atol=1e-15)
    np.testing.assert_allclose(a.external_force(), b.external_force(), atol=1e-12)
    assert a.bodies.names == b.bodies.names and a.exponent == b.exponent
    assert a.bodies.materials == b.bodies.materials
    for key in PAIR_KEYS:
        assert getattr(a, f"pair_{key}") == getattr(b, f"pair_{key}")


@pytest.mark.parametrize("name", rl.scenes.GALLERY)
def test_gallery_round_trip(name):
    """Property: every gallery scene written as TOML reads back the same."""
    scene = rl.scenes.GALLERY[name](5) if name == "pyramid" else rl.scenes.load(name)
    assert_same(scene, parse_scene(scene_text(scene)))


def everything():
    """A scene with all shapes and options."""
    rng = np.random.default_rng(0)
    scene = rl.Scene(name='q"uote', law=3.0, restitution=0.25, gravity=(1, 2, 3))
    stone = rl.Material(young=1e9, poisson=0.1, density=2700, name="stone", friction=0.6)
    rubber = rl.Material(young=1e7, name="rubber", friction=1.1, tangential_stiffness=0.8)
    shapes = [
        rl.Sphere(0.1),
        rl.Box((1, 2, 3)),
        rl.Capsule(0.1, 2),
        rl.Cylinder(0.3, 0.2),
        rl.Ellipsoid((1, 2, 3)),
        rl.ConvexPolyhedron(rng.normal(size=(12, 3))),
        rl.Compound(
            [
                (rl.Box((1, 2, 3)), (0.1, 0, 0), rng.normal(size=4)),
                (rl.ConvexPolyhedron(rng.normal(size=(6, 3))), (5, 0, 1)),
                (rl.Capsule(0.1, 1), (-5, 0, 0)),
            ],
            densities=(1, 2, 0.3),
        ),
        rl.Compound(
            [(rl.Sphere(1), (x, 0, 0)) for x in (0, 1.5)],
            centre=(0.75, 0, 0.1),
            inertia_per_mass=[[1, 0.1, 0], [0.1, 2, 0], [0, 0, 3]],
        ),
    ]
    for k, shape in enumerate(shapes):
        scene.add(
            shape,
            position=rng.normal(size=3),
            orientation=rng.normal(size=4),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            material=rubber if k == 3 else stone,
            mass=7.0 if k == 7 else None,
            fixed=["x", "rz"] if k == 2 else False,
            load=rng.normal(size=6),
            name=f"body {k}",
        )
    scene.add(rl.HalfSpace(), position=(0, 0, -9), normal=(0, 1, 1), name="floor")
    scene.set_pair_stiffness("body 1", "floor", 7.0)
    scene.set_pair_friction("floor", "body 1", 0.3)
    scene.set_pair_friction("body 2", "floor", 0.0)
    scene.set_pair_tangential_stiffness("body 2", "body 3", 1.0)
    return scene


def test_everything_round_trip(tmp_path):
    """Property: all shapes and options survive a file."""
    scene = everything()
    write_scene(scene, tmp_path / "scene.toml")
    again = read_scene(tmp_path / "scene.toml")
    assert_same(scene, again)
    for one, other in zip(scene.bodies.shapes[6:8], again.bodies.shapes[6:8], strict=True):
        np.testing.assert_allclose(other.offsets, one.offsets, atol=1e-14)
        np.testing.assert_allclose(other.quaternions, one.quaternions, atol=1e-15)
        np.testing.assert_allclose(other.centre, one.centre, atol=1e-14)
        assert [type(s) for s in other.shapes] == [type(s) for s in one.shapes]
        assert other.given == one.given and other.measure == pytest.approx(one.measure)
    assert [p.name for p in tmp_path.iterdir()] == ["scene.toml"]  # no temporary file stays


def test_lattice_and_gallery_tables(tmp_path):
    """A lattice makes bodies on a grid; a gallery table passes its parameters on."""
    scene = parse_scene(
        'dim = 2\n[[lattices]]\nshape = "disk"\nradius = 0.1\n'
        "counts = [4, 3]\nspacing = [0.3, 0.2]\nposition = [1, 2]\n"
    )
    assert len(scene) == 12
    np.testing.assert_allclose(scene.state.position.max(axis=0), [1.9, 2.4, 0])
    assert len(parse_scene('gallery = "pyramid"\nparameters = {base = 3}')) == 14
    assert parse_scene('gallery = "beam"\ndt = 0.005').dt == 0.005
    with pytest.raises(SceneError, match="gravity: not with gallery"):
        parse_scene('gallery = "beam"\ngravity = [0, -1]')


def test_random_lattices():
    """Property: radii lie between those given, places near the grid's by the jitter, and both are
    those of the seed; keys that do not go together are told."""
    text = '[[lattices]]\nshape = "sphere"\ncounts = [5, 6, 7]\nspacing = 0.1\n'
    drawn = text + "radii = [0.02, 0.04]\njitter = 0.01\nseed = {}\n"
    one, same, other = (parse_scene(drawn.format(seed)) for seed in (1, 1, 2))
    radius = one.bodies.bounding_radius
    assert len(one) == 210 and 0.02 <= radius.min() < 0.022 and 0.038 < radius.max() <= 0.04
    grid = parse_scene(text + "radius = 0.02\n").state.position
    off = one.state.position - grid
    assert abs(off).max() <= 0.01 and (abs(off).max(axis=0) > 0.009).all()
    np.testing.assert_array_equal(one.state.position, same.state.position)
    np.testing.assert_array_equal(radius, same.bodies.bounding_radius)
    assert not np.isin(radius, other.bodies.bounding_radius).any()
    for more, said in (
        ("radii = [0.04, 0.02]", "expected the smallest, then the largest"),
        ("radii = [0.04]", "at least 2 items"),
        ("radius = 0.1\nradii = [0.02, 0.04]", "radius, radii: exclude each other"),
        ("radius = 0.1\nseed = 3", "seed: only beside radii or jitter"),
        ("radius = 0.1\njitter = -1", "lattices[0].jitter: found -1"),
        ("radii = [0.02, 0.04]\nsize = [1, 1, 1]", "size: not for shape 'sphere'"),
    ):
        with pytest.raises(SceneError, match=re.escape(said)):
            parse_scene(text + more)
    for wrong, said in (
        ("spacing = [0.1, 0.1]", "spacing: found 2 entries; expected 3"),
        ('spacing = "wide"', "spacing: found 'wide'; expected a positive number, or one per axis"),
        ('spacing = 1\nradii = [1, 2]\nshape = "box"', "only for spheres and disks"),
    ):
        rest = text.replace("spacing = 0.1", wrong)
        rest = rest.replace('shape = "sphere"\n', "", 1) if "box" in wrong else rest
        with pytest.raises(SceneError, match=re.escape(said)):
            parse_scene(rest)


def test_meshes(tmp_path):
    """Closed form: a tetrahedron from OBJ, scaled; what is no mesh is one clear line."""
    (tmp_path / "t.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    text = '[[bodies]]\nshape = "polyhedron"\nmesh = "t.obj"\nmesh_scale = 2\nposition = [0,0,0]\n'
    (tmp_path / "s.toml").write_text(text)
    assert read_scene(tmp_path / "s.toml").bodies.shape(0).measure == pytest.approx(8 / 6)
    (tmp_path / "t.obj").write_text("nonsense")
    with pytest.raises(SceneError, match=r"t\.obj"):
        read_scene(tmp_path / "s.toml")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ('nme = "x"', "nme: unknown key; did you mean 'name'?"),
        (BALL + "radus = 1", "bodies[0].radus: unknown key; did you mean 'radius'?"),
        (BALL + "pos = [0, 0, 0]", "bodies[0].pos: unknown key; did you mean 'position'?"),
        (BALL + "friction = 0.5", "bodies[0].friction: unknown key; friction belongs to mat"),
        ("friction = 0.5\n" + BALL, "friction: unknown key; friction belongs to materials, [mat"),
        ("[materials.a]\nfriction = -0.1\n" + BALL, "materials.a.friction: found -0.1; expected"),
        ("[materials.a]\nfriction = nan\n" + BALL, "materials.a.friction: found nan; expected"),
        (TWO + "friction = -1", "pairs[0].friction: found -1"),
        (TWO + "tangential_stiffness = 0", "pairs[0].tangential_stiffness: found 0"),
        (TWO, "pairs[0]: nothing is given; expected one or more of stiffness, friction, tang"),
        (TWO + "friction = 1\n" + PAIR + "friction = 0.5", "pairs[1]: ['0', '1'] are given a sec"),
        (BALL + "restitution = 0.5", "unknown key; restitution is one for the whole scene"),
        (BALL + "mass = -2", "bodies[0].mass: found -2"),
        ('[[bodies]]\nshape = "sphere"\nposition = [0,0,0]', "radius: missing"),
        ("[[bodies]]\nradius = 1", "bodies[0].shape: missing; add shape"),
        ('[[bodies]]\nshape = "spere"', "shape: found 'spere'; did you mean 'sphere'?"),
        ('[[bodies]]\nshape = "qqq"', "expected one of sphere, half-space, box"),
        ('gallery = "pyramd"', "gallery: found 'pyramd'; did you mean 'pyramid'?"),
        ("dim = 5\n" + BALL, "dim: found 5; expected 2 or 3"),
        ('[bodies]\nshape = "sphere"', "bodies: found one table; expected [[bodies]], with two"),
        (BALL + 'fixed = "x"', "fixed: found 'x'; expected true, false, or some of"),
        (BALL + 'fixed = ["x", 3]', 'or some of ["x", "y", "z", "rx", "ry", "rz"]'),
        (BALL + "law = true\nvelocity = 3", "velocity: found 3; expected a list (1 more fault)"),
        ("law = [3]\n" + BALL, "law: found [3]; expected 'hooke', 'hertz' or"),
        ('[[bodies]]\nshape = "sphere"\nradius = "1"', "radius: found '1'; expected a number"),
        (BALL + "velocity = [1, 2]", "bodies[0]: velocity: found [1.0, 2.0]; expected 3 finite"),
        (BALL + "mass = true", "mass: found True; expected a number"),
        (FLOOR + "normal = [1, 0, 1]\nmass = 3", "bodies[0]: mass: the half-space with the normal"),
        (FLOOR + "load = [0, 0, 1]", "bodies[0]: load: found"),
        (FLOOR + "fixed = false", "fixed: found false; a half-space without a mass is fixed"),
        (FLOOR + 'fixed = ["x"]', "fixed: found ['x']; a half-space is fixed in all"),
        (BALL + "mesh_scale = 2", "bodies[0]: mesh_scale: only beside mesh"),
        ('gallery = "beam"\nparameters = {weight = -1}', "beam(): weight is -1; expected"),
        (BALL + "size = [1,1,1]", "size: not for shape 'sphere'"),
        (BALL + 'material = "gass"\n[materials.glass]', "did you mean 'glass'?"),
        (BALL + 'fixed = ["q"]', "fixed names 'q'"),
        ("dim = 2\n" + BALL, "Sphere is a shape in 3D"),
        ('gallery = "pyramid"\nparameters = {bse = 3}', "bse"),
        ("law = 0.5\n" + BALL, "law is 0.5"),
        ("x =", "not valid TOML"),
        (POLYGON + "points = [[0,0],[1,0,0],[0,1]]", "bodies[0]: points[1]: found 3 numbers; expe"),
        (POLYGON + "points = []", "bodies[0]: polygon: 0 points"),
        (
            POLYGON.replace("polygon", "polyhedron") + "points = [[0,0,0],[1,0,0],[0,1]]",
            "bodies[0]: points[2]: found 2 numbers; expected 3",
        ),
        ("float = 1\n" + BALL, "my.toml: float: unknown key"),
        ("str = 2\n" + BALL, "my.toml: str: unknown key"),
        (BALL + "bool = true", "bodies[0].bool: unknown key"),
        (BALL + "[materials.float]\nyoung = 'a'", "materials.float.young: found 'a'"),
        (BALL + "[materials.law]\nyung = 1", "materials.law.yung: unknown key; did you mean 'you"),
        (BALL + "angular_velocity = ['a', 0, 0]", "bodies[0].angular_velocity"),
        (BALL + "fixed = ['x', 3]", "bodies[0].fixed"),
        ("law = []\n" + BALL, "my.toml: law: found []; expected 'hooke'"),
        ("dim = 3", "bodies: none found"),
        (CLUMP, "bodies[0]: parts: missing; shape 'compound' needs parts"),
        (CLUMP + "parts = []", "bodies[0].parts: found []; expected at least 1 item"),
        (CLUMP + "parts = 3", "bodies[0].parts: found 3; expected"),
        (
            CLUMP + 'parts = [{ shape = "compound" }]',
            "bodies[0].parts[0].shape: found 'compound'; expected one of sphere, box",
        ),
        (CLUMP + "parts = [{ radius = 1 }]", "bodies[0].parts[0].shape: missing; add shape"),
        (
            CLUMP + 'parts = [{ shape = "box", sze = [1, 1, 1] }]',
            "bodies[0].parts[0].sze: unknown key; did you mean 'size'?",
        ),
        (
            CLUMP + 'parts = [{ shape = "sphere", radius = 1, fixed = true }]',
            "bodies[0].parts[0].fixed: unknown key",
        ),
        (
            CLUMP + 'parts = [{ shape = "sphere", radius = 1, size = [1, 1, 1] }]',
            "bodies[0]: parts[0].size: not for shape 'sphere'",
        ),
        (
            CLUMP + 'parts = [{ shape = "sphere", radius = 1, position = [0, 0] }]',
            "bodies[0]: compound: part 0: position is [0.0, 0.0]; expected 3",
        ),
        (
            CLUMP + 'parts = [{ shape = "disk", radius = 1, position = [0, 0] }]',
            "bodies[0]: Compound is a shape in 2D",
        ),
        (
            CLUMP + 'parts = [{ shape = "sphere", radius = 1, orientation = "x" }]',
            "bodies[0].parts[0].orientation: found 'x'; expected a quaternion",
        ),
        (
            CLUMP + 'parts = [{ shape = "sphere", radius = 1 }]\ninertia_per_mass = "x"',
            "bodies[0].inertia_per_mass: found 'x'; expected three numbers",
        ),
        (BALL + 'parts = [{ shape = "sphere", radius = 1 }]', "parts: not for shape 'sphere'"),
        (BALL + "centre = [0, 0, 0]", "centre: only for shape 'compound'"),
        (BALL + '[[pairs]]\nbodies = ["0", "wall"]\nstiffness = 1', "no body is named 'wall'"),
        (
            BALL + '[path]\nkind = "isotropic"\npressures = [-1.0]',
            "my.toml: path.pressures: found [-1.0]; expected positive numbers, one a stage",
        ),
        (BALL + '[[path]]\nkind = "isotropik"', "my.toml: path[0].kind: found 'isotropik'; did"),
    ],
)
def test_faults_are_one_line(text, fragment):
    """A fault names the file, the key and the remedy in one line."""
    with pytest.raises(SceneError) as caught:
        parse_scene(text, name="my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: ") and fragment in message and "\n" not in message


def test_mass_of_a_fixed_body_is_told(tmp_path):
    """A mass or load that does nothing is named, once a file; files that the program writes have
    none, nor the mass of a moving floor, whose velocity they keep."""
    path = tmp_path / "s.toml"
    path.write_text(BALL + "fixed = true\nmass = 2\nload = [0, 0, 1]\n" + FLOOR + "fixed = true\n")
    with pytest.warns(SceneWarning, match=r"bodies\[0\]\.mass \(and 1 more\): the body is fixed"):
        read_scene(path)
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), velocity=(0, 0, 0.1), angular_velocity=(0, 0, 1))
    scene.add(rl.Sphere(1), position=(0, 0, 5), fixed=True)
    write_scene(scene, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = read_scene(path)
    assert_same(again, scene)
    assert again.state.velocity[0].tolist() == [0, 0, 0.1, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda s: s.pyramid(bas=3), r"pyramid\(\) has no parameter 'bas'; did you mean 'base'"),
        (lambda s: s.pyramid(base=2.5), "base is 2.5; expected a whole number, at least 1"),
        (lambda s: s.pyramid(True), "base is True; expected a whole"),
        (lambda s: s.pyramid(3, 4), r"too many positional arguments; expected pyramid\(base=20"),
        (lambda s: s.pyramid(3, law="hook"), "law is 'hook'; expected 'hooke', 'hertz' or"),
        (lambda s: s.pyramid(3, drop=-1), "drop is -1; expected a number, zero or more"),
        (lambda s: s.beam(weight="heavy"), "weight is 'heavy'; expected a positive number"),
        (lambda s: s.beam(stiffness=(1, 1)), r"stiffness is \(1, 1\); expected 3 positive numbers"),
        (lambda s: s.beam(stiffness=2), "expected 3 positive numbers"),
        (lambda s: s.beam(order=(0, 1, 1)), "expected 0, 1 and 2 in any order"),
        (lambda s: s.four_leg_table((0, np.nan)), "expected 2 finite numbers"),
        (lambda s: s.block_on_legs(1), "legs is 1; expected a whole number, at least 2"),
        (lambda s: s.box_stack(-2), "count is -2"),
        (lambda s: s.disk_in_corner(left=0), "expected an angle between 0 and 90 degrees"),
        (lambda s: s.pile_2d(seed="a"), "seed is 'a'"),
        (lambda s: s.container(0), "count is 0"),
        (lambda s: s.packing("10"), "count is '10'"),
        (lambda s: s.newton_cradle(speed=np.inf), "speed is inf; expected a finite"),
        (lambda s: s.newton_cradle(restitution=2), "restitution is 2; expected a number from 0"),
    ],
)
def test_gallery_arguments(call, fragment):
    """A user's mistake in Python: what was found and what was expected, whichever function."""
    with pytest.raises(InputError, match=fragment):
        call(rl.scenes)


def test_gallery_takes_numpy_and_lists():
    """Property: numbers of numpy and lists, as from a TOML file, give the same scene."""
    assert_same(rl.scenes.pyramid(np.int64(3)), rl.scenes.pyramid(3))
    one = rl.scenes.beam(np.float64(10), stiffness=[1, 3, 1], order=[2, 0, 1])
    assert_same(one, rl.scenes.beam(stiffness=(1, 3, 1), order=(2, 0, 1)))


def test_unreadable_files(tmp_path):
    """A missing, binary or unknown file or scene is one clear error."""
    with pytest.raises(SceneError, match="No such file"):
        read_scene(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SceneError, match="UTF-8"):
        read_scene(tmp_path / "b.toml")
    (tmp_path / "run.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(SceneError, match="an HDF5 file; expected a scene"):
        read_scene(tmp_path / "run.h5")
    (tmp_path / "mark.toml").write_bytes(b'\xef\xbb\xbfgallery = "beam"\r\n')  # as Windows has it
    assert read_scene(tmp_path / "mark.toml").name == "beam"
    with pytest.raises(SceneError, match="did you mean 'pyramid'"):
        rl.scenes.load("pyramidd")


def test_builder_faults():
    """The builder refuses what cannot be, naming the body."""
    scene = rl.Scene()
    scene.add(rl.Sphere(1), position=(0, 0, 0), name="a")
    for bad, fragment in [
        (lambda: scene.add(rl.Sphere(1), position=(0, 0, 0), name="a"), "'a' is taken"),
        (lambda: scene.add(rl.Sphere(1), position=(0, 0)), "expected 3 finite"),
        (lambda: scene.add(rl.Sphere(1), position=(0, 0, np.nan)), "expected 3 finite"),
        (lambda: scene.add(rl.Disk(1), position=(0, 0, 0)), "shape in 2D"),
        (lambda: scene.add(rl.Sphere(1), position=(0, 0, 0), mass=0), "positive mass"),
        (lambda: scene.add(rl.Sphere(1), position=(0, 0, 0), mass="2kg"), "positive mass"),
        (lambda: scene.add(rl.Sphere(1), position=(0, 0, 0), material="oak"), "a Material"),
        (lambda: scene.add(rl.HalfSpace(), position=(0, 0, 0), load=(0, 0, 1)), "load: found"),
        (lambda: rl.Sphere("10mm"), "positive length"),
        (lambda: scene.add("ball", position=(0, 0, 0)), "one of rigidlimit's shapes"),
        (lambda: scene.set_pair_stiffness("a", "b", 1), "no body is named 'b'"),
        (lambda: scene.set_pair_friction("a", 0, 0.5), "friction between 'a' and itself"),
        (lambda: scene.set_pair_friction("a", 0, -0.5), "'a' and 0 is -0.5; expected a finite mu"),
        (lambda: scene.set_pair_friction("a", 0, np.nan), "is nan; expected a finite mu >= 0"),
        (lambda: scene.set_pair_tangential_stiffness("a", 0, 0), "expected a positive k_t/k_n"),
        (lambda: rl.Material(friction=-0.1), "friction is -0.1; expected a finite coefficient"),
        (lambda: rl.Material(friction=np.nan), "friction is nan; expected a finite coeffi"),
        (lambda: rl.Material(friction="rough"), "friction is 'rough'; expected a finite coeff"),
        (lambda: rl.Material(tangential_stiffness=-1), "tangential_stiffness is -1; expected a po"),
        (lambda: rl.Scene(dim=4), "expected 2 or 3"),
        (lambda: rl.Scene(law="hook"), "law is 'hook'"),
        (lambda: rl.Scene().bodies, "has no bodies"),
    ]:
        with pytest.raises(SceneError, match=fragment):
            bad()


def test_refused_body_can_be_corrected():
    """A body refused leaves its name free, as in a notebook cell that is run again."""
    scene = rl.Scene()
    with pytest.raises(SceneError, match="positive mass"):
        scene.add(rl.Sphere(1), position=(0, 0, 0), name="a", mass=0)
    assert scene.add(rl.Sphere(1), position=(0, 0, 0), name="a", mass=1) == 0 == scene.index("a")


def test_many_bodies_at_once():
    """Property: 20,000 bodies are added by arrays, in the order given."""
    rng = np.random.default_rng(1)
    at = rng.normal(size=(20_000, 3))
    scene = rl.Scene()
    scene.add(rl.Sphere(0.2), position=(9, 9, 9))
    assert scene.add_many(rl.Sphere(0.1), at)[-1] == 20_000
    np.testing.assert_array_equal(scene.state.position[1:], at)


def test_bodies_of_unlike_shapes_at_once():
    """Reference twin: balls of unequal size in one call are those added one by one, to the last
    digit, with masses from the density or given; equal shapes share a row of the table, also far
    apart, and joining columns on the way changes nothing."""
    rng = np.random.default_rng(3)
    radius = np.repeat(rng.uniform(0.1, 0.2, 1200), 2)
    positions = rng.normal(size=(2400, 3))
    mass = rng.uniform(1, 2, 2400)
    for given in (None, mass):
        twin, scene = rl.Scene(), rl.Scene()
        for i, r in enumerate(radius):
            one = {} if given is None else {"mass": given[i]}
            twin.add(rl.Sphere(r), position=positions[i], **one)
        more = {} if given is None else {"mass": given}
        assert scene.add_many([rl.Sphere(r) for r in radius], positions, **more)[-1] == 2399
        assert scene.bodies.shapes == twin.bodies.shapes and len(twin.bodies.shapes) == 1200
        for name, column in scene.columns.items():
            np.testing.assert_array_equal(column, twin.columns[name])
        np.testing.assert_array_equal(scene.bodies.inertia, twin.bodies.inertia)
    scene.columns["mass"][:] = 0.0  # copies
    scene.state.position[:] = 0.0
    np.testing.assert_array_equal(scene.bodies.mass, mass)
    np.testing.assert_array_equal(scene.state.position, positions)


def test_faults_of_many_bodies():
    """Property: shapes and masses that do not fit are told, and leave no trace."""
    scene, ball = rl.Scene(), rl.Sphere(1.0)
    places = [(0, 0, 0), (3, 0, 0)]
    for shape, more, fragment in (
        ([ball], {}, "1 shape given; expected one for all bodies, or one for each of 2"),
        ([ball, rl.HalfSpace()], {}, "a half-space is among the shapes"),
        ([ball, rl.Disk(1.0)], {}, "Disk is a shape in 2D"),
        ([ball, "ball"], {}, "shape is 'ball'"),
        (ball, {"mass": [1.0]}, "mass: found an array of shape (1,)"),
        (ball, {"mass": [1.0, -2.0]}, "mass of body '1' is -2.0"),
        (ball, {"mass": "heavy"}, "mass of body '0' is 'heavy'"),
    ):
        with pytest.raises(SceneError, match=re.escape(fragment)):
            scene.add_many(shape, places, **more)
    assert len(scene) == 0


def test_pairs_that_say_nothing_are_told():
    """A body paired with itself was passed over in silence, and of two stiffnesses of one pair the
    last was taken: each is told. So is a lattice that no memory holds."""
    bodies = '[[bodies]]\nname = "g"\nshape = "half-space"\nposition = [0, 0, 0]\n'
    bodies += '[[bodies]]\nname = "b"\nshape = "sphere"\nradius = 1\nposition = [0, 0, 1]\n'
    pair = "[[pairs]]\nbodies = {}\nstiffness = {}\n"
    lattice = '[[lattices]]\nshape = "sphere"\nradius = 1\nspacing = [2, 2, 2]\n'
    for text, said in (
        (pair.format('["b", "b"]', 1), "'b' and itself"),
        (pair.format('["g", "b"]', 1) + pair.format('["b", "g"]', 2), r"pairs\[1\].*second time"),
        (lattice + "counts = [100000, 100000, 100000]\n", "1e[+]15 bodies; expected at most"),
    ):
        with pytest.raises(SceneError, match=said):
            parse_scene(bodies + text)


def test_points_are_where_the_body_is():
    """Property: without a position the corners of a hull are those that the file gives;
    with one their centre of mass is there; other shapes need one."""
    points = np.array([[2, 1, 3], [4, 1, 3], [2, 5, 3], [2, 1, 9.0]])
    text = f'[[bodies]]\nshape = "polyhedron"\npoints = {points.tolist()}\n'
    scene = parse_scene(text + '[[bodies]]\nshape = "sphere"\nradius = 1\nposition = [0, 0, 0]\n')
    corners = scene.bodies.shape(0).vertices + scene.state.position[0]
    np.testing.assert_allclose(np.sort(corners, axis=0), np.sort(points, axis=0), atol=1e-12)
    np.testing.assert_allclose(scene.state.position[0], points.mean(axis=0))  # of a tetrahedron
    moved = parse_scene(text + "position = [7, 7, 7]\n")
    np.testing.assert_array_equal(moved.state.position[0], [7, 7, 7])
    flat = parse_scene(
        'dim = 2\n[[bodies]]\nshape = "polygon"\npoints = [[1, 1], [4, 1], [1, 4]]\n'
    )
    np.testing.assert_allclose(flat.state.position[0], [2, 2, 0])
    with pytest.raises(SceneError, match="position: missing"):
        parse_scene('[[bodies]]\nshape = "sphere"\nradius = 1\n')


def test_degrees_taken_for_radians_are_told(recwarn):
    """Contract: an angle of more than a turn is taken as given, and said; others are not."""
    scene = rl.Scene(dim=2)
    scene.add(rl.rectangle(1, 1), position=(0, 0), orientation=6.2)
    scene.add(rl.rectangle(1, 1), position=(2, 0), orientation=-3.1)
    assert not recwarn.list
    with pytest.warns(SceneWarning, match="'leaf': orientation is 45, .* 45 degrees are 0.785398"):
        scene.add(rl.rectangle(1, 1), position=(4, 0), orientation=45, name="leaf")
    np.testing.assert_allclose(scene.state.angle[2], 45 % (2 * np.pi), atol=1e-12)
