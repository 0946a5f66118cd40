//! Where overlapping estimates of patches meet.

use std::ops::Range;

use crate::image::Size;

use super::matching::Place;

/// The sums of estimates over some rows of a picture, and how many there are.
#[derive(Debug)]
pub(super) struct Canvas {
    rows: Range<usize>,
    width: usize,
    sums: Vec<f32>,
    /// How often the patch that begins at each pixel was estimated: at most once for each patch in reach of it.
    patches: Vec<u16>,
    groups: u64,
}

impl Canvas {
    pub(super) fn new(rows: Range<usize>, width: usize) -> Self {
        let pixels = rows.len() * width;
        Self { rows, width, sums: vec![0.0; pixels], patches: vec![0; pixels], groups: 0 }
    }

    /// Whether the patch that begins there has an estimate already.
    pub(super) fn has(&self, (row, column): (usize, usize)) -> bool {
        self.patches[(row - self.rows.start) * self.width + column] > 0
    }

    /// How many groups have been added.
    pub(super) fn groups(&self) -> u64 {
        self.groups
    }

    /// Adds estimates of the patches at these places, pixel by pixel of a patch.
    #[inline(always)]
    pub(super) fn add<'a>(&mut self, places: &[Place], side: usize, estimates: impl Iterator<Item = &'a [f32]>) {
        self.groups += 1;
        let first = |place: &Place| (place.row as usize - self.rows.start) * self.width + place.column as usize;
        for place in places {
            self.patches[first(place)] += 1;
        }
        for (pixel, values) in estimates.enumerate() {
            let sums = &mut self.sums[pixel / side * self.width + pixel % side..];
            places.iter().zip(values).for_each(|(place, value)| sums[first(place)] += value);
        }
    }
}

/// The mean of all estimates at each pixel; every pixel must have one.
pub(super) fn means(canvases: &[Canvas], size: Size, side: usize) -> Vec<f64> {
    let mut sums = vec![0.0; size.width * size.height];
    let mut counts = vec![0_u32; size.width * size.height];
    for canvas in canvases {
        let start = canvas.rows.start * size.width;
        sums[start..].iter_mut().zip(&canvas.sums).for_each(|(sum, &value)| *sum += f64::from(value));
        counts[start..].iter_mut().zip(&canvas.patches).for_each(|(count, &patches)| *count += u32::from(patches));
    }
    counts.chunks_exact_mut(size.width).for_each(|row| spread(row, side, 1));
    spread(&mut counts, side, size.width);
    sums.iter().zip(counts).map(|(sum, count)| sum / f64::from(count)).collect()
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
