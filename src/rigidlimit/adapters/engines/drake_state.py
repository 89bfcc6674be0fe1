"""How far Drake's contact forces are from solving its own equations, and from the present state.

Drake does not keep the state before its last step, but the accelerations a of that step. With
q_0 = q - dt N v and v_0 = v - dt a, its discrete momentum balance is

    M(q_0) a + C(q_0, v_0) = gravity and springs + contact forces J(q_0)^T f

Only bodies that float alone are judged, with what is welded to them: there is no other force on
them that Drake does not tell (limits, constraints, damping of joints). SAP closes the balance to
1e-15, TAMSI to 1e-7; where poses or velocities were set after the step it is open.
"""

from functools import lru_cache

import numpy as np

from .drake_trees import Trees
from .geometry import crossed


def engine_residual(plant, context, tree, bodies, point, push, trees: Trees, sizes) -> float:
    """What is missing in that balance, over the largest force; nan where no body can be judged.

    bodies (m, 2) int, point (m, 3), push (m, 3) [N]: indices of both sides of contacts, places and
    forces on the second side; sizes (nv,): of the mechanisms [m].
    """
    if not len(point):
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
    found = _wrenches(plant, before, tree, bodies, point, push, trees)[alone]
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


def _wrenches(plant, context, tree, bodies, point, push, trees: Trees):
    """What contacts push on each base that floats: torque about its origin, force, (bases, 6)."""
    origin = [
        plant.EvalBodyPoseInWorld(context, plant.get_body(tree.BodyIndex(body))).translation()
        for body in trees.base.tolist()
    ]
    place = np.full(len(trees.root), -1)
    place[trees.base] = np.arange(len(trees.base))
    base = place[trees.root[bodies]]
    row, side = np.nonzero(base >= 0)
    base = base[row, side]
    force = np.where(side == 1, 1.0, -1.0)[:, None] * push[row]
    found = np.zeros((len(origin), 6))
    turn = crossed(point[row] - np.array(origin)[base], force)
    np.add.at(found, base, np.hstack([turn, force]))
    return found
