//! Learning anchors and maps from pairs of inputs and targets.

use std::ops::Range;

use crate::blocks::Run;
use crate::dictionary::Dictionary;
use crate::eigen::Eigen;
use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::rng::{Draw, RowNumbers};
use crate::sampling::Race;
use crate::scalar::Scalar;

use super::AnchoredEnsemble;
use super::choice::{self, Choices, Chooser};
use super::maps::Maps;
use super::member::AnchoredMember;
use super::pairs::{ColumnPairs, Pairs};
use super::prediction::Groups;
use super::ridge::{CHUNK, Reader, Sums};

/// Pairs, evenly spaced among all, from which the common map and the features are learned and anchors are drawn.
const SURVEYED: usize = 1 << 17;

/// Pairs that are surveyed at a time.
const SURVEY_BLOCK: usize = 64 * CHUNK;

/// Samples assigned to atoms at a time.
const ASSIGN_BLOCK: usize = 64 * choice::BLOCK;

/// Samples are drawn as anchors in proportion to their contrast, up to this many times the root mean square of all.
const CONTRAST: f64 = 0.5;

/// Directions with less than this share of the variance of the first are no features: they hold rounding.
const TELLING: f64 = 1e-9;

/// Learns an [`AnchoredEnsemble`].
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `n_atoms` | K | 256 | anchors, and maps, of a member | ≥ 1, ≤ T |
/// | `n_models` | L | 4 | members | ≥ 1 |
/// | `n_features` | | 12 | the most features the choice is made by | ≥ 1 |
/// | `shrinkage` | λ | 15 | how many pairs of the common kind pull each map to that of all | ≥ 0 |
/// | `seed` | | 0 | of the examples | |
///
/// The features are what an input is reduced to for the choice of an atom: the leading principal directions of what the
/// *view* shows of it, each divided by the fourth root of its variance (half of whitening). Anchors are examples of such
/// features, drawn by their contrast. The maps of the atoms are ridge solutions, see the fields.
///
/// # Shapes
/// Inputs N × T, targets M × T, view any number of rows × N.
///
/// # Cost
/// About T·(n_features·(N + K) + N·(N + M)) multiply-adds for each member, and K·N²·(N/6 + M) to solve. Memory beyond the
/// pairs is eight bytes for each and the sums of one atom for each thread.
///
/// # Errors
/// If sizes disagree, a value is not finite, a field is out of range, or there are fewer inputs with contrast than atoms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnchoredLearner {
    /// K.
    pub n_atoms: usize,
    /// L.
    pub n_models: usize,
    /// The most features.
    pub n_features: usize,
    /// λ.
    pub shrinkage: f64,
    /// The seed of the examples.
    pub seed: u64,
}

impl Default for AnchoredLearner {
    fn default() -> Self {
        Self { n_atoms: 256, n_models: 4, n_features: 12, shrinkage: 15.0, seed: 0 }
    }
}

impl AnchoredLearner {
    /// Learns all members from the columns of two matrices, which count alike; the whole input is in view.
    ///
    /// # Errors
    /// See [`AnchoredLearner`].
    pub fn fit<T: Scalar>(
        &self,
        inputs: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<AnchoredEnsemble<T>> {
        let pairs = ColumnPairs::new(inputs, targets, masses)?;
        let view = Matrix::from_fn(inputs.rows(), inputs.rows(), |r, c| f64::from(u8::from(r == c)));
        let member = |number: usize| {
            let draw = Draw { seed: self.seed, round: number as u64 };
            self.member(&pairs, &view, draw, run.passes(number..number + 1, self.n_models, inputs.columns()))
        };
        AnchoredEnsemble::mean_of((0..self.n_models).map(member).collect::<Result<Vec<_>>>()?)
    }

    /// Learns one member; `view` times an input is what the choice may look at.
    pub(crate) fn member<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        view: &Matrix<f64>,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<AnchoredMember<T>> {
        self.check()?;
        expect_size("view: number of columns (length of an input)", pairs.n_inputs(), view.columns())?;
        // Surveying, assigning and solving take about as long for each pair.
        let part = |from: usize, to: usize| run.part(from..to, 10);
        let all = survey(pairs, part(0, 1))?;
        let (features, spread) = self.features(view, &all)?;
        let anchors = self.draw(pairs, (view, &features), spread, draw, part(1, 2))?;
        let columns = Matrix::from_fn(features.rows(), features.columns(), |r, c| T::from_f64(features.column(c)[r]));
        let mut groups = Groups::default();
        groups.sort(&assign(pairs, &columns, &anchors, part(2, 5))?, anchors.n_atoms());
        let maps = self.solve(pairs, &all, &groups, anchors.n_atoms(), part(5, 10))?;
        AnchoredMember::new(columns, anchors, maps)
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("n_atoms", self.n_atoms), ("n_features", self.n_features)] {
            if value == 0 {
                return Err(Error::parameter(name, value, "must be at least 1"));
            }
        }
        if !(self.shrinkage >= 0.0 && self.shrinkage.is_finite()) {
            return Err(Error::parameter("shrinkage", self.shrinkage, "must be zero or more, and finite"));
        }
        Ok(())
    }

    /// Cᵀ, a column for each feature, and the mean energy of what is in view.
    fn features(&self, view: &Matrix<f64>, all: &Sums) -> Result<(Matrix<f64>, f64)> {
        let (rows, n_inputs) = (view.rows(), view.columns());
        let share = 1.0 / all.mass();
        // V Ḡ, then V Ḡ Vᵀ.
        let mut seen = Matrix::<f64>::zeros(rows, n_inputs);
        for c in 0..n_inputs {
            for j in 0..n_inputs {
                let factor = share * all.gram(j, c);
                seen.column_mut(c).iter_mut().zip(view.column(j)).for_each(|(sum, entry)| *sum += factor * entry);
            }
        }
        let entry = |r: usize, c: usize| (0..n_inputs).map(|j| seen.column(j)[r] * view.column(j)[c]).sum();
        let eigen = Eigen::new(&Matrix::from_fn(rows, rows, entry));
        let least = TELLING * eigen.values.first().copied().unwrap_or(0.0);
        let telling = eigen.values.iter().take(self.n_features).take_while(|value| **value > least).count();
        if telling == 0 {
            return Err(Error::Empty { what: "view of the inputs (all are zero)", unit: "direction" });
        }
        let features = Matrix::from_fn(n_inputs, telling, |r, c| {
            let scale = eigen.values[c].powf(-0.25);
            scale * view.column(r).iter().zip(eigen.vectors.column(c)).map(|(a, b)| a * b).sum::<f64>()
        });
        Ok((features, eigen.values.iter().sum()))
    }

    /// Examples of features, drawn from the surveyed pairs in proportion to their contrast, within a limit.
    fn draw<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        (view, features): (&Matrix<f64>, &Matrix<f64>),
        mean_energy: f64,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Dictionary<T>> {
        let limit = CONTRAST * mean_energy.sqrt();
        let numbers = RowNumbers::from_stream(&mut draw.stream("anchors"));
        let space = || (Reader::new(pairs), vec![0.0; view.rows()]);
        let weight = |(reader, seen): &mut (Reader<T>, Vec<f64>), i: usize| {
            let sample = surveyed(pairs, i);
            let input = reader.read_input(pairs, sample);
            seen.fill(0.0);
            for (j, value) in input.iter().enumerate() {
                let value = value.to_f64();
                seen.iter_mut().zip(view.column(j)).for_each(|(sum, entry)| *sum += value * entry);
            }
            let contrast = seen.iter().map(|value| value * value).sum::<f64>().sqrt();
            Ok(pairs.mass(sample) * contrast.min(limit))
        };
        let wanted = self.n_atoms;
        let rows = Race::run((0, surveyed_count(pairs), wanted), numbers, space, weight, run)?.winners();
        if rows.len() < wanted {
            return Err(Error::TooFewSamples { what: "inputs with contrast", needed: wanted, found: rows.len() });
        }
        let mut reader = Reader::new(pairs);
        let mut atoms = Matrix::zeros(features.columns(), wanted);
        for (k, &row) in rows.iter().enumerate() {
            let input = reader.read_input(pairs, surveyed(pairs, row));
            for (c, feature) in atoms.column_mut(k).iter_mut().enumerate() {
                let column = features.column(c).iter().zip(input);
                *feature = T::from_f64(column.map(|(weight, value)| weight * value.to_f64()).sum());
            }
        }
        Dictionary::new(atoms)
    }

    /// The map of each atom by the pairs that are its own.
    fn solve<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        all: &Sums,
        groups: &Groups,
        n_atoms: usize,
        run: Run<'_>,
    ) -> Result<Maps<T>> {
        let common = all.common_map();
        let narrow = |matrix: &Matrix<f64>| matrix.as_slice().iter().map(|&value| T::from_f64(value)).collect();
        let space = || (Sums::new(pairs.n_inputs(), pairs.n_outputs()), Reader::new(pairs));
        // One atom at a time: its sums have one order, whatever the threads.
        let differences = run.map_blocks(n_atoms, 1, space, |(sums, reader), atom| {
            sums.clear();
            groups.of(atom.start).iter().for_each(|&sample| sums.add(pairs, sample as usize, reader));
            sums.finish();
            Ok::<Vec<T>, _>(narrow(&sums.difference(all, &common, self.shrinkage)))
        })?;
        let columns = n_atoms * pairs.n_outputs();
        let differences = Matrix::from_columns(differences.concat(), pairs.n_inputs(), columns)?;
        Maps::new(Matrix::from_columns(narrow(&common), pairs.n_inputs(), pairs.n_outputs())?, differences)
    }
}

fn surveyed_count<T>(pairs: &dyn Pairs<T>) -> usize {
    pairs.count().min(SURVEYED)
}

/// The i-th of the surveyed pairs.
fn surveyed<T>(pairs: &dyn Pairs<T>, i: usize) -> usize {
    (i as u128 * pairs.count() as u128 / surveyed_count(pairs) as u128) as usize
}

/// The sums of the surveyed pairs.
fn survey<T: Scalar>(pairs: &dyn Pairs<T>, run: Run<'_>) -> Result<Sums> {
    if u32::try_from(pairs.count()).is_err() {
        return Err(Error::parameter("pairs", pairs.count(), "must be below 2³²; take fewer"));
    }
    let new = || Sums::new(pairs.n_inputs(), pairs.n_outputs());
    let blocks = run.map_blocks(
        surveyed_count(pairs),
        SURVEY_BLOCK,
        || Reader::new(pairs),
        |reader, range| {
            let mut sums = new();
            range.for_each(|i| sums.add(pairs, surveyed(pairs, i), reader));
            sums.finish();
            Ok(sums)
        },
    )?;
    let mut all = new();
    blocks.iter().for_each(|block| all.merge(block));
    if all.mass() > 0.0 { Ok(all) } else { Err(Error::Empty { what: "pairs", unit: "pair" }) }
}

/// The atom of every pair.
fn assign<T: Scalar>(
    pairs: &dyn Pairs<T>,
    features: &Matrix<T>,
    anchors: &Dictionary<T>,
    run: Run<'_>,
) -> Result<Vec<u32>> {
    let choices = Choices::new([(features, anchors)].into_iter());
    let space = || (Chooser::new(&choices), vec![T::ZERO; choice::BLOCK * pairs.n_inputs()], Vec::new());
    let blocks =
        run.map_blocks(pairs.count(), ASSIGN_BLOCK, space, |(chooser, inputs, space), range: Range<usize>| {
            let mut chosen = Vec::with_capacity(range.len());
            for start in range.clone().step_by(choice::BLOCK) {
                let block = start..(start + choice::BLOCK).min(range.end);
                let used = &mut inputs[..block.len() * pairs.n_inputs()];
                for (i, input) in block.zip(used.chunks_exact_mut(pairs.n_inputs())) {
                    pairs.copy_input(i, space, input);
                }
                chooser.choose(used, |_, _, atom| chosen.push(atom));
            }
            Ok(chosen)
        })?;
    Ok(blocks.concat())
}
