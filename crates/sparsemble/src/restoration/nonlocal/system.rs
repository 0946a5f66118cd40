//! Small systems of equations with many right sides, beside each other in the rows of one matrix.
//!
//! Rows are whole vectors apart; several of them are worked on together, so that what was read serves all of them and no
//! sum has to wait for its last term.

use fearless_simd::prelude::*;

/// Rows that are worked on together.
pub(super) const ROWS: usize = 4;

/// At most so many vectors of each of them are in registers.
const PIECE: usize = 3;

/// Adds the ridge to the left part A of a system (A B) and makes it (U U⁻ᵀB), UᵀU = A, where the diagonal of U
/// has its reciprocals and the entries below it mean nothing.
#[inline(always)]
pub(super) fn factor<S: Simd>(simd: S, count: usize, (vectors, pitch): (usize, usize), ridge: f32, system: &mut [f32]) {
    let whole = count / ROWS * ROWS;
    for first in (0..whole).step_by(ROWS) {
        factor_rows::<S, ROWS>(simd, first, (vectors, pitch), ridge, system);
    }
    for first in whole..count {
        factor_rows::<S, 1>(simd, first, (vectors, pitch), ridge, system);
    }
}

#[inline(always)]
fn factor_rows<S: Simd, const R: usize>(
    simd: S,
    first: usize,
    (vectors, pitch): (usize, usize),
    ridge: f32,
    system: &mut [f32],
) {
    let (above, rows) = system.split_at_mut(first * pitch);
    let (_, mut rows) = split_rows::<R>(rows, pitch, 0);
    (0..R).for_each(|r| rows[r][first + r] += ridge);
    let start = first / S::f32s::LEN * S::f32s::LEN;
    let parts = rows.each_mut().map(|row| &mut row[start..vectors * S::f32s::LEN]);
    let factors = std::array::from_fn(|r| above.get(first + r..).unwrap_or_default());
    let others = Others { rows: above.get(start..).unwrap_or_default(), count: first, pitch, factors, step: pitch };
    add_rows::<S, R, true>(simd, parts, others);
    // The square on the diagonal comes first: it has the factors for all that is right of it.
    let mut square = [[0.0; R]; R];
    for (entries, row) in square.iter_mut().zip(&rows) {
        entries.copy_from_slice(&row[first..first + R]);
    }
    for r in 0..R {
        for q in 0..r {
            for c in r..R {
                square[r][c] -= square[q][r] * square[q][c];
            }
        }
        // But for rounding, no pivot is below the ridge.
        let recip = square[r][r].max(ridge).sqrt().recip();
        square[r].iter_mut().for_each(|entry| *entry *= recip);
        square[r][r] = recip;
    }
    for at in (start..vectors * S::f32s::LEN).step_by(S::f32s::LEN) {
        let mut parts = [S::f32s::splat(simd, 0.0); R];
        for r in 0..R {
            let row = &mut rows[r][at..at + S::f32s::LEN];
            let mut part = S::f32s::from_slice(simd, row);
            for q in 0..r {
                part = parts[q].mul_add(S::f32s::splat(simd, -square[q][r]), part);
            }
            parts[r] = part * S::f32s::splat(simd, square[r][r]);
            parts[r].store_slice(row);
        }
    }
    (0..R).for_each(|r| rows[r][first + r] = square[r][r]);
}

/// Makes the right part of (U V), from a column on, the solution Y of UY = V.
#[inline(always)]
pub(super) fn solve<S: Simd>(
    simd: S,
    (count, from): (usize, usize),
    (vectors, pitch): (usize, usize),
    system: &mut [f32],
) {
    let whole = count / ROWS * ROWS;
    for first in (whole..count).rev() {
        solve_rows::<S, 1>(simd, (first, from), (vectors, pitch), &mut system[..count * pitch]);
    }
    for first in (0..whole).step_by(ROWS).rev() {
        solve_rows::<S, ROWS>(simd, (first, from), (vectors, pitch), &mut system[..count * pitch]);
    }
}

#[inline(always)]
fn solve_rows<S: Simd, const R: usize>(
    simd: S,
    (first, from): (usize, usize),
    (vectors, pitch): (usize, usize),
    system: &mut [f32],
) {
    let (rows, below) = system.split_at_mut((first + R) * pitch);
    let (factors, mut right) = split_rows::<R>(&mut rows[first * pitch..], pitch, from);
    let count = below.len() / pitch;
    let factors = factors.map(|row| &row[first..first + R + count]);
    let parts = right.each_mut().map(|row| &mut row[..vectors * S::f32s::LEN]);
    let others = Others {
        rows: below.get(from..).unwrap_or_default(),
        count,
        pitch,
        factors: factors.map(|row| &row[R..]),
        step: 1,
    };
    add_rows::<S, R, true>(simd, parts, others);
    for at in (0..vectors * S::f32s::LEN).step_by(S::f32s::LEN) {
        let mut parts = [S::f32s::splat(simd, 0.0); R];
        for r in (0..R).rev() {
            let row = &mut right[r][at..at + S::f32s::LEN];
            let mut part = S::f32s::from_slice(simd, row);
            for q in r + 1..R {
                part = parts[q].mul_add(S::f32s::splat(simd, -factors[r][q]), part);
            }
            parts[r] = part * S::f32s::splat(simd, factors[r][r]);
            parts[r].store_slice(row);
        }
    }
}

/// The left and the right parts of the first rows of a matrix.
#[inline(always)]
pub(super) fn split_rows<const R: usize>(
    matrix: &mut [f32],
    pitch: usize,
    at: usize,
) -> ([&mut [f32]; R], [&mut [f32]; R]) {
    let mut parts: (_, [_; R]) =
        (std::array::from_fn(|_| Default::default()), std::array::from_fn(|_| Default::default()));
    for ((row, left), right) in matrix.chunks_exact_mut(pitch).zip(&mut parts.0).zip(&mut parts.1) {
        (*left, *right) = row.split_at_mut(at);
    }
    parts
}

/// Rows that are `pitch` apart, and what each is multiplied by for each of R others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Others<'a, const R: usize> {
    pub(super) rows: &'a [f32],
    pub(super) count: usize,
    pub(super) pitch: usize,
    pub(super) factors: [&'a [f32]; R],
    /// From a factor to the next.
    pub(super) step: usize,
}

/// Adds to some rows, which are whole vectors, multiples of others, or subtracts them.
#[inline(always)]
pub(super) fn add_rows<S: Simd, const R: usize, const SUBTRACT: bool>(
    simd: S,
    mut rows: [&mut [f32]; R],
    others: Others<'_, R>,
) {
    let vectors = rows[0].len() / S::f32s::LEN;
    let mut first = 0;
    while first < vectors {
        let left = vectors - first;
        // Pieces of about the same width.
        let width = left.div_ceil(left.div_ceil(PIECE));
        let at = first * S::f32s::LEN;
        match width {
            1 => add_piece::<S, R, 1, SUBTRACT>(simd, &mut rows, at, others),
            2 => add_piece::<S, R, 2, SUBTRACT>(simd, &mut rows, at, others),
            _ => add_piece::<S, R, PIECE, SUBTRACT>(simd, &mut rows, at, others),
        }
        first += width;
    }
}

#[inline(always)]
fn add_piece<S: Simd, const R: usize, const N: usize, const SUBTRACT: bool>(
    simd: S,
    rows: &mut [&mut [f32]; R],
    at: usize,
    others: Others<'_, R>,
) {
    let lanes = S::f32s::LEN;
    let mut sums = [[S::f32s::splat(simd, 0.0); N]; R];
    for (sums, row) in sums.iter_mut().zip(&*rows) {
        let row = &row[at..at + N * lanes];
        for (v, sum) in sums.iter_mut().enumerate() {
            *sum = S::f32s::from_slice(simd, &row[v * lanes..(v + 1) * lanes]);
        }
    }
    for j in 0..others.count {
        let other = &others.rows[j * others.pitch + at..][..N * lanes];
        let mut vectors = [S::f32s::splat(simd, 0.0); N];
        for (v, vector) in vectors.iter_mut().enumerate() {
            *vector = S::f32s::from_slice(simd, &other[v * lanes..(v + 1) * lanes]);
        }
        for (sums, factors) in sums.iter_mut().zip(&others.factors) {
            let factor = factors[j * others.step];
            let factor = S::f32s::splat(simd, if SUBTRACT { -factor } else { factor });
            for (sum, vector) in sums.iter_mut().zip(&vectors) {
                *sum = vector.mul_add(factor, *sum);
            }
        }
    }
    for (sums, row) in sums.iter().zip(rows) {
        let row = &mut row[at..at + N * lanes];
        for (v, sum) in sums.iter().enumerate() {
            sum.store_slice(&mut row[v * lanes..(v + 1) * lanes]);
        }
    }
}
