//! Where overlapping estimates of patches meet.

use std::ops::Range;

use fearless_simd::{dispatch, f32x8, prelude::*};

use crate::blocks::Run;
use crate::error::Result;
use crate::image::Size;
use crate::kernels::best_level;

use super::matching::Place;
use super::plane::{BEYOND, NARROW};

/// Rows whose means one thread takes at a time.
const ROWS: usize = 64;

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

    /// The rows that it has in common with these: by their numbers in it, and in these.
    fn shared(&self, rows: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let (start, end) = (self.rows.start.max(rows.start), self.rows.end.min(rows.end));
        let within = |first: usize| if start < end { start - first..end - first } else { 0..0 };
        (within(self.rows.start), within(rows.start))
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
pub(super) fn means(canvases: &[Canvas], size: Size, offset: f64, run: Run<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
    let has_kept = canvases.iter().any(|canvas| !canvas.kept.is_empty());
    let (mut estimates, mut kept) = (vec![0.0; size.pixels()], vec![0.0; if has_kept { size.pixels() } else { 0 }]);
    let mut kept_pieces = kept.chunks_mut(ROWS * size.width);
    let pieces = estimates.chunks_mut(ROWS * size.width).enumerate().map(|(i, piece)| (i, piece, kept_pieces.next()));
    run.each(pieces, |(i, estimates, kept)| {
        let rows = i * ROWS..i * ROWS + estimates.len() / size.width;
        dispatch!(best_level(), simd => {
            let counts = counts(simd, canvases, rows.clone(), size.width);
            add_means(simd, canvases, |canvas| &canvas.sums, (&rows, &counts), estimates);
            for mean in estimates {
                *mean += offset;
            }
            if let Some(kept) = kept {
                add_means(simd, canvases, |canvas| &canvas.kept, (&rows, &counts), kept);
            }
        });
        Ok(())
    })?;
    Ok((estimates, kept))
}

/// How many estimates there are of the pixels of some rows.
#[inline(always)]
fn counts<S: Simd>(_: S, canvases: &[Canvas], rows: Range<usize>, width: usize) -> Vec<u32> {
    let mut counts = vec![0_u32; rows.len() * width];
    for canvas in canvases {
        let (own, common) = canvas.shared(&rows);
        let own = &canvas.counts[own.start * width..own.end * width];
        let counts = &mut counts[common.start * width..common.end * width];
        counts.iter_mut().zip(own).for_each(|(count, &more)| *count += more);
    }
    counts
}

/// Writes the means of something over the pixels of some rows to zeros.
#[inline(always)]
fn add_means<S: Simd>(
    _: S,
    canvases: &[Canvas],
    of: impl Fn(&Canvas) -> &[f32],
    (rows, counts): (&Range<usize>, &[u32]),
    means: &mut [f64],
) {
    let width = counts.len() / rows.len();
    for canvas in canvases {
        let (own, common) = canvas.shared(rows);
        let sums = of(canvas).chunks_exact(width + BEYOND).skip(own.start);
        for (means, sums) in means.chunks_exact_mut(width).take(common.end).skip(common.start).zip(sums) {
            means.iter_mut().zip(sums).for_each(|(mean, &sum)| *mean += f64::from(sum));
        }
    }
    means.iter_mut().zip(counts).for_each(|(mean, &count)| *mean /= f64::from(count));
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
