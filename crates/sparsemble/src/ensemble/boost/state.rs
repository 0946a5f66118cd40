//! The state of boosting, and one round of it (§III-B, Eqs. (9)–(12)).

use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::blocks::{Pulse, Run};
use crate::coding::{CodeStrips, Samples, SparseCodes};
use crate::degradation::apply_to_columns;
use crate::dictionary::Dictionary;
use crate::ensemble::strips::{STRIP, strip};
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::{Error, Result, expect_size};
use crate::kernels::best_level;
use crate::masses::normalise;
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;
use crate::sums::squared_distance_by;

use super::aside::Approximations;
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
/// let mut boosting = boost.start(samples.view(), Run::default())?;
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
    approximations: Approximations<T>,
    /// Why X_l is of no use any more: it was moved half-way when a file could not be read or written.
    lost: Option<Error>,
    /// ‖X‖² over the training samples by mass, known after the first round.
    energy: f64,
    members: Vec<Dictionary<T>>,
    curve: Vec<Round>,
    stopped: Option<Stop>,
}

/// A round and the codes of all samples in it.
pub(crate) type CodedRound<T> = (Round, CodeStrips<T>);

/// What the codes of one strip make of it.
struct Compared {
    /// e_l(i).
    energies: Vec<f64>,
    products: Products,
    unconverged: usize,
}

impl<'a, T: Scalar> Boosting<'a, T> {
    pub(super) fn new(settings: &'a Boost<'a, T>, samples: MatrixView<'a, T>, run: Run<'_>) -> Result<Self> {
        settings.check(samples)?;
        let division = Division::new(settings, samples.columns())?;
        Ok(Self {
            settings,
            samples,
            masses: division.first_masses(),
            division,
            approximations: Approximations::zeros(samples.rows(), samples.columns(), run)?,
            lost: None,
            energy: 0.0,
            members: Vec::new(),
            curve: Vec::new(),
            stopped: None,
        })
    }

    /// One round: learn, code, weigh, move, and set the next masses. `None` if boosting has ended: see
    /// [`stopped`](Self::stopped).
    ///
    /// If it fails or is interrupted, nothing has changed and it can be called again; but for a file of
    /// [`Run::scratch_in`] that could not be read or written, after which boosting cannot go on.
    ///
    /// # Errors
    /// See [`Boost`].
    pub fn step(&mut self, run: Run<'_>) -> Result<Option<Round>> {
        Ok(self.step_with_codes(run)?.map(|(round, _)| round))
    }

    /// [`Self::step`], with the codes of all samples in its member.
    ///
    /// # Errors
    /// See [`Boost`].
    pub fn step_with_codes(&mut self, run: Run<'_>) -> Result<Option<CodedRound<T>>> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        self.expect_whole()?;
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

    /// Refuses X_l that was moved half-way.
    fn expect_whole(&self) -> Result<()> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// A round but for the learning; `known` is what came of it if it has been done before: nothing is coded again then.
    pub(super) fn take(
        &mut self,
        dictionary: Dictionary<T>,
        known: Option<CodedRound<T>>,
        run: Run<'_>,
    ) -> Result<CodedRound<T>> {
        (T::instances().boosting)(self, dictionary, known, run)
    }

    /// [`Self::take`]; see [`crate::instances`].
    pub(crate) fn take_here(
        &mut self,
        dictionary: Dictionary<T>,
        known: Option<CodedRound<T>>,
        run: Run<'_>,
    ) -> Result<CodedRound<T>> {
        expect_size("dictionary: number of features (that of samples)", self.samples.rows(), dictionary.n_features())?;
        let mut model = SparseModel::plain(&dictionary)?;
        if let Some(phi) = self.settings.phi {
            model = model.degraded_by(phi)?;
        }
        let (known, codes, strips) = if let Some((round, codes)) = known {
            let strips = self.recall(&model, &codes, run)?;
            (Some(round), codes, strips)
        } else {
            let own = self.settings.exclude_own.then(|| own_atoms(&dictionary, self.samples.columns())).transpose()?;
            let (codes, strips) = self.code(&model, own.as_deref(), run)?;
            (None, codes, strips)
        };
        let mut products = Products::default();
        for strip in &strips {
            products.add(1.0, strip.products);
        }
        let alpha = self.alpha(products)?;
        let alpha = known.map_or(Ok(alpha), |known| same("alpha", known.alpha, alpha, 1.0))?;
        let (masses, member_error) = self.next_masses(&strips)?;
        let errors = self.advance(&model, alpha, &codes, run);
        let errors = errors.inspect_err(|error| self.lost = Some(error.clone()))?;
        let (error, validation_error) = self.division.means(errors);
        let round = match known {
            None => {
                let unconverged = strips.iter().map(|strip| strip.unconverged).sum();
                Round { alpha, member_error, error, validation_error, unconverged }
            }
            Some(known) => {
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
        Ok((round, codes))
    }

    /// Takes the codes of all samples as they are, and compares as [`Self::code`] does.
    fn recall(&self, model: &SparseModel<T>, codes: &CodeStrips<T>, run: Run<'_>) -> Result<Vec<Compared>> {
        expect_size("codes: number of strips", self.samples.columns().div_ceil(STRIP), codes.len())?;
        let work = |(): &mut (), range: Range<usize>| {
            let codes = codes.get(range.start / STRIP)?;
            if (codes.n_atoms(), codes.n_samples()) != (model.n_atoms(), range.len()) {
                return Err(Error::parameter("codes", "others", NOT_THESE));
            }
            let x = strip(self.samples, range.clone())?;
            self.compared(model, &x, range, &codes)
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
    ) -> Result<(CodeStrips<T>, Vec<Compared>)> {
        let shelf = self.approximations.shelf()?;
        let work = |(): &mut (), range: Range<usize>, pulse: &Pulse<'_>| {
            let x = strip(self.samples, range.clone())?;
            let seen = self.settings.phi.map(|phi| apply_to_columns(phi, x.view())).transpose()?;
            let mut inputs = Samples::new(seen.as_ref().unwrap_or(&x).view());
            if let Some(own) = own {
                inputs = inputs.excluding(&own[range.clone()]);
            }
            let coding = pulse.within(|run| self.settings.coder.encode(model.basis(), &inputs, run))?;
            let compared = self.compared(model, &x, range, &coding.codes)?;
            let unconverged = coding.report.unconverged();
            Ok((shelf.put(coding.codes)?, Compared { unconverged, ..compared }))
        };
        let strips = run.map_long_blocks(self.samples.columns(), STRIP, || (), work)?;
        let (codes, compared): (Vec<_>, _) = strips.into_iter().unzip();
        Ok((codes.into_iter().collect(), compared))
    }

    /// What one strip becomes by these codes.
    fn compared(
        &self,
        model: &SparseModel<T>,
        x: &Matrix<T>,
        range: Range<usize>,
        codes: &SparseCodes<T>,
    ) -> Result<Compared> {
        let before = self.approximations.piece(range.clone())?;
        Ok(dispatch!(best_level(), simd => self.compare(simd, (x, &before), model, range, codes)))
    }

    #[inline(always)]
    fn compare<S: Simd>(
        &self,
        simd: S,
        (x, before): (&Matrix<T>, &[T]),
        model: &SparseModel<T>,
        range: Range<usize>,
        codes: &SparseCodes<T>,
    ) -> Compared {
        let energies = Vec::with_capacity(range.len());
        let mut compared = Compared { energies, products: Products::default(), unconverged: 0 };
        let mut member = vec![T::ZERO; x.rows()];
        let (judged, columns) = (self.judged(), before.chunks_exact(x.rows().max(1)));
        for ((slot, sample), before) in range.enumerate().zip(columns) {
            model.synthesise(simd, codes, slot, &mut member);
            let products = Products::of(simd, &x.column(slot)[..judged], &before[..judged], &member[..judged]);
            compared.products.add(self.division.training_mass(sample), products);
            compared.energies.push(products.member);
        }
        compared
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
    fn next_masses(&self, strips: &[Compared]) -> Result<(Vec<f64>, f64)> {
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
    fn advance(&self, model: &SparseModel<T>, alpha: f64, codes: &CodeStrips<T>, run: Run<'_>) -> Result<Sums> {
        let (samples, division, judged) = (self.samples, &self.division, self.judged());
        let step = (T::from_f64(1.0 - alpha), T::from_f64(alpha));
        let work = |[x, member]: &mut [Vec<T>; 2], range: Range<usize>| {
            let codes = codes.get(range.start / STRIP)?;
            let mut piece = self.approximations.piece(range.clone())?;
            let mut errors = Vec::with_capacity(range.len());
            dispatch!(best_level(), simd => {
                for ((slot, sample), now) in range.clone().enumerate().zip(piece.chunks_exact_mut(x.len().max(1))) {
                    model.synthesise(simd, &codes, slot, member);
                    mix(simd, step, member, now);
                    samples.copy_column(sample, x);
                    errors.push(squared_distance_by(simd, &x[..judged], &now[..judged]));
                }
            });
            self.approximations.put_back(piece)?;
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

    /// X_l, the approximations so far, M × T; zeros before the first round.
    ///
    /// # Errors
    /// If they are in a file that cannot be read, or could not be written.
    pub fn approximations(&self) -> Result<Matrix<T>> {
        self.expect_whole()?;
        self.approximations.matrix()
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
