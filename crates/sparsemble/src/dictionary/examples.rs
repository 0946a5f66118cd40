//! Samples as atoms: what RandExAv and BoostEx learn (§III-A, §III-B2).

use std::fmt::{Display, Formatter};

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::masses::{Masses, check_part};
use crate::matrix::{Matrix, MatrixView};
use crate::rng::{Draw, RowNumbers};
use crate::sampling::Race;
use crate::scalar::Scalar;
use crate::spec::write;

use super::{Dictionary, WeakLearner};

/// Draws K samples by their masses, none twice, and normalises them.
///
/// The draws are exact: each takes one of the samples that are left, with a probability proportional to its mass. With
/// equal masses that is the dictionary of RandExAv, with residual energies as masses that of BoostEx.
///
/// | field | symbol | purpose | range |
/// | --- | --- | --- | --- |
/// | `n_atoms` | K | how many samples to draw | 1 to the number of samples of positive mass and norm |
///
/// A sample's chance is decided by its own random number, which depends on the seed, the round and the sample's row
/// alone. So the same examples are drawn whatever parts the samples come in: see [`Examples::select`].
///
/// # Shapes
/// The samples are M × T, the dictionary M × K, its atoms in the order they were drawn. Its
/// [`sources`](Dictionary::sources) are their columns.
///
/// # Cost
/// One pass over the samples, and a logarithm for those that may be among the first; memory for 2K of them.
///
/// # Errors
/// See [`WeakLearner::fit`]. A sample of zero norm cannot be an atom and is never drawn.
///
/// # Example
/// ```
/// use sparsemble::dictionary::{Examples, WeakLearner};
/// use sparsemble::{Draw, Matrix, Run};
///
/// let samples = Matrix::from_columns(vec![3.0, 4.0, 1.0, 0.0, 0.0, 2.0], 2, 3)?;
/// let masses = [0.5, 0.0, 0.5];
/// let dictionary = Examples { n_atoms: 2 }.fit(samples.view(), &masses, Draw::first(1), Run::default())?;
/// assert!(dictionary.sources().is_some_and(|sources| !sources.contains(&1)));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-A (RandExAv), §III-B2 (BoostEx).
#[doc(alias = "RandExAv")]
#[doc(alias = "BoostEx")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Examples {
    /// K.
    pub n_atoms: usize,
}

impl Examples {
    /// Draws from one part of the samples, whose first column is row `first_row` of the whole.
    ///
    /// The [merged](Selection::merge) selections of all parts are the selection of the whole. The masses of all parts
    /// must have one scale; their sum does not matter.
    ///
    /// # Errors
    /// As [`WeakLearner::fit`], but a part may hold fewer usable samples than `n_atoms`, even none.
    pub fn select<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        first_row: usize,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Selection> {
        if self.n_atoms == 0 {
            return Err(Error::parameter("n_atoms", 0, "must be at least 1"));
        }
        check_part(masses, samples.columns())?;
        let numbers = RowNumbers::from_stream(&mut draw.stream("examples"));
        let column = || vec![T::ZERO; samples.rows()];
        let weight = |column: &mut Vec<T>, i: usize| {
            samples.copy_finite_column(i, column, "samples")?;
            Ok(if column.iter().any(|value| value.abs() > T::ZERO) { masses[i] } else { 0.0 })
        };
        let race = Race::run((first_row, samples.columns(), self.n_atoms), numbers, column, weight, run)?;
        Ok(Selection { race })
    }
}

impl Display for Examples {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write(f, "examples", [Some(format!("n_atoms={}", self.n_atoms))])
    }
}

impl<T: Scalar> WeakLearner<T> for Examples {
    fn name(&self) -> &'static str {
        "ex"
    }

    fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>> {
        Masses::new(Some(masses), samples.columns())?;
        let sources = self.select(samples, masses, 0, draw, run)?.rows()?;
        let mut atoms = Matrix::zeros(samples.rows(), sources.len());
        for (j, &source) in sources.iter().enumerate() {
            samples.copy_column(source, atoms.column_mut(j));
        }
        Dictionary::new(atoms)?.with_sources(sources)
    }
}

/// The rows drawn from a part of the samples, with what is needed to join it to the others.
///
/// ```
/// use sparsemble::dictionary::Examples;
/// use sparsemble::{Draw, MatrixView, Run};
///
/// let samples: Vec<f32> = (1..=20).map(|i| i as f32).collect();
/// let (examples, draw) = (Examples { n_atoms: 3 }, Draw::first(1));
/// let part = |from: usize, to: usize| {
///     let part = MatrixView::from_columns(&samples[from..to], 1, to - from)?;
///     examples.select(part, &vec![1.0; to - from], from, draw, Run::default())
/// };
/// assert_eq!(part(0, 7)?.merge(&part(7, 20)?)?.rows()?, part(0, 20)?.rows()?);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    race: Race,
}

impl Selection {
    /// The selection of two parts together.
    ///
    /// # Errors
    /// If they do not want the same number of atoms.
    pub fn merge(mut self, other: &Self) -> Result<Self> {
        expect_size("selections: number of atoms", self.race.wanted(), other.race.wanted())?;
        self.race.merge(&other.race);
        Ok(self)
    }

    /// The rows of the whole that were drawn, in the order of the draws.
    ///
    /// # Errors
    /// If there were fewer samples of positive mass and norm than atoms.
    pub fn rows(self) -> Result<Vec<usize>> {
        let needed = self.race.wanted();
        let rows = self.race.winners();
        if rows.len() < needed {
            let what = "examples (samples of positive mass and norm)";
            return Err(Error::TooFewSamples { what, needed, found: rows.len() });
        }
        Ok(rows)
    }
}
