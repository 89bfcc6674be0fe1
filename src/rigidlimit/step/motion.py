"""Which bodies move, how fast, and how far: for messages about scenes that are not at rest."""

import numpy as np

from .._support.words import counted
from ..bodies import Bodies, HalfSpace, State, rotations

SEEN = 1e-6
"""Way of a body in one step over the scene's length above which it counts as moving: gaps up to it
count as closed."""


def speeds(bodies: Bodies, state: State) -> np.ndarray:
    """Speed of the farthest point of each body that may move, (n,) [m/s]; 0 for the others."""
    way = np.where(bodies.free, state.velocity * bodies.turning_arm, 0.0)
    return np.abs(way).max(axis=1)


def ways(bodies: Bodies, begun: State, state: State) -> np.ndarray:
    """How far each body that may move has gone from ``begun``, (n,) [m]."""
    way = np.linalg.norm(state.position - begun.position, axis=1)
    return np.where(bodies.free.any(axis=1), way, 0.0)


def farthest(bodies: Bodies, begun: State, state: State) -> str:
    """Which body has gone farthest, and how far; "" where none has."""
    way = ways(bodies, begun, state)
    body = int(way.argmax())
    if not way[body] > SEEN * bodies.length:
        return ""
    return f"{bodies.names[body]!r} has gone farthest, {way[body]:.3g} m"


def motion(bodies: Bodies, begun: State | None, state: State, dt: float) -> str:
    """How many bodies move, who is fastest and who has gone farthest; "" where none moves."""
    speed = speeds(bodies, state)
    moving = int((speed * dt > SEEN * bodies.length).sum())
    if not moving:
        return ""
    body, free = int(speed.argmax()), int(bodies.free.any(axis=1).sum())
    text = (
        f"{moving} of {counted(free, 'body')} {'moves' if moving == 1 else 'move'}, "
        f"{bodies.names[body]!r} fastest at {speed[body]:.3g} m/s"
    )
    gone = "" if begun is None else farthest(bodies, begun, state)
    return f"{text}; {gone}" if gone else text


def flies_off(bodies: Bodies, state: State, body: int) -> bool:
    """Whether nothing lies ahead of a body in its direction of motion, so that it never stops."""
    v = state.velocity[body, :3]
    speed = np.linalg.norm(v)
    if speed == 0.0:
        return False
    along = v / speed
    planes = bodies.are(HalfSpace)
    for i in np.flatnonzero(planes):
        normal = rotations.matrix(state.quaternion[i : i + 1])[0] @ bodies.shape(i).local_normal
        if normal @ along < 0.0:  # it faces the body
            return False
    ahead = (state.position - state.position[body]) @ along + bodies.bounding_radius > 0.0
    nears = (v - state.velocity[:, :3]) @ along > 0.0
    return not (ahead & nears & ~planes).any()
