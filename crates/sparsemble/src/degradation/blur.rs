//! Blur of a picture, and the loss of pixels after it.

use crate::error::{Error, Result};
use crate::image::Size;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::convolution::Convolution;
use super::cosines::{LONGEST, multiply_spectrum};
use super::{Degradation, add_multiple, conjugate, expect_countable};

/// How far a Gaussian reaches, in standard deviations: what lies beyond is less than a ten-thousandth of it.
const REACH: f64 = 4.0;

/// The widest Gaussian: its taps are kept, and a picture of any size is but a few of them wide.
const WIDEST: f64 = 1e4;

/// Convolution of a picture with a small kernel; then, if wanted, only every s-th pixel of every s-th row is kept.
///
/// Beyond its border the picture goes on as its mirror image, the pixel at the border twice (… c b a | a b c …).
///
/// # Shapes
/// Features: the pixels of the picture, row by row. Measurements: as many, or those of a picture of
/// [`measured_size`](Self::measured_size).
///
/// # Cost
/// A multiply-add for each pixel and each tap of the kernel; a Gaussian is two kernels, one row and one column. To
/// [`reconcile`](Degradation::reconcile) takes some tens of uses forwards and backwards; but if the kernel is even, no
/// pixel is lost and no side is longer than 2048 pixels, it takes one cosine transform and its inverse, each as many
/// multiply-adds a pixel as width and height together.
///
/// # Example
/// ```
/// use sparsemble::degradation::{Blur, Degradation};
/// use sparsemble::image::Size;
///
/// let blur = Blur::gaussian(Size { width: 9, height: 6 }, 1.6)?.decimated(2)?;
/// assert_eq!(blur.measured_size(), Size { width: 5, height: 3 });
///
/// let mut measured = [0.0; 15];
/// blur.apply(&[7.0; 54], &mut measured);
/// assert!(measured.iter().all(|value| (value - 7.0_f64).abs() < 1e-12)); // a Gaussian keeps what is even
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV, Eq. (14).
#[doc(alias = "convolution")]
#[derive(Debug, Clone, PartialEq)]
pub struct Blur {
    size: Size,
    /// One after the other.
    kernels: Vec<Convolution>,
    step: usize,
}

impl Blur {
    /// Convolution with any kernel, taken as it is: one that does not sum to one makes the picture brighter or darker.
    /// The entry in its middle is that of the pixel itself.
    ///
    /// # Errors
    /// If the picture has no pixel or more than can be counted, a side of the kernel is even, or a value is not finite.
    pub fn new(size: Size, kernel: MatrixView<'_, f64>) -> Result<Self> {
        for (name, side) in [("kernel height", kernel.rows()), ("kernel width", kernel.columns())] {
            if side.is_multiple_of(2) {
                return Err(Error::parameter(name, side, "must be odd, so that the kernel has a middle"));
            }
        }
        kernel.expect_finite("kernel")?;
        Self::by(size, vec![Convolution::new(kernel)])
    }

    /// The same with a kernel that is scaled to sum to one, so that it keeps the brightness of pictures; also the sum that
    /// it had.
    ///
    /// # Errors
    /// As [`new`](Self::new); if the kernel does not sum to more than rounding.
    pub fn of_unit_sum(size: Size, kernel: MatrixView<'_, f64>) -> Result<(Self, f64)> {
        kernel.expect_finite("kernel")?;
        let taps = kernel.to_matrix();
        let (sum, size_of_taps): (f64, f64) =
            taps.as_slice().iter().fold((0.0, 0.0), |(sum, size), tap| (sum + tap, size + tap.abs()));
        if sum.is_nan() || sum <= 1e-9 * size_of_taps {
            return Err(Error::parameter("kernel sum", sum, "must be positive: a blur keeps the brightness"));
        }
        // One that sums to one but for rounding stays as it is.
        let factor = if (sum - 1.0).abs() > 1e-12 { sum.recip() } else { 1.0 };
        let scaled = Matrix::from_fn(taps.rows(), taps.columns(), |r, c| factor * taps.column(c)[r]);
        Ok((Self::new(size, scaled.view())?, sum))
    }

    /// Convolution with a Gaussian of standard deviation `sigma` pixels, cut off at four of them and scaled to sum to
    /// one.
    ///
    /// # Errors
    /// If the picture has no pixel or more than can be counted, or `sigma` is not positive or larger than 10 000.
    pub fn gaussian(size: Size, sigma: f64) -> Result<Self> {
        if !(sigma > 0.0 && sigma <= WIDEST) {
            return Err(Error::parameter("sigma", sigma, "must be positive and at most 10000 pixels"));
        }
        let reach = (REACH * sigma).round();
        let taps: Vec<f64> =
            (0..=2 * reach as usize).map(|i| (-0.5 * ((i as f64 - reach) / sigma).powi(2)).exp()).collect();
        let sum: f64 = taps.iter().sum();
        let [column, row] = [(taps.len(), 1), (1, taps.len())]
            .map(|(rows, columns)| Matrix::from_fn(rows, columns, |r, c| taps[r + c] / sum));
        Self::by(size, vec![Convolution::new(column.view()), Convolution::new(row.view())])
    }

    fn by(size: Size, kernels: Vec<Convolution>) -> Result<Self> {
        if size.width == 0 || size.height == 0 {
            return Err(Error::Empty { what: "image", unit: "pixel" });
        }
        expect_countable(size)?;
        Ok(Self { size, kernels, step: 1 })
    }

    /// The same blur, of which only every `step`-th pixel of every `step`-th row is kept, from the first on.
    ///
    /// # Errors
    /// If the step is zero.
    pub fn decimated(self, step: usize) -> Result<Self> {
        if step == 0 {
            return Err(Error::parameter("decimate", step, "must be at least 1, which keeps every pixel"));
        }
        Ok(Self { step, ..self })
    }

    /// The size of the pictures it is for.
    pub fn image_size(&self) -> Size {
        self.size
    }

    /// The size of what is measured.
    pub fn measured_size(&self) -> Size {
        decimated(self.size, self.step)
    }

    /// The same blur of pictures of another size.
    pub(crate) fn of_size(&self, size: Size) -> Self {
        Self { size, ..self.clone() }
    }

    /// How many rows or columns away it looks, at most.
    pub(crate) fn reach(&self) -> usize {
        let reaches = |axis: usize| self.kernels.iter().map(|kernel| kernel.reach()[axis]).sum();
        usize::max(reaches(0), reaches(1))
    }

    /// How wide it is, in pixels: the standard deviation of the Gaussian that concentrates its weight as much.
    pub(crate) fn width(&self) -> f64 {
        let concentration: f64 = self.kernels.iter().map(Convolution::concentration).product();
        0.5 / (std::f64::consts::PI * concentration.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// What each frequency of the cosine transform is multiplied by, if that is all that happens to it, and the picture
    /// is not too large for the transform to be worth its price.
    fn spectrum(&self) -> Option<Vec<f64>> {
        let small = self.size.width.max(self.size.height) <= LONGEST;
        if self.step > 1 || !small || !self.kernels.iter().all(Convolution::is_even) {
            return None;
        }
        let spectra = self.kernels.iter().map(|kernel| kernel.spectrum(self.size));
        spectra.reduce(|mut product, next| {
            product.iter_mut().zip(next).for_each(|(product, next)| *product *= next);
            product
        })
    }

    /// The pixels of the picture that are kept, row by row.
    fn kept(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { size: Size { width, height }, step, .. } = *self;
        (0..height).step_by(step).flat_map(move |row| (0..width).step_by(step).map(move |column| row * width + column))
    }
}

/// The size of a picture of which every `step`-th pixel of every `step`-th row is left.
pub(super) fn decimated(size: Size, step: usize) -> Size {
    Size { width: size.width.div_ceil(step), height: size.height.div_ceil(step) }
}

impl<T: Scalar> Degradation<T> for Blur {
    fn n_features(&self) -> usize {
        self.size.width * self.size.height
    }

    fn n_measurements(&self) -> usize {
        self.measured_size().width * self.measured_size().height
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        assert_eq!(features.len(), self.size.width * self.size.height, "number of features");
        let mut blurred = features.to_vec();
        self.kernels.iter().for_each(|kernel| kernel.apply(self.size.width, &mut blurred));
        measurements.iter_mut().zip(self.kept()).for_each(|(measurement, pixel)| *measurement = blurred[pixel]);
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        assert_eq!(features.len(), self.size.width * self.size.height, "number of features");
        features.fill(T::ZERO);
        measurements.iter().zip(self.kept()).for_each(|(&measurement, pixel)| features[pixel] = measurement);
        self.kernels.iter().rev().for_each(|kernel| kernel.adjoint(self.size.width, features));
    }

    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        let Some(spectrum) = self.spectrum() else {
            return conjugate::reconcile(self, measurements, mu, features);
        };
        let mut correction = vec![T::ZERO; measurements.len()];
        self.apply(features, &mut correction);
        correction.iter_mut().zip(measurements).for_each(|(residual, &z)| *residual = z - *residual);
        // Frequencies of which rounding has left nothing are not brought back.
        let least = T::EPSILON.to_f64();
        let gain = |kept: f64| if kept * kept + mu > least { kept / (kept * kept + mu) } else { 0.0 };
        let gains: Vec<f64> = spectrum.into_iter().map(gain).collect();
        multiply_spectrum(self.size, &mut correction, &gains);
        add_multiple(T::ONE, &correction, features);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 4, height: 2 };
    const IMAGE: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];

    fn blurred(blur: &Blur) -> Vec<f64> {
        let mut measured = vec![0.0; Degradation::<f64>::n_measurements(blur)];
        blur.apply(&IMAGE, &mut measured);
        measured
    }

    #[test]
    fn a_kernel_of_one_entry_beside_the_middle_shifts_and_the_border_is_mirrored() {
        // Convolution: the entry on the right of the middle brings what is on the left of the pixel.
        let right = Matrix::from_columns(vec![0.0, 0.0, 1.0], 1, 3).unwrap();
        assert_eq!(blurred(&Blur::new(SIZE, right.view()).unwrap()), [1.0, 1.0, 2.0, 3.0, 10.0, 10.0, 20.0, 30.0]);
        let below = Matrix::from_columns(vec![0.0, 0.0, 1.0], 3, 1).unwrap();
        assert_eq!(blurred(&Blur::new(SIZE, below.view()).unwrap()), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        // Further than the picture: its mirror image is mirrored again.
        let far = Matrix::from_fn(1, 19, |_, c| f64::from(u8::from(c == 18)));
        assert_eq!(blurred(&Blur::new(SIZE, far.view()).unwrap())[..4], [1.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_blur_is_as_wide_as_the_gaussian_that_concentrates_its_weight_as_much() {
        for sigma in [1.0, 1.6, 3.0] {
            let width = Blur::gaussian(SIZE, sigma).unwrap().width();
            assert!((width - sigma).abs() < 1e-3 * sigma, "{width} for {sigma}");
        }
        // A box of nine pixels, whatever it does to the brightness.
        for brightness in [1.0, 5.0] {
            let even = Matrix::from_fn(3, 3, |_, _| brightness / 9.0);
            assert!((Blur::new(SIZE, even.view()).unwrap().width() - 1.5 / std::f64::consts::PI.sqrt()).abs() < 1e-9);
        }
    }

    #[test]
    fn decimation_keeps_the_first_pixel_and_every_further_one() {
        let one = Matrix::from_columns(vec![1.0], 1, 1).unwrap();
        let kept = |step| blurred(&Blur::new(SIZE, one.view()).unwrap().decimated(step).unwrap());
        assert_eq!(kept(2), [1.0, 3.0]);
        assert_eq!(kept(3), [1.0, 4.0]);
        assert_eq!(kept(9), [1.0]);
    }

    #[test]
    fn a_gaussian_has_the_variance_it_should() {
        let size = Size { width: 41, height: 41 };
        let mut dot = vec![0.0; 41 * 41];
        dot[20 * 41 + 20] = 1.0;
        let mut spread = vec![0.0; 41 * 41];
        Blur::gaussian(size, 1.6).unwrap().apply(&dot, &mut spread);
        let moment = |axis: fn(usize) -> usize, power| -> f64 {
            spread.iter().enumerate().map(|(i, value)| value * (axis(i) as f64 - 20.0).powi(power)).sum()
        };
        for axis in [|i| i % 41, |i| i / 41] {
            assert!((moment(axis, 0) - 1.0).abs() < 1e-12 && moment(axis, 1).abs() < 1e-12);
            assert!((moment(axis, 2) - 1.6_f64.powi(2)).abs() < 0.01);
        }
    }

    #[test]
    fn impossible_blurs_are_refused() {
        let even = Matrix::<f64>::zeros(3, 2);
        assert!(Blur::new(SIZE, even.view()).unwrap_err().to_string().contains("kernel width"));
        assert!(Blur::new(SIZE, Matrix::zeros(0, 1).view()).unwrap_err().to_string().contains("kernel height"));
        assert!(Blur::new(SIZE, Matrix::from_columns(vec![f64::NAN], 1, 1).unwrap().view()).is_err());
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Blur::gaussian(SIZE, sigma).unwrap_err().to_string().contains("sigma"));
        }
        assert!(Blur::gaussian(Size { width: 0, height: 3 }, 1.0).is_err());
        assert!(Blur::gaussian(SIZE, 1.0).unwrap().decimated(0).unwrap_err().to_string().contains("decimate"));
    }
}
