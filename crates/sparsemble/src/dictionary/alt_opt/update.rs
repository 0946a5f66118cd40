//! New atoms from the statistics of the codes.
//!
//! The atoms are constrained to the unit *ball* while they move, as Eq. (2) has it: there the best atom, all others
//! fixed, is the projection of the free minimum, because the error is the same multiple of the squared distance in
//! every direction. Afterwards every atom gets unit norm and its coefficients are multiplied by the norm it had. That
//! leaves the approximations as they are and, as no norm exceeds one, lowers the ℓ1 norm of the codes: neither step
//! can raise the objective.

use fearless_simd::{dispatch, prelude::*};

use crate::dictionary::Dictionary;
use crate::dictionary::atoms::normalise;
use crate::error::Result;
use crate::kernels::{Columns, axpy, best_level, dot, subtract_combination};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::statistics::Statistics;
use crate::cholesky::Cholesky;

/// Below this an atom's statistics are nothing: their reciprocal would overflow.
const UNUSED: f64 = 1e-290;

/// The ridge of the least-squares update, as a fraction of the largest diagonal entry of APAᵀ.
const RIDGE: f64 = 1e-9;

/// Two replacements may not be more alike than this.
const SAME: f64 = 0.99;

/// The atoms while they are updated, in double precision.
pub(super) struct Atoms {
    columns: Columns<f64>,
    nonnegative: bool,
}

impl Atoms {
    pub(super) fn of<T: Scalar>(dictionary: &Dictionary<T>) -> Self {
        let mut columns = Columns::zeros(dictionary.n_features(), dictionary.n_atoms());
        for j in 0..dictionary.n_atoms() {
            set(columns.padded_mut(j), dictionary.atoms().column(j));
        }
        Self { columns, nonnegative: false }
    }

    /// Whether no entry may be negative; none is so far.
    pub(super) fn nonnegative(self, nonnegative: bool) -> Self {
        Self { nonnegative, ..self }
    }

    pub(super) fn columns(&self) -> &Columns<f64> {
        &self.columns
    }

    pub(super) fn columns_mut(&mut self) -> &mut Columns<f64> {
        &mut self.columns
    }

    /// Block coordinate descent: one atom after the other goes to its best place in the unit ball, all others fixed. In
    /// the part of the ball without negative entries, that is the projection of what is left without these.
    pub(super) fn descend(&mut self, statistics: &Statistics, sweeps: usize) {
        for _ in 0..sweeps {
            dispatch!(best_level(), simd => self.sweep(simd, statistics));
        }
    }

    #[inline(always)]
    fn sweep<S: Simd>(&mut self, simd: S, statistics: &Statistics) {
        let mut space = [vec![0.0; self.columns.stride()], vec![0.0; self.columns.stride()]];
        for j in 0..self.columns.count() {
            let weight = statistics.products(j)[j];
            if weight <= UNUSED {
                continue;
            }
            let step = self.gradient(simd, statistics, j, &mut space);
            let atom = self.columns.padded_mut(j);
            axpy(simd, 1.0 / weight, step, atom);
            if self.nonnegative {
                clip(atom);
            }
            let energy = dot(simd, atom, atom);
            if energy.is_infinite() {
                normalise(atom);
            } else if energy > 1.0 {
                let factor = 1.0 / energy.sqrt();
                for value in atom {
                    *value *= factor;
                }
            }
        }
    }

    /// XPAᵀ_j − D·APAᵀ_j, in the second of the two spaces: half the descent direction of atom j.
    #[inline(always)]
    pub(super) fn gradient<'a, S: Simd>(
        &self,
        simd: S,
        statistics: &Statistics,
        atom: usize,
        [moments, out]: &'a mut [Vec<f64>; 2],
    ) -> &'a mut [f64] {
        moments[..self.columns.rows()].copy_from_slice(statistics.moments(atom));
        let products = statistics.products(atom).iter().enumerate();
        let terms = products.filter(|(_, product)| product.abs() > 0.0).map(|(k, &product)| (k as u32, product));
        subtract_combination(simd, &self.columns, &terms, moments, out);
        out
    }

    /// The method of optimal directions (MOD): least squares for all atoms at once, without constraint.
    ///
    /// A small ridge pulls towards the atoms as they were. It makes the system definite, holds unused atoms in place,
    /// and as the old atoms are free of its charge, the error cannot rise.
    pub(super) fn least_squares(&mut self, statistics: &Statistics) {
        let (rows, count) = (self.columns.rows(), self.columns.count());
        let largest = (0..count).map(|j| statistics.products(j)[j]).fold(0.0, f64::max);
        if largest <= UNUSED {
            return;
        }
        let ridge = RIDGE * largest;
        let system = Cholesky::new(count, |i, j| statistics.products(i)[j], ridge);
        let mut right = vec![0.0; Columns::<f64>::zeros(count, 0).stride()];
        for row in 0..rows {
            for (j, value) in right[..count].iter_mut().enumerate() {
                *value = statistics.moments(j)[row] + ridge * self.columns.column(j)[row];
            }
            system.solve(&mut right);
            for (j, value) in right[..count].iter().enumerate() {
                self.columns.padded_mut(j)[row] = *value;
            }
        }
    }

    /// Gives every atom unit norm and its coefficients the norm it had; one that became zero is as it was `before`,
    /// and unused.
    pub(super) fn normalise<T: Scalar>(&mut self, before: &Dictionary<T>, statistics: &mut Statistics) {
        for j in 0..self.columns.count() {
            let atom = self.columns.padded_mut(j);
            let norm = dispatch!(best_level(), simd => dot(simd, atom, atom)).sqrt();
            if norm.is_normal() && normalise(atom) {
                if (norm - 1.0).abs() > 1e-12 {
                    statistics.scale_atom(j, norm);
                }
            } else {
                set(atom, before.atoms().column(j));
                statistics.scale_atom(j, 0.0);
            }
        }
    }

    /// Puts the worst-represented samples, worst first, in the place of dead atoms; says for which atoms there was one.
    pub(super) fn replace<T: Scalar>(
        &mut self,
        dead: &[usize],
        mut candidates: impl Iterator<Item = usize>,
        samples: MatrixView<'_, T>,
    ) -> Vec<usize> {
        let mut sample = vec![T::ZERO; self.columns.rows()];
        let mut replaced: Vec<usize> = Vec::new();
        while replaced.len() < dead.len() {
            let Some(name) = candidates.next() else { break };
            let atom = dead[replaced.len()];
            samples.copy_column(name, &mut sample);
            let mut candidate = vec![0.0; self.columns.stride()];
            set(&mut candidate, &sample);
            if self.nonnegative {
                clip(&mut candidate);
            }
            if !normalise(&mut candidate) {
                continue;
            }
            let cosine = |other: usize| {
                let other = self.columns.padded(other);
                dispatch!(best_level(), simd => dot(simd, &candidate, other)).abs()
            };
            if replaced.iter().all(|&other| cosine(other) < SAME) {
                self.columns.padded_mut(atom).copy_from_slice(&candidate);
                replaced.push(atom);
            }
        }
        replaced
    }

    pub(super) fn to_dictionary<T: Scalar>(&self) -> Result<Dictionary<T>> {
        let (rows, count) = (self.columns.rows(), self.columns.count());
        Dictionary::new(Matrix::from_fn(rows, count, |r, c| T::from_f64(self.columns.column(c)[r])))
    }
}

/// Takes out what is negative.
fn clip(atom: &mut [f64]) {
    for value in atom {
        *value = value.max(0.0);
    }
}

/// Writes a column to the front of a padded one.
fn set<T: Scalar>(padded: &mut [f64], column: &[T]) {
    padded.iter_mut().zip(column).for_each(|(wide, value)| *wide = value.to_f64());
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::example;
    use super::*;
    use crate::blocks::Run;

    /// One sample with the code 2, and one atom somewhere else: the free minimum is half the sample.
    fn one_atom(sample: [f64; 2]) -> (Dictionary<f64>, Statistics) {
        let samples = Matrix::from_columns(sample.to_vec(), 2, 1).unwrap();
        let (batch, codes) = example(&samples, &Matrix::from_columns(vec![2.0], 1, 1).unwrap());
        let mut statistics = Statistics::new(2, 1);
        statistics.add(&batch, &codes, Run::threads(1)).unwrap();
        (Dictionary::new(Matrix::from_columns(vec![0.0, 1.0], 2, 1).unwrap()).unwrap(), statistics)
    }

    fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < tolerance, "{found:?} for {expected:?}");
        }
    }

    #[test]
    fn a_free_minimum_outside_the_ball_is_projected() {
        let (start, mut statistics) = one_atom([4.0, 3.0]);
        let before = statistics.clone();
        let mut atoms = Atoms::of(&start);
        atoms.descend(&statistics, 1);
        atoms.normalise(&start, &mut statistics);
        assert_close(atoms.columns.column(0), &[0.8, 0.6], 1e-15);
        assert_eq!(statistics, before);
    }

    #[test]
    fn a_free_minimum_inside_the_ball_gives_its_norm_to_the_coefficients() {
        let (start, mut statistics) = one_atom([0.6, 0.8]);
        let mut atoms = Atoms::of(&start);
        atoms.descend(&statistics, 1);
        assert_close(atoms.columns.column(0), &[0.3, 0.4], 1e-15);
        atoms.normalise(&start, &mut statistics);
        assert_close(atoms.columns.column(0), &[0.6, 0.8], 1e-15);
        assert_close(statistics.products(0), &[1.0], 1e-15); // the code was 2 and is 1
        assert_close(statistics.moments(0), &[0.6, 0.8], 1e-15);
    }

    #[test]
    fn an_atom_that_becomes_zero_stays_and_is_unused() {
        let (start, mut statistics) = one_atom([0.0, 0.0]);
        let mut atoms = Atoms::of(&start);
        atoms.descend(&statistics, 1);
        atoms.normalise(&start, &mut statistics);
        assert_close(atoms.columns.column(0), &[0.0, 1.0], 1e-15);
        assert!(statistics.usage()[0] <= 0.0);
    }

    #[test]
    fn least_squares_finds_the_atoms_behind_exact_codes() {
        let truth = Dictionary::new(Matrix::from_fn(4, 3, |r, c| ((r * r + 3 * c) as f64).cos())).unwrap();
        let dense = Matrix::from_fn(3, 9, |j, i| ((j + 2) * (i + 1)) as f64 % 2.7 - 1.2);
        let samples =
            Matrix::from_fn(4, 9, |r, i| (0..3).map(|j| truth.atoms().column(j)[r] * dense.column(i)[j]).sum());
        let (batch, codes) = example(&samples, &dense);
        let mut statistics = Statistics::new(4, 3);
        statistics.add(&batch, &codes, Run::threads(1)).unwrap();
        let start = Dictionary::new(Matrix::from_fn(4, 3, |r, c| ((r + c) as f64).sin())).unwrap();
        let mut atoms = Atoms::of(&start);
        atoms.least_squares(&statistics);
        (0..3).for_each(|j| assert_close(atoms.columns.column(j), truth.atoms().column(j), 1e-6));
    }

    #[test]
    fn replacements_are_not_alike_and_not_zero() {
        let samples = Matrix::from_columns(vec![0.0, 0.0, 3.0, 0.0, -5.0, 0.1, 0.0, 2.0], 2, 4).unwrap();
        let start = Dictionary::new(Matrix::from_columns(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2, 3).unwrap()).unwrap();
        let mut atoms = Atoms::of(&start);
        assert_eq!(atoms.replace(&[0, 2, 1], 0..4, samples.view()), [0, 2]);
        assert_close(atoms.columns.column(0), &[1.0, 0.0], 1e-15);
        assert_close(atoms.columns.column(2), &[0.0, 1.0], 1e-15);
        assert_close(atoms.columns.column(1), start.atoms().column(1), 1e-15);
    }
}
