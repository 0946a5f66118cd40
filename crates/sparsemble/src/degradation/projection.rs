//! Random projections: few random combinations of all features, the measurements of compressive sensing (§IV-A).

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use rand::Rng;

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rng::{normal, stream};
use crate::scalar::Scalar;
use crate::spec::{unless, write};

use super::{Dense, MOST_NUMBERS, Operator};

/// A random matrix of N rows, the same for the same seed and number of features.
///
/// | field | symbol | purpose | range |
/// | --- | --- | --- | --- |
/// | `kind` | | how its entries are drawn, see [`ProjectionKind`] | |
/// | `n_measurements` | N | rows | ≥ 1; at most M if orthonormal |
/// | `seed` | | of the entries | |
///
/// As text `gaussian:measurements=16,seed=5`; also `orthonormal` and `bernoulli`.
///
/// # Example
/// ```
/// use sparsemble::degradation::{Degradation, Projection};
///
/// let projection: Projection = "orthonormal:measurements=16,seed=5".parse()?;
/// let phi = projection.matrix::<f32>(64)?;
/// assert_eq!((phi.n_measurements(), phi.n_features()), (16, 64));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eq. (14).
#[doc(alias = "compressive sensing")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// How the entries are drawn.
    pub kind: ProjectionKind,
    /// N.
    pub n_measurements: usize,
    /// The seed of the entries.
    pub seed: u64,
}

/// How the entries of a random projection are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProjectionKind {
    /// Normal, of variance 1/N.
    Gaussian,
    /// Normal, then the rows made orthonormal: ΦΦᵀ = I.
    Orthonormal,
    /// ±1/√N with equal chances.
    Bernoulli,
}

impl ProjectionKind {
    const ALL: [Self; 3] = [Self::Gaussian, Self::Orthonormal, Self::Bernoulli];

    /// The kind of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Orthonormal => "orthonormal",
            Self::Bernoulli => "bernoulli",
        }
    }
}

impl Projection {
    /// Φ for samples of this many features.
    ///
    /// # Errors
    /// If there is no measurement or no feature, there are more orthonormal rows than features, or Φ has more than 2²⁸
    /// numbers.
    pub fn matrix<T: Scalar>(&self, n_features: usize) -> Result<Dense<T>> {
        let n = self.n_measurements;
        if n == 0 {
            return Err(Error::parameter("measurements", 0, "must be at least 1"));
        }
        if self.kind == ProjectionKind::Orthonormal && n > n_features {
            let reason = format!("must be at most the number of features, {n_features}, for orthonormal rows");
            return Err(Error::parameter("measurements", n, reason));
        }
        if n.checked_mul(n_features).is_none_or(|numbers| numbers > MOST_NUMBERS) {
            let reason = format!("is too many for {n_features} features: Φ has at most {MOST_NUMBERS} numbers");
            return Err(Error::parameter("measurements", n, reason));
        }
        let mut stream = stream(self.seed, "projection", 0);
        let scale = 1.0 / (n as f64).sqrt();
        let mut rows: Vec<Vec<f64>> = (0..n).map(|_| vec![0.0; n_features]).collect();
        for entry in rows.iter_mut().flatten() {
            *entry = match self.kind {
                ProjectionKind::Bernoulli => [-scale, scale][(stream.next_u32() & 1) as usize],
                ProjectionKind::Gaussian => scale * normal(&mut stream),
                ProjectionKind::Orthonormal => normal(&mut stream),
            };
        }
        if self.kind == ProjectionKind::Orthonormal {
            orthonormalise(&mut rows);
        }
        Dense::new(Matrix::from_fn(n, n_features, |r, c| T::from_f64(rows[r][c])).view())
    }
}

/// Gram and Schmidt, each row twice, which is enough for rows of random numbers.
fn orthonormalise(rows: &mut [Vec<f64>]) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for i in 0..rows.len() {
        let (before, rest) = rows.split_at_mut(i);
        let row = &mut rest[0];
        for other in before.iter().chain(before.iter()) {
            let along = dot(row, other);
            row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let norm = dot(row, row).sqrt();
        for x in row {
            *x /= norm;
        }
    }
}

impl Display for Projection {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let measurements = Some(format!("measurements={}", self.n_measurements));
        write(f, self.kind.name(), [measurements, unless(&0, "seed", &self.seed)])
    }
}

impl FromStr for Projection {
    type Err = Error;

    /// # Errors
    /// If the text names no projection, lacks `measurements` or has a setting that is not known.
    fn from_str(text: &str) -> Result<Self> {
        match text.parse()? {
            Operator::Projection(projection) => Ok(projection),
            other => Err(Error::parameter(
                "phi",
                other,
                "is no projection; write gaussian:measurements=16, orthonormal:… or bernoulli:…",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projection(kind: ProjectionKind, n_measurements: usize) -> Projection {
        Projection { kind, n_measurements, seed: 5 }
    }

    #[test]
    fn entries_have_the_variance_they_should_and_depend_on_the_seed() {
        for kind in [ProjectionKind::Gaussian, ProjectionKind::Bernoulli] {
            let phi = projection(kind, 100).matrix::<f64>(400).unwrap();
            let entries = phi.matrix().to_matrix().into_vec();
            let mean = |power: i32| entries.iter().map(|x| x.powi(power)).sum::<f64>() / entries.len() as f64;
            // Five standard deviations of each mean, for the normal numbers.
            assert!(mean(1).abs() < 5.0 * 0.1 / 200.0 && (mean(2) * 100.0 - 1.0).abs() < 5.0 * 2.0_f64.sqrt() / 200.0);
            let other = Projection { seed: 6, ..projection(kind, 100) };
            assert_ne!(other.matrix::<f64>(400).unwrap(), phi);
            assert_eq!(projection(kind, 100).matrix::<f64>(400).unwrap(), phi);
        }
    }

    #[test]
    fn orthonormal_rows_are() {
        for (n, m) in [(1, 1), (16, 64), (64, 64)] {
            let phi = projection(ProjectionKind::Orthonormal, n).matrix::<f64>(m).unwrap().matrix().to_matrix();
            let entry = |r: usize, c: usize| phi.column(c)[r];
            for a in 0..n {
                for b in 0..n {
                    let product: f64 = (0..m).map(|c| entry(a, c) * entry(b, c)).sum();
                    assert!((product - f64::from(u8::from(a == b))).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn text_and_projection_are_the_same_thing() {
        for (text, kind) in [("gaussian", 0), ("orthonormal", 1), ("bernoulli", 2)] {
            let expected = Projection { kind: ProjectionKind::ALL[kind], n_measurements: 8, seed: 3 };
            assert_eq!(format!("{text}:measurements=8,seed=3").parse::<Projection>().unwrap(), expected);
            assert_eq!(expected.to_string().parse::<Projection>().unwrap(), expected);
        }
        assert!("mask:missing=0.5".parse::<Projection>().unwrap_err().to_string().contains("is no projection"));
        assert!(projection(ProjectionKind::Orthonormal, 5).matrix::<f32>(4).is_err());
        assert!(projection(ProjectionKind::Gaussian, 0).matrix::<f32>(4).is_err());
        assert!(projection(ProjectionKind::Gaussian, 3).matrix::<f32>(0).is_err());
    }
}
