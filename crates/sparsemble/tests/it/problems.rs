//! Problems to code, and plain double-precision arithmetic to judge the codes by.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::test_runner::{Config, RngSeed};
use sparsemble::coding::{Coding, CodingBasis, Samples, SparseCoder};
use sparsemble::{Matrix, Run, Scalar};

/// This many cases of a law, the same ones in every run unless `PROPTEST_RNG_SEED` says otherwise.
pub(crate) fn cases(cases: u32) -> Config {
    let config = Config::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1302_6957),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 50, ..config }
}

/// Arbitrary values from a seed, the same on every machine.
pub(crate) struct Values {
    state: u64,
}

impl Values {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Evenly spread between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.unit() * limit as f64) as usize
    }

    /// About normal, with mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    pub(crate) fn matrix<T: Scalar>(&mut self, rows: usize, columns: usize) -> Matrix<T> {
        Matrix::from_fn(rows, columns, |_, _| T::from_f64(self.normal()))
    }

    /// An order of `0..count`.
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }
}

/// A dictionary, whose columns do not have unit norm, and samples.
#[derive(Debug, Clone)]
pub(crate) struct Problem<T> {
    pub(crate) atoms: Matrix<T>,
    pub(crate) samples: Matrix<T>,
}

impl<T: Scalar> Problem<T> {
    pub(crate) fn random(seed: u64, n_features: usize, n_atoms: usize, n_samples: usize) -> Self {
        let mut values = Values::new(seed);
        let lengths: Vec<f64> = (0..n_atoms).map(|_| 0.5 + values.unit()).collect();
        let atoms = Matrix::from_fn(n_features, n_atoms, |_, c| T::from_f64(lengths[c] * values.normal()));
        Self { atoms, samples: values.matrix(n_features, n_samples) }
    }

    pub(crate) fn scaled(&self, atom_scale: f64, sample_scale: f64) -> Self {
        Self { atoms: scaled(&self.atoms, atom_scale), samples: scaled(&self.samples, sample_scale) }
    }

    pub(crate) fn basis(&self) -> CodingBasis<T> {
        CodingBasis::new(self.atoms.view()).unwrap()
    }

    /// Codes all samples on one thread.
    pub(crate) fn encode(&self, coder: &dyn SparseCoder<T>) -> Coding<T> {
        self.encode_as(coder, Samples::new(self.samples.view()))
    }

    /// Codes these samples on one thread.
    pub(crate) fn encode_as(&self, coder: &dyn SparseCoder<T>, samples: Samples<'_, T>) -> Coding<T> {
        coder.encode(&self.basis(), &samples, Run::threads(1)).unwrap()
    }

    /// One sample judged against one code.
    pub(crate) fn judge(&self, sample: usize, code: &[f64]) -> Judged {
        Judged::new(&self.atoms, self.samples.column(sample), code)
    }
}

fn scaled<T: Scalar>(matrix: &Matrix<T>, factor: f64) -> Matrix<T> {
    Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| T::from_f64(matrix.column(c)[r].to_f64() * factor))
}

/// The columns of these names, in this order.
pub(crate) fn columns<T: Scalar>(matrix: &Matrix<T>, names: &[usize]) -> Matrix<T> {
    Matrix::from_fn(matrix.rows(), names.len(), |r, c| matrix.column(names[c])[r])
}

/// The rows of these names, in this order.
pub(crate) fn rows<T: Scalar>(matrix: &Matrix<T>, names: &[usize]) -> Matrix<T> {
    Matrix::from_fn(names.len(), matrix.columns(), |r, c| matrix.column(c)[names[r]])
}

/// One sample's code with its zeros, in double precision.
pub(crate) fn code<T: Scalar>(coding: &Coding<T>, sample: usize) -> Vec<f64> {
    let mut dense = vec![0.0; coding.codes.n_atoms()];
    coding.codes.column(sample).for_each(|(j, a)| dense[j] = a.to_f64());
    dense
}

pub(crate) fn support(code: &[f64]) -> Vec<usize> {
    (0..code.len()).filter(|&j| code[j].abs() > 0.0).collect()
}

pub(crate) fn to_f64<T: Scalar>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// A sample and its code, with everything the laws ask about, all in double precision.
pub(crate) struct Judged {
    pub(crate) energy: f64,
    pub(crate) code: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    /// dᵀr for each atom.
    pub(crate) correlations: Vec<f64>,
    /// ‖d‖ for each atom.
    pub(crate) lengths: Vec<f64>,
}

impl Judged {
    pub(crate) fn new<T: Scalar>(atoms: &Matrix<T>, sample: &[T], code: &[f64]) -> Self {
        let x = to_f64(sample);
        let atoms: Vec<Vec<f64>> = (0..atoms.columns()).map(|j| to_f64(atoms.column(j))).collect();
        let mut residual = x.clone();
        for (atom, a) in atoms.iter().zip(code) {
            residual.iter_mut().zip(atom).for_each(|(r, d)| *r -= a * d);
        }
        let correlations = atoms.iter().map(|atom| dot(atom, &residual)).collect();
        let lengths = atoms.iter().map(|atom| norm(atom)).collect();
        Self { energy: dot(&x, &x), code: code.to_vec(), residual, correlations, lengths }
    }

    /// ‖x − Da‖²
    pub(crate) fn error(&self) -> f64 {
        dot(&self.residual, &self.residual)
    }

    /// Σ w|a|
    pub(crate) fn price(&self, weights: &[f64]) -> f64 {
        self.code.iter().zip(weights).filter(|(a, _)| a.abs() > 0.0).map(|(a, w)| a.abs() * w).sum()
    }

    pub(crate) fn objective(&self, lambda: f64, weights: &[f64]) -> f64 {
        self.error() + lambda * self.price(weights)
    }

    /// What rounding the code to the type can do to a relative gap: each coefficient moves by half an ulp, which moves
    /// the residual by that much of its atom, and the gap by twice the norm of the code times that.
    pub(crate) fn rounding<T: Scalar>(&self) -> f64 {
        let parts: f64 = self.code.iter().zip(&self.lengths).map(|(a, length)| a.abs() * length).sum();
        2.0 * T::EPSILON.to_f64() * (parts + self.energy.sqrt()).powi(2) / self.energy
    }

    /// The duality gap of Eq. (1) over ‖x‖², with the residual scaled as well as it can be for the dual point.
    pub(crate) fn gap(&self, lambda: f64, weights: &[f64], nonnegative: bool) -> f64 {
        if self.energy <= 0.0 {
            return 0.0;
        }
        let scaled = self.correlations.iter().zip(weights).filter(|(_, w)| **w > 0.0).map(|(c, w)| c / w);
        let largest = scaled.fold(0.0_f64, |largest, c| largest.max(if nonnegative { c } else { c.abs() }));
        let x_residual = self.error() + dot(&self.code, &self.correlations); // ⟨x, r⟩, as x = r + Da
        let wanted = if self.error() > 0.0 { x_residual / self.error() } else { 0.0 };
        let scale = if largest > 0.0 { wanted.min(0.5 * lambda / largest) } else { wanted };
        let dual = 2.0 * scale * x_residual - scale * scale * self.error();
        (self.objective(lambda, weights) - dual) / self.energy
    }
}
