"""K x = r by PETSc: a factorization of MUMPS, or a Krylov method with algebraic multigrid.

The factorization (Cholesky, LU with friction, where K is not symmetric) is exact, and its memory
grows as n^(4/3) in packings in space; GAMG (plain aggregation, with the rigid motions of the whole
as near null space) takes some times the memory of K itself: with conjugate gradients, with friction
GMRES.
"""

import socket
import zlib

import numpy as np

from .._support.memory import room
from ..equilibrium.krylov import RESTART, STAGNANT
from ..errors import OutOfMemory
from .part import Part
from .ranks import Ranks
from .stiffness import Assembly

SOLVERS = ("auto", "mumps", "gamg", "gamg+mumps")
"""The last, with friction: those K are factorized on which a cycle of GMRES does not do."""

DIRECT = 30_000
"""Degrees of freedom with friction up to which K is factorized at once: a factorization takes as
long as one cycle of GMRES at some 50,000."""

FACTOR_BYTES = 180.0
"""Bytes that MUMPS has used (INFOG 22), all ranks together, over n^(4/3), n degrees of freedom: 168
to 180 in crystals of 14,440 and 50,460 contacts."""

LU = 2.2
"""Bytes of LU over those of Cholesky: 341 and 396 over n^(4/3) in rough pyramids of 3,036 and 6,090
degrees of freedom."""

LACKS_MEMORY = (-8, -9, -11, -13, -19)
"""Of MUMPS' INFOG(1): what it had set aside was too small, or the system gave it nothing."""

OUT_OF_MEMORY = 55
"""PETSc's own code of an error, of one rank alone."""

MOST_STEPS = 2_000
"""Conjugate gradient steps of one solve; well conditioned packings take 10 to 50."""

WITHOUT_FRICTION = {
    "mg_levels_ksp_type": "chebyshev",
    # not by blocks: small aggregates of balls leave singular ones on coarse levels
    "mg_levels_pc_type": "jacobi",
}
"""Smoother of GAMG for symmetric K."""

WITH_FRICTION = {
    "mg_levels_ksp_type": "richardson",
    "mg_levels_pc_type": "asm",
    "mg_levels_sub_pc_type": "ilu",
    "mg_levels_sub_pc_factor_shift_type": "nonzero",  # small aggregates have zero pivots
}
"""Smoother of GAMG with friction. With Jacobi's method GMRES takes up to 200 steps where many
contacts slip, with this one 3 to 60."""


def factor_bytes(dofs: int, *, symmetric: bool = True) -> float:
    """Memory that MUMPS takes, all ranks together, as measured in packings in space."""
    return (1.0 if symmetric else LU) * FACTOR_BYTES * dofs ** (4 / 3)


def chosen(name: str, dofs: int, ranks: Ranks, *, symmetric: bool = True) -> tuple[str, str]:
    """(solver, why in words), for a name of ``SOLVERS``."""
    size, free = factor_bytes(dofs, symmetric=symmetric), _room_of_all(ranks)
    told = f"a factorization takes some {size / 1e9:.2g} GB in all"
    if name != "auto":
        return name, f"as given; {told}"
    if size > free:
        return "gamg", f"{told}: found {free / 1e9:.2g} GB free"
    return "mumps" if symmetric or dofs <= DIRECT else "gamg+mumps", told


def _room_of_all(ranks: Ranks) -> float:
    """Memory that may be taken on all machines together [bytes]; ranks of one share it."""
    machine = ranks.each(float(zlib.crc32(socket.gethostname().encode())))
    free = ranks.each(room())
    return float(sum(free[machine == one].min() for one in np.unique(machine)))


class Solver:
    """Solves with K, whose values change. name: of ``SOLVERS``, not auto; symmetric: whether K
    always is.

    steps: of Krylov methods so far; setups: values of K so far.
    """

    def __init__(self, name: str, part: Part, ranks: Ranks, *, symmetric: bool = True):
        self.part, self.ranks, self.symmetric = part, ranks, symmetric
        self.assembly = Assembly(part, ranks, symmetric=symmetric)
        self.steps = self.setups = 0
        self.rhs, self.x = (ranks.vector(part.own, part.width) for _ in range(2))
        self.names, self.methods = name.split("+"), []
        # the method in turn; systems for which the first is left out, now and after it fails next
        self.at = self.wait = self.next_wait = 0

    def set(self, D: np.ndarray, shift: float) -> None:
        """K of tangents D (m, d, d) and shift."""
        self.assembly.set(D, shift)
        self.setups += 1
        self.at = int(self.wait > 0)
        self.wait = max(self.wait - 1, 0)

    def solve(self, rhs: np.ndarray, target: float) -> np.ndarray:
        """x (o, w) with |K x - rhs| <= target in the 2-norm, for rhs (o, w), or as near as rounding
        lets it; not finite where K is singular. Raises OutOfMemory."""
        self.rhs.setArray(rhs.ravel())
        norm = self.rhs.norm()
        rtol = 0.0 if norm == 0.0 else max(min(0.5, target / norm), 1e-14)
        solved = self._method().solve(rtol)
        if self.at == 0 and len(self.names) > 1:
            if solved:
                self.next_wait = 0
            else:  # those that follow are mostly alike
                self.at, self.wait, self.next_wait = 1, self.next_wait, 2 * self.next_wait + 1
                solved = self._method().solve(rtol)
        if not solved:
            self.x.set(np.nan)
        return self.x.array.copy().reshape(rhs.shape)

    def _method(self) -> "_Method":
        """The one in turn, with the values of K; the second is not made before it is needed, but
        always after the first."""
        while len(self.methods) <= self.at:
            self.methods.append(_Method(self, len(self.methods)))
        method = self.methods[self.at]
        method.ksp.setOperators(self.assembly.matrix)
        return method


class _Method:
    """The method of a ``Solver`` with this number; options of a second one have its name before
    them: -mumps_ksp_monitor."""

    def __init__(self, of: Solver, number: int):
        self.name, self.of = of.names[number], of
        PETSc, matrix = of.ranks.PETSc, of.assembly.matrix
        ksp = PETSc.KSP().create(of.ranks.comm)
        ksp.setOptionsPrefix("" if number == 0 else f"{self.name}_")
        ksp.setType("cg" if of.symmetric else "gmres")
        if not of.symmetric:
            ksp.setPCSide(PETSc.PC.Side.RIGHT)
            ksp.setGMRESRestart(RESTART)
            ksp.setConvergenceTest(_Stagnation(0.0 if self.name != of.names[-1] else STAGNANT))
        ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        pc = ksp.getPC()
        if self.name == "mumps":
            pc.setType("cholesky" if of.symmetric else "lu")
            pc.setFactorSolverType("mumps")
        else:
            matrix.setNearNullSpace(_rigid_motions(of.part, of.ranks))
            pc.setType("gamg")
            self._set_multigrid()
        ksp.setFromOptions()
        self.ksp = ksp

    def _set_multigrid(self) -> None:
        """Options of GAMG, always the first method, which has no other way; PETSC_OPTIONS still
        comes after them."""
        options, given = (
            self.of.ranks.PETSc.Options(),
            {
                "pc_gamg_type": "agg",
                # contacts open and close: aggregates of another step do not serve
                "pc_gamg_reuse_interpolation": False,
                "pc_gamg_threshold": 0.0,  # bodies that no force joins are not neighbours
                # smoothed ones take hardly fewer steps, and four times as long to make
                "pc_gamg_agg_nsmooths": 0,
                **(WITHOUT_FRICTION if self.of.symmetric else WITH_FRICTION),
            },
        )
        for name, value in given.items():
            if not options.hasName(name):
                options[name] = value

    def solve(self, rtol: float) -> bool:
        """x of K x = rhs, both of the ``Solver``; False where K is singular, or taken for it."""
        PETSc, ksp = self.of.ranks.PETSc, self.ksp
        reasons = PETSc.KSP.ConvergedReason
        most = 8 if self.name == "mumps" else MOST_STEPS
        ksp.setTolerances(rtol=rtol, atol=0.0, divtol=1e30, max_it=most)
        try:
            ksp.solve(self.of.rhs, self.of.x)
        except PETSc.Error as error:
            if self._lacks_memory():
                self.of.ranks.refuse(_out_of_memory())
            if error.ierr == OUT_OF_MEMORY:
                raise _out_of_memory() from None
            raise
        self.of.steps += ksp.getIterationNumber()
        reason = ksp.getConvergedReason()
        if reason == reasons.DIVERGED_PCSETUP_FAILED and self.name == "mumps":
            if self._lacks_memory():
                self.of.ranks.refuse(_out_of_memory())
            ksp.reset()  # MUMPS does not take other values after a factorization that failed
            return False
        return self.of.symmetric or reason != reasons.DIVERGED_BREAKDOWN  # of ``_Stagnation``

    def _lacks_memory(self) -> bool:
        """By what MUMPS has said last, on all ranks alike."""
        if self.name != "mumps":
            return False
        return self.ksp.getPC().getFactorMatrix().getMumpsInfog(1) in LACKS_MEMORY


class _Stagnation:
    """Convergence test of GMRES, which gives up also where a whole cycle hardly helped, as
    ``equilibrium.krylov.gmres`` does: K is taken for singular, since contacts that slip leave
    motions free, and no number of steps will do."""

    def __init__(self, allowed: float):
        self.allowed = allowed

    def __call__(self, ksp, step: int, norm: float) -> int:
        reasons = type(ksp).ConvergedReason
        rtol, atol, _, most = ksp.getTolerances()
        if step == 0:
            self.begun = self.before = norm  # x begins at zero: the norm of the right-hand side
        if norm <= max(rtol * self.begun, atol):
            return reasons.CONVERGED_RTOL
        if not np.isfinite(norm) or step >= most:
            return reasons.DIVERGED_ITS
        if step > 0 and step % RESTART == 0:
            if norm > self.allowed * self.before:
                return reasons.DIVERGED_BREAKDOWN
            self.before = norm
        return reasons.ITERATING


def _out_of_memory() -> OutOfMemory:
    return OutOfMemory(
        "PETSc lacks memory for its linear system; expected solver='gamg', which takes less than "
        "a factorization, or more machines"
    )


def _rigid_motions(part: Part, ranks: Ranks):
    """The near null space: rigid motions of the whole, in displacements times the arms."""
    own, w = part.own, part.width
    count = ranks.sum(own)
    centre = np.array([ranks.sum(c.sum()) for c in part.position.T]) / count
    arm = part.position - centre
    motions = np.zeros((6, own, w))
    for k in range(3):
        motions[k, :, k] = 1.0
        a, b = (k + 1) % 3, (k + 2) % 3
        motions[3 + k, :, b], motions[3 + k, :, a] = arm[:, a], -arm[:, b]
        if w == 6:
            motions[3 + k, :, 3 + k] = 1.0
    motions = np.where(part.moved, motions * part.arm, 0.0).reshape(6, -1)
    size = np.sqrt([ranks.sum(v @ v) for v in motions])
    motions /= np.where(size > 0.0, size, 1.0)[:, None]
    squared, turned = np.linalg.eigh(ranks.total(motions @ motions.T))
    kept = squared > 1e-8  # bodies in a row turn about it without moving
    basis = (turned[:, kept] / np.sqrt(squared[kept])).T @ motions
    vectors = [ranks.vector(own, w, v) for v in basis]
    return ranks.PETSc.NullSpace().create(constant=False, vectors=vectors, comm=ranks.comm)
