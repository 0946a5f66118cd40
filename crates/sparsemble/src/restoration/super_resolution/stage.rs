//! One stage on some rows of a picture: inputs for every pixel, blocks from the ensemble, and their overlaps averaged.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::Run;
use crate::ensemble::{ANCHORED_BLOCK, AnchoredEnsemble};
use crate::error::Result;
use crate::image::{GrayImage, Size};
use crate::scalar::Scalar;

use super::strip::Strip;
use super::windows::Windows;

/// Rows of the small picture whose overlaps are averaged at a time.
const ROWS: usize = 8;

/// The rows of an enlarged picture that belong to some rows of the small one.
#[derive(Debug, Clone)]
pub(super) struct Enlarged<T> {
    /// Of the small picture.
    pub(super) rows: Range<usize>,
    /// Row by row.
    pub(super) samples: Vec<T>,
}

/// Where an enlarged picture goes, row by row: threads write to it side by side.
pub(super) struct Target<'a, U, W> {
    pub(super) samples: &'a mut [U],
    /// How far each may be off; empty if nobody asks for that.
    pub(super) doubts: &'a mut [U],
    /// What is written for a mean, and for a variance: how far apart the opinions of members and overlapping blocks are.
    pub(super) write: W,
}

impl<T: Scalar> Enlarged<T> {
    /// The rows as a strip with a margin; they must reach as far as the margin does, or to the border of the picture.
    pub(super) fn strip(&self, size: Size, scale: usize, rows: Range<usize>, margin: usize) -> Strip<T> {
        let large = Size { width: scale * size.width, height: scale * size.height };
        let first = scale * self.rows.start;
        Strip::new(large, scale * rows.start..scale * rows.end, margin, |row, out: &mut [T]| {
            out.copy_from_slice(&self.samples[(row - first) * large.width..][..large.width]);
        })
    }
}

/// The room for the blocks of a strip, which stages and strips use one after the other: to get so much memory takes as
/// long as to fill it several times.
#[derive(Debug, Default)]
pub(super) struct Space<T> {
    values: Vec<T>,
    spreads: Vec<T>,
}

/// A stage ready to work.
pub(super) struct Stage<'a, T> {
    pub(super) windows: Windows,
    pub(super) ensemble: &'a AnchoredEnsemble<T>,
}

impl<T: Scalar> Stage<'_, T> {
    /// These rows, enlarged; `so_far` is what the stage before has made of them and of as many more as this one looks at.
    pub(super) fn enlarge(
        &self,
        low: &GrayImage,
        so_far: Option<&Enlarged<T>>,
        rows: Range<usize>,
        space: &mut Space<T>,
        run: Run<'_>,
    ) -> Result<Enlarged<T>> {
        let mut samples = vec![T::ZERO; rows.len() * low.size().width * self.windows.scale.pow(2)];
        let target = Target { samples: &mut samples, doubts: &mut [], write: |mean, variance| (mean, variance) };
        self.enlarge_to(target, (low, so_far), rows.clone(), space, run)?;
        Ok(Enlarged { rows, samples })
    }

    /// The same, to where it is wanted.
    pub(super) fn enlarge_to<U: Send>(
        &self,
        target: Target<'_, U, impl Fn(T, T) -> (U, U) + Sync>,
        (low, so_far): (&GrayImage, Option<&Enlarged<T>>),
        rows: Range<usize>,
        space: &mut Space<T>,
        run: Run<'_>,
    ) -> Result<()> {
        let Size { width, height } = low.size();
        let around = rows.start.saturating_sub(1)..(rows.end + 1).min(height);
        let blocks = self.predict((low, so_far), around, !target.doubts.is_empty(), space, run)?;
        let size = ROWS * width * self.windows.scale.pow(2);
        let [samples, doubts] = [target.samples, target.doubts].map(|values| pieces(values, size));
        let average = |(): &mut (), part: Range<usize>| {
            let number = part.start / ROWS;
            let mut none: &mut [U] = &mut [];
            let mut doubts = doubts.get(number).map(piece);
            let mut target = Target {
                samples: &mut piece(&samples[number]),
                doubts: doubts.as_deref_mut().unwrap_or(&mut none),
                write: &target.write,
            };
            blocks.average(rows.start + part.start..rows.start + part.end, &mut target);
            Ok(())
        };
        run.silent().map_blocks(rows.len(), ROWS, || (), average).map(drop)
    }

    /// The blocks of all pixels in these rows, and if there are `doubts` how far apart the members are.
    fn predict<'a>(
        &self,
        (low, so_far): (&GrayImage, Option<&Enlarged<T>>),
        rows: Range<usize>,
        doubts: bool,
        space: &'a mut Space<T>,
        run: Run<'_>,
    ) -> Result<Blocks<'a, T>> {
        let (size, windows) = (low.size(), self.windows);
        let high = so_far.map(|so_far| so_far.strip(size, windows.scale, rows.clone(), windows.high_margin()));
        let low = Strip::new(size, rows.clone(), windows.low_margin(), |row, out: &mut [T]| {
            out.iter_mut().zip(low.row(row)).for_each(|(out, &value)| *out = T::from_f64(value));
        });
        let (n_pixels, n_outputs) = (rows.len() * size.width, windows.n_outputs());
        let Space { values, spreads } = space;
        let values = at_least(values, n_pixels * n_outputs);
        let spreads = at_least(spreads, if doubts { n_pixels } else { 0 });
        let (value_pieces, spread_pieces) =
            (pieces(values, ANCHORED_BLOCK * n_outputs), pieces(spreads, ANCHORED_BLOCK));
        let order = windows.by_small_pixel();
        run.map_blocks(
            n_pixels,
            ANCHORED_BLOCK,
            || self.ensemble.predictor(&order),
            |predictor, range| {
                let number = range.start / ANCHORED_BLOCK;
                let read = |i: usize, input: &mut [T]| {
                    let pixel = range.start + i;
                    let place = (rows.start + pixel / size.width, pixel % size.width);
                    Ok(windows.copy_input(place, &low, high.as_ref(), input))
                };
                let mut none: &mut [T] = &mut [];
                let mut spreads = spread_pieces.get(number).map(piece);
                let spreads = spreads.as_deref_mut().unwrap_or(&mut none);
                predictor.predict(read, &mut piece(&value_pieces[number]), spreads)
            },
        )?;
        drop((value_pieces, spread_pieces));
        Ok(Blocks { windows, rows, width: size.width, values, spreads })
    }
}

/// The first so many of some values, whatever they are. New ones are zeros from the system, which gives the memory for them to
/// the threads that write there: side by side.
fn at_least<T: Scalar>(values: &mut Vec<T>, count: usize) -> &mut [T] {
    if values.len() < count {
        *values = Vec::new();
        *values = vec![T::ZERO; count];
    }
    &mut values[..count]
}

/// Values in pieces for threads to write to: each piece has its own lock, and one thread.
fn pieces<T>(values: &mut [T], size: usize) -> Vec<Mutex<&mut [T]>> {
    values.chunks_mut(size).map(Mutex::new).collect()
}

fn piece<'a, 'b, T>(piece: &'a Mutex<&'b mut [T]>) -> MutexGuard<'a, &'b mut [T]> {
    piece.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The blocks of the pixels in some rows of the small picture, each of 3 × 3 pixels in the enlarged one.
struct Blocks<'a, T> {
    windows: Windows,
    rows: Range<usize>,
    /// Of the small picture.
    width: usize,
    /// Block by block, in the order of [`Windows::by_small_pixel`].
    values: &'a [T],
    /// How far apart the members are, for each block: the squares of all its pixels together.
    spreads: &'a [T],
}

/// Some neighbouring pixels of the enlarged picture that belong to one of the small picture.
struct Place {
    row: usize,
    column: usize,
    /// The first of them, among those of the small pixel.
    first: usize,
    /// The small pixels whose blocks cover it.
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<T: Scalar> Blocks<'_, T> {
    /// The mean of all blocks over each pixel of the enlarged picture in these rows of the small one, and, if there is a place
    /// for that, how far apart blocks and members are.
    fn average<U>(&self, rows: Range<usize>, target: &mut Target<'_, U, impl Fn(T, T) -> (U, U)>) {
        match self.windows.scale {
            2 => self.average_by::<2, 4, U>(rows, target),
            3 => self.average_by::<3, 9, U>(rows, target),
            4 => self.average_by::<4, 16, U>(rows, target),
            6 | 8 => self.average_by::<0, 4, U>(rows, target),
            _ => self.average_by::<0, 1, U>(rows, target),
        }
    }

    /// The same, N pixels of a small one at a time, which are all of them or a part; the compiler knows the scale unless it is
    /// zero here.
    fn average_by<const SCALE: usize, const N: usize, U>(
        &self,
        rows: Range<usize>,
        target: &mut Target<'_, U, impl Fn(T, T) -> (U, U)>,
    ) {
        let scale = if SCALE > 0 { SCALE } else { self.windows.scale };
        let near = |place: usize, all: Range<usize>| place.saturating_sub(1).max(all.start)..(place + 2).min(all.end);
        for (number, row) in rows.enumerate() {
            let above = near(row, self.rows.clone());
            for column in 0..self.width {
                let beside = near(column, 0..self.width);
                for first in (0..scale * scale).step_by(N) {
                    // Nearly everywhere there are nine blocks: loops of a known length.
                    let (mean, variance) = if above.len() == 3 && beside.len() == 3 {
                        let (rows, columns) = (row - 1..row + 2, column - 1..column + 2);
                        self.average_at::<N>(&Place { row, column, first, rows, columns }, !target.doubts.is_empty())
                    } else {
                        let (rows, columns) = (above.clone(), beside.clone());
                        self.average_at::<N>(&Place { row, column, first, rows, columns }, !target.doubts.is_empty())
                    };
                    for i in 0..N {
                        let (line, within) = ((first + i) / scale, (first + i) % scale);
                        let pixel = ((number * scale + line) * self.width + column) * scale + within;
                        let (sample, doubt) = (target.write)(mean[i], variance[i]);
                        target.samples[pixel] = sample;
                        if let Some(doubts) = target.doubts.get_mut(pixel) {
                            *doubts = doubt;
                        }
                    }
                }
            }
        }
    }

    /// The mean of the blocks at N pixels, and if `doubts` how far apart they and the members are.
    #[inline(always)]
    fn average_at<const N: usize>(&self, place: &Place, doubts: bool) -> ([T; N], [T; N]) {
        let mean = self.mean_at(place, |_, opinions| opinions);
        if !doubts {
            return (mean, mean);
        }
        let share = T::from_f64(1.0 / self.windows.n_outputs() as f64);
        let variance = self.mean_at(place, |block, opinions: [T; N]| {
            let spread = self.spreads[block] * share;
            // Rounding may take it below zero where members agree.
            let spread = if spread > T::ZERO { spread } else { T::ZERO };
            std::array::from_fn(|i| (opinions[i] - mean[i]) * (opinions[i] - mean[i]) + spread)
        });
        (mean, variance)
    }

    /// The mean of what `term` makes of the blocks at N pixels.
    #[inline(always)]
    fn mean_at<const N: usize>(&self, place: &Place, term: impl Fn(usize, [T; N]) -> [T; N]) -> [T; N] {
        let area = self.windows.scale * self.windows.scale;
        let share = T::from_f64(1.0 / (place.rows.len() * place.columns.len()) as f64);
        let mut sums = [T::ZERO; N];
        for other in place.rows.clone() {
            for neighbour in place.columns.clone() {
                let block = (other - self.rows.start) * self.width + neighbour;
                let small = 3 * (place.row + 1 - other) + place.column + 1 - neighbour;
                let from = (9 * block + small) * area + place.first;
                let mut opinions = [T::ZERO; N];
                opinions.copy_from_slice(&self.values[from..from + N]);
                for (sum, term) in sums.iter_mut().zip(term(block, opinions)) {
                    *sum += term;
                }
            }
        }
        sums.map(|sum| sum * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_right_about_their_pixels_average_to_the_picture() {
        // Blocks agree but for what they add each: the mean is off by the mean of that, and the variance is its variance.
        let truth = |y: usize, x: usize| (3 * y + 7 * x) as f64;
        let added = |row: usize, column: usize| [0.0, 4.0, 1.0][(row + 2 * column) % 3];
        for (scale, width, rows) in [(2, 4, 3..7), (3, 5, 0..3), (4, 3, 2..5), (5, 1, 0..4), (6, 4, 1..2), (8, 2, 0..2)]
        {
            let windows = Windows { scale, low_side: 5, high_side: 0 };
            let (side, order) = (windows.block_side(), windows.by_small_pixel());
            let places = rows.clone().flat_map(|row| (0..width).map(move |column| (row, column)));
            let values: Vec<f64> = places
                .flat_map(|(row, column)| {
                    let at = move |place: &usize| (scale * row + place / side, scale * column + place % side);
                    order.iter().map(at).map(move |(y, x)| truth(y, x) + added(row, column)).collect::<Vec<_>>()
                })
                .collect();
            let spreads = vec![0.0; rows.len() * width];
            let blocks = Blocks { windows, rows: rows.clone(), width, values: &values, spreads: &spreads };
            let size = rows.len() * width * scale * scale;
            let (mut samples, mut doubts) = (vec![0.0; size], vec![0.0; size]);
            let mut target =
                Target { samples: &mut samples, doubts: &mut doubts, write: |mean, variance| (mean, variance) };
            blocks.average(rows.clone(), &mut target);
            for (pixel, (sample, doubt)) in samples.into_iter().zip(doubts).enumerate() {
                let (y, x) = (pixel / (scale * width), pixel % (scale * width));
                let (row, column) = (rows.start + y / scale, x / scale);
                let near = (row.saturating_sub(1)..row + 2)
                    .flat_map(|row| (column.saturating_sub(1)..column + 2).map(move |column| (row, column)));
                let near: Vec<f64> = near
                    .filter(|(row, column)| rows.contains(row) && *column < width)
                    .map(|(row, column)| added(row, column))
                    .collect();
                let mean = near.iter().sum::<f64>() / near.len() as f64;
                let variance = near.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / near.len() as f64;
                // A block begins one small pixel before its own.
                let expected = truth(scale * rows.start + y + scale, x + scale) + mean;
                assert!((sample - expected).abs() < 1e-9, "scale {scale}, pixel {y}, {x}: {sample} for {expected}");
                assert!((doubt - variance).abs() < 1e-9, "scale {scale}, pixel {y}, {x}");
            }
        }
    }
}
