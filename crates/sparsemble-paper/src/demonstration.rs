//! The patches of §II-B and §III-C, and the settings of what is done with them: shared by Figs. 1, 2 and 3.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use sparsemble::Matrix;
use sparsemble::coding::Lasso;
use sparsemble::dictionary::{Centers, Examples};
use sparsemble::image::{GrayImage, WHITE};
use sparsemble::patch::TrainingPatches;

use crate::printed;

/// Everything that the numbers depend on but the pictures and K.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// √M, the side of a patch in pixels.
    pub patch_side: usize,
    /// The training patches that are drawn; those that are nearly flat are then taken out.
    pub drawn_training_patches: usize,
    /// A training patch stays if its variance (divisor M − 1, in squared grey levels from 0 to 255) is above this.
    pub min_variance: f64,
    /// The test patches; none is taken out but those with all pixels alike.
    pub test_patches: usize,
    /// The intensity of white; that of black is 0.
    pub white: f64,
    /// L.
    pub n_models: usize,
    /// λ of Eq. (1), in training and in testing.
    pub lambda: f64,
    /// q/K of K-Means‖: how many samples a pass draws for each atom.
    pub oversampling: f64,
    /// s of K-Means‖: how many passes.
    pub passes: usize,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Settings {
    /// Those of the paper and, where it says nothing, ours.
    pub fn paper(seed: u64) -> Self {
        let centers = Centers::new(0);
        Self {
            patch_side: printed::PATCH_SIDE,
            drawn_training_patches: printed::TRAINING_PATCHES,
            min_variance: TrainingPatches::default().min_variance,
            test_patches: printed::TEST_PATCHES,
            white: 1.0,
            n_models: printed::N_MODELS,
            lambda: printed::LAMBDA,
            oversampling: centers.oversampling,
            passes: centers.rounds,
            seed,
        }
    }

    /// A fortieth of the work: to see that everything is in place, and how long the whole will take.
    pub fn quick(seed: u64) -> Self {
        Self { drawn_training_patches: 10_000, test_patches: 200, n_models: 5, ..Self::paper(seed) }
    }

    pub(crate) fn coder(&self) -> Lasso {
        Lasso::lambda(self.lambda)
    }

    pub(crate) fn examples(n_atoms: usize) -> Examples {
        Examples { n_atoms }
    }

    pub(crate) fn centers(&self, n_atoms: usize) -> Centers {
        Centers { oversampling: self.oversampling, rounds: self.passes, ..Centers::new(n_atoms) }
    }
}

/// The training and the test patches, means removed.
#[derive(Debug)]
pub struct Demonstration {
    /// How the patches were drawn and what is done with them.
    pub settings: Settings,
    /// X, M × T.
    pub training: Matrix<f32>,
    /// What the ensembles are tested on.
    pub test: Matrix<f32>,
}

impl Demonstration {
    /// Draws the patches.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have too few patches.
    ///
    /// Paper: §II-B.
    pub fn prepare(settings: Settings, training: &[GrayImage], test: &[GrayImage]) -> Result<Self> {
        let draw = |count, seed| TrainingPatches {
            side: settings.patch_side,
            count,
            remove_mean: true,
            min_variance: 0.0,
            unit_norm: false,
            seed,
        };
        let drawn = draw(settings.drawn_training_patches, settings.seed).draw(training)?;
        // Other pictures, and another order in them.
        let test = draw(settings.test_patches, settings.seed.wrapping_add(1)).draw(test)?;
        let training = with_variance(&drawn, settings.min_variance)?;
        let [training, test] = [training, test].map(|patches| scaled(patches, settings.white / WHITE));
        Ok(Self { settings, training, test })
    }

    /// A number that other patches would not have: what is kept of an earlier run is good for these patches alone.
    pub fn fingerprint(&self) -> u64 {
        fingerprint_of([&self.training, &self.test])
    }
}

/// A number that other patches would not have.
pub(crate) fn fingerprint_of<const N: usize>(patches: [&Matrix<f32>; N]) -> u64 {
    let values = patches.iter().flat_map(|patches| patches.as_slice());
    fingerprint(values.flat_map(|value| value.to_bits().to_le_bytes()))
}

/// The FNV-1a hash of 64 bits: it tells apart what chance made different, and guards against nothing else.
pub(crate) fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The patches whose variance is above this.
pub(crate) fn with_variance(patches: &Matrix<f32>, min_variance: f64) -> Result<Matrix<f32>> {
    let count = patches.rows() as f64;
    let variance = |patch: &[f32]| {
        let mean = patch.iter().copied().map(f64::from).sum::<f64>() / count;
        patch.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / (count - 1.0)
    };
    let kept = (0..patches.columns()).map(|i| patches.column(i)).filter(|patch| variance(patch) > min_variance);
    let values: Vec<f32> = kept.flatten().copied().collect();
    let count = values.len() / patches.rows();
    Ok(Matrix::from_columns(values, patches.rows(), count)?)
}

pub(crate) fn scaled(mut patches: Matrix<f32>, factor: f64) -> Matrix<f32> {
    patches.as_mut_slice().iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
    patches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_flat_patches_are_taken_out() {
        // Variances 2, 0.02 and 8 with the divisor M − 1 = 1.
        let patches = Matrix::from_columns(vec![1.0, -1.0, 0.1, -0.1, 2.0, -2.0], 2, 3).unwrap();
        let kept = with_variance(&patches, 1.0).unwrap();
        assert_eq!(kept.as_slice(), [1.0, -1.0, 2.0, -2.0]);
    }

    #[test]
    fn fingerprints_differ_by_one_bit() {
        assert_eq!(fingerprint([].into_iter()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"a".iter().copied()), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(fingerprint([0].into_iter()), fingerprint([1].into_iter()));
    }
}
