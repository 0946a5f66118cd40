//! Enlarging a picture twice, and matrix products on as many threads right after it, in turn.
//!
//! | method | what is timed |
//! | --- | --- |
//! | `anchored` | the model of the library |
//! | `rand-ex-av` | the paper's RandExAv, `models=` dictionaries of `atoms=` pairs drawn from the picture itself: the time does not depend on where they come from |
//!
//! Both take `samples=` (a file, `features=` pixels a row), `threads=` and `repetitions=`. The record has the best
//! seconds, the multiply-adds of the method, those of a product in a second, and the most memory the process has had
//! before the first product.

use anyhow::{Result, bail};
use serde_json::Value;
use sparsemble::Run;
use sparsemble::coding::OneSparse;
use sparsemble::dictionary::Examples;
use sparsemble::ensemble::Averaging;
use sparsemble::image::{GrayImage, Size};
use sparsemble::restoration::super_resolution::{ByDictionary, Enlarge, TrainingPairs, natural_upscaler};

use crate::options::Options;
use crate::race::race;

const SCALE: usize = 2;

/// Measures one method.
pub(crate) fn run(method: &str, arguments: &[&str]) -> Result<Value> {
    let options = Options::parse(arguments)?;
    let matrix = options.matrix("samples")?;
    let size = Size { width: matrix.rows(), height: matrix.columns() };
    let picture = GrayImage::new(size, matrix.as_slice().iter().copied().map(f64::from).collect())?;
    match method {
        "anchored" => {
            let upscaler = natural_upscaler(SCALE)?;
            let counted = upscaler.multiply_adds() * size.width * size.height;
            race(&options, |threads| enlarge(&upscaler, &picture, threads).map(|()| counted as u64))
        }
        "rand-ex-av" => {
            let examples = Examples { n_atoms: options.parsed("atoms")? };
            let averaging = Averaging { n_models: options.parsed("models")?, ..Averaging::new(&examples) };
            let pairs = TrainingPairs { min_variance: 0.0, ..TrainingPairs::default() };
            let pairs = pairs.draw::<f32>(std::slice::from_ref(&picture), Run::default())?;
            let model = pairs.layout().paired(&averaging.fit(pairs.samples().view(), Run::default())?)?;
            // A patch for each pixel of the enlarged picture but a few at its border.
            let patches = SCALE * SCALE * size.width * size.height;
            let counted = patches * pairs.layout().n_lo() * examples.n_atoms * averaging.n_models;
            let coder = OneSparse::default();
            let enlarger = ByDictionary::new(&model, &coder);
            race(&options, |threads| enlarge(&enlarger, &picture, threads).map(|()| counted as u64))
        }
        other => bail!("the method is anchored or rand-ex-av, not {other}"),
    }
}

fn enlarge(enlarger: &dyn Enlarge, picture: &GrayImage, threads: usize) -> Result<()> {
    Ok(enlarger.enlarge(picture, Run::threads(threads)).map(drop)?)
}
