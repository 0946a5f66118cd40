//! What the atom updates need to know of all codes: A·P·Aᵀ and X·P·Aᵀ, with P the masses on a diagonal.
//!
//! For fixed codes the weighted error is ⟨D·APAᵀ, D⟩ − 2⟨XPAᵀ, D⟩ + Σ p‖x‖², so samples and codes may be forgotten once
//! they are added here. Every atom's part of the sums belongs to one thread and is formed in the order of the samples:
//! the bits do not depend on the number of threads, and no second K × K matrix is needed to make them so.

use std::sync::{Mutex, PoisonError};

use fearless_simd::dispatch;

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::Result;
use crate::kernels::best_level;
use crate::scalar::Scalar;

use super::batch::Batch;

/// Atoms whose sums one thread forms at a time.
const ATOMS: usize = 32;

/// The sums over all samples so far, in double precision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statistics {
    n_features: usize,
    n_atoms: usize,
    /// Σ p·a·aᵀ, K × K, symmetric.
    products: Vec<f64>,
    /// Σ p·x·aᵀ, M × K.
    moments: Vec<f64>,
    /// Σ p over the samples that use an atom.
    usage: Vec<f64>,
}

impl Statistics {
    pub(super) fn new(n_features: usize, n_atoms: usize) -> Self {
        Self {
            n_features,
            n_atoms,
            products: vec![0.0; n_atoms * n_atoms],
            moments: vec![0.0; n_features * n_atoms],
            usage: vec![0.0; n_atoms],
        }
    }

    /// The sums as they were: A·P·Aᵀ, X·P·Aᵀ and the masses of the atoms; `None` if their lengths disagree.
    #[cfg(feature = "io")]
    pub(super) fn from_parts((n_features, n_atoms): (usize, usize), parts: [Vec<f64>; 3]) -> Option<Self> {
        let lengths = [n_atoms * n_atoms, n_features * n_atoms, n_atoms];
        let fit = parts.iter().zip(lengths).all(|(part, length)| part.len() == length);
        let [products, moments, usage] = parts;
        fit.then_some(Self { n_features, n_atoms, products, moments, usage })
    }

    /// The sums, in the order of [`from_parts`](Self::from_parts).
    #[cfg(feature = "io")]
    pub(super) fn parts(&self) -> [&[f64]; 3] {
        [&self.products, &self.moments, &self.usage]
    }

    /// Starts anew.
    pub(super) fn clear(&mut self) {
        self.products.fill(0.0);
        self.moments.fill(0.0);
        self.usage.fill(0.0);
    }

    /// Adds a batch and its codes.
    pub(super) fn add<T: Scalar>(&mut self, batch: &Batch<T>, codes: &SparseCodes<T>, run: Run<'_>) -> Result<()> {
        let (n_features, n_atoms) = (self.n_features, self.n_atoms);
        let products = self.products.chunks_mut(ATOMS * n_atoms);
        let moments = self.moments.chunks_mut(ATOMS * n_features);
        let shares: Vec<_> = products
            .zip(moments)
            .zip(self.usage.chunks_mut(ATOMS))
            .enumerate()
            .map(|(i, ((products, moments), usage))| {
                Mutex::new(Share { first: i * ATOMS, n_features, n_atoms, products, moments, usage })
            })
            .collect();
        let sample = || vec![0.0; n_features];
        run.map_blocks(shares.len(), 1, sample, |sample, range| {
            let mut share = shares[range.start].lock().unwrap_or_else(PoisonError::into_inner);
            dispatch!(best_level(), _simd => share.add(batch, codes, sample));
            Ok(())
        })?;
        Ok(())
    }

    /// One column of APAᵀ.
    pub(super) fn products(&self, atom: usize) -> &[f64] {
        &self.products[atom * self.n_atoms..][..self.n_atoms]
    }

    /// One column of XPAᵀ.
    pub(super) fn moments(&self, atom: usize) -> &[f64] {
        &self.moments[atom * self.n_features..][..self.n_features]
    }

    /// The mass of the samples that use each atom.
    pub(super) fn usage(&self) -> &[f64] {
        &self.usage
    }

    /// Adds to one entry of APAᵀ and to its mirror image.
    pub(super) fn change_product(&mut self, (i, j): (usize, usize), change: f64) {
        self.products[i * self.n_atoms + j] += change;
        if i != j {
            self.products[j * self.n_atoms + i] += change;
        }
    }

    /// Multiplies all coefficients of an atom, as if the codes had been scaled; zero forgets the atom.
    pub(super) fn scale_atom(&mut self, atom: usize, factor: f64) {
        let (start, n_atoms) = (atom * self.n_atoms, self.n_atoms);
        self.products[start..start + n_atoms].iter_mut().for_each(|product| *product *= factor);
        self.products.iter_mut().skip(atom).step_by(n_atoms).for_each(|product| *product *= factor);
        self.moments[atom * self.n_features..][..self.n_features].iter_mut().for_each(|moment| *moment *= factor);
        if factor <= 0.0 {
            self.usage[atom] = 0.0;
        }
    }
}

/// The columns of some neighbouring atoms.
struct Share<'a> {
    first: usize,
    n_features: usize,
    n_atoms: usize,
    products: &'a mut [f64],
    moments: &'a mut [f64],
    usage: &'a mut [f64],
}

impl Share<'_> {
    /// Adds what the codes of a batch say about these atoms; `sample` is space for one sample.
    #[inline(always)]
    fn add<T: Scalar>(&mut self, batch: &Batch<T>, codes: &SparseCodes<T>, sample: &mut [f64]) {
        let end = self.first + self.usage.len();
        for (i, ends) in codes.starts().windows(2).enumerate() {
            let atoms = &codes.atoms()[ends[0]..ends[1]];
            let coefficients = &codes.coefficients()[ends[0]..ends[1]];
            let from = atoms.partition_point(|&j| (j as usize) < self.first);
            let to = from + atoms[from..].partition_point(|&j| (j as usize) < end);
            if from == to {
                continue;
            }
            sample.iter_mut().zip(batch.column(i)).for_each(|(wide, value)| *wide = value.to_f64());
            let weight = batch.weight(i);
            for (&j, a) in atoms[from..to].iter().zip(&coefficients[from..to]) {
                let place = j as usize - self.first;
                let weighted = weight * a.to_f64();
                let products = &mut self.products[place * self.n_atoms..][..self.n_atoms];
                for (&k, other) in atoms.iter().zip(coefficients) {
                    products[k as usize] += weighted * other.to_f64();
                }
                let moments = &mut self.moments[place * self.n_features..][..self.n_features];
                moments.iter_mut().zip(&*sample).for_each(|(moment, x)| *moment += weighted * x);
                self.usage[place] += weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::example;
    use super::*;
    use crate::matrix::Matrix;

    /// 70 atoms, so that there are several shares and the last is short.
    fn problem() -> (Matrix<f64>, Matrix<f64>) {
        let samples = Matrix::from_fn(5, 40, |r, c| ((3 * r + 7 * c) as f64).sin());
        let codes =
            Matrix::from_fn(70, 40, |j, i| if (j * 11 + i * 5) % 9 == 0 { ((j + i) as f64).cos() } else { 0.0 });
        (samples, codes)
    }

    #[test]
    fn the_sums_are_those_of_plain_products() {
        let (samples, dense) = problem();
        let (batch, codes) = example(&samples, &dense);
        let mut statistics = Statistics::new(5, 70);
        statistics.add(&batch, &codes, Run::threads(2)).unwrap();
        let sum = |term: &dyn Fn(usize) -> f64| (0..40).map(|i| (1.0 + i as f64) * term(i)).sum::<f64>();
        for j in 0..70 {
            for k in 0..70 {
                let plain = sum(&|i| dense.column(i)[j] * dense.column(i)[k]);
                assert!((statistics.products(j)[k] - plain).abs() < 1e-10, "products ({j}, {k})");
            }
            for r in 0..5 {
                let plain = sum(&|i| dense.column(i)[j] * samples.column(i)[r]);
                assert!((statistics.moments(j)[r] - plain).abs() < 1e-10, "moments ({r}, {j})");
            }
            let plain = sum(&|i| f64::from(u8::from(dense.column(i)[j].abs() > 0.0)));
            assert!((statistics.usage()[j] - plain).abs() < 1e-10, "usage {j}");
        }
    }

    #[test]
    fn scaling_an_atom_is_scaling_its_coefficients() {
        let (samples, mut dense) = problem();
        let (batch, codes) = example(&samples, &dense);
        let mut scaled = Statistics::new(5, 70);
        scaled.add(&batch, &codes, Run::threads(1)).unwrap();
        scaled.scale_atom(33, 0.5);
        (0..40).for_each(|i| dense.column_mut(i)[33] *= 0.5);
        let (batch, codes) = example(&samples, &dense);
        let mut direct = Statistics::new(5, 70);
        direct.add(&batch, &codes, Run::threads(1)).unwrap();
        assert_eq!(scaled, direct);
    }
}
