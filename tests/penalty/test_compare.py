"""Compatible forces as the stiff limit of the DEM, and the comparison of all methods."""

import re

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.penalty import classic_forces, compare, stiffness_sweep


@pytest.mark.parametrize("options", [{}, {"young_ratio": 5.0}, {"law": "hertz"}])
def test_compatible_forces_are_the_stiff_limit(options):
    """Peer: the DEM of a dropped pyramid at 50 GPa, as in the paper's table 1, which reports
    1.9e-5 to 2.8e-5; asked here: 1e-5 on the floor and on all contacts."""
    answer = compare(rl.scenes.pyramid(5, **options))
    assert answer.dem.at_rest
    assert answer.floor_error["compatible"] < 1e-5
    assert answer.contact_error["compatible"] < 1e-5
    for classic in ("pgs", "apgd"):
        assert answer.floor_error[classic] > 1e-2


@pytest.mark.parametrize(("law", "expected"), [("hooke", -1.0), ("hertz", -2 / 3)])
def test_limit_of_stiffness(law, expected):
    """Convergence slope: the DEM's distance falls as its overlaps do, k^(-1/(p-1))."""
    _, errors, slope = stiffness_sweep(rl.scenes.pyramid(4, law=law))
    assert slope == pytest.approx(expected, abs=0.02)  # second order in the overlap
    assert errors[-1] < (1e-6 if law == "hooke" else 1e-4)


def test_random_packing():
    """Peer: the DEM of an unequal packing between walls, within 1e-3: the same contacts bear,
    and the softest modes magnify overlaps of 1e-7 of a radius."""
    answer = compare(rl.scenes.packing(60), rest_tolerance=1e-6)
    assert answer.dem.at_rest
    bearing = answer.force["dem"] > 1e-3 * answer.force["dem"].max()
    assert (answer.force["compatible"][bearing] > 0).all()
    assert answer.contact_error["compatible"] < 1e-3


def test_rough_bodies_loaded_slowly():
    """Peer: vectors of compatible forces are the DEM's, of two materials, within its overlaps of
    1e-4 of a diameter and less where it is stiffer; classic solvers find others."""
    scene = rl.scenes.rough_pyramid(3, friction=0.3, young_ratio=5.0)
    answer = compare(scene, stiffness_scale=1e-4)
    assert answer.contact_error["compatible"] < 1e-3 and answer.shared_error < 1e-3
    assert min(answer.contact_error[name] for name in ("pgs", "pgs permuted", "apgd")) > 0.02
    assert all(found.converged for found in answer.classic_results.values())
    assert np.abs(answer.vectors["dem"]).max() > 0.0 and not answer.unrest
    # overlaps are inverse to stiffness; the finite pace of the ramp leaves 1e-4 of 4e-4
    slope = stiffness_sweep(scene, (1e-7, 1e-6), result=answer.result)[2]
    assert -1.1 < slope < -0.7


def test_whole_run_finds_the_same_rest():
    """Property: dropped in the DEM itself, the pile comes to the same forces."""
    scene = rl.scenes.pyramid(3, young=50e5)
    answer = compare(scene, whole_run=True)
    assert answer.dem.at_rest
    # at 5 MPa overlaps are 1e-5 of a radius
    assert answer.contact_error["compatible"] < 1e-4


def test_stack_of_boxes():
    """Peer: faces on faces, four contacts each, by the convex engine."""
    answer = compare(rl.scenes.box_stack(3))
    assert answer.dem.at_rest
    assert answer.contact_error["compatible"] < 1e-6
    assert np.isfinite(answer.force["dem"]).all()
    # a line, and no arrays, as of the other results
    assert re.fullmatch(
        r"<Comparison: 12 contacts, off the DEM's forces by pgs .*, compatible \d\.\de-\d+>",
        repr(answer),
    )
    assert len(repr(answer)) < 200 and repr(answer.dem).startswith("<PenaltyResult: penalty: conv")


def test_plain_sweeps_end_where_they_are_told(monkeypatch):
    """Property: as many sweeps as asked for, an honest status, and progress on the way."""
    monkeypatch.setattr(classic_forces, "EVERY", 0.0)
    scene, told = rl.scenes.pyramid(4), []
    answer = compare(scene, sweeps=40, callback=told.append)
    swept = answer.classic_results["pgs"]
    assert swept.iterations == 40 and not swept.converged
    assert answer.result.converged
    assert any("sweep 30 of at most 40" in text and "to go" in text for text in told)
    with pytest.raises(rl.errors.InputError, match="sweeps is 0"):
        compare(scene, sweeps=0)


def test_soft_contacts_are_refused():
    """Supports of 1 N/m: the beam would sink 3.3 m; the DEM never rested."""
    with pytest.raises(
        rl.errors.InputError, match="'left' and 'beam' would overlap by 3"
    ) as caught:
        compare(rl.scenes.beam(), stiffness_scale=1e-9)
    scale = float(str(caught.value).split("scale of ")[1].split()[0])
    # what the message advises works; overlaps of 1e-3 of a body change forces as little
    assert compare(rl.scenes.beam(), stiffness_scale=scale).contact_error["compatible"] < 1e-3


@pytest.mark.parametrize("lower_first", [True, False])
@pytest.mark.parametrize("moment", [0.0, 2000.0, -2000.0])
def test_contacts_numbered_otherwise_under_load_are_compared(lower_first, moment):
    """Cross-solver: of two equal faces either may number the contacts, and the slightest tilt of a
    loaded joint changes which; forces are compared all the same. (The DEM's of such joints counted
    as zero: an error of 50 % for forces that agree to 1e-7.)"""
    scene = rl.Scene(dim=2)
    scene.add(rl.HalfSpace(2), position=(0, 0), name="ground")
    blocks = [
        dict(position=(0.0, 0.5), name="lower"),
        dict(position=(0.1, 1.5), name="upper", load=(0, 0, moment)),
    ]
    for block in blocks if lower_first else blocks[::-1]:
        scene.add(rl.rectangle(1, 1), mass=1000.0, fixed=["x"], **block)
    done = compare(scene)
    # overlaps of 1e-7 of the size, as are the changes that they make
    assert done.contact_error["compatible"] < 1e-6
    assert len(done.contacts) == 4 and done.shared.all()
