//! Approximate K-SVD: each atom is refitted together with its own coefficients, on the samples that use it.
//!
//! The atom is the normalised gradient direction of [`Atoms::gradient`] with its own share put back; the coefficients
//! are then the correlations of the new atom with what the other atoms leave of each sample. Only the supports stay.

use fearless_simd::{dispatch, prelude::*};

use crate::coding::SparseCodes;
use crate::dictionary::atoms::normalise;
use crate::kernels::{axpy, best_level, dot};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::batch::Batch;
use super::statistics::Statistics;
use super::update::Atoms;

/// The codes of all samples: 20 bytes for each coefficient and 24 for each sample.
#[derive(Debug)]
pub(super) struct KeptCodes {
    /// The number of each kept sample in the caller's matrix.
    names: Vec<usize>,
    weights: Vec<f64>,
    starts: Vec<usize>,
    atoms: Vec<u32>,
    coefficients: Vec<f64>,
}

impl KeptCodes {
    pub(super) fn new() -> Self {
        Self { names: Vec::new(), weights: Vec::new(), starts: vec![0], atoms: Vec::new(), coefficients: Vec::new() }
    }

    pub(super) fn keep<T: Scalar>(&mut self, batch: &Batch<T>, codes: &SparseCodes<T>) {
        let offset = self.atoms.len();
        self.names.extend_from_slice(batch.names());
        self.weights.extend((0..batch.len()).map(|slot| batch.weight(slot)));
        self.starts.extend(codes.starts()[1..].iter().map(|start| start + offset));
        self.atoms.extend_from_slice(codes.atoms());
        self.coefficients.extend(codes.coefficients().iter().map(|a| a.to_f64()));
    }

    /// For each atom where its users start in the list of all users, and that list.
    fn users(&self, n_atoms: usize) -> (Vec<usize>, Vec<usize>) {
        let mut ends = vec![0; n_atoms + 1];
        self.atoms.iter().for_each(|&j| ends[j as usize + 1] += 1);
        (0..n_atoms).for_each(|j| ends[j + 1] += ends[j]);
        let mut next = ends.clone();
        let mut users = vec![0; self.atoms.len()];
        for (i, range) in self.starts.windows(2).enumerate() {
            for &j in &self.atoms[range[0]..range[1]] {
                users[next[j as usize]] = i;
                next[j as usize] += 1;
            }
        }
        (ends, users)
    }

    /// Refits every atom and its coefficients once, in the order of the atoms.
    pub(super) fn refit<T: Scalar>(
        &mut self,
        atoms: &mut Atoms,
        statistics: &mut Statistics,
        samples: MatrixView<'_, T>,
    ) {
        let n_atoms = atoms.columns().count();
        let (ends, users) = self.users(n_atoms);
        for j in 0..n_atoms {
            let users = &users[ends[j]..ends[j + 1]];
            if !users.is_empty() {
                dispatch!(best_level(), simd => self.refit_atom(simd, (atoms, statistics), j, users, samples));
            }
        }
    }

    #[inline(always)]
    fn refit_atom<S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        (atoms, statistics): (&mut Atoms, &mut Statistics),
        j: usize,
        users: &[usize],
        samples: MatrixView<'_, T>,
    ) {
        let stride = atoms.columns().stride();
        let mut space = [vec![0.0; stride], vec![0.0; stride]];
        let new = atoms.gradient(simd, statistics, j, &mut space);
        axpy(simd, statistics.products(j)[j], atoms.columns().padded(j), new);
        if !normalise(new) {
            return; // the others leave nothing to this atom: it stays, and the next codes will not use it
        }
        atoms.columns_mut().padded_mut(j).copy_from_slice(new);
        let columns = atoms.columns();
        let gram: Vec<f64> = (0..columns.count()).map(|k| dot(simd, columns.padded(k), new)).collect();
        let mut sample = vec![T::ZERO; columns.rows()];
        let mut wide = vec![0.0; stride];
        for &i in users {
            samples.copy_column(self.names[i], &mut sample);
            wide.iter_mut().zip(&sample).for_each(|(wide, value)| *wide = value.to_f64());
            self.refit_coefficient((i, j), dot(simd, &wide, new), &gram, statistics);
        }
    }

    /// Gives sample i its best coefficient of atom j, whose product with the sample is `correlation`.
    fn refit_coefficient(
        &mut self,
        (i, j): (usize, usize),
        correlation: f64,
        gram: &[f64],
        statistics: &mut Statistics,
    ) {
        let range = self.starts[i]..self.starts[i + 1];
        let atoms = &self.atoms[range.clone()];
        let coefficients = &mut self.coefficients[range];
        let Some(place) = atoms.iter().position(|&k| k as usize == j) else { return };
        let others = |(e, _): &(usize, &u32)| *e != place;
        let shares = atoms.iter().enumerate().filter(others).map(|(e, &k)| coefficients[e] * gram[k as usize]);
        let best = correlation - shares.sum::<f64>();
        let old = std::mem::replace(&mut coefficients[place], best);
        let weight = self.weights[i];
        statistics.change_product((j, j), weight * (best * best - old * old));
        for (e, &k) in atoms.iter().enumerate().filter(others) {
            statistics.change_product((j, k as usize), weight * (best - old) * coefficients[e]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::example;
    use super::*;
    use crate::blocks::Run;
    use crate::dictionary::Dictionary;
    use crate::matrix::Matrix;

    /// Σ p‖x − Da‖² the plain way.
    fn error(samples: &Matrix<f64>, atoms: &Atoms, dense: &Matrix<f64>) -> f64 {
        let mut sum = 0.0;
        for i in 0..samples.columns() {
            for r in 0..samples.rows() {
                let approximation: f64 =
                    (0..dense.rows()).map(|j| atoms.columns().column(j)[r] * dense.column(i)[j]).sum();
                sum += (1.0 + i as f64) * (samples.column(i)[r] - approximation).powi(2);
            }
        }
        sum
    }

    #[test]
    fn refitting_lowers_the_error_and_keeps_supports_and_statistics() {
        let samples = Matrix::from_fn(6, 30, |r, c| ((5 * r + 3 * c) as f64).sin());
        let start = Dictionary::new(Matrix::from_fn(6, 8, |r, c| ((r + 2) * (c + 1)) as f64 % 3.7 - 1.8)).unwrap();
        let dense = Matrix::from_fn(8, 30, |j, i| if (j + 3 * i) % 4 == 0 { ((j * i) as f64).cos() } else { 0.0 });
        let (batch, codes) = example(&samples, &dense);
        let mut statistics = Statistics::new(6, 8);
        statistics.add(&batch, &codes, Run::threads(1)).unwrap();
        let mut atoms = Atoms::of(&start);
        let mut kept = KeptCodes::new();
        kept.keep(&batch, &codes);
        let mut errors = vec![error(&samples, &atoms, &dense)];
        for _ in 0..3 {
            kept.refit(&mut atoms, &mut statistics, samples.view());
            let mut refitted = Matrix::zeros(8, 30);
            for (i, range) in kept.starts.windows(2).enumerate() {
                (range[0]..range[1])
                    .for_each(|e| refitted.column_mut(i)[kept.atoms[e] as usize] = kept.coefficients[e]);
            }
            errors.push(error(&samples, &atoms, &refitted));
            let (batch, codes) = example(&samples, &refitted);
            assert_eq!(codes.atoms(), kept.atoms);
            let mut fresh = Statistics::new(6, 8);
            fresh.add(&batch, &codes, Run::threads(1)).unwrap();
            for (kept, fresh) in (0..8).flat_map(|j| statistics.products(j).iter().zip(fresh.products(j))) {
                assert!((kept - fresh).abs() < 1e-9 * (1.0 + fresh.abs()), "{kept} for {fresh}");
            }
            statistics = fresh; // the moments are not kept up to date within a sweep
        }
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    }
}
