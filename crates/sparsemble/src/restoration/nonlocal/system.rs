//! Small systems of equations, as many at a time as vectors have lanes: each lane is a system of its own.
//!
//! What would be a number is a vector here, so nothing is padded to whole vectors, no sum runs across lanes, and no
//! vector waits for a part of another. Matrices are row by row. They are worked through in square tiles, so that what was read serves
//! a whole row or column of one.

use fearless_simd::prelude::*;

/// Matrices of vectors, by what is from one entry to the next in both directions, both in vectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) values: &'a [f32],
    /// From a term of a sum to the next.
    pub(super) term: usize,
    /// From an entry of a tile to the next.
    pub(super) entry: usize,
}

/// Reads a vector, by its number.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, values: &[f32], at: usize) -> S::f32s {
    S::f32s::from_slice(simd, &values[at * S::f32s::LEN..][..S::f32s::LEN])
}

/// Writes a vector, by its number.
#[inline(always)]
pub(super) fn store<S: Simd>(_: S, value: S::f32s, values: &mut [f32], at: usize) {
    value.store_slice(&mut values[at * S::f32s::LEN..][..S::f32s::LEN]);
}

/// A square of vectors in registers.
type Tile<S, const N: usize> = [[<S as Simd>::f32s; N]; N];

/// Reads a tile whose first vector is number `at`, from rows that are `pitch` apart.
#[inline(always)]
pub(super) fn load_tile<S: Simd, const N: usize>(simd: S, values: &[f32], at: usize, pitch: usize) -> Tile<S, N> {
    let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
    for (r, row) in tile.iter_mut().enumerate() {
        for (c, entry) in row.iter_mut().enumerate() {
            *entry = load(simd, values, at + r * pitch + c);
        }
    }
    tile
}

/// Writes a tile.
#[inline(always)]
pub(super) fn store_tile<S: Simd, const N: usize>(
    simd: S,
    tile: &Tile<S, N>,
    values: &mut [f32],
    at: usize,
    pitch: usize,
) {
    for (r, row) in tile.iter().enumerate() {
        for (c, entry) in row.iter().enumerate() {
            store(simd, *entry, values, at + r * pitch + c);
        }
    }
}

/// Adds Σ left(k, r)·right(k, c) over k to each entry (r, c) of a tile, or subtracts it.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the tile in registers if it is written so")]
#[inline(always)]
pub(super) fn add_products<S: Simd, const N: usize, const SUBTRACT: bool>(
    simd: S,
    tile: &mut Tile<S, N>,
    (left, right): (Entries<'_>, Entries<'_>),
    terms: usize,
) {
    for k in 0..terms {
        let mut factors = [S::f32s::splat(simd, 0.0); N];
        for (r, factor) in factors.iter_mut().enumerate() {
            let entry = load(simd, left.values, k * left.term + r * left.entry);
            *factor = if SUBTRACT { -entry } else { entry };
        }
        for c in 0..N {
            let other = load(simd, right.values, k * right.term + c * right.entry);
            for r in 0..N {
                tile[r][c] = factors[r].mul_add(other, tile[r][c]);
            }
        }
    }
}

/// Which entries of a product are formed: all `rows` × `columns` of them, or those on and above the diagonal; `terms` is
/// the length of their sums. Rows and columns are multiples of a tile's side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) terms: usize,
    pub(super) above_only: bool,
}

/// The matrix of Σ left(k, r)·right(k, c) over k, to rows that are `pitch` apart.
#[inline(always)]
pub(super) fn products<S: Simd, const N: usize>(
    simd: S,
    (left, right): (Entries<'_>, Entries<'_>),
    Extent { rows, columns, terms, above_only }: Extent,
    (out, pitch): (&mut [f32], usize),
) {
    for first in (0..rows).step_by(N) {
        for start in (if above_only { first } else { 0 }..columns).step_by(N) {
            let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
            let left = Entries { values: from(simd, left.values, first * left.entry), ..left };
            let right = Entries { values: from(simd, right.values, start * right.entry), ..right };
            add_products::<S, N, false>(simd, &mut tile, (left, right), terms);
            store_tile(simd, &tile, out, first * pitch + start, pitch);
        }
    }
}

/// Makes A, symmetric and given on and above its diagonal, A⁻¹ times `scale`. Its sides are multiples of a tile's. With UᵀU = A, the
/// square of no pivot of U counts as less than `least`; `space` is as large as A and gets U⁻ᵀ.
///
/// An inverse, as it is mostly used for more columns than the matrix has: a product, whose sums need not wait for each other.
#[inline(always)]
pub(super) fn invert<S: Simd, const N: usize>(
    simd: S,
    (size, pitch): (usize, usize),
    (least, scale): (S::f32s, S::f32s),
    matrix: &mut [f32],
    space: &mut [f32],
) {
    for first in (0..size).step_by(N) {
        factor_rows::<S, N>(simd, first, (size, pitch), least, matrix, space);
    }
    // U⁻¹U⁻ᵀ, where U⁻ᵀ is zero above its diagonal.
    for first in (0..size).step_by(N) {
        for start in (first..size).step_by(N) {
            let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
            let below = |column| Entries { values: from(simd, space, start * pitch + column), term: pitch, entry: 1 };
            add_products::<S, N, false>(simd, &mut tile, (below(first), below(start)), size - start);
            for row in &mut tile {
                for entry in row {
                    *entry *= scale;
                }
            }
            store_tile(simd, &tile, matrix, first * pitch + start, pitch);
            for (r, row) in tile.iter().enumerate() {
                for (c, entry) in row.iter().enumerate() {
                    store(simd, *entry, matrix, (start + c) * pitch + first + r);
                }
            }
        }
    }
}

/// A row of tiles of U, right of the diagonal, and of U⁻ᵀ, left of it and on it.
#[inline(always)]
fn factor_rows<S: Simd, const N: usize>(
    simd: S,
    first: usize,
    (size, pitch): (usize, usize),
    least: S::f32s,
    matrix: &mut [f32],
    space: &mut [f32],
) {
    let (above, rows) = matrix.split_at_mut(first * pitch * S::f32s::LEN);
    let (inverse_above, inverse_rows) = space.split_at_mut(first * pitch * S::f32s::LEN);
    let above = |at| Entries { values: from(simd, above, at), term: pitch, entry: 1 };
    let mut corner = load_tile::<S, N>(simd, rows, first, pitch);
    add_products::<S, N, true>(simd, &mut corner, (above(first), above(first)), first);
    factor_tile(simd, least, &mut corner);
    for start in (first + N..size).step_by(N) {
        let mut tile = load_tile::<S, N>(simd, rows, start, pitch);
        add_products::<S, N, true>(simd, &mut tile, (above(first), above(start)), first);
        forward_tile(simd, &corner, &mut tile);
        store_tile(simd, &tile, rows, start, pitch);
    }
    for start in (0..first).step_by(N) {
        let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
        let inverse = Entries { values: from(simd, inverse_above, start * pitch + start), term: pitch, entry: 1 };
        let left = above(start * pitch + first);
        add_products::<S, N, true>(simd, &mut tile, (left, inverse), first - start);
        forward_tile(simd, &corner, &mut tile);
        store_tile(simd, &tile, inverse_rows, start, pitch);
    }
    let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
    (0..N).for_each(|r| tile[r][r] = S::f32s::splat(simd, 1.0));
    forward_tile(simd, &corner, &mut tile);
    store_tile(simd, &tile, inverse_rows, first, pitch);
}

/// The factor of a tile on the diagonal.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the tile in registers if it is written so")]
#[inline(always)]
fn factor_tile<S: Simd, const N: usize>(simd: S, least: S::f32s, tile: &mut Tile<S, N>) {
    let one = S::f32s::splat(simd, 1.0);
    for r in 0..N {
        for q in 0..r {
            for c in r..N {
                tile[r][c] = (-tile[q][r]).mul_add(tile[q][c], tile[r][c]);
            }
        }
        let recip = one / tile[r][r].max(least).sqrt();
        for c in r + 1..N {
            tile[r][c] *= recip;
        }
        tile[r][r] = recip;
    }
}

/// U⁻ᵀ of a tile on the diagonal times another tile.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the tile in registers if it is written so")]
#[inline(always)]
fn forward_tile<S: Simd, const N: usize>(_: S, corner: &Tile<S, N>, tile: &mut Tile<S, N>) {
    for r in 0..N {
        for c in 0..N {
            for q in 0..r {
                tile[r][c] = (-corner[q][r]).mul_add(tile[q][c], tile[r][c]);
            }
            tile[r][c] *= corner[r][r];
        }
    }
}

/// What begins with a vector, by its number; nothing if there is no such vector.
#[inline(always)]
pub(super) fn from<S: Simd>(_: S, values: &[f32], at: usize) -> &[f32] {
    values.get(at * S::f32s::LEN..).unwrap_or_default()
}
