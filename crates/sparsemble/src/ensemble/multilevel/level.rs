//! One level: what it makes of residuals, and what it leaves of them (§IV-A1).

use crate::blocks::Run;
use crate::coding::{OneSparse, SparseCodes};
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// The coefficient of the atom a level chooses. Both are the same for atoms of unit norm, that is without Φ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coefficients {
    /// dᵀr / ‖d‖², the best one: with averaged models the energy of a residual never rises.
    #[default]
    LeastSquares,
    /// dᵀr, as if ‖d‖ = 1: a possible reading of the paper, with which the energy of a residual may rise.
    Correlation,
}

impl Coefficients {
    /// Its name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeastSquares => "least-squares",
            Self::Correlation => "correlation",
        }
    }
}

/// Codes residuals in one level and takes from each of them what the level makes of it. What is left of a sample of
/// that size by rounding alone becomes zero, so that no later level learns from it or codes it.
pub(super) fn code_level<T: Scalar>(
    level: &Ensemble<T>,
    rule: Coefficients,
    residuals: &mut Matrix<T>,
    sizes: &[f64],
) -> Result<SparseCodes<T>> {
    let members = Members::of(std::slice::from_ref(level));
    let best = level.transform(residuals.view(), &OneSparse::default(), Run::threads(1))?.codes;
    let mut codes = SparseCodes::new(level.n_atoms());
    for (slot, size_before) in sizes.iter().enumerate() {
        let residual = residuals.column_mut(slot);
        codes.push(members.terms(best.column(slot)).map(|term| {
            let coefficient = term.coefficient(rule);
            term.subtract(coefficient, residual);
            (term.row, T::from_f64(coefficient))
        }));
        if size(residual) <= 4.0 * T::EPSILON.to_f64() * size_before {
            residual.fill(T::ZERO);
        }
    }
    Ok(codes)
}

/// The largest magnitude in each column.
pub(super) fn sizes<T: Scalar>(matrix: &Matrix<T>) -> Vec<f64> {
    (0..matrix.columns()).map(|i| size(matrix.column(i))).collect()
}

fn size<T: Scalar>(column: &[T]) -> f64 {
    column.iter().fold(0.0, |largest, value| value.to_f64().abs().max(largest))
}

/// The models of some levels with their weights, and where the atoms of each end in a stacked code.
pub(super) struct Members<'a, T> {
    /// Each with its β and the number of its level.
    models: Vec<(&'a SparseModel<T>, f64, usize)>,
    ends: Vec<usize>,
}

impl<'a, T: Scalar> Members<'a, T> {
    pub(super) fn of(levels: &'a [Ensemble<T>]) -> Self {
        let of_level = |(number, level): (usize, &'a Ensemble<T>)| {
            level.models().iter().zip(level.beta()).map(move |(model, weight)| (model, *weight, number))
        };
        let models: Vec<_> = levels.iter().enumerate().flat_map(of_level).collect();
        let mut end = 0;
        let ends = models.iter().map(|(model, ..)| {
            end += model.n_atoms();
            end
        });
        Self { ends: ends.collect(), models }
    }

    /// The entries of a stacked code, each with the model it belongs to.
    pub(super) fn terms(&self, code: impl Iterator<Item = (usize, T)>) -> impl Iterator<Item = Term<'a, T>> {
        let mut member = 0;
        code.map(move |(row, coefficient)| {
            while row >= self.ends[member] {
                member += 1;
            }
            let (model, weight, level) = self.models[member];
            let atom = row + model.n_atoms() - self.ends[member];
            Term { level, model, weight, atom, row: row as u32, coefficient }
        })
    }
}

/// One entry of a stacked code.
pub(super) struct Term<'a, T> {
    /// The number of the level.
    pub(super) level: usize,
    pub(super) model: &'a SparseModel<T>,
    /// β of the model.
    pub(super) weight: f64,
    /// The atom in the model.
    pub(super) atom: usize,
    /// The row in the stacked code.
    row: u32,
    pub(super) coefficient: T,
}

impl<T: Scalar> Term<'_, T> {
    /// The coefficient by this rule, given the best one.
    fn coefficient(&self, rule: Coefficients) -> f64 {
        let basis = self.model.basis();
        let best = self.coefficient.to_f64();
        match rule {
            Coefficients::LeastSquares => best,
            Coefficients::Correlation => best * (basis.norm(self.atom) * basis.scale(self.atom)).powi(2),
        }
    }

    /// Takes this multiple of the atom, times β, from a residual.
    fn subtract(&self, coefficient: f64, residual: &mut [T]) {
        let basis = self.model.basis();
        let factor = T::from_f64(-self.weight * coefficient * basis.scale(self.atom));
        residual.iter_mut().zip(basis.columns().column(self.atom)).for_each(|(r, &d)| *r += factor * d);
    }
}
