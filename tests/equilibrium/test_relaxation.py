"""Relaxation of rough networks: equilibria that Newton and the path miss, and where there is none.

Evidence: all states of the contacts (open, stuck, sliding either way), looked at one by one.
"""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit
from rigidlimit.compatibility import ContactHistory

CONTACTS, BODIES, MU = 9, 3, 0.5


def network(seed):
    """(B, T, direction of contacts that slide, load that some admissible forces carry, history):
    three disks between contacts at random."""
    rng = np.random.default_rng(seed)
    B, T = np.zeros((2, CONTACTS, 3 * BODIES))
    for i in range(CONTACTS):
        pair, angle = rng.permutation(BODIES + 1)[:2], rng.uniform(0, 2 * np.pi)
        normal = np.array([np.cos(angle), np.sin(angle)])
        for sign, j in zip((1, -1), pair, strict=True):
            if j < BODIES:
                B[i, 3 * j : 3 * j + 2] = sign * normal
                T[i, 3 * j : 3 * j + 2] = sign * np.array([-normal[1], normal[0]])
                T[i, 3 * j + 2] = 1.0
    force = rng.uniform(0.2, 1, CONTACTS)
    slide = np.where(rng.random(CONTACTS) < 0.4, rng.choice([-1.0, 1.0], CONTACTS), 0.0)
    along = np.where(slide != 0, MU * slide, rng.uniform(-0.4, 0.4, CONTACTS)) * force
    normal, kept = rng.uniform(0.1, 1, CONTACTS), rng.uniform(-0.05, 0.05, (CONTACTS, 1))
    return B, T, slide, B.T @ force + T.T @ along, ContactHistory(normal, kept)


def equilibria(B, T, slide, load, history):
    """Forces (k, m) of all equilibria with stiffness 1, state by state of the contacts."""
    normal, kept = history.normal, history.tangential[:, 0]
    states = [(0, 1) if s else (0, 1, 2, 3) for s in slide]  # open, bearing or stuck, sliding
    found = []
    for state in np.array_split(np.array(list(product(*states))), 8):
        bears = state > 0
        stuck = bears & (slide == 0) & (state == 1)
        sign = np.where(slide != 0, slide, np.select([state == 2, state == 3], [1.0, -1.0]))
        rubs = np.where(bears & ~stuck, MU * sign, 0.0)
        K = np.einsum("ki,ia,ib->kab", bears + 0.0, B, B)
        K += np.einsum("ki,ia,ib->kab", rubs, T, B) + np.einsum("ki,ia,ib->kab", stuck + 0.0, T, T)
        rhs = (bears * normal) @ B + (rubs * normal) @ T + (stuck * kept) @ T - load
        regular = np.linalg.cond(K) < 1e12
        u = np.linalg.solve(K[regular], rhs[regular, :, None])[..., 0]
        bears, stuck, sign = bears[regular], stuck[regular], sign[regular]
        f, trial, slight = normal - u @ B.T, kept - u @ T.T, 1e-9
        good = np.where(bears, f >= -slight, f <= slight)
        good &= ~stuck | (np.abs(trial) <= MU * f + slight)
        good &= ~(bears & ~stuck & (slide == 0)) | (sign * trial >= MU * f - slight)
        found.append(np.maximum(f[good.all(axis=1)], 0.0))
    return np.concatenate(found)


@pytest.mark.parametrize("seed, exists", [(397, True), (7, False), (15, False), (21, False)])
def test_what_relaxation_says_is_what_all_states_say(seed, exists):
    B, T, slide, load, history = network(seed)
    found = rigidlimit.compatible_forces(
        B, load, tangential=T, friction=MU, history=history, sliding_direction=slide[:, None]
    )
    assert "relaxation" in found.routes
    known = equilibria(B, T, slide, load, history)
    assert bool(len(known)) == exists == found.converged
    if exists:
        # solved to 1e-10
        assert np.abs(known - found.force).max(axis=1).min() < 1e-8
        assert found.state == "history" and found.mechanism is None
        return
    assert found.status is rigidlimit.Status.NO_EQUILIBRIUM and found.state == "least energy"
    # bodies go on along the motion: contacts that it presses push on, those that it opens do not
    w_n, w_t = B @ found.mechanism, T @ found.mechanism
    bears = np.maximum(-w_n, 0.0)
    rubs = np.where(slide != 0, MU * slide * bears, np.clip(-w_t, -MU * bears, MU * bears))
    assert found.mechanism @ (B.T @ bears + T.T @ rubs) > -1e-5


def test_damped_systems_of_bodies_and_of_dense_matrices():
    """Reference: (K + s I) dx = -r with K = B^T D B, one body of fewer degrees of freedom."""
    from rigidlimit.equilibrium.dense import Dense
    from rigidlimit.equilibrium.mechanics import Bodies

    B, T, _, load, _ = network(7)
    rows = np.stack([B, T], axis=1).reshape(2 * CONTACTS, -1)[:, :-1]
    rng = np.random.default_rng(0)
    D, r = rng.normal(size=(CONTACTS, 2, 2)), rng.normal(size=rows.shape[1])
    blocks = np.zeros((2 * CONTACTS, 2 * CONTACTS))
    for i in range(CONTACTS):
        blocks[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = D[i]
    known = np.linalg.solve(rows.T @ blocks @ rows + 0.7 * np.eye(len(r)), -r)
    sparse = Bodies(sp.csr_array(rows), -load[:-1], 2, starts=[0, 3, 6, 8])
    for mechanics in (sparse, Dense(rows, -load[:-1], 2, rows=rows, a=0.0)):
        # rounding of small systems
        np.testing.assert_allclose(mechanics.damped(0.7).factorize(D)(r), known, rtol=1e-9)
