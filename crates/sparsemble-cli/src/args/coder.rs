//! Which coder.

use clap::Args;
use sparsemble::coding::{Coder, OneSparse};

use crate::options::parsed;

/// How samples are coded: one of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct CoderArguments {
    /// Code by the lasso, ‖x − Da‖² + λ‖a‖₁ (no ½: scikit-learn's alpha is λ/2).
    #[arg(long, value_name = "λ", allow_negative_numbers = true)]
    lambda: Option<f64>,

    /// Code by orthogonal matching pursuit with at most this many atoms a sample.
    #[arg(long, value_name = "S")]
    sparsity: Option<usize>,

    /// Code by the best single atom.
    #[arg(long)]
    one_sparse: bool,

    /// Code by any coder of the library: lasso:relative=0.1, ormp:sparsity=5, one-sparse:atoms=3 …
    #[arg(long, value_name = "CODER", value_parser = parsed::<Coder>)]
    coder: Option<Coder>,
}

impl CoderArguments {
    /// The coder that was asked for, if any was.
    pub(crate) fn chosen(&self) -> Option<Coder> {
        let lambda = self.lambda.map(Coder::lambda);
        let pursuit = self.sparsity.map(Coder::omp);
        let one_sparse = self.one_sparse.then(|| Coder::OneSparse(OneSparse::default()));
        lambda.or(pursuit).or(one_sparse).or_else(|| self.coder.clone())
    }
}
