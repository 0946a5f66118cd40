//! The estimate of a group of like patches: each a weak member, all of them together one Gaussian.
//!
//! With the patches of the group, less their mean m, as the columns of a matrix X, the Gaussian has the covariance
//! C = XXᵀ/n. Its best estimate of noisy patches Y is m + C(C + σ²I)⁻¹(Y − m). As (XXᵀ + cI)⁻¹X = X(XᵀX + cI)⁻¹ for
//! c = nσ², that is m + Z·Xᵀ(Y − m) with Z = X(XᵀX + cI)⁻¹: a system as small as the group, whatever the size of a patch,
//! and every estimate is a combination of the patches. If Y − m is X itself, ZXᵀX is X − cZ, without a product.

use fearless_simd::{f32x4, f32x8, prelude::*};

use super::matching::Place;
use super::plane::{NARROW, Plane};
use super::system::{Others, ROWS, add_rows, factor, solve, split_rows};

/// Groups are filled up with zeros to a multiple of this: two of the widest vectors.
pub(super) const LANES: usize = 32;

/// The side of the squares that are turned at a time.
const SQUARE: usize = 4;

/// Below this part of the energy of the group, σ² would be lost in the rounding of single precision.
const LEAST_NOISE: f32 = 1e-6;

/// Far beyond any energy, and far from the largest number.
const MOST_NOISE: f32 = 1e30;

/// How much of the noise of a mean counts: that of patches which overlap is not their own, but the overlapping estimates
/// of a pixel have other means. Measured on pictures of the BSDS (decision 0017).
const KEPT_BY_MEAN: f32 = 0.25;

/// The space to estimate groups in. Matrices are row by row; between a row and the next there are zeros, so that whole
/// vectors may be read and written.
#[derive(Debug)]
pub(super) struct GroupEstimator {
    side: usize,
    /// The size of a group with its padding.
    width: usize,
    /// From a patch to the next.
    pitch: usize,
    means: Vec<f32>,
    /// If it is wanted, how much of its own noise the estimate of each pixel keeps.
    kept: Option<Vec<f32>>,
    /// A patch a row: X, then, if other patches than those of the covariance are estimated, Y − m; then the estimates.
    patches: Vec<f32>,
    /// X, a pixel a row.
    centred: Vec<f32>,
    /// Y − m, a pixel a row; then (Y − m)ᵀX.
    others: Vec<f32>,
    others_by_centred: Vec<f32>,
    /// The system beside its right side: XᵀX + cI and Xᵀ, then its Cholesky factor and Zᵀ.
    system: Vec<f32>,
}

impl GroupEstimator {
    pub(super) fn new(side: usize, group: usize, wants_kept: bool) -> Self {
        let width = group.next_multiple_of(LANES);
        let pitch = (side * side).next_multiple_of(LANES) + LANES;
        Self {
            side,
            width,
            pitch,
            means: vec![0.0; pitch],
            kept: wants_kept.then(|| vec![0.0; pitch]),
            patches: vec![0.0; width * pitch],
            centred: vec![0.0; (side * side).next_multiple_of(SQUARE) * width],
            others: vec![0.0; (side * side).next_multiple_of(SQUARE) * width],
            others_by_centred: vec![0.0; width * width],
            system: vec![0.0; width * (width + pitch)],
        }
    }

    /// Estimates the patches of `noisy` at these places by their covariance in `pilot`, or in `noisy` itself, and gives
    /// the estimates, patch by patch, followed by zeros or anything else.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(
        &mut self,
        simd: S,
        (noisy, pilot): (&Plane, Option<&Plane>),
        places: &[Place],
        noise: f32,
    ) -> impl Iterator<Item = &[f32]> {
        self.gather(simd, pilot.unwrap_or(noisy), places);
        self.find_means(simd, places.len());
        self.subtract_means(simd, places.len());
        across(simd, &self.patches, self.pitch, self.width, &mut self.centred);
        let length = self.vectors(simd) * S::f32s::LEN;
        let beside = self.system.chunks_exact_mut(self.width + self.pitch).zip(self.patches.chunks_exact(self.pitch));
        for (row, patch) in beside.take(places.len()) {
            copy(simd, &patch[..length], &mut row[self.width..]);
        }
        products(simd, (&self.centred, &self.centred), self.width, (true, self.width + self.pitch), &mut self.system);
        if pilot.is_some() {
            self.gather(simd, noisy, places);
            self.subtract_means(simd, places.len());
            across(simd, &self.patches, self.pitch, self.width, &mut self.others);
            let factors = (self.others.as_slice(), self.centred.as_slice());
            products(simd, factors, self.width, (false, self.width), &mut self.others_by_centred);
        }
        let energy: f32 = (0..places.len()).map(|i| self.system[i * (self.width + self.pitch + 1)]).sum();
        let least = LEAST_NOISE * energy + f32::MIN_POSITIVE;
        let ridge = (places.len() as f32 * noise * noise).max(least).min(MOST_NOISE);
        let (vectors, pitch) = (self.vectors(simd), self.width + self.pitch);
        factor(simd, places.len(), (self.width / S::f32s::LEN + vectors, pitch), ridge, &mut self.system);
        self.find_kept(simd, places.len());
        solve(simd, (places.len(), self.width), (vectors, pitch), &mut self.system);
        if pilot.is_some() {
            self.combine(simd, places.len());
        } else {
            self.shrink(simd, places.len(), ridge);
        }
        self.patches.chunks_exact(self.pitch).take(places.len())
    }

    /// How much of its own noise the last estimate of each pixel keeps, in every patch of the group, followed by zeros or
    /// anything else: the diagonal of C(C + σ²I)⁻¹, of which σ² is the variance that the Gaussian leaves to a pixel, and a
    /// part of 1/n for the mean.
    pub(super) fn kept(&self) -> Option<&[f32]> {
        self.kept.as_deref()
    }

    /// The diagonal of X(XᵀX + cI)⁻¹Xᵀ, from U⁻ᵀXᵀ.
    #[inline(always)]
    fn find_kept<S: Simd>(&mut self, simd: S, count: usize) {
        let (lanes, vectors) = (S::f32s::LEN, self.vectors(simd));
        let Some(kept) = &mut self.kept else { return };
        for start in (0..vectors * lanes).step_by(lanes) {
            let mut sum = S::f32s::splat(simd, KEPT_BY_MEAN / count as f32);
            for row in self.system.chunks_exact(self.width + self.pitch).take(count) {
                let part = S::f32s::from_slice(simd, &row[self.width + start..][..lanes]);
                sum = part.mul_add(part, sum);
            }
            sum.store_slice(&mut kept[start..start + lanes]);
        }
    }

    /// Vectors that hold a patch.
    #[inline(always)]
    fn vectors<S: Simd>(&self, _: S) -> usize {
        (self.side * self.side).div_ceil(S::f32s::LEN)
    }

    /// Reads the patches at these places, each followed by zeros.
    #[inline(always)]
    fn gather<S: Simd>(&mut self, simd: S, plane: &Plane, places: &[Place]) {
        let (side, pixels) = (self.side, self.side * self.side);
        for (patch, place) in self.patches.chunks_exact_mut(self.pitch).zip(places) {
            let (row, column) = place.at();
            for r in 0..side {
                let line = plane.from(row + r, column);
                // What is written beyond the row is overwritten by the next one.
                for start in (0..side).step_by(NARROW) {
                    let part = f32x8::from_slice(simd, &line[start..start + NARROW]);
                    part.store_slice(&mut patch[r * side + start..][..NARROW]);
                }
            }
            patch[pixels..pixels + S::f32s::LEN.max(NARROW)].fill(0.0);
        }
        self.patches[places.len() * self.pitch..].fill(0.0);
    }

    #[inline(always)]
    fn find_means<S: Simd>(&mut self, simd: S, count: usize) {
        let lanes = S::f32s::LEN;
        let share = S::f32s::splat(simd, 1.0 / count as f32);
        for start in (0..self.vectors(simd) * lanes).step_by(lanes) {
            let mut sum = S::f32s::splat(simd, 0.0);
            for patch in self.patches.chunks_exact(self.pitch).take(count) {
                sum += S::f32s::from_slice(simd, &patch[start..start + lanes]);
            }
            (sum * share).store_slice(&mut self.means[start..start + lanes]);
        }
    }

    #[inline(always)]
    fn subtract_means<S: Simd>(&mut self, simd: S, count: usize) {
        let lanes = S::f32s::LEN;
        let length = self.vectors(simd) * lanes;
        for patch in self.patches.chunks_exact_mut(self.pitch).take(count) {
            for start in (0..length).step_by(lanes) {
                let (values, means) = (&mut patch[start..start + lanes], &self.means[start..start + lanes]);
                (S::f32s::from_slice(simd, values) - S::f32s::from_slice(simd, means)).store_slice(values);
            }
        }
    }

    /// m + X − cZ.
    #[inline(always)]
    fn shrink<S: Simd>(&mut self, simd: S, count: usize, ridge: f32) {
        let lanes = S::f32s::LEN;
        let length = self.vectors(simd) * lanes;
        let factor = S::f32s::splat(simd, -ridge);
        let solutions = self.system.chunks_exact(self.width + self.pitch).map(|row| &row[self.width..]);
        for (patch, solution) in self.patches.chunks_exact_mut(self.pitch).zip(solutions).take(count) {
            for start in (0..length).step_by(lanes) {
                let part = start..start + lanes;
                let (solution, means) = (&solution[part.clone()], &self.means[part.clone()]);
                let values = &mut patch[part];
                let whole = S::f32s::from_slice(simd, values) + S::f32s::from_slice(simd, means);
                S::f32s::from_slice(simd, solution).mul_add(factor, whole).store_slice(values);
            }
        }
    }

    /// m + ZXᵀ(Y − m).
    #[inline(always)]
    fn combine<S: Simd>(&mut self, simd: S, count: usize) {
        let length = self.vectors(simd) * S::f32s::LEN;
        let pitch = self.width + self.pitch;
        let rows_of_factors = self.others_by_centred.chunks_exact(ROWS * self.width);
        // Those beyond the last patch are estimates of nothing.
        for (patches, factors) in self.patches.chunks_exact_mut(ROWS * self.pitch).zip(rows_of_factors) {
            let mut rows = split_rows::<ROWS>(patches, self.pitch, 0).1.map(|row| &mut row[..length]);
            for row in &mut rows {
                copy(simd, &self.means[..length], row);
            }
            let factors = std::array::from_fn(|r| &factors[r * self.width..]);
            let others = Others { rows: &self.system[self.width..], count, pitch, factors, step: 1 };
            add_rows::<S, ROWS, false>(simd, rows, others);
        }
    }
}

/// Makes rows columns, four of four at a time; there are zeros after the last row and in each row.
#[inline(always)]
fn across<S: Simd>(simd: S, rows: &[f32], pitch: usize, width: usize, out: &mut [f32]) {
    for (i, rows) in rows.chunks_exact(SQUARE * pitch).enumerate() {
        for (c, columns) in out.chunks_exact_mut(SQUARE * width).enumerate() {
            let load = |r: usize| f32x4::from_slice(simd, &rows[r * pitch + SQUARE * c..][..SQUARE]);
            let (even, odd) = (load(0).interleave(load(2)), load(1).interleave(load(3)));
            let (low, high) = (even.0.interleave(odd.0), even.1.interleave(odd.1));
            for (r, column) in [low.0, low.1, high.0, high.1].iter().enumerate() {
                column.store_slice(&mut columns[r * width + SQUARE * i..][..SQUARE]);
            }
        }
    }
}

/// LᵀR for matrices with rows of `width`, written to the front of rows that are `pitch` apart. Below the diagonal
/// nothing need be written if only the part above it is asked for.
#[inline(always)]
fn products<S: Simd>(
    simd: S,
    (left, right): (&[f32], &[f32]),
    width: usize,
    (above_only, pitch): (bool, usize),
    out: &mut [f32],
) {
    let lanes = S::f32s::LEN;
    for first in (0..width).step_by(ROWS) {
        for start in (0..width).step_by(2 * lanes).filter(|start| !above_only || start + 2 * lanes > first) {
            let mut sums = [[S::f32s::splat(simd, 0.0); 2]; ROWS];
            for at in (0..left.len()).step_by(width) {
                let (low, high) = right[at + start..][..2 * lanes].split_at(lanes);
                let vectors = [S::f32s::from_slice(simd, low), S::f32s::from_slice(simd, high)];
                let factors = &left[at + first..][..ROWS];
                for (r, sums) in sums.iter_mut().enumerate() {
                    let factor = S::f32s::splat(simd, factors[r]);
                    sums[0] = vectors[0].mul_add(factor, sums[0]);
                    sums[1] = vectors[1].mul_add(factor, sums[1]);
                }
            }
            for (sums, row) in sums.iter().zip(out[first * pitch..].chunks_mut(pitch)) {
                sums[0].store_slice(&mut row[start..start + lanes]);
                sums[1].store_slice(&mut row[start + lanes..start + 2 * lanes]);
            }
        }
    }
}

/// Copies whole vectors.
#[inline(always)]
fn copy<S: Simd>(simd: S, values: &[f32], out: &mut [f32]) {
    let lanes = S::f32s::LEN;
    for start in (0..values.len()).step_by(lanes) {
        S::f32s::from_slice(simd, &values[start..start + lanes]).store_slice(&mut out[start..start + lanes]);
    }
}
