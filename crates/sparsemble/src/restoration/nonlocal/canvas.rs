//! Where overlapping estimates of patches meet.

use std::ops::Range;

use fearless_simd::{dispatch, f32x8, prelude::*};

use crate::image::Size;
use crate::kernels::best_level;

use super::matching::Place;
use super::plane::{BEYOND, NARROW};

/// The sums of estimates over some rows of a picture, and how many there are.
#[derive(Debug)]
pub(super) struct Canvas {
    rows: Range<usize>,
    width: usize,
    /// The side of a patch, and ones for the pixels of a row of it, followed by zeros.
    side: usize,
    within: [f32; 2 * NARROW],
    /// Each row is followed by zeros, so that vectors may be read and written beyond the right border.
    sums: Vec<f32>,
    /// The sums of what the estimates keep of the noise, laid out in the same way; empty if it is not wanted.
    kept: Vec<f32>,
    /// How often the patch that begins at each pixel was estimated; once it is [`complete`](Self::complete), how many
    /// estimates each pixel has.
    counts: Vec<u32>,
    groups: u64,
}

impl Canvas {
    pub(super) fn new(rows: Range<usize>, width: usize, side: usize) -> Self {
        let (sums, counts) = (vec![0.0; rows.len() * (width + BEYOND)], vec![0; rows.len() * width]);
        let mut within = [0.0; 2 * NARROW];
        within[..side].fill(1.0);
        Self { rows, width, side, within, sums, kept: Vec::new(), counts, groups: 0 }
    }

    /// Whether the patch that begins there has an estimate already.
    pub(super) fn has(&self, (row, column): (usize, usize)) -> bool {
        self.counts[(row - self.rows.start) * self.width + column] > 0
    }

    /// How many groups have been added.
    pub(super) fn groups(&self) -> u64 {
        self.groups
    }

    /// Counts a group whose patches are at these places, and are going to be added.
    pub(super) fn count(&mut self, places: &[Place]) {
        self.groups += 1;
        for place in places {
            self.counts[(place.row as usize - self.rows.start) * self.width + place.column as usize] += 1;
        }
    }

    /// Adds the estimate of the patch at this place, which is followed by as much as a vector has,
    /// all of it finite.
    #[inline(always)]
    pub(super) fn add<S: Simd>(&mut self, simd: S, place: Place, estimate: &[f32]) {
        let (pitch, at) = (self.width + BEYOND, self.first_of(place));
        add_patch(simd, estimate, (self.side, &self.within), &mut self.sums[at..], pitch);
    }

    /// Adds what the estimate of the patch at this place keeps of the noise.
    #[inline(always)]
    pub(super) fn add_kept<S: Simd>(&mut self, simd: S, place: Place, kept: &[f32]) {
        let (pitch, at) = (self.width + BEYOND, self.first_of(place));
        self.kept.resize(self.sums.len(), 0.0);
        add_patch(simd, kept, (self.side, &self.within), &mut self.kept[at..], pitch);
    }

    /// Counts the estimates of pixels instead of patches: there is nothing more to add.
    #[must_use]
    pub(super) fn complete(mut self) -> Self {
        self.counts.chunks_exact_mut(self.width).for_each(|row| spread(row, self.side, 1));
        spread(&mut self.counts, self.side, self.width);
        self
    }

    /// Where the sums of a patch begin.
    #[inline(always)]
    fn first_of(&self, place: Place) -> usize {
        (place.row as usize - self.rows.start) * (self.width + BEYOND) + place.column as usize
    }
}

/// Adds a patch to the upper left corner of rows that are `pitch` apart.
#[inline(always)]
fn add_patch<S: Simd>(
    simd: S,
    patch: &[f32],
    (side, within): (usize, &[f32; 2 * NARROW]),
    sums: &mut [f32],
    pitch: usize,
) {
    let first = f32x8::from_slice(simd, &within[..NARROW]);
    for (r, line) in sums.chunks_mut(pitch).take(side).enumerate() {
        let row = &patch[r * side..];
        let (sums, rest) = line.split_at_mut(NARROW);
        // What belongs to the next row of the patch counts nothing here.
        let values = f32x8::from_slice(simd, &row[..NARROW]);
        values.mul_add(first, f32x8::from_slice(simd, sums)).store_slice(sums);
        if side > NARROW {
            let (second, sums) = (f32x8::from_slice(simd, &within[NARROW..]), &mut rest[..NARROW]);
            let values = f32x8::from_slice(simd, &row[NARROW..2 * NARROW]);
            values.mul_add(second, f32x8::from_slice(simd, sums)).store_slice(sums);
        }
    }
}

/// At each pixel the mean of all estimates, of which every pixel must have one, plus `offset`; and the mean of what they
/// keep of its noise, nothing if that was not added. The canvases are complete.
pub(super) fn means(canvases: &[Canvas], size: Size, offset: f64) -> (Vec<f64>, Vec<f64>) {
    dispatch!(best_level(), simd => means_by(simd, canvases, size, offset))
}

#[inline(always)]
fn means_by<S: Simd>(_: S, canvases: &[Canvas], size: Size, offset: f64) -> (Vec<f64>, Vec<f64>) {
    let mut counts = vec![0_u32; size.width * size.height];
    for canvas in canvases {
        let counts = counts[canvas.rows.start * size.width..].iter_mut();
        counts.zip(&canvas.counts).for_each(|(count, &more)| *count += more);
    }
    let mean = |of: fn(&Canvas) -> &[f32], offset: f64| {
        let mut means = vec![0.0; counts.len()];
        for canvas in canvases {
            let rows = means[canvas.rows.start * size.width..].chunks_exact_mut(size.width);
            for (sums, values) in rows.zip(of(canvas).chunks_exact(size.width + BEYOND)) {
                sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += f64::from(value));
            }
        }
        means.iter_mut().zip(&counts).for_each(|(mean, &count)| *mean = *mean / f64::from(count) + offset);
        means
    };
    let has_kept = canvases.iter().any(|canvas| !canvas.kept.is_empty());
    let kept = if has_kept { mean(|canvas| &canvas.kept, 0.0) } else { Vec::new() };
    (mean(|canvas| &canvas.sums, offset), kept)
}

/// Makes each entry the sum of it and of the `side − 1` before it that are `step` apart.
fn spread(entries: &mut [u32], side: usize, step: usize) {
    // First the sums of all before it and of it, then less those that are too far back: from the last to the first, so that
    // those before are still what they were.
    for at in step..entries.len() {
        entries[at] += entries[at - step];
    }
    for at in (side * step..entries.len()).rev() {
        entries[at] -= entries[at - side * step];
    }
}
