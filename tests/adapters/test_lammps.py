"""Peer: the same pyramid at rest in LAMMPS's GRANULAR package, contact by contact."""

import numpy as np
import pytest

import rigidlimit as rl
from benchmarks import lammps_peer as lammps
from rigidlimit.errors import InputError, MissingExtra
from rigidlimit.penalty import PenaltySimulation

try:
    lammps.library()
except MissingExtra as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.mark.parametrize("options", [{}, {"young_ratio": 5.0}, {"law": "hertz"}], ids=str)
def test_same_forces_at_rest(options):
    """Contacts above 1 % of the mean force agree to 1e-4: uniform and two-material, both laws."""
    scene = rl.scenes.pyramid(5, drop=0, **options)
    ours = PenaltySimulation(scene, stiffness_scale=1e-3).run()
    theirs = lammps.march_spheres(
        PenaltySimulation(scene, stiffness_scale=1e-3), 3 * ours.steps + 10_000
    )
    assert ours.at_rest
    force = ours.contacts.carry_over(theirs.contacts, theirs.force)
    bearing = ours.force > 0.01 * ours.force.mean()
    assert bearing.sum() > 100
    assert abs(force[bearing] / ours.force[bearing] - 1).max() < 1e-4


def rough_spheres(centres, held, *, law="hooke", friction=0.5):
    """Spheres of diameter and weight 1, some of them held, overlaps of some 1e-5."""
    scene = rl.Scene(gravity=(0, 0, -1), law=law)
    rough = rl.Material(young=2e5, friction=friction, tangential_stiffness=2 / 7)
    scene.add_many(rl.Sphere(0.5), centres[:held], material=rough, mass=1.0, fixed=True)
    scene.add_many(rl.Sphere(0.5), centres[held:], material=rough, mass=1.0)
    return scene


def pyramid(base):
    layers = []
    for layer in range(base):
        x, y = np.meshgrid(*2 * [np.arange(base - layer) + 0.5 * layer], indexing="ij")
        layers.append(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel() + layer / np.sqrt(2)]))
    return np.concatenate(layers)


# a ball on two held ones, side by side: a groove whose normals make 45 degrees with the vertical
GROOVE = np.array([[0, 0, 0], [np.sqrt(2), 0, 0], [np.sqrt(0.5), 0, np.sqrt(0.5)]])


@pytest.mark.parametrize(
    ("centres", "held", "law", "named", "friction"),
    [
        (GROOVE, 2, "hooke", "mindlin", 0.2),
        (GROOVE, 2, "hertz", "mindlin", 0.9),
        (GROOVE, 2, "hertz", "mindlin/force", 0.9),
        (pyramid(3), 9, "hooke", "mindlin", 0.2),
    ],
    ids=["groove", "mindlin", "mindlin-force", "pyramid"],
)
def test_same_friction_at_rest(centres, held, law, named, friction):
    """Vectors of all forces agree where weights grow and then tilt, sliding and sticking."""
    scene = rough_spheres(centres, held, law=law, friction=friction)
    weights, over, dt = scene.external_force(), 10.0, 4e-4
    tilted = weights.reshape(-1, 6).copy()
    tilted[:, 0] = -0.05 * tilted[:, 2]
    options = dict(restitution=0.3, tangential_law=named, dt=dt)
    dem = PenaltySimulation(scene, external_force=0 * weights, **options)
    dem.load(weights, over=over)
    dem.load(tilted.ravel(), over=over)
    ours = dem.run(until=dem.time + 10)
    steps = round(over / dt)
    theirs = lammps.march_spheres(
        PenaltySimulation(scene, **options),
        round(10 / dt),
        path=[((0, 0, -1), steps), ((0.05, 0, -1), steps)],
    )
    same = ours.contacts.places_in(theirs.contacts)
    assert (same >= 0)[ours.force > 1e-3].all()
    vectors = theirs.force[:, None] * theirs.contacts.normal + theirs.tangential
    # the same law and steps; where arms end and how springs are turned differs by the overlap
    np.testing.assert_allclose(ours.force_vectors, vectors[same], atol=1e-6 * np.abs(vectors).max())
    assert np.abs(ours.tangential).max() > 0.03


def test_other_shapes_are_refused():
    """What LAMMPS is not set up for here is one clear error."""
    with pytest.raises(InputError, match="spheres only"):
        lammps.march_spheres(PenaltySimulation(rl.scenes.box_stack(2)), 10)
