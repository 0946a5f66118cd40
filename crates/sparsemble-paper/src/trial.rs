//! One ensemble of Figs. 1, 2 and 3: trained on the training patches, measured on the test patches.
//!
//! All three figures are made of the same trials: Fig. 1 of those of random examples, Fig. 2 of all, Fig. 3 of those of
//! one size.

use anyhow::Result;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use sparsemble::Run;
use sparsemble::ensemble::{Averaging, Boost, Ensemble, MemberGram, OracleWeights, WeightConstraint};

use crate::demonstration::{Demonstration, Settings};

/// The methods of §III.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Random examples, averaged (§III-A).
    RandExAv,
    /// Boosted examples (§III-B2).
    BoostEx,
    /// Boosted K-Means centres (§III-B1).
    BoostKm,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::RandExAv, Self::BoostEx, Self::BoostKm];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RandExAv => "RandExAv",
            Self::BoostEx => "BoostEx",
            Self::BoostKm => "BoostKM",
        }
    }
}

/// A round of boosting, as it was in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRound {
    /// α_l.
    pub alpha: f64,
    /// The mean of ‖x − D_l a_l‖² over the training patches.
    pub member_error: f64,
    /// The mean of ‖x − x_l‖² over the training patches.
    pub error: f64,
    /// Patches whose codes did not reach their tolerance.
    pub unconverged: usize,
}

/// An ensemble and its errors. Every error is a mean of squared norms over patches, of the test if not said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// How it was trained.
    pub method: Method,
    /// K.
    pub n_atoms: usize,
    /// T, the patches it was trained on.
    pub n_training: usize,
    /// β.
    pub beta: Vec<f64>,
    /// The rounds of boosting; RandExAv has none.
    pub training: Vec<TrainingRound>,
    /// The error of each member alone.
    pub member_errors: Vec<f64>,
    /// The error of the first members, as many as the place in this list, with the weights they have without the rest.
    pub errors: Vec<f64>,
    /// The error with the best weights of each patch, under the four constraints of §II-A in their order.
    pub oracle_errors: [f64; 4],
    /// By how much these weights miss the conditions of optimality, at worst.
    pub worst_optimality: f64,
    /// The error if the best member is chosen anew for each patch: ‖r_min‖² of Eq. (7).
    pub best_of_each: f64,
    /// CPU seconds of it all, of all threads together.
    pub seconds: f64,
}

impl Trial {
    /// Trains and measures.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted.
    ///
    /// Paper: §II-B, §III-C.
    pub fn run(demonstration: &Demonstration, method: Method, n_atoms: usize, run: Run<'_>) -> Result<Self> {
        let start = ProcessTime::now();
        let Demonstration { settings, training, test } = demonstration;
        let (training, test, coder) = (training.view(), test.view(), settings.coder());
        // Training looks at each sample twice a round, measuring codes the test patches twice.
        let work = [training.columns() * 2 * settings.n_models, test.columns(), test.columns()];
        let ends = [work[0], work[0] + work[1], work.iter().sum()];
        let [learning, weighing, comparing] =
            [0..ends[0], ends[0]..ends[1], ends[1]..ends[2]].map(|part| run.part(part, ends[2]));

        let ensemble = train(demonstration, method, n_atoms, learning)?;
        let oracle = ensemble.oracle_weights(test, test, &WeightConstraint::ALL, &coder, weighing)?;
        let gram = ensemble.member_gram(test, test, None, &coder, comparing)?;
        let certificates = || oracle.iter().flat_map(|case| &case.certificates);
        Ok(Self {
            method,
            n_atoms,
            n_training: training.columns(),
            beta: ensemble.beta().to_vec(),
            training: rounds(&ensemble),
            member_errors: (0..gram.n_members()).map(|l| gram.member_residual(l).powi(2)).collect(),
            errors: errors_of_first(&gram, ensemble.beta())?,
            oracle_errors: [0, 1, 2, 3].map(|case| oracle[case].mean_squared_residual()),
            worst_optimality: certificates().map(|certificate| certificate.optimality).fold(0.0, f64::max),
            best_of_each: best_of_each(&oracle[0]),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// The error of the whole ensemble.
    pub fn error(&self) -> f64 {
        self.errors.last().copied().unwrap_or(f64::NAN)
    }

    /// The least error of a member.
    pub fn best_member(&self) -> f64 {
        self.member_errors.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn train(demonstration: &Demonstration, method: Method, n_atoms: usize, run: Run<'_>) -> Result<Ensemble<f32>> {
    let Demonstration { settings, training, .. } = demonstration;
    let &Settings { n_models, seed, .. } = settings;
    let (examples, centers, coder) = (Settings::examples(n_atoms), settings.centers(n_atoms), settings.coder());
    let boost = match method {
        Method::RandExAv => {
            return Ok(Averaging { n_models, seed, ..Averaging::new(&examples) }.fit(training.view(), run)?);
        }
        Method::BoostEx => Boost { n_models, seed, ..Boost::new(&examples, &coder) },
        Method::BoostKm => Boost { n_models, seed, ..Boost::new(&centers, &coder) },
    };
    Ok(boost.fit(training.view(), run)?)
}

fn rounds(ensemble: &Ensemble<f32>) -> Vec<TrainingRound> {
    let curve = ensemble.training().curve.iter();
    curve
        .map(|round| TrainingRound {
            alpha: round.alpha,
            member_error: round.member_error,
            error: round.error,
            unconverged: round.unconverged,
        })
        .collect()
}

/// The error after each round, with the weights that the first members have among themselves (see
/// [`Ensemble::truncated`]).
fn errors_of_first(gram: &MemberGram, beta: &[f64]) -> Result<Vec<f64>> {
    let mut errors = Vec::with_capacity(beta.len());
    for n_models in 1..=beta.len() {
        let sum: f64 = beta[..n_models].iter().sum();
        let weight = |(l, weight): (usize, &f64)| if l < n_models { weight / sum } else { 0.0 };
        let weights: Vec<f64> = beta.iter().enumerate().map(weight).collect();
        errors.push(gram.residual(&weights)?.powi(2));
    }
    Ok(errors)
}

fn best_of_each(oracle: &OracleWeights) -> f64 {
    let energies = oracle.certificates.iter().map(|certificate| certificate.best_member.powi(2));
    energies.sum::<f64>() / oracle.certificates.len().max(1) as f64
}
