//! Combines twenty weak models by the four kinds of weights of the paper's Fig. 1, and checks their bound.
//!
//! Run with `cargo run --release --example oracle_weights`.

use sparsemble::coding::Lasso;
use sparsemble::dictionary::Examples;
use sparsemble::ensemble::{Averaging, WeightConstraint};
use sparsemble::image::{GrayImage, Size, WHITE};
use sparsemble::patch::TrainingPatches;
use sparsemble::{Result, Run};

fn main() -> Result<()> {
    // D_1 … D_20: random examples of the patches of one picture, with equal weights to begin with (RandExAv).
    let draw = TrainingPatches { side: 8, count: 4000, ..TrainingPatches::default() };
    let training = draw.draw::<f64>(&[ripples(0.0)?])?;
    let learner = Examples { n_atoms: 64 };
    let ensemble = Averaging::new(&learner).fit(training.view(), Run::default())?;

    // X: patches of another picture, and their codes in every model at once.
    let test = TrainingPatches { side: 8, count: 200, seed: 99, ..TrainingPatches::default() };
    let samples = test.draw::<f64>(&[ripples(20.5)?])?;
    let coder = Lasso::lambda(0.02 * WHITE);
    let cases = WeightConstraint::ALL;
    let weights = ensemble.oracle_weights(samples.view(), samples.view(), &cases, &coder, Run::default())?;

    let best: f64 = weights[0].certificates.iter().map(|certificate| certificate.best_member.powi(2)).sum();
    show(&format!("best single member  {:8.2}", best / 200.0));
    for case in &weights {
        let held = case.certificates.iter().filter(|certificate| certificate.holds()).count();
        let error = case.mean_squared_residual();
        show(&format!(
            "{:<19} {error:8.2}  no worse than the best member for {held} of 200",
            format!("{:?}", case.constraint)
        ));
    }

    // One set of weights for all, as one has to use when the samples are not known.
    let gram = ensemble.member_gram(samples.view(), samples.view(), None, &coder, Run::default())?;
    let shared = gram.weights(WeightConstraint::Affine);
    show(&format!("shared, sum one     {:8.2}", shared.certificate.residual.powi(2)));
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
