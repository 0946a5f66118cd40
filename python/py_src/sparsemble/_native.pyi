"""The compiled half of the package; its interface may change at any time.

Written by `cargo xtask stubs` from `python/src`; do not edit.
"""

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
    RecipeParameters,
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
    "recover_blocks",
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

TOLERANCE: float
__version__: str

_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Progress: TypeAlias = Callable[[int, int], Any]
_RunOptions: TypeAlias = tuple[int, _Progress | None]
_ByName: TypeAlias = dict[str, Any]
_Truths: TypeAlias = NDArray[np.uint8]
_Reals: TypeAlias = NDArray[np.float64]
_SampleArrays: TypeAlias = tuple[_Floats, _Truths | None, NDArray[np.int64] | None, _Reals | None]
_Indices: TypeAlias = NDArray[np.signedinteger]
_Csr: TypeAlias = tuple[_Floats, _Indices, _Indices]
_Report: TypeAlias = tuple[bool, int, float | None, NDArray[np.uint8]]
_Target: TypeAlias = float | tuple[int, int]
_Found: TypeAlias = tuple[_Floats, NDArray[np.int32], float, int, bool]
_Pair: TypeAlias = (
    tuple[NDArray[np.uint8], NDArray[np.uint8]] | tuple[NDArray[np.float64], NDArray[np.float64]]
)
_Approximated: TypeAlias = tuple[_Floats, NDArray[np.float64] | None, int]
_CodeArrays: TypeAlias = tuple[_Floats, NDArray[np.uint32], NDArray[np.uint64]]
_Phi: TypeAlias = str | _Floats
_Curve: TypeAlias = dict[str, NDArray[Any]]
_GivenCoder: TypeAlias = Any
_Provenance: TypeAlias = dict[str, str]
_GivenPhi: TypeAlias = NDArray[np.float32] | NDArray[np.float64] | str
_Grid: TypeAlias = tuple[int, int, int, int]
_TrainingArrays: TypeAlias = tuple[_Floats, NDArray[np.float64] | None, _Phi | None, _Floats | None]
_Callback: TypeAlias = Callable[[int, int, float | None], Any]
_Steps: TypeAlias = tuple[_Callback | None, str | PathLike[str] | None, bool]
_Outcome: TypeAlias = tuple[bool, int, NDArray[np.float64]]
_Kernel: TypeAlias = float | _Reals
_RestoredPlanes: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
_BlocksAndMeans: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64] | None]
_NoiseAndGaussians: TypeAlias = tuple[float, Model | None]
_BlockPlanes: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64] | None]
_Way: TypeAlias = Callable[[NDArray[np.float64]], Any]
_Method: TypeAlias = Model | str
_WeighedArrays: TypeAlias = tuple[_Floats, _Floats, NDArray[np.float64] | None]
_Certificates: TypeAlias = tuple[bool, list[NDArray[np.float64]]]

def address(array: _Floats) -> int:
    """The address the library reads for `array`."""

def cluster(
    samples: _Floats, masses: NDArray[np.float64] | None, parameters: ClusteringParameters, run: _RunOptions
) -> ClusteringOutcome:
    """Clusters the rows of X, which count as much as their masses say, all alike without them."""

def clustering_defaults(method: str) -> _ByName:
    """The defaults of a method, by the names of the estimators."""

def encode(
    samples: _SampleArrays, dictionary: _Floats, parameters: Parameters, run: _RunOptions
) -> tuple[_Csr, _Report]:
    """Codes the rows of X in the rows of the dictionary."""

def lambda_max(samples: _SampleArrays, dictionary: _Floats, run: _RunOptions) -> NDArray[np.float64]:
    """The smallest λ that gives each row of X the zero code."""

def lasso_path(
    sample: _Reals, dictionary: _Reals, end: tuple[str, float, int], positive: bool, run: _RunOptions
) -> tuple[NDArray[np.float64], _Reals]:
    """The corners of the lasso of the one row of X."""

@final
class Operator:
    """Φ built for samples or pictures."""

    def __new__(cls, text: str, shape: list[int], block_side: int, is_single: bool) -> Operator:
        """Φ for samples, `shape` being `[n_features]`, or for pictures, `shape` being `[height, width]`."""

    @staticmethod
    def of_matrix(matrix: _Reals, shape: list[int], is_single: bool) -> Operator:
        """Φ as a matrix, a measurement a row."""

    @staticmethod
    def of_mask(seen: NDArray[np.uint8], is_single: bool) -> Operator:
        """Φ that keeps the features whose byte is not 0."""

    @staticmethod
    def of_kernel(kernel: _Reals, shape: tuple[int, int], decimate: int, is_single: bool) -> Operator:
        """Φ that blurs pictures of this height and width, of which every so many pixels one is kept."""

    def apply(self, rows: _Floats) -> _Floats:
        """Φ of each row."""

    def adjoint(self, rows: _Floats) -> _Floats:
        """Φᵀ of each row."""

    @property
    def text(self) -> str | None:
        """The text it was built from, without what is a default."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of measurements and features."""

    @property
    def measured(self) -> tuple[int, int] | None:
        """Height and width of what is measured, if it is a picture."""

def imresize(
    planes: NDArray[np.float64], target: _Target, lanczos: bool, run: _RunOptions
) -> NDArray[np.float64]:
    """The planes in another size, by the definition of MATLAB's `imresize`."""

def first_centers(
    samples: _Floats, masses: NDArray[np.float64], parameters: KMeansParameters, run: _RunOptions
) -> _Floats:
    """The first centres alone, which the clustering with the same parameters would begin with."""

def nearest_centers(centers: _Floats, samples: _Floats, run: _RunOptions) -> NDArray[np.int32]:
    """The nearest centre of each row of X."""

def weighted_kmeans(
    samples: _Floats, masses: NDArray[np.float64], parameters: KMeansParameters, run: _RunOptions
) -> _Found:
    """Clusters the rows of X, which count as much as their masses say."""

def agreement(classes: NDArray[np.int64], clusters: NDArray[np.int64]) -> tuple[float, float, float]:
    """`(accuracy, nmi, ari)` of two labels for each sample."""

def psnr(reference: NDArray[np.float64], image: NDArray[np.float64], counted: tuple[int, bool]) -> float:
    """The PSNR of two pictures in planes, from the mean of all squared differences."""

def psnr_of_all(pair: _Pair) -> float:
    """The PSNR of two pictures, all of both, in `uint8` or `float64`."""

def ssim(
    reference: NDArray[np.float64], image: NDArray[np.float64], counted: tuple[int, bool], run: _RunOptions
) -> list[float]:
    """The SSIM of each pair of planes."""

@final
class Model:
    """A trained model."""

    def __new__(cls, bytes: bytes, is_single: bool) -> Model:
        """The model in the bytes of a file."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """Reads a model file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a model file."""

    def transform(self, samples: _Floats, run: _RunOptions) -> tuple[_Csr, _Report]:
        """Codes the rows of X, which have the dtype of the model."""

    def approximate(self, samples: _Floats, run: _RunOptions) -> _Approximated:
        """Approximates the rows of X."""

    def reconstruct(self, codes: _CodeArrays, run: _RunOptions) -> _Floats:
        """Approximations from the arrays of a CSR matrix of codes."""

    def partial_fit(self, samples: _Floats, masses: NDArray[np.float64] | None, run: _RunOptions) -> Model:
        """The model after one more mini-batch, which has the dtype of the model."""

    def fit_batches(self, samples: _Floats, batches: list[NDArray[np.int64]], run: _RunOptions) -> Model:
        """The model after one mini-batch after another, each of these rows of the samples."""

    def degraded_by(self, phi: _Phi) -> Model:
        """The model for samples seen through `phi`."""

    def with_beta(self, beta: list[float]) -> Model:
        """The same members with other weights."""

    def atoms(self) -> _Floats:
        """All atoms, one a row."""

    @property
    def members(self) -> list[list[int]]:
        """How many atoms each member has, level by level."""

    @property
    def beta(self) -> list[NDArray[np.float64]]:
        """β of each level."""

    @property
    def curve(self) -> _Curve:
        """The rounds of boosting."""

    @property
    def objective(self) -> NDArray[np.float64]:
        """The objective or error after each iteration or level."""

    @property
    def coder(self) -> _GivenCoder | None:
        """The parameters of the coder, by the names of `sparse_encode`."""

    @property
    def provenance(self) -> _Provenance:
        """Method, learner, seed, data and parameters of the training, as text by name."""

    @property
    def phi(self) -> _GivenPhi | None:
        """Φ of the training, if there was one."""

    @property
    def kind(self) -> str:
        """`dictionary`, `online`, `ensemble`, `multilevel`, `gaussians` or `upscaler`."""

    @property
    def is_single(self) -> bool:
        """Whether the numbers are `float32`."""

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

def assemble_patches(patches: _Floats, place: _Grid) -> NDArray[np.float64]:
    """The plane of these patches, the mean where they overlap."""

def extract_patches(planes: NDArray[np.float64], cut: tuple[int, int], single: bool) -> list[_Floats]:
    """The patches of each plane, `(side, stride)`, one a row, in `float32` if asked for."""

def sliding_blocks(picture: _Floats, block: tuple[int, int]) -> _Floats:
    """All blocks of `(height, width)` of a picture, whose columns are the rows of the array."""

def begin(set: _TrainingArrays, parameters: RecipeParameters, run: _RunOptions) -> Model:
    """A learner that has seen nothing yet."""

def defaults(method: str) -> _ByName:
    """The defaults of a method, by the names of the estimators."""

def train(
    set: _TrainingArrays, parameters: RecipeParameters, steps: _Steps, run: _RunOptions
) -> tuple[Model, _Outcome]:
    """Trains a model."""

def deblur(planes: NDArray[np.float64], kernel: _Kernel, noise: float, run: _RunOptions) -> _RestoredPlanes:
    """Undoes the blur of each plane."""

def denoise(planes: NDArray[np.float64], noise: float, run: _RunOptions) -> _RestoredPlanes:
    """Takes noise out of each plane."""

def first_estimate(
    measured: _BlocksAndMeans,
    phi: _Reals,
    shape: tuple[int, int],
    known: _NoiseAndGaussians,
    run: _RunOptions,
) -> NDArray[np.float64]:
    """The same picture with every block on its own."""

def inpaint(
    planes: NDArray[np.float64], seen: NDArray[np.uint8], noise: float, run: _RunOptions
) -> _RestoredPlanes:
    """Fills in the pixels of each plane that are not seen."""

def recover(
    measured: _BlocksAndMeans,
    phi: _Reals,
    shape: tuple[int, int],
    known: _NoiseAndGaussians,
    run: _RunOptions,
) -> _RestoredPlanes:
    """A picture of this height and width from the measurements of its blocks."""

def recover_blocks(
    measured: _BlocksAndMeans,
    phi: _Reals,
    shape: tuple[int, int],
    known: tuple[float, Model],
    run: _RunOptions,
) -> _BlockPlanes:
    """The same picture with every block on its own, by any model of blocks."""

def restore(
    measurements: _Reals, operator: Operator, shape: tuple[int, int], noise: float, run: _RunOptions
) -> _RestoredPlanes:
    """Pictures of this height and width from what an operator has left of them, one a row."""

def restore_linear(
    measurements: _Reals, ways: tuple[_Way, _Way], shape: tuple[int, int], noise: float, run: _RunOptions
) -> _RestoredPlanes:
    """The same for any linear map, by functions of vectors for it and its adjoint."""

def sense(planes: NDArray[np.float64], phi: _Reals) -> NDArray[np.float64]:
    """The measurements of each plane, `(n_planes, n_blocks, n_measurements)`."""

def enlarge(
    planes: NDArray[np.float64], method: _Method, shape: tuple[int, int], run: _RunOptions
) -> _RestoredPlanes:
    """Enlarges the planes of a picture to a height and width."""

def natural(scale: int) -> Model:
    """The upscaler of this scale that is part of the library."""

def train_upscaler(
    pictures: list[NDArray[np.float64]], settings: tuple[int, int, int, int], run: _RunOptions
) -> Model:
    """Learns an upscaler from the brightness of pictures."""

def ensemble_weights(
    model: Model, arrays: _WeighedArrays, kind: tuple[str, bool], run: _RunOptions
) -> tuple[_Reals, _Certificates]:
    """The best weights of each sample, one row a sample, or those that are the same for all."""

def simplex_weights(samples: _Floats, points: _Floats, run: _RunOptions) -> _Csr:
    """The best weights, of sum one and not negative, of the rows of `points` for each row of X."""
