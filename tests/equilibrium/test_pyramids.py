"""Rough pyramids: known forces, and what must not change them."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.equilibrium.problems import forces, rough_pyramid

TABLE = [
    (5, 0.5, False, 0.752234, 0.201409, 54.620262),
    (5, 0.3, False, 0.767993, 0.196336, 57.487808),
    (5, 0.1, False, 0.893457, 0.087924, 65.588633),
    (10, 0.5, False, 1.606425, 0.446946, 900.199287),
    (10, 0.3, False, 1.589281, 0.417696, 951.519007),
    (10, 0.1, False, 1.857980, 0.182123, 1083.781320),
    (10, 0.02, False, 2.092906, 0.040464, 1150.023136),
    (10, 0.3, True, 2.715041, 0.810268, 981.393518),
]
"""Base, mu, whether of two materials, largest f_n and |f_t|, sum of f_n: from an independent
prototype with dense matrices and Tresca rounds; two of them checked against LAMMPS."""


def two_materials(pairs):
    modulus = np.where(pairs % 2 == 0, 0.2, 1.0)
    return 2.0 * modulus.prod(axis=1) / modulus.sum(axis=1)


@pytest.mark.parametrize(("base", "mu", "two", "normal", "tangential", "total"), TABLE)
def test_table(base, mu, two, normal, tangential, total):
    B, load, pairs = rough_pyramid(base)
    f = forces(B, load, mu, normal=two_materials(pairs) if two else 1.0)
    found = f[:, 0].max(), np.linalg.norm(f[:, 1:], axis=1).max(), f[:, 0].sum()
    # the table has six decimals
    np.testing.assert_allclose(found, (normal, tangential, total), rtol=0, atol=6e-7)


@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_order_of_contacts_and_bodies(mu):
    B, load, _ = rough_pyramid(6)
    f, rng = forces(B, load, mu), np.random.default_rng(3)
    contact, body = rng.permutation(len(f)), rng.permutation(len(load) // 6)
    rows = (3 * contact[:, None] + np.arange(3)).ravel()
    columns = (6 * body[:, None] + np.arange(6)).ravel()
    other = forces(sp.csr_array(sp.csr_array(B[rows])[:, columns]), load[columns], mu)
    np.testing.assert_allclose(other, f[contact], atol=1e-9 * f.max())


@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_turned_tangents(mu):
    B, load, pairs = rough_pyramid(6)
    f = forces(B, load, mu)
    turn = np.random.default_rng(4).uniform(0, 2 * np.pi, len(pairs))
    g = forces(rough_pyramid(6, turn)[0], load, mu)
    c, s = np.cos(turn), np.sin(turn)
    back = np.column_stack([g[:, 0], c * g[:, 1] - s * g[:, 2], s * g[:, 1] + c * g[:, 2]])
    np.testing.assert_allclose(back, f, atol=1e-9 * f.max())


def test_doubled_contacts():
    """A contact is two of half its stiffness each."""
    B, load, _ = rough_pyramid(5)
    f = forces(B, load, 0.2)
    twice = np.arange(0, len(f), 3)
    rows = (3 * twice[:, None] + np.arange(3)).ravel()
    k = np.ones(len(f))
    k[twice] = 0.5
    g = forces(
        sp.csr_array(sp.vstack([B, B[rows]])), load, 0.2, normal=np.concatenate([k, k[twice]])
    )
    total = g[: len(f)].copy()
    total[twice] += g[len(f) :]
    np.testing.assert_allclose(total, f, atol=1e-9 * f.max())
