//! A graph chosen at run time, and graphs as text.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::blocks::Run;
use crate::coding::Coder;
use crate::error::{Error, Result};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;
use crate::spec::{Spec, flag, unless, write};

use super::{
    AtomCount, BuiltGraph, DictionaryGraph, ExampleGraph, ExampleWeights, MemberGraph, MemberLearner, NeighbourGraph,
    SelfExpression,
};

/// Any way to make a graph of samples.
///
/// As text it is its name and what differs from the defaults, and is read back by [`str::parse`]:
///
/// | text | graph |
/// | --- | --- |
/// | `ensemble` | [`MemberGraph`], the recommended one; `members`, `atoms`, `samples_per_atom`, `most_atoms`, `refinements`, `sharpness`, `signed` |
/// | `boost-km` | [`MemberGraph::boost_km`]; `members`, `atoms`, `samples_per_atom`, `most_atoms`, `refinements`, `sharpness`, `nonnegative` |
/// | `rand-ex-av`, `boost-ex` | [`ExampleGraph`]; `members`, `atoms`, `samples_per_atom`, `most_atoms`, `nonnegative` |
/// | `l1` | [`SelfExpression`] by the lasso, SSC-BP; the settings of `lasso`, see [`Coder`], as in `l1:lambda=0.2` |
/// | `elastic-net` | [`SelfExpression::elastic_net`], EnSC; or the settings of the coder, as in `elastic-net:lambda=0.2,ridge=0.1` |
/// | `omp` | [`SelfExpression::omp`], SSC-OMP; or the settings of the coder, as in `omp:sparsity=5`; any other coder by its own name |
/// | `alt-opt` | [`DictionaryGraph`]; `atoms`, `samples_per_atom`, `most_atoms`, `lambda`, `max_iterations` |
/// | `neighbours` | [`NeighbourGraph`]; `count` |
///
/// ```
/// use sparsemble::graph::{GraphKind, NeighbourGraph};
///
/// let kind: GraphKind = "neighbours:count=7".parse()?;
/// assert_eq!(kind, GraphKind::Neighbours(NeighbourGraph { count: 7 }));
/// assert_eq!(GraphKind::default().to_string(), "ensemble");
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GraphKind {
    /// Stacked codes of an ensemble: the default, and BoostKM.
    Members(MemberGraph),
    /// Example dictionaries: RandExAv and BoostEx.
    Examples(ExampleGraph),
    /// Samples coded by each other: the l1 graph, EnSC, SSC-OMP.
    SelfExpression(SelfExpression),
    /// Codes in a learned dictionary.
    Dictionary(DictionaryGraph),
    /// Nearest neighbours.
    Neighbours(NeighbourGraph),
}

impl Default for GraphKind {
    fn default() -> Self {
        Self::Members(MemberGraph::default())
    }
}

impl GraphKind {
    /// Whether single precision finds the same graph as double, but for ties: where one of many atoms or samples is chosen
    /// it does, where codes are certified to a tolerance it may not.
    pub(crate) fn fits_single(&self) -> bool {
        !matches!(self, Self::SelfExpression(_) | Self::Dictionary(_))
    }

    /// Builds the graph; where nothing is drawn at random the seed does not matter.
    ///
    /// # Errors
    /// Those of the graph.
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, seed: u64, run: Run<'_>) -> Result<BuiltGraph> {
        match self {
            Self::Members(graph) => graph.build(samples, seed, run),
            Self::Examples(graph) => graph.build(samples, seed, run),
            Self::SelfExpression(graph) => graph.build(samples, run),
            Self::Dictionary(graph) => graph.build(samples, seed, run),
            Self::Neighbours(graph) => graph.build(samples, run),
        }
    }
}

impl FromStr for GraphKind {
    type Err = Error;

    /// # Errors
    /// If the text names no graph, lacks a setting or has one the graph does not know.
    fn from_str(text: &str) -> Result<Self> {
        let mut spec = Spec::parse("graph", text);
        let kind = match spec.name {
            "ensemble" => Self::Members(members(&mut spec, MemberGraph::default())?),
            "boost-km" => Self::Members(members(&mut spec, MemberGraph::boost_km())?),
            "rand-ex-av" => Self::Examples(examples(&mut spec, ExampleGraph::default())?),
            "boost-ex" => Self::Examples(examples(&mut spec, ExampleGraph::boost_ex())?),
            "l1" | "elastic-net" | "omp" | "ormp" | "mp" | "one-sparse" => {
                return Ok(Self::SelfExpression(coded(text)?));
            }
            "alt-opt" => Self::Dictionary(dictionary(&mut spec)?),
            "neighbours" => {
                let default = NeighbourGraph::default();
                Self::Neighbours(NeighbourGraph { count: spec.value("count")?.unwrap_or(default.count) })
            }
            _ => {
                return Err(spec.refuse(
                    "is not known; write ensemble, boost-km, boost-ex, rand-ex-av, l1, elastic-net, omp, alt-opt or neighbours",
                ));
            }
        };
        spec.finish()?;
        Ok(kind)
    }
}

fn members(spec: &mut Spec<'_>, default: MemberGraph) -> Result<MemberGraph> {
    let other_signs = spec.flag(if default.nonnegative { "signed" } else { "nonnegative" });
    Ok(MemberGraph {
        n_members: spec.value("members")?.unwrap_or(default.n_members),
        atoms: atoms(spec, default.atoms)?,
        refinements: spec.value("refinements")?.unwrap_or(default.refinements),
        sharpness: spec.value("sharpness")?.unwrap_or(default.sharpness),
        nonnegative: default.nonnegative != other_signs,
        ..default
    })
}

fn examples(spec: &mut Spec<'_>, default: ExampleGraph) -> Result<ExampleGraph> {
    Ok(ExampleGraph {
        n_members: spec.value("members")?.unwrap_or(default.n_members),
        atoms: atoms(spec, default.atoms)?,
        nonnegative: spec.flag("nonnegative"),
        ..default
    })
}

fn atoms(spec: &mut Spec<'_>, default: AtomCount) -> Result<AtomCount> {
    let exactly = spec.value("atoms")?.map(AtomCount::Exactly);
    let (samples, most) = (spec.value("samples_per_atom")?, spec.value("most_atoms")?);
    if exactly.is_some() && (samples.is_some() || most.is_some()) {
        return Err(spec.refuse("`atoms` is the number itself; leave samples_per_atom and most_atoms out"));
    }
    let (usual_samples, usual_most) = shares(default);
    let (samples, most) = (samples.unwrap_or(usual_samples), most.unwrap_or(usual_most));
    Ok(exactly.unwrap_or(AtomCount::OneFor { samples, most }))
}

/// Samples for an atom and the most atoms; those of ensembles where a number is given instead.
fn shares(atoms: AtomCount) -> (f64, usize) {
    match atoms {
        AtomCount::OneFor { samples, most } => (samples, most),
        AtomCount::Exactly(_) => (AtomCount::SAMPLES, AtomCount::MOST),
    }
}

/// The text of a coder, in which the lasso is called by the name of its graph and those of the literature may be without
/// settings.
fn coded(text: &str) -> Result<SelfExpression> {
    let coder = match text.trim() {
        "l1" => SelfExpression::default().coder,
        "elastic-net" => SelfExpression::elastic_net().coder,
        "omp" => SelfExpression::omp().coder,
        text => {
            text.replacen("l1", "lasso", usize::from(text.starts_with("l1"))).parse().map_err(|error| match error {
                // In the words that were given.
                Error::InvalidParameter { reason, .. } => Error::parameter("graph", text, reason),
                other => other,
            })?
        }
    };
    Ok(SelfExpression { coder })
}

fn dictionary(spec: &mut Spec<'_>) -> Result<DictionaryGraph> {
    let default = DictionaryGraph::default();
    Ok(DictionaryGraph {
        atoms: atoms(spec, default.atoms)?,
        lambda: spec.value("lambda")?.unwrap_or(default.lambda),
        max_iterations: spec.value("max_iterations")?.unwrap_or(default.max_iterations),
    })
}

impl Display for GraphKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Members(graph) => graph.fmt(f),
            Self::Examples(graph) => graph.fmt(f),
            Self::SelfExpression(graph) => graph.fmt(f),
            Self::Dictionary(graph) => graph.fmt(f),
            Self::Neighbours(graph) => graph.fmt(f),
        }
    }
}

impl Display for MemberGraph {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (name, default) = match self.learner {
            MemberLearner::Examples => ("ensemble", Self::default()),
            MemberLearner::Centers => ("boost-km", Self::boost_km()),
        };
        let signs = if default.nonnegative { "signed" } else { "nonnegative" };
        let [atoms, most] = texts(self.atoms, default.atoms);
        let settings = [
            unless(&default.n_members, "members", &self.n_members),
            atoms,
            most,
            unless(&default.refinements, "refinements", &self.refinements),
            unless(&default.sharpness, "sharpness", &self.sharpness),
            flag(signs, self.nonnegative != default.nonnegative),
        ];
        write(f, name, settings)
    }
}

impl Display for ExampleGraph {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = match self.weights {
            ExampleWeights::Averaged => "rand-ex-av",
            ExampleWeights::Boosted => "boost-ex",
        };
        let [atoms, most] = texts(self.atoms, Self::default().atoms);
        let members = unless(&Self::default().n_members, "members", &self.n_members);
        write(f, name, [members, atoms, most, flag("nonnegative", self.nonnegative)])
    }
}

fn texts(atoms: AtomCount, default: AtomCount) -> [Option<String>; 2] {
    let (usual_samples, usual_most) = shares(default);
    match atoms {
        AtomCount::Exactly(number) => [Some(format!("atoms={number}")), None],
        AtomCount::OneFor { samples, most } => {
            [unless(&usual_samples, "samples_per_atom", &samples), unless(&usual_most, "most_atoms", &most)]
        }
    }
}

impl Display for SelfExpression {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let coder = self.coder.to_string();
        let is_lasso = matches!(self.coder, Coder::Lasso(_));
        f.write_str(&coder.replacen("lasso", "l1", usize::from(is_lasso)))
    }
}

impl Display for DictionaryGraph {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let default = Self::default();
        let [atoms, most] = texts(self.atoms, default.atoms);
        let settings = [
            atoms,
            most,
            unless(&default.lambda, "lambda", &self.lambda),
            unless(&default.max_iterations, "max_iterations", &self.max_iterations),
        ];
        write(f, "alt-opt", settings)
    }
}

impl Display for NeighbourGraph {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write(f, "neighbours", [unless(&Self::default().count, "count", &self.count)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_graph_are_the_same_thing() {
        let members = MemberGraph { n_members: 5, atoms: AtomCount::Exactly(64), ..MemberGraph::default() };
        let atoms = AtomCount::OneFor { samples: 32.0, most: 500 };
        let kinds = [
            (GraphKind::default(), "ensemble"),
            (GraphKind::Members(members), "ensemble:members=5,atoms=64"),
            (GraphKind::Members(MemberGraph { nonnegative: false, ..members }), "ensemble:members=5,atoms=64,signed"),
            (
                GraphKind::Members(MemberGraph { atoms, refinements: 2, nonnegative: true, ..MemberGraph::boost_km() }),
                "boost-km:samples_per_atom=32,most_atoms=500,refinements=2,nonnegative",
            ),
            (GraphKind::Examples(ExampleGraph::default()), "rand-ex-av"),
            (
                GraphKind::Examples(ExampleGraph { nonnegative: true, atoms, ..ExampleGraph::boost_ex() }),
                "boost-ex:samples_per_atom=32,most_atoms=500,nonnegative",
            ),
            (GraphKind::SelfExpression(SelfExpression::default()), "l1:lambda=0.2"),
            (GraphKind::SelfExpression(SelfExpression { coder: Coder::omp(5) }), "omp:sparsity=5"),
            (GraphKind::SelfExpression(SelfExpression::elastic_net()), "elastic-net:lambda=0.02,ridge=0.001,relative"),
            (GraphKind::SelfExpression(SelfExpression::omp()), "omp:sparsity=10,error=0.000001"),
            (GraphKind::Dictionary(DictionaryGraph::default()), "alt-opt"),
            (
                GraphKind::Dictionary(DictionaryGraph { atoms: AtomCount::Exactly(9), lambda: 0.1, max_iterations: 3 }),
                "alt-opt:atoms=9,lambda=0.1,max_iterations=3",
            ),
            (
                GraphKind::Dictionary(DictionaryGraph { atoms, ..DictionaryGraph::default() }),
                "alt-opt:samples_per_atom=32,most_atoms=500",
            ),
            (GraphKind::Neighbours(NeighbourGraph::default()), "neighbours"),
        ];
        for (kind, text) in kinds {
            assert_eq!(kind.to_string(), text);
            assert_eq!(text.parse::<GraphKind>().unwrap(), kind);
        }
        for name in
            ["ensemble", "boost-km", "boost-ex", "rand-ex-av", "l1", "elastic-net", "omp", "alt-opt", "neighbours"]
        {
            let kind: GraphKind = name.parse().unwrap();
            assert!(kind.to_string().starts_with(name));
        }
        assert_eq!("l1".parse::<GraphKind>().unwrap().to_string(), "l1:lambda=0.2");
        assert_eq!(" l1 : relative = 0.1".parse::<GraphKind>().unwrap().to_string(), "l1:relative=0.1");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, part) in [
            ("", "is not known; write ensemble"),
            ("l2", "is not known"),
            ("ensemble:members=few", "`members` needs a number"),
            ("ensemble:nonnegative", "has no setting `nonnegative`"),
            ("boost-ex:atoms=3,most_atoms=9", "leave samples_per_atom"),
            ("l1:sparsity=3", "needs exactly one of lambda"),
            ("elastic-net:ridge=0.1", "needs lambda and ridge"),
            ("omp:tolerance=1", "needs sparsity"),
            ("alt-opt:atoms=3,most_atoms=9", "leave samples_per_atom"),
        ] {
            let message = text.parse::<GraphKind>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
