//! The points of a convex hull that are nearest to samples.

use std::ops::Range;

use fearless_simd::dispatch;

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::{Error, Result, expect_size};
use crate::kernels::best_level;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::{product, product_by};

use super::{WeightConstraint, active_set};

/// Samples weighed at a time.
const BLOCK: usize = 32;

/// The weights of given points that are best for each sample: min over β of ‖x − Zβ‖² with β ≥ 0 and Σβ = 1.
///
/// This is case 4 of [`WeightConstraint`] where every member approximates all samples by the same point: an archetype,
/// the spectrum of a pure material, a corner of the data.
///
/// # Shapes
/// Samples M × T, the points Z M × L, the weights L × T: few of them are not zero.
///
/// # Cost
/// For each sample (M + L)·L multiply-adds, and about L² for every point that enters or leaves. Memory for L² products.
///
/// # Errors
/// If there is no point, sizes disagree, a value is not finite or too large to be squared, or the run was interrupted.
///
/// # Example
/// ```
/// use sparsemble::ensemble::simplex_weights;
/// use sparsemble::{Matrix, Run};
///
/// // The corners of a triangle, and a sample outside, nearest to the middle of its first side.
/// let corners = Matrix::from_columns(vec![0.0, 0.0, 2.0, 0.0, 1.0, 5.0], 2, 3)?;
/// let sample = Matrix::from_columns(vec![1.0, -3.0], 2, 1)?;
/// let weights = simplex_weights(sample.view(), corners.view(), Run::default())?;
/// assert_eq!(weights.column(0).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §II-A, case 4.
pub fn simplex_weights<T: Scalar>(
    samples: MatrixView<'_, T>,
    points: MatrixView<'_, T>,
    run: Run<'_>,
) -> Result<SparseCodes<T>> {
    (T::instances().simplex_weights)(samples, points, run)
}

/// [`simplex_weights`]; see [`crate::instances`].
pub(crate) fn simplex_weights_here<T: Scalar>(
    samples: MatrixView<'_, T>,
    points: MatrixView<'_, T>,
    run: Run<'_>,
) -> Result<SparseCodes<T>> {
    let hull = Hull::new(points)?;
    expect_size("samples: number of features (that of the points)", points.rows(), samples.rows())?;
    let blocks = run.map_blocks(
        samples.columns(),
        BLOCK,
        || Space::of(&hull),
        |space, range| hull.weigh(samples, range, space),
    )?;
    let mut codes = SparseCodes::new(hull.count());
    for block in &blocks {
        codes.append(block);
    }
    Ok(codes)
}

/// The points as seen from the first of them, which changes no weights of sum one and keeps the digits that products of
/// points far from the origin would lose.
struct Hull {
    origin: Vec<f64>,
    points: Matrix<f64>,
    /// The products of all pairs, L × L.
    products: Vec<f64>,
}

/// One thread's space: a sample, its products with the points, and H with a member 0 that is not used.
struct Space<T> {
    values: Vec<T>,
    sample: Vec<f64>,
    products: Vec<f64>,
    gram: Vec<f64>,
}

impl<T: Scalar> Space<T> {
    fn of(hull: &Hull) -> Self {
        let (rows, size) = (hull.origin.len(), hull.count() + 1);
        let (values, sample) = (vec![T::ZERO; rows], vec![0.0; rows]);
        Self { values, sample, products: vec![0.0; size - 1], gram: vec![0.0; size * size] }
    }
}

impl Hull {
    fn new<T: Scalar>(points: MatrixView<'_, T>) -> Result<Self> {
        if points.columns() == 0 {
            return Err(Error::Empty { what: "points", unit: "point" });
        }
        points.expect_finite("points")?;
        let origin: Vec<f64> = (0..points.rows()).map(|row| points.get(row, 0).to_f64()).collect();
        let seen = Matrix::from_fn(points.rows(), points.columns(), |row, l| points.get(row, l).to_f64() - origin[row]);
        let pairs = (0..points.columns()).flat_map(|i| (0..points.columns()).map(move |j| (i, j)));
        let products: Vec<f64> = pairs.map(|(i, j)| product(seen.column(i), seen.column(j))).collect();
        expect_squarable("points", products.iter().fold(0.0, |most, value| value.abs().max(most)))?;
        Ok(Self { origin, points: seen, products })
    }

    fn count(&self) -> usize {
        self.points.columns()
    }

    /// The weights of some samples.
    fn weigh<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        range: Range<usize>,
        space: &mut Space<T>,
    ) -> Result<SparseCodes<T>> {
        let mut codes = SparseCodes::new(self.count());
        for sample in range {
            samples.copy_finite_column(sample, &mut space.values, "samples")?;
            let seen = space.values.iter().zip(&self.origin).map(|(value, origin)| value.to_f64() - origin);
            space.sample.iter_mut().zip(seen).for_each(|(place, value)| *place = value);
            self.fill_gram(&space.sample, &mut space.products, &mut space.gram)?;
            let weights = active_set::weights(&space.gram, WeightConstraint::Simplex);
            codes.push((0..).zip(&weights[1..]).map(|(point, weight)| (point, T::from_f64(*weight))));
        }
        Ok(codes)
    }

    /// H: the products of all x − z_i with all x − z_j.
    fn fill_gram(&self, sample: &[f64], products: &mut [f64], gram: &mut [f64]) -> Result<()> {
        let energy = product(sample, sample);
        expect_squarable("samples", energy)?;
        dispatch!(best_level(), simd => {
            for (i, value) in products.iter_mut().enumerate() {
                *value = product_by(simd, sample, self.points.column(i));
            }
        });
        let size = self.count() + 1;
        let rows = gram[size..].chunks_exact_mut(size).zip(self.products.chunks_exact(size - 1));
        for ((row, between), own) in rows.zip(&*products) {
            for ((h, pair), other) in row[1..].iter_mut().zip(between).zip(&*products) {
                *h = energy - own - other + pair;
            }
        }
        Ok(())
    }
}

fn expect_squarable(what: &'static str, energy: f64) -> Result<()> {
    if energy < 1e300 {
        return Ok(());
    }
    Err(Error::parameter(what, energy, "the energy is not a number to compute with; scale the data"))
}
