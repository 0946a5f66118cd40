//! A first guess of missing pixels: from coarse to fine, each the mean of its neighbours.

use crate::degradation::{Degradation, Mask};
use crate::error::{Result, expect_size};
use crate::image::{GrayImage, Size};

/// Sweeps that smooth what was guessed at each scale.
const SWEEPS: usize = 20;

/// The picture with every pixel that the mask does not see guessed from those around it, from coarse to fine. What
/// [`inpaint`](super::inpaint) starts from: smooth and quick.
///
/// # Cost
/// Some twenty passes over the picture.
///
/// # Errors
/// If the mask is of another size.
pub fn fill_smoothly(image: &GrayImage, mask: &Mask) -> Result<GrayImage> {
    let pixels = Degradation::<f64>::n_features(mask);
    expect_size("mask: number of pixels (that of the image)", image.samples().len(), pixels)?;
    let mut weights = vec![0.0; pixels];
    mask.seen().iter().for_each(|&pixel| weights[pixel] = 1.0);
    let scale = Scale { size: image.size(), values: image.samples().to_vec(), weights };
    GrayImage::new(image.size(), scale.filled())
}

/// The picture at one scale: what is known of each pixel, and how much of it is known.
struct Scale {
    size: Size,
    values: Vec<f64>,
    /// 0 for a pixel of which nothing is known, up to 1.
    weights: Vec<f64>,
}

impl Scale {
    fn filled(mut self) -> Vec<f64> {
        if self.weights.iter().all(|weight| *weight > 0.0) || self.size.width.max(self.size.height) == 1 {
            return self.values;
        }
        let coarse = self.halved();
        let Size { width, height } = coarse.size;
        let guess = coarse.filled();
        for row in 0..self.size.height {
            for column in 0..self.size.width {
                let pixel = row * self.size.width + column;
                if self.weights[pixel] <= 0.0 {
                    self.values[pixel] = guess[(row / 2).min(height - 1) * width + (column / 2).min(width - 1)];
                }
            }
        }
        for _ in 0..SWEEPS {
            self.smooth();
        }
        self.values
    }

    /// Half as many pixels each way, each the weighted mean of up to four.
    fn halved(&self) -> Self {
        let size = Size { width: self.size.width.div_ceil(2), height: self.size.height.div_ceil(2) };
        let (mut values, mut weights) = (vec![0.0; size.width * size.height], vec![0.0; size.width * size.height]);
        for (pixel, (value, weight)) in self.values.iter().zip(&self.weights).enumerate() {
            let (row, column) = (pixel / self.size.width, pixel % self.size.width);
            let place = row / 2 * size.width + column / 2;
            // What is not known may be no number.
            if *weight > 0.0 {
                values[place] += weight * value;
                weights[place] += weight;
            }
        }
        for (value, weight) in values.iter_mut().zip(&mut weights) {
            if *weight > 0.0 {
                *value /= *weight;
                *weight = weight.min(1.0);
            }
        }
        Self { size, values, weights }
    }

    /// Every pixel of which nothing is known becomes the mean of its neighbours, one after the other.
    fn smooth(&mut self) {
        let Size { width, height } = self.size;
        for row in 0..height {
            for column in 0..width {
                let pixel = row * width + column;
                if self.weights[pixel] > 0.0 {
                    continue;
                }
                let (mut sum, mut count) = (0.0, 0.0);
                let mut add = |inside: bool, neighbour: usize| {
                    if inside {
                        sum += self.values[neighbour];
                        count += 1.0;
                    }
                };
                add(row > 0, pixel.wrapping_sub(width));
                add(row + 1 < height, pixel + width);
                add(column > 0, pixel.wrapping_sub(1));
                add(column + 1 < width, pixel + 1);
                self.values[pixel] = sum / count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_continued_over_missing_pixels() {
        let size = Size { width: 21, height: 17 };
        let slope = GrayImage::from_fn(size, |row, column| (3 * row + 5 * column) as f64).unwrap();
        // Most are missing; the border is known.
        let border = |row: usize, column: usize| row == 0 || column == 0 || row == 16 || column == 20;
        let known: Vec<bool> =
            (0..21 * 17).map(|i| border(i / 21, i % 21) || (i / 21 * 7 + i % 21 * 3) % 5 == 0).collect();
        let found = fill_smoothly(&slope, &Mask::new(&known).unwrap()).unwrap();
        for (i, (a, b)) in found.samples().iter().zip(slope.samples()).enumerate() {
            let allowed = if known[i] { 0.0 } else { 1.0 };
            assert!((a - b).abs() <= allowed, "pixel {i}: {a} for {b}");
        }
    }

    #[test]
    fn one_known_pixel_is_enough() {
        let size = Size { width: 9, height: 1 };
        let image = GrayImage::from_fn(size, |_, column| if column == 4 { 7.0 } else { f64::MAX }).unwrap();
        let known: Vec<bool> = (0..9).map(|column| column == 4).collect();
        let found = fill_smoothly(&image, &Mask::new(&known).unwrap()).unwrap();
        assert!(found.samples().iter().all(|value| (value - 7.0).abs() < 1e-12));
    }
}
