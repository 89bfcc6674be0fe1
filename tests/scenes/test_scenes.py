"""The scene builder, the gallery and TOML files."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import SceneError
from rigidlimit.scenes.toml import parse_scene, read_scene, scene_text, write_scene

BALL = '[[bodies]]\nshape = "sphere"\nradius = 0.1\nposition = [0, 0, 0]\n'


def assert_same(a, b):
    """Two scenes with the same bodies, state, loads and laws."""
    for name in ("mass", "free", "inertia"):
        np.testing.assert_allclose(getattr(a.bodies, name), getattr(b.bodies, name), rtol=1e-12)
    for name in ("position", "quaternion", "velocity"):
        np.testing.assert_allclose(getattr(a.state, name), getattr(b.state, name), atol=1e-15)
    np.testing.assert_allclose(a.external_force(), b.external_force(), atol=1e-12)
    assert a.bodies.names == b.bodies.names and a.exponent == b.exponent
    assert a.pair_stiffness == b.pair_stiffness


@pytest.mark.parametrize("name", rl.scenes.GALLERY)
def test_gallery_round_trip(name):
    """Property: every gallery scene written as TOML reads back the same."""
    scene = rl.scenes.GALLERY[name](5) if name == "pyramid" else rl.scenes.load(name)
    assert_same(scene, parse_scene(scene_text(scene)))


def test_everything_round_trip(tmp_path):
    """Property: all shapes and options survive a file."""
    rng = np.random.default_rng(0)
    scene = rl.Scene(name='q"uote', law=3.0, restitution=0.25, gravity=(1, 2, 3))
    stone = rl.Material(young=1e9, poisson=0.1, density=2700, name="stone")
    shapes = [
        rl.Sphere(0.1),
        rl.Box((1, 2, 3)),
        rl.Capsule(0.1, 2),
        rl.Cylinder(0.3, 0.2),
        rl.Ellipsoid((1, 2, 3)),
        rl.ConvexPolyhedron(rng.normal(size=(12, 3))),
    ]
    for k, shape in enumerate(shapes):
        scene.add(
            shape,
            position=rng.normal(size=3),
            orientation=rng.normal(size=4),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            material=stone,
            fixed=["x", "rz"] if k == 2 else False,
            load=rng.normal(size=6),
            name=f"body {k}",
        )
    scene.add(rl.HalfSpace(), position=(0, 0, -9), normal=(0, 1, 1), name="floor")
    scene.set_pair_stiffness("body 1", "floor", 7.0)
    write_scene(scene, tmp_path / "scene.toml")
    assert_same(scene, read_scene(tmp_path / "scene.toml"))
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
        (BALL + "mass = -2", "bodies[0].mass: found -2"),
        ('[[bodies]]\nshape = "sphere"\nposition = [0,0,0]', "radius: missing"),
        ("[[bodies]]\nradius = 1", "bodies[0].shape: missing; add shape"),
        ('[[bodies]]\nshape = "spere"', "found 'spere'"),
        (BALL + "size = [1,1,1]", "size: not for shape 'sphere'"),
        (BALL + 'material = "gass"\n[materials.glass]', "did you mean 'glass'?"),
        (BALL + 'fixed = ["q"]', "fixed names 'q'"),
        ("dim = 2\n" + BALL, "Sphere is a shape in 3D"),
        ('gallery = "pyramid"\nparameters = {bse = 3}', "bse"),
        ("law = 0.5\n" + BALL, "law is 0.5"),
        ("x =", "not valid TOML"),
        ("dim = 3", "bodies: none found"),
        (BALL + '[[pairs]]\nbodies = ["0", "wall"]\nstiffness = 1', "no body is named 'wall'"),
    ],
)
def test_faults_are_one_line(text, fragment):
    """A fault names the file, the key and the remedy in one line."""
    with pytest.raises(SceneError) as caught:
        parse_scene(text, name="my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: ") and fragment in message and "\n" not in message


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
        (lambda: rl.Sphere("10mm"), "positive length"),
        (lambda: scene.add("ball", position=(0, 0, 0)), "one of rigidlimit's shapes"),
        (lambda: scene.set_pair_stiffness("a", "b", 1), "no body is named 'b'"),
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
