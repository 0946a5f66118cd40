//! Products of single padded columns. All slices have the padded length of [`Columns`], a multiple of every vector.

use fearless_simd::prelude::*;

use super::columns::{Columns, PADDING};
use crate::scalar::Scalar;

/// Columns whose products with one vector run side by side, to hide the latency of the multiply-add.
pub(crate) const SIDE_BY_SIDE: usize = 8;

/// The product of two padded columns.
#[inline(always)]
pub(crate) fn dot<S: Simd, T: Scalar>(simd: S, a: &[T], b: &[T]) -> T {
    let lanes = T::Native::<S>::LEN;
    let mut sum = T::Native::<S>::splat(simd, T::ZERO);
    for (a, b) in a.chunks_exact(lanes).zip(b.chunks_exact(lanes)) {
        sum = T::Native::<S>::from_slice(simd, a).mul_add(T::Native::<S>::from_slice(simd, b), sum);
    }
    sum.reduce_sum()
}

/// Writes the products of `vector` with the named columns, in their order, to the front of `out`, then zeros up to a
/// multiple of 16.
///
/// `out` grows as needed and never shrinks; what lies beyond means nothing.
#[inline(always)]
pub(crate) fn dots<S: Simd, T: Scalar>(simd: S, columns: &Columns<T>, names: &[u32], vector: &[T], out: &mut Vec<T>) {
    let padded = names.len().next_multiple_of(PADDING);
    if out.len() < padded {
        out.resize(padded, T::ZERO);
    }
    let (chunks, per_column) = columns.chunks();
    let (vector, _) = vector.as_chunks::<PADDING>();
    let vector = &vector[..per_column];
    let (groups, _) = out[..padded].as_chunks_mut::<SIDE_BY_SIDE>();
    for (eight, out) in names.chunks(SIDE_BY_SIDE).zip(groups.iter_mut()) {
        // A short last group computes some products twice rather than branch in the loop.
        let column =
            |i: usize| &chunks[eight[if i < eight.len() { i } else { 0 }] as usize * per_column..][..per_column];
        let columns = [column(0), column(1), column(2), column(3), column(4), column(5), column(6), column(7)];
        *out = eight_dots(simd, columns, vector);
    }
    out[names.len()..padded].fill(T::ZERO);
}

/// The products of `vector` with so many named columns as run side by side.
#[inline(always)]
pub(crate) fn few_dots<S: Simd, T: Scalar>(
    simd: S,
    columns: &Columns<T>,
    names: &[u32; SIDE_BY_SIDE],
    vector: &[T],
) -> [T; SIDE_BY_SIDE] {
    let (chunks, per_column) = columns.chunks();
    let (vector, _) = vector.as_chunks::<PADDING>();
    let column = |i: usize| &chunks[names[i] as usize * per_column..][..per_column];
    let columns = [column(0), column(1), column(2), column(3), column(4), column(5), column(6), column(7)];
    eight_dots(simd, columns, &vector[..per_column])
}

/// The place of the first of the largest of so many scores.
#[inline(always)]
pub(crate) fn first_largest<S: Simd, T: Scalar>(simd: S, scores: &[T; SIDE_BY_SIDE]) -> usize {
    let lanes = T::Native::<S>::LEN;
    // A vector may have room for more.
    let mut padded = [scores[0]; PADDING];
    padded[..SIDE_BY_SIDE].copy_from_slice(scores);
    let parts = padded[..lanes.max(SIDE_BY_SIDE)].chunks_exact(lanes);
    let load = |part: &[T]| T::Native::<S>::from_slice(simd, part);
    let most = parts.clone().fold(load(&padded[..lanes]), |most, part| most.max(load(part)));
    let largest = T::Native::<S>::splat(simd, most.reduce_max());
    let hits = parts.rev().fold(0, |hits, part| hits << lanes | load(part).simd_ge(largest).to_bitmask());
    // Nothing but NaN, which finite input never gives, is not among the largest.
    (hits.trailing_zeros() as usize).min(SIDE_BY_SIDE - 1)
}

#[inline(always)]
fn eight_dots<S: Simd, T: Scalar>(
    simd: S,
    [a, b, c, d, e, f, g, h]: [&[[T; PADDING]]; SIDE_BY_SIDE],
    vector: &[[T; PADDING]],
) -> [T; SIDE_BY_SIDE] {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [T::Native::<S>::splat(simd, T::ZERO); SIDE_BY_SIDE];
    for i in 0..vector.len() {
        let columns = [&a[i], &b[i], &c[i], &d[i], &e[i], &f[i], &g[i], &h[i]];
        for part in 0..PADDING / lanes {
            let range = part * lanes..(part + 1) * lanes;
            let x = T::Native::<S>::from_slice(simd, &vector[i][range.clone()]);
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = T::Native::<S>::from_slice(simd, &column[range.clone()]).mul_add(x, *sum);
            }
        }
    }
    sum_lanes(simd, sums)
}

/// Sums the lanes of eight vectors at once by halving pairs of vectors into one.
#[inline(always)]
fn sum_lanes<S: Simd, T: Scalar>(_: S, sums: [T::Native<S>; SIDE_BY_SIDE]) -> [T; SIDE_BY_SIDE] {
    let halve = |a: T::Native<S>, b: T::Native<S>| a.unzip_low(b) + a.unzip_high(b);
    let [a, b, c, d, e, f, g, h] = sums;
    let mut out = [T::ZERO; SIDE_BY_SIDE];
    // Each level halves the lanes that belong to one sum; a level whose vectors hold finished sums is the last.
    let twos = [halve(a, b), halve(c, d), halve(e, f), halve(g, h)];
    let fours = [halve(twos[0], twos[1]), halve(twos[2], twos[3])];
    let eights = halve(fours[0], fours[1]);
    match T::Native::<S>::LEN {
        2 => {
            for (out, two) in out.chunks_exact_mut(2).zip(twos) {
                two.store_slice(out);
            }
        }
        4 => {
            for (out, four) in out.chunks_exact_mut(4).zip(fours) {
                four.store_slice(out);
            }
        }
        lanes => {
            let parts = eights.as_slice();
            let share = lanes / SIDE_BY_SIDE;
            for (out, part) in out.iter_mut().zip(parts.chunks_exact(share)) {
                *out = part.iter().fold(T::ZERO, |sum, &x| sum + x);
            }
        }
    }
    out
}

/// Adds `factor · x` to `y`.
#[inline(always)]
pub(crate) fn axpy<S: Simd, T: Scalar>(simd: S, factor: T, x: &[T], y: &mut [T]) {
    let lanes = T::Native::<S>::LEN;
    let factor = T::Native::<S>::splat(simd, factor);
    for (x, y) in x.chunks_exact(lanes).zip(y.chunks_exact_mut(lanes)) {
        let sum = T::Native::<S>::from_slice(simd, x).mul_add(factor, T::Native::<S>::from_slice(simd, y));
        sum.store_slice(y);
    }
}

/// Rotates two columns in their plane: (x, y) becomes (c·x − s·y, s·x + c·y).
#[inline(always)]
pub(crate) fn rotate<S: Simd, T: Scalar>(simd: S, (cosine, sine): (T, T), x: &mut [T], y: &mut [T]) {
    let lanes = T::Native::<S>::LEN;
    let (cosine, sine) = (T::Native::<S>::splat(simd, cosine), T::Native::<S>::splat(simd, sine));
    for (x, y) in x.chunks_exact_mut(lanes).zip(y.chunks_exact_mut(lanes)) {
        let (a, b) = (T::Native::<S>::from_slice(simd, x), T::Native::<S>::from_slice(simd, y));
        (cosine * a - sine * b).store_slice(x);
        (sine * a + cosine * b).store_slice(y);
    }
}

/// Rows of a product that are summed up side by side.
const ROWS: usize = 2;

/// Adds Σ a·bᵀ over the first `count` columns a and b to `out`, whose columns are as many as a is long: each sum in the
/// precision of the columns, before the one it is added to.
#[inline(always)]
pub(crate) fn add_outer_products<S: Simd, T: Scalar>(
    simd: S,
    (a, b): (&Columns<T>, &Columns<T>),
    count: usize,
    out: &mut Columns<f64>,
) {
    let stride = b.stride();
    let strip = HALF_STRIP * T::Native::<S>::LEN;
    let wide = stride - stride % strip;
    for first in (0..out.count()).step_by(ROWS) {
        for start in (0..wide).step_by(strip) {
            add_outer_strip::<S, T, HALF_STRIP>(simd, (a, b), count, (first, start), out);
        }
        for start in (wide..stride).step_by(T::Native::<S>::LEN) {
            add_outer_strip::<S, T, 1>(simd, (a, b), count, (first, start), out);
        }
    }
}

/// The same for a few rows from `first` on and `N` vectors from `start` on.
#[inline(always)]
fn add_outer_strip<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    (a, b): (&Columns<T>, &Columns<T>),
    count: usize,
    (first, start): (usize, usize),
    out: &mut Columns<f64>,
) {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [[T::Native::<S>::splat(simd, T::ZERO); N]; ROWS];
    // Padding makes every column long enough.
    let factors = a.chunks().0.as_flattened().chunks_exact(a.stride()).map(|a| &a[first..first + ROWS]);
    let vectors = b.chunks().0.as_flattened().chunks_exact(b.stride()).map(|b| &b[start..start + N * lanes]);
    for (factors, vectors) in factors.zip(vectors).take(count) {
        for (v, vector) in vectors.chunks_exact(lanes).enumerate() {
            let vector = T::Native::<S>::from_slice(simd, vector);
            for (sums, &factor) in sums.iter_mut().zip(factors) {
                sums[v] = vector.mul_add(T::Native::<S>::splat(simd, factor), sums[v]);
            }
        }
    }
    for (row, sums) in (first..out.count()).zip(&sums) {
        let out = out.padded_mut(row)[start..start + N * lanes].chunks_exact_mut(lanes);
        for (out, sum) in out.zip(sums) {
            out.iter_mut().zip(sum.as_slice()).for_each(|(out, sum)| *out += sum.to_f64());
        }
    }
}

/// Samples that are combined with the same columns side by side.
pub(crate) const COMBINED: usize = 3;

/// Adds w · Σ x_j·d_j to some columns of `out`, for as many samples x as are [`COMBINED`], each with its weight w and its place; d
/// are columns from `first` on, one for each entry of a sample.
#[inline(always)]
pub(crate) fn add_combinations<S: Simd, T: Scalar>(
    simd: S,
    (columns, first): (&Columns<T>, usize),
    samples: [&[T]; COMBINED],
    places: [(usize, T); COMBINED],
    out: &mut Columns<T>,
) {
    let (stride, lanes) = (columns.stride(), T::Native::<S>::LEN);
    let columns = &columns.chunks().0.as_flattened()[first * stride..];
    let wide = stride - stride % (HALF_STRIP * lanes);
    for start in (0..wide).step_by(HALF_STRIP * lanes) {
        add_combined_strip::<S, T, HALF_STRIP>(simd, (columns, stride, start), samples, places, out);
    }
    for start in (wide..stride).step_by(lanes) {
        add_combined_strip::<S, T, 1>(simd, (columns, stride, start), samples, places, out);
    }
}

/// The same for `N` vectors of rows from `start` on.
#[inline(always)]
fn add_combined_strip<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    (columns, stride, start): (&[T], usize, usize),
    [a, b, c]: [&[T]; COMBINED],
    places: [(usize, T); COMBINED],
    out: &mut Columns<T>,
) {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [[T::Native::<S>::splat(simd, T::ZERO); N]; COMBINED];
    // Side by side and not by index, so that no index has to be checked.
    let samples = a.iter().zip(b).zip(c);
    for (column, ((a, b), c)) in columns.chunks_exact(stride).zip(samples) {
        let column = &column[start..start + N * lanes];
        let factors = [a, b, c].map(|&x| T::Native::<S>::splat(simd, x));
        for (v, part) in column.chunks_exact(lanes).enumerate() {
            let part = T::Native::<S>::from_slice(simd, part);
            for (sums, factor) in sums.iter_mut().zip(factors) {
                sums[v] = part.mul_add(factor, sums[v]);
            }
        }
    }
    for (sums, (place, weight)) in sums.iter().zip(places) {
        let weight = T::Native::<S>::splat(simd, weight);
        for (sum, out) in sums.iter().zip(out.padded_mut(place)[start..start + N * lanes].chunks_exact_mut(lanes)) {
            sum.mul_add(weight, T::Native::<S>::from_slice(simd, out)).store_slice(out);
        }
    }
}

/// out = x − Σ a·d over the terms (d, a), each strip of rows in registers from the first term to the last.
#[inline(always)]
pub(crate) fn subtract_combination<S: Simd, T: Scalar>(
    simd: S,
    columns: &Columns<T>,
    terms: &(impl Iterator<Item = (u32, T)> + Clone),
    x: &[T],
    out: &mut [T],
) {
    let (chunks, per_column) = columns.chunks();
    let (chunks, stride) = (chunks.as_flattened(), per_column * PADDING);
    // Single vectors would wait for one sum after the other.
    let wide = stride - stride % (STRIP * T::Native::<S>::LEN);
    let half = stride - stride % (HALF_STRIP * T::Native::<S>::LEN);
    for start in (0..wide).step_by(STRIP * T::Native::<S>::LEN) {
        subtract_strip::<S, T, STRIP>(simd, (chunks, stride, start), terms, x, out);
    }
    for start in (wide..half).step_by(HALF_STRIP * T::Native::<S>::LEN) {
        subtract_strip::<S, T, HALF_STRIP>(simd, (chunks, stride, start), terms, x, out);
    }
    for start in (half..stride).step_by(T::Native::<S>::LEN) {
        subtract_strip::<S, T, 1>(simd, (chunks, stride, start), terms, x, out);
    }
}

/// Vectors in a strip.
const STRIP: usize = 8;

/// Vectors in half of one.
const HALF_STRIP: usize = STRIP / 2;

/// The same for `N` vectors of rows from `start` on, of columns of length `stride`.
#[inline(always)]
fn subtract_strip<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    (columns, stride, start): (&[T], usize, usize),
    terms: &(impl Iterator<Item = (u32, T)> + Clone),
    x: &[T],
    out: &mut [T],
) {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [T::Native::<S>::splat(simd, T::ZERO); N];
    for (sum, x) in sums.iter_mut().zip(x[start..start + N * lanes].chunks_exact(lanes)) {
        *sum = T::Native::<S>::from_slice(simd, x);
    }
    for (atom, a) in terms.clone() {
        let factor = T::Native::<S>::splat(simd, -a);
        let column = &columns[atom as usize * stride + start..][..N * lanes];
        for (sum, column) in sums.iter_mut().zip(column.chunks_exact(lanes)) {
            *sum = T::Native::<S>::from_slice(simd, column).mul_add(factor, *sum);
        }
    }
    for (sum, out) in sums.iter().zip(out[start..start + N * lanes].chunks_exact_mut(lanes)) {
        sum.store_slice(out);
    }
}
