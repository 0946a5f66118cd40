//! The similarities of samples as spectral clustering wants them: formed as a graph, or left as the codes they come from.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::graph::{Affinity, BuiltGraph, CodeAffinity, GraphKind, StackedCodes};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// A graph of stacked codes is formed if a code shares each of its atoms with no more than this many others on average;
/// beyond that a product with the codes is faster than one with the graph.
const MOST_SHARED: usize = 32;

/// A graph of stacked codes that might have more entries than this is not formed: they would take 2 GB.
const MOST_ENTRIES: usize = 1 << 28;

/// Whether the product AᵀA of stacked codes is formed. As text: `auto`, `explicit` or `implicit`.
///
/// Other graphs than those of stacked codes are always formed, and so are products of codes with negative entries, whose
/// similarities are magnitudes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphForm {
    /// Where products with it are faster than with the codes and it fits into 2 GB.
    #[default]
    Automatic,
    /// Always.
    Explicit,
    /// Never; an error where it must be.
    Implicit,
}

/// Samples that are coded: a graph, or what one can be made of.
#[derive(Debug, Clone)]
pub enum Coded {
    /// The graph.
    Graph(BuiltGraph),
    /// The stacked codes of members, whose product is the graph.
    Stacked(StackedCodes),
}

/// The similarities of samples, in either form.
#[derive(Debug, Clone)]
pub enum Similarity {
    /// A graph.
    Explicit(BuiltGraph),
    /// Codes that are not negative, whose product is the graph.
    Implicit(CodeAffinity),
}

impl Coded {
    /// Codes samples as the graph of this kind wants it: the stage that takes most of the time. Masses, if given, say how
    /// many equal samples each stands for; two samples then are as similar as all they stand for together.
    ///
    /// # Errors
    /// Those of the graph; if there is not one mass for each sample, none negative, with a positive sum.
    pub fn of<T: Scalar>(
        kind: &GraphKind,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        seed: u64,
        run: Run<'_>,
    ) -> Result<Self> {
        if let GraphKind::Members(members) = kind {
            return members.codes(samples, masses, seed, run).map(Self::Stacked);
        }
        let built = kind.build(samples, seed, run)?;
        Ok(Self::Graph(match masses {
            Some(masses) => BuiltGraph::new(built.graph.weighted(masses)?, built.report.unconverged),
            None => built,
        }))
    }

    /// Forms the graph, if it is to be formed and is not there already.
    ///
    /// # Errors
    /// If it must be formed and must not, or does not fit into memory; if the run was interrupted.
    pub fn similarity(self, form: GraphForm, run: Run<'_>) -> Result<Similarity> {
        let codes = match self {
            Self::Graph(_) if form == GraphForm::Implicit => {
                let reason = "only graphs of stacked codes (ensemble, boost-km:nonnegative) need not be formed";
                return Err(Error::parameter("form", form, reason));
            }
            Self::Graph(built) => return Ok(Similarity::Explicit(built)),
            Self::Stacked(codes) => codes,
        };
        let explicit = match form {
            GraphForm::Explicit => true,
            GraphForm::Automatic => !codes.is_nonnegative() || is_worth_forming(&codes),
            GraphForm::Implicit => false,
        };
        if explicit {
            return Ok(Similarity::Explicit(BuiltGraph::new(codes.graph(run)?, 0)));
        }
        Ok(Similarity::Implicit(CodeAffinity::new(&codes.into_codes())?))
    }
}

fn is_worth_forming(codes: &StackedCodes) -> bool {
    let entries = codes.n_samples().saturating_mul(codes.n_members());
    codes.products() <= entries.saturating_mul(MOST_SHARED).min(MOST_ENTRIES)
}

impl Similarity {
    /// What spectral clustering works with.
    pub fn affinity(&self) -> &dyn Affinity {
        match self {
            Self::Explicit(built) => &built.graph,
            Self::Implicit(codes) => codes,
        }
    }

    /// The graph, if it was formed.
    pub fn graph(&self) -> Option<&BuiltGraph> {
        match self {
            Self::Explicit(built) => Some(built),
            Self::Implicit(_) => None,
        }
    }
}

impl Display for GraphForm {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Automatic => "auto",
            Self::Explicit => "explicit",
            Self::Implicit => "implicit",
        })
    }
}

impl FromStr for GraphForm {
    type Err = Error;

    /// # Errors
    /// If the text is none of these.
    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::Automatic, Self::Explicit, Self::Implicit];
        let known = all.into_iter().find(|form| form.to_string() == text);
        known.ok_or_else(|| Error::parameter("form", text, "is not known; write auto, explicit or implicit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{AtomCount, MemberGraph};
    use crate::matrix::Matrix;

    #[test]
    fn a_graph_is_formed_where_atoms_are_shared_by_few() {
        let samples = Matrix::from_fn(5, 400, |r, i| ((r * 37 + i * 11) as f64 * 0.7).sin());
        let similarity = |n_atoms: usize, nonnegative: bool, form: GraphForm| {
            let atoms = AtomCount::Exactly(n_atoms);
            let kind = GraphKind::Members(MemberGraph { n_members: 3, atoms, nonnegative, ..MemberGraph::default() });
            Coded::of(&kind, samples.view(), None, 1, Run::threads(1)).unwrap().similarity(form, Run::threads(1))
        };
        let is_formed = |n_atoms, nonnegative, form| similarity(n_atoms, nonnegative, form).unwrap().graph().is_some();
        assert!(is_formed(50, true, GraphForm::Automatic) && !is_formed(2, true, GraphForm::Automatic));
        assert!(is_formed(2, false, GraphForm::Automatic) && is_formed(2, true, GraphForm::Explicit));
        assert!(!is_formed(50, true, GraphForm::Implicit) && similarity(50, false, GraphForm::Implicit).is_err());
    }

    #[test]
    fn both_forms_have_the_same_degrees() {
        let samples = Matrix::from_fn(5, 300, |r, i| ((r * 37 + i * 11) as f64 * 0.7).sin());
        let coded = Coded::of(&GraphKind::default(), samples.view(), None, 1, Run::threads(1)).unwrap();
        let degrees = |form| coded.clone().similarity(form, Run::threads(1)).unwrap().affinity().degrees();
        let pairs = degrees(GraphForm::Explicit).into_iter().zip(degrees(GraphForm::Implicit));
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-4 * a, "{a} and {b}"));
    }
}
