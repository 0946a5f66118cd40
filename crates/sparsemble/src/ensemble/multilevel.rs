//! Learning level by level, each level from what the ones before it left over: MLD and Ex-MLD (§IV-A1).

mod descent;
mod dictionary;
mod level;

pub use descent::Descent;
pub use dictionary::MultilevelDictionary;
pub use level::Coefficients;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::Averaging;

/// Learns a [`MultilevelDictionary`]: the dictionaries of the first level from the samples, those of each later one from
/// the residuals of 1-sparse coding with the levels before it.
///
/// Every level is an [`Averaging`] of dictionaries of its own. Its learner and its number of models make the method:
///
/// | method | `level.learner` | `level.n_models` |
/// | --- | --- | --- |
/// | MLD | [`Hyperlines`](crate::dictionary::Hyperlines) | 1 |
/// | Ex-MLD | [`Examples`](crate::dictionary::Examples) | 50 in the paper |
///
/// | field | symbol | default | purpose | range | paper's value |
/// | --- | --- | --- | --- | --- | --- |
/// | `level` | | – | makes the dictionaries of a level, with the seed and the masses of all | | 16 atoms |
/// | `n_levels` | | 16 | how many levels at most | ≥ 1 | 16 |
///
/// Learning ends early when too few samples have a residual left to learn from. A residual of no more than rounding
/// counts as none.
///
/// # Shapes
/// Samples M × T; each level holds L dictionaries M × K.
///
/// # Cost
/// For each level L calls of the learner and L·K·M multiply-adds a sample. The residuals are kept: M × T in the type of
/// the samples, like the approximations of [`Boosting`](super::Boosting).
///
/// # Errors
/// Those of the learner at the first level; if there is to be no level or no model, or an energy is not a finite number.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::{Averaging, Multilevel};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(8, 200, |r, c| ((r * r + 3 * c) as f64).sin() + ((r * c) as f64).cos());
/// let examples = Examples { n_atoms: 4 };
/// let level = Averaging { n_models: 10, seed: 1, ..Averaging::new(&examples) };
/// let dictionary = Multilevel { n_levels: 5, ..Multilevel::new(level) }.fit(samples.view(), Run::default())?;
///
/// let approximations = dictionary.approximate(samples.view(), Run::default())?;
/// assert_eq!(approximations.values.columns(), 200);
/// // The mean energy of the residuals falls from level to level.
/// assert!(dictionary.errors().windows(2).all(|pair| pair[1] <= pair[0]));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A1.
#[doc(alias = "MLD")]
#[doc(alias = "Ex-MLD")]
#[derive(Clone)]
pub struct Multilevel<'a, T> {
    /// Makes the dictionaries of a level.
    pub level: Averaging<'a, T>,
    /// How many levels at most.
    pub n_levels: usize,
}

impl<'a, T: Scalar> Multilevel<'a, T> {
    /// Sixteen levels of this kind.
    pub fn new(level: Averaging<'a, T>) -> Self {
        Self { level, n_levels: 16 }
    }

    /// Learns all levels.
    ///
    /// # Errors
    /// See [`Multilevel`].
    pub fn fit(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<MultilevelDictionary<T>> {
        let mut descent = self.start(samples, run.silent())?;
        let part = |level: usize| run.passes(level..level + 1, self.n_levels, samples.columns());
        while descent.step(part(descent.n_levels()))?.is_some() {}
        descent.dictionary()
    }

    /// The state before the first level.
    ///
    /// # Errors
    /// If there is to be no level, there is no sample or a value is not finite.
    pub fn start<'b>(&'b self, samples: MatrixView<'b, T>, run: Run<'_>) -> Result<Descent<'b, T>> {
        Descent::new(self, samples, run)
    }

    /// The state after the levels of this dictionary, which left these [`residuals`](Descent::residuals): it goes on to the
    /// same bits as if it had never been left.
    ///
    /// # Cost
    /// The samples are looked at once; nothing is learned, and nothing is coded.
    ///
    /// # Errors
    /// See [`Multilevel`]; also if there are more levels than asked for, or they do not fit the samples.
    pub fn resume<'b>(
        &'b self,
        samples: MatrixView<'b, T>,
        so_far: &MultilevelDictionary<T>,
        residuals: Matrix<T>,
        run: Run<'_>,
    ) -> Result<Descent<'b, T>> {
        if so_far.n_levels() > self.n_levels {
            return Err(Error::parameter("n_levels", self.n_levels, "is less than the levels there already are"));
        }
        Descent::after(self, samples, so_far, residuals, run)
    }

    fn method(&self) -> String {
        match self.level.learner.name() {
            "lines" => "mld".into(),
            name => format!("{name}-mld"),
        }
    }
}
