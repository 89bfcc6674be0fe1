"""Forces with gradients for torch: a function of autograd that is solved on the host."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .arguments import imported

if TYPE_CHECKING:
    from .gradients import ForceMap


def torch_forces(forces: "ForceMap") -> Callable:
    """See ``ForceMap.torch``."""
    torch = imported("torch", engine="torch", extra="torch")

    class Solved(torch.autograd.Function):
        @staticmethod
        def forward(ctx, load, stiffness, friction):
            host = (value.detach().cpu().double().numpy() for value in (load, stiffness, friction))
            ctx.found = forces(*host)
            ctx.kinds = [(value.dtype, value.device) for value in (load, stiffness, friction)]
            return torch.as_tensor(ctx.found.force.copy(), dtype=load.dtype, device=load.device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, weight):
            found = ctx.found.reverse(weight.detach().cpu().double().numpy())
            return tuple(
                torch.as_tensor(grad, dtype=dtype, device=device)
                for grad, (dtype, device) in zip(found, ctx.kinds, strict=True)
            )

    def along(load, stiffness=1.0, friction=0.0):
        load = torch.as_tensor(load)
        if not load.is_floating_point():
            load = load.double()
        each = (
            torch.as_tensor(value, dtype=load.dtype, device=load.device)
            for value in (stiffness, friction)
        )
        # of a number the derivative is the sum of those of all contacts
        return Solved.apply(load, *(value.expand(forces.shape[:1]) for value in each))

    return along
