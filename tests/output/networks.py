"""Force networks with a known answer, without a solve."""

from dataclasses import replace

import numpy as np

import rigidlimit as rl
from rigidlimit.collision.contacts import Contacts
from rigidlimit.collision.search import find_contacts
from rigidlimit.step.force_network import ForceNetwork


def network(position, pairs, force, *, dim=2, radius=0.5):
    """Balls with contacts in the middle between them and these forces, without a solve."""
    position, pairs = np.asarray(position, float), np.asarray(pairs, int).reshape(-1, 2)
    scene = rl.Scene(dim=dim, gravity=(0,) * dim)
    shape = rl.Disk if dim == 2 else rl.Sphere
    scene.add_many([shape(r) for r in np.broadcast_to(radius, len(position))], position)
    place = scene.state.position
    line = place[pairs[:, 1]] - place[pairs[:, 0]]
    m = len(pairs)
    contacts = Contacts(
        pairs,
        np.zeros(m, int),
        place[pairs].mean(axis=1),
        line / np.linalg.norm(line, axis=1)[:, None],
        np.zeros(m),
        np.full(m, 2.0),
        len(place),
    )
    forces = {"compatible": np.broadcast_to(np.asarray(force, float), m)}
    return ForceNetwork(scene.bodies, place, scene.state.quaternion, contacts, forces, np.zeros(3))


def columns(forces=(30.0, 1.0, 1.0, 30.0), high=3):
    """Columns of disks side by side, each pressed by its own force."""
    x, y = np.meshgrid(np.arange(len(forces)), np.arange(high), indexing="ij")
    position = np.column_stack([x.ravel(), y.ravel()])
    upward = [(high * k + j, high * k + j + 1) for k in range(len(forces)) for j in range(high - 1)]
    return network(position, upward, np.repeat(forces, high - 1))


def periodic_disks():
    """Twenty disks at random places in a tilted cell, many of which overlap, and random forces."""
    rng = np.random.default_rng(3)
    vectors = np.array([[1.0, 0.0], [0.3, 0.9]])
    scene = rl.Scene(dim=2, cell=vectors)
    scene.add_many([rl.Disk(r) for r in rng.uniform(0.1, 0.15, 20)], rng.random((20, 2)) @ vectors)
    shown = scene.network
    contacts = find_contacts(scene.bodies, scene.state, 0.0)
    forces = {"compatible": rng.exponential(1.0, len(contacts))}
    return replace(shown, contacts=contacts, forces=forces)
