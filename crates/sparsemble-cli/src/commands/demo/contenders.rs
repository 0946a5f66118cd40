//! The models and coders that are compared.

use sparsemble::coding::{Coder, Lasso, OneSparse, Pursuit, PursuitKind};
use sparsemble::image::WHITE;
use sparsemble::recipe::{Method, Recipe};

/// The atoms of a dictionary, and the dictionaries of an ensemble.
pub(super) const N_ATOMS: usize = 256;
pub(super) const N_MODELS: usize = 10;

/// A way to train a model and to code with it, and the name it goes by.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// The name in file names.
    pub(super) slug: &'static str,
    pub(super) recipe: Recipe,
}

pub(super) fn all() -> Vec<Contender> {
    let one_sparse = || Coder::OneSparse(OneSparse::default());
    let alone = (Method::RandExAv, 1); // one dictionary of random patches
    vec![
        contender("1-sparse", "one-sparse", alone, one_sparse()),
        contender("OMP, 5 atoms", "omp-5", alone, pursuit(PursuitKind::Orthogonal, 5)),
        contender("OMP, 10 atoms", "omp-10", alone, pursuit(PursuitKind::Orthogonal, 10)),
        contender("ORMP, 10 atoms", "ormp-10", alone, pursuit(PursuitKind::OrderRecursive, 10)),
        contender("lasso, λ = 0.1", "lasso-0.1", alone, lasso(0.1)),
        contender("lasso, λ = 0.04", "lasso-0.04", alone, lasso(0.04)),
        contender("Alt-Opt, λ = 0.04", "alt-opt", (Method::AltOpt, 1), lasso(0.04)),
        contender("RandExAv, 10 × 1-sparse", "rand-ex-av", (Method::RandExAv, N_MODELS), one_sparse()),
        contender("BoostEx, 10 × 1-sparse", "boost-ex", (Method::BoostEx, N_MODELS), one_sparse()),
        contender("BoostKM, 10 × 1-sparse", "boost-km", (Method::BoostKm, N_MODELS), one_sparse()),
    ]
}

fn contender(name: &'static str, slug: &'static str, (method, n_models): (Method, usize), coder: Coder) -> Contender {
    let recipe = Recipe { n_atoms: N_ATOMS, n_models, coder, max_iterations: 5, seed: 1, ..Recipe::new(method) };
    Contender { name, slug, recipe }
}

fn pursuit(kind: PursuitKind, sparsity: usize) -> Coder {
    Coder::Pursuit(Pursuit { kind, sparsity: Some(sparsity), error: None })
}

/// The paper's λ is for intensities in [0, 1]; our pictures have white at 255.
fn lasso(lambda: f64) -> Coder {
    Coder::Lasso(Lasso::lambda(lambda * WHITE))
}
