"""How far Drake's contact forces are from solving its own equations, and from the present state.

Drake does not keep the state before its last step, but the accelerations a of that step. With
q_0 = q - dt N v and v_0 = v - dt a, its discrete momentum balance is

    M(q_0) a + C(q_0, v_0) = gravity and springs + contact forces J(q_0)^T f

Only bodies that float alone are judged, with what is welded to them: there is no other force on
them that Drake does not tell (limits, constraints, damping of joints). SAP closes the balance to
1e-15, TAMSI to 1e-7; where poses or velocities were set after the step it is open.
"""

import numpy as np

from .drake_trees import Trees


def engine_residual(plant, context, tree, infos, trees: Trees, sizes) -> float:
    """What is missing in that balance, over the largest force; nan where no body can be judged.

    infos: Drake's point contacts; sizes (nv,): of the mechanisms [m].
    """
    if not infos:
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
    found = _wrenches(plant, before, tree, infos, trees)[alone]
    arm = np.where(trees.turns, sizes, 1.0)[columns]
    largest = max(float(np.abs(part / arm).max()) for part in (needed, found))
    return float(np.abs((needed - found) / arm).max()) / (largest or 1.0)


def _before(plant, context):
    """Context at the beginning of the last step, and its accelerations (nv,)."""
    a = plant.get_generalized_acceleration_output_port().Eval(context)
    q, v, dt = plant.GetPositions(context), plant.GetVelocities(context), plant.time_step()
    before = plant.CreateDefaultContext()
    before.SetTimeStateAndParametersFrom(context)
    plant.SetPositions(before, q - dt * plant.MapVelocityToQDot(context, v))
    plant.SetVelocities(before, v - dt * a)
    return before, a


def _wrenches(plant, context, tree, infos, trees: Trees):
    """What contacts push on each base that floats: torque about its origin, force, (bases, 6)."""
    place = {int(body): k for k, body in enumerate(trees.base)}
    origin = [
        plant.EvalBodyPoseInWorld(context, plant.get_body(tree.BodyIndex(body))).translation()
        for body in trees.base.tolist()
    ]
    found = np.zeros((len(origin), 6))
    for info in infos:
        force, point = info.contact_force(), info.contact_point()
        for sign, index in ((-1.0, info.bodyA_index()), (1.0, info.bodyB_index())):
            k = place.get(int(trees.root[int(index)]))
            if k is not None:
                turn = np.cross(point - origin[k], force)
                found[k] += sign * np.concatenate([turn, force])
    return found
