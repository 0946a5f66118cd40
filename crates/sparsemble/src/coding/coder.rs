//! A coder chosen at run time, and coders as text.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::spec::{Spec, flag, unless, write};

use super::{
    Coding, CodingBasis, ElasticNet, Fista, Lasso, Momentum, OneSparse, Penalty, Pursuit, PursuitKind, Samples,
    SparseCoder,
};

/// Any coder that takes a matrix to code against, chosen at run time.
///
/// As text it is its name and what differs from the defaults, and is read back by [`str::parse`]:
///
/// | text | coder |
/// | --- | --- |
/// | `lasso:lambda=0.2` | [`Lasso`]; instead of `lambda` also `relative`, `error` or `l1_norm`; `nonnegative`, `tolerance`, `max_rounds` |
/// | `elastic-net:lambda=0.2,ridge=0.1` | [`ElasticNet`]; `relative`, `nonnegative`, `tolerance`, `max_rounds` |
/// | `omp:sparsity=5` | [`Pursuit`]; also `ormp` and `mp`, and `error` or `gain` instead of or beside `sparsity` |
/// | `one-sparse` | [`OneSparse`]; `atoms`, `nonnegative` |
///
/// ```
/// use sparsemble::coding::{Coder, Pursuit};
///
/// let coder: Coder = "omp:sparsity=5".parse()?;
/// assert_eq!(coder, Coder::Pursuit(Pursuit::omp(5)));
/// assert_eq!(Coder::lambda(0.2).to_string(), "lasso:lambda=0.2");
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Coder {
    /// The lasso, Eq. (1).
    Lasso(Lasso),
    /// The elastic net.
    ElasticNet(ElasticNet),
    /// A greedy coder.
    Pursuit(Pursuit),
    /// The best single atom, or the s best.
    OneSparse(OneSparse),
}

impl Coder {
    /// The lasso of Eq. (1).
    pub fn lambda(lambda: f64) -> Self {
        Self::Lasso(Lasso::lambda(lambda))
    }

    /// Orthogonal matching pursuit with this many atoms a sample.
    pub fn omp(sparsity: usize) -> Self {
        Self::Pursuit(Pursuit::omp(sparsity))
    }
}

impl<T: Scalar> SparseCoder<T> for Coder {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        match self {
            Self::Lasso(lasso) => lasso.encode(basis, samples, run),
            Self::ElasticNet(net) => net.encode(basis, samples, run),
            Self::Pursuit(pursuit) => pursuit.encode(basis, samples, run),
            Self::OneSparse(one_sparse) => one_sparse.encode(basis, samples, run),
        }
    }
}

impl Display for Coder {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lasso(lasso) => lasso.fmt(f),
            Self::ElasticNet(net) => net.fmt(f),
            Self::Pursuit(pursuit) => pursuit.fmt(f),
            Self::OneSparse(one_sparse) => one_sparse.fmt(f),
        }
    }
}

impl FromStr for Coder {
    type Err = Error;

    /// # Errors
    /// If the text names no coder, lacks a setting or has one the coder does not know.
    fn from_str(text: &str) -> Result<Self> {
        let mut spec = Spec::parse("coder", text);
        let coder = match spec.name {
            "lasso" => Self::Lasso(lasso(&mut spec)?),
            "elastic-net" => Self::ElasticNet(elastic_net(&mut spec)?),
            "omp" => Self::Pursuit(pursuit(&mut spec, PursuitKind::Orthogonal)?),
            "ormp" => Self::Pursuit(pursuit(&mut spec, PursuitKind::OrderRecursive)?),
            "mp" => Self::Pursuit(pursuit(&mut spec, PursuitKind::Matching)?),
            "one-sparse" => {
                let atoms = spec.value("atoms")?.unwrap_or(OneSparse::default().atoms);
                Self::OneSparse(OneSparse { atoms, nonnegative: spec.flag("nonnegative") })
            }
            _ => {
                let known = "lasso:lambda=0.2, elastic-net:…, omp:sparsity=5, ormp:…, mp:… or one-sparse";
                return Err(spec.refuse(format!("is not known; write {known}")));
            }
        };
        spec.finish()?;
        Ok(coder)
    }
}

fn lasso(spec: &mut Spec<'_>) -> Result<Lasso> {
    let penalties = [
        spec.value("lambda")?.map(Penalty::Lambda),
        spec.value("relative")?.map(Penalty::Relative),
        spec.value("error")?.map(Penalty::Error),
        spec.value("l1_norm")?.map(Penalty::L1Norm),
    ];
    let given: Vec<Penalty> = penalties.into_iter().flatten().collect();
    let [penalty] = given[..] else {
        return Err(spec.refuse("needs exactly one of lambda, relative, error and l1_norm"));
    };
    let default = Lasso::new(penalty);
    let atom_weights = match spec.value::<String>("atom_weights")? {
        None => None,
        Some(list) => {
            let weights: std::result::Result<Vec<f64>, _> = list.split(';').map(str::parse).collect();
            Some(weights.map_err(|_| spec.refuse("`atom_weights` needs numbers with `;` between them"))?)
        }
    };
    Ok(Lasso {
        nonnegative: spec.flag("nonnegative"),
        atom_weights,
        tolerance: spec.value("tolerance")?.unwrap_or(default.tolerance),
        max_rounds: spec.value("max_rounds")?.unwrap_or(default.max_rounds),
        ..default
    })
}

fn elastic_net(spec: &mut Spec<'_>) -> Result<ElasticNet> {
    let (Some(lambda), Some(ridge)) = (spec.value("lambda")?, spec.value("ridge")?) else {
        return Err(spec.refuse("needs lambda and ridge"));
    };
    let default = ElasticNet::new(lambda, ridge);
    Ok(ElasticNet {
        relative: spec.flag("relative"),
        nonnegative: spec.flag("nonnegative"),
        tolerance: spec.value("tolerance")?.unwrap_or(default.tolerance),
        max_rounds: spec.value("max_rounds")?.unwrap_or(default.max_rounds),
        ..default
    })
}

fn pursuit(spec: &mut Spec<'_>, kind: PursuitKind) -> Result<Pursuit> {
    let (sparsity, error, gain) = (spec.value("sparsity")?, spec.value("error")?, spec.value("gain")?);
    if sparsity.is_none() && error.is_none() && gain.is_none() {
        return Err(spec.refuse("needs sparsity, error, gain or several of them"));
    }
    Ok(Pursuit { kind, sparsity, error, gain })
}

impl Display for Lasso {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let penalty = match self.penalty {
            Penalty::Lambda(value) => format!("lambda={value}"),
            Penalty::Relative(value) => format!("relative={value}"),
            Penalty::Error(value) => format!("error={value}"),
            Penalty::L1Norm(value) => format!("l1_norm={value}"),
        };
        let weights = self.atom_weights.as_ref().map(|weights| {
            let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
            format!("atom_weights={}", weights.join(";"))
        });
        let default = Self::new(self.penalty);
        let settings = [
            Some(penalty),
            flag("nonnegative", self.nonnegative),
            weights,
            unless(&default.tolerance, "tolerance", &self.tolerance),
            unless(&default.max_rounds, "max_rounds", &self.max_rounds),
        ];
        write(f, "lasso", settings)
    }
}

impl Display for ElasticNet {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let default = Self::new(self.lambda, self.ridge);
        let settings = [
            Some(format!("lambda={}", self.lambda)),
            Some(format!("ridge={}", self.ridge)),
            flag("relative", self.relative),
            flag("nonnegative", self.nonnegative),
            unless(&default.tolerance, "tolerance", &self.tolerance),
            unless(&default.max_rounds, "max_rounds", &self.max_rounds),
        ];
        write(f, "elastic-net", settings)
    }
}

impl Display for Pursuit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = match self.kind {
            PursuitKind::Matching => "mp",
            PursuitKind::Orthogonal => "omp",
            PursuitKind::OrderRecursive => "ormp",
        };
        let sparsity = self.sparsity.map(|sparsity| format!("sparsity={sparsity}"));
        let error = self.error.map(|error| format!("error={error}"));
        write(f, name, [sparsity, error, self.gain.map(|gain| format!("gain={gain}"))])
    }
}

impl Display for OneSparse {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let atoms = unless(&Self::default().atoms, "atoms", &self.atoms);
        write(f, "one-sparse", [atoms, flag("nonnegative", self.nonnegative)])
    }
}

impl Display for Fista {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = match self.momentum {
            Momentum::None => "ista",
            Momentum::Nesterov => "fista",
        };
        let default = Self::lambda(self.lambda);
        let settings = [
            Some(format!("lambda={}", self.lambda)),
            flag("nonnegative", self.nonnegative),
            unless(&default.tolerance, "tolerance", &self.tolerance),
            unless(&default.max_iterations, "max_iterations", &self.max_iterations),
        ];
        write(f, name, settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_coder_are_the_same_thing() {
        let lasso = Lasso {
            nonnegative: true,
            atom_weights: Some(vec![1.0, 0.0, f64::INFINITY]),
            tolerance: 1e-3,
            max_rounds: 7,
            ..Lasso::new(Penalty::Relative(0.1))
        };
        let coders = [
            (Coder::lambda(0.2), "lasso:lambda=0.2"),
            (Coder::Lasso(lasso), "lasso:relative=0.1,nonnegative,atom_weights=1;0;inf,tolerance=0.001,max_rounds=7"),
            (Coder::Lasso(Lasso::new(Penalty::Error(1e-30))), "lasso:error=0.000000000000000000000000000001"),
            (Coder::Lasso(Lasso::new(Penalty::L1Norm(2.5))), "lasso:l1_norm=2.5"),
            (Coder::ElasticNet(ElasticNet::new(0.2, 0.05)), "elastic-net:lambda=0.2,ridge=0.05"),
            (
                Coder::ElasticNet(ElasticNet { relative: true, nonnegative: true, ..ElasticNet::new(0.2, 0.05) }),
                "elastic-net:lambda=0.2,ridge=0.05,relative,nonnegative",
            ),
            (Coder::omp(5), "omp:sparsity=5"),
            (
                Coder::Pursuit(Pursuit { kind: PursuitKind::Matching, sparsity: None, error: Some(0.25), gain: None }),
                "mp:error=0.25",
            ),
            (
                Coder::Pursuit(Pursuit {
                    kind: PursuitKind::OrderRecursive,
                    sparsity: Some(2),
                    error: Some(0.5),
                    gain: Some(0.25),
                }),
                "ormp:sparsity=2,error=0.5,gain=0.25",
            ),
            (Coder::OneSparse(OneSparse::default()), "one-sparse"),
            (Coder::OneSparse(OneSparse { atoms: 3, nonnegative: true }), "one-sparse:atoms=3,nonnegative"),
        ];
        for (coder, text) in coders {
            assert_eq!(coder.to_string(), text);
            assert_eq!(text.parse::<Coder>().unwrap(), coder);
        }
        assert_eq!(" omp : sparsity = 5 ,".parse::<Coder>().unwrap(), Coder::omp(5));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, part) in [
            ("", "is not known"),
            ("lars:lambda=1", "is not known"),
            ("lasso", "needs exactly one of lambda"),
            ("lasso:lambda=1,error=2", "needs exactly one of lambda"),
            ("lasso:lambda", "`lambda` needs a number"),
            ("lasso:lambda=few", "`lambda` needs a number"),
            ("lasso:lambda=1,sparsity=3", "`lasso` has no setting `sparsity`"),
            ("lasso:lambda=1,atom_weights=1;x", "`atom_weights` needs numbers"),
            ("elastic-net:lambda=1", "needs lambda and ridge"),
            ("omp", "needs sparsity, error, gain or several"),
            ("omp:sparsity=-1", "`sparsity` needs a number"),
            ("one-sparse:nonnegative=yes", "`one-sparse` has no setting `nonnegative`"),
        ] {
            let message = text.parse::<Coder>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("coder = {text}: ")) && message.contains(part), "{message}");
        }
    }
}
