//! The estimate of a group of like patches: each a weak member, all of them together one Gaussian.
//!
//! With the patches of the group, less their mean m, as the columns of a matrix X, the Gaussian has the covariance
//! C = XXᵀ/n. Its best estimate of noisy patches Y is m + C(C + σ²I)⁻¹(Y − m). As (XXᵀ + cI)⁻¹X = X(XᵀX + cI)⁻¹ for
//! c = nσ², that is m + Z·Xᵀ(Y − m) with Z = X(XᵀX + cI)⁻¹: a system as small as the group, whatever the size of a patch,
//! and every estimate is a combination of the patches. If Y − m is X itself, ZXᵀX is X − cZ, without a product.

use fearless_simd::prelude::*;

use super::matching::Place;
use super::plane::Plane;

/// Groups are filled up with zeros to a multiple of this: two of the widest vectors.
pub(super) const LANES: usize = 32;

/// Rows of a product that are made together.
const ROWS: usize = 4;

/// Vectors of a row that are made together, so many that none has to wait for its last sum; and half as many.
const MANY: usize = 8;
const FEW: usize = 4;

/// Below this part of the energy of the group, σ² would be lost in the rounding of single precision.
const LEAST_NOISE: f32 = 1e-6;

/// Far beyond any energy, and far from the largest number.
const MOST_NOISE: f32 = 1e30;

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
    pub(super) fn new(side: usize, group: usize) -> Self {
        let width = group.next_multiple_of(LANES);
        let pitch = (side * side).next_multiple_of(LANES) + MANY * LANES / 2;
        Self {
            side,
            width,
            pitch,
            means: vec![0.0; pitch],
            patches: vec![0.0; width * pitch],
            centred: vec![0.0; side * side * width],
            others: vec![0.0; side * side * width],
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
        across(&self.patches, (places.len(), self.pitch), self.width, &mut self.centred);
        let length = self.vectors(simd) * S::f32s::LEN;
        let beside = self.system.chunks_exact_mut(self.width + self.pitch).zip(self.patches.chunks_exact(self.pitch));
        for (row, patch) in beside.take(places.len()) {
            copy(simd, &patch[..length], &mut row[self.width..]);
        }
        products(simd, (&self.centred, &self.centred), self.width, (true, self.width + self.pitch), &mut self.system);
        if pilot.is_some() {
            self.gather(simd, noisy, places);
            self.subtract_means(simd, places.len());
            across(&self.patches, (places.len(), self.pitch), self.width, &mut self.others);
            let factors = (self.others.as_slice(), self.centred.as_slice());
            products(simd, factors, self.width, (false, self.width), &mut self.others_by_centred);
        }
        let energy: f32 = (0..places.len()).map(|i| self.system[i * (self.width + self.pitch + 1)]).sum();
        let least = LEAST_NOISE * energy + f32::MIN_POSITIVE;
        let ridge = (places.len() as f32 * noise * noise).max(least).min(MOST_NOISE);
        let (vectors, pitch) = (self.vectors(simd), self.width + self.pitch);
        factor(simd, places.len(), (self.width / S::f32s::LEN + vectors, pitch), ridge, &mut self.system);
        solve(simd, (places.len(), self.width), (vectors, pitch), &mut self.system);
        if pilot.is_some() {
            self.combine(simd, places.len());
        } else {
            self.shrink(simd, places.len(), ridge);
        }
        self.patches.chunks_exact(self.pitch).take(places.len())
    }

    /// Vectors that hold a patch.
    #[inline(always)]
    fn vectors<S: Simd>(&self, _: S) -> usize {
        (self.side * self.side).div_ceil(S::f32s::LEN)
    }

    /// Reads the patches at these places, each followed by zeros.
    #[inline(always)]
    fn gather<S: Simd>(&mut self, simd: S, plane: &Plane, places: &[Place]) {
        let lanes = S::f32s::LEN;
        let (side, pixels) = (self.side, self.side * self.side);
        for (patch, place) in self.patches.chunks_exact_mut(self.pitch).zip(places) {
            let (row, column) = place.at();
            for r in 0..side {
                let line = plane.from(row + r, column);
                // What is written beyond the row is overwritten by the next one.
                for start in (0..side).step_by(lanes) {
                    let part = S::f32s::from_slice(simd, &line[start..start + lanes]);
                    part.store_slice(&mut patch[r * side + start..][..lanes]);
                }
            }
            patch[pixels..pixels + lanes].fill(0.0);
        }
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
        let vectors = self.vectors(simd);
        let pitch = self.width + self.pitch;
        let rows = &self.system[self.width..count * pitch];
        let factors = self.others_by_centred.chunks_exact(self.width);
        for (patch, factors) in self.patches.chunks_exact_mut(self.pitch).zip(factors).take(count) {
            copy(simd, &self.means[..vectors * S::f32s::LEN], patch);
            add_rows(simd, patch, vectors, Others { rows, factors: &factors[..count], step: 1, sign: 1.0 }, pitch);
        }
    }
}

/// Makes rows columns.
#[inline(always)]
fn across(rows: &[f32], (count, pitch): (usize, usize), width: usize, out: &mut [f32]) {
    if count < width {
        out.fill(0.0);
    }
    for (i, row) in rows.chunks_exact(pitch).take(count).enumerate() {
        for (column, value) in out.chunks_exact_mut(width).zip(row) {
            column[i] = *value;
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

/// Adds the ridge to the left part A of a system (A B) and makes it (U U⁻ᵀB), UᵀU = A, where the diagonal of U
/// has its reciprocals and the entries below it mean nothing.
#[inline(always)]
fn factor<S: Simd>(simd: S, count: usize, (vectors, pitch): (usize, usize), ridge: f32, system: &mut [f32]) {
    let lanes = S::f32s::LEN;
    for i in 0..count {
        let (above, row) = system.split_at_mut(i * pitch);
        let row = &mut row[..pitch];
        row[i] += ridge;
        let start = i / lanes * lanes;
        if i > 0 {
            let others = Others { rows: &above[start..], factors: &above[i..], step: pitch, sign: -1.0 };
            add_rows(simd, &mut row[start..], vectors - i / lanes, others, pitch);
        }
        // But for rounding, no pivot is below the ridge.
        let recip = row[i].max(ridge).sqrt().recip();
        scale(simd, recip, &mut row[start..vectors * lanes]);
        row[i] = recip;
    }
}

/// Makes the right part of (U V), from a column on, the solution Y of UY = V.
#[inline(always)]
fn solve<S: Simd>(simd: S, (count, from): (usize, usize), (vectors, pitch): (usize, usize), system: &mut [f32]) {
    for i in (0..count).rev() {
        let (rows, below) = system[..count * pitch].split_at_mut((i + 1) * pitch);
        let (factors, right) = rows[i * pitch..].split_at_mut(from);
        if i + 1 < count {
            let others = Others { rows: &below[from..], factors: &factors[i + 1..count], step: 1, sign: -1.0 };
            add_rows(simd, right, vectors, others, pitch);
        }
        scale(simd, factors[i], &mut right[..vectors * S::f32s::LEN]);
    }
}

/// Rows, and what each is multiplied by.
#[derive(Clone, Copy)]
struct Others<'a> {
    rows: &'a [f32],
    factors: &'a [f32],
    /// From a factor to the next.
    step: usize,
    sign: f32,
}

/// Adds to the first vectors of a row those of other rows, which are `pitch` apart; to some beyond them, too.
#[inline(always)]
fn add_rows<S: Simd>(simd: S, row: &mut [f32], vectors: usize, others: Others<'_>, pitch: usize) {
    let mut first = 0;
    while first < vectors {
        let start = first * S::f32s::LEN;
        let others = Others { rows: &others.rows[start..], ..others };
        if vectors - first > FEW {
            add_piece::<S, MANY>(simd, &mut row[start..], others, pitch);
            first += MANY;
        } else {
            add_piece::<S, FEW>(simd, &mut row[start..], others, pitch);
            first += FEW;
        }
    }
}

#[inline(always)]
fn add_piece<S: Simd, const N: usize>(simd: S, row: &mut [f32], others: Others<'_>, pitch: usize) {
    let lanes = S::f32s::LEN;
    let row = &mut row[..N * lanes];
    let mut sums = [S::f32s::splat(simd, 0.0); N];
    for (v, sum) in sums.iter_mut().enumerate() {
        *sum = S::f32s::from_slice(simd, &row[v * lanes..(v + 1) * lanes]);
    }
    let sign = S::f32s::splat(simd, others.sign);
    for (j, other) in others.rows.chunks(pitch).enumerate() {
        let factor = S::f32s::splat(simd, others.factors[j * others.step]) * sign;
        let other = &other[..N * lanes];
        for (v, sum) in sums.iter_mut().enumerate() {
            *sum = S::f32s::from_slice(simd, &other[v * lanes..(v + 1) * lanes]).mul_add(factor, *sum);
        }
    }
    for (v, sum) in sums.iter().enumerate() {
        sum.store_slice(&mut row[v * lanes..(v + 1) * lanes]);
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

#[inline(always)]
fn scale<S: Simd>(simd: S, factor: f32, row: &mut [f32]) {
    let factor = S::f32s::splat(simd, factor);
    for part in row.chunks_exact_mut(S::f32s::LEN) {
        (S::f32s::from_slice(simd, part) * factor).store_slice(part);
    }
}
