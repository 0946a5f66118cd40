//! Work whose multiply-adds are counted, beside matrix products on as many threads.

use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::learning::peak_megabytes;
use crate::options::Options;
use crate::product::{Library, Product, Shape};

/// The product that is formed beside: about half a second of one core.
const BESIDE: Shape = Shape { features: 64, atoms: 1024, samples: 400_000 };

/// The work, which tells its multiply-adds, and the product in turn; the best of each.
pub(crate) fn race(options: &Options<'_>, mut work: impl FnMut(usize) -> Result<u64>) -> Result<Value> {
    let (threads, repetitions) = (options.parsed("threads")?, options.parsed::<usize>("repetitions")?);
    let (mut seconds, mut product, mut peak, mut counted) = (f64::INFINITY, f64::INFINITY, Value::Null, 0);
    for repetition in 0..repetitions {
        let start = Instant::now();
        counted = work(threads)?;
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
