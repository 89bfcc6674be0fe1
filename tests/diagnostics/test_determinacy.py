"""Degree of indeterminacy, determined forces and intervals, through the public function."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit import scenes
from rigidlimit.diagnostics.admissible import nearest
from rigidlimit.errors import InputError
from rigidlimit.linear import Network
from rigidlimit.status import Status
from tests.problems import static_pyramid, tower

BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn

LP = 1e-8
"""HiGHS works to 1e-9 on loads of order one; the intervals here are of that order times 10."""


def of_scene(scene, **options):
    """(step, determinacy) of a scene's first step."""
    simulation = rl.Simulation(scene)
    step = simulation.step()
    fixed = ~simulation.bodies.free.ravel()
    blocks = np.arange(0, 6 * len(simulation.bodies) + 1, 6)
    B = step.B[np.flatnonzero(step.closed)]
    return step, rl.determinacy(B, step.load, fixed=fixed, blocks=blocks, **options)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
@pytest.mark.parametrize("intervals", ["exact", "bounds"])
def test_beam(order, intervals):
    """Closed form: the middle support may carry all or nothing, an end at most half of 10."""
    found = rl.determinacy(BEAM[order], [10.0, 0.0], intervals=intervals)
    assert found.degree == 1 and found.nullity == 1 and found.mobility == 0
    assert "intervals of 3 open contacts by" in found.message
    known = np.array([[0, 5], [0, 10], [0, 5]])[order]
    # "bounds" stop at 1e-7 of the largest force
    np.testing.assert_allclose(found.interval, known, atol=LP if intervals == "exact" else 2e-6)
    assert not found.determined.any() and found.can_carry.all()
    assert found.diameter == pytest.approx(10, abs=2e-6)
    assert "degree of indeterminacy 1" in found.message
    np.testing.assert_allclose(BEAM[order].T @ found.example, [10, 0], atol=1e-9)
    assert (found.example > 0.1).all()  # inside, not at the edge


def test_beam_lifted_at_one_end():
    """Closed form: with the weight over an end support that one carries all; nothing is open.

    The other two contacts add to the nullity, not to the degree.
    """
    found = rl.determinacy(BEAM, [10.0, 5.0])
    assert found.nullity == 1 and found.degree == 0
    assert found.can_carry.tolist() == [False, False, True]
    np.testing.assert_allclose(found.interval, [[0, 0], [0, 0], [10, 10]], atol=LP)


def test_position_and_distance_of_given_forces():
    """Closed form: 0, 10, 0 is an end of the set; 11, 0, 0 is not in it.

    The set is (t, 10 - 2 t, t); the nearest to (11, 0, 0) has t = 31/6 > 5, so it is t = 5.
    """
    end = rl.determinacy(BEAM, [10.0, 0.0], force=[0, 10, 0])
    np.testing.assert_allclose(end.position, [0, 1, 0], atol=LP)
    assert end.distance < 1e-9
    outside = rl.determinacy(BEAM, [10.0, 0.0], force=[11, 0, 0])
    assert outside.distance == pytest.approx(np.sqrt(6**2 + 5**2), rel=1e-9)


def test_table_on_four_legs():
    """Closed form: forces (a, b, c, d) around the table plus t (1, -1, 1, -1): degree 1, widths
    equal, each interval cut where a neighbour's or its own force gets to zero."""
    step, found = of_scene(scenes.four_leg_table())
    assert found.degree == 1
    euler = step.force
    place = step.contacts.point[:, :2]
    sign = np.sign(place[:, 0] * place[:, 1])
    up, down = euler[sign < 0].min(), euler[sign > 0].min()
    known = np.where(
        sign[:, None] > 0,
        np.column_stack([euler - down, euler + up]),
        np.column_stack([euler - up, euler + down]),
    )
    np.testing.assert_allclose(found.interval, known, atol=1e-6)  # load 100 N, LP to 1e-9 of it


@pytest.mark.parametrize("legs", [2, 3, 7])
def test_block_on_legs(legs):
    """Closed form: n - 2. A leg at x carries most with the other leg of the pair outermost on the
    other side: W/(1 + |x|); the middle one carries all of it."""
    step, found = of_scene(scenes.block_on_legs(legs))
    assert found.degree == legs - 2
    x = step.contacts.point[:, 0]
    np.testing.assert_allclose(found.interval[:, 1], 10 / (1 + np.abs(x)), atol=1e-6)
    least = 0 if legs > 2 else 5
    np.testing.assert_allclose(found.interval[:, 0], least, atol=1e-6)


def test_box_stack():
    """Closed form: one redundant corner a face; between 0 and half of the weight above."""
    step, found = of_scene(scenes.box_stack(5))
    assert found.degree == 5
    weight = 4 * step.force  # every corner carries a quarter
    np.testing.assert_allclose(found.interval[:, 0], 0, atol=1e-6)
    np.testing.assert_allclose(found.interval[:, 1], weight / 2, atol=1e-6)


def disks_in_corner():
    """Three disks of radius 0.5 in a right angle, two on the bottom corner line: isostatic.

    Degrees of freedom: x and y of each; disk 0 in the corner, 1 beside it, 2 upon both.
    """
    up = np.sqrt(0.75)
    contacts = [
        (0, None, (1, 0)),
        (0, None, (0, 1)),
        (1, None, (0, 1)),
        (1, None, (-1, 0)),  # a wall on the right
        (2, 0, (0.5, up)),
        (2, 1, (-0.5, up)),
    ]
    B = np.zeros((6, 6))
    for row, (a, b, normal) in enumerate(contacts):
        B[row, 2 * a : 2 * a + 2] = normal
        if b is not None:
            B[row, 2 * b : 2 * b + 2] = -np.array(normal)
    return B


def test_isostatic_packing():
    """Closed form: as many contacts as degrees of freedom; every force is known by statics."""
    B = disks_in_corner()
    load = np.tile([0.0, 1.0], 3)
    found = rl.determinacy(B, load)
    assert found.degree == 0 and found.determined.all()
    np.testing.assert_array_equal(found.width, 0)
    np.testing.assert_allclose(found.interval[:, 0], np.linalg.solve(B.T, load), atol=1e-9)
    assert "intervals: every force is determined, nothing to solve" in found.message


def test_rattler_and_floating_body():
    """Two more disks: one only touched from the side by disk 2 without a load, one free: neither
    changes the degree; the rattler's contact cannot carry and is determined."""
    B = np.zeros((7, 10))
    B[:6, :6] = disks_in_corner()
    B[6, 4:6], B[6, 6:8] = (1, 0), (-1, 0)
    load = np.r_[np.tile([0.0, 1.0], 3), np.zeros(4)]
    found = rl.determinacy(B, load, blocks=np.arange(0, 11, 2))
    assert found.degree == 0 and found.rattlers.tolist() == [3] and found.floating.tolist() == [4]
    assert not found.can_carry[6] and found.determined[6] and (found.interval[6] == 0).all()
    # the rattler's upright motion is touched by no contact either
    assert found.unmoved.tolist() == [False] * 7 + [True] * 3
    assert "1 floating body (no contact), 1 rattler (" in found.message


def test_wedged_between_fixed_bodies():
    """Closed form: a body pressed between two walls may carry any force: greatest inf."""
    B = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for intervals in ("exact", "bounds"):
        found = rl.determinacy(B, [0.0, 2.0], intervals=intervals)
        assert found.degree == 1 and found.determined.tolist() == [False, False, True]
        assert np.isinf(found.interval[:2, 1]).all() and np.isinf(found.diameter)
        np.testing.assert_allclose(found.interval[:, 0], [0, 0, 2], atol=LP)


def random_packing(seed):
    """Disks in a plane, linked to near neighbours, one held; loads of a sparse admissible f.

    Growing about the held one opens every contact, so the set is bounded.
    """
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(3, 5))
    place = rng.uniform(size=(bodies, 2)) + 0.7 * np.arange(bodies)[:, None] % 1.5
    pairs = list(combinations(range(bodies), 2))
    pairs += [pairs[k] for k in rng.integers(0, len(pairs), 3)]  # more contacts: two spots a pair
    rows = []
    for a, b in pairs:
        normal = place[b] - place[a] + 0.15 * rng.normal(size=2)
        normal /= np.linalg.norm(normal)
        row = np.zeros(2 * bodies)
        row[2 * a : 2 * a + 2], row[2 * b : 2 * b + 2] = -normal, normal
        rows.append(row)
    B = np.array(rows)[:, 2:]  # body 0 is held
    f = rng.exponential(size=len(B)) * (rng.permutation(len(B)) < 0.6 * len(B))
    return B, B.T @ f


def vertices(B, load):
    """Reference: every vertex of {f >= 0 : B^T f = F}, by trying every basis."""
    m = len(B)
    rank = np.linalg.matrix_rank(B)
    out = []
    for basis in combinations(range(m), rank):
        A = B[list(basis)].T
        if np.linalg.svd(A, compute_uv=False)[-1] < 1e-9:
            continue
        part = np.linalg.lstsq(A, load, rcond=None)[0]
        if np.abs(A @ part - load).max() < 1e-9 and part.min() > -1e-10:
            f = np.zeros(m)
            f[list(basis)] = part
            out.append(f)
    return np.array(out)


@pytest.mark.parametrize("seed", range(25))
def test_random_packings_against_all_vertices(seed):
    """Reference twin: intervals, determined contacts, those that can carry, and the degree, from
    all vertices of the polytope."""
    B, load = random_packing(seed)
    corners = vertices(B, load)
    found = rl.determinacy(B, load)
    bounded = rl.determinacy(B, load, intervals="bounds")
    least, most = corners.min(axis=0), corners.max(axis=0)
    size = most.max()
    spread = np.linalg.svd(corners - corners[0], compute_uv=False)
    if not np.isfinite(found.interval).all():
        pytest.skip("an unbounded set has rays besides its vertices")
    # 1e-8: LP tolerance and the 1e-10 below which the reference counts a force as zero
    np.testing.assert_allclose(found.interval, np.column_stack([least, most]), atol=1e-8 * size)
    assert found.degree == int((spread > 1e-8 * size).sum())
    assert (found.determined == (most - least < 1e-8 * size)).all()
    assert (found.can_carry == (most > 1e-8 * size)).all()
    # the bounds contain the exact intervals; rounding of the sum F . y
    assert (bounded.interval[:, 0] <= least + 1e-8 * size).all()
    assert (bounded.interval[:, 1] >= most - 1e-8 * size).all()
    # what is reached is balanced to 1e-7 (``force_bounds.Settings.sharp``)
    assert (bounded.reached[:, 0] >= least - 3e-7 * size).all()
    assert (bounded.reached[:, 1] <= most + 3e-7 * size).all()


def test_bounds_are_sharp_on_a_pyramid():
    """Cross-method: on a small pyramid the outer bounds meet the linear programs to 1e-5."""
    B, load = static_pyramid(5)
    some = [0, 17, 60, 101]
    exact = rl.determinacy(B, load, contacts=some, intervals="exact")
    bounds = rl.determinacy(B, load, contacts=some, intervals="bounds")
    scale = exact.interval[some, 1].max()
    np.testing.assert_allclose(bounds.interval[some], exact.interval[some], atol=1e-5 * scale)
    assert "outer bounds" in bounds.interval_method and "linear programs" in exact.interval_method
    assert np.isnan(exact.interval[1]).all()  # not asked for


def test_without_highspy(monkeypatch):
    """Cross-method: scipy's HiGHS gives the same intervals as the warm-started one."""
    from rigidlimit.diagnostics import bound_programs

    B, load = random_packing(3)
    scale = np.abs(load).max()
    with_it, _ = bound_programs.extremes(sp.csr_array(B), load / scale, np.arange(len(B)))
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    without, how = bound_programs.extremes(sp.csr_array(B), load / scale, np.arange(len(B)))
    assert "scipy" in how
    np.testing.assert_allclose(without, with_it, atol=LP)


def test_large_linear_programs_use_the_interior_point_method(monkeypatch):
    """Cross-method: the road for large systems gives the intervals of the one for small ones."""
    from rigidlimit.diagnostics import bound_programs

    B, load = static_pyramid(5)
    some = np.arange(0, B.shape[0], 20)
    small, _ = bound_programs.extremes(B, load, some)
    fewer = replace(bound_programs.SETTINGS, simplex_size=10)
    monkeypatch.setattr(bound_programs, "SETTINGS", fewer)
    large, how = bound_programs.extremes(B, load, some)
    assert "interior point" in how
    # the interior point method without crossover stops at 1e-8 of the objective
    np.testing.assert_allclose(large, small, atol=1e-6 * small.max())


@pytest.mark.parametrize("steps", [3, 60])
def test_large_systems_by_bounds_and_programs(monkeypatch, steps):
    """Cross-method: "auto" on a large system gives the linear programs' intervals; where bounds
    and forces reached do not meet (three steps are not enough) it solves those bound_programs."""
    from rigidlimit.diagnostics import bound_programs, force_bounds

    B, load = static_pyramid(5)
    some = np.arange(0, B.shape[0], 15)
    exact = rl.determinacy(B, load, contacts=some, intervals="exact")
    small = replace(bound_programs.SETTINGS, simplex_size=10)
    monkeypatch.setattr(bound_programs, "SETTINGS", small)
    fewer = replace(force_bounds.SETTINGS, steps=steps)
    monkeypatch.setattr(force_bounds, "SETTINGS", fewer)
    found = rl.determinacy(B, load, contacts=some)
    size = exact.interval[some, 1].max()
    # bounds and forces have met to 1e-6 (AGREED), or the programs were solved
    np.testing.assert_allclose(found.interval[some], exact.interval[some], atol=2e-6 * size)
    np.testing.assert_allclose(found.reached[some], exact.interval[some], atol=2e-6 * size)
    assert "outer bounds" in found.interval_method
    assert ("linear programs" in found.interval_method) == (steps == 3)


@pytest.mark.parametrize("shift", [0.0, 1e-3])
def test_tower_of_hundreds_of_plates(shift):
    """Closed form: one redundant corner a plate; a corner of plate j from the top carries j/4
    (exactly so without shifts), at most about half of the weight above. Solved, not failed."""
    plates = 400
    B, load = tower(plates, shift=shift)
    answer = rl.compatible_forces(B, load, blocks=np.arange(0, 3 * plates + 1, 3))
    assert answer.converged
    above = np.repeat(np.arange(plates, 0, -1), 4)
    if shift == 0:
        np.testing.assert_allclose(answer.force, above / 4, rtol=1e-8)
    some = [0, 1, 4 * plates // 2]
    found = rl.determinacy(B, load, contacts=some, force=answer.force)
    assert found.degree == plates and not found.determined.any()
    assert found.distance < 1e-6 * plates  # balance 1e-10 over the smallest singular value
    # shifts by 1e-3 move the lever arms, and so the shares, by a few 1e-3
    np.testing.assert_allclose(
        found.interval[some, 1], above[some] / 2, rtol=1e-6 if shift == 0 else 0.2
    )


def leaning_rollers(tilt, seed):
    """(B, force): rollers pressed between a shaft and a race by normals not quite opposite."""
    z, rng = 16, np.random.default_rng(seed)
    at, i = 2 * np.pi * np.arange(z) / z, np.arange(z)
    inner, outer = (
        np.column_stack([np.cos(angle), np.sin(angle)])
        for angle in at + tilt * rng.normal(size=(2, z))
    )
    B = np.zeros((2 * z, 2 + 2 * z))  # of the shaft, then of each roller
    B[i, 0], B[i, 1] = -inner.T
    for k in (0, 1):
        B[i, 2 + 2 * i + k], B[z + i, 2 + 2 * i + k] = inner[:, k], -outer[:, k]
    return B, np.tile(np.maximum(0, np.cos(at)) * rng.uniform(0.5, 1.5, z), 2)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("tilt", "known_to"), [(1e-10, 1e-6), (1e-6, 1e-4)])
def test_rollers_that_lean_a_little(tilt, known_to, seed):
    """Property: rollers that lean a little carry forces that are known here; that no forces balance
    their load was said of them."""
    B, force = leaning_rollers(tilt, seed)
    known = rl.determinacy(B, B.T @ force, force=force)
    assert known.distance < 1e-9 * force.max()  # solved to 1e-12
    # tilts below 1e-9 count as none, and linear programs are solved to 1e-7; of larger ones forces
    # are known to the imbalance, 1e-12 to 1e-11, over the tilt
    assert (known.interval[:, 0] - known_to <= force).all()
    assert (force <= known.interval[:, 1] + known_to).all()


@pytest.mark.parametrize("tilt", [1e-8, 1e-4, 0.1])
def test_residual_of_the_nearest_forces(tilt):
    """Property: it is the imbalance over the target, a thousand times the load here, by soft
    motions (tilts up to 1e-4) as without."""
    B, force = leaning_rollers(tilt, 0)
    target = force + 1e3 * (np.arange(len(force)) == 0)
    found, answer = nearest(Network(sp.csr_array(B)), B.T @ force, target)
    missing = np.abs(B.T @ (found - force)).max() / target.max()
    assert missing < 1e-11  # solved to 1e-12, ten times that at most
    # the two are the same sums in another order, rounded at the size of the target
    np.testing.assert_allclose(answer.residual, missing, rtol=0.01, atol=1e-15)


def test_nearly_degenerate_support_is_flagged():
    """A plate on three feet within 5e-9 of a line: the rank hangs on the tolerance of 1e-9, and
    the answer says so; well away from it, it does not."""

    def feet(off):
        return np.array([[1.0, -1.0, 0.0], [1.0, 1.0, off], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0 + off],
                         [1.0, 0.5, 0.0]])  # fmt: skip

    assert not rl.determinacy(feet(0.1), [1.0, 0.0, 0.0]).doubtful
    line = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0 - 1e-8]])
    found = rl.determinacy(line, line.T @ [1.0, 1.0, 1.0])
    assert found.doubtful and "depends on the tolerance" in found.message
    assert found.rank.rank == 3  # 5e-9 is above 1e-9
    looser = rl.determinacy(line, line.T @ [1.0, 1.0, 1.0], tolerance=1e-7)
    assert looser.rank.rank == 2 and looser.degree == 1 and looser.doubtful


def test_faint_force_is_flagged():
    """A contact that carries 1e-9 of the largest force is found, and said to hang on the
    threshold."""
    B = np.eye(2)
    found = rl.determinacy(B, [1.0, 1e-9])
    assert found.can_carry.all() and found.doubtful and "threshold" in found.message


def test_pyramid_with_held_floor():
    """Property: fixed degrees of freedom leave the set as if their columns were not there."""
    B, load = static_pyramid(4)
    wide = sp.csr_array(sp.hstack([B, sp.random_array((B.shape[0], 3), density=0.3, rng=0)]))
    fixed = np.r_[np.zeros(B.shape[1], bool), np.ones(3, bool)]
    plain = rl.determinacy(B, load)
    held = rl.determinacy(wide, np.r_[load, 7.0, 8.0, 9.0], fixed=fixed)
    assert held.degree == plain.degree == B.shape[0] - B.shape[1]
    np.testing.assert_allclose(held.interval, plain.interval, atol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "options", "fragment"),
    [
        ((BEAM, [-10.0, 0.0]), {}, "no forces f >= 0"),
        ((BEAM, [10.0]), {}, "load has shape"),
        ((BEAM, [10.0, 0.0]), {"contacts": [3]}, "indices from 0 to 2"),
        ((BEAM, [10.0, 0.0]), {"contacts": [0.5]}, "contacts has entries like 0.5"),
        ((BEAM, [10.0, 0.0]), {"workers": 0}, "workers is 0"),
        ((BEAM, [10.0, 0.0]), {"intervals": "exakt"}, "intervals is 'exakt'"),
        ((BEAM, [10.0, 0.0]), {"fixed": [True]}, "fixed has shape"),
        ((BEAM, [10.0, 0.0]), {"tolerance": 0}, "tolerance is 0"),
        ((np.eye(3)[:2], [1.0, 1.0, 1.0]), {}, "meets no contact"),
    ],
)
def test_mistakes(arguments, options, fragment):
    """Bad input: one error that says what was found and expected."""
    with pytest.raises(InputError, match=fragment):
        rl.determinacy(*arguments, **options)


def test_no_contacts_and_no_load():
    """Edge: nothing at all has degree 0."""
    assert rl.determinacy(np.zeros((0, 3)), np.zeros(3)).degree == 0
    idle = rl.determinacy(BEAM, [0.0, 0.0])
    assert idle.degree == 0 and not idle.can_carry.any() and idle.determined.all()


def test_contacts_between_held_bodies_are_open():
    """Closed form: what presses two held bodies together is not determined by anything."""
    B = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = rl.determinacy(B, [5.0, 0.0], fixed=[False, True])
    assert found.degree == 1 and found.determined.tolist() == [True, False]
    np.testing.assert_array_equal(found.interval[1], [0.0, np.inf])
    np.testing.assert_allclose(found.interval[0], 5.0, rtol=1e-12)
    assert rl.determinacy(B, [0.0, 0.0], fixed=[True, True]).degree == 2


def test_least_forces_do_not_pull(monkeypatch):
    """Property: f >= 0 in all of P, so also the least of each contact, whichever program finds it:
    without the package highspy some came out at -1e-8 N, within the tolerance of the programs."""
    from rigidlimit.diagnostics import bound_programs

    class Answer:
        status, x = 0, np.full(2, -1e-8)

        class eqlin:
            marginals = np.zeros(2)

    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **k: Answer)
    eye = sp.csr_array(np.eye(2))
    found = bound_programs._by_linprog(eye, np.zeros(2), eye)
    assert (found[:, 0] == 0).all()


def test_given_forces_that_balance_are_admissible(monkeypatch):
    """Contract: where the search for any forces falls short, as in packings with motions that
    contacts hardly resist, forces that balance serve; others do not make up for it."""
    from rigidlimit.diagnostics import admissible

    force = np.array([2.0, 6.0, 2.0])
    known = rl.determinacy(BEAM, [10.0, 0.0], force=force)
    nearest = admissible.nearest

    def short(*given, **options):
        found, answer = nearest(*given, **options)
        return found, replace(answer, status=Status.STALLED, residual=1e-3)

    monkeypatch.setattr(admissible, "nearest", short)
    found = rl.determinacy(BEAM, [10.0, 0.0], force=force)
    assert found.degree == known.degree == 1 and found.distance == 0.0
    np.testing.assert_allclose(found.interval, known.interval, atol=1e-9)
    np.testing.assert_allclose(found.position, known.position, atol=1e-9)
    for other in (None, force + [0.1, 0.0, 0.0], [-1.0, 12.0, -1.0]):
        with pytest.raises(InputError, match="forces that balance it"):
            rl.determinacy(BEAM, [10.0, 0.0], force=other)


def test_programs_print_nothing(capfd):
    """Contract: what a command prints is its own; HiGHS tells its version unless it is stopped."""
    rl.determinacy(BEAM, [10.0, 0.0], intervals="exact")
    assert capfd.readouterr() == ("", "")
