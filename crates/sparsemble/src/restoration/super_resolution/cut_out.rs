//! Cut-outs: a pixel of which nothing is seen has no colour, and must not lend one to its neighbours.

use std::ops::Range;

use crate::error::Result;
use crate::image::{GrayImage, Size};

/// How many pixels away a colour is fetched from: farther than interpolation, and nearly any window, looks.
pub(super) const REACH: usize = 6;

/// Whether there are pixels of which nothing is seen.
pub(super) fn hides(alpha: &GrayImage) -> bool {
    alpha.samples().iter().any(|&alpha| alpha <= 0.0)
}

/// The planes with the mean colour of what is seen around them, weighted by alpha, in the pixels of which nothing is seen.
///
/// Files hold any colour there, most often black, which larger pictures would show as a dark rim.
pub(super) fn filled(planes: &[GrayImage], alpha: &GrayImage) -> Result<Vec<GrayImage>> {
    let size = alpha.size();
    let seen = sums_around(alpha.samples(), size);
    let fill = |plane: &GrayImage| {
        let weighted: Vec<f64> = plane.samples().iter().zip(alpha.samples()).map(|(colour, a)| colour * a).collect();
        let sums = sums_around(&weighted, size);
        let pixel = |index: usize| {
            let hidden = alpha.samples()[index] <= 0.0 && seen[index] > 0.0;
            if hidden { sums[index] / seen[index] } else { plane.samples()[index] }
        };
        GrayImage::new(size, (0..sums.len()).map(pixel).collect())
    };
    planes.iter().map(fill).collect()
}

/// The sum of the values around each pixel, up to [`REACH`] away.
fn sums_around(values: &[f64], Size { width, height }: Size) -> Vec<f64> {
    let around =
        |centre: usize, end: usize| -> Range<usize> { centre.saturating_sub(REACH)..(centre + REACH + 1).min(end) };
    let along_rows: Vec<f64> = values
        .chunks_exact(width)
        .flat_map(|row| (0..width).map(move |column| row[around(column, width)].iter().sum()))
        .collect();
    let mut sums = vec![0.0; values.len()];
    for (row, sums) in sums.chunks_exact_mut(width).enumerate() {
        for near in around(row, height) {
            sums.iter_mut().zip(&along_rows[near * width..]).for_each(|(sum, value)| *sum += value);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_pixels_take_the_colour_around_them_and_seen_ones_keep_theirs() {
        let size = Size { width: 20, height: 3 };
        let alpha = GrayImage::from_fn(size, |_, column| if column < 2 { 128.0 } else { 0.0 }).unwrap();
        let colour = GrayImage::from_fn(size, |_, column| if column == 0 { 10.0 } else { 30.0 }).unwrap();
        let filled = filled(std::slice::from_ref(&colour), &alpha).unwrap().remove(0);
        assert_eq!(filled.row(1)[..2], [10.0, 30.0]);
        assert!((2..=6).all(|column| (filled.row(1)[column] - 20.0).abs() < 1e-12), "{:?}", filled.row(1));
        assert!((filled.row(1)[7] - 30.0).abs() < 1e-12, "column 0 is out of reach");
        assert_eq!(filled.row(1)[8..], colour.row(1)[8..]);
        assert!(hides(&alpha) && !hides(&colour));
    }
}
