//! One list of coders: a new coder is a line here and stands under every common law.

use sparsemble::Scalar;
use sparsemble::coding::{Fista, Lasso, Momentum, OneSparse, Penalty, Pursuit, PursuitKind, SparseCoder};

/// A coder under the common laws.
pub(super) struct Entry<T> {
    pub(super) name: &'static str,
    pub(super) coder: Box<dyn SparseCoder<T>>,
    /// How far apart ‖D(a − b)‖ / ‖x‖ two codes a and b of the same problem may be.
    pub(super) closeness: f64,
    pub(super) nonnegative: bool,
}

/// What the data was multiplied with; the parameters follow.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub(super) atoms: f64,
    pub(super) samples: f64,
}

pub(super) const UNSCALED: Scales = Scales { atoms: 1.0, samples: 1.0 };

/// The duality gap asked of the coders that certify.
pub(super) fn tolerance<T: Scalar>() -> f64 {
    if T::EPSILON.to_f64() > 1e-10 { 1e-6 } else { 1e-10 }
}

/// All coders, with parameters of moderate size for samples of energy about 10.
pub(super) fn registry<T: Scalar>(n_atoms: usize, scales: Scales) -> Vec<Entry<T>> {
    let mut coders = certifying(n_atoms, scales);
    coders.extend(greedy(n_atoms, scales));
    coders
}

/// Two certified codes are each within √gap of the one optimal approximation.
fn certifying<T: Scalar>(n_atoms: usize, scales: Scales) -> Vec<Entry<T>> {
    let closeness = 3.0 * tolerance::<T>().sqrt();
    let lambda = 2.0 * scales.atoms * scales.samples;
    let lasso = |penalty| Lasso { tolerance: tolerance::<T>(), ..Lasso::new(penalty) };
    let plain = lasso(Penalty::Lambda(lambda));
    let weights = (0..n_atoms).map(|j| 0.5 + (j % 4) as f64).collect();
    let fista = Fista { tolerance: tolerance::<T>(), max_iterations: 20_000, ..Fista::lambda(lambda) };
    let entry = |name, coder| Entry { name, coder, closeness, nonnegative: false };
    let nonnegative = |name, coder| Entry { name, coder, closeness, nonnegative: true };
    vec![
        entry("lasso", Box::new(plain.clone())),
        nonnegative("lasso, non-negative", Box::new(Lasso { nonnegative: true, ..plain.clone() })),
        entry("lasso, weighted", Box::new(Lasso { atom_weights: Some(weights), ..plain })),
        entry("lasso, relative", Box::new(lasso(Penalty::Relative(0.3)))),
        entry("lasso, by error", Box::new(lasso(Penalty::Error(4.0 * scales.samples.powi(2))))),
        entry("lasso, by norm", Box::new(lasso(Penalty::L1Norm(1.5 * scales.samples / scales.atoms)))),
        entry("fista", Box::new(fista.clone())),
        nonnegative("fista, non-negative", Box::new(Fista { nonnegative: true, ..fista.clone() })),
        Entry {
            closeness: 0.03,
            ..entry("ista", Box::new(Fista { momentum: Momentum::None, tolerance: 1e-4, ..fista }))
        },
    ]
}

fn greedy<T: Scalar>(n_atoms: usize, scales: Scales) -> Vec<Entry<T>> {
    let closeness = 1e4 * T::EPSILON.to_f64();
    let by_count = |kind| Pursuit { kind, sparsity: Some(4), error: None, gain: None };
    let by_error = |kind| Pursuit { kind, sparsity: None, error: Some(4.0 * scales.samples.powi(2)), gain: None };
    let by_gain = |kind| Pursuit { kind, sparsity: None, error: None, gain: Some(0.3 * scales.samples.powi(2)) };
    let best = OneSparse { atoms: n_atoms.min(3), nonnegative: false };
    let entry = |name, coder| Entry { name, coder, closeness, nonnegative: false };
    vec![
        entry("mp", Box::new(by_count(PursuitKind::Matching))),
        entry("omp", Box::new(by_count(PursuitKind::Orthogonal))),
        entry("ormp", Box::new(by_count(PursuitKind::OrderRecursive))),
        entry("mp by error", Box::new(by_error(PursuitKind::Matching))),
        entry("omp by error", Box::new(by_error(PursuitKind::Orthogonal))),
        entry("ormp by error", Box::new(by_error(PursuitKind::OrderRecursive))),
        entry("omp by gain", Box::new(by_gain(PursuitKind::Orthogonal))),
        entry("ormp by gain", Box::new(by_gain(PursuitKind::OrderRecursive))),
        entry("1-sparse", Box::new(OneSparse { atoms: 1, nonnegative: false })),
        entry("3 best single atoms", Box::new(best)),
        Entry {
            nonnegative: true,
            ..entry("1-sparse, non-negative", Box::new(OneSparse { nonnegative: true, atoms: 1 }))
        },
    ]
}
