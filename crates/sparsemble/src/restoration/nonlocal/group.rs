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
use super::system::{Tiled, add_products, invert, load, load_row, load_tile, store, store_tile, tile_size};

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

/// The sides of matrices are multiples of this, and so of those of both tiles.
const WHOLE: usize = TILE * WIDE_TILE;

/// The space to estimate groups in: matrices of vectors, one lane a group, in tiles (see [`super::system`]), filled up with zeros.
#[derive(Debug)]
pub(super) struct GroupEstimator {
    side: usize,
    /// The length of rows of pixels and of rows of patches, in vectors.
    pixel_pitch: usize,
    patch_pitch: usize,
    means: Aligned<f32>,
    /// If it is wanted, how much of its own noise the estimate of each pixel keeps.
    kept: Option<Aligned<f32>>,
    /// Xᵀ, a patch a row: in rows of tiles, and in columns of them.
    patches: Aligned<f32>,
    pixels: Aligned<f32>,
    /// What the inverse is multiplied by: −c, or one if other patches than those of the covariance are estimated.
    scale: Aligned<f32>,
    /// (XᵀX + cI)⁻¹ times the scale, and space to find it.
    inverse: Aligned<f32>,
    space: Aligned<f32>,
    /// What else there is if other patches than those of the covariance are estimated.
    others: Option<Others>,
    /// The estimates of a few patches, a patch a row: one row of tiles.
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
            pixels: zeros(patches * pixels),
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
        if S::f32s::LEN == LANES {
            self.turn_back::<S, WIDE_TILE>(simd, number);
        } else {
            self.turn_back::<S, TILE>(simd, number);
        }
        self.rows.chunks_exact(row_pitch(self.side))
    }

    #[inline(always)]
    fn turn_back<S: Simd, const N: usize>(&mut self, simd: S, number: usize) {
        let (from, to) = (&*self.estimates, &mut *self.rows);
        let from_at = |pixel: usize| place_of::<N>(self.pixel_pitch, number, pixel) * S::f32s::LEN;
        let to_at = |group: usize| group * row_pitch(self.side);
        turn(simd, (from, from_at), (squares(self.side), S::f32s::LEN), (to, to_at));
    }

    /// How much of its own noise the estimate of each pixel keeps, in every patch of a group, group by group, each
    /// followed by anything finite: the diagonal of C(C + σ²I)⁻¹, of which σ² is the variance that the Gaussian leaves to a
    /// pixel, and a part of 1/n for the mean. Nothing if it is not wanted.
    #[inline(always)]
    pub(super) fn kept<S: Simd>(&mut self, simd: S) -> Option<impl Iterator<Item = &[f32]>> {
        let kept = self.kept.as_deref()?;
        let (from_at, to_at) = (|pixel: usize| pixel * S::f32s::LEN, |group: usize| group * row_pitch(self.side));
        turn(simd, (kept, from_at), (squares(self.side), S::f32s::LEN), (&mut self.rows, to_at));
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
        let shape = self.shape::<N>(groups.patches);
        let plane = pilot.unwrap_or(noisy);
        gather::<S, N>(simd, plane, groups, (self.side, self.pixel_pitch), &mut self.rows, &mut self.patches);
        self.find_means::<S, N>(simd, shape);
        subtract::<S, N>(simd, &self.means, shape, &mut self.patches, Some(&mut self.pixels));
        let own = Tiled { values: &self.patches, pitch: shape.pixel_pitch };
        let above = shape.pairs_of_patches().filter(|(i, j)| i <= j);
        write_products::<S, N, true>(simd, (own, own), (above, shape.pixels), (&mut self.inverse, shape.patch_pitch));
        let ridge = self.add_ridge::<S, N>(simd, shape, noise);
        let scale = if self.others.is_some() { S::f32s::splat(simd, 1.0) } else { -ridge };
        store(simd, scale, &mut self.scale, 0);
        let tiles = (shape.patches, shape.patch_pitch);
        invert::<S, N>(simd, tiles, (ridge, scale), &mut self.inverse, &mut self.space);
        if let Some(others) = &mut self.others {
            gather::<S, N>(simd, noisy, groups, (self.side, self.pixel_pitch), &mut self.rows, &mut others.patches);
            subtract::<S, N>(simd, &self.means, shape, &mut others.patches, None);
            let [own, other] =
                [&self.patches, &others.patches].map(|values| Tiled { values, pitch: shape.pixel_pitch });
            let extent = (shape.pairs_of_patches(), shape.pixels);
            write_products::<S, N, true>(simd, (own, other), extent, (&mut self.space, shape.patch_pitch));
            let [inverse, crossed] =
                [&self.inverse, &self.space].map(|values| Tiled { values, pitch: shape.patch_pitch });
            let extent = (shape.pairs_of_patches(), shape.patches);
            write_products::<S, N, false>(simd, (inverse, crossed), extent, (&mut others.weights, shape.patch_pitch));
        }
        self.find_kept::<S, N>(simd, shape);
    }

    /// m + X − cZ or, if the patches are not those of the covariance, m + ZXᵀ(Y − m).
    #[inline(always)]
    fn estimate_tiles<S: Simd, const N: usize>(&mut self, simd: S, first: usize, count: usize) -> usize {
        let (shape, size) = (self.shape::<N>(count), tile_size::<S, N>(simd));
        let weights = self.others.as_ref().map_or(&self.inverse, |others| &others.weights);
        let weights = Tiled { values: weights, pitch: shape.patch_pitch };
        let own = Tiled { values: &self.pixels, pitch: shape.patch_pitch };
        for j in 0..shape.pixels {
            let means = load_row::<S, N>(simd, &self.means[j * N * S::f32s::LEN..]);
            let mut tile = match self.others {
                Some(_) => [[S::f32s::splat(simd, 0.0); N]; N],
                None => load_tile(simd, &self.patches[(first / N * shape.pixel_pitch + j) * size..]),
            };
            for row in &mut tile {
                for (entry, mean) in row.iter_mut().zip(means) {
                    *entry += mean;
                }
            }
            let weights = weights.line::<S, N>(simd, first / N, 0..shape.patches);
            let own = own.line::<S, N>(simd, j, 0..shape.patches);
            add_products::<S, N, false, false>(simd, &mut tile, weights, own);
            store_tile(simd, &tile, &mut self.estimates[j * size..]);
        }
        N.min(count - first)
    }

    /// The sizes for groups of so many patches.
    #[inline(always)]
    fn shape<const N: usize>(&self, count: usize) -> Shape {
        Shape {
            count,
            patches: count.div_ceil(N),
            pixels: (self.side * self.side).div_ceil(N),
            patch_pitch: self.patch_pitch / N,
            pixel_pitch: self.pixel_pitch / N,
        }
    }

    #[inline(always)]
    fn find_means<S: Simd, const N: usize>(&mut self, simd: S, shape: Shape) {
        let share = S::f32s::splat(simd, 1.0 / shape.count as f32);
        self.means.fill(0.0);
        let own = Tiled { values: &self.patches, pitch: shape.pixel_pitch };
        for i in 0..shape.patches {
            // Patches that fill up the last tiles are zero.
            for (j, tile) in own.line::<S, N>(simd, i, 0..shape.pixels).enumerate() {
                let own = load_tile::<S, N>(simd, tile);
                let means = &mut self.means[j * N * S::f32s::LEN..][..N * S::f32s::LEN];
                for c in 0..N {
                    let mut mean = load(simd, means, c);
                    for row in &own {
                        mean = row[c].mul_add(share, mean);
                    }
                    store(simd, mean, means, c);
                }
            }
        }
    }

    /// Finds c and adds it to the diagonal of XᵀX.
    #[inline(always)]
    fn add_ridge<S: Simd, const N: usize>(&mut self, simd: S, shape: Shape, noise: f32) -> S::f32s {
        let mut energy = S::f32s::splat(simd, 0.0);
        for i in 0..shape.count {
            energy += load(simd, &self.inverse, place_of::<N>(self.patch_pitch, i, i));
        }
        let least = energy.mul_add(S::f32s::splat(simd, LEAST_NOISE), S::f32s::splat(simd, f32::MIN_POSITIVE));
        let wanted = S::f32s::splat(simd, shape.count as f32 * noise * noise);
        let ridge = wanted.max(least).min(S::f32s::splat(simd, MOST_NOISE));
        for i in 0..shape.patches * N {
            let place = place_of::<N>(self.patch_pitch, i, i);
            store(simd, load(simd, &self.inverse, place) + ridge, &mut self.inverse, place);
        }
        ridge
    }

    /// The diagonal of XZᵀ, if it is wanted.
    #[inline(always)]
    fn find_kept<S: Simd, const N: usize>(&mut self, simd: S, shape: Shape) {
        let Some(kept) = &mut self.kept else { return };
        kept.fill(KEPT_BY_MEAN / shape.count as f32);
        let own = Tiled { values: &self.patches, pitch: shape.pixel_pitch };
        let [inverse, pixels] = [&self.inverse, &self.pixels].map(|values| Tiled { values, pitch: shape.patch_pitch });
        let share = S::f32s::splat(simd, 1.0) / load(simd, &self.scale, 0);
        for i in 0..shape.patches {
            for (j, tile) in own.line::<S, N>(simd, i, 0..shape.pixels).enumerate() {
                let scaled = product::<S, N, false>(simd, (inverse, i), (pixels, j), shape.patches);
                for (r, row) in scaled.iter().enumerate() {
                    for (c, entry) in row.iter().enumerate() {
                        let own = load(simd, tile, r * N + c) * share;
                        store(simd, own.mul_add(*entry, load(simd, kept, j * N + c)), kept, j * N + c);
                    }
                }
            }
        }
    }
}

/// The sizes of the matrices, in tiles.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Patches of a group, not in tiles.
    count: usize,
    patches: usize,
    pixels: usize,
    /// From one line of tiles to the next.
    patch_pitch: usize,
    pixel_pitch: usize,
}

impl Shape {
    /// The tiles of a matrix with a row and a column for each patch.
    fn pairs_of_patches(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.patches).flat_map(move |i| (0..self.patches).map(move |j| (i, j)))
    }
}

/// The number of a vector in a matrix whose rows have this many.
#[inline(always)]
fn place_of<const N: usize>(pitch: usize, row: usize, column: usize) -> usize {
    (row / N * (pitch / N) + column / N) * (N * N) + row % N * N + column % N
}

/// Σ left(r, k)·right(c, k), for a line of tiles of each, where lines are rows, or Σ left(k, r)·right(k, c), where they are columns.
#[inline(always)]
fn product<S: Simd, const N: usize, const ALONG_ROWS: bool>(
    simd: S,
    (left, i): (Tiled<'_>, usize),
    (right, j): (Tiled<'_>, usize),
    terms: usize,
) -> [[S::f32s; N]; N] {
    let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
    let (left, right) = (left.line::<S, N>(simd, i, 0..terms), right.line::<S, N>(simd, j, 0..terms));
    add_products::<S, N, ALONG_ROWS, false>(simd, &mut tile, left, right);
    tile
}

/// Writes the products of some pairs of lines, of so many tiles each, to the columns of a matrix whose lines are `pitch` apart.
#[inline(always)]
fn write_products<S: Simd, const N: usize, const ALONG_ROWS: bool>(
    simd: S,
    (left, right): (Tiled<'_>, Tiled<'_>),
    (pairs, terms): (impl Iterator<Item = (usize, usize)>, usize),
    (out, pitch): (&mut [f32], usize),
) {
    for (i, j) in pairs {
        let products = product::<S, N, ALONG_ROWS>(simd, (left, i), (right, j), terms);
        store_tile(simd, &products, &mut out[(j * pitch + i) * tile_size::<S, N>(simd)..]);
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

/// Reads the patches of the groups, a group a lane; lanes without a group are zero, and so is what fills up tiles.
#[inline(always)]
fn gather<S: Simd, const N: usize>(
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
    for i in 0..groups.patches.next_multiple_of(N) {
        let out = &mut out[i / N * (pitch * N * lanes)..][..pitch * N * lanes];
        let out_at = |pixel: usize| place_of::<N>(pitch, i % N, pixel) * lanes;
        let filled = if i < groups.patches { squares(side) } else { 0 };
        for pixel in filled..pitch {
            out[out_at(pixel)..][..lanes].fill(0.0);
        }
        if filled == 0 {
            continue;
        }
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
            if pixels < squares(side) {
                patch[pixels..pixels + SQUARE].fill(0.0);
            }
        }
        turn(simd, (rows, |group| group * row_pitch(side)), (lanes, squares(side)), (out, out_at));
    }
}

/// Subtracts the means of the pixels from all patches, and writes what is left in columns of tiles as well, if that is wanted.
#[inline(always)]
fn subtract<S: Simd, const N: usize>(
    simd: S,
    means: &[f32],
    shape: Shape,
    patches: &mut [f32],
    mut pixels: Option<&mut [f32]>,
) {
    let (size, zero) = (tile_size::<S, N>(simd), S::f32s::splat(simd, 0.0));
    for (i, row) in patches.chunks_exact_mut(shape.pixel_pitch * size).take(shape.patches).enumerate() {
        // Patches that fill up the last tiles are equal to their mean.
        let present = N.min(shape.count - i * N);
        for (j, tile) in row.chunks_exact_mut(size).take(shape.pixels).enumerate() {
            let means = load_row::<S, N>(simd, &means[j * N * S::f32s::LEN..]);
            let mut left = load_tile::<S, N>(simd, tile);
            for (r, row) in left.iter_mut().enumerate() {
                for (entry, mean) in row.iter_mut().zip(means) {
                    *entry = if r < present { *entry - mean } else { zero };
                }
            }
            store_tile(simd, &left, tile);
            if let Some(pixels) = &mut pixels {
                store_tile(simd, &left, &mut pixels[(j * shape.patch_pitch + i) * size..]);
            }
        }
    }
}

/// Makes rows columns, wherever they begin: whole vectors of them where there are as many of both, else four at a time.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    (from, from_at): (&[f32], impl Fn(usize) -> usize),
    (rows, columns): (usize, usize),
    (to, to_at): (&mut [f32], impl Fn(usize) -> usize),
) {
    let lanes = S::f32s::LEN;
    for row in (0..rows).step_by(lanes) {
        for column in (0..columns).step_by(lanes) {
            if row + lanes <= rows && column + lanes <= columns {
                let mut vectors = [S::f32s::splat(simd, 0.0); LANES];
                for (r, vector) in vectors[..lanes].iter_mut().enumerate() {
                    *vector = S::f32s::from_slice(simd, &from[from_at(row + r) + column..][..lanes]);
                }
                vectors = interleaved(simd, interleaved(simd, vectors));
                if lanes > 4 {
                    vectors = interleaved(simd, vectors);
                }
                if lanes > 8 {
                    vectors = interleaved(simd, vectors);
                }
                for (c, vector) in vectors[..lanes].iter().enumerate() {
                    vector.store_slice(&mut to[to_at(column + c) + row..][..lanes]);
                }
                continue;
            }
            for row in (row..rows.min(row + lanes)).step_by(SQUARE) {
                for column in (column..columns.min(column + lanes)).step_by(SQUARE) {
                    let load = |r: usize| f32x4::from_slice(simd, &from[from_at(row + r) + column..][..SQUARE]);
                    let (even, odd) = (load(0).interleave(load(2)), load(1).interleave(load(3)));
                    let (low, high) = (even.0.interleave(odd.0), even.1.interleave(odd.1));
                    for (c, vector) in [low.0, low.1, high.0, high.1].iter().enumerate() {
                        vector.store_slice(&mut to[to_at(column + c) + row..][..SQUARE]);
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
