"""The tests of ``test_backends`` with PETSc: python -m tests.linear.petsc_backend."""

import numpy as np
import scipy.sparse as sp

from rigidlimit.distributed.ranks import petsc

from .test_backends import (
    SciPySystem,
    test_equilibrium_by_another_backend,
    test_path_and_updates_by_another_backend,
)


class PetscSystem(SciPySystem):
    """``LinearSystem`` of an assembled K and MUMPS' Cholesky factor."""

    class Factor:
        route, single_precision = "petsc", False

        def __init__(self, K):
            PETSc, K = petsc(), sp.csr_array(K)
            rows = (K.indptr.astype(PETSc.IntType), K.indices.astype(PETSc.IntType), K.data)
            self.A = PETSc.Mat().createAIJ(K.shape, csr=rows)
            self.A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
            self.ksp = PETSc.KSP().create()
            self.ksp.setOperators(self.A)
            self.ksp.setType("preonly")
            self.ksp.getPC().setType("cholesky")
            self.ksp.getPC().setFactorSolverType("mumps")
            self.entries = K.nnz

        def solve(self, rhs):
            columns = rhs.reshape(len(rhs), -1)
            return np.column_stack([self._one(b) for b in columns.T]).reshape(rhs.shape)

        def _one(self, rhs):
            b, x = self.A.createVecs()
            b.setArray(rhs)
            self.ksp.solve(b, x)
            return x.array.copy()


if __name__ == "__main__":
    for exponent in (2.0, 2.5):
        for inertia in (False, True):
            test_equilibrium_by_another_backend(exponent, inertia, PetscSystem)
    test_path_and_updates_by_another_backend(PetscSystem)
