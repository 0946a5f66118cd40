//! Random training patches (§II-B).

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};
use crate::matrix::Matrix;
use crate::rng::stream;
use crate::scalar::Scalar;

use super::grid::copy_patch;
use super::means::remove_mean;

/// Draws patches at random places of a set of pictures: nearly flat ones rejected, mean removed.
///
/// | field | symbol | default | paper's value |
/// | --- | --- | --- | --- |
/// | `side` | √M | 8 | 8 (5 for super-resolution) |
/// | `count` | T | 100 000 | 100 000 before rejection |
/// | `min_variance` | | 10 | not stated; 10 reproduces Table 2 |
/// | `remove_mean` | | `true` | `true` |
/// | `unit_norm` | | `false` | `true` for the atoms of example dictionaries |
/// | `seed` | | 0 | |
///
/// Every position of every picture is equally likely and none is drawn twice. The patches depend on the pictures, their
/// order and these fields alone. A picture smaller than a patch has none to give.
///
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::patch::TrainingPatches;
///
/// let size = Size { width: 64, height: 64 };
/// let waves = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.02 * (row * column) as f64).sin())?;
/// let draw = TrainingPatches { count: 256, unit_norm: true, ..TrainingPatches::default() };
/// let dictionary = draw.draw::<f32>(&[waves])?;
/// assert_eq!((dictionary.rows(), dictionary.columns()), (64, 256));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §II-B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingPatches {
    /// The side of a patch in pixels.
    pub side: usize,
    /// How many to return.
    pub count: usize,
    /// A patch is rejected unless its variance (divisor M − 1, in squared grey levels) is above this.
    pub min_variance: f64,
    /// Subtract from each patch its mean.
    pub remove_mean: bool,
    /// Scale each patch to norm 1, after its mean was removed if it is.
    pub unit_norm: bool,
    /// Another seed, other patches.
    pub seed: u64,
}

impl Default for TrainingPatches {
    fn default() -> Self {
        Self { side: 8, count: 100_000, min_variance: 10.0, remove_mean: true, unit_norm: false, seed: 0 }
    }
}

impl TrainingPatches {
    /// The patches in columns, in the order they were drawn: `side² × count`.
    ///
    /// # Errors
    /// If a field is out of range, or the pictures have fewer patches above the variance.
    pub fn draw<T: Scalar>(&self, images: &[GrayImage]) -> Result<Matrix<T>> {
        self.check()?;
        let places = Places::new(images, self.side);
        if places.total == 0 && !images.is_empty() {
            return Err(Error::parameter("patch side", self.side, "is larger than every picture; ask for less"));
        }
        let mut order = Shuffle::new(places.total, stream(self.seed, "training patches", 0));
        let mut patches = Vec::new();
        let mut patch = vec![0.0; self.side * self.side];
        let mut found = 0;
        while found < self.count {
            let Some(index) = order.next() else {
                return Err(Error::TooFewSamples { what: "training patches", needed: self.count, found });
            };
            let (image, origin) = places.locate(index);
            copy_patch(&images[image], origin, self.side, &mut patch);
            let removed = remove_mean(&mut patch);
            let energy: f64 = patch.iter().map(|value| value * value).sum();
            if energy > self.min_variance * (patch.len() - 1) as f64 {
                let mean = if self.remove_mean { 0.0 } else { removed };
                // The mean is orthogonal to what is left without it.
                let norm = (energy + mean * mean * patch.len() as f64).sqrt();
                let scale = if self.unit_norm { 1.0 / norm } else { 1.0 };
                patches.extend(patch.iter().map(|value| T::from_f64((value + mean) * scale)));
                found += 1;
            }
        }
        Matrix::from_columns(patches, self.side * self.side, self.count)
    }

    fn check(&self) -> Result<()> {
        check_draw(self.side, self.count, self.min_variance)
    }
}

/// Refuses what cannot be drawn: patches without a variance, none of them, or none that vary enough.
pub(crate) fn check_draw(side: usize, count: usize, min_variance: f64) -> Result<()> {
    if side < 2 {
        return Err(Error::parameter("patch side", side, "must be at least 2: one pixel has no variance"));
    }
    if count == 0 {
        return Err(Error::parameter("count", count, "must be at least 1"));
    }
    if !(min_variance >= 0.0 && min_variance.is_finite()) {
        return Err(Error::parameter("min_variance", min_variance, "must be zero or more, and finite"));
    }
    Ok(())
}

/// All positions of all pictures, numbered through.
struct Places {
    /// For each picture: its first number, and how many positions a row of it has.
    images: Vec<(u64, u64)>,
    total: u64,
}

impl Places {
    fn new(images: &[GrayImage], side: usize) -> Self {
        let mut total = 0;
        let images = images.iter().map(|image| {
            let Size { width, height } = image.size();
            let positions = |length: usize| (length + 1).saturating_sub(side) as u64;
            let first = total;
            total += positions(width) * positions(height);
            (first, positions(width))
        });
        Self { images: images.collect(), total }
    }

    /// The picture, row and column of a position.
    fn locate(&self, index: u64) -> (usize, (usize, usize)) {
        // The last picture that starts at or before the index; those without positions start where the next one does.
        let image = self.images.partition_point(|(first, _)| *first <= index) - 1;
        let (first, width) = self.images[image];
        (image, (((index - first) / width) as usize, ((index - first) % width) as usize))
    }
}

/// The numbers below `total` in random order, each once: a Fisher–Yates shuffle that stores only what it has moved.
pub(crate) struct Shuffle {
    rng: ChaCha8Rng,
    moved: BTreeMap<u64, u64>,
    drawn: u64,
    total: u64,
}

impl Shuffle {
    pub(crate) fn new(total: u64, rng: ChaCha8Rng) -> Self {
        Self { rng, moved: BTreeMap::new(), drawn: 0, total }
    }
}

impl Iterator for Shuffle {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.drawn == self.total {
            return None;
        }
        let chosen = self.rng.random_range(self.drawn..self.total);
        let front = self.moved.remove(&self.drawn).unwrap_or(self.drawn);
        self.drawn += 1;
        if chosen + 1 == self.drawn {
            return Some(front);
        }
        Some(self.moved.insert(chosen, front).unwrap_or(chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_gives_every_number_once() {
        for total in [0, 1, 2, 100] {
            let mut numbers: Vec<_> = Shuffle::new(total, stream(3, "test", 0)).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..total).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_order_of_three_is_as_likely() {
        let mut counts = BTreeMap::new();
        for number in 0..6000 {
            *counts.entry(Shuffle::new(3, stream(0, "test", number)).collect::<Vec<_>>()).or_insert(0) += 1;
        }
        // Six orders, 1000 expected each; five standard deviations are about 145.
        assert_eq!(counts.len(), 6);
        assert!(counts.into_values().all(|count: i32| (count - 1000).abs() < 145));
    }

    #[test]
    fn positions_are_numbered_through_all_pictures() {
        let image = |width, height| GrayImage::from_fn(Size { width, height }, |_, _| 0.0).unwrap();
        let places = Places::new(&[image(4, 3), image(2, 9), image(3, 3), image(1, 1)], 3);
        assert_eq!(places.total, 3);
        assert_eq!(
            (0..3).map(|index| places.locate(index)).collect::<Vec<_>>(),
            [(0, (0, 0)), (0, (0, 1)), (2, (0, 0))]
        );
    }

    #[test]
    fn a_patch_that_keeps_its_mean_is_the_picture_as_it_is() {
        let picture = GrayImage::new(Size { width: 2, height: 2 }, vec![100.0, 110.0, 120.0, 130.0]).unwrap();
        let draw = TrainingPatches { side: 2, count: 1, remove_mean: false, ..TrainingPatches::default() };
        assert_eq!(draw.draw::<f64>(std::slice::from_ref(&picture)).unwrap().as_slice(), picture.samples());
        let scaled = TrainingPatches { unit_norm: true, ..draw }.draw::<f64>(&[picture]).unwrap();
        let energy: f64 = scaled.as_slice().iter().map(|value| value * value).sum();
        assert!((energy - 1.0).abs() < 1e-12 && scaled.as_slice().iter().all(|&value| value > 0.0));
    }
}
