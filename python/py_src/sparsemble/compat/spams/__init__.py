"""SPAMS's functions by their names, arguments and array layout, computed by this package.

``import sparsemble.compat.spams as spams`` runs code that was written for SPAMS. Signals and atoms are
columns: `X` is m × n, `D` is m × p, codes are a SciPy CSC matrix, p × n. Arrays may be in C or Fortran order,
in single or double precision, or whole numbers. λ has SPAMS's ½: the lasso is ½‖x − Da‖² + λ₁‖a‖₁.

What this package does not have raises `NotImplementedError` and names an alternative: nothing is passed over.
Options that only choose between ways to the same answer (`cholesky`, `computeXtX`, `verbose`) have no effect.
Where SPAMS stops short, the codes here are nearer to the minimum: it never uses more than min(m, p) atoms.
"""

from sparsemble.compat.spams._arguments import L1COEFFS, L2ERROR, L2ERROR2, PENALTY, PENALTY2, SPARSITY
from sparsemble.compat.spams._blocks import im2col_sliding
from sparsemble.compat.spams._lasso import lasso, lassoMask, lassoWeighted
from sparsemble.compat.spams._learning import trainDL, trainDL_Memory
from sparsemble.compat.spams._pursuit import omp, ompMask
from sparsemble.compat.spams._simplex import decompSimplex

__all__ = [
    "L1COEFFS",
    "L2ERROR",
    "L2ERROR2",
    "PENALTY",
    "PENALTY2",
    "SPARSITY",
    "decompSimplex",
    "im2col_sliding",
    "lasso",
    "lassoMask",
    "lassoWeighted",
    "omp",
    "ompMask",
    "trainDL",
    "trainDL_Memory",
]
