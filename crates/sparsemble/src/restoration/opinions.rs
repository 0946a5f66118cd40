//! How sure a restoration is of each pixel: how far the opinions of its turns are apart.

use crate::blocks::Run;
use crate::error::Result;
use crate::image::{GrayImage, Size};

/// Pixels to each side whose opinions count for a pixel.
const AROUND: usize = 2;

/// The error of a pixel by the deviation of the opinions: measured on pictures of the BSDS (decision 0017).
const CALIBRATION: f64 = 1.6;

/// Pixels that one thread does at a time where each is by itself.
pub(super) const PIECE: usize = 1 << 16;

/// The sums of what a prior made of each pixel in all turns.
pub(super) struct Opinions {
    count: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Opinions {
    pub(super) fn new(pixels: usize) -> Self {
        Self { count: 0.0, sums: vec![0.0; pixels], squares: vec![0.0; pixels] }
    }

    /// Adds those of a turn.
    pub(super) fn add(&mut self, values: &[f64], run: Run<'_>) -> Result<()> {
        self.count += 1.0;
        let pieces = self.sums.chunks_mut(PIECE).zip(self.squares.chunks_mut(PIECE)).zip(values.chunks(PIECE));
        run.each(pieces, |((sums, squares), values)| {
            for ((sum, square), value) in sums.iter_mut().zip(squares).zip(values) {
                *sum += value;
                *square += value * value;
            }
            Ok(())
        })
    }

    /// The expected error of each pixel of the result.
    pub(super) fn deviation(&self, result: &GrayImage) -> Result<GrayImage> {
        let means = self.sums.iter().zip(&self.squares).map(|(sum, square)| (sum / self.count, square / self.count));
        // The mean of (opinion − result)².
        let apart = means.zip(result.samples()).map(|((mean, square), y)| (square - 2.0 * y * mean + y * y).max(0.0));
        let apart = smoothed(&apart.collect::<Vec<_>>(), result.size());
        GrayImage::new(result.size(), apart.into_iter().map(|square| CALIBRATION * square.sqrt()).collect())
    }
}

/// The mean over the pixels around each, down and then across.
fn smoothed(values: &[f64], Size { width, height }: Size) -> Vec<f64> {
    let mut down = Vec::with_capacity(values.len());
    for row in 0..height {
        let rows = row.saturating_sub(AROUND)..(row + AROUND + 1).min(height);
        let share = 1.0 / rows.len() as f64;
        down.extend((0..width).map(|column| share * rows.clone().map(|r| values[r * width + column]).sum::<f64>()));
    }
    let mut both = Vec::with_capacity(values.len());
    for row in down.chunks_exact(width) {
        both.extend((0..width).map(|column| {
            let columns = &row[column.saturating_sub(AROUND)..(column + AROUND + 1).min(width)];
            columns.iter().sum::<f64>() / columns.len() as f64
        }));
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_that_agree_leave_no_doubt_and_others_as_much_as_they_differ() {
        let size = Size { width: 12, height: 7 };
        let result = GrayImage::from_fn(size, |row, column| (row * column) as f64).unwrap();
        let mut opinions = Opinions::new(12 * 7);
        // On the right half the two turns are 3 above and 1 below.
        for error in [3.0, -1.0] {
            let turn =
                GrayImage::from_fn(size, |row, column| (row * column) as f64 + if column >= 6 { error } else { 0.0 });
            opinions.add(turn.unwrap().samples(), Run::default()).unwrap();
        }
        let deviation = opinions.deviation(&result).unwrap();
        assert!(deviation.row(3)[0] < 1e-6, "{}", deviation.row(3)[0]);
        assert!((deviation.row(3)[11] - CALIBRATION * 5.0_f64.sqrt()).abs() < 1e-6);
        assert!(deviation.row(3)[6] > deviation.row(3)[5] && deviation.row(3)[5] > deviation.row(3)[4]);
    }
}
