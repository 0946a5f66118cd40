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
    /// Of each sample, how far apart the opinions of members and overlapping blocks are, as a variance; if asked for.
    pub(super) variances: Vec<T>,
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
    /// Whether to say how far opinions are apart.
    pub(super) doubts: bool,
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
        let Size { width, height } = low.size();
        let around = rows.start.saturating_sub(1)..(rows.end + 1).min(height);
        let blocks = self.predict(low, so_far, around, space, run)?;
        let parts = run.silent().map_blocks(
            rows.len(),
            ROWS,
            || (),
            |(), part| Ok(blocks.average(rows.start + part.start..rows.start + part.end, self.doubts)),
        )?;
        let size = rows.len() * width * self.windows.scale.pow(2);
        let (mut samples, mut variances) = (Vec::with_capacity(size), Vec::new());
        for (values, doubts) in parts {
            samples.extend(values);
            variances.extend(doubts);
        }
        Ok(Enlarged { rows, samples, variances })
    }

    /// The blocks of all pixels in these rows.
    fn predict<'a>(
        &self,
        low: &GrayImage,
        so_far: Option<&Enlarged<T>>,
        rows: Range<usize>,
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
        spreads.resize(n_pixels, T::ZERO);
        let (value_pieces, spread_pieces) = (pieces(values, n_outputs), pieces(spreads, 1));
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
                predictor.predict(read, &mut piece(&value_pieces[number]), &mut piece(&spread_pieces[number]))
            },
        )?;
        drop((value_pieces, spread_pieces));
        let (values, spreads) = (values.as_slice(), spreads.as_slice());
        Ok(Blocks { windows, rows, width: size.width, values, spreads })
    }
}

/// Values in pieces of one block of pixels each, for threads to write to: each piece has its own lock, and one thread.
fn pieces<T>(values: &mut [T], n_outputs: usize) -> Vec<Mutex<&mut [T]>> {
    values.chunks_mut(ANCHORED_BLOCK * n_outputs).map(Mutex::new).collect()
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
    /// The mean of all blocks over each pixel of the enlarged picture in these rows of the small one, and, if `doubts`, how
    /// far apart blocks and members are.
    fn average(&self, rows: Range<usize>, doubts: bool) -> (Vec<T>, Vec<T>) {
        match self.windows.scale {
            2 => self.average_by::<2>(rows, doubts),
            3 | 6 => self.average_by::<3>(rows, doubts),
            4 | 8 => self.average_by::<4>(rows, doubts),
            _ => self.average_by::<1>(rows, doubts),
        }
    }

    /// The same, N neighbouring pixels at a time; the scale is a multiple of N.
    fn average_by<const N: usize>(&self, rows: Range<usize>, doubts: bool) -> (Vec<T>, Vec<T>) {
        let scale = self.windows.scale;
        let size = rows.len() * self.width * scale * scale;
        let (mut means, mut variances) = (Vec::with_capacity(size), Vec::with_capacity(if doubts { size } else { 0 }));
        let near = |place: usize, all: Range<usize>| place.saturating_sub(1).max(all.start)..(place + 2).min(all.end);
        for (row, line) in rows.flat_map(|row| (0..scale).map(move |line| (row, line))) {
            let above = near(row, self.rows.clone());
            for first in (0..scale * self.width).step_by(N) {
                let column = first / scale;
                let (place, beside) = ((row, line, column, first % scale), near(column, 0..self.width));
                // Nearly everywhere there are nine blocks: loops of a known length.
                let (mean, variance) = if above.len() == 3 && beside.len() == 3 {
                    self.average_at::<N>(place, row - 1..row + 2, column - 1..column + 2, doubts)
                } else {
                    self.average_at::<N>(place, above.clone(), beside, doubts)
                };
                means.extend(mean);
                if doubts {
                    variances.extend(variance);
                }
            }
        }
        (means, variances)
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
