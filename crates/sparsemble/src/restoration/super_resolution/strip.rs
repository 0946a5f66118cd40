//! Some rows of a picture, with a margin in which the picture is mirrored: what windows are cut from.

use std::ops::Range;

use crate::image::Size;
use crate::scalar::Scalar;

/// Rows of a picture and a margin to the left and right.
pub(super) struct Strip<T> {
    data: Vec<T>,
    /// The number of the first row; negative above the picture.
    first: isize,
    margin: usize,
    stride: usize,
}

impl<T: Scalar> Strip<T> {
    /// These rows of a picture of this size and `margin` more to every side; `copy_row` writes one that the picture has.
    ///
    /// Beyond the border the picture is mirrored, its outermost pixels twice in a row, as MATLAB does.
    pub(super) fn new(size: Size, rows: Range<usize>, margin: usize, copy_row: impl Fn(usize, &mut [T])) -> Self {
        let stride = size.width + 2 * margin;
        let first = rows.start as isize - margin as isize;
        let mut data = vec![T::ZERO; (rows.len() + 2 * margin) * stride];
        for (number, row) in (first..).zip(data.chunks_exact_mut(stride)) {
            copy_row(mirrored(number, size.height), &mut row[margin..margin + size.width]);
            for beyond in 1..=margin {
                row[margin - beyond] = row[margin + mirrored(-(beyond as isize), size.width)];
                let right = size.width - 1 + beyond;
                row[margin + right] = row[margin + mirrored(right as isize, size.width)];
            }
        }
        Self { data, first, margin, stride }
    }

    /// Writes the square window of this side whose upper left pixel is this, row by row.
    #[inline]
    pub(super) fn copy_window(&self, (row, column): (isize, isize), side: usize, out: &mut [T]) {
        let start = (row - self.first) as usize * self.stride + (column + self.margin as isize) as usize;
        // Lines of a length that the compiler knows are copied in place, others by a call for each.
        match side {
            3 => self.copy_lines::<3>(start, out),
            5 => self.copy_lines::<5>(start, out),
            7 => self.copy_lines::<7>(start, out),
            8 => self.copy_lines::<8>(start, out),
            9 => self.copy_lines::<9>(start, out),
            10 => self.copy_lines::<10>(start, out),
            _ => {
                for (r, out) in out.chunks_exact_mut(side).enumerate() {
                    out.copy_from_slice(&self.data[start + r * self.stride..][..side]);
                }
            }
        }
    }

    #[inline]
    fn copy_lines<const SIDE: usize>(&self, start: usize, out: &mut [T]) {
        for (r, out) in out.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            out.copy_from_slice(&self.data[start + r * self.stride..][..SIDE]);
        }
    }
}

/// The place inside `0..length` that a place in or beyond it mirrors.
fn mirrored(place: isize, length: usize) -> usize {
    let place = place.rem_euclid(2 * length as isize) as usize;
    place.min(2 * length - 1 - place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_border_a_picture_is_mirrored() {
        assert_eq!([-3, -2, -1, 0, 1, 2, 3, 4].map(|place| mirrored(place, 3)), [2, 1, 0, 0, 1, 2, 2, 1]);
        assert_eq!([-2, -1, 0, 1, 7].map(|place| mirrored(place, 1)), [0; 5]);
        let size = Size { width: 3, height: 2 };
        let strip = Strip::new(size, 0..2, 2, |row, out: &mut [f32]| {
            (0..3).for_each(|c| out[c] = (10 * row + c) as f32);
        });
        let mut window = vec![0.0; 9];
        strip.copy_window((-2, -1), 3, &mut window);
        assert_eq!(window, [10.0, 10.0, 11.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        strip.copy_window((1, 2), 3, &mut window);
        assert_eq!(window, [12.0, 12.0, 11.0, 12.0, 12.0, 11.0, 2.0, 2.0, 1.0]);
    }

    #[test]
    fn a_part_has_the_windows_of_the_whole() {
        let size = Size { width: 5, height: 9 };
        let copy_row = |row: usize, out: &mut [f64]| (0..5).for_each(|c| out[c] = ((row * 5 + c) as f64).sin());
        let (whole, part) = (Strip::new(size, 0..9, 3, copy_row), Strip::new(size, 6..9, 3, copy_row));
        let (mut a, mut b) = (vec![0.0; 16], vec![0.0; 16]);
        for (row, column) in [(3, -3), (6, 0), (8, 4)] {
            whole.copy_window((row, column), 4, &mut a);
            part.copy_window((row, column), 4, &mut b);
            assert_eq!(a, b);
        }
    }
}
