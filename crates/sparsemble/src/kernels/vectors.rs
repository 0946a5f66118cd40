//! Products of single padded columns. All slices have the padded length of [`Columns`], a multiple of every vector.

use fearless_simd::prelude::*;

use super::columns::Columns;
use crate::scalar::Scalar;

/// Columns whose products with one vector run side by side, to hide the latency of the multiply-add.
const SIDE_BY_SIDE: usize = 8;

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

/// The products of `vector` with the named columns, in their order, appended to `out`.
#[inline(always)]
pub(crate) fn dots<S: Simd, T: Scalar>(
    simd: S,
    columns: &Columns<T>,
    names: &[u32],
    vector: &[T],
    out: &mut Vec<T>,
) {
    for eight in names.chunks(SIDE_BY_SIDE) {
        // A short last group computes some products twice rather than branch in the loop.
        let column = |i: usize| columns.padded(eight[if i < eight.len() { i } else { 0 }] as usize);
        let columns = [column(0), column(1), column(2), column(3), column(4), column(5), column(6), column(7)];
        let products = eight_dots(simd, columns, vector);
        out.extend_from_slice(&products[..eight.len()]);
    }
}

#[inline(always)]
fn eight_dots<S: Simd, T: Scalar>(simd: S, columns: [&[T]; SIDE_BY_SIDE], vector: &[T]) -> [T; SIDE_BY_SIDE] {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [T::Native::<S>::splat(simd, T::ZERO); SIDE_BY_SIDE];
    let [a, b, c, d, e, f, g, h] = columns;
    let pairs = a.chunks_exact(lanes).zip(b.chunks_exact(lanes)).zip(c.chunks_exact(lanes).zip(d.chunks_exact(lanes)));
    let more = e.chunks_exact(lanes).zip(f.chunks_exact(lanes)).zip(g.chunks_exact(lanes).zip(h.chunks_exact(lanes)));
    for (x, (((a, b), (c, d)), ((e, f), (g, h)))) in vector.chunks_exact(lanes).zip(pairs.zip(more)) {
        let x = T::Native::<S>::from_slice(simd, x);
        for (sum, column) in sums.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = T::Native::<S>::from_slice(simd, column).mul_add(x, *sum);
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

/// Rows of [`subtract_combination`] kept in registers at a time, in vectors.
const STRIP: usize = 4;

/// out = x − Σ a·d over the terms (d, a), each strip of rows in registers from the first term to the last.
#[inline(always)]
pub(crate) fn subtract_combination<S: Simd, T: Scalar>(
    simd: S,
    columns: &Columns<T>,
    terms: impl Iterator<Item = (u32, T)> + Clone,
    x: &[T],
    out: &mut [T],
) {
    let lanes = T::Native::<S>::LEN;
    // Padded columns are whole vectors of any instruction set; a strip may still be short at their end.
    for (s, (x, out)) in x.chunks(STRIP * lanes).zip(out.chunks_mut(STRIP * lanes)).enumerate() {
        let mut strip = [T::Native::<S>::splat(simd, T::ZERO); STRIP];
        strip.iter_mut().zip(x.chunks_exact(lanes)).for_each(|(v, x)| *v = T::Native::<S>::from_slice(simd, x));
        for (atom, a) in terms.clone() {
            let factor = T::Native::<S>::splat(simd, -a);
            let column = &columns.padded(atom as usize)[s * STRIP * lanes..];
            for (v, d) in strip.iter_mut().zip(column.chunks_exact(lanes)) {
                *v = T::Native::<S>::from_slice(simd, d).mul_add(factor, *v);
            }
        }
        strip.iter().zip(out.chunks_exact_mut(lanes)).for_each(|(v, out)| v.store_slice(out));
    }
}
