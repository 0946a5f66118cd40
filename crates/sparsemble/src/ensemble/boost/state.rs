//! The state of boosting, and one round of it (§III-B, Eqs. (9)–(12)).

use std::borrow::Cow;
use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::blocks::{Pulse, Run};
use crate::coding::{Samples, SparseCodes};
use crate::degradation::apply_to_columns;
use crate::dictionary::Dictionary;
use crate::ensemble::strips::{STRIP, piece, pieces, strip};
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::{Error, Result, expect_size};
use crate::kernels::best_level;
use crate::masses::normalise;
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;
use crate::sums::squared_distance_by;

use super::division::{Division, Sums};
use super::products::Products;
use super::{Boost, Round, Stop, own_atoms, weights_of_rounds};

/// How far the numbers of a stored round may be from those computed again, which other processors round differently.
const SAME: f64 = 1e-3;

/// Why a stored round is refused.
const NOT_THESE: &str = "this round was not trained on these samples with this coder, phi, n_judged and validation";

/// Boosting between two rounds.
///
/// A caller that wants to save what it has after each round calls [`step_with_codes`](Self::step_with_codes) itself, keeps
/// of every round its [`BoostedRound`](super::BoostedRound) and comes back by [`Boost::resume`].
///
/// # Example
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::{Boost, BoostedRound};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
/// let (learner, coder) = (Examples { n_atoms: 3 }, OneSparse::default());
/// let boost = Boost { n_models: 3, ..Boost::new(&learner, &coder) };
/// let mut boosting = boost.start(samples.view())?;
/// let (round, codes) = boosting.step_with_codes(Run::default())?.expect("there is a first round");
///
/// // Left after one round, and taken up again without coding anything again.
/// let done = BoostedRound { dictionary: boosting.members()[0].clone(), round, codes };
/// let mut again = boost.resume(samples.view(), &mut [Ok(done)].into_iter(), Run::default())?;
/// while again.step(Run::default())?.is_some() {}
/// assert_eq!(again.ensemble()?.beta(), boost.fit(samples.view(), Run::default())?.beta());
/// # Ok::<(), sparsemble::Error>(())
/// ```
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

/// A round and the codes of all samples in it, strip after strip.
pub(crate) type CodedRound<T> = (Round, Vec<SparseCodes<T>>);

/// What coding one strip leaves behind.
struct Coded<'c, T: Clone> {
    /// Borrowed if they have been known before.
    codes: Cow<'c, SparseCodes<T>>,
    /// e_l(i).
    energies: Vec<f64>,
    products: Products,
    unconverged: usize,
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
        Ok(self.step_with_codes(run)?.map(|(round, _)| round))
    }

    /// [`Self::step`], with the codes of all samples in its member: strips of samples, one after the other.
    ///
    /// # Errors
    /// See [`Boost`].
    pub fn step_with_codes(&mut self, run: Run<'_>) -> Result<Option<CodedRound<T>>> {
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

    /// A round but for the learning; `known` is what came of it if it has been done before: nothing is coded again then,
    /// and no codes come back.
    pub(super) fn take(
        &mut self,
        dictionary: Dictionary<T>,
        known: Option<&CodedRound<T>>,
        run: Run<'_>,
    ) -> Result<CodedRound<T>> {
        (T::instances().boosting)(self, dictionary, known, run)
    }

    /// [`Self::take`]; see [`crate::instances`].
    pub(crate) fn take_here(
        &mut self,
        dictionary: Dictionary<T>,
        known: Option<&CodedRound<T>>,
        run: Run<'_>,
    ) -> Result<CodedRound<T>> {
        expect_size("dictionary: number of features (that of samples)", self.samples.rows(), dictionary.n_features())?;
        let mut model = SparseModel::plain(&dictionary)?;
        if let Some(phi) = self.settings.phi {
            model = model.degraded_by(phi)?;
        }
        let n_samples = self.samples.columns();
        let strips = if let Some((_, codes)) = known {
            self.recall(&model, codes, run)?
        } else {
            let own = self.settings.exclude_own.then(|| own_atoms(&dictionary, n_samples)).transpose()?;
            self.code(&model, own.as_deref(), run)?
        };
        let known = known.map(|(round, _)| round);
        let mut products = Products::default();
        for strip in &strips {
            products.add(1.0, strip.products);
        }
        let alpha = self.alpha(products)?;
        let alpha = known.map_or(Ok(alpha), |known| same("alpha", known.alpha, alpha, 1.0))?;
        let (masses, member_error) = self.next_masses(&strips)?;
        let errors = self.advance(&model, alpha, &strips, run)?;
        let (error, validation_error) = self.division.means(errors);
        let round = match known {
            None => {
                let unconverged = strips.iter().map(|strip| strip.unconverged).sum();
                Round { alpha, member_error, error, validation_error, unconverged }
            }
            Some(&known) => {
                same("member_error", known.member_error, member_error, 0.0)?;
                same("error", known.error, error, 0.0)?;
                if let (Some(known), Some(now)) = (known.validation_error, validation_error) {
                    same("validation_error", known, now, 0.0)?;
                }
                if known.validation_error.is_some() != validation_error.is_some() {
                    return Err(Error::parameter("validation", "other", NOT_THESE));
                }
                known
            }
        };
        if self.members.is_empty() {
            self.energy = products.error; // X_0 is zero
        }
        self.members.push(dictionary);
        self.curve.push(round);
        self.masses = masses;
        self.stopped = self.reason_to_stop(errors.training);
        let new = |strip: Coded<'_, T>| match strip.codes {
            Cow::Owned(codes) => Some(codes),
            Cow::Borrowed(_) => None,
        };
        Ok((round, strips.into_iter().filter_map(new).collect()))
    }

    /// Takes the codes of all samples as they are, and compares as [`Self::code`] does.
    fn recall<'c>(
        &self,
        model: &SparseModel<T>,
        codes: &'c [SparseCodes<T>],
        run: Run<'_>,
    ) -> Result<Vec<Coded<'c, T>>> {
        expect_size("codes: number of strips", self.samples.columns().div_ceil(STRIP), codes.len())?;
        let work = |(): &mut (), range: Range<usize>| {
            let codes = codes.get(range.start / STRIP);
            let fits = |codes: &&SparseCodes<T>| (codes.n_atoms(), codes.n_samples()) == (model.n_atoms(), range.len());
            let Some(codes) = codes.filter(fits) else { return Err(Error::parameter("codes", "others", NOT_THESE)) };
            let x = strip(self.samples, range.clone())?;
            Ok(self.compared(model, &x, range, Cow::Borrowed(codes)))
        };
        run.map_blocks(self.samples.columns(), STRIP, || (), work)
    }

    /// Codes all samples, each without its `own` atom, and compares what they become with what they are and with what
    /// they were before.
    fn code(
        &self,
        model: &SparseModel<T>,
        own: Option<&[Option<usize>]>,
        run: Run<'_>,
    ) -> Result<Vec<Coded<'static, T>>> {
        let work = |(): &mut (), range: Range<usize>, pulse: &Pulse<'_>| {
            let x = strip(self.samples, range.clone())?;
            let seen = self.settings.phi.map(|phi| apply_to_columns(phi, x.view())).transpose()?;
            let mut inputs = Samples::new(seen.as_ref().unwrap_or(&x).view());
            if let Some(own) = own {
                inputs = inputs.excluding(&own[range.clone()]);
            }
            let coding = pulse.within(|run| self.settings.coder.encode(model.basis(), &inputs, run))?;
            let unconverged = coding.report.unconverged();
            Ok(Coded { unconverged, ..self.compared(model, &x, range, Cow::Owned(coding.codes)) })
        };
        run.map_long_blocks(self.samples.columns(), STRIP, || (), work)
    }

    /// What one strip becomes by these codes.
    fn compared<'c>(
        &self,
        model: &SparseModel<T>,
        x: &Matrix<T>,
        range: Range<usize>,
        codes: Cow<'c, SparseCodes<T>>,
    ) -> Coded<'c, T> {
        let energies = Vec::with_capacity(range.len());
        let mut coded = Coded { codes, energies, products: Products::default(), unconverged: 0 };
        dispatch!(best_level(), simd => self.compare(simd, model, x, range, &mut coded));
        coded
    }

    #[inline(always)]
    fn compare<S: Simd>(
        &self,
        simd: S,
        model: &SparseModel<T>,
        x: &Matrix<T>,
        range: Range<usize>,
        coded: &mut Coded<'_, T>,
    ) {
        let mut member = vec![T::ZERO; x.rows()];
        let judged = self.judged();
        for (slot, sample) in range.enumerate() {
            model.synthesise(simd, &coded.codes, slot, &mut member);
            let [x, before] = [x.column(slot), self.approximations.column(sample)].map(|column| &column[..judged]);
            let products = Products::of(simd, x, before, &member[..judged]);
            coded.products.add(self.division.training_mass(sample), products);
            coded.energies.push(products.member);
        }
    }

    /// How many features errors are taken of.
    fn judged(&self) -> usize {
        self.settings.n_judged.unwrap_or(self.samples.rows())
    }

    /// α_l by Eq. (12), and 1 in the first round.
    fn alpha(&self, products: Products) -> Result<f64> {
        let alpha = match self.members.len() {
            0 => 1.0,
            _ if products.step > self.rounding() => products.both / products.step,
            _ => 0.0, // the member says what the ensemble says already; a quotient of rounding errors could be huge
        };
        if !(products.error.is_finite() && alpha.is_finite()) {
            return Err(Error::parameter("samples: energy", products.error, "is not a finite number; scale the data"));
        }
        Ok(alpha)
    }

    /// p_{l+1} from the energies e_l, normalised, and the mean of these energies.
    fn next_masses(&self, strips: &[Coded<'_, T>]) -> Result<(Vec<f64>, f64)> {
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
    fn advance(&mut self, model: &SparseModel<T>, alpha: f64, strips: &[Coded<'_, T>], run: Run<'_>) -> Result<Sums> {
        let (samples, division, judged) = (self.samples, &self.division, self.judged());
        let pieces = pieces(&mut self.approximations);
        let step = (T::from_f64(1.0 - alpha), T::from_f64(alpha));
        let work = |[x, member]: &mut [Vec<T>; 2], range: Range<usize>| {
            let codes = &strips[range.start / STRIP].codes;
            let mut now = piece(&pieces, range.start);
            let mut errors = Vec::with_capacity(range.len());
            dispatch!(best_level(), simd => {
                for ((slot, sample), now) in range.clone().enumerate().zip(now.chunks_exact_mut(x.len().max(1))) {
                    model.synthesise(simd, codes, slot, member);
                    mix(simd, step, member, now);
                    samples.copy_column(sample, x);
                    errors.push(squared_distance_by(simd, &x[..judged], &now[..judged]));
                }
            });
            Ok(division.sums(range.clone(), |i| errors[i - range.start]))
        };
        let scratch = || [vec![T::ZERO; samples.rows()], vec![T::ZERO; samples.rows()]];
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

    /// The member of the last round alone, with its row of the curve.
    ///
    /// # Errors
    /// If there has been no round yet.
    pub(crate) fn last_round(&self) -> Result<Ensemble<T>> {
        let models = self.members.last().map(SparseModel::plain).transpose()?;
        let curve = &self.curve[self.curve.len().saturating_sub(1)..];
        Ok(Ensemble::new(models.into_iter().collect(), vec![1.0])?.with_training(self.settings.training(curve)))
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

/// The known number, if it is the one computed again but for rounding. `unit` is a size at which a difference counts, if
/// the numbers have one.
fn same(name: &'static str, known: f64, now: f64, unit: f64) -> Result<f64> {
    if (known - now).abs() <= SAME * now.abs().max(unit) {
        return Ok(known);
    }
    Err(Error::parameter(name, known, NOT_THESE))
}

/// now ← keep·now + take·member.
#[inline(always)]
fn mix<S: Simd, T: Scalar>(_: S, (keep, take): (T, T), member: &[T], now: &mut [T]) {
    now.iter_mut().zip(member).for_each(|(now, &member)| *now = keep * *now + take * member);
}
