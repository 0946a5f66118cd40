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
            || (self.ensemble.predictor(), Vec::new()),
            |(predictor, means), range| {
                let number = range.start / ANCHORED_BLOCK;
                means.clear();
                let read = |i: usize, input: &mut [T]| {
                    let pixel = range.start + i;
                    let place = (rows.start + pixel / size.width, pixel % size.width);
                    means.push(windows.copy_input(place, &low, high.as_ref(), input));
                    Ok(())
                };
                let mut values = piece(&value_pieces[number]);
                predictor.predict(read, &mut values, &mut piece(&spread_pieces[number]))?;
                for (block, &mean) in values.chunks_exact_mut(n_outputs).zip(means.iter()) {
                    for value in block {
                        *value += mean;
                    }
                }
                Ok(())
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
        let n_outputs = self.windows.n_outputs();
        let mut means = vec![T::ZERO; rows.len() * self.width * self.windows.scale.pow(2)];
        self.for_each_overlap(&rows, |range, block| {
            means[range].iter_mut().zip(&self.values[block]).for_each(|(sum, value)| *sum += *value);
        });
        self.divide(&rows, &mut means);
        if !doubts {
            return (means, Vec::new());
        }
        let mut variances = vec![T::ZERO; means.len()];
        let share = T::from_f64(1.0 / n_outputs as f64);
        self.for_each_overlap(&rows, |range, block| {
            let spread = self.spreads[block.start / n_outputs] * share;
            // Rounding may take it below zero where members agree.
            let spread = if spread > T::ZERO { spread } else { T::ZERO };
            let sums = variances[range.clone()].iter_mut().zip(&means[range]).zip(&self.values[block]);
            for ((sum, &mean), &opinion) in sums {
                *sum += (opinion - mean) * (opinion - mean) + spread;
            }
        });
        self.divide(&rows, &mut variances);
        (means, variances)
    }

    /// Gives `take` each stretch of the enlarged rows that a row of a block covers, and where the block has it. The order
    /// in which a pixel is covered is always the same.
    fn for_each_overlap(&self, rows: &Range<usize>, mut take: impl FnMut(Range<usize>, Range<usize>)) {
        let (scale, side) = (self.windows.scale, self.windows.block_side());
        let large_width = scale * self.width;
        for row in rows.clone() {
            for around in row.saturating_sub(1).max(self.rows.start)..(row + 2).min(self.rows.end) {
                for column in 0..self.width {
                    let block = ((around - self.rows.start) * self.width + column) * side * side;
                    // At the left and right border a part of the block is outside.
                    let cut = if column == 0 { scale } else { 0 };
                    let first = scale * column + cut - scale;
                    let length = (side - cut).min(large_width - first);
                    for line in 0..scale {
                        let to = (scale * (row - rows.start) + line) * large_width + first;
                        let from = block + (scale * (row + 1 - around) + line) * side + cut;
                        take(to..to + length, from..from + length);
                    }
                }
            }
        }
    }

    /// Divides sums over blocks by how many blocks cover the pixel.
    fn divide(&self, rows: &Range<usize>, sums: &mut [T]) {
        let scale = self.windows.scale;
        let overlaps =
            |place: usize, range: &Range<usize>| (place + 2).min(range.end) - place.saturating_sub(1).max(range.start);
        for (line, sums) in sums.chunks_exact_mut(scale * self.width).enumerate() {
            let down = overlaps(rows.start + line / scale, &self.rows);
            for (column, sums) in sums.chunks_exact_mut(scale).enumerate() {
                let share = T::from_f64(1.0 / (down * overlaps(column, &(0..self.width))) as f64);
                for sum in sums {
                    *sum *= share;
                }
            }
        }
    }
}
