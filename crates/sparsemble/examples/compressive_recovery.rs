//! Recovers a photograph from a quarter of its numbers, block by block, with examples of another photograph.
//!
//! Run with `cargo run --release -p sparsemble --features io --example compressive_recovery`.

use sparsemble::coding::Lasso;
use sparsemble::degradation::Projection;
use sparsemble::dictionary::Examples;
use sparsemble::ensemble::Averaging;
use sparsemble::image::{WHITE, decode};
use sparsemble::metrics::psnr;
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches};
use sparsemble::restoration::{Blockwise, Dc, measure};
use sparsemble::{Model, Result, Run};

fn main() -> Result<()> {
    // D_1 … D_20: random examples of the patches of one photograph (RandExAv).
    let other = decode(include_bytes!("../../../data/cc0/chelsea.png"))?;
    let training = TrainingPatches { side: 8, count: 10_000, ..TrainingPatches::default() }.draw::<f32>(&[other])?;
    let learner = Examples { n_atoms: 128 };
    let ensemble = Averaging::new(&learner).fit(training.view(), Run::default())?;

    // Y, the blocks of another photograph, of which only Z = ΦY is kept: 16 numbers of 64, Eq. (14).
    let image = decode(include_bytes!("../../../data/cc0/camera.png"))?;
    let grid = PatchGrid::new(image.size(), 8, Stride::NonOverlapping)?;
    let patches = grid.extract::<f32>(&image)?;
    let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>()?.matrix(grid.n_features())?;
    let measurements = measure(&phi, patches.view())?;

    // Codes in every ΦD_l and the average of what they stand for, Eqs. (15) and (4).
    let blockwise = Blockwise { coder: &Lasso::lambda(0.02 * WHITE), dc: Dc::Free, noise: 0.0 };
    let blocks = blockwise.recover(&Model::Ensemble(ensemble), &phi, measurements.view(), Run::default())?;
    let recovered = grid.assemble(blocks.values.view())?;
    show(&format!("{} blocks, {:.2} dB", grid.n_patches(), psnr(&image, &recovered)?));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn show(line: &str) {
    println!("{line}");
}
