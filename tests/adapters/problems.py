"""Beam and box as every engine builds them, and what stiff elastic supports would carry."""

import itertools

WEIGHT = 10.0
BEAM = (-0.5, 0.0, 0.5)  # supports, and the contact's x
ORDERS = list(itertools.permutations(range(3)))
UNEQUAL = {-0.5: 1.0, 0.0: 3.0, 0.5: 1.0}
SHARES = {"equal": (10 / 3, 10 / 3, 10 / 3), "middle": (2.0, 6.0, 2.0)}
# the figure for 10/3 and 2, 6, 2
TOLERANCE = 1e-6
# the figure for total force and moment
TOTAL = 1e-9


def support(x: float) -> int:
    """Which support a contact at x belongs to."""
    return min(range(3), key=lambda i: abs(BEAM[i] - x))


def beam_stiffness(x, kind: str):
    """Per contact in the engine's order: 1:1:1 or 1:3:1."""
    return [3.0 if kind == "middle" and support(value) == 1 else 1.0 for value in x]


def beam_shares(x, kind: str):
    """Closed form: k_i over the sum of k, per contact in the engine's order."""
    return [SHARES[kind][support(value)] for value in x]


def box_stiffness(x, y):
    """Corners of the box three times as stiff along one diagonal."""
    return [3.0 if a * b > 0 else 1.0 for a, b in zip(x, y, strict=True)]


def box_shares(x, y):
    """Closed form: with k equal along each diagonal the box sinks without turning, f ~ k."""
    k = box_stiffness(x, y)
    return [WEIGHT * value / sum(k) for value in k]


def advanced(world, steps=400, extra="", option=""):
    """Model and data of MuJoCo for the bodies of a world, after so many steps."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><option {option}/><worldbody>{world}</worldbody>{extra}</mujoco>"
    )
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data
