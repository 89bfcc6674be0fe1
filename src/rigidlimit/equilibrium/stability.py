"""Whether an equilibrium of rough contacts is stable, and a stable one beside it.

Coulomb's law is not associated: K = B^T D B is not symmetric, and may have eigenvalues of negative
real part. In a viscous medium, c dx/dt = -r(x), a disturbance then grows, and bodies leave the
equilibrium, however well its residual vanishes. Under a load that grows slowly and in proportion
the forces leave those of one increment for others in the same case: a disturbance that grows as
load^(1 + a) has the tangent of the increment for a = 0, and that of an infinitely small one for a
-> infinity. A disturbance along the motion that grows fastest leads to a stable equilibrium. There
may be several, as the mirror images of one another where the first was symmetric.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse.linalg as spla

from ..status import Status
from .dense import Dense
from .law import ContactLaw
from .mechanics import Mechanics
from .relaxation import Relaxation, relax
from .result import Equilibrium
from .rough_newton import newton

NOISE = 1e-7
"""Rate over a usual stiffness below which a motion counts as not growing: motions that no
contact resists have a rate of zero, up to rounding and to the stiffness that holds them."""

SHIFT = 0.05
"""a of Cayley's transform over a usual stiffness. Growing motions had rates of 1e-3 to 0.1."""

ACCURACY = 1e-3
"""Of the eigenvalue of the transform, and 1e-3 of it of the systems. With 1e-2 and a four times
larger shift growing motions of rates below 1e-2 were missed."""

RESTARTS = 3
"""Of Arnoldi's method, whose vectors are 20. Of 50 lids of 162 and 990 contacts, 30 of them
unstable, each was judged as by a dense matrix, in 31 systems on the mean, 51 at most."""

DISTURBANCE = 0.1
"""Of the largest displacement. One of 0.01 came back to the equilibrium it was to leave."""

DISTURBANCES = 4
"""At most, each from the unstable equilibrium to which the one before led."""

NEAR = 1e-3
"""Residual over that of the disturbance below which Newton's method takes over."""

FASTEST = 2.0
"""Damping of the relaxation at least, over the rate of the motion that grows fastest: with less
than one, implicit steps go back to where that motion is zero."""

EXAMINED = 5000
"""Largest number of contacts of networks that are examined: with some 40 systems, a tenth to a half
of the cost of the equilibrium. At 14,440 contacts it is more than that."""

NEWTON = 30
"""Iterations of Newton's method at most."""


@dataclass(frozen=True)
class Growth:
    """rate [N/m]: minus the real part of an eigenvalue of K, positive. motion (n,): its
    eigenvector, real part, of largest entry 1."""

    rate: float
    motion: np.ndarray


def growth(mechanics: Mechanics, law: ContactLaw, x: np.ndarray) -> Growth | None:
    """The motion that grows fastest from the equilibrium x; None where it is stable, and in
    networks of more than ``EXAMINED`` contacts."""
    sums = mechanics.sums
    if sums.total(len(sums.own(law.friction))) > EXAMINED:
        return None
    _, D = law.respond(mechanics.displacement(x))
    # tangents of contacts that do not slide are symmetric and positive
    if not sums.any(D[:, 1:, 0]):
        return None
    if isinstance(mechanics, Dense):
        values, vectors = np.linalg.eig(mechanics.matrix(D))
        worst, size = int(values.real.argmin()), float(np.abs(values).max())
        rate, vector = -float(values[worst].real), vectors[:, worst]
    else:
        n = len(sums.gathered(x))
        size = _stiffness(mechanics, D, n)
        rate, vector = _by_cayley(mechanics, D, SHIFT * size, n)
    if not rate > NOISE * size:
        return None
    motion = vector.real if np.abs(vector.real).max() > 0.0 else vector.imag
    return Growth(rate, sums.dealt(motion / motion[np.abs(motion).argmax()]))


def _stiffness(mechanics: Mechanics, D: np.ndarray, n: int) -> float:
    """Of a usual motion: |K v| of a random v (n,) of length 1."""
    v = np.random.default_rng(0).normal(size=n)
    v = mechanics.sums.dealt(v / np.linalg.norm(v))
    none = np.zeros(mechanics.shape)
    force = -np.einsum("iab,ib->ia", D, mechanics.change(v))
    Kv = mechanics.residual(v, force) - mechanics.residual(np.zeros(len(v)), none)
    return float(mechanics.sums.norm(Kv))


def _by_cayley(mechanics, D, a: float, n: int):
    """(rate, motion) of the eigenvalue of (K - a)/(K + a) of largest size: above 1 for those of K
    of negative real part alone."""
    solve, sums = mechanics.damped(a).factorize(D), mechanics.sums

    def transformed(v: np.ndarray) -> np.ndarray:
        v = sums.dealt(np.ascontiguousarray(v, float).ravel())
        return sums.gathered(v - 2.0 * a * solve(-v, accuracy=1e-3 * ACCURACY))

    operator = spla.LinearOperator((n, n), matvec=transformed, dtype=float)
    start = np.random.default_rng(0).normal(size=n)
    try:
        values, vectors = spla.eigs(operator, 1, v0=start, tol=ACCURACY, maxiter=RESTARTS)
    except spla.ArpackNoConvergence as ended:
        values, vectors = ended.eigenvalues, ended.eigenvectors
    if not len(values) or not np.abs(values[0]) > 1.0:
        return 0.0, np.zeros(n)
    c = values[0]
    return -float((a * (1.0 + c) / (1.0 - c)).real), vectors[:, 0]


def stable_beside(
    mechanics: Mechanics,
    law: ContactLaw,
    found: Equilibrium,
    grows: Growth,
    *,
    tolerance: float,
    force_size: float,
) -> Equilibrium:
    """A stable equilibrium to which disturbances lead from ``found``, which is not; where none is
    reached, ``found`` with the status UNSTABLE."""
    at, solves = found, found.iterations
    for _ in range(DISTURBANCES):
        for sign in (1.0, -1.0):
            end = _left(mechanics, law, at.x, sign, grows, tolerance, force_size)
            solves += end.iterations
            if end.converged:
                break
        else:
            break
        at, grows = end, growth(mechanics, law, end.x)
        if grows is None:
            return replace(at, iterations=solves)
    return replace(found, status=Status.UNSTABLE, iterations=solves)


def _left(mechanics, law, x, sign, grows: Growth, tolerance, force_size) -> Equilibrium:
    """Where a disturbance leads to from the equilibrium x."""
    sums = mechanics.sums
    x = x + sign * DISTURBANCE * sums.largest(x) * grows.motion
    missing = mechanics.size(mechanics.residual(x, law.force(mechanics.displacement(x))))
    damping = FASTEST * grows.rate / max(sums.largest(law.normal), sums.largest(law.tangential))
    at = relax(
        mechanics,
        law,
        x,
        tolerance=max(NEAR * missing, tolerance),
        force_size=force_size,
        settings=Relaxation(first=damping, least=damping),
    )
    if at.status is not Status.CONVERGED:
        return at
    end = newton(mechanics, law, at.x, tolerance=tolerance, iterations=NEWTON)
    return replace(end, iterations=at.iterations + end.iterations)
