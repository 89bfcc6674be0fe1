"""Forces with gradients for JAX: a callback to the host with a custom derivative."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .arguments import imported

if TYPE_CHECKING:
    from .gradients import ForceMap


def jax_forces(forces: "ForceMap") -> Callable:
    """See ``ForceMap.jax``."""
    jax = imported("jax", engine="JAX", extra="jax")
    jnp = jax.numpy

    def host(load, stiffness, friction):
        return forces(load, stiffness, friction).force.astype(np.asarray(load).dtype)

    def host_back(load, stiffness, friction, weight):
        found = forces(load, stiffness, friction).reverse(np.asarray(weight, float))
        return tuple(grad.astype(np.asarray(load).dtype) for grad in found)

    @jax.custom_vjp
    def solved(load, stiffness, friction):
        out = jax.ShapeDtypeStruct(forces.shape, load.dtype)
        return jax.pure_callback(host, out, load, stiffness, friction, vmap_method="sequential")

    def forward(load, stiffness, friction):
        return solved(load, stiffness, friction), (load, stiffness, friction)

    def backward(kept, weight):
        out = tuple(jax.ShapeDtypeStruct(array.shape, kept[0].dtype) for array in kept)
        return jax.pure_callback(host_back, out, *kept, weight, vmap_method="sequential")

    solved.defvjp(forward, backward)

    def along(load, stiffness=1.0, friction=0.0):
        load = jnp.asarray(load, float)
        each = (jnp.asarray(value, load.dtype) for value in (stiffness, friction))
        # of a number the derivative is the sum of those of all contacts
        return solved(load, *(jnp.broadcast_to(value, forces.shape[:1]) for value in each))

    return along
