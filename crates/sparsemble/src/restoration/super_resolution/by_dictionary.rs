//! The paper's super-resolution: gradient features coded patch by patch, and put together as patches (§IV-B).
//!
//! The steps are those of Yang et al. ("Image super-resolution via sparse representation", 2010), for any paired model
//! and any coder.

use std::ops::Range;

use crate::blocks::{Pulse, Run};
use crate::coding::SparseCoder;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::image::{BitDepth, GrayImage, Interpolation, Size, rescale};
use crate::restoration::Restored;
use crate::scalar::Scalar;

use super::enlarge::Enlarge;
use super::features::gradient_features;
use super::{BackProjection, PairLayout, expect_finite};

/// Rows of patches in a band, which one thread works on from start to end.
const BAND: usize = 16;

/// Patches coded at a time: all that is ever in memory of a thread's features.
const CHUNK: usize = 1536;

/// Pixels before the first patch and after the last one, where the picture stays bicubic.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// Enlarges pictures by an ensemble of paired models, from gradient features to patches.
///
/// | field | default | purpose | paper's value |
/// | --- | --- | --- | --- |
/// | `model` | – | codes features, makes patches: see [`PairLayout::paired`] | K = 1024; L = 50 for ensembles |
/// | `coder` | – | codes the features | 1-sparse for ensembles; λ = 0.4 of Eq. (1) for `PairDict` and `ExDict` |
/// | `scale` | 2 | how many times larger | 2 |
/// | `contrast` | 1.2 | the norm of a patch compared with that of the bicubic one | not stated; 1.2 in the code of Yang et al. |
/// | `back_projection` | 20 iterations | how the result is made to fit the small picture | not stated; 20 there |
///
/// 1. The picture is enlarged by bicubic interpolation and rounded to 8 bits.
/// 2. The gradient features of each of its patches are divided by their norm if that is above one, and coded.
/// 3. Each patch that the code makes is scaled to `contrast` times the norm of the bicubic patch without its mean, and has
///    the mean of that one added.
/// 4. Overlaps are averaged, and rounded to 8 bits. Two pixels at the upper and left border and three at the others stay
///    bicubic.
/// 5. Back-projection.
///
/// The deviation of the result is how far the members are apart, in grey levels: zero for a single model.
///
/// # Cost
/// That of the model's [`approximate`](Ensemble::approximate) for one patch a pixel of the result: 2·4M·K·L operations
/// each with 1-sparse coding. Memory beyond that is a few numbers a pixel.
///
/// # Errors
/// If the model is not one from gradient features to square patches, a field is out of range, or a sample is not finite;
/// those of [`SparseCoder::encode`].
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::Averaging;
/// use sparsemble::image::{GrayImage, Interpolation, Size, rescale};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::super_resolution::{ByDictionary, TrainingPairs};
///
/// let rings = |centre: f64| {
///     let size = Size { width: 64, height: 48 };
///     let ring = |r: f64| if (r / 6.0) as usize % 2 == 0 { 70.0 } else { 180.0 };
///     GrayImage::from_fn(size, |row, column| ring((row as f64 - centre).hypot(column as f64 - 30.0)))
/// };
/// let pairs = TrainingPairs { count: 1000, ..TrainingPairs::default() };
/// let pairs = pairs.draw::<f32>(&[rings(24.0)?], Run::default())?;
/// let examples = Examples { n_atoms: 150 };
/// let stacked = Averaging { n_models: 4, ..Averaging::new(&examples) }.fit(pairs.samples().view(), Run::default())?;
/// let model = pairs.layout().paired(&stacked)?;
///
/// let picture = rings(11.0)?;
/// let small = rescale(&picture, 0.5, Interpolation::Bicubic, Run::default())?;
/// let found = ByDictionary::new(&model, &OneSparse::default()).enlarge(&small, Run::default())?;
/// let bicubic = rescale(&small, 2.0, Interpolation::Bicubic, Run::default())?;
/// assert!(psnr(&picture, &found.image)? > psnr(&picture, &bicubic)? + 1.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-B.
#[doc(alias = "PairDict")]
#[doc(alias = "ExDict")]
#[derive(Debug, Clone, Copy)]
pub struct ByDictionary<'a, T> {
    /// Codes features, makes patches.
    pub model: &'a Ensemble<T>,
    /// Codes the features.
    pub coder: &'a (dyn SparseCoder<T> + Sync),
    /// How many times larger.
    pub scale: usize,
    /// The norm of a patch compared with that of the bicubic one.
    pub contrast: f64,
    /// How the result is made to fit the small picture.
    pub back_projection: BackProjection,
}

impl<'a, T: Scalar> ByDictionary<'a, T> {
    /// The default settings with this model and this coder.
    pub fn new(model: &'a Ensemble<T>, coder: &'a (dyn SparseCoder<T> + Sync)) -> Self {
        Self { model, coder, scale: 2, contrast: 1.2, back_projection: BackProjection::default() }
    }

    /// The picture `scale` times as large.
    ///
    /// # Errors
    /// See [`ByDictionary`].
    pub fn enlarge(&self, small: &GrayImage, run: Run<'_>) -> Result<Restored> {
        let side = self.check()?;
        expect_finite(small)?;
        let bicubic = rescale(small, self.scale as f64, Interpolation::Bicubic, run.silent())?;
        let bicubic = bicubic.quantised(BitDepth::Eight);
        // A guess that holds for large models: the patches are most of the work.
        let (pixels, part) = (bicubic.samples().len(), bicubic.samples().len() / 8);
        let coding = run.part(0..pixels, pixels + part);
        let places = Places::new(bicubic.size(), side);
        let band = |(): &mut (), rows: Range<usize>, pulse: &Pulse<'_>| {
            pulse.within(|run| self.band(&bicubic, &places, rows, run))
        };
        let bands = coding.map_long_blocks(places.down, BAND, || (), band)?;
        let Restored { image, deviation } = places.mean(bands, bicubic)?;
        let estimate = image.quantised(BitDepth::Eight);
        let image = self.back_projection.apply(&estimate, small, run.part(pixels..pixels + part, pixels + part))?;
        Ok(Restored { image, deviation })
    }

    /// The side of a patch, if everything is in its range.
    fn check(&self) -> Result<usize> {
        let layout = PairLayout { side: self.model.n_features().isqrt() };
        if (layout.n_hi(), layout.n_lo()) != (self.model.n_features(), self.model.n_inputs()) {
            let sizes = format!("{} features to {} pixels", self.model.n_inputs(), self.model.n_features());
            let reason = "must go from four gradients of each pixel of a square patch to the pixels";
            return Err(Error::parameter("model", sizes, reason));
        }
        if self.scale == 0 {
            return Err(Error::parameter("scale", 0, "must be at least 1"));
        }
        if !(self.contrast >= 0.0 && self.contrast.is_finite()) {
            return Err(Error::parameter("contrast", self.contrast, "must be zero or more, and finite"));
        }
        Ok(layout.side)
    }

    /// The sums of all patches that begin in these rows of patches.
    fn band(&self, bicubic: &GrayImage, places: &Places, rows: Range<usize>, run: Run<'_>) -> Result<Band> {
        let mut band = Band::new(places, &rows);
        let patches = rows.start * places.across..rows.end * places.across;
        for start in patches.clone().step_by(CHUNK) {
            let chunk = start..(start + CHUNK).min(patches.end);
            let origins: Vec<_> = chunk.map(|patch| places.origin(patch)).collect();
            let mut features = gradient_features::<T>(bicubic, places.side, &origins)?;
            (0..origins.len()).for_each(|patch| shorten(features.column_mut(patch)));
            let found = self.model.approximate(features.view(), self.coder, run)?;
            for (patch, &origin) in origins.iter().enumerate() {
                let estimate = Estimate {
                    patch: found.values.column(patch),
                    // One dictionary has no spread; whoever asks for one is refused where the method is chosen.
                    spread: found.spread.as_ref().map_or(0.0, |spread| spread[patch]),
                };
                band.add(bicubic, origin, &estimate, self.contrast);
            }
        }
        Ok(band)
    }
}

impl<T: Scalar> Enlarge for ByDictionary<'_, T> {
    fn scale(&self) -> usize {
        self.scale
    }

    /// Back-projection passes on from pixel to pixel.
    fn reach(&self) -> Option<usize> {
        None
    }

    fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
        ByDictionary::enlarge(self, image, run)
    }
}

/// Divides features by their norm if that is above one: flat patches stay small, and are coded by nothing.
fn shorten<T: Scalar>(features: &mut [T]) {
    let norm = features.iter().map(|value| value.to_f64().powi(2)).sum::<f64>().sqrt();
    if norm > 1.0 {
        for value in features {
            *value = T::from_f64(value.to_f64() / norm);
        }
    }
}

/// Where the patches of a picture begin.
struct Places {
    size: Size,
    side: usize,
    /// How many there are in a row, and how many rows.
    across: usize,
    down: usize,
}

impl Places {
    fn new(size: Size, side: usize) -> Self {
        let count = |length: usize| (length + 1).saturating_sub(BEFORE + side + AFTER);
        let (across, down) = (count(size.width), count(size.height));
        Self { size, side, across, down: if across == 0 { 0 } else { down } }
    }

    fn origin(&self, patch: usize) -> (usize, usize) {
        (BEFORE + patch / self.across, BEFORE + patch % self.across)
    }

    /// How many patches lie over each pixel of a row or column of pixels.
    fn covers(&self, length: usize, count: usize) -> Vec<f64> {
        let mut covers = vec![0.0; length];
        for origin in 0..count {
            covers[BEFORE + origin..][..self.side].iter_mut().for_each(|cover| *cover += 1.0);
        }
        covers
    }

    /// The mean of all patches at each pixel, or the pixel of `other` where there is none.
    fn mean(&self, bands: Vec<Band>, other: GrayImage) -> Result<Restored> {
        let mut samples = other.into_samples();
        let mut deviations = vec![0.0; samples.len()];
        let (rows, columns) = (self.covers(self.size.height, self.down), self.covers(self.size.width, self.across));
        let mut whole = Band::new(self, &(0..self.down));
        for band in bands {
            whole.include(&band);
        }
        for (row, cover) in rows.iter().enumerate().filter(|(_, cover)| **cover > 0.0) {
            for (column, count) in columns.iter().enumerate().filter(|(_, cover)| **cover > 0.0) {
                let (pixel, place) = (row * self.size.width + column, (row - whole.top) * whole.width + column);
                samples[pixel] = whole.sums[place] / (cover * count);
                deviations[pixel] = (whole.squares[place] / (cover * count)).sqrt();
            }
        }
        Ok(Restored { image: GrayImage::new(self.size, samples)?, deviation: GrayImage::new(self.size, deviations)? })
    }
}

/// A patch as the model has it.
struct Estimate<'a, T> {
    patch: &'a [T],
    spread: f64,
}

/// Sums of patches over some rows of pixels.
struct Band {
    /// The first of these rows.
    top: usize,
    width: usize,
    side: usize,
    sums: Vec<f64>,
    /// The same of squared deviations.
    squares: Vec<f64>,
}

impl Band {
    /// For the patches of these rows.
    fn new(places: &Places, rows: &Range<usize>) -> Self {
        let height = if rows.is_empty() { 0 } else { rows.len() + places.side - 1 };
        let zeros = vec![0.0; height * places.size.width];
        let (top, width, side) = (BEFORE + rows.start, places.size.width, places.side);
        Self { top, width, side, sums: zeros.clone(), squares: zeros }
    }

    /// Adds a patch in the contrast and brightness of the bicubic one.
    fn add<T: Scalar>(&mut self, bicubic: &GrayImage, origin: (usize, usize), found: &Estimate<'_, T>, contrast: f64) {
        let (row, column) = origin;
        let side = self.side;
        let pixels = || (row..row + side).flat_map(|row| &bicubic.row(row)[column..column + side]);
        let count = (side * side) as f64;
        let mean = pixels().sum::<f64>() / count;
        let norm = pixels().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt();
        let length = found.patch.iter().map(|value| value.to_f64().powi(2)).sum::<f64>().sqrt();
        let factor = if length > 0.0 { contrast * norm / length } else { 0.0 };
        let square = (factor * found.spread).powi(2) / count;
        for (r, values) in found.patch.chunks_exact(side).enumerate() {
            let start = (row - self.top + r) * self.width + column;
            let sums = self.sums[start..start + side].iter_mut().zip(&mut self.squares[start..start + side]);
            for ((sum, squares), value) in sums.zip(values) {
                *sum += mean + factor * value.to_f64();
                *squares += square;
            }
        }
    }

    fn include(&mut self, other: &Self) {
        let start = (other.top - self.top) * self.width;
        for (own, more) in [(&mut self.sums, &other.sums), (&mut self.squares, &other.squares)] {
            own[start..].iter_mut().zip(more).for_each(|(sum, value)| *sum += value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_begin_where_those_of_the_published_program_do() {
        // MATLAB's 3:w-7 for patches of 5 pixels.
        let places = Places::new(Size { width: 12, height: 11 }, 5);
        assert_eq!((places.across, places.down), (3, 2));
        assert_eq!((places.origin(0), places.origin(5)), ((2, 2), (3, 4)));
        assert_eq!(places.covers(12, 3), [0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
        for (width, height) in [(9, 100), (100, 9), (1, 1)] {
            let places = Places::new(Size { width, height }, 5);
            assert_eq!(places.across * places.down, 0);
        }
    }

    #[test]
    fn only_long_features_are_shortened() {
        let mut features = [0.3_f32, 0.4];
        shorten(&mut features);
        assert_eq!(features.map(f32::to_bits), [0.3_f32, 0.4].map(f32::to_bits));
        let mut features = [30.0_f64, 40.0];
        shorten(&mut features);
        assert!((features[0] - 0.6).abs() < 1e-15 && (features[1] - 0.8).abs() < 1e-15);
    }
}
