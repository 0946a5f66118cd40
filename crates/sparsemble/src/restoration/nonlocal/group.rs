//! The estimate of a group of like patches: each a weak member, all of them together one Gaussian.
//!
//! With the patches of the group, less their mean m, as the columns of a matrix X, the Gaussian has the covariance
//! C = XXᵀ/n. Its best estimate of noisy patches Y is m + C(C + σ²I)⁻¹(Y − m). As (XXᵀ + cI)⁻¹X = X(XᵀX + cI)⁻¹, that is
//! m + X·W with W = (XᵀX + nσ²I)⁻¹Xᵀ(Y − m): a system as small as the group, whatever the size of a patch, and every
//! estimate is a combination of the patches.

use fearless_simd::prelude::*;

use super::matching::Place;
use super::plane::Plane;

/// Groups are filled up with zeros to a multiple of this: two of the widest vectors.
pub(super) const LANES: usize = 32;

/// Rows of a product that are made together.
const ROWS: usize = 4;

/// Below this part of the energy of the group, σ² would be lost in the rounding of single precision.
const LEAST_NOISE: f32 = 1e-6;

/// Far beyond any energy, and far from the largest number.
const MOST_NOISE: f32 = 1e30;

/// The space to estimate groups in; matrices are row by row, the patches of a group across.
#[derive(Debug)]
pub(super) struct GroupEstimator {
    side: usize,
    /// The length of a row: the size of a group with its padding.
    width: usize,
    /// One for each pixel of a patch.
    means: Vec<f32>,
    /// X, with rows of zeros up to a multiple of `ROWS`.
    centred: Vec<f32>,
    /// Y − m if other patches than those of the covariance are estimated; then the estimates.
    patches: Vec<f32>,
    /// The system beside its right side: XᵀX + nσ²I and Xᵀ(Y − m), then its Cholesky factor and W.
    system: Vec<f32>,
}

impl GroupEstimator {
    pub(super) fn new(side: usize, group: usize) -> Self {
        let width = group.next_multiple_of(LANES);
        let rows = (side * side).next_multiple_of(ROWS);
        Self {
            side,
            width,
            means: vec![0.0; side * side],
            centred: vec![0.0; rows * width],
            patches: vec![0.0; rows * width],
            system: vec![0.0; 2 * width * width],
        }
    }

    /// Estimates the patches of `noisy` at these places by their covariance in `pilot`, or in `noisy` itself, and gives
    /// the estimates pixel by pixel: those of all patches for the first pixel of a patch, then those for the second.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(
        &mut self,
        simd: S,
        (noisy, pilot): (&Plane, Option<&Plane>),
        places: &[Place],
        noise: f32,
    ) -> impl Iterator<Item = &[f32]> {
        gather(pilot.unwrap_or(noisy), places, self.side, self.width, &mut self.centred);
        self.centre(simd, places.len());
        if pilot.is_some() {
            gather(noisy, places, self.side, self.width, &mut self.patches);
            let rows = self.patches.chunks_exact_mut(self.width).zip(&self.means);
            rows.for_each(|(row, mean)| row.iter_mut().for_each(|value| *value -= mean));
        }
        products(simd, (&self.centred, &self.centred), self.width, &mut self.system);
        if pilot.is_some() {
            products(simd, (&self.centred, &self.patches), self.width, &mut self.system[self.width..]);
        } else {
            self.system.chunks_exact_mut(2 * self.width).for_each(|row| row.copy_within(..self.width, self.width));
        }
        let energy: f32 = (0..self.width).map(|i| self.system[i * (2 * self.width + 1)]).sum();
        let least = LEAST_NOISE * energy + f32::MIN_POSITIVE;
        let ridge = (places.len() as f32 * noise * noise).max(least).min(MOST_NOISE);
        factor(simd, self.width, ridge, &mut self.system);
        solve(simd, self.width, &mut self.system);
        self.combine(simd);
        self.patches.chunks_exact(self.width).map(|row| &row[..places.len()]).take(self.side * self.side)
    }

    /// Takes out the mean of the group; beyond its `count` patches the rows stay zero.
    #[inline(always)]
    fn centre<S: Simd>(&mut self, simd: S, count: usize) {
        let lanes = S::f32s::LEN;
        for (row, mean) in self.centred.chunks_exact_mut(self.width).zip(&mut self.means) {
            row[count..].fill(0.0);
            let mut sums = S::f32s::splat(simd, 0.0);
            row.chunks_exact(lanes).for_each(|part| sums += S::f32s::from_slice(simd, part));
            *mean = sums.reduce_sum() / count as f32;
            for value in &mut row[..count] {
                *value -= *mean;
            }
        }
    }

    /// m + X·W.
    #[inline(always)]
    fn combine<S: Simd>(&mut self, simd: S) {
        let (lanes, width) = (S::f32s::LEN, self.width);
        let tiles = self.centred.chunks_exact(ROWS * width).zip(self.patches.chunks_exact_mut(ROWS * width));
        for (tile, (centred, out)) in tiles.enumerate() {
            let mean = |r: usize| self.means.get(tile * ROWS + r).copied().unwrap_or(0.0);
            for start in (0..width).step_by(2 * lanes) {
                let mut sums = [0, 1, 2, 3].map(|r| [S::f32s::splat(simd, mean(r)); 2]);
                for (k, solution) in self.system.chunks_exact(2 * width).enumerate() {
                    let factors = [0, 1, 2, 3].map(|r| centred[r * width + k]);
                    add_products(simd, factors, &solution[width + start..], &mut sums);
                }
                store(simd, &sums, &mut out[start..], width);
            }
        }
    }
}

/// Writes the patches at these places to the columns of `out`.
#[inline(always)]
fn gather(plane: &Plane, places: &[Place], side: usize, width: usize, out: &mut [f32]) {
    for (patch, place) in places.iter().enumerate() {
        let (row, column) = place.at();
        for (r, rows) in out.chunks_exact_mut(side * width).take(side).enumerate() {
            let line = &plane.from(row + r, column)[..side];
            rows[patch..].iter_mut().step_by(width).zip(line).for_each(|(out, &pixel)| *out = pixel);
        }
    }
}

/// LᵀR for matrices with rows of `width`, written to the front of rows twice as long.
#[inline(always)]
fn products<S: Simd>(simd: S, (left, right): (&[f32], &[f32]), width: usize, out: &mut [f32]) {
    let lanes = S::f32s::LEN;
    for first in (0..width).step_by(ROWS) {
        for start in (0..width).step_by(2 * lanes) {
            let mut sums = [[S::f32s::splat(simd, 0.0); 2]; ROWS];
            for (left, right) in left.chunks_exact(width).zip(right.chunks_exact(width)) {
                let factors = [left[first], left[first + 1], left[first + 2], left[first + 3]];
                add_products(simd, factors, &right[start..], &mut sums);
            }
            store(simd, &sums, &mut out[first * 2 * width + start..], 2 * width);
        }
    }
}

/// Adds each factor times the first two vectors of `row`.
#[inline(always)]
fn add_products<S: Simd>(simd: S, factors: [f32; ROWS], row: &[f32], sums: &mut [[S::f32s; 2]; ROWS]) {
    let lanes = S::f32s::LEN;
    let row = &row[..2 * lanes];
    let vectors = [S::f32s::from_slice(simd, &row[..lanes]), S::f32s::from_slice(simd, &row[lanes..])];
    for (sums, factor) in sums.iter_mut().zip(factors) {
        let factor = S::f32s::splat(simd, factor);
        sums[0] = vectors[0].mul_add(factor, sums[0]);
        sums[1] = vectors[1].mul_add(factor, sums[1]);
    }
}

/// Writes the sums to the front of rows that are `pitch` apart.
#[inline(always)]
fn store<S: Simd>(_: S, sums: &[[S::f32s; 2]; ROWS], out: &mut [f32], pitch: usize) {
    let lanes = S::f32s::LEN;
    for (sums, out) in sums.iter().zip(out.chunks_mut(pitch)) {
        sums[0].store_slice(&mut out[..lanes]);
        sums[1].store_slice(&mut out[lanes..2 * lanes]);
    }
}

/// Adds the ridge to the left half A of a system (A B) and makes it (U U⁻ᵀB), UᵀU = A, where the entries of U below the
/// diagonal mean nothing.
#[inline(always)]
fn factor<S: Simd>(simd: S, size: usize, ridge: f32, system: &mut [f32]) {
    let pitch = 2 * size;
    let lanes = S::f32s::LEN;
    for i in 0..size {
        let (above, row) = system.split_at_mut(i * pitch);
        let row = &mut row[..pitch];
        row[i] += ridge;
        for start in (i / (2 * lanes) * 2 * lanes..pitch).step_by(2 * lanes) {
            subtract_rows(simd, above, (i, start), pitch, &mut row[start..start + 2 * lanes]);
        }
        // But for rounding, no pivot is below the ridge.
        let scale = S::f32s::splat(simd, row[i].max(ridge).sqrt().recip());
        row[i / lanes * lanes..].chunks_exact_mut(lanes).for_each(|part| scaled(simd, scale, part));
    }
}

/// Makes the right half of (U V) the solution X of UX = V.
#[inline(always)]
fn solve<S: Simd>(simd: S, size: usize, system: &mut [f32]) {
    let pitch = 2 * size;
    let lanes = S::f32s::LEN;
    for i in (0..size).rev() {
        let (rows, below) = system.split_at_mut((i + 1) * pitch);
        let (factors, right) = rows[i * pitch..].split_at_mut(size);
        let scale = S::f32s::splat(simd, factors[i].recip());
        for start in (0..size).step_by(2 * lanes) {
            let out = &mut right[start..start + 2 * lanes];
            let mut sums = load(simd, out);
            for (row, &factor) in below.chunks_exact(pitch).zip(&factors[i + 1..]) {
                sums = subtracted(simd, sums, factor, &row[size + start..]);
            }
            (sums[0] * scale).store_slice(&mut out[..lanes]);
            (sums[1] * scale).store_slice(&mut out[lanes..]);
        }
    }
}

/// Subtracts from a piece of row i the rows above it, each times its entry in column i.
#[inline(always)]
fn subtract_rows<S: Simd>(simd: S, above: &[f32], (i, start): (usize, usize), pitch: usize, piece: &mut [f32]) {
    let mut sums = load(simd, piece);
    for row in above.chunks_exact(pitch) {
        sums = subtracted(simd, sums, row[i], &row[start..]);
    }
    sums[0].store_slice(&mut piece[..S::f32s::LEN]);
    sums[1].store_slice(&mut piece[S::f32s::LEN..]);
}

#[inline(always)]
fn load<S: Simd>(simd: S, piece: &[f32]) -> [S::f32s; 2] {
    let (low, high) = piece[..2 * S::f32s::LEN].split_at(S::f32s::LEN);
    [S::f32s::from_slice(simd, low), S::f32s::from_slice(simd, high)]
}

#[inline(always)]
fn subtracted<S: Simd>(simd: S, sums: [S::f32s; 2], factor: f32, row: &[f32]) -> [S::f32s; 2] {
    let factor = S::f32s::splat(simd, -factor);
    let row = load(simd, row);
    [row[0].mul_add(factor, sums[0]), row[1].mul_add(factor, sums[1])]
}

#[inline(always)]
fn scaled<S: Simd>(simd: S, scale: S::f32s, part: &mut [f32]) {
    (S::f32s::from_slice(simd, part) * scale).store_slice(part);
}
