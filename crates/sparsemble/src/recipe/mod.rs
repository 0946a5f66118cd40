//! Recipes: everything that decides a training but the samples, for callers that choose at run time.
//!
//! The command line and the Python package train by recipes; so does whoever wants to write a model's settings to a file
//! and go on where a run was left. Code that knows what it wants uses the methods themselves:
//! [`AltOpt`](crate::dictionary::AltOpt), [`Boost`](crate::ensemble::Boost) and so on.

mod fingerprint;
mod steps;
mod train;

pub use steps::{KeptStep, Past, Step, ToKeep, Watch};
pub use train::Trained;
pub(crate) use train::Work;

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::coding::Coder;
use crate::degradation::Degradation;
use crate::dictionary::OnlineAltOpt;
use crate::ensemble::{GaussianLearner, Validation};
use crate::error::{Error, Result};
use crate::matrix::MatrixView;

/// How a model is trained.
///
/// | field | symbol | default | purpose | methods |
/// | --- | --- | --- | --- | --- |
/// | `method` | | – | see [`Method`] | |
/// | `n_atoms` | K | 256; 16 in a level; 64 | atoms of each dictionary; Gaussians | all |
/// | `n_models` | L | 20; 50 in a level | dictionaries of the ensemble, or of each level | ensembles, Ex-MLD |
/// | `n_levels` | | 16 | levels | MLD, Ex-MLD |
/// | `coder` | λ | lasso, λ = 0.2; OMP with 5 atoms for K-SVD | codes samples, in training and after it | all but MLD, Ex-MLD, Gaussians |
/// | `max_iterations` | | 50; 1 online; 12 | the most atom updates; online, how often every sample is seen; rounds | Alt-Opt, MOD, K-SVD, online, Gaussians |
/// | `tolerance` | | 10⁻⁴ | the relative change of the objective at which to stop | Alt-Opt, MOD, K-SVD |
/// | `validation` | | none | when to stop early | BoostEx, BoostKM |
/// | `seed` | | 0 | of all random choices | all |
///
/// # Example
/// ```
/// use sparsemble::recipe::{Method, Recipe, TrainingSet};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 60, |r, i| ((r * i + 3 * r + i) as f32).sin());
/// let recipe = Recipe { n_atoms: 5, n_models: 3, ..Recipe::new("boost-km".parse()?) };
/// let mut errors = Vec::new();
/// let trained = recipe.train(
///     TrainingSet::new(samples.view()),
///     &mut |step, _to_keep| {
///         errors.extend(step.error);
///         Ok(())
///     },
///     Run::default(),
/// )?;
/// assert_eq!(errors.len(), 3);
/// assert_eq!(trained.model.n_atoms(), 15);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// What is trained, and how.
    pub method: Method,
    /// K, the atoms of each dictionary.
    pub n_atoms: usize,
    /// L, the dictionaries of an ensemble, or of each level.
    pub n_models: usize,
    /// The most levels.
    pub n_levels: usize,
    /// Codes samples, in training and after it.
    pub coder: Coder,
    /// The most atom updates; online, how often every sample is seen.
    pub max_iterations: usize,
    /// The relative change of the objective at which to stop.
    pub tolerance: f64,
    /// Allow no negative entry of an atom; only `alt-opt` and `online` can.
    pub nonnegative_atoms: bool,
    /// When boosting stops early; never if `None`.
    pub validation: Option<Validation>,
    /// The seed of all random choices.
    pub seed: u64,
}

/// A method of training, by its name in the paper.
///
/// | name | what | paper |
/// | --- | --- | --- |
/// | `alt-opt` | one dictionary, by turns of coding and block coordinate descent | §I-A |
/// | `mod` | the same with the method of optimal directions | – |
/// | `k-svd` | the same with approximate K-SVD, which needs a pursuit | – |
/// | `online` | one dictionary, by steps of 512 samples: for data that is large | §I-A |
/// | `rand-ex-av` | dictionaries of random samples, averaged | §III-A |
/// | `boost-ex` | dictionaries of samples drawn by their errors, boosted | §III-B |
/// | `boost-km` | dictionaries of weighted K-Means‖ centres, boosted | §III-B1 |
/// | `mld` | levels of lines through the origin | §IV-A1 |
/// | `ex-mld` | levels of averaged dictionaries of samples | §IV-A1 |
/// | `gaussians` | local Gaussians, from samples that have their mean | – |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Alt-Opt with block coordinate descent.
    AltOpt,
    /// Alt-Opt with the method of optimal directions.
    Mod,
    /// Alt-Opt with approximate K-SVD.
    KSvd,
    /// Alt-Opt by mini-batches.
    Online,
    /// Random examples, averaged.
    RandExAv,
    /// Boosted examples.
    BoostEx,
    /// Boosted K-Means centres.
    BoostKm,
    /// The multilevel dictionary.
    Mld,
    /// The multilevel dictionary of averaged examples.
    ExMld,
    /// Local Gaussians.
    Gaussians,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::AltOpt,
        Self::Mod,
        Self::KSvd,
        Self::Online,
        Self::RandExAv,
        Self::BoostEx,
        Self::BoostKm,
        Self::Mld,
        Self::ExMld,
        Self::Gaussians,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AltOpt => "alt-opt",
            Self::Mod => "mod",
            Self::KSvd => "k-svd",
            Self::Online => "online",
            Self::RandExAv => "rand-ex-av",
            Self::BoostEx => "boost-ex",
            Self::BoostKm => "boost-km",
            Self::Mld => "mld",
            Self::ExMld => "ex-mld",
            Self::Gaussians => "gaussians",
        }
    }

    /// Whether it learns by iterations over all samples.
    pub fn iterates(self) -> bool {
        matches!(self, Self::AltOpt | Self::Mod | Self::KSvd | Self::Online | Self::Gaussians)
    }

    /// Whether it boosts.
    pub fn boosts(self) -> bool {
        matches!(self, Self::BoostEx | Self::BoostKm)
    }

    /// Whether it codes samples by a coder that can be chosen.
    pub fn has_coder(self) -> bool {
        !self.has_levels() && self != Self::Gaussians
    }

    /// Whether it stops by itself when the objective no longer changes.
    pub fn has_tolerance(self) -> bool {
        matches!(self, Self::AltOpt | Self::Mod | Self::KSvd)
    }

    /// Whether it has levels.
    pub fn has_levels(self) -> bool {
        matches!(self, Self::Mld | Self::ExMld)
    }

    /// Whether it has several dictionaries side by side.
    pub fn has_models(self) -> bool {
        matches!(self, Self::RandExAv | Self::BoostEx | Self::BoostKm | Self::ExMld)
    }
}

impl Display for Method {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    /// # Errors
    /// If there is no method of this name.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::parameter("method", name, format!("is not known; use one of {known}"))
        })
    }
}

/// What a model is trained on.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a, T> {
    /// The samples, M × T.
    pub samples: MatrixView<'a, T>,
    /// How much each sample counts; all alike if `None`.
    pub masses: Option<&'a [f64]>,
    /// Φ, what the samples are seen through when they are coded; nothing if `None`. Only boosting uses it (§IV, Fig. 4).
    pub phi: Option<&'a dyn Degradation<T>>,
    /// How many features, from the first, boosting takes its errors of; all if `None`. See [`Boost`](crate::ensemble::Boost).
    pub n_judged: Option<usize>,
}

impl<'a, T> TrainingSet<'a, T> {
    /// Samples that count alike and are seen as they are.
    pub fn new(samples: MatrixView<'a, T>) -> Self {
        Self { samples, masses: None, phi: None, n_judged: None }
    }
}

impl Recipe {
    /// The default settings of a method.
    pub fn new(method: Method) -> Self {
        let (n_atoms, n_models) = match method {
            Method::Mld | Method::ExMld => (16, 50),
            Method::Gaussians => (GaussianLearner::default().n_gaussians, 1),
            _ => (256, 20),
        };
        let coder = match method {
            Method::KSvd => Coder::omp(5),
            Method::Online => OnlineAltOpt::default().coder,
            _ => Coder::lambda(0.2),
        };
        Self {
            method,
            n_atoms,
            n_models,
            n_levels: 16,
            coder,
            max_iterations: match method {
                Method::Online => 1,
                Method::Gaussians => GaussianLearner::default().iterations,
                _ => 50,
            },
            tolerance: 1e-4,
            nonnegative_atoms: false,
            validation: None,
            seed: 0,
        }
    }

    /// The settings that matter to the method, as text by name.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let method = self.method;
        let all = [
            (true, "method", method.to_string()),
            (true, "n_atoms", self.n_atoms.to_string()),
            (method.has_models(), "n_models", self.n_models.to_string()),
            (method.has_levels(), "n_levels", self.n_levels.to_string()),
            (method.has_coder(), "coder", self.coder.to_string()),
            (method.iterates(), "max_iterations", self.max_iterations.to_string()),
            (method.has_tolerance(), "tolerance", self.tolerance.to_string()),
            (self.nonnegative_atoms, "nonnegative_atoms", self.nonnegative_atoms.to_string()),
            (true, "seed", self.seed.to_string()),
        ];
        let mut parameters: BTreeMap<String, String> =
            all.into_iter().filter(|(matters, ..)| *matters).map(|(_, name, value)| (name.into(), value)).collect();
        if let (true, Some(validation)) = (method.boosts(), self.validation) {
            parameters.insert("validation_fraction".into(), validation.fraction.to_string());
            parameters.insert("validation_patience".into(), validation.patience.to_string());
        }
        parameters
    }
}
