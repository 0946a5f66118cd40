//! Codes the patches of a picture in patches of another one and puts the picture together again.
//!
//! Run with `cargo run --release --example sparse_code`.

use sparsemble::coding::{CodingBasis, Lasso, Samples, SparseCoder};
use sparsemble::image::{BitDepth, GrayImage, Size, WHITE};
use sparsemble::metrics::psnr;
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches, add_means, remove_means};
use sparsemble::{Result, Run};

fn main() -> Result<()> {
    // D: 256 patches of one picture, mean removed, unit norm.
    let draw = TrainingPatches { side: 8, count: 256, unit_norm: true, ..TrainingPatches::default() };
    let dictionary = draw.draw::<f32>(&[ripples(0.0)?])?;

    // X: the overlapping patches of another.
    let image = ripples(20.5)?;
    let grid = PatchGrid::new(image.size(), 8, Stride::Every(4))?;
    let mut patches = grid.extract::<f32>(&image)?;
    let means = remove_means(&mut patches);

    // A: min ‖x − Da‖² + λ‖a‖₁ for every patch, with λ = 0.02 on a scale where white is 1.
    let basis = CodingBasis::new(dictionary.view())?;
    let coding = Lasso::lambda(0.02 * WHITE).encode(&basis, &Samples::new(patches.view()), Run::default())?;

    // DA, as a picture.
    let mut approximations = coding.codes.approximate(dictionary.view())?;
    add_means(&mut approximations, &means)?;
    let rebuilt = grid.assemble(approximations.view())?.quantised(BitDepth::Eight);

    let atoms = coding.codes.n_nonzero() as f64 / grid.n_patches() as f64;
    show(&format!("{:.1} dB with {atoms:.1} of 256 atoms a patch", psnr(&image, &rebuilt)?));
    Ok(())
}

/// Rings around a point and fine stripes across.
fn ripples(shift: f64) -> Result<GrayImage> {
    GrayImage::from_fn(Size { width: 128, height: 96 }, |row, column| {
        let (y, x) = (row as f64 - shift, column as f64 - 2.0 * shift);
        128.0 + 70.0 * (0.35 * x.hypot(y)).sin() + 25.0 * (0.9 * x + 0.4 * y).cos()
    })
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn show(line: &str) {
    println!("{line}");
}
