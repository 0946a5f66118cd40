"""The compiled half of the package; its interface may change at any time."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sparsemble._parameters import (
    ClusteringOutcome,
    ClusteringParameters,
    KMeansParameters,
    Parameters,
    Recipe,
)

__all__ = [
    "TOLERANCE",
    "Model",
    "Operator",
    "__version__",
    "address",
    "agreement",
    "assemble_patches",
    "begin",
    "cluster",
    "clustering_defaults",
    "deblur",
    "defaults",
    "denoise",
    "encode",
    "enlarge",
    "ensemble_weights",
    "extract_patches",
    "first_centers",
    "first_estimate",
    "imresize",
    "inpaint",
    "lambda_max",
    "lasso_path",
    "natural",
    "nearest_centers",
    "psnr",
    "psnr_of_all",
    "recover",
    "restore",
    "restore_linear",
    "sense",
    "simplex_weights",
    "sliding_blocks",
    "ssim",
    "train",
    "train_upscaler",
    "weighted_kmeans",
]

__version__: str

TOLERANCE: float
"""The library's default of `tol`."""

_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Samples: TypeAlias = tuple[
    _Floats, NDArray[np.uint8] | None, NDArray[np.int64] | None, NDArray[np.float64] | None
]
_Run: TypeAlias = tuple[int, Callable[[int, int], Any] | None]
_Csr: TypeAlias = tuple[_Floats, NDArray[np.signedinteger], NDArray[np.signedinteger]]
_Report: TypeAlias = tuple[bool, int, float | None, NDArray[np.uint8]]

_Reals: TypeAlias = NDArray[np.float64]
_Training: TypeAlias = tuple[_Floats, _Reals | None, _Floats | str | None, _Floats | None]
_Steps: TypeAlias = tuple[Callable[[int, int, float | None], Any] | None, PathLike[str] | None, bool]
_Outcome: TypeAlias = tuple[bool, int, _Reals]
_Weighed: TypeAlias = tuple[_Floats, _Floats, _Reals | None]
_Certificate: TypeAlias = tuple[bool, list[_Reals]]

def encode(samples: _Samples, dictionary: _Floats, parameters: Parameters, run: _Run) -> tuple[_Csr, _Report]:
    """Code the rows of `samples[0]`; X and dictionary have the same dtype."""

def lambda_max(samples: _Samples, dictionary: _Floats, run: _Run) -> NDArray[np.float64]:
    """Find the smallest λ that gives each row the zero code."""

def lasso_path(
    sample: _Reals, dictionary: _Reals, end: tuple[str, float], positive: bool, most: int
) -> tuple[_Reals, _Reals]:
    """Find λ and the code of the one row of `sample` at all corners of its path, one a row."""

def cluster(samples: _Floats, parameters: ClusteringParameters, run: _Run) -> ClusteringOutcome:
    """Cluster the rows of X."""

def clustering_defaults(method: str) -> dict[str, Any]:
    """Give the defaults of a method by the names of the estimators."""

def weighted_kmeans(
    samples: _Floats, masses: _Reals, parameters: KMeansParameters, run: _Run
) -> tuple[_Floats, NDArray[np.int32], float, int, bool]:
    """Find centres, the label of each row, inertia, iterations, and whether it converged."""

def first_centers(samples: _Floats, masses: _Reals, parameters: KMeansParameters, run: _Run) -> _Floats:
    """Choose the centres that the clustering with these parameters begins with."""

def nearest_centers(centers: _Floats, samples: _Floats, run: _Run) -> NDArray[np.int32]:
    """Find the nearest centre of each row; both have the same dtype."""

def agreement(classes: NDArray[np.int64], clusters: NDArray[np.int64]) -> tuple[float, float, float]:
    """Give accuracy, NMI and ARI of two labels for each sample."""

def psnr(reference: _Reals, image: _Reals, counted: tuple[int, bool]) -> float:
    """Compare pictures in planes, without so many pixels at each border, or only their brightness."""

def psnr_of_all(pair: tuple[NDArray[np.uint8], NDArray[np.uint8]] | tuple[_Reals, _Reals]) -> float:
    """Compare all samples of two pictures as they lie."""

def ssim(reference: _Reals, image: _Reals, counted: tuple[int, bool], run: _Run) -> list[float]:
    """Compare each pair of planes."""

def imresize(planes: _Reals, target: float | tuple[int, int], lanczos: bool, run: _Run) -> _Reals:
    """Give the planes by a factor larger, or in a height and width."""

def extract_patches(planes: _Reals, cut: tuple[int, int], single: bool) -> list[_Floats]:
    """Cut each plane into patches of a side at a stride, one a row."""

def sliding_blocks(picture: _Floats, block: tuple[int, int]) -> _Floats:
    """Cut all blocks of a height and width out of a picture whose columns are rows, one a row."""

def assemble_patches(patches: _Floats, place: tuple[int, int, int, int]) -> _Reals:
    """Put a plane together by height, width, side and stride."""

@final
class Operator:
    """Φ for samples, `shape` being `[n_features]`, or pictures, `shape` being `[height, width]`."""

    def __new__(cls, text: str, shape: list[int], block_side: int, is_single: bool) -> Operator:
        """Build Φ from its text."""

    @staticmethod
    def of_matrix(matrix: _Reals, shape: list[int], is_single: bool) -> Operator:
        """Build Φ from a matrix of samples, pictures or blocks of them."""

    @staticmethod
    def of_mask(seen: NDArray[np.uint8], is_single: bool) -> Operator:
        """Build a mask: a byte for each feature, 0 is missing."""

    @staticmethod
    def of_kernel(kernel: _Reals, shape: tuple[int, int], decimate: int, is_single: bool) -> Operator:
        """Build a blur from its kernel."""

    def apply(self, rows: _Floats) -> _Floats:
        """Give Φ of each row."""

    def adjoint(self, rows: _Floats) -> _Floats:
        """Give Φᵀ of each row."""

    @property
    def text(self) -> str | None:
        """The text, without what is a default, if it was built from one."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of measurements and features."""

    @property
    def measured(self) -> tuple[int, int] | None:
        """Height and width of what is measured, if it is a picture."""

@final
class Model:
    """A trained model. It never changes; files and pickles hold its bits."""

    def __new__(cls, bytes: bytes, is_single: bool) -> Model:
        """Read the bytes of a model file."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """Read a model file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write a model file."""

    def transform(self, samples: _Floats, run: _Run) -> tuple[_Csr, _Report]:
        """Code the rows of X, which have the dtype of the model."""

    def approximate(self, samples: _Floats, run: _Run) -> tuple[_Floats, _Reals | None, int]:
        """Give approximations, their spread if members can differ, and how many samples did not converge."""

    def reconstruct(
        self, codes: tuple[_Floats, NDArray[np.uint32], NDArray[np.uint64]], run: _Run
    ) -> _Floats:
        """Give approximations from the data, indices and indptr of codes."""

    def partial_fit(self, samples: _Floats, masses: _Reals | None, run: _Run) -> Model:
        """Return the model after one more mini-batch."""

    def degraded_by(self, phi: _Floats | str) -> Model:
        """Return the model for samples seen through Φ, a matrix or a text."""

    def with_beta(self, beta: list[float]) -> Model:
        """Return the same members with other weights."""

    def atoms(self) -> _Floats:
        """Give all atoms, one a row."""

    @property
    def members(self) -> list[list[int]]:
        """How many atoms each member has, level by level; empty for a single dictionary."""

    @property
    def beta(self) -> list[_Reals]:
        """β of each level; empty for a single dictionary."""

    @property
    def curve(self) -> dict[str, NDArray[Any]]:
        """The rounds of boosting: arrays by name."""

    @property
    def objective(self) -> _Reals:
        """The objective or error after each iteration or level."""

    @property
    def coder(self) -> Any:
        """The parameters of the coder that were given, if there is one."""

    @property
    def provenance(self) -> dict[str, str]:
        """Method, learner, seed, data, Φ and parameters of the training."""

    @property
    def phi(self) -> _Floats | str | None:
        """Φ of the training, a text or a matrix."""

    @property
    def kind(self) -> str:
        """`dictionary`, `online`, `ensemble` or `multilevel`."""

    @property
    def is_single(self) -> bool:
        """Whether the numbers are float32."""

    @property
    def is_complete(self) -> bool:
        """Whether the training has ended."""

    @property
    def n_inputs(self) -> int:
        """The length of what is coded."""

    @property
    def n_features(self) -> int:
        """The length of an approximation."""

    @property
    def n_atoms(self) -> int:
        """The length of a code."""

def train(set: _Training, parameters: Recipe, steps: _Steps, run: _Run) -> tuple[Model, _Outcome]:
    """Train on X, sample_weight, phi and dict_init; tell converged, unconverged samples and atom usage."""

def begin(set: _Training, parameters: Recipe, run: _Run) -> Model:
    """Return a model that has seen nothing yet and goes on learning."""

def defaults(method: str) -> dict[str, Any]:
    """Tell the defaults of a method, by the names of the estimators."""

def ensemble_weights(
    model: Model, arrays: _Weighed, kind: tuple[str, bool], run: _Run
) -> tuple[_Reals, _Certificate]:
    """Find the best weights under `(constraint, per_sample)`, with the fields of `EnsembleWeights`."""

def simplex_weights(samples: _Floats, points: _Floats, run: _Run) -> _Csr:
    """Find the weights, of sum one and not negative, of the rows of points that are best for each row."""

_Planes: TypeAlias = NDArray[np.float64]
_Restored: TypeAlias = tuple[_Planes, _Planes]

def denoise(planes: _Planes, noise: float, run: _Run) -> _Restored:
    """Take noise out of planes `(n_planes, height, width)`; return them and the deviation of each pixel."""

def inpaint(planes: _Planes, seen: NDArray[np.uint8], noise: float, run: _Run) -> _Restored:
    """Fill in the pixels whose byte in `seen` is 0."""

def deblur(planes: _Planes, kernel: float | _Reals, noise: float, run: _Run) -> _Restored:
    """Undo a Gaussian blur of this deviation, or that of a kernel."""

def sense(planes: _Planes, phi: _Reals) -> _Reals:
    """Measure the blocks of planes: `(n_planes, n_blocks, n_measurements)`."""

def recover(
    measured: tuple[_Reals, _Reals | None], phi: _Reals, shape: tuple[int, ...], noise: float, run: _Run
) -> _Restored:
    """Recover planes of this height and width from the measurements and means of their blocks."""

def first_estimate(
    measured: tuple[_Reals, _Reals | None], phi: _Reals, shape: tuple[int, ...], noise: float, run: _Run
) -> _Planes:
    """Recover the same planes, every block on its own."""

def restore(
    measurements: _Reals, operator: Operator, shape: tuple[int, int], noise: float, run: _Run
) -> _Restored:
    """Restore a plane from each row, seen through an operator."""

def restore_linear(
    measurements: _Reals,
    ways: tuple[Callable[[_Reals], Any], Callable[[_Reals], Any]],
    shape: tuple[int, int],
    noise: float,
    run: _Run,
) -> _Restored:
    """Restore a plane from each row, seen through functions for Φ and its adjoint."""

def natural(scale: int) -> Model:
    """Return the upscaler of this scale that is part of the library."""

def enlarge(planes: _Planes, method: Model | str, shape: tuple[int, int], run: _Run) -> _Restored:
    """Enlarge planes, the last of two or four of them alpha, to a height and width."""

def train_upscaler(pictures: list[_Reals], settings: tuple[int, int, int, int], run: _Run) -> Model:
    """Learn an upscaler by `(scale, atoms, members, seed)`, 0 for the default."""

def address(array: _Floats) -> int:
    """Tell where the library reads `array`: in place, or in a copy."""
