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
        values.resize(n_pixels * n_outputs, T::ZERO);
        spreads.resize(if doubts { n_pixels } else { 0 }, T::ZERO);
        let (value_pieces, spread_pieces) =
            (pieces(values, ANCHORED_BLOCK * n_outputs), pieces(spreads, ANCHORED_BLOCK));
        run.map_blocks(
            n_pixels,
            ANCHORED_BLOCK,
            || self.ensemble.predictor(),
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
        let (values, spreads) = (values.as_slice(), spreads.as_slice());
        Ok(Blocks { windows, rows, width: size.width, values, spreads })
    }
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
    values: &'a [T],
    /// How far apart the members are, for each block: the squares of all its pixels together.
    spreads: &'a [T],
}

impl<T: Scalar> Blocks<'_, T> {
    /// The mean of all blocks over each pixel of the enlarged picture in these rows of the small one, and, if there is a place
    /// for that, how far apart blocks and members are.
    fn average<U>(&self, rows: Range<usize>, target: &mut Target<'_, U, impl Fn(T, T) -> (U, U)>) {
        match self.windows.scale {
            2 => self.average_by::<2, U>(rows, target),
            3 | 6 => self.average_by::<3, U>(rows, target),
            4 | 8 => self.average_by::<4, U>(rows, target),
            _ => self.average_by::<1, U>(rows, target),
        }
    }

    /// The same, N neighbouring pixels at a time; the scale is a multiple of N.
    fn average_by<const N: usize, U>(&self, rows: Range<usize>, target: &mut Target<'_, U, impl Fn(T, T) -> (U, U)>) {
        let scale = self.windows.scale;
        let mut samples = target.samples.as_chunks_mut::<N>().0.iter_mut();
        let mut doubts = target.doubts.as_chunks_mut::<N>().0.iter_mut();
        let with_doubts = doubts.len() > 0;
        let near = |place: usize, all: Range<usize>| place.saturating_sub(1).max(all.start)..(place + 2).min(all.end);
        for (row, line) in rows.flat_map(|row| (0..scale).map(move |line| (row, line))) {
            let above = near(row, self.rows.clone());
            for first in (0..scale * self.width).step_by(N) {
                let column = first / scale;
                let (place, beside) = ((row, line, column, first % scale), near(column, 0..self.width));
                // Nearly everywhere there are nine blocks: loops of a known length.
                let (mean, variance) = if above.len() == 3 && beside.len() == 3 {
                    self.average_at::<N>(place, row - 1..row + 2, column - 1..column + 2, with_doubts)
                } else {
                    self.average_at::<N>(place, above.clone(), beside, with_doubts)
                };
                let written = std::array::from_fn::<_, N, _>(|i| (target.write)(mean[i], variance[i]));
                let (mut sample, mut doubt) = (samples.next(), doubts.next());
                for (i, (mean, variance)) in written.into_iter().enumerate() {
                    if let Some(samples) = &mut sample {
                        samples[i] = mean;
                    }
                    if let Some(doubts) = &mut doubt {
                        doubts[i] = variance;
                    }
                }
            }
        }
    }

    /// The mean of the blocks of these rows and columns at N pixels in a line of a small one, and if `doubts` how far apart
    /// they and the members are.
    #[inline(always)]
    fn average_at<const N: usize>(
        &self,
        place: (usize, usize, usize, usize),
        rows: Range<usize>,
        columns: Range<usize>,
        doubts: bool,
    ) -> ([T; N], [T; N]) {
        let mean = self.mean_at(place, rows.clone(), columns.clone(), |_, opinions| opinions);
        if !doubts {
            return (mean, mean);
        }
        let share = T::from_f64(1.0 / self.windows.n_outputs() as f64);
        let variance = self.mean_at(place, rows, columns, |block, opinions: [T; N]| {
            let spread = self.spreads[block] * share;
            // Rounding may take it below zero where members agree.
            let spread = if spread > T::ZERO { spread } else { T::ZERO };
            std::array::from_fn(|i| (opinions[i] - mean[i]) * (opinions[i] - mean[i]) + spread)
        });
        (mean, variance)
    }

    /// The mean of what `term` makes of the blocks of these rows and columns, at N pixels in a line of a small one.
    #[inline(always)]
    fn mean_at<const N: usize>(
        &self,
        (row, line, column, within): (usize, usize, usize, usize),
        rows: Range<usize>,
        columns: Range<usize>,
        term: impl Fn(usize, [T; N]) -> [T; N],
    ) -> [T; N] {
        let (scale, side) = (self.windows.scale, self.windows.block_side());
        let share = T::from_f64(1.0 / (rows.len() * columns.len()) as f64);
        let mut sums = [T::ZERO; N];
        for other in rows {
            for neighbour in columns.clone() {
                let block = (other - self.rows.start) * self.width + neighbour;
                let (down, across) = (scale * (row + 1 - other) + line, scale * (column + 1 - neighbour) + within);
                let from = block * side * side + down * side + across;
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
