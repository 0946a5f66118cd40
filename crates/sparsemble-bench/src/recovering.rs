//! Recovering a picture from a quarter of its numbers by the method `best`, and matrix products on as many threads right
//! after it, in turn.
//!
//! Takes `samples=` (a file, `features=` pixels a row), `threads=` and `repetitions=`. The record has the best seconds, the
//! multiply-adds of both priors (all else is not counted), those of a product in a second, and the most memory the
//! process has had before the first product.

use anyhow::Result;
use serde_json::Value;
use sparsemble::Run;
use sparsemble::degradation::Projection;
use sparsemble::image::{GrayImage, Size};
use sparsemble::restoration::{BlockMeasurements, BothPriors, CompressiveRecovery, PicturePrior, natural_gaussians};

use crate::options::Options;
use crate::race::race;

/// Of the 64 numbers of a block.
const PHI: &str = "orthonormal:measurements=16,seed=0";

/// Measures it.
pub(crate) fn run(arguments: &[&str]) -> Result<Value> {
    let options = Options::parse(arguments)?;
    let measurements = {
        let matrix = options.matrix("samples")?;
        let size = Size { width: matrix.rows(), height: matrix.columns() };
        let picture = GrayImage::new(size, matrix.as_slice().iter().copied().map(f64::from).collect())?;
        BlockMeasurements::sense(&picture, PHI.parse::<Projection>()?.matrix(64)?)?
    };
    let gaussians = natural_gaussians()?;
    race(&options, |threads| {
        let mut prior = Counting { prior: BothPriors::new(gaussians.clone()), multiply_adds: 0 };
        CompressiveRecovery::default().recover(&measurements, &gaussians, &mut prior, Run::threads(threads))?;
        Ok(prior.multiply_adds)
    })
}

/// The prior, and what it has multiplied.
#[derive(Debug)]
struct Counting {
    prior: BothPriors,
    multiply_adds: u64,
}

impl PicturePrior for Counting {
    fn denoise(&mut self, image: &GrayImage, sigma: f64, turn: usize, run: Run<'_>) -> sparsemble::Result<GrayImage> {
        let (found, multiply_adds) = self.prior.denoise_and_count(image, sigma, turn, run)?;
        self.multiply_adds += multiply_adds;
        Ok(found)
    }
}
