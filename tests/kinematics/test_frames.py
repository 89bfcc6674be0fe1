"""Frames of contacts, the tangential gradient and vectors carried from step to step."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.search import find_contacts
from rigidlimit.kinematics import (
    carry_tangential,
    framed,
    gap_gradient,
    in_frame,
    in_world,
    mean_turn,
    tangential_gradient,
    tangents_of,
)
from tests.problems import from_rotation_vector


def scene_in(dim):
    """Bodies of several shapes close together, a driven plane among them."""
    return rl.scenes.container(12) if dim == 3 else rl.scenes.pile_2d(12)


def contacts_of(scene, state=None):
    state = scene.state if state is None else state
    return framed(find_contacts(scene.bodies, state, 0.02), scene.dim)


@pytest.mark.parametrize("dim", [2, 3])
def test_orthonormal(dim):
    """Property: unit tangents across the normal, right-handed, for any normal and for axes."""
    normal = np.random.default_rng(0).normal(size=(500, 3))
    normal = np.concatenate([normal, np.eye(3), -np.eye(3)])
    if dim == 2:
        normal[:, 2] = 0.0
        normal = normal[normal.any(axis=1)]
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    t = tangents_of(normal, dim)
    frame = np.concatenate([t, normal[:, None]], axis=1)
    # rounding of a few units
    np.testing.assert_allclose(
        np.einsum("mak,mbk->mab", frame, frame), np.broadcast_to(np.eye(dim), (len(t), dim, dim)),
        atol=1e-15 * 8,
    )  # fmt: skip
    if dim == 3:
        np.testing.assert_allclose(np.linalg.det(frame), 1.0, atol=1e-14)
        np.testing.assert_allclose(tangents_of(np.array([[0, 0, 1.0]]), 3)[0], np.eye(3)[:2])
    else:
        np.testing.assert_allclose(tangents_of(np.array([[0, 1.0, 0]]), 2)[0], [[1, 0, 0]])


@pytest.mark.parametrize("dim", [2, 3])
def test_gradient_against_differences(dim):
    """Finite differences: T v is the way of points of both bodies past each other."""
    scene = scene_in(dim)
    bodies, state, contacts = scene.bodies, scene.state, contacts_of(scene)
    rng = np.random.default_rng(3)
    velocity = np.where(bodies.free, rng.normal(size=(len(bodies), 6)), 0.0)
    T, h = tangential_gradient(bodies, state, contacts), 1e-6

    def apart(h):
        way = np.zeros((len(contacts), 3))
        for side, sign in ((0, -1.0), (1, 1.0)):
            b = contacts.body[:, side]
            arm = contacts.point - state.position[b]
            turn = rotations.matrix(from_rotation_vector(h * velocity[b, 3:]))
            way += sign * (h * velocity[b, :3] + np.einsum("mij,mj->mi", turn, arm) - arm)
        return way

    rate = in_frame(contacts, (apart(h) - apart(-h)) / (2 * h))
    # rounding over h, and h^2 of the second order
    np.testing.assert_allclose(T @ velocity.ravel(), rate.ravel(), atol=1e-9)
    assert T.shape == ((dim - 1) * len(contacts), 6 * len(bodies)) and T.has_sorted_indices


@pytest.mark.parametrize("dim", [2, 3])
def test_dot_product(dim):
    """Dot test: <T u, w> = <u, T^T w>, and no column of a held degree of freedom."""
    scene = scene_in(dim)
    T = tangential_gradient(scene.bodies, scene.state, contacts_of(scene))
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=T.shape[1]), rng.normal(size=T.shape[0])
    assert (T @ u) @ w == pytest.approx(u @ (T.T @ w), rel=1e-12)
    assert not T[:, ~scene.bodies.free.ravel()].count_nonzero()


def test_rigid_motion_is_no_motion_of_contacts():
    """Analytic: bodies that move and turn as one do not slide on each other."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add_many(rl.Sphere(0.5), [(0, 0, 0), (1, 0, 0), (0.5, 0.8, 0.3)])
    bodies, state, contacts = scene.bodies, scene.state, contacts_of(scene)
    spin, velocity = np.array([0.3, -0.2, 0.7]), np.array([1.0, 2.0, -1.0])
    v = np.column_stack([velocity + np.cross(spin, state.position), np.tile(spin, (3, 1))])
    for rows in (gap_gradient, tangential_gradient):
        assert np.abs(rows(bodies, state, contacts) @ v.ravel()).max() < 1e-15 * 8


def test_force_on_the_second_body():
    """Analytic: T^T f_t pushes body 1 along t and turns both balls of a pair the same way."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add_many(rl.Sphere(0.5), [(0, 0, 0), (0, 0, 1)])
    contacts = contacts_of(scene)
    T = tangential_gradient(scene.bodies, scene.state, contacts)
    force = (T.T @ [2.0, 0.0]).reshape(2, 6)
    np.testing.assert_allclose(force[:, :3], [[-2, 0, 0], [2, 0, 0]])
    # at arms of half a metre: (0, 0, r) x (-2, 0, 0) and (0, 0, -r) x (2, 0, 0)
    np.testing.assert_allclose(force[:, 3:], [[0, -1, 0], [0, -1, 0]])


def turned_scene(scene, contacts, angle, axis):
    """(contacts, velocity (n, 6)) after the whole scene has turned by ``angle`` about ``axis``."""
    spin = angle * np.asarray(axis, float) / np.linalg.norm(axis)
    matrix = rotations.matrix(from_rotation_vector(spin[None]))[0]
    now = replace(contacts, normal=contacts.normal @ matrix.T, point=contacts.point @ matrix.T)
    return now, matrix, np.tile(np.r_[np.zeros(3), spin], (len(scene.bodies), 1))


def test_vectors_turn_with_the_bodies():
    """Convergence slope: what is carried through a rotation of all bodies turns with them, as
    exactly as a rotation splits into one of the normal and one about it: to third order."""
    scene = scene_in(3)
    contacts = contacts_of(scene)
    rng = np.random.default_rng(1)
    vectors = in_world(contacts, rng.normal(size=(len(contacts), 2)))
    errors = []
    for angle in (0.1, 0.05):
        now, matrix, velocity = turned_scene(scene, contacts, angle, (1, 2, 3))
        # the mean spin about the normal halfway
        half, _, _ = turned_scene(scene, contacts, 0.5 * angle, (1, 2, 3))
        carried = carry_tangential(now, contacts, vectors, mean_turn(half, velocity, 1.0))
        np.testing.assert_allclose(np.einsum("mk,mk->m", carried, now.normal), 0, atol=1e-15)
        errors.append(np.abs(carried - vectors @ matrix.T).max())
    assert np.log2(errors[0] / errors[1]) > 2.9


def test_frames_are_stable():
    """Property: a frame follows its contact past the axes at which new ones would jump."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add_many(rl.Sphere(0.5), [(0, 0, 0), (0, 0, 1)])
    contacts = contacts_of(scene)
    jump = 0.0
    for angle in np.linspace(0, 6, 301)[1:]:
        now, _, _ = turned_scene(scene, contacts_of(scene), angle, (0.1, 1, 0))
        fresh = framed(now, 3)
        now = framed(now, 3, contacts)
        jump = max(jump, np.abs(fresh.tangents - contacts.tangents).max())
        # the normal turns by 0.02
        assert np.abs(now.tangents - contacts.tangents).max() < 0.021
        contacts = now
    assert jump > 0.5


def test_new_contacts_remember_nothing():
    """Property: by key; also where the normal is another one altogether."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add_many(rl.Sphere(0.5), [(0, 0, 0), (0, 0, 1), (1, 0, 0)])
    contacts = contacts_of(scene)
    assert len(contacts) == 2
    vectors = in_world(contacts, np.ones((2, 2)))
    first = contacts.select(np.array([True, False]))
    assert first.tangents.shape == (1, 2, 3)
    carried = carry_tangential(contacts, first, vectors[:1])
    np.testing.assert_array_equal(carried, [vectors[0], np.zeros(3)])
    flipped = replace(contacts, normal=-contacts.normal)
    assert not carry_tangential(flipped, contacts, vectors).any()
    np.testing.assert_array_equal(
        framed(flipped, 3, contacts).tangents, tangents_of(flipped.normal, 3)
    )
