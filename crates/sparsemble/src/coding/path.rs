//! The path of the lasso: all codes of one sample from the zero code down to some λ.
//!
//! With the signs s of the atoms S in use, the minimum of ½‖x − Da‖² + μ‖a‖₁ moves along a straight line as μ falls,
//! da = (D_SᵀD_S)⁻¹s, until an atom outside becomes as correlated with the residual as those inside, and enters, or a
//! coefficient becomes zero, and its atom leaves. These corners are the path; every other code lies between two.

use super::Penalty;
use crate::blocks::Run;
use crate::cholesky::Cholesky;
use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::{add_multiple, product};

/// Atoms nearer than this to the span of others, by energy, are as good as in it.
const RIDGE: f64 = 1e-14;

/// The corners of a path, from the zero code on.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoPath {
    /// λ at each corner, falling.
    pub lambdas: Vec<f64>,
    /// The code at each corner, one a column.
    pub codes: Matrix<f64>,
}

/// Follows the lasso of Eq. (1) of one sample from the zero code to where `end` holds, in at most `most` corners.
///
/// The codes at the corners are exact but for rounding; between two of them they are their linear interpolation. If the end
/// is out of reach, the path ends where λ is zero.
///
/// # Cost
/// M·K for each corner, and M·|S|² + |S|³ for the |S| atoms in use there, on the caller's thread.
///
/// # Errors
/// If sizes disagree, a value is not finite, or the end is not positive; if whoever watches does not want to go on.
///
/// # Example
/// ```
/// use sparsemble::coding::{Penalty, lasso_path};
/// use sparsemble::{Matrix, Run};
///
/// let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let path = lasso_path(atoms.view(), &[3.0, 1.0], (Penalty::Lambda(1.0), false), 10, Run::default())?;
/// let near = |found: &[f64], expected: &[f64]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
/// assert!(near(&path.lambdas, &[6.0, 2.0, 1.0]));
/// assert!(near(path.codes.column(1), &[2.0, 0.0]));
/// assert!(near(path.codes.column(2), &[2.5, 0.5]));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A, Eq. (1).
pub fn lasso_path<T: Scalar>(
    atoms: MatrixView<'_, T>,
    sample: &[T],
    (end, nonnegative): (Penalty, bool),
    most: usize,
    run: Run<'_>,
) -> Result<LassoPath> {
    let (Penalty::Lambda(value) | Penalty::Relative(value) | Penalty::Error(value) | Penalty::L1Norm(value)) = end;
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::parameter("end of the path", value, "must be positive and finite"));
    }
    expect_size("sample: number of features (that of the atoms)", atoms.rows(), sample.len())?;
    atoms.expect_finite("atoms")?;
    MatrixView::from_columns(sample, sample.len(), 1)?.expect_finite("sample")?;
    let doubles = Matrix::from_fn(atoms.rows(), atoms.columns(), |row, atom| atoms.get(row, atom).to_f64());
    let mut walk = Walk::new(doubles, sample.iter().map(|value| value.to_f64()).collect(), nonnegative);
    let goal = if let Penalty::Relative(share) = end { Penalty::Lambda(2.0 * share * walk.mu) } else { end };
    let (mut lambdas, mut codes) = (vec![2.0 * walk.mu], walk.code.clone());
    // One sample that is never done, so that whoever watches is asked in between.
    run.part(0..0, 1).listening(|pulse| {
        while lambdas.len() < most && walk.step(goal) {
            lambdas.push(2.0 * walk.mu);
            codes.extend(&walk.code);
            pulse.count(walk.work())?;
        }
        Ok(())
    })?;
    let codes = Matrix::from_columns(codes, walk.atoms.columns(), lambdas.len())?;
    Ok(LassoPath { lambdas, codes })
}

/// Where the walk is.
struct Walk {
    atoms: Matrix<f64>,
    sample: Vec<f64>,
    nonnegative: bool,
    mu: f64,
    code: Vec<f64>,
    /// The atoms in use, and their signs.
    support: Vec<(usize, f64)>,
    /// The atom that has just left, and its sign: it is as correlated as those in use, and on its way down.
    left: Option<(usize, f64)>,
    ended: bool,
}

/// What ends a straight part.
#[derive(Clone, Copy)]
enum Corner {
    Enters(usize, f64),
    Leaves(usize),
    End,
}

impl Walk {
    fn new(atoms: Matrix<f64>, sample: Vec<f64>, nonnegative: bool) -> Self {
        let code = vec![0.0; atoms.columns()];
        let mut walk =
            Self { atoms, sample, nonnegative, mu: 0.0, code, support: Vec::new(), left: None, ended: false };
        let correlations: Vec<f64> =
            (0..walk.code.len()).map(|j| product(walk.atoms.column(j), &walk.sample)).collect();
        let size = |j: usize| if nonnegative { correlations[j] } else { correlations[j].abs() };
        let first = (0..correlations.len()).rev().max_by(|&i, &j| size(i).total_cmp(&size(j)));
        if let Some(first) = first.filter(|&j| size(j) > 0.0) {
            walk.mu = size(first);
            walk.support.push((first, correlations[first].signum()));
        }
        walk
    }

    /// Goes on to the next corner; `false`, and no change, at the end.
    fn step(&mut self, goal: Penalty) -> bool {
        if self.ended || self.support.is_empty() {
            return false;
        }
        let residual = self.residual();
        let direction = self.direction();
        let mut moved = vec![0.0; self.sample.len()];
        for (&(atom, _), &by) in self.support.iter().zip(&direction) {
            add_multiple(by, self.atoms.column(atom), &mut moved);
        }
        let end = (self.distance_to(goal, &residual, &moved, &direction), Corner::End);
        let corners = self.leaving(&direction).chain(self.entering(&residual, &moved));
        let (by, corner) = corners.fold(end, |first, next| if next.0 < first.0 { next } else { first });
        if by <= 0.0 && matches!(corner, Corner::End) {
            return false;
        }
        for (&(atom, _), direction) in self.support.iter().zip(&direction) {
            self.code[atom] += by * direction;
        }
        self.mu -= by;
        self.left = None;
        match corner {
            Corner::Enters(atom, sign) => self.support.push((atom, sign)),
            Corner::Leaves(atom) => {
                self.code[atom] = 0.0;
                self.left = self.support.iter().copied().find(|&(other, _)| other == atom);
                self.support.retain(|&(other, _)| other != atom);
            }
            Corner::End => self.ended = true,
        }
        true
    }

    /// The multiply-adds of a step.
    fn work(&self) -> usize {
        let (rows, members) = (self.sample.len(), self.support.len());
        rows * self.atoms.columns() + members * members * (rows + members)
    }

    fn residual(&self) -> Vec<f64> {
        let mut residual = self.sample.clone();
        for &(atom, _) in &self.support {
            add_multiple(-self.code[atom], self.atoms.column(atom), &mut residual);
        }
        residual
    }

    /// How the coefficients in use grow as μ falls: (D_SᵀD_S)⁻¹s.
    fn direction(&self) -> Vec<f64> {
        let column = |i: usize| self.atoms.column(self.support[i].0);
        let size = self.support.len();
        let largest = (0..size).map(|i| product(column(i), column(i))).fold(0.0, f64::max);
        let factor = Cholesky::new(size, |i, j| product(column(i), column(j)), RIDGE * largest);
        let mut direction = vec![0.0; size.next_multiple_of(16)];
        direction.iter_mut().zip(&self.support).for_each(|(place, (_, sign))| *place = *sign);
        factor.solve(&mut direction);
        direction.truncate(size);
        direction
    }

    /// By how much μ may fall until the goal is reached, at most to zero.
    fn distance_to(&self, goal: Penalty, residual: &[f64], moved: &[f64], direction: &[f64]) -> f64 {
        let by = match goal {
            Penalty::Lambda(lambda) | Penalty::Relative(lambda) => self.mu - 0.5 * lambda,
            Penalty::L1Norm(norm) => {
                let growth: f64 = self.support.iter().zip(direction).map(|((_, sign), by)| sign * by).sum();
                (norm - self.code.iter().map(|a| a.abs()).sum::<f64>()) / growth
            }
            Penalty::Error(error) => {
                // ‖r − t·m‖² = error for the first time.
                let (excess, slope) = (product(residual, residual) - error, product(residual, moved));
                let curve = product(moved, moved);
                excess / (slope + (slope * slope - curve * excess).max(0.0).sqrt())
            }
        };
        by.clamp(0.0, self.mu)
    }

    /// When each coefficient in use becomes zero.
    fn leaving<'a>(&'a self, direction: &'a [f64]) -> impl Iterator<Item = (f64, Corner)> + 'a {
        let zero = |(&(atom, _), by): (&(usize, f64), &f64)| (-self.code[atom] / by, Corner::Leaves(atom));
        self.support.iter().zip(direction).map(zero).filter(|(by, _)| *by > 0.0)
    }

    /// When each atom outside becomes as correlated with the residual as those in use.
    fn entering<'a>(&'a self, residual: &'a [f64], moved: &'a [f64]) -> impl Iterator<Item = (f64, Corner)> + 'a {
        let inside = |atom: usize| self.support.iter().any(|&(other, _)| other == atom);
        let full = self.support.len() >= self.sample.len().min(self.atoms.columns());
        let signs: &[f64] = if self.nonnegative { &[1.0] } else { &[1.0, -1.0] };
        (0..self.atoms.columns()).filter(move |&atom| !full && !inside(atom)).flat_map(move |atom| {
            let (now, falls) = (product(self.atoms.column(atom), residual), product(self.atoms.column(atom), moved));
            let meets = move |sign: f64| (self.mu - sign * now) / (1.0 - sign * falls);
            let corner = move |&sign: &f64| (meets(sign).max(0.0), Corner::Enters(atom, sign));
            let may = move |&&sign: &&f64| sign * falls < 1.0 && self.left != Some((atom, sign));
            signs.iter().filter(may).map(corner)
        })
    }
}
