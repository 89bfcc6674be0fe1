"""Silo, shear box, drum, hopper, chute and vibrated box: what they state is true, by the DEM and by
contact dynamics."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.penalty import PenaltySimulation


def on(scene, result, name):
    """Force (3,) [N] of grains on a body."""
    body = scene.index(name)
    mine = (result.contacts.body == body).any(axis=1)
    sign = np.where(result.contacts.body[mine, 1] == body, 1.0, -1.0)
    return (sign[:, None] * result.force_vectors[mine]).sum(axis=0)


def test_walls_of_a_silo_carry_by_their_friction():
    """Analytic: once grains hang on the rising walls, these and the floor carry the weight, walls
    by no more than their friction."""
    scene = rl.scenes.silo(40, wide=4)
    dem = PenaltySimulation(scene, damping=0.5)
    result = dem.run(until=0.8)
    weight = 9.81 * scene.bodies.mass.sum()
    names = ("left wall", "right wall")
    left, right = (on(scene, result, name) for name in names)
    carried = -on(scene, result, "floor")[1] - left[1] - right[1]
    # what moves still, slower than the walls, takes part of the weight
    assert carried == pytest.approx(weight, rel=0.02)
    friction = (left[1] + right[1]) / (left[0] - right[0])
    assert 0.1 < friction <= 0.2 + 1e-9  # some contacts roll


def test_shear_box_bears_its_lid():
    """Analytic: at rest the floor and the walls carry the lid's load, and grains push its halves
    apart by equal forces."""
    scene = rl.scenes.shear_box(24, wide=6, speed=0.0)
    rest = rl.settle(scene, by="dem")
    result, load = rest.simulation.last, scene.reference["pressure"] * scene.reference["width"]
    assert rest.simulation.at_rest and result.compatible.state == "history"
    walls = [f"{half} {side} wall" for half in ("lower", "upper") for side in ("left", "right")]
    names = ["floor", *walls]
    forces = np.array([on(scene, result, name) for name in names])
    np.testing.assert_allclose(forces.sum(axis=0)[1], -load, rtol=1e-7)  # settled to 1e-8
    across = forces.sum(axis=0) + on(scene, result, "lid")
    np.testing.assert_allclose(across[0], 0.0, atol=1e-7 * load)


def solved(simulation, steps):
    """So many steps, of which 95 % at least are converged and none failed; what each came to."""
    states = [str(simulation.step().classic.status) for _ in range(steps)]
    assert states.count("converged") >= 0.95 * steps
    assert set(states) <= {"converged", "approximate"}


def slope(simulation):
    """Angle [degrees] of the way from the drum's axis to the grains' centre with the vertical."""
    across, up = simulation.state.position[1:, :2].mean(axis=0)
    return np.degrees(np.arctan2(across, -up))


def test_a_drum_takes_grains_along_by_friction():
    """Property: rough grains are taken along to an angle of repose, smooth ones hardly."""
    slopes = []
    for friction in (0.5, 0.0):
        scene = rl.scenes.drum(20, radius=8, sides=16, friction=friction, speed=2.0)
        simulation = rl.Simulation(scene)
        solved(simulation, 200)
        late = []
        for _ in range(50):
            simulation.step()
            late.append(slope(simulation))
        slopes.append(np.mean(late))
    rough, smooth = slopes
    # 25 degrees and what 20 grains swing by; sides of the drum push smooth ones, by half a side
    assert 15 < rough < 45
    assert abs(smooth) < 360 / 16 / 2


def test_a_hopper_runs_out_by_beverloos_law():
    """Known: outflow grows as (D - k d)^1.5, k from 1 to 2. So few grains swing by a fifth."""
    flows = []
    for opening in (5.0, 7.0):
        simulation = rl.Simulation(rl.scenes.hopper(90, opening=opening, wide=10))
        out = []
        for steps in (60, 50):
            solved(simulation, steps)
            out.append((simulation.state.position[:, 1] < 0.0).sum())
        flows.append(out[1] - out[0])
    least, most = (((7 - k) / (5 - k)) ** 1.5 for k in (1, 2))
    assert 0.8 * least < flows[1] / flows[0] < 1.2 * most


def test_a_chute_rests_when_gentle_and_flows_when_steep():
    """Analytic: at rest the base bears the bed's weight, along its normal and along the slope.
    Known: beds of friction 0.5 flow on slopes of 30 degrees and more, and rest on gentle ones."""
    # steps until grains that rest have come to rest; those that flow do so evenly sooner
    for slope, flows, steps in ((10, False, 200), (35, True, 150)):
        scene = rl.scenes.chute(32, slope=slope)
        simulation, free = rl.Simulation(scene), scene.bodies.free[:, 0]
        solved(simulation, steps)
        result = simulation.step()
        along = result.state.velocity[:-1][free[:-1], 0].mean()  # the last body is the cell
        assert (along > 0.1) == flows  # [m/s]; 0.2 where it flows, 0.001 where it does not
        if flows:
            continue
        base, names = [], [name for name in scene.bodies.names if name.startswith("base")]
        for _ in range(50):
            result = simulation.step()
            base.append(np.sum([on(scene, result, name) for name in names], axis=0))
        weight = scene.bodies.mass[:-1][free[:-1]].sum() * scene.gravity[:3]
        # single balls roll on for ever: an impact of one changes the force of a step by some
        # percent, and their momentum that of 50 steps by some 0.2 %
        np.testing.assert_allclose(np.mean(base, axis=0), weight, atol=0.01 * np.abs(weight).max())


def test_a_vibrated_box_follows_its_eccentric():
    """Closed form: y = a sin(w t). Below a strength of 1 grains stay on the floor, and the
    eccentric carries box and grains times g - a w^2 sin(w t); above they leave the floor in every
    period."""
    for strength in (0.5, 2.0):
        scene = rl.scenes.vibrated_box(5, wide=6, strength=strength)
        a, w = scene.reference["amplitude"], scene.reference["omega"]
        mass, simulation = scene.bodies.mass[1:], rl.Simulation(scene)
        solved(simulation, 125)  # a period, after which all are alike to rounding
        off, floor = [], []
        for _ in range(125):
            result = simulation.step()
            phase, carried = w * result.state.time, -on(scene, result, "eccentric")[1]
            # a step late, and 1e-3 radii of the slot
            assert abs(result.state.position[1, 1] - a * np.sin(phase)) < a * w * 1e-3 + 5e-5
            off.append(carried / mass.sum() / 9.81 - 1 + strength * np.sin(phase))
            grains = result.contacts.body.min(axis=1) == 1
            floor.append(result.force[grains].sum())
        if strength < 1:
            # a step late: a w^2 changes by the part w dt = 0.05 of itself
            assert np.abs(off).max() < 0.05 and min(floor) > 0.0
        else:
            assert min(floor) == 0.0


def test_too_many_grains_for_a_drum():
    with pytest.raises(rl.errors.SceneError, match="count is 500, and there is room for"):
        rl.scenes.drum(500)
