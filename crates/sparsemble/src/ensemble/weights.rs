//! The weights of an ensemble: the best β under one of four constraints (§II-A, Eqs. (5)–(8)).
//!
//! Let r_l = x − c_l be the residual of member l, and let x itself be the residual of a member number 0 that
//! approximates everything by zero. With γ_0 = 1 − Σβ and γ_l = β_l the residual of Eq. (5) is always an affine
//! combination of residuals, as in Eq. (8): x − Cβ = γ_0·x + Σ γ_l r_l with Σγ = 1. So all four cases are one problem,
//! min γᵀHγ with Σγ = 1, where H is the Gram matrix of (x, r_1, …, r_L): the first two cases may use member 0, the
//! second and fourth ask for γ_l ≥ 0. Working with residuals also keeps the digits that products of good approximations
//! would lose.

mod active_set;
mod by_samples;
mod simplex;

pub use by_samples::OracleWeights;
pub use simplex::simplex_weights;
pub(crate) use simplex::simplex_weights_here;

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::error::{Error, Result, expect_size};
use crate::masses::check_mass;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::sums::product;

/// What is asked of the weights β; its name is that of the variant, `non-negative`.
///
/// The residuals of the four cases are ordered: 1 ≤ 2 ≤ 4 and 1 ≤ 3 ≤ 4, and none exceeds that of the best member.
///
/// Paper: §II-A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightConstraint {
    /// Nothing: plain least squares, Eq. (6). Case 1.
    Unconstrained,
    /// β ≥ 0: the approximation lies in the cone of the members'. Case 2.
    NonNegative,
    /// Σβ = 1: it lies in their affine hull. Case 3, that of boosting.
    Affine,
    /// β ≥ 0 and Σβ = 1: it lies in their convex hull. Case 4.
    Simplex,
}

impl WeightConstraint {
    /// The four cases in the paper's order.
    pub const ALL: [Self; 4] = [Self::Unconstrained, Self::NonNegative, Self::Affine, Self::Simplex];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unconstrained => "unconstrained",
            Self::NonNegative => "non-negative",
            Self::Affine => "affine",
            Self::Simplex => "simplex",
        }
    }

    fn sum_is_free(self) -> bool {
        matches!(self, Self::Unconstrained | Self::NonNegative)
    }

    fn is_nonnegative(self) -> bool {
        matches!(self, Self::NonNegative | Self::Simplex)
    }
}

impl Display for WeightConstraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WeightConstraint {
    type Err = Error;

    /// # Errors
    /// If there is no constraint of this name.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|constraint| constraint.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::parameter("constraint", name, format!("is not known; use one of {known}"))
        })
    }
}

/// Weights, and what they achieve.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// β, one weight for each member.
    pub beta: Vec<f64>,
    /// The evidence.
    pub certificate: Certificate,
}

/// What weights achieve, and how far they are from the best.
///
/// Over many samples the norms are root means of squares, by mass.
///
/// Paper: §II-A, Eq. (7).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// ‖r‖, the norm of the residual of the combination.
    pub residual: f64,
    /// ‖r_min‖, that of the best member alone.
    pub best_member: f64,
    /// By how much the conditions of optimality (Karush, Kuhn and Tucker) are missed: the largest of
    /// |rᵀ(r − r_l)| over the members that may move both ways and of rᵀ(r − r_l) over those that may only enter, as a
    /// fraction of ‖r_l‖ times the largest residual norm of a member.
    pub optimality: f64,
    /// The root of what rounding may add to ‖r‖² or take from it, as it is summed from products of the members' residuals:
    /// 4·√ε·Σ|β_l|‖r_l‖, about 10⁻⁷ of the residuals at most, times the size of the weights.
    pub rounding: f64,
}

impl Certificate {
    /// The bound of Eq. (7): the combination is at least as good as its best member, ‖r‖ ≤ ‖r_min‖, but for
    /// [`rounding`](Self::rounding).
    pub fn holds(&self) -> bool {
        self.residual.powi(2) <= self.best_member.powi(2) + self.rounding.powi(2)
    }
}

/// The products of the residuals of L members over one sample or many: all that the weights depend on.
///
/// # Shapes
/// (L + 1)² numbers, however many samples were added.
///
/// # Cost
/// (L + 1)²M/2 multiply-adds to add a sample; about |S|³ to find weights for each of the |S| members that get one.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::ensemble::{MemberGram, WeightConstraint};
///
/// // The sample (1, 1) and two members that see one coordinate each.
/// let mut gram = MemberGram::new(2)?;
/// gram.add(1.0, &[1.0, 1.0], &Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0], 2, 2)?)?;
///
/// let free = gram.weights(WeightConstraint::Unconstrained);
/// assert!(free.certificate.residual < 1e-12); // β = (1, 1)
/// let average = gram.weights(WeightConstraint::Simplex);
/// assert!((average.beta[0] - 0.5).abs() < 1e-12 && average.certificate.holds());
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §II-A, Eqs. (5)–(8).
#[derive(Debug, Clone, PartialEq)]
pub struct MemberGram {
    n_members: usize,
    /// H, (L + 1) × (L + 1), summed by mass.
    products: Vec<f64>,
    mass: f64,
}

impl MemberGram {
    /// No sample yet.
    ///
    /// # Errors
    /// If there is no member.
    pub fn new(n_members: usize) -> Result<Self> {
        if n_members == 0 {
            return Err(Error::Empty { what: "ensemble", unit: "member" });
        }
        let size = n_members + 1;
        Ok(Self { n_members, products: vec![0.0; size * size], mass: 0.0 })
    }

    /// Adds a sample that counts `mass`, given the approximation of each member in a column.
    ///
    /// # Errors
    /// If sizes disagree, the mass is negative, or a value is not finite or too large to be squared. Nothing is added
    /// then.
    pub fn add<T: Scalar>(&mut self, mass: f64, sample: &[T], approximations: &Matrix<T>) -> Result<()> {
        expect_size("approximations: number of members", self.n_members, approximations.columns())?;
        expect_size("approximations: number of features (that of the sample)", sample.len(), approximations.rows())?;
        check_mass("mass", mass)?;
        let x = sample.iter().map(|value| value.to_f64());
        let mut residuals: Vec<f64> = x.clone().collect();
        for l in 0..self.n_members {
            residuals.extend(x.clone().zip(approximations.column(l)).map(|(x, c)| x - c.to_f64()));
        }
        let residual = |i: usize| &residuals[i * sample.len()..][..sample.len()];
        let size = self.n_members + 1;
        for i in 0..size {
            let energy = product(residual(i), residual(i)) * mass;
            if !(self.products[i * size + i] + energy).is_finite() {
                return Err(Error::parameter("sample", energy, "its energy is not a finite number; scale the data"));
            }
        }
        for i in 0..size {
            for j in 0..=i {
                let weighted = mass * product(residual(i), residual(j));
                self.products[i * size + j] += weighted;
                if i != j {
                    self.products[j * size + i] += weighted;
                }
            }
        }
        self.mass += mass;
        Ok(())
    }

    /// Adds all the samples of another one.
    ///
    /// # Errors
    /// If it has another number of members.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        expect_size("gram: number of members", self.n_members, other.n_members)?;
        self.products.iter_mut().zip(&other.products).for_each(|(sum, product)| *sum += product);
        self.mass += other.mass;
        Ok(())
    }

    /// L.
    pub fn n_members(&self) -> usize {
        self.n_members
    }

    /// ‖x − Cβ‖ for any weights, Eq. (5); over many samples the root mean square by mass.
    ///
    /// # Errors
    /// If there is not one weight for each member.
    pub fn residual(&self, beta: &[f64]) -> Result<f64> {
        expect_size("beta: number of members", self.n_members, beta.len())?;
        let gamma: Vec<f64> = std::iter::once(1.0 - beta.iter().sum::<f64>()).chain(beta.iter().copied()).collect();
        Ok(self.norm(active_set::energy(&self.products, &gamma)))
    }

    /// ‖r_l‖ of one member alone.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn member_residual(&self, member: usize) -> f64 {
        assert!(member < self.n_members, "member {member} is outside the ensemble");
        self.norm(self.products[(member + 1) * (self.n_members + 2)])
    }

    /// The weights of least residual under a constraint.
    ///
    /// Members that are copies of each other, or combinations of others to about 10⁻⁵ of their norm, share no weight: one
    /// of them gets it all and the others none.
    ///
    /// Paper: §II-A.
    pub fn weights(&self, constraint: WeightConstraint) -> Weights {
        let solution = active_set::solve(&self.products, constraint);
        let best = (0..self.n_members).map(|l| self.member_residual(l)).fold(f64::INFINITY, f64::min);
        let size = self.n_members + 1;
        let terms = solution.gamma.iter().enumerate();
        let size_of_terms: f64 = terms.map(|(l, gamma)| gamma.abs() * self.norm(self.products[l * (size + 1)])).sum();
        let certificate = Certificate {
            // From the weights as they are returned, not from what the search believes.
            residual: self.norm(active_set::energy(&self.products, &solution.gamma)),
            best_member: best,
            optimality: solution.optimality,
            rounding: 4.0 * f64::EPSILON.sqrt() * size_of_terms,
        };
        Weights { beta: solution.gamma[1..].to_vec(), certificate }
    }

    /// The root mean of a sum of squares by mass; a rounding error below zero is zero.
    fn norm(&self, energy: f64) -> f64 {
        if self.mass > 0.0 { (energy.max(0.0) / self.mass).sqrt() } else { 0.0 }
    }
}
