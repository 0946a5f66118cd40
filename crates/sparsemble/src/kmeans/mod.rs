//! Weighted K-Means, Eq. (13): cluster centres of samples that count as much as their masses say (§III-B1).
//!
//! The heavy step of every part is the search for the nearest of many centres (`nearest.rs`), which is the fused pass of
//! the coders; `init.rs` chooses the first centres, `lloyd.rs` improves them.

mod init;
mod lloyd;
mod nearest;
mod plus_plus;
mod screen;

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::points::Points;
use crate::rng::Draw;
use crate::scalar::Scalar;

use nearest::Nearest;

/// What the choice of the first centres counts in the progress, in iterations of Lloyd.
const CHOICE: usize = 5;

/// Weighted K-Means: min over the centres μ and the clusters M_k of Σ_k Σ_{i ∈ M_k} p(x_i) ‖x_i − μ_k‖².
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `n_clusters` | K | – | how many centres | 1 to the number of samples of positive mass |
/// | `init` | | K-Means‖ | the first centres, see [`KMeansInit`] | |
/// | `max_iterations` | | 100 | the most improvements of the centres; 0 keeps the first ones | |
/// | `tolerance` | | 10⁻⁴ | stop when the inertia falls by no more than this fraction of itself | ≥ 0 |
///
/// A cluster that loses all its mass gets the worst represented sample, of those of positive mass the one with the
/// largest ‖x_i − μ‖², for its centre; [`Clustering::reseeded`] counts these. So from given centres, masses that are
/// whole numbers are as many copies of the samples. If there are fewer different samples than clusters, some centres
/// are the same and their clusters empty.
///
/// # Shapes
/// The samples are M × T, the centres M × K.
///
/// # Cost
/// At most M·K multiply-adds for each sample and iteration, at the speed of a matrix product; about M·K/4 where a few
/// coordinates rule out most centres, as they do for patches of images. A few numbers of memory for each sample, and
/// never a copy of the samples; for the sums of an iteration, up to 64 times M·K doubles, but no more than 256 MB unless
/// four times M·K doubles are.
///
/// # Errors
/// If sizes disagree, a value is not finite, a mass is negative, a parameter is out of range, there are fewer samples of
/// positive mass than clusters, or the run was interrupted. Not converging is not an error: see
/// [`Clustering::converged`].
///
/// # Example
/// ```
/// use sparsemble::kmeans::WeightedKMeans;
/// use sparsemble::{Draw, Matrix, Run};
///
/// let samples = Matrix::from_columns(vec![0.0, 1.0, 10.0, 12.0], 1, 4)?;
/// let masses = [3.0, 1.0, 1.0, 1.0];
/// let clustering =
///     WeightedKMeans::new(2).fit(samples.view(), &masses, Draw::first(1), Run::default())?;
/// let mut centers = clustering.centers.into_vec();
/// centers.sort_by(f64::total_cmp);
/// assert_eq!(centers, [0.25, 11.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-B1, Eq. (13).
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedKMeans<T> {
    /// K.
    pub n_clusters: usize,
    /// How the first centres are chosen.
    pub init: KMeansInit<T>,
    /// The most improvements of the centres; 0 keeps the first ones.
    pub max_iterations: usize,
    /// Stop when the inertia falls by no more than this fraction of itself.
    pub tolerance: f64,
}

/// How K-Means chooses its first centres.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum KMeansInit<T> {
    /// K-Means++: one sample after the other, with a probability proportional to its mass times its squared distance
    /// to the centres so far. Each is the best of 2 + ⌊ln K⌋ draws. Needs K passes over the samples.
    PlusPlus,
    /// K-Means‖, steps (a) to (g) of §III-B1: a few passes that draw many samples each, and a K-Means++ with Lloyd's
    /// iterations on those, each with the mass of the samples it is nearest to.
    Parallel {
        /// q/K, the samples drawn in a pass for each cluster; with all passes there must be more than K.
        oversampling: f64,
        /// s, the number of passes.
        rounds: usize,
    },
    /// These, M × K.
    Given(Matrix<T>),
}

impl<T> KMeansInit<T> {
    /// K-Means‖ with q = K/2 and s = 5.
    pub fn parallel() -> Self {
        Self::Parallel { oversampling: 0.5, rounds: 5 }
    }
}

/// What K-Means found.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering<T> {
    /// μ, M × K.
    pub centers: Matrix<T>,
    /// The cluster of each sample, those of mass zero included.
    pub assignments: Vec<u32>,
    /// The value of Eq. (13), with masses that sum to one; scikit-learn's inertia is this times the sum of the masses.
    pub inertia: f64,
    /// How often the centres were improved.
    pub iterations: usize,
    /// Whether the inertia had stopped falling before the limit of iterations.
    pub converged: bool,
    /// How many centres were moved because their clusters had become empty.
    pub reseeded: usize,
}

impl<T: Scalar> Clustering<T> {
    /// The cluster of each of these samples.
    ///
    /// # Errors
    /// As [`assign`].
    pub fn assign(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Vec<u32>> {
        assign(self.centers.view(), samples, run)
    }
}

/// The nearest centre of each sample; the first among equals.
///
/// # Errors
/// If there is no centre, sizes disagree, or a value is not finite.
pub fn assign<T: Scalar>(centers: MatrixView<'_, T>, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Vec<u32>> {
    (T::instances().assign)(centers, samples, run)
}

/// [`assign`]; see [`crate::instances`].
pub(crate) fn assign_here<T: Scalar>(
    centers: MatrixView<'_, T>,
    samples: MatrixView<'_, T>,
    run: Run<'_>,
) -> Result<Vec<u32>> {
    if centers.columns() == 0 {
        return Err(Error::Empty { what: "centres", unit: "centre" });
    }
    expect_size("centres: number of features (that of the samples)", samples.rows(), centers.rows())?;
    let masses = vec![1.0; samples.columns()];
    let points = Points::new(samples, &masses, Some(centers), run.passes(0..0, 1, samples.columns()))?;
    let nearest = Nearest::new(&points.scaled(centers));
    let found = nearest.find(&points, |_| f64::INFINITY, run)?;
    Ok(found.into_iter().map(|found| found.map_or(0, |(center, _)| center as u32)).collect())
}

impl<T: Scalar> WeightedKMeans<T> {
    /// K-Means with everything else at its default.
    pub fn new(n_clusters: usize) -> Self {
        Self { n_clusters, init: KMeansInit::parallel(), max_iterations: 100, tolerance: 1e-4 }
    }

    /// Chooses the first centres and improves them by Lloyd's iterations.
    ///
    /// # Errors
    /// See [`WeightedKMeans`].
    pub fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Clustering<T>> {
        (T::instances().clusters)(self, samples, masses, draw, run)
    }

    /// [`Self::fit`]; see [`crate::instances`].
    pub(crate) fn fit_here(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Clustering<T>> {
        let passes = self.max_iterations.saturating_add(CHOICE + 2);
        let parts = [0..1, 1..1 + CHOICE, 1 + CHOICE..passes];
        let [checking, choosing, improving] = parts.map(|part| run.passes(part, passes, samples.columns()));
        let points = self.check(samples, masses, checking)?;
        let first = self.first_centers(&points, draw, choosing)?;
        let found = lloyd::improve(&points, first, (self.max_iterations, self.tolerance), improving)?;
        Ok(Clustering {
            centers: points.unscaled(&found.centers),
            inertia: points.unscaled_energy(found.inertia),
            assignments: found.assignments,
            iterations: found.iterations,
            converged: found.converged,
            reseeded: found.reseeded,
        })
    }

    /// The first centres alone, M × K.
    ///
    /// # Errors
    /// See [`WeightedKMeans`].
    pub fn initialise(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Matrix<T>> {
        (T::instances().first_centers)(self, samples, masses, draw, run)
    }

    /// [`Self::initialise`]; see [`crate::instances`].
    pub(crate) fn initialise_here(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Matrix<T>> {
        let parts = [0..1, 1..1 + CHOICE];
        let [checking, choosing] = parts.map(|part| run.passes(part, 1 + CHOICE, samples.columns()));
        let points = self.check(samples, masses, checking)?;
        Ok(points.unscaled(&self.first_centers(&points, draw, choosing)?))
    }

    fn first_centers(&self, points: &Points<'_, T>, draw: Draw, run: Run<'_>) -> Result<Matrix<T>> {
        match &self.init {
            KMeansInit::PlusPlus => plus_plus::choose(points, self.n_clusters, draw.stream("k-means++"), run),
            KMeansInit::Parallel { oversampling, rounds } => {
                let drawn = (self.n_clusters as f64 * oversampling).ceil() as usize;
                init::parallel(points, self.n_clusters, (drawn, *rounds), draw, run)
            }
            KMeansInit::Given(centers) => Ok(points.scaled(centers.view())),
        }
    }

    fn check<'a>(&self, samples: MatrixView<'a, T>, masses: &'a [f64], run: Run<'_>) -> Result<Points<'a, T>> {
        if self.n_clusters == 0 || u32::try_from(self.n_clusters).is_err() {
            return Err(Error::parameter("n_clusters", self.n_clusters, "must be between 1 and 2³² − 1"));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be zero or more, and finite"));
        }
        let mut given = None;
        match &self.init {
            KMeansInit::PlusPlus => {}
            KMeansInit::Parallel { oversampling, rounds } => {
                if !(*oversampling > 0.0 && oversampling.is_finite()) {
                    return Err(Error::parameter("oversampling", oversampling, "must be positive and finite"));
                }
                if oversampling * (*rounds as f64) < 1.0 {
                    return Err(Error::parameter("rounds", rounds, "must be at least 1 / oversampling"));
                }
            }
            KMeansInit::Given(centers) => {
                expect_size("initial centres: number of features", samples.rows(), centers.rows())?;
                expect_size("initial centres: number of clusters", self.n_clusters, centers.columns())?;
                given = Some(centers.view());
            }
        }
        let points = Points::new(samples, masses, given, run)?;
        let found = masses.iter().filter(|mass| **mass > 0.0).count();
        if found < self.n_clusters {
            let what = "clusters (samples of positive mass)";
            return Err(Error::TooFewSamples { what, needed: self.n_clusters, found });
        }
        Ok(points)
    }
}
