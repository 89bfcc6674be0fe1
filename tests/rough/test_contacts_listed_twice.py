"""Contacts that a caller lists twice, in any order: valid rows, with half the force each."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl


def _table():
    """A table on three legs, columns x, y, z and turns: its forces are determined."""
    B, T = [], []
    for r in np.array([(-1.0, -1.0, -0.5), (1.0, -1.0, -0.5), (0.0, 1.0, -0.5)]):
        for rows, n in ((B, (0, 0, 1.0)), (T, (1.0, 0, 0)), (T, (0, 1.0, 0))):
            rows.append(np.concatenate([n, np.cross(r, n)]))
    return np.array(B), np.array(T)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_appended_contacts_share_the_force(form):
    """Property: the same contacts appended a second time, np.r_[B, B], take half of it each."""
    B, T = _table()
    load = np.array([0.1, 0.05, 1.0, 0.0, 0.0, 0.0])
    options = dict(friction=0.5, tangential_stiffness=1.0)
    once = rl.compatible_forces(form(B), load, tangential=form(T), **options)
    twice = rl.compatible_forces(form(np.r_[B, B]), load, tangential=form(np.r_[T, T]), **options)
    # the solver's own tolerance is 1e-10 of the largest force
    np.testing.assert_allclose(twice.force, np.tile(once.force / 2, 2), atol=1e-8)


def test_appended_with_opposite_normals():
    """Closed form: a slot holds the table from above as well; nothing presses there, so that its
    forces are those without it. Tangents are the same, or turned as well."""
    B, T = _table()
    load = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    once = rl.compatible_forces(B, load, tangential=T, friction=0.5)
    for sign in (1.0, -1.0):
        slot = rl.compatible_forces(np.r_[B, -B], load, tangential=np.r_[T, sign * T], friction=0.5)
        np.testing.assert_allclose(slot.force, np.r_[once.force, 0 * once.force], atol=1e-8)
    assert rl.self_stress(np.r_[B, -B], tangential=np.r_[T, T], friction=0.5).wedged.all()
