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

use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::coding::OneSparse;
use sparsemble::dictionary::Examples;
use sparsemble::ensemble::Averaging;
use sparsemble::image::{GrayImage, Size};
use sparsemble::restoration::super_resolution::{ByDictionary, Enlarge, TrainingPairs, natural_upscaler};

use crate::learning::peak_megabytes;
use crate::options::Options;
use crate::product::{Library, Product, Shape};

const SCALE: usize = 2;

/// The product that is formed beside: about half a second of one core.
const BESIDE: Shape = Shape { features: 64, atoms: 1024, samples: 400_000 };

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
            race(&upscaler, &picture, counted, &options)
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
            race(&ByDictionary::new(&model, &OneSparse::default()), &picture, counted, &options)
        }
        other => bail!("the method is anchored or rand-ex-av, not {other}"),
    }
}

/// The method and the product in turn; the best of each.
fn race(enlarger: &dyn Enlarge, picture: &GrayImage, counted: usize, options: &Options<'_>) -> Result<Value> {
    let (threads, repetitions) = (options.parsed("threads")?, options.parsed::<usize>("repetitions")?);
    let (mut seconds, mut product, mut peak) = (f64::INFINITY, f64::INFINITY, Value::Null);
    for repetition in 0..repetitions {
        let start = Instant::now();
        enlarger.enlarge(picture, Run::threads(threads))?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        if repetition == 0 {
            peak = peak_megabytes()?;
        }
        product = product.min(products(threads)?);
    }
    let beside = threads * BESIDE.features * BESIDE.atoms * BESIDE.samples;
    let rate = beside as f64 / product;
    Ok(json!({ "seconds": seconds, "multiply_adds": counted, "gemm_per_second": rate, "peak_mb": peak }))
}

/// Seconds for one product on each thread, all at once.
fn products(threads: usize) -> Result<f64> {
    std::thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| Product::<f32>::new(BESIDE).time(Library::Faer));
        let running: Vec<_> = (0..threads).map(spawn).collect();
        let mut slowest = 0.0_f64;
        for thread in running {
            match thread.join() {
                Ok(seconds) => slowest = slowest.max(seconds?),
                Err(_) => bail!("a product has failed"),
            }
        }
        Ok(slowest)
    })
}
