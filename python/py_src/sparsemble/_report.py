"""What a coder has to say about its codes: the report, and the warnings made from it."""

import warnings
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sparsemble import _native
from sparsemble._validation import Samples

if TYPE_CHECKING:
    from sparsemble._parameters import Parameters


class SampleStatus(IntEnum):
    """How the coding of one sample ended; the values of `CodingReport.status`."""

    CONVERGED = 0
    """It reached the tolerance, the number of atoms or the error that was asked for."""
    ITERATION_LIMIT = 1
    """It ran into `max_iter` first; the code is the best one found."""
    PRECISION_LIMIT = 2
    """Rounding in this dtype allows no smaller gap; the code is the best one found."""
    UNREACHABLE = 3
    """The dictionary cannot reach the error that was asked for; the code is the best one found."""


@dataclass(frozen=True)
class CodingReport:
    """How a batch was coded.

    Attributes
    ----------
    converged : bool
        Whether every sample reached what was asked for.
    iterations : int
        The most iterations any sample needed: passes over the dictionary, or atoms for the greedy methods.
    worst_gap : float or None
        The largest duality gap as a fraction of the sample's energy ‖x‖²; None for methods without one.
    status : ndarray of uint8 of shape (n_samples,)
        A `SampleStatus` for each sample; 0 is converged.
    """

    converged: bool
    iterations: int
    worst_gap: float | None
    status: NDArray[np.uint8]


def warn_of_shortfall(
    report: CodingReport, parameters: "Parameters", dtype: np.dtype[Any], prefix: str = ""
) -> None:
    """Say once how many samples fell short, by how much, and what would help.

    `prefix` is what the caller puts before the names of the coder's parameters.
    """
    max_error = parameters.get("max_error")
    help_for = {
        SampleStatus.ITERATION_LIMIT: f"ran out of iterations (raise {prefix}max_iter)",
        SampleStatus.PRECISION_LIMIT: f"reached the precision of {dtype} (raise {prefix}tol or use float64)",
        SampleStatus.UNREACHABLE: f"cannot reach max_error={max_error} (raise it or add atoms)",
    }
    counts = {status: np.count_nonzero(report.status == status) for status in help_for}
    reasons = ", ".join(f"{count} {help_for[status]}" for status, count in counts.items() if count)
    message = f"{sum(counts.values())} of {len(report.status)} samples did not converge: {reasons}"
    if report.worst_gap is not None:
        tol = f"{prefix}tol is {parameters['tol']:.1e}"
        message += f"; the worst duality gap is {report.worst_gap:.1e} of ‖x‖², {tol}"
    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def help_for_codes(coder: "Parameters") -> str:
    """Say what brings the codes of a model to what is asked of them."""
    limited = coder.get("max_error") is not None
    return "raise max_error or n_components" if limited else "raise coder_max_iter or coder_tol"


def warn_of_zeros(samples: Samples, dictionary: NDArray[Any], parameters: "Parameters") -> None:
    """Say once that the penalty left nothing, unless the samples leave no other code."""
    largest = _native.lambda_max(samples, dictionary, (1, None)).max(initial=0.0)
    if largest == 0.0:
        return
    message = f"every code is zero: relax {limits_of(parameters)}"
    warnings.warn(
        f"{message}; the largest lambda_max of the samples is {largest:.4g}", UserWarning, stacklevel=3
    )


def limits_of(parameters: "Parameters") -> str:
    """Name what keeps codes small, as it was given."""
    limits = ("lam", "relative_lam", "max_error", "max_l1_norm", "min_gain", "positive")
    return ", ".join(f"{name}={value}" for name, value in parameters.items() if name in limits and value)
