//! What a stage sees of a pixel of the small picture, and what it is to make of it.

use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::strip::Strip;

/// Orientations of a square: four turns, and those of its mirror image.
pub(super) const ORIENTATIONS: usize = 8;

/// The sizes of a stage's windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) scale: usize,
    /// The side of the window of the small picture, odd.
    pub(super) low_side: usize,
    /// The side of the window of the enlarged picture so far, or 0.
    pub(super) high_side: usize,
}

impl Windows {
    /// The length of an input: both windows.
    pub(super) fn n_inputs(self) -> usize {
        self.low_side * self.low_side + self.high_side * self.high_side
    }

    /// The length of an output: the pixels of the enlarged picture that belong to 3 × 3 of the small one.
    pub(super) fn n_outputs(self) -> usize {
        self.block_side() * self.block_side()
    }

    pub(super) fn block_side(self) -> usize {
        3 * self.scale
    }

    /// Where the pixels of a block are that belong to each of the 3 × 3 small ones, one after the other.
    pub(super) fn by_small_pixel(self) -> Vec<usize> {
        let side = self.block_side();
        let corner = |small: usize| (small / 3 * side + small % 3) * self.scale;
        let within = |pixel: usize| pixel / self.scale * side + pixel % self.scale;
        (0..9).flat_map(|small| (0..self.scale * self.scale).map(move |pixel| corner(small) + within(pixel))).collect()
    }

    /// Pixels beyond a pixel of the small picture that its window shows.
    pub(super) fn low_margin(self) -> usize {
        self.low_side / 2
    }

    /// Pixels beyond those of a small pixel in the enlarged picture that its window shows.
    pub(super) fn high_margin(self) -> usize {
        self.high_side.saturating_sub(self.scale) / 2
    }

    /// Rows of the small picture beyond a pixel's own that the window of the enlarged picture reaches into.
    pub(super) fn reach(self) -> usize {
        self.high_margin().div_ceil(self.scale)
    }

    /// Writes the input of a pixel and returns the mean that was taken from it.
    pub(super) fn copy_input<T: Scalar>(
        self,
        place: (usize, usize),
        low: &Strip<T>,
        high: Option<&Strip<T>>,
        out: &mut [T],
    ) -> T {
        let (row, column) = (place.0 as isize, place.1 as isize);
        let (low_part, high_part) = out.split_at_mut(self.low_side * self.low_side);
        let margin = self.low_margin() as isize;
        low.copy_window((row - margin, column - margin), self.low_side, low_part);
        let mean = Self::mean_at(place, low);
        if let Some(high) = high {
            let (scale, margin) = (self.scale as isize, self.high_margin() as isize);
            high.copy_window((scale * row - margin, scale * column - margin), self.high_side, high_part);
        }
        for value in out {
            *value -= mean;
        }
        mean
    }

    /// Writes the block that the stage is to make for a pixel, less the mean of the input.
    pub(super) fn copy_target<T: Scalar>(
        self,
        (row, column): (usize, usize),
        truth: &Strip<T>,
        mean: T,
        out: &mut [T],
    ) {
        let (row, column) = (row as isize - 1, column as isize - 1);
        let scale = self.scale as isize;
        truth.copy_window((scale * row, scale * column), self.block_side(), out);
        for value in out {
            *value -= mean;
        }
    }

    /// The mean of the 3 × 3 pixels around this one.
    pub(super) fn mean_at<T: Scalar>((row, column): (usize, usize), low: &Strip<T>) -> T {
        let mut middle = [T::ZERO; 9];
        low.copy_window((row as isize - 1, column as isize - 1), 3, &mut middle);
        middle.into_iter().fold(T::ZERO, |sum, value| sum + value) * T::from_f64(1.0 / 9.0)
    }

    /// Where each entry of an input and of an output in this orientation is found in the upright one.
    pub(super) fn places(self, orientation: usize) -> (Vec<usize>, Vec<usize>) {
        let mut inputs = turned(self.low_side, orientation);
        let high = turned(self.high_side, orientation).into_iter();
        inputs.extend(high.map(|place| self.low_side * self.low_side + place));
        (inputs, turned(self.block_side(), orientation))
    }

    /// What the choice of an atom may look at, as a matrix to be applied to inputs: the middle `side` × `side` pixels of
    /// the finer picture there is, less their mean, both weighted by a Gaussian.
    pub(super) fn view(self, side: usize, deviation: f64) -> Matrix<f64> {
        let (whole, first) =
            if self.high_side == 0 { (self.low_side, 0) } else { (self.high_side, self.low_side * self.low_side) };
        let border = (whole - side) / 2;
        let place = |pixel: usize| first + (border + pixel / side) * whole + border + pixel % side;
        let from_middle = |i: usize| i as f64 - 0.5 * (side - 1) as f64;
        let weight = |pixel: usize| {
            let square = from_middle(pixel / side).powi(2) + from_middle(pixel % side).powi(2);
            (-0.5 * square / (deviation * deviation)).exp()
        };
        let weights: Vec<f64> = (0..side * side).map(weight).collect();
        let total: f64 = weights.iter().sum();
        let mut view = Matrix::zeros(side * side, self.n_inputs());
        for (pixel, weight_of_pixel) in weights.iter().enumerate() {
            let column = view.column_mut(place(pixel));
            let taken = weight_of_pixel / total;
            column.iter_mut().zip(&weights).for_each(|(entry, weight)| *entry = -weight * taken);
            column[pixel] += weight_of_pixel;
        }
        view
    }
}

/// For each pixel of a square in this orientation, row by row, its place in the upright one: bit 2 mirrors left and right,
/// then come as many quarter turns as the rest says.
fn turned(side: usize, orientation: usize) -> Vec<usize> {
    let place = |pixel: usize| {
        let (mut row, mut column) = (pixel / side, pixel % side);
        for _ in 0..orientation % 4 {
            (row, column) = (column, side - 1 - row);
        }
        row * side + if orientation < 4 { column } else { side - 1 - column }
    };
    (0..side * side).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_eight_orientations_and_all_keep_neighbours() {
        let all: BTreeSet<Vec<usize>> = (0..ORIENTATIONS).map(|orientation| turned(4, orientation)).collect();
        assert_eq!(all.len(), 8);
        assert_eq!(turned(2, 1), [1, 3, 0, 2]);
        for places in all {
            let apart = |a: usize, b: usize| (a / 4).abs_diff(b / 4) + (a % 4).abs_diff(b % 4);
            assert!((0..3).all(|c| apart(places[c], places[c + 1]) == 1 && apart(places[c], places[c + 4]) == 1));
        }
    }

    #[test]
    fn the_pixels_of_a_block_come_small_pixel_by_small_pixel() {
        for scale in 2..=8 {
            let order = Windows { scale, low_side: 5, high_side: 0 }.by_small_pixel();
            let sorted: BTreeSet<usize> = order.iter().copied().collect();
            assert_eq!(sorted.into_iter().collect::<Vec<_>>(), (0..9 * scale * scale).collect::<Vec<_>>());
            for (number, place) in order.into_iter().enumerate() {
                let (small, within) = (number / (scale * scale), number % (scale * scale));
                let (row, column) = (place / (3 * scale), place % (3 * scale));
                assert_eq!((row / scale, column / scale), (small / 3, small % 3));
                assert_eq!((row % scale, column % scale), (within / scale, within % scale));
            }
        }
    }

    #[test]
    fn windows_are_around_the_same_pixel() {
        // Both pictures hold the distance from the middle, in pixels of the small one, so all windows are symmetric.
        for (scale, high_side) in [(2, 8), (3, 9), (4, 10)] {
            let windows = Windows { scale, low_side: 5, high_side };
            let at = |place: usize, scale: usize| (place as f64 + 0.5) / scale as f64 - 10.5;
            let picture = |scale: usize| {
                let size = Size { width: 21 * scale, height: 21 * scale };
                Strip::new(size, 0..size.height, 8, move |row, out: &mut [f64]| {
                    let value = |c: usize| at(row, scale).powi(2) + 3.0 * at(c, scale).powi(2);
                    out.iter_mut().enumerate().for_each(|(c, out)| *out = value(c));
                })
            };
            let (low, high) = (picture(1), picture(scale));
            let (mut input, mut target) = (vec![0.0; windows.n_inputs()], vec![0.0; windows.n_outputs()]);
            let mean = windows.copy_input((10, 10), &low, Some(&high), &mut input);
            windows.copy_target((10, 10), &high, mean, &mut target);
            assert!((mean - 4.0 * 2.0 / 3.0).abs() < 1e-9);
            let (inputs, outputs) = windows.places(2);
            for (i, &place) in inputs.iter().enumerate() {
                assert!((input[i] - input[place]).abs() < 1e-9, "scale {scale}, input {i}");
            }
            for (i, &place) in outputs.iter().enumerate() {
                assert!((target[i] - target[place]).abs() < 1e-9, "scale {scale}, output {i}");
            }
            assert!((target[0] + mean - 4.0 * (1.5 - 0.5 / scale as f64).powi(2)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_view_does_not_see_the_mean_and_is_centred() {
        for windows in
            [Windows { scale: 2, low_side: 9, high_side: 0 }, Windows { scale: 2, low_side: 5, high_side: 8 }]
        {
            let side = if windows.high_side == 0 { 5 } else { 6 };
            let view = windows.view(side, 1.3);
            let (places, _) = windows.places(5);
            for pixel in 0..side * side {
                let sum: f64 = (0..windows.n_inputs()).map(|c| view.column(c)[pixel]).sum();
                assert!(sum.abs() < 1e-12);
                let turned = turned(side, 5)[pixel];
                for (c, &place) in places.iter().enumerate() {
                    assert!((view.column(c)[pixel] - view.column(place)[turned]).abs() < 1e-12);
                }
            }
        }
    }
}
