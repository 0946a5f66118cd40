//! Small systems of equations, as many at a time as vectors have lanes: each lane is a system of its own.
//!
//! What would be a number is a vector here, so nothing is padded to whole vectors, no sum runs across lanes, and no
//! vector waits for a part of another. Matrices are cut into square tiles, and a tile lies in one piece, row by row: what was read
//! of two of them serves a whole row or column of their product, and as all of it is at known places nothing is checked in between.

use std::ops::Range;
use std::slice::ChunksExact;

use fearless_simd::prelude::*;

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

/// A tile of vectors in registers.
type Tile<S, const N: usize> = [[<S as Simd>::f32s; N]; N];

/// How many values a tile has.
#[inline(always)]
pub(super) fn tile_size<S: Simd, const N: usize>(_: S) -> usize {
    N * N * S::f32s::LEN
}

/// Reads a tile.
#[inline(always)]
pub(super) fn load_tile<S: Simd, const N: usize>(simd: S, values: &[f32]) -> Tile<S, N> {
    let values = &values[..tile_size::<S, N>(simd)];
    let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
    for (r, row) in tile.iter_mut().enumerate() {
        for (c, entry) in row.iter_mut().enumerate() {
            *entry = load(simd, values, r * N + c);
        }
    }
    tile
}

/// Reads as many vectors as a tile has in a row.
#[inline(always)]
pub(super) fn load_row<S: Simd, const N: usize>(simd: S, values: &[f32]) -> [S::f32s; N] {
    let values = &values[..N * S::f32s::LEN];
    let mut row = [S::f32s::splat(simd, 0.0); N];
    for (c, entry) in row.iter_mut().enumerate() {
        *entry = load(simd, values, c);
    }
    row
}

/// Writes a tile.
#[inline(always)]
pub(super) fn store_tile<S: Simd, const N: usize>(simd: S, tile: &Tile<S, N>, values: &mut [f32]) {
    let values = &mut values[..tile_size::<S, N>(simd)];
    for (r, row) in tile.iter().enumerate() {
        for (c, entry) in row.iter().enumerate() {
            store(simd, *entry, values, r * N + c);
        }
    }
}

/// A matrix in tiles: lines of them, one after the other, which are its rows or its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiled<'a> {
    pub(super) values: &'a [f32],
    /// Tiles from one line to the next.
    pub(super) pitch: usize,
}

impl<'a> Tiled<'a> {
    /// Some tiles of a line.
    #[inline(always)]
    pub(super) fn line<S: Simd, const N: usize>(
        self,
        simd: S,
        line: usize,
        tiles: Range<usize>,
    ) -> ChunksExact<'a, f32> {
        let size = tile_size::<S, N>(simd);
        self.values[(line * self.pitch + tiles.start) * size..][..tiles.len() * size].chunks_exact(size)
    }
}

/// Adds the products of tiles with tiles, or subtracts them: Σ left(k, r)·right(k, c) over k to each entry (r, c), or
/// Σ left(r, k)·right(c, k) where sums run along rows.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the tile in registers if it is written so")]
#[inline(always)]
pub(super) fn add_products<'a, S: Simd, const N: usize, const ALONG_ROWS: bool, const SUBTRACT: bool>(
    simd: S,
    tile: &mut Tile<S, N>,
    left: impl Iterator<Item = &'a [f32]>,
    right: impl Iterator<Item = &'a [f32]>,
) {
    let size = tile_size::<S, N>(simd);
    for (left, right) in left.zip(right) {
        let (left, right) = (&left[..size], &right[..size]);
        for k in 0..N {
            let at = |entry: usize| if ALONG_ROWS { entry * N + k } else { k * N + entry };
            let mut factors = [S::f32s::splat(simd, 0.0); N];
            for r in 0..N {
                let entry = load(simd, left, at(r));
                factors[r] = if SUBTRACT { -entry } else { entry };
            }
            for c in 0..N {
                let other = load(simd, right, at(c));
                for r in 0..N {
                    tile[r][c] = factors[r].mul_add(other, tile[r][c]);
                }
            }
        }
    }
}

/// Makes A, symmetric and given on and above its diagonal, A⁻¹ times `scale`. Lines are columns, of `count` tiles each and
/// `pitch` apart. With UᵀU = A, the square of no pivot of U counts as less than `least`; `space` is as large as A and gets U⁻ᵀ.
///
/// An inverse, as it is mostly used for more columns than the matrix has: a product, whose sums need not wait for each other.
#[inline(always)]
pub(super) fn invert<S: Simd, const N: usize>(
    simd: S,
    (count, pitch): (usize, usize),
    (least, scale): (S::f32s, S::f32s),
    matrix: &mut [f32],
    space: &mut [f32],
) {
    for row in 0..count {
        factor_row::<S, N>(simd, row, (count, pitch), least, matrix, space);
    }
    // U⁻¹U⁻ᵀ, where U⁻ᵀ is zero above its diagonal.
    let (size, lower) = (tile_size::<S, N>(simd), Tiled { values: space, pitch });
    for row in 0..count {
        for column in row..count {
            let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
            let below = |line| lower.line::<S, N>(simd, line, column..count);
            add_products::<S, N, false, false>(simd, &mut tile, below(row), below(column));
            let mut turned = tile;
            for r in 0..N {
                for c in 0..N {
                    tile[r][c] *= scale;
                    turned[c][r] = tile[r][c];
                }
            }
            store_tile(simd, &tile, &mut matrix[(column * pitch + row) * size..]);
            store_tile(simd, &turned, &mut matrix[(row * pitch + column) * size..]);
        }
    }
}

/// A row of tiles of U, right of the diagonal, and of U⁻ᵀ, left of it and on it.
#[inline(always)]
fn factor_row<S: Simd, const N: usize>(
    simd: S,
    row: usize,
    (count, pitch): (usize, usize),
    least: S::f32s,
    matrix: &mut [f32],
    space: &mut [f32],
) {
    let at = |column: usize| (column * pitch + row) * tile_size::<S, N>(simd);
    let mut corner = load_tile::<S, N>(simd, &matrix[at(row)..]);
    let upper = Tiled { values: matrix, pitch };
    let own = upper.line::<S, N>(simd, row, 0..row);
    add_products::<S, N, false, true>(simd, &mut corner, own.clone(), own);
    factor_tile(simd, least, &mut corner);
    for column in row + 1..count {
        let mut tile = load_tile::<S, N>(simd, &matrix[at(column)..]);
        let upper = Tiled { values: matrix, pitch };
        let [own, other] = [row, column].map(|line| upper.line::<S, N>(simd, line, 0..row));
        add_products::<S, N, false, true>(simd, &mut tile, own, other);
        forward_tile(simd, &corner, &mut tile);
        store_tile(simd, &tile, &mut matrix[at(column)..]);
    }
    for column in 0..row {
        let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
        let own = Tiled { values: matrix, pitch }.line::<S, N>(simd, row, column..row);
        let inverse = Tiled { values: space, pitch }.line::<S, N>(simd, column, column..row);
        add_products::<S, N, false, true>(simd, &mut tile, own, inverse);
        forward_tile(simd, &corner, &mut tile);
        store_tile(simd, &tile, &mut space[at(column)..]);
    }
    let mut tile = [[S::f32s::splat(simd, 0.0); N]; N];
    (0..N).for_each(|r| tile[r][r] = S::f32s::splat(simd, 1.0));
    forward_tile(simd, &corner, &mut tile);
    store_tile(simd, &tile, &mut space[at(row)..]);
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
