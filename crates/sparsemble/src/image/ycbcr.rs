//! Brightness and colour of a picture apart: BT.601 with studio range, MATLAB's `rgb2ycbcr`.
//!
//! The literature of super-resolution measures the brightness Y alone, in this range: black is 16 and white 235.

use crate::error::Result;

use super::plane::GrayImage;

/// Y, Cb and Cr of red, green and blue in [0, 255], but for the offsets.
const OF_RGB: [[f64; 3]; 3] = [
    [65.481 / 255.0, 128.553 / 255.0, 24.966 / 255.0],
    [-37.797 / 255.0, -74.203 / 255.0, 112.0 / 255.0],
    [112.0 / 255.0, -93.786 / 255.0, -18.214 / 255.0],
];

/// What is added to Y, Cb and Cr.
const OFFSETS: [f64; 3] = [16.0, 128.0, 128.0];

/// Y, Cb and Cr of red, green and blue, not rounded.
///
/// ```
/// use sparsemble::image::{GrayImage, Size, to_rgb, to_ycbcr};
///
/// let pixel = |value| GrayImage::new(Size { width: 1, height: 1 }, vec![value]);
/// let white = to_ycbcr(&[pixel(255.0)?, pixel(255.0)?, pixel(255.0)?])?;
/// assert!((white[0].samples()[0] - 235.0).abs() < 1e-12 && (white[1].samples()[0] - 128.0).abs() < 1e-12);
/// assert!((to_rgb(&white)?[2].samples()[0] - 255.0).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If the planes differ in size.
pub fn to_ycbcr(rgb: &[GrayImage; 3]) -> Result<[GrayImage; 3]> {
    let mixed = |to: usize| mix(rgb.each_ref(), |pixel| OFFSETS[to] + dot(OF_RGB[to], pixel));
    Ok([mixed(0)?, mixed(1)?, mixed(2)?])
}

/// Y alone.
pub(super) fn luma(rgb: [&GrayImage; 3]) -> Result<GrayImage> {
    mix(rgb, |pixel| OFFSETS[0] + dot(OF_RGB[0], pixel))
}

/// Red, green and blue of Y, Cb and Cr: undoes [`to_ycbcr`], neither rounded nor clipped.
///
/// # Errors
/// If the planes differ in size.
pub fn to_rgb(ycbcr: &[GrayImage; 3]) -> Result<[GrayImage; 3]> {
    let back = inverse(OF_RGB);
    let mixed = |to: usize| {
        mix(ycbcr.each_ref(), |[y, blue, red]| dot(back[to], [y - OFFSETS[0], blue - OFFSETS[1], red - OFFSETS[2]]))
    };
    Ok([mixed(0)?, mixed(1)?, mixed(2)?])
}

fn mix([a, b, c]: [&GrayImage; 3], of: impl Fn([f64; 3]) -> f64) -> Result<GrayImage> {
    b.expect_size(a.size())?;
    c.expect_size(a.size())?;
    let pixels = a.samples().iter().zip(b.samples()).zip(c.samples());
    GrayImage::new(a.size(), pixels.map(|((&a, &b), &c)| of([a, b, c])).collect())
}

fn dot(weights: [f64; 3], values: [f64; 3]) -> f64 {
    weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2]
}

/// By cofactors.
fn inverse(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let cofactor = |r: usize, c: usize| {
        let ([r1, r2], [c1, c2]) = ([(r + 1) % 3, (r + 2) % 3], [(c + 1) % 3, (c + 2) % 3]);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant: f64 = (0..3).map(|c| m[0][c] * cofactor(0, c)).sum();
    std::array::from_fn(|r| std::array::from_fn(|c| cofactor(c, r) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    fn planes(values: [f64; 3]) -> [GrayImage; 3] {
        values.map(|value| GrayImage::new(Size { width: 1, height: 1 }, vec![value]).unwrap())
    }

    #[test]
    fn pure_colours_are_those_of_the_standard() {
        for (rgb, expected) in [
            ([0.0, 0.0, 0.0], [16.0, 128.0, 128.0]),
            ([255.0, 0.0, 0.0], [81.481, 90.203, 240.0]),
            ([0.0, 255.0, 0.0], [144.553, 53.797, 34.214]),
            ([0.0, 0.0, 255.0], [40.966, 240.0, 109.786]),
        ] {
            let found = to_ycbcr(&planes(rgb)).unwrap().map(|plane| plane.samples()[0]);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn there_and_back_is_the_same() {
        for rgb in [[12.5, 200.0, 99.0], [-3.0, 260.0, 0.0]] {
            let back = to_rgb(&to_ycbcr(&planes(rgb)).unwrap()).unwrap().map(|plane| plane.samples()[0]);
            assert!(back.iter().zip(rgb).all(|(a, b)| (a - b).abs() < 1e-11));
        }
    }

    #[test]
    fn planes_of_other_sizes_are_refused() {
        let [a, b, _] = planes([1.0; 3]);
        let wide = GrayImage::new(Size { width: 2, height: 1 }, vec![0.0; 2]).unwrap();
        assert!(to_ycbcr(&[a, b, wide]).is_err());
    }
}
