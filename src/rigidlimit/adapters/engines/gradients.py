"""Derivatives of forces with respect to load, stiffness and friction, as arrays."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.display import Brief
from ...diagnostics import Sensitivity, sensitivity
from ...errors import InputError

if TYPE_CHECKING:
    from ...diagnostics import RoughSensitivity
    from .result import MendedForces

BY = "load", "stiffness", "friction"


@dataclass(frozen=True, repr=False)
class ForceGradients(Brief):
    """Forces of c contacts in a list, and their derivatives, exact by implicit differentiation.

    Derivatives are with respect to the load (n,) that the contacts carry; the stiffness k (c,) of
    each contact, with its k_t / k_n kept; the coefficient of friction (c,), the larger where there
    are two, with their ratio kept. They are nan where sliding contacts do not resist the change.

    Attributes
    ----------
    force : (c, d) ndarray [N]
        Normal force, then the d - 1 = 2 of friction, or none (d = 1).
    smooth : bool
        Whether forces are differentiable here; where a contact touches without force or has just
        reached its bound they are so to either side only, and the law's own branch is taken.

    Examples
    --------
    >>> from rigidlimit.adapters import mend_forces
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> found = mend_forces(beam, [0.65, 8.7, 0.65]).gradients()
    >>> load, stiffness, friction = found.reverse([[0.0], [1.0], [0.0]])  # of the middle support
    >>> stiffness.round(4), found.smooth
    (array([-1.1111,  2.2222, -1.1111]), True)
    """

    force: np.ndarray
    _found: "Sensitivity | RoughSensitivity" = field(repr=False)
    _stiffness: np.ndarray = field(repr=False)
    _rows: np.ndarray = field(repr=False)
    _motions: sp.csr_array | None = field(default=None, repr=False)
    _weight: np.ndarray | float = field(default=1.0, repr=False)

    @property
    def smooth(self) -> bool:
        return self._found.smooth

    def reverse(self, weight: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradients of sum(weight * force): by load (n,), by stiffness (c,), by friction (c,). One
        linear system.

        Parameters
        ----------
        weight : (c, d)
        """
        weight = np.asarray(weight, float)
        if weight.shape != self.force.shape:
            raise InputError(f"weight has shape {weight.shape}; expected {self.force.shape}")
        weight = weight[self._rows] * self._weight
        if isinstance(self._found, Sensitivity):
            by_stiffness, _, load = self._found.reverse(weight[:, 0])
            by_friction = np.zeros(len(self._rows))
        else:
            by_friction, by_tangential, by_normal, load = self._found.reverse(weight)
            by_stiffness = by_normal + by_tangential
        if self._motions is not None:
            load = self._motions @ load
        out = np.zeros((2, len(self.force)))
        out[0, self._rows], out[1, self._rows] = by_stiffness / self._stiffness, by_friction
        return load, out[0], out[1]

    def matrix(self, by: str) -> np.ndarray:
        """All derivatives: (c, d, n) by the load, (c, d, c) by stiffness or friction.

        Parameters
        ----------
        by : {"load", "stiffness", "friction"}
        """
        if by not in BY:
            raise InputError(f"by is {by!r}; expected one of {', '.join(BY)}")
        place, shape = BY.index(by), self.force.shape
        unit = np.zeros(shape)
        rows = []
        for i in range(unit.size):
            unit.flat[i] = 1.0
            rows.append(self.reverse(unit)[place])
            unit.flat[i] = 0.0
        return np.array(rows).reshape(*shape, -1)


def gradients_of(mended: "MendedForces") -> ForceGradients:
    """Of ``MendedForces``, in the engine's list. Raises InputError where forces are no equilibrium
    of stiff elastic bodies."""
    if not mended.converged:
        raise InputError(f"there are no forces to differentiate: {mended.answer.message}")
    if mended.adhesion.any():
        raise InputError("gradients are of contacts that only press; found adhesion")
    found, rows = mended.sensitivity(), mended.row
    force = mended.pressing[:, None]
    weight = 1.0
    if mended.joint:
        force = np.hstack([force, mended.tangential[:, :2]])
        friction = mended.contacts.coefficients[1][mended.solved]
        weight = np.hstack([np.ones((len(rows), 1)), friction])
    return ForceGradients(force, found, mended.stiffness, rows, mended.motions, weight)


class ForceMap:
    """Forces of stiff elastic bodies as a function of load, stiffness and friction.

    Contacts stay where they are: m contacts and n degrees of freedom. ``jax()`` and ``torch()``
    are the same for their arrays, with gradients (``custom_vjp``, ``autograd.Function``).

    Parameters
    ----------
    B : (m, n)
        Gap gradient, as of ``mend_forces``.
    sliding : (2 m, n) or (m, 2, n), optional
        Velocities along two tangential directions; None: no friction.
    held : (n,) bool, optional
        Degrees of freedom that are held.
    exponent : float
        Of the contact law.
    tangential_stiffness : float
        k_t / k_n.
    tolerance : float
        Of the balance.

    Raises
    ------
    InputError
        For ``sliding`` of another shape; when it is called, as ``compatible_forces``.

    Examples
    --------
    >>> import numpy as np
    >>> from rigidlimit.adapters import ForceMap
    >>> beam = ForceMap([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    >>> found = beam([10.0, 0.0], stiffness=[1.0, 3.0, 1.0])
    >>> found.force[:, 0].round(9)
    array([2., 6., 2.])
    >>> load, stiffness, friction = found.reverse([[0.0], [1.0], [0.0]])  # of the middle support
    >>> load.round(9) + 0.0
    array([0.6, 0. ])
    >>> stiffness.round(9)
    array([-1.2,  0.8, -1.2])
    """

    def __init__(
        self,
        B: ArrayLike,
        sliding: ArrayLike | None = None,
        *,
        held: ArrayLike | None = None,
        exponent: float = 2.0,
        tangential_stiffness: float = 1.0,
        tolerance: float = 1e-12,
    ):
        self.B = B.toarray() if sp.issparse(B) else np.atleast_2d(np.asarray(B, float))
        m, n = self.B.shape
        if sliding is not None:
            sliding = sliding.toarray() if sp.issparse(sliding) else np.asarray(sliding, float)
            if sliding.shape not in ((2 * m, n), (m, 2, n)):
                raise InputError(
                    f"sliding has shape {sliding.shape}; expected {(2 * m, n)} or {(m, 2, n)}"
                )
            sliding = sliding.reshape(2 * m, n)
        self.sliding, self.held, self.exponent = sliding, held, exponent
        self.ratio, self.tolerance = tangential_stiffness * (exponent - 1.0), tolerance

    @classmethod
    def of(cls, mended: "MendedForces") -> "ForceMap":
        """Of the contacts that took part (``row``), in the motions of the problem solved: at
        ``mended.load``, ``.stiffness`` and ``.friction`` its forces are those of ``mended``.

        Parameters
        ----------
        mended : MendedForces
        """
        return cls(
            mended.B,
            mended.T if mended.joint else None,
            held=mended.held,
            exponent=mended.options.exponent,
            tangential_stiffness=mended.options.tangential_stiffness,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d) of forces."""
        return len(self.B), 1 if self.sliding is None else 3

    def __repr__(self) -> str:
        return f"<ForceMap of {self.shape[0]} contacts, {self.B.shape[1]} degrees of freedom>"

    def __call__(
        self, load: ArrayLike, stiffness: ArrayLike = 1.0, friction: ArrayLike = 0.0
    ) -> ForceGradients:
        """Forces, loaded slowly from nothing, and their derivatives. load (n,) [N, N m]; stiffness
        and friction (m,), or a number.

        Raises
        ------
        InputError : shapes; loads that no stable equilibrium carries.
        """
        m, law = self.shape[0], dict(fixed=self.held, exponent=self.exponent)
        stiffness = np.broadcast_to(np.asarray(stiffness, float), (m,))
        if self.sliding is not None:
            law |= dict(tangential=self.sliding, friction=friction)
            law |= dict(tangential_stiffness=self.ratio * stiffness)
        found = sensitivity(
            self.B, load, stiffness=stiffness, tolerance=self.tolerance, **law
        )  # fmt: skip
        force = found.force.reshape(self.shape)
        return ForceGradients(force, found, stiffness, np.arange(m))

    def jax(self):
        """f(load, stiffness=1.0, friction=0.0) -> (m, d) for arrays of JAX, with a custom gradient;
        under ``jit`` and ``vmap`` too, on the host. Raises MissingExtra without jax.

        Loads in single precision (without ``jax_enable_x64``) have components of 1e-7 that no
        contact may be able to carry.
        """
        from .gradients_in_jax import jax_forces

        return jax_forces(self)

    def torch(self):
        """f(load, stiffness=1.0, friction=0.0) -> (m, d) for tensors of torch, with gradients, on
        the host. Raises MissingExtra without torch."""
        from .gradients_in_torch import torch_forces

        return torch_forces(self)
