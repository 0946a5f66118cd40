//! Enlarges a photograph twice by the model that comes with the library, beside bicubic interpolation.
//!
//! Run with `cargo run --release -p sparsemble --features io --example super_resolution`.

use sparsemble::image::{Interpolation, decode, rescale};
use sparsemble::metrics::psnr;
use sparsemble::restoration::super_resolution::natural_upscaler;
use sparsemble::{Result, Run};

fn main() -> Result<()> {
    // The truth, and half of it in each direction.
    let truth = decode(include_bytes!("../../../data/cc0/camera.png"))?;
    let small = rescale(&truth, 0.5, Interpolation::Bicubic, Run::default())?;

    let by_interpolation = rescale(&small, 2.0, Interpolation::Bicubic, Run::default())?;
    let by_model = natural_upscaler(2)?.enlarge(&small, Run::default())?;

    show(&format!("bicubic   {:.2} dB", psnr(&truth, &by_interpolation)?));
    show(&format!("upscaler  {:.2} dB", psnr(&truth, &by_model.image)?));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn show(line: &str) {
    println!("{line}");
}
