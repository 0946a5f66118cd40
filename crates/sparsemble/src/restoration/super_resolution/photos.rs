//! Pictures to learn from: small, enlarged so far and as they should be, and pairs of what a stage sees and should make.

use crate::blocks::Run;
use crate::ensemble::Pairs;
use crate::error::{Error, Result};
use crate::image::{BitDepth, GrayImage, Interpolation, Size, rescale};
use crate::scalar::Scalar;

use super::stage::Enlarged;
use super::strip::Strip;
use super::windows::{ORIENTATIONS, Windows};

/// The least side of a small picture that is learned from.
const LEAST_SIDE: usize = 8;

/// One picture, or a smaller copy of one.
pub(super) struct Photo<T> {
    /// Which of the parts of the pictures it belongs to.
    pub(super) fold: usize,
    pub(super) low: GrayImage,
    truth: Strip<T>,
    pub(super) so_far: Option<Enlarged<T>>,
}

impl<T: Scalar> Photo<T> {
    /// The copy of a picture that is `factor` times as large, rounded to grey levels as a file would have it, and cut to
    /// what the scale divides; `None` if that is too small.
    pub(super) fn new(
        picture: &GrayImage,
        fold: usize,
        factor: f64,
        scale: usize,
        run: Run<'_>,
    ) -> Result<Option<Self>> {
        let whole = (factor - 1.0).abs() < 1e-9;
        let copy = if whole {
            picture.clone()
        } else {
            rescale(picture, factor, Interpolation::Bicubic, run)?.quantised(BitDepth::Eight)
        };
        let Size { width, height } = copy.size();
        let small = Size { width: width / scale, height: height / scale };
        if small.width.min(small.height) < LEAST_SIDE {
            return Ok(None);
        }
        let size = Size { width: small.width * scale, height: small.height * scale };
        let copy = copy.cropped((0, 0), size)?;
        let low = rescale(&copy, 1.0 / scale as f64, Interpolation::Bicubic, run)?;
        let truth = Strip::new(size, 0..size.height, scale, |row, out: &mut [T]| {
            out.iter_mut().zip(copy.row(row)).for_each(|(out, &value)| *out = T::from_f64(value));
        });
        Ok(Some(Self { fold, low, truth, so_far: None }))
    }

    fn n_pixels(&self) -> usize {
        self.low.samples().len()
    }
}

/// What a stage sees and should make of all pixels of some pictures, each pixel in some of the eight orientations.
pub(super) struct PhotoPairs<'a, T> {
    windows: Windows,
    sources: Vec<Source<'a, T>>,
    /// How many orientations each pixel is seen in, and which come after which.
    orientations: usize,
    order: [usize; ORIENTATIONS],
    places: Vec<(Vec<usize>, Vec<usize>)>,
    count: usize,
}

/// A picture to cut windows from.
struct Source<'a, T> {
    /// The number of its first pair.
    first: usize,
    photo: &'a Photo<T>,
    low: Strip<T>,
    high: Option<Strip<T>>,
}

impl<'a, T: Scalar> PhotoPairs<'a, T> {
    pub(super) fn new(
        windows: Windows,
        photos: impl Iterator<Item = &'a Photo<T>>,
        orientations: usize,
        order: [usize; ORIENTATIONS],
    ) -> Result<Self> {
        let (mut sources, mut count) = (Vec::new(), 0);
        for photo in photos {
            let size = photo.low.size();
            let low = Strip::new(size, 0..size.height, windows.low_margin(), |row, out: &mut [T]| {
                out.iter_mut().zip(photo.low.row(row)).for_each(|(out, &value)| *out = T::from_f64(value));
            });
            let enlarged =
                |so_far: &Enlarged<T>| so_far.strip(size, windows.scale, 0..size.height, windows.high_margin());
            let high = photo.so_far.as_ref().filter(|_| windows.high_side > 0).map(enlarged);
            sources.push(Source { first: count, photo, low, high });
            count += photo.n_pixels() * orientations;
        }
        if sources.is_empty() {
            return Err(Error::Empty {
                what: "pictures of a fold (at least 8 × 8 pixels when made small)",
                unit: "picture",
            });
        }
        let places = (0..ORIENTATIONS).map(|orientation| windows.places(orientation)).collect();
        Ok(Self { windows, sources, orientations, order, places, count })
    }

    /// The picture, the pixel and the orientation of a pair.
    fn find(&self, sample: usize) -> (&Source<'a, T>, (usize, usize), usize) {
        let source = &self.sources[self.sources.partition_point(|source| source.first <= sample) - 1];
        let number = sample - source.first;
        let pixel = number / self.orientations;
        let orientation = self.order[(pixel + number % self.orientations) % ORIENTATIONS];
        let width = source.photo.low.size().width;
        (source, (pixel / width, pixel % width), orientation)
    }
}

impl<T: Scalar> Pairs<T> for PhotoPairs<'_, T> {
    fn count(&self) -> usize {
        self.count
    }

    fn n_inputs(&self) -> usize {
        self.windows.n_inputs()
    }

    fn n_outputs(&self) -> usize {
        self.windows.n_outputs()
    }

    fn copy_input(&self, sample: usize, space: &mut Vec<T>, out: &mut [T]) {
        let (source, place, orientation) = self.find(sample);
        space.resize(self.n_inputs(), T::ZERO);
        self.windows.copy_input(place, &source.low, source.high.as_ref(), space);
        out.iter_mut().zip(&self.places[orientation].0).for_each(|(out, &place)| *out = space[place]);
    }

    fn copy_target(&self, sample: usize, space: &mut Vec<T>, out: &mut [T]) {
        let (source, place, orientation) = self.find(sample);
        space.resize(self.n_inputs().max(self.n_outputs()), T::ZERO);
        let mean = Windows::mean_at(place, &source.low);
        let block = &mut space[..self.n_outputs()];
        self.windows.copy_target(place, &source.photo.truth, mean, block);
        out.iter_mut().zip(&self.places[orientation].1).for_each(|(out, &place)| *out = block[place]);
    }
}
