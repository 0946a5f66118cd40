//! The estimate of a group of like patches: each a weak member, all of them together one Gaussian.
//!
//! With the patches of the group, less their mean m, as the columns of a matrix X, the Gaussian has the covariance
//! C = XXᵀ/n. Its best estimate of noisy patches Y is m + C(C + σ²I)⁻¹(Y − m). As (XXᵀ + cI)⁻¹X = X(XᵀX + cI)⁻¹ for
//! c = nσ², that is m + Z·Xᵀ(Y − m) with Z = X(XᵀX + cI)⁻¹: a system as small as the group, whatever the size of a patch,
//! and every estimate is a combination of the patches. If Y − m is X itself, ZXᵀX is X − cZ.
//!
//! As many groups as vectors have lanes are estimated together, one a lane (see [`super::system`]).

use fearless_simd::{f32x4, f32x8, prelude::*};

use crate::kernels::Aligned;

use super::matching::Place;
use super::plane::{NARROW, Plane};
use super::system::{Entries, Extent, add_products, from, invert, load, load_tile, products, store, store_tile};

/// The most lanes that a vector has, and so the most groups that are estimated together.
const LANES: usize = 16;

/// The side of the squares that are turned where whole vectors would be too long.
const SQUARE: usize = 4;

/// Below this part of the energy of the group, σ² would be lost in the rounding of single precision.
const LEAST_NOISE: f32 = 1e-6;

/// Beyond any energy (see [`super::plane`]), and far from the largest number.
const MOST_NOISE: f32 = 1e30;

/// How much of the noise of a mean counts: that of patches which overlap is not their own, but the overlapping estimates
/// of a pixel have other means. Measured on pictures of the BSDS (decision 0017).
const KEPT_BY_MEAN: f32 = 0.25;

/// The sides of tiles: as large as sixteen registers hold, and as thirty-two, which the widest vectors come with.
const TILE: usize = 3;
const WIDE_TILE: usize = 4;

/// Rows of vectors begin at multiples of this: those of both tiles.
const WHOLE: usize = TILE * WIDE_TILE;

/// The space to estimate groups in: matrices of vectors, one lane a group, row by row, each row followed by zeros.
#[derive(Debug)]
pub(super) struct GroupEstimator {
    side: usize,
    /// From a row of pixels to the next, and from a row of patches to the next, in vectors.
    pixel_pitch: usize,
    patch_pitch: usize,
    means: Aligned<f32>,
    /// If it is wanted, how much of its own noise the estimate of each pixel keeps.
    kept: Option<Aligned<f32>>,
    /// Xᵀ, a patch a row.
    patches: Aligned<f32>,
    /// What the inverse is multiplied by: −c, or one if other patches than those of the covariance are estimated.
    scale: Aligned<f32>,
    /// (XᵀX + cI)⁻¹ times the scale, and space to find it.
    inverse: Aligned<f32>,
    space: Aligned<f32>,
    /// What else there is if other patches than those of the covariance are estimated.
    others: Option<Others>,
    /// The estimates of a few patches, a patch a row.
    estimates: Aligned<f32>,
    /// One patch of each group, a group a row: on the way from the picture to the lanes and back.
    rows: Vec<f32>,
}

/// Patches Y that are not those of the covariance.
#[derive(Debug)]
struct Others {
    /// (Y − m)ᵀ, a patch a row.
    patches: Aligned<f32>,
    /// (XᵀX + cI)⁻¹Xᵀ(Y − m).
    weights: Aligned<f32>,
}

impl GroupEstimator {
    /// For groups of at most so many patches.
    pub(super) fn new(side: usize, group: usize, (has_pilot, wants_kept): (bool, bool)) -> Self {
        let (pixels, patches) = ((side * side).next_multiple_of(WHOLE), group.next_multiple_of(WHOLE));
        let zeros = |vectors: usize| Aligned::zeros(vectors * LANES);
        let others = || Others { patches: zeros(patches * pixels), weights: zeros(patches * patches) };
        Self {
            side,
            pixel_pitch: pixels,
            patch_pitch: patches,
            means: zeros(pixels),
            kept: wants_kept.then(|| zeros(pixels)),
            patches: zeros(patches * pixels),
            scale: zeros(1),
            inverse: zeros(patches * patches),
            space: zeros(patches * patches),
            others: has_pilot.then(others),
            estimates: zeros(WIDE_TILE * pixels),
            rows: vec![0.0; LANES * row_pitch(side)],
        }
    }

    /// Prepares for estimates of the patches of `noisy` at the places of the groups, by the covariances that these have in
    /// `pilot`, or in `noisy` itself. There are at most as many groups as lanes.
    #[inline(always)]
    pub(super) fn prepare<S: Simd>(
        &mut self,
        simd: S,
        planes: (&Plane, Option<&Plane>),
        groups: Groups<'_>,
        noise: f32,
    ) {
        if S::f32s::LEN == LANES {
            self.prepare_by_tiles::<S, WIDE_TILE>(simd, planes, groups, noise);
        } else {
            self.prepare_by_tiles::<S, TILE>(simd, planes, groups, noise);
        }
    }

    /// Estimates a few patches of each group, from this one on, and says how many.
    #[inline(always)]
    pub(super) fn estimate<S: Simd>(&mut self, simd: S, first: usize, count: usize) -> usize {
        if S::f32s::LEN == LANES {
            self.estimate_tiles::<S, WIDE_TILE>(simd, first, count)
        } else {
            self.estimate_tiles::<S, TILE>(simd, first, count)
        }
    }

    /// One of the patches that were estimated last, by its number among them: group by group, each followed by
    /// anything finite.
    #[inline(always)]
    pub(super) fn estimates<S: Simd>(&mut self, simd: S, number: usize) -> impl Iterator<Item = &[f32]> {
        let estimates = from(simd, &self.estimates, number * self.pixel_pitch);
        turn(
            simd,
            (estimates, S::f32s::LEN),
            (squares(self.side), S::f32s::LEN),
            (&mut self.rows, row_pitch(self.side)),
        );
        self.rows.chunks_exact(row_pitch(self.side))
    }

    /// How much of its own noise the estimate of each pixel keeps, in every patch of a group, group by group, each
    /// followed by anything finite: the diagonal of C(C + σ²I)⁻¹, of which σ² is the variance that the Gaussian leaves to a
    /// pixel, and a part of 1/n for the mean. Nothing if it is not wanted.
    #[inline(always)]
    pub(super) fn kept<S: Simd>(&mut self, simd: S) -> Option<impl Iterator<Item = &[f32]>> {
        let kept = self.kept.as_deref()?;
        turn(simd, (kept, S::f32s::LEN), (squares(self.side), S::f32s::LEN), (&mut self.rows, row_pitch(self.side)));
        Some(self.rows.chunks_exact(row_pitch(self.side)))
    }

    #[inline(always)]
    fn prepare_by_tiles<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        (noisy, pilot): (&Plane, Option<&Plane>),
        groups: Groups<'_>,
        noise: f32,
    ) {
        let (count, lanes) = (groups.patches, S::f32s::LEN);
        let (patches, pixels) = (count.next_multiple_of(N), (self.side * self.side).next_multiple_of(N));
        let (by_pixel, by_patch) = (self.pixel_pitch, self.patch_pitch);
        gather(simd, pilot.unwrap_or(noisy), groups, (self.side, by_pixel), &mut self.rows, &mut self.patches);
        self.find_means(simd, count, pixels);
        subtract(simd, &self.means, (count, pixels, by_pixel), &mut self.patches);
        // Patches that fill up the last tiles are equal to their mean.
        self.patches[count * by_pixel * lanes..patches * by_pixel * lanes].fill(0.0);
        let own = Entries { values: &self.patches, term: 1, entry: by_pixel };
        let every = Extent { rows: patches, columns: patches, terms: pixels, above_only: false };
        let above = Extent { above_only: true, ..every };
        products::<S, N>(simd, (own, own), above, (&mut self.inverse, by_patch));
        let ridge = self.add_ridge(simd, (count, patches), noise);
        let scale = if self.others.is_some() { S::f32s::splat(simd, 1.0) } else { -ridge };
        store(simd, scale, &mut self.scale, 0);
        invert::<S, N>(simd, (patches, by_patch), (ridge, scale), &mut self.inverse, &mut self.space);
        if let Some(others) = &mut self.others {
            gather(simd, noisy, groups, (self.side, by_pixel), &mut self.rows, &mut others.patches);
            subtract(simd, &self.means, (count, pixels, by_pixel), &mut others.patches);
            let other = Entries { values: &others.patches, term: 1, entry: by_pixel };
            let own = Entries { values: &self.patches, term: 1, entry: by_pixel };
            products::<S, N>(simd, (own, other), every, (&mut self.space, by_patch));
            let inverse = Entries { values: &self.inverse, term: by_patch, entry: 1 };
            let crossed = Entries { values: &self.space, ..inverse };
            let extent = Extent { terms: patches, ..every };
            products::<S, N>(simd, (inverse, crossed), extent, (&mut others.weights, by_patch));
        }
        self.find_kept::<S, N>(simd, (count, patches), pixels);
    }

    /// m + X − cZ or, if the patches are not those of the covariance, m + ZXᵀ(Y − m).
    #[inline(always)]
    fn estimate_tiles<S: Simd, const N: usize>(&mut self, simd: S, first: usize, count: usize) -> usize {
        let (patches, pixels) = (count.next_multiple_of(N), (self.side * self.side).next_multiple_of(N));
        let weights = self.others.as_ref().map_or(&self.inverse, |others| &others.weights);
        let weights = Entries { values: from(simd, weights, first), term: self.patch_pitch, entry: 1 };
        for start in (0..pixels).step_by(N) {
            let mut tile = match self.others {
                Some(_) => [[S::f32s::splat(simd, 0.0); N]; N],
                None => load_tile(simd, &self.patches, first * self.pixel_pitch + start, self.pixel_pitch),
            };
            for row in &mut tile {
                for (c, entry) in row.iter_mut().enumerate() {
                    *entry += load(simd, &self.means, start + c);
                }
            }
            let own = Entries { values: from(simd, &self.patches, start), term: self.pixel_pitch, entry: 1 };
            add_products::<S, N, false>(simd, &mut tile, (weights, own), patches);
            store_tile(simd, &tile, &mut self.estimates, start, self.pixel_pitch);
        }
        N.min(count - first)
    }

    #[inline(always)]
    fn find_means<S: Simd>(&mut self, simd: S, count: usize, pixels: usize) {
        let share = S::f32s::splat(simd, 1.0 / count as f32);
        self.means.fill(0.0);
        for patch in self.patches.chunks_exact(self.pixel_pitch * S::f32s::LEN).take(count) {
            for pixel in 0..pixels {
                let sum = load(simd, patch, pixel).mul_add(share, load(simd, &self.means, pixel));
                store(simd, sum, &mut self.means, pixel);
            }
        }
    }

    /// Finds c and adds it to the diagonal of XᵀX.
    #[inline(always)]
    fn add_ridge<S: Simd>(&mut self, simd: S, (count, patches): (usize, usize), noise: f32) -> S::f32s {
        let mut energy = S::f32s::splat(simd, 0.0);
        for i in 0..count {
            energy += load(simd, &self.inverse, i * (self.patch_pitch + 1));
        }
        let least = energy.mul_add(S::f32s::splat(simd, LEAST_NOISE), S::f32s::splat(simd, f32::MIN_POSITIVE));
        let wanted = S::f32s::splat(simd, count as f32 * noise * noise);
        let ridge = wanted.max(least).min(S::f32s::splat(simd, MOST_NOISE));
        for i in 0..patches {
            let entry = load(simd, &self.inverse, i * (self.patch_pitch + 1));
            store(simd, entry + ridge, &mut self.inverse, i * (self.patch_pitch + 1));
        }
        ridge
    }

    /// The diagonal of XZᵀ, if it is wanted.
    #[inline(always)]
    fn find_kept<S: Simd, const N: usize>(&mut self, simd: S, (count, patches): (usize, usize), pixels: usize) {
        let Some(kept) = &mut self.kept else { return };
        kept.fill(KEPT_BY_MEAN / count as f32);
        let own = Entries { values: &self.patches, term: self.pixel_pitch, entry: 1 };
        let extent = Extent { rows: N, columns: pixels, terms: patches, above_only: false };
        let share = S::f32s::splat(simd, 1.0) / load(simd, &self.scale, 0);
        for first in (0..patches).step_by(N) {
            let inverse = Entries { values: from(simd, &self.inverse, first), term: self.patch_pitch, entry: 1 };
            products::<S, N>(simd, (inverse, own), extent, (&mut self.estimates, self.pixel_pitch));
            for (r, pixel) in (0..N).flat_map(|r| (0..pixels).map(move |pixel| (r, pixel))) {
                let own = load(simd, &self.patches, (first + r) * self.pixel_pitch + pixel) * share;
                let scaled = load(simd, &self.estimates, r * self.pixel_pitch + pixel);
                store(simd, own.mul_add(scaled, load(simd, kept, pixel)), kept, pixel);
            }
        }
    }
}

/// The patches of some groups, those of a group side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups<'a> {
    pub(super) places: &'a [Place],
    /// Patches of a group.
    pub(super) patches: usize,
}

/// From a patch to the next where they are rows: whole vectors may be read that begin in a patch.
fn row_pitch(side: usize) -> usize {
    side * side + LANES
}

/// Pixels of a patch, filled up to whole squares.
fn squares(side: usize) -> usize {
    (side * side).next_multiple_of(SQUARE)
}

/// Reads the patches of the groups, a group a lane; lanes without a group are zero.
#[inline(always)]
fn gather<S: Simd>(
    simd: S,
    plane: &Plane,
    groups: Groups<'_>,
    (side, pitch): (usize, usize),
    rows: &mut [f32],
    out: &mut [f32],
) {
    let (lanes, pixels) = (S::f32s::LEN, side * side);
    if groups.places.len() < lanes * groups.patches {
        rows.fill(0.0);
    }
    for (i, out) in out.chunks_exact_mut(pitch * lanes).take(groups.patches).enumerate() {
        let places = groups.places.chunks_exact(groups.patches).map(|group| group[i]);
        for (patch, place) in rows.chunks_exact_mut(row_pitch(side)).zip(places) {
            let (row, column) = place.at();
            // What is written beyond a row is overwritten by the next one.
            for (r, line) in plane.lines(row, column).take(side).enumerate() {
                let out = &mut patch[r * side..];
                f32x8::from_slice(simd, &line[..NARROW]).store_slice(&mut out[..NARROW]);
                if side > NARROW {
                    let rest = NARROW..2 * NARROW;
                    f32x8::from_slice(simd, &line[rest.clone()]).store_slice(&mut out[rest]);
                }
            }
            patch[pixels..pixels + SQUARE].fill(0.0);
        }
        turn(simd, (rows, row_pitch(side)), (lanes, squares(side)), (out, lanes));
        out[squares(side) * lanes..].fill(0.0);
    }
}

/// Subtracts the means of the pixels from all patches.
#[inline(always)]
fn subtract<S: Simd>(simd: S, means: &[f32], (count, pixels, pitch): (usize, usize, usize), patches: &mut [f32]) {
    for patch in patches.chunks_exact_mut(pitch * S::f32s::LEN).take(count) {
        for pixel in 0..pixels {
            store(simd, load(simd, patch, pixel) - load(simd, means, pixel), patch, pixel);
        }
    }
}

/// Makes rows columns: whole vectors of them where there are as many of both, else four at a time.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    (from, from_pitch): (&[f32], usize),
    (rows, columns): (usize, usize),
    (to, to_pitch): (&mut [f32], usize),
) {
    let lanes = S::f32s::LEN;
    for row in (0..rows).step_by(lanes) {
        for column in (0..columns).step_by(lanes) {
            if row + lanes <= rows && column + lanes <= columns {
                let mut vectors = [S::f32s::splat(simd, 0.0); LANES];
                for (r, vector) in vectors[..lanes].iter_mut().enumerate() {
                    *vector = S::f32s::from_slice(simd, &from[(row + r) * from_pitch + column..][..lanes]);
                }
                vectors = interleaved(simd, interleaved(simd, vectors));
                if lanes > 4 {
                    vectors = interleaved(simd, vectors);
                }
                if lanes > 8 {
                    vectors = interleaved(simd, vectors);
                }
                for (c, vector) in vectors[..lanes].iter().enumerate() {
                    vector.store_slice(&mut to[(column + c) * to_pitch + row..][..lanes]);
                }
                continue;
            }
            for row in (row..rows.min(row + lanes)).step_by(SQUARE) {
                for column in (column..columns.min(column + lanes)).step_by(SQUARE) {
                    let load = |r: usize| f32x4::from_slice(simd, &from[(row + r) * from_pitch + column..][..SQUARE]);
                    let (even, odd) = (load(0).interleave(load(2)), load(1).interleave(load(3)));
                    let (low, high) = (even.0.interleave(odd.0), even.1.interleave(odd.1));
                    for (c, vector) in [low.0, low.1, high.0, high.1].iter().enumerate() {
                        vector.store_slice(&mut to[(column + c) * to_pitch + row..][..SQUARE]);
                    }
                }
            }
        }
    }
}

/// Brings vectors together that are half of all apart: done as often as lanes can be halved, rows become columns.
#[inline(always)]
fn interleaved<S: Simd>(_: S, vectors: [S::f32s; LANES]) -> [S::f32s; LANES] {
    let (half, mut out) = (S::f32s::LEN / 2, vectors);
    for r in 0..half {
        (out[2 * r], out[2 * r + 1]) = vectors[r].interleave(vectors[r + half]);
    }
    out
}
