//! The map from codes to values, known only by what it does.

use fearless_simd::{Level, dispatch};
use rand::RngExt;

use crate::blocks::Pulse;
use crate::coding::CodingBasis;
use crate::coding::basis::norm;
use crate::degradation::Degradation;
use crate::error::{Error, Result};
use crate::kernels::{axpy, best_level, dots};
use crate::matrix::first_not_finite;
use crate::rng::stream;
use crate::scalar::Scalar;

use super::solver::{Point, Target};

/// Steps of the power iteration for ‖F‖. It need not be accurate: the solver notices a value that is too small.
const POWER_STEPS: usize = 24;

/// The factor on the estimate of ‖F‖², which falls short of it.
const SAFETY: f64 = 1.02;

/// F = ΦD, with the tamed atoms of the basis for D.
pub(super) struct Operator<'a, T> {
    basis: &'a CodingBasis<T>,
    phi: &'a dyn Degradation<T>,
    atoms: Vec<u32>,
    level: Level,
    curvature: f64,
}

impl<'a, T: Scalar> Operator<'a, T> {
    /// Measures ‖ΦD‖; fails if that is beyond what the steps can work with.
    pub(super) fn new(basis: &'a CodingBasis<T>, phi: &'a dyn Degradation<T>, pulse: &Pulse<'_>) -> Result<Self> {
        let atoms = (0..basis.n_atoms() as u32).collect();
        let mut operator = Self { basis, phi, atoms, level: best_level(), curvature: 0.0 };
        let norm = operator.norm(pulse)?;
        operator.curvature = SAFETY * norm * norm;
        if norm <= 0.0 || operator.curvature.is_normal() {
            Ok(operator)
        } else {
            Err(Error::parameter(
                "phi",
                format!("map of norm {norm:e}"),
                "too large or too small; scale it towards one",
            ))
        }
    }

    pub(super) fn basis(&self) -> &CodingBasis<T> {
        self.basis
    }

    /// The length of what F gives.
    pub(super) fn n_values(&self) -> usize {
        self.phi.n_measurements()
    }

    /// About ‖F‖².
    pub(super) fn curvature(&self) -> f64 {
        self.curvature
    }

    /// Working space for [`Self::evaluate`].
    pub(super) fn features(&self) -> Vec<T> {
        vec![T::ZERO; self.basis.columns().stride()]
    }

    /// About the multiply-adds of one use of F and one of Fᵀ; Φ may be as slow as a matrix.
    pub(super) fn work(&self) -> usize {
        let n_features = self.basis.n_features();
        n_features.saturating_mul(self.basis.n_atoms().saturating_add(self.n_values())).saturating_mul(2)
    }

    /// The residual and the correlations of a point's code.
    pub(super) fn evaluate(&self, target: &Target<T>, features: &mut [T], point: &mut Point<T>) {
        self.apply(&point.code, features, &mut point.residual);
        for ((r, &x), &observed) in point.residual.iter_mut().zip(&target.values).zip(&target.mask) {
            *r = (x - *r) * observed;
        }
        self.adjoint(&point.residual, features, &mut point.correlations);
        if let Some(j) = target.excluded {
            point.correlations[j] = T::ZERO; // its coefficient starts at zero and so never moves
        }
    }

    /// `values` = F · `code`.
    fn apply(&self, code: &[T], features: &mut [T], values: &mut [T]) {
        let atoms = self.basis.columns();
        features.fill(T::ZERO);
        for (j, &a) in code.iter().enumerate().filter(|(_, a)| a.abs() > T::ZERO) {
            dispatch!(self.level, simd => axpy(simd, a, atoms.padded(j), features));
        }
        self.phi.apply(&features[..atoms.rows()], values);
    }

    /// `correlations` = Fᵀ · `values`.
    fn adjoint(&self, values: &[T], features: &mut [T], correlations: &mut Vec<T>) {
        let atoms = self.basis.columns();
        self.phi.adjoint(values, &mut features[..atoms.rows()]);
        dispatch!(self.level, simd => dots(simd, atoms, &self.atoms, features, correlations));
        correlations.truncate(atoms.count());
    }

    /// ‖F‖ or a little less, by power iteration from a fixed arbitrary start; NaN if F makes values that are not finite.
    fn norm(&self, pulse: &Pulse<'_>) -> Result<f64> {
        let mut rng = stream(0, "power iteration", 0);
        let mut code: Vec<T> = self.atoms.iter().map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect();
        let mut values = vec![T::ZERO; self.n_values()];
        let mut features = self.features();
        let mut norm = 0.0;
        for _ in 0..POWER_STEPS {
            pulse.count(self.work())?;
            make_unit(&mut code);
            self.apply(&code, &mut features, &mut values);
            norm = make_unit(&mut values);
            self.adjoint(&values, &mut features, &mut code);
            if !norm.is_finite() || first_not_finite(&values).or(first_not_finite(&code)).is_some() {
                return Ok(f64::NAN);
            }
        }
        Ok(norm)
    }
}

/// Divides by the norm unless that is zero; returns it.
fn make_unit<T: Scalar>(values: &mut [T]) -> f64 {
    let norm = norm(values);
    if norm > 0.0 {
        for value in values {
            *value = T::from_f64(value.to_f64() / norm);
        }
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::super::solver::Solver;
    use super::super::{Fista, Momentum};
    use super::*;
    use crate::blocks::Run;
    use crate::coding::Samples;
    use crate::degradation::Identity;
    use crate::matrix::Matrix;

    #[test]
    fn the_norm_of_a_diagonal_matrix_is_its_largest_entry() {
        let diagonal = |r: usize, c: usize| if r == c { r as f64 + 1.0 } else { 0.0 };
        let basis = CodingBasis::new(Matrix::from_fn(7, 7, diagonal).view()).unwrap();
        let phi = Identity::new(7);
        let operator = Run::default().listening(|pulse| Operator::new(&basis, &phi, pulse));
        let curvature = operator.unwrap().curvature();
        assert!(curvature > 48.0 && curvature <= 49.0 * SAFETY, "{curvature}");
    }

    #[test]
    fn a_curvature_far_too_small_is_noticed_and_corrected() {
        let atoms = Matrix::from_fn(5, 9, |r, c| ((r * 5 + c * 3) % 7) as f64 - 3.0);
        let sample = Matrix::from_fn(5, 1, |r, _| r as f64 - 1.5);
        let (basis, phi) = (CodingBasis::new(atoms.view()).unwrap(), Identity::new(5));
        let run = Run::default();
        let mut operator = run.listening(|pulse| Operator::new(&basis, &phi, pulse)).unwrap();
        operator.curvature *= 1e-3;
        for momentum in [Momentum::None, Momentum::Nesterov] {
            let coder = Fista { momentum, ..Fista::lambda(0.5) };
            let mut solver = Solver::new(&coder, &operator);
            let block = run.listening(|pulse| solver.encode_block(&Samples::new(sample.view()), 0..1, pulse)).unwrap();
            assert!(block.report.converged, "{:?}", block.report);
        }
    }
}
