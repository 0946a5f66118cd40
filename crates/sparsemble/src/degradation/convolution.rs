//! Convolution of a picture with a kernel, its border mirrored, and the exact adjoint of that.
//!
//! Both are sums of shifted rows: the rows are made longer by what they mirror on the left and on the right, and rows
//! above and below the picture are rows of the picture.

use crate::image::Size;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::add_multiple;
use super::cosines::Cosines;

/// A kernel with odd sides.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Convolution {
    width: usize,
    /// Row by row, turned by half a turn, so that the shifts go with the entries.
    taps: Vec<f64>,
}

impl Convolution {
    pub(super) fn new(kernel: MatrixView<'_, f64>) -> Self {
        let (rows, columns) = (kernel.rows(), kernel.columns());
        let taps = (0..rows).rev().flat_map(|r| (0..columns).rev().map(move |c| kernel.get(r, c))).collect();
        Self { width: columns, taps }
    }

    /// Σ t² / (Σ |t|)²: one if there is a single tap, the less the more of them share the weight.
    pub(super) fn concentration(&self) -> f64 {
        let (energy, weight) = self.taps.iter().fold((0.0, 0.0), |(e, w), tap| (e + tap * tap, w + tap.abs()));
        energy / (weight * weight).max(f64::MIN_POSITIVE)
    }

    /// How many rows and how many columns away it looks.
    pub(super) fn reach(&self) -> [usize; 2] {
        [self.taps.len() / self.width / 2, self.width / 2]
    }

    /// Convolves a picture with rows of this width.
    pub(super) fn apply<T: Scalar>(&self, width: usize, picture: &mut [T]) {
        let longer = self.lengthened(width, picture);
        let stride = width + self.width - 1;
        picture.fill(T::ZERO);
        for (row, out) in picture.chunks_exact_mut(width).enumerate() {
            self.shifts(row, longer.len() / stride, |from, shift, tap| {
                add_multiple(T::from_f64(tap), &longer[from * stride + shift..][..width], out);
            });
        }
    }

    /// Undoes nothing, but gives every value back to where [`apply`](Self::apply) took it from.
    pub(super) fn adjoint<T: Scalar>(&self, width: usize, picture: &mut [T]) {
        let stride = width + self.width - 1;
        let height = picture.len() / width;
        let mut longer = vec![T::ZERO; stride * height];
        for (row, given) in picture.chunks_exact(width).enumerate() {
            self.shifts(row, height, |to, shift, tap| {
                add_multiple(T::from_f64(tap), given, &mut longer[to * stride + shift..][..width]);
            });
        }
        let reach = self.width / 2;
        for (row, longer) in picture.chunks_exact_mut(width).zip(longer.chunks_exact(stride)) {
            row.copy_from_slice(&longer[reach..reach + width]);
            for place in (0..reach).chain(reach + width..stride) {
                row[mirrored(place as isize - reach as isize, width)] += longer[place];
            }
        }
    }

    /// Whether it is the same seen in a mirror, from the left and from above.
    pub(super) fn is_even(&self) -> bool {
        let rows = || self.taps.chunks_exact(self.width);
        rows().all(|row| row.iter().eq(row.iter().rev())) && rows().eq(rows().rev())
    }

    /// What it multiplies each frequency of the cosine transform by, if it is even; those of the first row go across.
    pub(super) fn spectrum(&self, size: Size) -> Vec<f64> {
        let [across, down] = [size.width, size.height].map(Cosines::new);
        let sums = |taps: &[f64], column: usize| -> f64 {
            taps.iter().enumerate().map(|(i, tap)| tap * across.at(column * i.abs_diff(self.width / 2))).sum()
        };
        let sums: Vec<Vec<f64>> = self
            .taps
            .chunks_exact(self.width)
            .map(|taps| (0..size.width).map(|column| sums(taps, column)).collect())
            .collect();
        let mut spectrum = vec![0.0; size.width * size.height];
        for (row, spectrum) in spectrum.chunks_exact_mut(size.width).enumerate() {
            for (i, sums) in sums.iter().enumerate() {
                add_multiple(down.at(row * i.abs_diff(self.taps.len() / self.width / 2)), sums, spectrum);
            }
        }
        spectrum
    }

    /// Tells which row of the lengthened picture goes, shifted by how many pixels, into a row of the convolved one.
    #[inline(always)]
    fn shifts(&self, row: usize, height: usize, mut tell: impl FnMut(usize, usize, f64)) {
        let reach = (self.taps.len() / self.width / 2) as isize;
        for (r, taps) in self.taps.chunks_exact(self.width).enumerate() {
            let other = mirrored(row as isize + r as isize - reach, height);
            taps.iter().enumerate().for_each(|(shift, &tap)| tell(other, shift, tap));
        }
    }

    /// The rows of a picture with what lies beyond their ends, as far as the kernel reaches.
    fn lengthened<T: Scalar>(&self, width: usize, picture: &[T]) -> Vec<T> {
        let reach = (self.width / 2) as isize;
        let mut longer = Vec::with_capacity(picture.len() / width * (width + self.width - 1));
        for row in picture.chunks_exact(width) {
            longer.extend((-reach..0).map(|place| row[mirrored(place, width)]));
            longer.extend_from_slice(row);
            longer.extend((0..reach).map(|place| row[mirrored(width as isize + place, width)]));
        }
        longer
    }
}

/// Where in a row of this length the pixel at a place beyond its ends comes from: … 1 0 | 0 1 2 | 2 1 0 | 0 1 ….
fn mirrored(place: isize, length: usize) -> usize {
    let place = place.rem_euclid(2 * length as isize) as usize;
    if place < length { place } else { 2 * length - 1 - place }
}
