//! A vector minus multiples of a few rows, and the largest of what is left.
//!
//! Once a Gram matrix G is known, the correlations of all atoms with a residual follow from those with the sample:
//! Dᵀ(x − D_S a) = Dᵀx − G_S a, which for a short code costs far less than another pass over the dictionary.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use super::best::Best;
use super::columns::PADDING;
use super::correlate::Largest;
use crate::scalar::Scalar;

/// Rows subtracted in one go, their factors in registers.
const TOGETHER: usize = 8;

/// Calls a function for as many rows as there are, at most `TOGETHER`, with their number known to the compiler.
macro_rules! by_count {
    ($rows:expr, $function:ident($($argument:expr),*)) => {
        match $rows.len() {
            0 => $function::<S, T, 0>($($argument),*),
            1 => $function::<S, T, 1>($($argument),*),
            2 => $function::<S, T, 2>($($argument),*),
            3 => $function::<S, T, 3>($($argument),*),
            4 => $function::<S, T, 4>($($argument),*),
            5 => $function::<S, T, 5>($($argument),*),
            6 => $function::<S, T, 6>($($argument),*),
            7 => $function::<S, T, 7>($($argument),*),
            _ => $function::<S, T, 8>($($argument),*),
        }
    };
}

/// The largest entry of `start` − Σ `factors[i]`·`rows[i]` and where it is, the first place among equals; zero if none
/// counts.
///
/// All lengths are the same multiple of `PADDING`; what `space` holds before and after means nothing.
pub(crate) fn largest_left<T: Scalar>(
    level: Level,
    start: &[T],
    (factors, rows): (&[T], &[&[T]]),
    largest: Largest,
    space: &mut [T],
) -> (usize, T) {
    if rows.len() <= TOGETHER {
        return dispatch!(level, simd => largest_of_few(simd, start, factors, rows, largest));
    }
    let last = (rows.len() - 1) / TOGETHER * TOGETHER;
    subtract_rows(level, start, (&factors[..last], &rows[..last]), space);
    dispatch!(level, simd => largest_of_few(simd, space, &factors[last..], &rows[last..], largest))
}

/// Writes `start` − Σ `factors[i]`·`rows[i]` to `out`. All lengths are the same multiple of `PADDING`.
pub(super) fn subtract_rows<T: Scalar>(level: Level, start: &[T], (factors, rows): (&[T], &[&[T]]), out: &mut [T]) {
    let first = rows.len().min(TOGETHER);
    dispatch!(level, simd => {
        subtract_few(simd, &factors[..first], &rows[..first], Some(start), out);
        for (factors, rows) in factors[first..].chunks(TOGETHER).zip(rows[first..].chunks(TOGETHER)) {
            subtract_few(simd, factors, rows, None, out);
        }
    });
}

#[inline(always)]
fn largest_of_few<S: Simd, T: Scalar>(
    simd: S,
    start: &[T],
    factors: &[T],
    rows: &[&[T]],
    largest: Largest,
) -> (usize, T) {
    by_count!(rows, largest_of(simd, start, factors, rows, largest))
}

#[inline(always)]
fn subtract_few<S: Simd, T: Scalar>(simd: S, factors: &[T], rows: &[&[T]], start: Option<&[T]>, out: &mut [T]) {
    by_count!(rows, subtract_from(simd, factors, rows, start, out));
}

/// Factors, each in all lanes of a vector.
type Factors<S, T, const N: usize> = [<T as fearless_simd::SimdFloatElement>::Native<S>; N];

/// Rows in chunks that are whole vectors of any instruction set.
type Rows<'a, T, const N: usize> = [&'a [[T; PADDING]]; N];

/// The first `N` factors as vectors, and the rows cut to one length, which lets the compiler see that no index is out
/// of range.
#[inline(always)]
fn prepare<'a, S: Simd, T: Scalar, const N: usize>(
    simd: S,
    factors: &[T],
    rows: &[&'a [T]],
    length: usize,
) -> (Factors<S, T, N>, Rows<'a, T, N>) {
    let mut vectors = [T::Native::<S>::splat(simd, T::ZERO); N];
    let mut cut: Rows<'a, T, N> = [&[]; N];
    let (factors, rows) = (&factors[..N], &rows[..N]);
    for i in 0..N {
        vectors[i] = T::Native::<S>::splat(simd, -factors[i]);
        cut[i] = &rows[i].as_chunks().0[..length];
    }
    (vectors, cut)
}

/// What is left of one vector of `from`, which is the part `range` of chunk number `chunk`.
#[inline(always)]
fn left_at<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    from: &[T],
    (factors, rows): (&Factors<S, T, N>, &Rows<'_, T, N>),
    (chunk, range): (usize, Range<usize>),
) -> T::Native<S> {
    let mut left = T::Native::<S>::from_slice(simd, from);
    for r in 0..N {
        left = T::Native::<S>::from_slice(simd, &rows[r][chunk][range.clone()]).mul_add(factors[r], left);
    }
    left
}

/// Subtracts the rows from `start`, or from what `out` holds.
#[inline(always)]
fn subtract_from<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    factors: &[T],
    rows: &[&[T]],
    start: Option<&[T]>,
    out: &mut [T],
) {
    let lanes = T::Native::<S>::LEN;
    let out = out.as_chunks_mut::<PADDING>().0;
    let start = start.map(|start| &start.as_chunks::<PADDING>().0[..out.len()]);
    let (factors, rows) = prepare::<S, T, N>(simd, factors, rows, out.len());
    for (i, out) in out.iter_mut().enumerate() {
        for part in 0..PADDING / lanes {
            let range = part * lanes..(part + 1) * lanes;
            let from = start.map_or(&out[range.clone()], |start| &start[i][range.clone()]);
            let left = left_at::<S, T, N>(simd, from, (&factors, &rows), (i, range.clone()));
            left.store_slice(&mut out[range]);
        }
    }
}

#[inline(always)]
fn largest_of<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    start: &[T],
    factors: &[T],
    rows: &[&[T]],
    largest: Largest,
) -> (usize, T) {
    let lanes = T::Native::<S>::LEN;
    let start = start.as_chunks::<PADDING>().0;
    let (factors, rows) = prepare::<S, T, N>(simd, factors, rows, start.len());
    let mut best = Best::<S, T>::above(simd, T::ZERO);
    for (i, start) in start.iter().enumerate() {
        for part in 0..PADDING / lanes {
            let range = part * lanes..(part + 1) * lanes;
            let left = left_at::<S, T, N>(simd, &start[range.clone()], (&factors, &rows), (i, range));
            best.offer(if largest == Largest::Magnitude { left.abs() } else { left });
        }
    }
    best.reduce()
}
