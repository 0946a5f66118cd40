//! Cluster centres as atoms: what BoostKM learns (§III-B1).

use std::fmt::{Display, Formatter};

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::kmeans::{KMeansInit, WeightedKMeans};
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;
use crate::spec::{unless, write};

use super::{Dictionary, Examples, WeakLearner};

/// The normalised centres of a weighted K-Means.
///
/// | field | symbol | default | purpose | paper's value |
/// | --- | --- | --- | --- | --- |
/// | `n_atoms` | K | – | how many centres | 256, 1024, 2048 |
/// | `oversampling` | q/K | 0.5 | samples drawn in a pass of K-Means‖, for each atom | not stated |
/// | `rounds` | s | 5 | passes of K-Means‖ | not stated |
/// | `iterations` | | 0 | the most Lloyd iterations after it | 0 |
///
/// A centre of zero norm has no direction; an example drawn by mass takes its place.
///
/// # Shapes
/// The samples are M × T, the dictionary M × K.
///
/// # Cost
/// About s·q·M multiply-adds a sample for K-Means‖ and K·M for each iteration, at the speed of a matrix product.
///
/// # Errors
/// See [`WeakLearner::fit`]; also if `oversampling · rounds` is below 1.
///
/// # Example
/// ```
/// use sparsemble::dictionary::{Centers, WeakLearner};
/// use sparsemble::{Draw, Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 50, |r, c| ((r + 1) * (c + 2)) as f32 % 7.0 + 1.0);
/// let dictionary = Centers::new(6).fit(samples.view(), &[1.0; 50], Draw::first(1), Run::default())?;
/// assert_eq!(dictionary.n_atoms(), 6);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-B1 (BoostKM), Eq. (13).
#[doc(alias = "BoostKM")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centers {
    /// K.
    pub n_atoms: usize,
    /// q/K, the samples K-Means‖ draws in a pass for each atom.
    pub oversampling: f64,
    /// s, the passes of K-Means‖.
    pub rounds: usize,
    /// The most Lloyd iterations after it.
    pub iterations: usize,
}

impl Centers {
    /// The centres of K-Means‖ alone, as in the paper.
    pub fn new(n_atoms: usize) -> Self {
        Self { n_atoms, oversampling: 0.5, rounds: 5, iterations: 0 }
    }
}

impl Display for Centers {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let default = Self::new(self.n_atoms);
        let settings = [
            Some(format!("n_atoms={}", self.n_atoms)),
            unless(&default.oversampling, "oversampling", &self.oversampling),
            unless(&default.rounds, "rounds", &self.rounds),
            unless(&default.iterations, "iterations", &self.iterations),
        ];
        write(f, "centers", settings)
    }
}

impl<T: Scalar> WeakLearner<T> for Centers {
    fn name(&self) -> &'static str {
        "km"
    }

    fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>> {
        if self.n_atoms == 0 {
            return Err(Error::parameter("n_atoms", 0, "must be at least 1"));
        }
        let kmeans = WeightedKMeans {
            init: KMeansInit::Parallel { oversampling: self.oversampling, rounds: self.rounds },
            max_iterations: self.iterations,
            ..WeightedKMeans::new(self.n_atoms)
        };
        let centers = match self.iterations {
            0 => kmeans.initialise(samples, masses, draw, run),
            _ => kmeans.fit(samples, masses, draw, run).map(|clustering| clustering.centers),
        };
        let mut centers = centers.map_err(in_atoms)?;
        let zeros = zero_columns(&centers);
        if !zeros.is_empty() {
            let run = run.passes(1..1, 1, samples.columns());
            let examples = Examples { n_atoms: zeros.len() }.fit(samples, masses, draw, run)?;
            for (j, zero) in zeros.into_iter().enumerate() {
                centers.column_mut(zero).copy_from_slice(examples.atoms().column(j));
            }
        }
        Dictionary::new(centers)
    }
}

/// The caller asked for atoms and has not heard of clusters.
fn in_atoms(error: Error) -> Error {
    match error {
        Error::TooFewSamples { needed, found, .. } => {
            Error::TooFewSamples { what: "atoms (samples of positive mass)", needed, found }
        }
        other => other,
    }
}

fn zero_columns<T: Scalar>(matrix: &Matrix<T>) -> Vec<usize> {
    let is_zero = |j: &usize| !matrix.column(*j).iter().any(|value| value.abs() > T::ZERO);
    (0..matrix.columns()).filter(is_zero).collect()
}
