//! Training pairs: patches beside the features of what is left of them in a small picture (§IV-B).

use crate::blocks::Run;
use crate::degradation::Mask;
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::{Error, Result, expect_size};
use crate::image::{BitDepth, GrayImage, Interpolation, Size, rescale, resize};
use crate::matrix::Matrix;
use crate::patch::{Shuffle, check_draw, copy_patch, remove_mean};
use crate::rng::stream;
use crate::scalar::Scalar;

use super::expect_finite;
use super::features::{FILTERS, gradient_features};

/// Draws pairs at random places of a set of pictures.
///
/// | field | symbol | default | purpose | paper's value |
/// | --- | --- | --- | --- | --- |
/// | `scale` | | 2 | how much smaller the pictures are made, and larger again | 2 |
/// | `side` | √M | 5 | the side of a patch in pixels | 5 |
/// | `count` | T | 100 000 | pairs that are drawn, before nearly flat ones are taken out | 100 000 |
/// | `aligned` | | `true` | see below | `false` |
/// | `min_variance` | | 10 | a pair stays if the variance of its patch is above this (divisor M − 1, squared grey levels) | not stated |
/// | `seed` | | 0 | another seed, other places | |
///
/// The small picture is rounded to 8 bits and so is the one made of it by bicubic interpolation, as they are where files
/// are read. Every picture gives pairs in proportion to its pixels, at places drawn without repetition, no patch nearer to
/// the border than a patch; a picture smaller than that has none to give.
///
/// With `aligned`, rows and columns beyond a multiple of the scale are left out first. Without it the small picture is
/// stretched to the very size of the large one, as in the program of Yang et al.: where a side is no multiple, its pairs
/// are up to a pixel apart, and what is learned from them is worse by about a tenth of a decibel. The paper's Table 2 has
/// been made that way.
///
/// The two parts have each unit norm and are then stacked with the weights of Yang et al., √(M/5M) for the patch and
/// √(4M/5M) for its 4M features: what is learned from them does not depend on contrast.
///
/// # Shapes
/// 5·side² × T, patch above features.
///
/// # Cost
/// That of resizing the pictures and of cutting the patches. Memory for the pairs that stay.
///
/// # Errors
/// If a field is out of range, a picture is not finite, or no pair is left.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::Averaging;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::restoration::super_resolution::TrainingPairs;
///
/// let size = Size { width: 80, height: 60 };
/// let waves = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.02 * (row * column) as f64).sin())?;
/// let pairs = TrainingPairs { count: 400, ..TrainingPairs::default() }.draw::<f32>(&[waves], Run::default())?;
///
/// // RandExAv for super-resolution: any ensemble of the stacked samples, and then from features to patches.
/// let examples = Examples { n_atoms: 50 };
/// let stacked = Averaging { n_models: 3, ..Averaging::new(&examples) }.fit(pairs.samples().view(), Run::default())?;
/// let ensemble = pairs.layout().paired(&stacked)?;
/// assert_eq!((ensemble.n_inputs(), ensemble.n_features()), (100, 25));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingPairs {
    /// How much smaller the pictures are made.
    pub scale: usize,
    /// The side of a patch in pixels.
    pub side: usize,
    /// How many pairs to draw.
    pub count: usize,
    /// Whether pictures are cropped to a multiple of the scale; if not, they are stretched.
    pub aligned: bool,
    /// The variance above which a pair stays.
    pub min_variance: f64,
    /// Another seed, other places.
    pub seed: u64,
}

impl Default for TrainingPairs {
    fn default() -> Self {
        Self { scale: 2, side: 5, count: 100_000, aligned: true, min_variance: 10.0, seed: 0 }
    }
}

/// Pairs to learn from: stacked samples, and where in them what is.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<T> {
    samples: Matrix<T>,
    layout: PairLayout,
}

impl<T: Scalar> Pairs<T> {
    /// The stacked samples, patch above features.
    pub fn samples(&self) -> &Matrix<T> {
        &self.samples
    }

    /// The same, without a copy.
    pub fn into_samples(self) -> Matrix<T> {
        self.samples
    }

    /// Where the parts are.
    pub fn layout(&self) -> PairLayout {
        self.layout
    }
}

impl TrainingPairs {
    /// The pairs, picture by picture.
    ///
    /// # Errors
    /// See [`TrainingPairs`].
    pub fn draw<T: Scalar>(&self, images: &[GrayImage], run: Run<'_>) -> Result<Pairs<T>> {
        self.check()?;
        images.iter().try_for_each(expect_finite)?;
        let quotas = self.quotas(images);
        let of_picture = |(): &mut (), range: std::ops::Range<usize>| {
            let mut values = Vec::new();
            for number in range {
                self.draw_from(&images[number], quotas[number], number as u64, &mut values)?;
            }
            Ok(values)
        };
        let values = run.map_blocks(images.len(), 1, || (), of_picture)?.concat();
        let layout = PairLayout { side: self.side };
        if values.is_empty() {
            return Err(Error::TooFewSamples { what: "training pairs", needed: 1, found: 0 });
        }
        let count = values.len() / layout.n_features();
        Ok(Pairs { samples: Matrix::from_columns(values, layout.n_features(), count)?, layout })
    }

    fn check(&self) -> Result<()> {
        if self.scale < 2 {
            return Err(Error::parameter("scale", self.scale, "must be at least 2"));
        }
        check_draw(self.side, self.count, self.min_variance)
    }

    /// How many pairs each picture gives: all together `count`.
    fn quotas(&self, images: &[GrayImage]) -> Vec<u64> {
        let total: u128 = images.iter().map(|image| image.samples().len() as u128).sum();
        let mut pixels = 0;
        let mut before = 0;
        let quota = |image: &GrayImage| {
            pixels += image.samples().len() as u128;
            let until = (self.count as u128 * pixels / total.max(1)) as u64;
            until - std::mem::replace(&mut before, until)
        };
        images.iter().map(quota).collect()
    }

    /// Appends the pairs of one picture.
    fn draw_from<T: Scalar>(&self, image: &GrayImage, quota: u64, number: u64, out: &mut Vec<T>) -> Result<()> {
        let whole = |side: usize| if self.aligned { side - side % self.scale } else { side };
        let size = Size { width: whole(image.size().width), height: whole(image.size().height) };
        let places = |length: usize| (length + 1).saturating_sub(3 * self.side) as u64;
        let (across, down) = (places(size.width), places(size.height));
        if quota == 0 || across * down == 0 {
            return Ok(());
        }
        let image = image.cropped((0, 0), size)?;
        let blurred = blurred(&image, self.scale)?;
        let shuffle = Shuffle::new(across * down, stream(self.seed, "training pairs", number));
        let origin = |index: u64| (self.side + (index / across) as usize, self.side + (index % across) as usize);
        let origins: Vec<_> = shuffle.take(quota as usize).map(origin).collect();
        let lo = gradient_features::<f64>(&blurred, self.side, &origins)?;
        let mut hi = vec![0.0; self.side * self.side];
        let layout = PairLayout { side: self.side };
        for (index, &origin) in origins.iter().enumerate() {
            copy_patch(&image, origin, self.side, &mut hi);
            remove_mean(&mut hi);
            let [hi_energy, lo_energy] = [&hi[..], lo.column(index)].map(energy);
            if hi_energy > self.min_variance * (hi.len() - 1) as f64 && lo_energy > 0.0 {
                let weight = |part: usize| (part as f64 / layout.n_features() as f64).sqrt();
                let scales = [weight(layout.n_hi()) / hi_energy.sqrt(), weight(layout.n_lo()) / lo_energy.sqrt()];
                let stacked = hi.iter().map(|value| value * scales[0]);
                out.extend(stacked.chain(lo.column(index).iter().map(|value| value * scales[1])).map(T::from_f64));
            }
        }
        Ok(())
    }
}

/// The picture made smaller and larger again, both rounded to 8 bits.
fn blurred(image: &GrayImage, scale: usize) -> Result<GrayImage> {
    let alone = Run::threads(1);
    let small = rescale(image, 1.0 / scale as f64, Interpolation::Bicubic, alone)?.quantised(BitDepth::Eight);
    Ok(resize(&small, image.size(), Interpolation::Bicubic, alone)?.quantised(BitDepth::Eight))
}

fn energy(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// Where in a stacked sample the patch is and where its features are, and what that makes of models.
///
/// # Example
/// ```
/// use sparsemble::degradation::Degradation;
/// use sparsemble::restoration::super_resolution::PairLayout;
///
/// let layout = PairLayout { side: 5 };
/// assert_eq!((layout.n_hi(), layout.n_lo(), layout.n_features()), (25, 100, 125));
/// assert_eq!(Degradation::<f32>::n_measurements(&layout.seen()?), 100); // Φ of the training
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairLayout {
    /// The side of a patch in pixels.
    pub side: usize,
}

impl PairLayout {
    /// The pixels of a patch, which come first.
    pub fn n_hi(self) -> usize {
        self.side * self.side
    }

    /// The features of its blurred copy.
    pub fn n_lo(self) -> usize {
        FILTERS * self.n_hi()
    }

    /// Both.
    pub fn n_features(self) -> usize {
        self.n_hi() + self.n_lo()
    }

    /// Φ, what is seen of a stacked sample when a picture is enlarged: its features. With it
    /// [`Boost`](crate::ensemble::Boost) codes in training as it will be coded after it; what will be asked for are the
    /// first [`n_hi`](Self::n_hi) features, its `n_judged`.
    ///
    /// # Errors
    /// If the side is zero.
    pub fn seen(self) -> Result<Mask> {
        Mask::new(&(0..self.n_features()).map(|feature| feature >= self.n_hi()).collect::<Vec<_>>())
    }

    /// The ensemble that codes features and makes patches, from one of stacked samples; weights and the record of the
    /// training stay.
    ///
    /// The features of each atom get unit norm, and its patch the same factor. An atom without features, which no code
    /// could use, becomes zero.
    ///
    /// # Errors
    /// If the models are not of stacked samples.
    pub fn paired<T: Scalar>(self, stacked: &Ensemble<T>) -> Result<Ensemble<T>> {
        let models = stacked.models().iter().map(|model| self.paired_model(model)).collect::<Result<Vec<_>>>()?;
        Ok(Ensemble::new(models, stacked.beta().to_vec())?.with_training(stacked.training().clone()))
    }

    fn paired_model<T: Scalar>(self, stacked: &SparseModel<T>) -> Result<SparseModel<T>> {
        let atoms = stacked.synthesis();
        expect_size("model: number of features (patch and gradients)", self.n_features(), atoms.rows())?;
        let norm = |j: usize| {
            let lo = atoms.column(j)[self.n_hi()..].iter();
            lo.map(|value| value.to_f64().powi(2)).sum::<f64>().sqrt()
        };
        let scales: Vec<f64> = (0..atoms.columns())
            .map(|j| match norm(j) {
                norm if norm > 0.0 => 1.0 / norm,
                _ => 0.0,
            })
            .collect();
        let part = |first: usize, rows: usize| {
            Matrix::from_fn(rows, atoms.columns(), |r, j| T::from_f64(atoms.column(j)[first + r].to_f64() * scales[j]))
        };
        let (hi, lo) = (part(0, self.n_hi()), part(self.n_hi(), self.n_lo()));
        let model = SparseModel::paired(lo.view(), hi.view())?;
        match stacked.sources() {
            Some(sources) => model.with_sources(sources.to_vec()),
            None => Ok(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Dictionary;

    fn picture(width: usize, height: usize) -> GrayImage {
        let value = |row: usize, column: usize| 128.0 + 90.0 * (0.05 * (row * column + 7 * row) as f64).sin();
        GrayImage::from_fn(Size { width, height }, value).unwrap()
    }

    #[test]
    fn pictures_give_in_proportion_to_their_pixels() {
        let images = [picture(40, 40), picture(80, 40), picture(20, 40)];
        let quotas = |count| TrainingPairs { count, ..TrainingPairs::default() }.quotas(&images);
        assert_eq!(quotas(700), [200, 400, 100]);
        assert_eq!(quotas(10).iter().sum::<u64>(), 10);
        assert!(TrainingPairs::default().quotas(&[]).is_empty());
    }

    #[test]
    fn a_picture_gives_no_more_than_it_has_and_small_ones_give_nothing() {
        let draw = TrainingPairs { min_variance: 0.0, ..TrainingPairs::default() };
        let pairs = draw.draw::<f64>(&[picture(17, 16), picture(14, 200)], Run::threads(1)).unwrap();
        assert_eq!(pairs.samples().columns(), 2 * 2); // 16 × 16 after the crop: origins 5 and 6 each way
        assert!(draw.draw::<f64>(&[picture(14, 14)], Run::threads(1)).is_err());
        assert!(draw.draw::<f64>(&[], Run::threads(1)).is_err());
    }

    #[test]
    fn only_pairs_of_pictures_with_odd_sides_can_be_out_of_line() {
        let draw = |aligned, image: GrayImage| {
            let pairs = TrainingPairs { aligned, count: 200, min_variance: 0.0, ..TrainingPairs::default() };
            pairs.draw::<f64>(&[image], Run::threads(1)).unwrap()
        };
        assert_eq!(draw(true, picture(40, 44)), draw(false, picture(40, 44)));
        // The last row of an odd picture is not used if all is to be in line.
        let cropped = picture(41, 45).cropped((0, 0), Size { width: 40, height: 44 }).unwrap();
        assert_eq!(draw(true, picture(41, 45)), draw(true, cropped));
        assert_ne!(draw(false, picture(41, 45)), draw(true, picture(41, 45)));
    }

    #[test]
    fn an_atom_is_scaled_as_a_whole_until_its_features_have_unit_norm() {
        let layout = PairLayout { side: 1 };
        let atoms = Matrix::from_columns(vec![0.6, 0.0, 0.8, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 5, 2).unwrap();
        let plain = SparseModel::plain(&Dictionary::new(atoms).unwrap()).unwrap();
        let ensemble = layout.paired(&Ensemble::new(vec![plain], vec![1.0]).unwrap()).unwrap();
        let model = &ensemble.models()[0];
        assert!((model.synthesis().column(0)[0] - 0.75_f64).abs() < 1e-15);
        assert_eq!(model.coding_atoms().column(0), [0.0, 1.0, 0.0, 0.0]);
        // Nothing of the second can be seen.
        assert_eq!((model.synthesis().column(1), model.coding_atoms().column(1)), (&[0.0][..], &[0.0; 4][..]));
        assert!(PairLayout { side: 2 }.paired(&ensemble).is_err());
    }
}
