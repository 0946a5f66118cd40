//! The state of boosting, and one round of it (§III-B, Eqs. (9)–(12)).

use std::ops::Range;

use crate::blocks::Run;
use crate::coding::{Samples, SparseCodes};
use crate::dictionary::Dictionary;
use crate::ensemble::strips::{STRIP, degrade, distance, piece, pieces, strip, sum_of};
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::{Error, Result, expect_size};
use crate::masses::normalise;
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::division::{Division, Sums};
use super::{Boost, Round, Stop, weights_of_rounds};

/// How far a stored α may be from the one computed again, which other processors round differently.
const SAME_ALPHA: f64 = 1e-3;

/// Boosting between two rounds.
///
/// A caller that wants to save what it has after each round calls [`step`](Self::step) itself, keeps
/// [`members`](Self::members) and [`alphas`](Self::alphas), and comes back by [`Boost::resume`].
///
/// Paper: §III-B, Eqs. (9)–(12).
pub struct Boosting<'a, T> {
    settings: &'a Boost<'a, T>,
    samples: MatrixView<'a, T>,
    division: Division<'a>,
    /// p_l of the next round, zero for samples held out.
    masses: Vec<f64>,
    /// X_l, zeros before the first round.
    approximations: Matrix<T>,
    /// ‖X‖² over the training samples by mass, known after the first round.
    energy: f64,
    members: Vec<Dictionary<T>>,
    curve: Vec<Round>,
    stopped: Option<Stop>,
}

/// What coding one strip leaves behind.
struct Coded<T> {
    codes: SparseCodes<T>,
    /// e_l(i).
    energies: Vec<f64>,
    products: Products,
    unconverged: usize,
}

/// Sums over training samples, by mass, of products of X − X_{l−1} and D_lA_l − X_{l−1}.
#[derive(Clone, Copy, Default)]
struct Products {
    /// Of the first with itself: the error before the round.
    error: f64,
    /// Of the two: the numerator of Eq. (12).
    both: f64,
    /// Of the second with itself: the denominator of Eq. (12).
    step: f64,
}

impl<'a, T: Scalar> Boosting<'a, T> {
    pub(super) fn new(settings: &'a Boost<'a, T>, samples: MatrixView<'a, T>) -> Result<Self> {
        settings.check(samples)?;
        let division = Division::new(settings, samples.columns())?;
        Ok(Self {
            settings,
            samples,
            masses: division.first_masses(),
            division,
            approximations: Matrix::zeros(samples.rows(), samples.columns()),
            energy: 0.0,
            members: Vec::new(),
            curve: Vec::new(),
            stopped: None,
        })
    }

    /// One round: learn, code, weigh, move, and set the next masses. `None` if boosting has ended: see
    /// [`stopped`](Self::stopped).
    ///
    /// If it fails or is interrupted, nothing has changed and it can be called again.
    ///
    /// # Errors
    /// See [`Boost`].
    pub fn step(&mut self, run: Run<'_>) -> Result<Option<Round>> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let [learning, coding] = [0..1, 1..2].map(|pass| run.passes(pass, 2, self.samples.columns()));
        let draw = Draw { seed: self.settings.seed, round: self.members.len() as u64 };
        let dictionary = match self.settings.learner.fit(self.samples, &self.masses, draw, learning) {
            // In the first round this is a mistake of the caller; later it means that few samples have an error left.
            Err(Error::TooFewSamples { .. }) if !self.members.is_empty() => {
                self.stopped = Some(Stop::TooFewSamplesLeft);
                return Ok(None);
            }
            learned => learned?,
        };
        self.take(dictionary, None, coding).map(Some)
    }

    /// A round but for the learning; `given` is its α if that is known already.
    pub(super) fn take(&mut self, dictionary: Dictionary<T>, given: Option<f64>, run: Run<'_>) -> Result<Round> {
        expect_size("dictionary: number of features (that of samples)", self.samples.rows(), dictionary.n_features())?;
        let mut model = SparseModel::plain(&dictionary)?;
        if let Some(phi) = self.settings.phi {
            model = model.degraded_by(phi)?;
        }
        let strips = self.code(&model, run)?;
        let products = strips.iter().fold(Products::default(), |sum, strip| sum.plus(strip.products));
        let alpha = self.alpha(products, given)?;
        let (masses, member_error) = self.next_masses(&strips)?;
        let errors = self.advance(&model, alpha, &strips, run)?;
        let (error, validation_error) = self.division.means(errors);
        let unconverged = strips.iter().map(|strip| strip.unconverged).sum();
        let round = Round { alpha, member_error, error, validation_error, unconverged };
        if self.members.is_empty() {
            self.energy = products.error; // X_0 is zero
        }
        self.members.push(dictionary);
        self.curve.push(round);
        self.masses = masses;
        self.stopped = self.reason_to_stop(errors.training);
        Ok(round)
    }

    /// Codes all samples, and compares what they become with what they are and with what they were before.
    fn code(&self, model: &SparseModel<T>, run: Run<'_>) -> Result<Vec<Coded<T>>> {
        let work = |[to_sample, to_member]: &mut [Vec<f64>; 2], range: Range<usize>| {
            let x = strip(self.samples, range.clone())?;
            let seen = self.settings.phi.map(|phi| degrade(phi, x.view())).transpose()?;
            let inputs = Samples::new(seen.as_ref().unwrap_or(&x).view());
            let coding = self.settings.coder.encode(model.basis(), &inputs, Run::threads(1))?;
            let members = coding.codes.approximate(model.synthesis().view())?;
            let mut energies = Vec::with_capacity(range.len());
            let mut products = Products::default();
            for (slot, sample) in range.enumerate() {
                let before = self.approximations.column(sample);
                difference(x.column(slot), before, to_sample);
                difference(members.column(slot), before, to_member);
                let part = Products::new(self.division.training_mass(sample), to_sample, to_member);
                products = products.plus(part);
                energies.push(distance(x.column(slot), members.column(slot)));
            }
            Ok(Coded { unconverged: coding.report.unconverged(), codes: coding.codes, energies, products })
        };
        run.map_blocks(self.samples.columns(), STRIP, Default::default, work)
    }

    /// α_l by Eq. (12), and 1 in the first round; the given one if it is the same but for rounding.
    fn alpha(&self, products: Products, given: Option<f64>) -> Result<f64> {
        let alpha = match self.members.len() {
            0 => 1.0,
            _ if products.step > self.rounding() => products.both / products.step,
            _ => 0.0, // the member says what the ensemble says already; a quotient of rounding errors could be huge
        };
        if !(products.error.is_finite() && alpha.is_finite()) {
            return Err(Error::parameter("samples: energy", products.error, "is not a finite number; scale the data"));
        }
        match given {
            Some(given) if (given - alpha).abs() <= SAME_ALPHA * alpha.abs().max(1.0) => Ok(given),
            Some(given) => {
                let reason = "these members were not trained on these samples with this coder";
                Err(Error::parameter("alphas", given, reason))
            }
            None => Ok(alpha),
        }
    }

    /// p_{l+1} from the energies e_l, normalised, and the mean of these energies.
    fn next_masses(&self, strips: &[Coded<T>]) -> Result<(Vec<f64>, f64)> {
        let energies = strips.iter().flat_map(|strip| &strip.energies).enumerate();
        let mut masses: Vec<f64> = energies.map(|(i, energy)| self.division.training_mass(i) * energy).collect();
        let total = normalise(&mut masses);
        if !total.is_finite() {
            return Err(Error::parameter("samples: energy", total, "is not a finite number; scale the data"));
        }
        Ok((masses, self.division.means(Sums { training: total, held_out: 0.0 }).0))
    }

    /// Moves X_{l−1} to X_l, Eq. (9), and returns ‖X − X_l‖² by mass.
    ///
    /// It cannot be interrupted, so that the state is always that of a whole number of rounds.
    fn advance(&mut self, model: &SparseModel<T>, alpha: f64, strips: &[Coded<T>], run: Run<'_>) -> Result<Sums> {
        let (samples, division) = (self.samples, &self.division);
        let pieces = pieces(&mut self.approximations);
        let (keep, take) = (T::from_f64(1.0 - alpha), T::from_f64(alpha));
        let work = |x: &mut Vec<T>, range: Range<usize>| {
            let members = strips[range.start / STRIP].codes.approximate(model.synthesis().view())?;
            let mut now = piece(&pieces, range.start);
            now.iter_mut().zip(members.as_slice()).for_each(|(now, &member)| *now = keep * *now + take * member);
            let mut errors = Vec::with_capacity(range.len());
            for (sample, now) in range.clone().zip(now.chunks_exact(x.len().max(1))) {
                samples.copy_column(sample, x);
                errors.push(distance(x, now));
            }
            Ok(division.sums(range.clone(), |i| errors[i - range.start]))
        };
        let scratch = || vec![T::ZERO; samples.rows()];
        let parts = run.silent().map_blocks(samples.columns(), STRIP, scratch, work)?;
        let mut errors = Sums::default();
        for part in parts {
            errors += part;
        }
        Ok(errors)
    }

    fn reason_to_stop(&self, error: f64) -> Option<Stop> {
        if error <= self.rounding() {
            return Some(Stop::NoErrorLeft);
        }
        let patience = self.settings.validation.map_or(usize::MAX, |validation| validation.patience);
        if self.curve.len() - self.best_round() >= patience {
            return Some(Stop::Validation);
        }
        (self.members.len() >= self.settings.n_models).then_some(Stop::AllRounds)
    }

    /// What rounding alone leaves of the energy of the training samples.
    fn rounding(&self) -> f64 {
        (4.0 * T::EPSILON.to_f64()).powi(2) * self.energy
    }

    /// How many rounds the ensemble has: up to that of least error on the samples held out, or all.
    pub fn best_round(&self) -> usize {
        let errors = self.curve.iter().filter_map(|round| round.validation_error).enumerate();
        let validated = errors.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number + 1);
        validated.unwrap_or(self.curve.len())
    }

    /// The ensemble of the rounds so far, or of those up to [`best_round`](Self::best_round).
    ///
    /// # Errors
    /// If there has been no round yet.
    pub fn ensemble(&self) -> Result<Ensemble<T>> {
        let rounds = self.best_round();
        let models = self.members[..rounds].iter().map(SparseModel::plain).collect::<Result<Vec<_>>>()?;
        let beta = weights_of_rounds(&self.alphas()[..rounds]);
        Ok(Ensemble::new(models, beta)?.with_training(self.settings.training(&self.curve)))
    }

    /// D_l of each round.
    pub fn members(&self) -> &[Dictionary<T>] {
        &self.members
    }

    /// α_l of each round.
    pub fn alphas(&self) -> Vec<f64> {
        self.curve.iter().map(|round| round.alpha).collect()
    }

    /// The training curve, a row for each round.
    pub fn curve(&self) -> &[Round] {
        &self.curve
    }

    /// p_l of the next round: they sum to one, or to zero if no error is left.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// X_l, the approximations so far, M × T.
    pub fn approximations(&self) -> &Matrix<T> {
        &self.approximations
    }

    /// Why boosting has ended; `None` if there is more to do.
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped
    }
}

impl Products {
    fn new(mass: f64, to_sample: &[f64], to_member: &[f64]) -> Self {
        let product = |a: &[f64], b: &[f64]| mass * sum_of(a, b, |a, b| a * b);
        Self {
            error: product(to_sample, to_sample),
            both: product(to_sample, to_member),
            step: product(to_member, to_member),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { error: self.error + other.error, both: self.both + other.both, step: self.step + other.step }
    }
}

/// Writes a − b.
fn difference<T: Scalar>(a: &[T], b: &[T], out: &mut Vec<f64>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| a.to_f64() - b.to_f64()));
}
