//! Graphs of the stacked codes of an ensemble: AᵀA, where every member gives every sample one entry (§V).

use std::ops::Range;

use crate::blocks::Run;
use crate::coding::{CodingBasis, OneSparse, Samples, SparseCoder, SparseCodes};
use crate::dictionary::{Centers, Dictionary, Examples, WeakLearner, normalise};
use crate::error::{Error, Result};
use crate::masses::{Masses, normalise as normalise_masses};
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::{AtomCount, BuiltGraph, StackedCodes, check_samples};

/// Samples whose energies a thread forms at a time.
const BLOCK: usize = 1024;

/// Atoms a thread moves at a time.
const ATOMS: usize = 16;

/// The graph S = |AᵀA|, where A stacks the 1-sparse codes of the samples in L dictionaries.
///
/// Two samples are alike if many members code both by the same atom. The dictionaries are learned one after the other:
/// the masses of a round are the residual energies of the one before, so that members turn to what is represented badly.
///
/// | field | symbol | default | paper (BoostKM) | purpose | range |
/// | --- | --- | --- | --- | --- | --- |
/// | `learner` | | examples | centres | what atoms are, see [`MemberLearner`] | |
/// | `n_members` | L | 30 | not stated | dictionaries | ≥ 1 |
/// | `atoms` | K | T/8, at most 2048 | not stated | atoms of each | 2 to T |
/// | `nonnegative` | a ≥ 0 | `true` | `false` | whether a sample may only be coded by atoms on its own side | |
/// | `refinements` | | 1 | 0 | how often each atom moves to the mean direction of its samples, Σ a·x | any |
/// | `sharpness` | s | 8 | 1 | samples that are coded badly count less: a·(a/‖x‖)^(s − 1) is stacked instead of a | ≥ 1 |
///
/// For samples of unit norm a is the cosine of the angle between sample and atom, and cosˢ is nearly a Gaussian of the
/// angle, for s = 8 of about 20°. The defaults are not those of the paper: they score better on most data, and without signs the graph need not be formed
/// at all, see [`MemberGraph::codes`].
///
/// # Shapes
/// Samples M × T, at least two; T vertices.
///
/// # Cost
/// L·(1 + `refinements`)·K·M multiply-adds a sample at the speed of a matrix product, and with centres what K-Means‖
/// takes. Memory for the codes, 8·L bytes a sample, and for a few numbers more.
///
/// # Errors
/// If there are fewer than two samples or fewer than atoms, all samples are zero, a value is not finite, or a parameter is
/// out of range.
///
/// # Example
/// ```
/// use sparsemble::graph::{AtomCount, MemberGraph};
/// use sparsemble::{Matrix, Run};
///
/// // Two bundles of directions.
/// let samples = Matrix::from_fn(3, 20, |r, i| if r == i % 2 { 1.0 } else { 0.01 * i as f64 });
/// let graph = MemberGraph { atoms: AtomCount::Exactly(4), ..MemberGraph::default() };
/// let built = graph.build(samples.view(), 1, Run::default())?;
/// assert!(built.graph.row(0).0.iter().all(|j| j % 2 == 0));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V (BoostKM), §III-B.
#[doc(alias = "BoostKM")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberGraph {
    /// What atoms are.
    pub learner: MemberLearner,
    /// L.
    pub n_members: usize,
    /// K.
    pub atoms: AtomCount,
    /// Whether coefficients must be positive.
    pub nonnegative: bool,
    /// How often each atom moves to the mean direction of the samples it codes.
    pub refinements: usize,
    /// s.
    pub sharpness: f64,
}

/// What the atoms of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberLearner {
    /// Samples drawn by mass: [`Examples`].
    Examples,
    /// Weighted K-Means‖ centres: [`Centers`].
    Centers,
}

impl Default for MemberGraph {
    fn default() -> Self {
        Self {
            learner: MemberLearner::Examples,
            n_members: 30,
            atoms: AtomCount::default(),
            nonnegative: true,
            refinements: 1,
            sharpness: 8.0,
        }
    }
}

impl MemberGraph {
    /// The paper's BoostKM.
    pub fn boost_km() -> Self {
        Self { learner: MemberLearner::Centers, nonnegative: false, refinements: 0, sharpness: 1.0, ..Self::default() }
    }

    /// Learns the members and forms |AᵀA| of their codes.
    ///
    /// # Errors
    /// See [`MemberGraph`].
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, seed: u64, run: Run<'_>) -> Result<BuiltGraph> {
        let parts = self.n_members.saturating_add(1);
        let part = |range: Range<usize>| run.passes(range, parts, samples.columns());
        let codes = self.codes(samples, None, seed, part(0..self.n_members))?;
        Ok(BuiltGraph::new(codes.graph(part(self.n_members..parts))?, 0))
    }

    /// The stacked codes alone, of which no graph need be formed where none of them is negative.
    ///
    /// There are fewer members than asked for if the samples are represented without error sooner. Masses, if given, say
    /// how many equal samples each stands for: it is drawn, moves its atom and is similar to others as often.
    ///
    /// # Errors
    /// See [`MemberGraph`]; if there is not one mass for each sample, none negative, with a positive sum.
    pub fn codes<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        seed: u64,
        run: Run<'_>,
    ) -> Result<StackedCodes> {
        (T::instances().member_codes)(self, samples, masses, seed, run)
    }

    /// [`Self::codes`]; see [`crate::instances`].
    pub(crate) fn codes_here<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        counts: Option<&[f64]>,
        seed: u64,
        run: Run<'_>,
    ) -> Result<StackedCodes> {
        check_samples(samples)?;
        if self.n_members == 0 {
            return Err(Error::parameter("members", 0, "must be at least 1"));
        }
        if !(self.sharpness >= 1.0 && self.sharpness.is_finite()) {
            return Err(Error::parameter("sharpness", self.sharpness, "must be at least 1 and finite"));
        }
        Masses::new(counts, samples.columns())?;
        let counts = counts.map_or_else(|| vec![1.0; samples.columns()], <[f64]>::to_vec);
        let wanted = self.atoms.of(samples.columns())?;
        let energies = energies(samples, run.passes(0..0, 1, samples.columns()))?;
        // A zero sample has no direction: it is no atom and is coded by none.
        let mass = |(energy, count): (&f64, &f64)| if *energy > 0.0 { *count } else { 0.0 };
        let mut masses: Vec<f64> = energies.iter().zip(&counts).map(mass).collect();
        if normalise_masses(&mut masses) <= 0.0 {
            return Err(Error::parameter("samples: energy", 0, "every sample is zero; there is nothing to compare"));
        }
        let mut stacked = StackedCodes::new(samples.columns());
        for round in 0..self.n_members {
            let n_atoms = wanted.min(masses.iter().filter(|mass| **mass > 0.0).count());
            if n_atoms == 0 {
                break; // no error is left to learn from
            }
            let run = run.passes(round..round + 1, self.n_members, samples.columns());
            let draw = Draw { seed, round: round as u64 };
            let (n_atoms, codes) = self.member(samples, n_atoms, (&masses, &counts, draw), run)?;
            masses = residuals(&energies, &counts, &codes, 4.0 * T::EPSILON.to_f64());
            let (atoms, coefficients) = self.entries(&energies, &counts, &codes);
            stacked.push(n_atoms, atoms, coefficients)?;
        }
        Ok(stacked)
    }

    /// One member: how many atoms it has in the end, and the codes of the samples in it.
    fn member<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        n_atoms: usize,
        (masses, counts, draw): (&[f64], &[f64], Draw),
        run: Run<'_>,
    ) -> Result<(usize, SparseCodes<T>)> {
        let passes = self.refinements.saturating_add(2);
        let part = |pass: usize| run.passes(pass..pass + 1, passes, samples.columns());
        let dictionary = match self.learner {
            MemberLearner::Examples => Examples { n_atoms }.fit(samples, masses, draw, part(0)),
            MemberLearner::Centers => Centers::new(n_atoms).fit(samples, masses, draw, part(0)),
        }?;
        let (mut n_atoms, mut codes) = self.encode(&dictionary, samples, part(1))?;
        for refinement in 0..self.refinements {
            let moved = moved(samples, counts, &codes, run.silent())?;
            (n_atoms, codes) = self.encode(&moved, samples, part(2 + refinement))?;
        }
        Ok((n_atoms, codes))
    }

    fn encode<T: Scalar>(
        &self,
        dictionary: &Dictionary<T>,
        samples: MatrixView<'_, T>,
        run: Run<'_>,
    ) -> Result<(usize, SparseCodes<T>)> {
        let basis = CodingBasis::new(dictionary.view())?;
        let coder = OneSparse { nonnegative: self.nonnegative, ..OneSparse::default() };
        Ok((basis.n_atoms(), coder.encode(&basis, &Samples::new(samples), run)?.codes))
    }

    /// The atom of each sample and what is stacked of its coefficient, zero if it has none.
    fn entries<T: Scalar>(&self, energies: &[f64], counts: &[f64], codes: &SparseCodes<T>) -> (Vec<u32>, Vec<f32>) {
        let entry = |i: usize| {
            codes.column(i).next().map_or((0, 0.0), |(atom, a)| {
                let a = a.to_f64();
                let closeness = (a.abs() / energies[i].sqrt()).min(1.0);
                (atom as u32, (counts[i] * a * closeness.powf(self.sharpness - 1.0)) as f32)
            })
        };
        (0..codes.n_samples()).map(entry).unzip()
    }
}

/// ‖x‖² of each sample, which must be finite.
fn energies<T: Scalar>(samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Vec<f64>> {
    let work = |column: &mut Vec<T>, range: Range<usize>| {
        let energy = |i: usize| {
            samples.copy_finite_column(i, column, "samples")?;
            let energy: f64 = column.iter().map(|x| x.to_f64() * x.to_f64()).sum();
            if energy.is_finite() {
                return Ok(energy);
            }
            Err(Error::parameter("samples: energy", energy, "is not a finite number; scale the data"))
        };
        range.map(energy).collect::<Result<Vec<_>>>()
    };
    Ok(run.map_blocks(samples.columns(), BLOCK, || vec![T::ZERO; samples.rows()], work)?.concat())
}

/// ‖x − a·d‖² = ‖x‖² − a² of each sample, as often as it counts, normalised; zero where rounding cannot tell it from
/// zero.
fn residuals<T: Scalar>(energies: &[f64], counts: &[f64], codes: &SparseCodes<T>, rounding: f64) -> Vec<f64> {
    let residual = |(i, &energy): (usize, &f64)| {
        let explained: f64 = codes.column(i).map(|(_, a)| a.to_f64() * a.to_f64()).sum();
        let left = energy - explained;
        if left > rounding * energy { counts[i] * left } else { 0.0 }
    };
    let mut masses: Vec<f64> = energies.iter().enumerate().map(residual).collect();
    normalise_masses(&mut masses);
    masses
}

/// Each atom moved to the direction of Σ a·x over the samples it codes, each as often as it counts; those that code none
/// are dropped.
fn moved<T: Scalar>(
    samples: MatrixView<'_, T>,
    counts: &[f64],
    codes: &SparseCodes<T>,
    run: Run<'_>,
) -> Result<Dictionary<T>> {
    let mut starts = vec![0_usize; codes.n_atoms() + 1];
    codes.atoms().iter().for_each(|&atom| starts[atom as usize + 1] += 1);
    (1..starts.len()).for_each(|atom| starts[atom] += starts[atom - 1]);
    let mut next = starts.clone();
    let mut users = vec![(0, 0.0); codes.n_nonzero()];
    for (i, count) in counts.iter().enumerate() {
        for (atom, a) in codes.column(i) {
            users[next[atom]] = (i, count * a.to_f64());
            next[atom] += 1;
        }
    }
    let scratch = || (vec![T::ZERO; samples.rows()], vec![0.0; samples.rows()]);
    let work = |(column, sum): &mut (Vec<T>, Vec<f64>), atoms: Range<usize>| {
        let mut directions = Vec::new();
        for atom in atoms {
            sum.fill(0.0);
            for &(i, a) in &users[starts[atom]..starts[atom + 1]] {
                samples.copy_column(i, column);
                sum.iter_mut().zip(&*column).for_each(|(sum, x)| *sum += a * x.to_f64());
            }
            if normalise(sum) {
                directions.extend(sum.iter().map(|&value| T::from_f64(value)));
            }
        }
        Ok(directions)
    };
    let directions = run.map_blocks(codes.n_atoms(), ATOMS, scratch, work)?.concat();
    let count = directions.len() / samples.rows();
    Dictionary::new(Matrix::from_columns(directions, samples.rows(), count)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atom_moves_to_the_mean_direction_of_its_samples_and_an_idle_one_goes() {
        let samples = Matrix::from_columns(vec![1.0, 0.0, 0.0, 2.0, 0.6, 0.8], 2, 3).unwrap();
        let codes = SparseCodes::from_parts(3, vec![0, 1, 2, 3], vec![2, 0, 2], vec![1.0, 2.0, 0.5]).unwrap();
        let moved = moved(samples.view(), &[1.0; 3], &codes, Run::threads(2)).unwrap();
        let length = f64::hypot(1.3, 0.4);
        let expected = [0.0, 1.0, 1.3 / length, 0.4 / length];
        assert!(moved.atoms().as_slice().iter().zip(expected).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn masses_are_what_the_code_leaves_and_zero_where_only_rounding_is_left() {
        let codes = SparseCodes::from_parts(1, vec![0, 1, 1, 2], vec![0, 0], vec![0.6, 2.0 * (1.0 - 1e-9)]).unwrap();
        let masses = residuals(&[1.0, 0.36, 4.0], &[1.0; 3], &codes, 1e-6);
        assert_eq!(masses, [0.64, 0.36, 0.0]);
    }
}
