//! The coders that are compared.

use sparsemble::coding::{Lasso, OneSparse, Pursuit, PursuitKind, SparseCoder};
use sparsemble::image::WHITE;

/// The number of dictionaries of the ensemble: L.
pub(super) const N_MODELS: usize = 10;

/// A coder and the name it goes by; with more than one dictionary their approximations are averaged.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// The name in file names.
    pub(super) slug: &'static str,
    pub(super) n_dictionaries: usize,
    pub(super) coder: Box<dyn SparseCoder<f32>>,
}

pub(super) fn all() -> Vec<Contender> {
    vec![
        single("1-sparse", "one-sparse", OneSparse::default()),
        single("OMP, 5 atoms", "omp-5", pursuit(PursuitKind::Orthogonal, 5)),
        single("OMP, 10 atoms", "omp-10", pursuit(PursuitKind::Orthogonal, 10)),
        single("ORMP, 10 atoms", "ormp-10", pursuit(PursuitKind::OrderRecursive, 10)),
        single("lasso, λ = 0.1", "lasso-0.1", lasso(0.1)),
        single("lasso, λ = 0.04", "lasso-0.04", lasso(0.04)),
        // The paper's RandExAv: dictionaries of random examples, each coding on its own, all weights 1/L.
        Contender {
            name: "RandExAv, 10 × 1-sparse",
            slug: "rand-ex-av",
            n_dictionaries: N_MODELS,
            coder: Box::new(OneSparse::default()),
        },
    ]
}

fn single(name: &'static str, slug: &'static str, coder: impl SparseCoder<f32> + 'static) -> Contender {
    Contender { name, slug, n_dictionaries: 1, coder: Box::new(coder) }
}

fn pursuit(kind: PursuitKind, sparsity: usize) -> Pursuit {
    Pursuit { kind, sparsity: Some(sparsity), error: None }
}

/// The paper's λ is for intensities in [0, 1]; our pictures have white at 255.
fn lasso(lambda: f64) -> Lasso {
    Lasso::lambda(lambda * WHITE)
}
