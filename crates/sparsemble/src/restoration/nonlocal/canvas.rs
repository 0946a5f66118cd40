//! Where overlapping estimates of patches meet.

use std::ops::Range;

use fearless_simd::prelude::*;

use crate::image::Size;

use super::matching::Place;
use super::plane::BEYOND;

/// The sums of estimates over some rows of a picture, and how many there are.
#[derive(Debug)]
pub(super) struct Canvas {
    rows: Range<usize>,
    width: usize,
    /// Each row is followed by zeros, so that vectors may be read and written beyond the right border.
    sums: Vec<f32>,
    /// How often the patch that begins at each pixel was estimated: at most once for each patch in reach of it.
    patches: Vec<u16>,
    groups: u64,
}

impl Canvas {
    pub(super) fn new(rows: Range<usize>, width: usize) -> Self {
        let (sums, patches) = (vec![0.0; rows.len() * (width + BEYOND)], vec![0; rows.len() * width]);
        Self { rows, width, sums, patches, groups: 0 }
    }

    /// Whether the patch that begins there has an estimate already.
    pub(super) fn has(&self, (row, column): (usize, usize)) -> bool {
        self.patches[(row - self.rows.start) * self.width + column] > 0
    }

    /// How many groups have been added.
    pub(super) fn groups(&self) -> u64 {
        self.groups
    }

    /// Adds estimates of the patches at these places; each is longer than the patch by a vector at least.
    #[inline(always)]
    pub(super) fn add<'a, S: Simd>(
        &mut self,
        simd: S,
        places: &[Place],
        side: usize,
        estimates: impl Iterator<Item = &'a [f32]>,
    ) {
        let (lanes, pitch) = (S::f32s::LEN, self.width + BEYOND);
        self.groups += 1;
        let mut within = [0.0; BEYOND];
        within[..side].fill(1.0);
        for (place, estimate) in places.iter().zip(estimates) {
            let (row, column) = (place.row as usize - self.rows.start, place.column as usize);
            self.patches[row * self.width + column] += 1;
            for r in 0..side {
                for start in (0..side).step_by(lanes) {
                    let values = S::f32s::from_slice(simd, &estimate[r * side + start..][..lanes]);
                    let sums = &mut self.sums[(row + r) * pitch + column + start..][..lanes];
                    // What belongs to the next row of the patch counts nothing here.
                    let within = S::f32s::from_slice(simd, &within[start..start + lanes]);
                    values.mul_add(within, S::f32s::from_slice(simd, sums)).store_slice(sums);
                }
            }
        }
    }
}

/// The mean of all estimates at each pixel, plus `offset`; every pixel must have one.
pub(super) fn means(canvases: &[Canvas], size: Size, side: usize, offset: f64) -> Vec<f64> {
    let mut sums = vec![0.0; size.width * size.height];
    let mut counts = vec![0_u32; size.width * size.height];
    for canvas in canvases {
        let start = canvas.rows.start * size.width;
        let rows = sums[start..].chunks_exact_mut(size.width).zip(canvas.sums.chunks_exact(size.width + BEYOND));
        for (sums, values) in rows {
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        counts[start..].iter_mut().zip(&canvas.patches).for_each(|(count, &patches)| *count += u32::from(patches));
    }
    counts.chunks_exact_mut(size.width).for_each(|row| spread(row, side, 1));
    spread(&mut counts, side, size.width);
    sums.iter().zip(counts).map(|(sum, count)| sum / f64::from(count) + offset).collect()
}

/// Adds to each entry the `side − 1` before it that are `step` apart.
fn spread(entries: &mut [u32], side: usize, step: usize) {
    // From the last to the first, so that those before are still what they were.
    for end in (step..=entries.len()).rev().step_by(step) {
        let (before, own) = entries[..end].split_at_mut(end - step);
        for earlier in before.rchunks_exact(step).take(side - 1) {
            own.iter_mut().zip(earlier).for_each(|(own, earlier)| *own += earlier);
        }
    }
}
