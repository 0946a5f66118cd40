//! The product `DᵀX` in blocks of samples, by each library on the same memory.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar, ShapeBuilder};

/// Samples in one product: the block of the NumPy contender, small enough for the product to stay in cache.
const BLOCK: usize = 512;

/// Who multiplies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Library {
    /// By its own kernels.
    Faer,
    /// Through ndarray.
    Matrixmultiply,
}

/// M, K and T.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) features: usize,
    pub(crate) atoms: usize,
    pub(crate) samples: usize,
}

/// D (M × K), X (M × T) and room for one K × block product, all column-major.
pub(crate) struct Product<T> {
    shape: Shape,
    dictionary: Vec<T>,
    samples: Vec<T>,
    block: Vec<T>,
}

impl<T: ComplexField + LinalgScalar + From<f32>> Product<T> {
    /// Fills D and X with values in [−1, 1): the time of a product does not depend on them.
    pub(crate) fn new(shape: Shape) -> Self {
        let mut state = 1_u64;
        let mut values = |count| (0..count).map(|_| T::from(next_value(&mut state))).collect();
        Self {
            shape,
            dictionary: values(shape.features * shape.atoms),
            samples: values(shape.features * shape.samples),
            block: vec![T::from(0.0); shape.atoms * BLOCK],
        }
    }

    /// Seconds for one pass over all samples.
    pub(crate) fn time(&mut self, library: Library) -> Result<f64> {
        self.multiply(library, 0)?; // the first product detects the instruction set
        let start = Instant::now();
        for first in (0..self.shape.samples).step_by(BLOCK) {
            self.multiply(library, first)?;
            black_box(&mut self.block);
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// The product of D with the block of samples that begins at `first`.
    fn multiply(&mut self, library: Library, first: usize) -> Result<()> {
        let Shape { features, atoms, samples } = self.shape;
        let count = BLOCK.min(samples - first);
        let samples = &self.samples[first * features..(first + count) * features];
        let block = &mut self.block[..atoms * count];
        match library {
            Library::Faer => {
                let dictionary = MatRef::from_column_major_slice(&self.dictionary, features, atoms);
                let samples = MatRef::from_column_major_slice(samples, features, count);
                let block = MatMut::from_column_major_slice_mut(block, atoms, count);
                matmul(block, Accum::Replace, dictionary.transpose(), samples, T::from(1.0), Par::Seq);
            }
            Library::Matrixmultiply => {
                let dictionary = ArrayView2::from_shape((features, atoms).f(), &self.dictionary)?;
                let samples = ArrayView2::from_shape((features, count).f(), samples)?;
                let mut block = ArrayViewMut2::from_shape((atoms, count).f(), block)?;
                general_mat_mul(T::from(1.0), &dictionary.t(), &samples, T::from(0.0), &mut block);
            }
        }
        Ok(())
    }
}

/// The next value of a 64-bit linear congruential sequence, from its upper bits.
fn next_value(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_form_the_product_of_a_ragged_last_block() {
        let (features, atoms, samples) = (5, 7, BLOCK + 3);
        let mut product = Product::<f64>::new(Shape { features, atoms, samples });
        for library in [Library::Faer, Library::Matrixmultiply] {
            product.block.fill(0.0);
            product.multiply(library, BLOCK).unwrap();
            for (place, &found) in product.block[..atoms * 3].iter().enumerate() {
                let atom = &product.dictionary[place % atoms * features..][..features];
                let sample = &product.samples[(BLOCK + place / atoms) * features..][..features];
                let expected: f64 = atom.iter().zip(sample).map(|(d, x)| d * x).sum();
                assert!((found - expected).abs() < 1e-12, "{library:?}: {found} is not {expected}");
            }
        }
    }
}
