"""How far Drake's contact forces are from solving its own equations, and from the present state.

Drake does not keep the state before its last step, but the accelerations a of that step. With
q_0 = q - dt N v and v_0 = v - dt a, its discrete momentum balance is

    M(q_0) a + C(q_0, v_0) = gravity and springs + contact forces J(q_0)^T f

Only bodies that float alone are checked, with what is welded to them: there is no other force on
them that Drake does not report (limits, constraints, damping of joints). SAP satisfies the balance
to 1e-15, TAMSI to 1e-7; where poses or velocities were set after the step it does not hold.
"""

from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .drake_contacts import PointPairs
from .drake_trees import Trees
from .geometry import cross

if TYPE_CHECKING:
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import Context


def engine_residual(
    plant: "MultibodyPlant",
    context: "Context",
    tree: ModuleType,
    pairs: PointPairs,
    trees: Trees,
    sizes: np.ndarray,
) -> float:
    """What is missing in that balance, over the largest force; nan where no body can be judged.

    tree: pydrake.multibody.tree; sizes (nv,): of the mechanisms [m].
    """
    if not len(pairs.point):
        return 0.0
    alone = trees.alone
    ports = (
        plant.get_applied_generalized_force_input_port(),
        plant.get_applied_spatial_force_input_port(),
    )
    if not len(alone) or plant.num_constraints() or any(port.HasValue(context) for port in ports):
        return np.nan
    before, acceleration = _before(plant, context)
    given = tree.MultibodyForces(plant)
    plant.CalcForceElementsContribution(before, given)
    columns = trees.first[alone][:, None] + np.arange(6)
    needed = plant.CalcInverseDynamics(before, acceleration, given)[columns]
    origin = np.zeros((len(trees.root), 3))
    for body in trees.base.tolist():
        origin[body] = plant.EvalBodyPoseInWorld(before, trees.bodies[body]).translation()
    found = _wrenches(trees.root[pairs.body], pairs.point, pairs.push, origin)[trees.base[alone]]
    arm = np.where(trees.turns, sizes, 1.0)[columns]
    largest = max(float(np.abs(part / arm).max()) for part in (needed, found))
    return float(np.abs((needed - found) / arm).max()) / (largest or 1.0)


@lru_cache(maxsize=1)
def _scratch(plant):
    """A context to look back in, kept for the last plant: making it takes as long as mending."""
    return plant.CreateDefaultContext()


def _before(plant, context):
    """Context at the beginning of the last step, and its accelerations (nv,)."""
    a = plant.get_generalized_acceleration_output_port().Eval(context)
    q, v, dt = plant.GetPositions(context), plant.GetVelocities(context), plant.time_step()
    before = _scratch(plant)
    before.SetTimeStateAndParametersFrom(context)
    plant.SetPositions(before, q - dt * plant.MapVelocityToQDot(context, v))
    plant.SetVelocities(before, v - dt * a)
    return before, a


@njit(cache=True)
def _wrenches(root, point, push, origin):
    """What contacts push on each root: torque about its ``origin`` (bodies, 3), force; (bodies, 6).

    root (m, 2) int: of both sides; push (m, 3) [N]: on the second, at point (m, 3).
    """
    found, turn = np.zeros((len(origin), 6)), np.empty(3)
    for i in range(len(point)):
        for side in range(2):
            k, sign = root[i, side], 2.0 * side - 1.0
            cross(point[i] - origin[k], push[i], turn)
            found[k, :3] += sign * turn
            found[k, 3:] += sign * push[i]
    return found
