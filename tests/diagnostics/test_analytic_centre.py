"""Which contacts can carry force, by the central path, against lifting and closed forms."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.diagnostics import admissible, analytic_centre, bound_programs
from rigidlimit.linear import Network

from .test_determinacy import static_pyramid


def balanced(scene, steps=1):
    """(B, load) of the degrees of freedom that a step's contacts move."""
    simulation = rl.Simulation(scene)
    for _ in range(steps):
        result = simulation.step()
    B, load = result.balance
    columns = np.unique(B.indices)
    columns = columns[result.bodies.free.ravel()[columns]]
    return B[:, columns].tocsr(), load[columns]


def layer():
    """20 x 20 balls side by side on a floor: those between two of them carry nothing."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add_many(rl.Sphere(0.5), [(x, y, 0.5) for x in range(20) for y in range(20)])
    return scene


SCENES = {
    "layer": lambda: balanced(layer()),
    "pyramid": lambda: static_pyramid(6),
    "container": lambda: balanced(rl.scenes.container(27), 120),
    "pile": lambda: balanced(rl.scenes.pile_2d(30), 120),
    "legs": lambda: balanced(rl.scenes.block_on_legs(30)),
}


@pytest.mark.parametrize("name", SCENES)
def test_path_and_lifting_agree(name, monkeypatch):
    """Cross-method: the contacts that carry by the path are those by lifting one zero after
    another; forces balance the load and the others have none."""
    B, load = SCENES[name]()
    load = load / np.abs(load).max()
    taken = []
    monkeypatch.setattr(
        admissible, "centre", lambda *a: taken.append(analytic_centre.centre(*a)) or taken[0]
    )
    path = admissible.interior(Network(B), load)
    assert taken[0] is not None and path.proven
    # what counts as zero is told by the balance reached, 1e-10 of the largest by one of 1e-12
    assert path.threshold <= analytic_centre.SETTINGS.faint
    known = 0.03 * path.threshold * path.force.max()
    np.testing.assert_allclose(B.T @ path.force, load, atol=known)
    np.testing.assert_array_equal(path.force > 0.0, path.carries)
    # given up at once
    monkeypatch.setattr(admissible, "centre", lambda *a: None)
    lifted = admissible.interior(Network(B), load)
    assert lifted.proven
    np.testing.assert_array_equal(path.carries, lifted.carries)


def test_a_layer_carries_on_its_floor_only():
    """Closed form: of 1,160 contacts the 400 on the floor carry, each the same."""
    B, load = balanced(layer())
    inside = admissible.interior(Network(B), load)
    assert inside.carries.sum() == 400
    np.testing.assert_allclose(inside.force[inside.carries], np.abs(load).max(), rtol=1e-9)


def test_all_contacts_of_a_large_pyramid_carry():
    """Cross-method: base 20, where lifting was cut short and missed 344 contacts: all 14,440 are
    found, and linear programs give force to those that the first admissible forces leave empty."""
    B, load = static_pyramid(20)
    load = load / np.abs(load).max()
    inside = admissible.interior(Network(B), load)
    assert inside.carries.all() and inside.proven
    least = np.argsort(inside.force)[:2]
    model = bound_programs._model(B, load, solver="ipm", run_crossover="off")
    for i in least:
        assert -bound_programs._optimum(model, ([i], [-1.0])) >= inside.force[i] * (1 - 1e-6)


def test_paths_that_do_not_arrive(monkeypatch):
    """Property: a path that is given up says so, and is not taken for an answer."""
    B, load = SCENES["layer"]()
    near, _ = admissible.nearest(Network(B), load, np.zeros(B.shape[0]))
    assert analytic_centre.centre(Network(B), load, near) is not None
    fewer = replace(analytic_centre.SETTINGS, steps=4)
    monkeypatch.setattr(analytic_centre, "SETTINGS", fewer)
    assert analytic_centre.centre(Network(B), load, near) is None
    monkeypatch.undo()
    # a load that nothing carries
    assert analytic_centre.centre(Network(B), -load, near) is None
