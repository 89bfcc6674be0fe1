"""Friction and tangential stiffness of contacts, from materials and given for pairs."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.compatibility.friction import (
    contact_friction,
    contact_tangential_stiffness,
    has_friction,
    tangential_ratio,
)
from rigidlimit.compatibility.law import contact_stiffness


def row_of_balls(*materials):
    scene = rl.Scene(gravity=(0, 0, 0))
    for k, material in enumerate(materials):
        scene.add(rl.Sphere(0.5), position=(k, 0, 0), material=material)
    return scene, find_contacts(scene.bodies, scene.state, 1e-3)


def test_friction_is_the_smaller():
    """Analytic: of two materials; that of a pair in its place."""
    rough, slick = rl.Material(friction=0.8, name="a"), rl.Material(friction=0.2, name="b")
    scene, contacts = row_of_balls(rough, rough, slick, rl.Material())
    np.testing.assert_array_equal(contact_friction(scene.bodies, contacts), [0.8, 0.2, 0.0])
    scene.set_pair_friction(3, 2, 0.7)
    mu = contact_friction(scene.bodies, contacts, scene.pair_friction)
    np.testing.assert_array_equal(mu, [0.8, 0.2, 0.7])


def test_who_has_friction():
    scene, _ = row_of_balls(rl.Material(), rl.Material())
    assert not has_friction(scene.bodies, scene.pair_friction)
    scene.set_pair_friction(0, 1, 0.0)
    assert not has_friction(scene.bodies, scene.pair_friction)
    scene.set_pair_friction(0, 1, 0.1)
    assert has_friction(scene.bodies, scene.pair_friction)
    assert has_friction(row_of_balls(rl.Material(friction=0.1))[0].bodies)


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_mindlin(exponent):
    """Analytic: 4 G*/E* for unlike materials, 8 G* sqrt(R*) for Hertz; ratios in series."""
    one = rl.Material(young=2e9, poisson=0.1, name="a")
    other = rl.Material(young=5e9, poisson=0.4, name="b")
    scene, contacts = row_of_balls(one, other)
    E = 1 / ((1 - 0.1**2) / 2e9 + (1 - 0.4**2) / 5e9)
    G = 1 / (2 * (2 - 0.1) * 1.1 / 2e9 + 2 * (2 - 0.4) * 1.4 / 5e9)
    ratio = tangential_ratio(scene.bodies, contacts)
    np.testing.assert_allclose(ratio, 4 * G / E, rtol=1e-14)
    k = contact_stiffness(scene.bodies, contacts, exponent)
    k_t = contact_tangential_stiffness(scene.bodies, contacts, k, exponent)
    expected = 8 * G * np.sqrt(0.25) if exponent == 2.5 else 4 * G / E * k
    np.testing.assert_allclose(k_t, expected, rtol=1e-14)


def test_stated_ratios():
    """Analytic: that of one material; in series with another; that of a pair."""
    one = rl.Material(tangential_stiffness=0.5, name="a")
    other = rl.Material(tangential_stiffness=1.0, name="b")
    scene, contacts = row_of_balls(one, one, other, rl.Material(poisson=0.25))
    ratio = tangential_ratio(scene.bodies, contacts, {(2, 3): 0.1})
    np.testing.assert_allclose(ratio, [0.5, 2 / 3, 0.1], rtol=1e-15)
    assert rl.Material(poisson=0.25).tangential_ratio == pytest.approx(6 / 7)
