//! The elastic net: the lasso with a ridge, by the active sets of the lasso.
//!
//! It is the lasso in the dictionary (D; √ρ·I), which is never formed: the ridge changes the small systems of the active set
//! and the duality gap, and nothing else. The correlations of the atoms in use exceed λ/2 by ρ|a|, so that they would
//! hide others from the running maxima of the lasso's pass; here all correlations of a block are stored and looked at.

use std::ops::Range;

use crate::blocks::{Pulse, Run, block_size};
use crate::coding::{Coding, CodingBasis, SampleStatus, Samples, SparseCoder, join};
use crate::error::{Error, Result};
use crate::kernels::{Columns, Store, Tiles, correlate};
use crate::scalar::Scalar;

use super::active_set::{ActiveSet, Problem, Work};
use super::certificate::{gap_of_products, product};
use super::outcome::{Code, collect};

/// Samples coded at a time: few enough that their correlations with many atoms stay in cache.
const BLOCK: usize = 24;

/// The most atoms that may join a working set in a round.
const NEWCOMERS: usize = 64;

/// The elastic net: min over a of ‖x − Da‖² + λ‖a‖₁ + ρ‖a‖².
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `lambda` | λ | – | how sparse | > 0 |
/// | `ridge` | ρ | – | how alike the coefficients of like atoms | > 0; for zero use [`Lasso`](super::Lasso) |
/// | `relative` | | `false` | λ in units of each sample's own [`lambda_max`](super::lambda_max), ρ of (λ_max/2‖x‖)² | |
/// | `nonnegative` | a ≥ 0 | `false` | allow only positive coefficients | |
/// | `tolerance` | | 10⁻⁶ | largest duality gap, as a fraction of ‖x‖² | > 0 |
/// | `max_rounds` | | 100 | passes over the dictionary | ≥ 1 |
///
/// scikit-learn's `ElasticNet` has `alpha·l1_ratio` = λ/2M and `alpha·(1 − l1_ratio)` = ρ/M. The ridge makes the code unique
/// and spreads it over atoms that are alike, which keeps the samples of a cluster connected.
///
/// # Shapes
/// D is M × K with any columns, the samples M × T, the codes K × T.
///
/// # Cost
/// Per sample a few passes of M·K multiply-adds at the speed of a matrix product, plus about |S|(M + |S|) for every atom
/// that enters the support S. Memory for 24·K correlations a thread.
///
/// # Errors
/// See [`SparseCoder::encode`]. Not reaching the tolerance is reported by sample, not an error.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodingBasis, ElasticNet, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// // Two equal atoms share what one would take.
/// let basis = CodingBasis::new(Matrix::from_columns(vec![1.0, 0.0, 1.0, 0.0], 2, 2)?.view())?;
/// let sample = Matrix::from_columns(vec![3.0, 1.0], 2, 1)?;
/// let coding = ElasticNet::new(1.0, 0.5).encode(&basis, &Samples::new(sample.view()), Run::default())?;
/// let shares: Vec<f64> = coding.codes.column(0).map(|(_, share)| share).collect();
/// assert!(shares.len() == 2 && shares.iter().all(|share: &f64| (share - 1.0).abs() < 1e-12));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElasticNet {
    /// λ.
    pub lambda: f64,
    /// ρ.
    pub ridge: f64,
    /// Whether λ is in units of each sample's own λ_max, above which its code is zero, and ρ of (λ_max/2‖x‖)²: which atoms
    /// are used then depends neither on how large samples are nor on how large atoms are all together.
    pub relative: bool,
    /// Allow only positive coefficients.
    pub nonnegative: bool,
    /// The largest duality gap of a finished sample, as a fraction of its energy ‖x‖².
    pub tolerance: f64,
    /// The most passes over the dictionary; a sample not finished by then is reported.
    pub max_rounds: usize,
}

impl ElasticNet {
    /// The default settings.
    pub fn new(lambda: f64, ridge: f64) -> Self {
        Self { lambda, ridge, relative: false, nonnegative: false, tolerance: 1e-6, max_rounds: 100 }
    }

    /// λ/2 and ρ for a sample divided by `scale`, given its largest correlation with an atom and its energy after that.
    fn prices(&self, scale: f64, largest: f64, energy: f64) -> (f64, f64) {
        if self.relative {
            (self.lambda * largest, self.ridge * largest * largest / energy.max(f64::MIN_POSITIVE))
        } else {
            (0.5 * self.lambda / scale, self.ridge)
        }
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("lambda", self.lambda), ("ridge", self.ridge), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "must be positive and finite"));
            }
        }
        if self.max_rounds == 0 {
            return Err(Error::parameter("max_rounds", 0, "must be at least 1"));
        }
        Ok(())
    }
}

impl<T: Scalar> SparseCoder<T> for ElasticNet {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        (T::instances().elastic_net)(self, basis, samples, run)
    }
}

impl ElasticNet {
    /// [`SparseCoder::encode`]; see [`crate::instances`].
    pub(crate) fn encode_here<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        samples: &Samples<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        self.check()?;
        samples.check(basis)?;
        if let Some(atom) = (0..basis.n_atoms()).find(|&j| basis.scale(j).to_bits() != 1.0_f64.to_bits()) {
            let reason = "the norm of this atom is extreme; scale the dictionary";
            return Err(Error::parameter("dictionary: atom", atom, reason));
        }
        let size = block_size(BLOCK, basis.work());
        let scratch = || Block::new((self, size), basis, samples.is_masked());
        let work = |block: &mut Block<'_, T>, range, pulse: &Pulse<'_>| block.encode(samples, range, pulse);
        Ok(join(basis.n_atoms(), run.map_long_blocks(samples.count(), size, scratch, work)?))
    }
}

/// One thread's block of samples.
struct Block<'b, T> {
    coder: &'b ElasticNet,
    basis: &'b CodingBasis<T>,
    x: Columns<T>,
    residuals: Columns<T>,
    /// Ones where a sample was observed; `None` if all are whole.
    masks: Option<Columns<T>>,
    scales: Vec<f64>,
    tiles: Tiles<T>,
    correlations: Store<T>,
    states: Vec<State>,
    /// Samples not finished yet; the sample in slot s of the pass is `live[s]`.
    live: Vec<usize>,
    work: Work<'b, T>,
}

/// Where one sample stands.
#[derive(Default)]
struct State {
    active: ActiveSet,
    excluded: Option<usize>,
    mu: f64,
    ridge: f64,
    gap: f64,
    rounds: usize,
    status: Option<SampleStatus>,
}

impl<'b, T: Scalar> Block<'b, T> {
    fn new((coder, room): (&'b ElasticNet, usize), basis: &'b CodingBasis<T>, masked: bool) -> Self {
        let rows = basis.n_features();
        let x = Columns::zeros(rows, room);
        Self {
            coder,
            basis,
            residuals: Columns::zeros(rows, room),
            masks: masked.then(|| Columns::zeros(rows, room)),
            scales: Vec::with_capacity(room),
            tiles: Tiles::new(rows, room),
            correlations: Store::new(basis.raw(), room),
            states: (0..room).map(|_| State::default()).collect(),
            live: Vec::with_capacity(room),
            work: Work::new(x.stride()),
            x,
        }
    }

    fn encode(&mut self, samples: &Samples<'_, T>, range: Range<usize>, pulse: &Pulse<'_>) -> Result<Coding<T>> {
        samples.load(range.clone(), &mut self.x, &mut self.scales)?;
        self.live.clear();
        self.live.extend(0..range.len());
        for (i, sample) in range.clone().enumerate() {
            self.residuals.padded_mut(i).copy_from_slice(self.x.padded(i));
            if let Some(masks) = &mut self.masks {
                samples.load_mask(sample, masks.padded_mut(i));
            }
            let state = &mut self.states[i];
            state.active.clear();
            (state.gap, state.rounds, state.status) = (f64::INFINITY, 0, None);
            state.excluded = samples.excluded_atom(sample);
        }
        while !self.live.is_empty() {
            pulse.count(self.live.len() * self.basis.work())?;
            self.tiles.clear();
            self.live.iter().for_each(|&i| self.tiles.push(self.residuals.column(i)));
            correlate(self.basis.raw(), &self.tiles, &mut self.correlations);
            for slot in 0..self.live.len() {
                self.certify_or_solve(slot, pulse);
            }
            self.live.retain(|&i| self.states[i].status.is_none());
        }
        pulse.count(0)?;
        collect(self.coder, (self.basis, samples), range, pulse, |i| {
            let state = &self.states[i];
            let code = Code::Support(&state.active.atoms, &state.active.coefficients);
            (code, self.scales[i], state.status, (state.rounds, state.gap))
        })
    }

    /// Finishes a sample whose gap is small enough; gives another what it misses and solves again.
    fn certify_or_solve(&mut self, slot: usize, pulse: &Pulse<'_>) {
        let i = self.live[slot];
        let (x, residual, state) = (self.x.padded(i), self.residuals.padded_mut(i), &mut self.states[i]);
        let correlations = self.correlations.of_mut(slot);
        let mut squares = 0.0;
        for (&atom, &a) in state.active.atoms.iter().zip(&state.active.coefficients) {
            let correlation = &mut correlations[atom as usize];
            *correlation = T::from_f64(correlation.to_f64() - state.ridge * a);
            squares += a * a;
        }
        if let Some(atom) = state.excluded {
            correlations[atom] = T::ZERO;
        }
        if self.coder.nonnegative {
            // What pulls an atom below zero pulls it nowhere.
            correlations.iter_mut().filter(|c| **c < T::ZERO).for_each(|c| *c = T::ZERO);
        }
        let largest = correlations.iter().fold(T::ZERO, |most, c| if c.abs() > most { c.abs() } else { most });
        let energy = product(x, x);
        if state.rounds == 0 {
            (state.mu, state.ridge) = self.coder.prices(self.scales[i], largest.to_f64(), energy);
        }
        let (mu, ridge) = (state.mu, state.ridge);
        let energies = (energy, product(x, residual), product(residual, residual) + ridge * squares);
        let before =
            std::mem::replace(&mut state.gap, gap_of_products(energies, mu, state.active.penalty(), largest.to_f64()));
        state.rounds += 1;
        let slack = 0.5 * mu * self.coder.tolerance.max(T::EPSILON.to_f64());
        state.status = if state.gap <= self.coder.tolerance {
            Some(SampleStatus::Converged)
        } else if state.rounds > self.coder.max_rounds {
            Some(SampleStatus::IterationLimit)
        } else {
            let news = newcomers(correlations, &state.active.atoms, mu + slack, &mut self.work.candidates);
            (!news && state.rounds > 3 && state.gap >= 0.5 * before).then_some(SampleStatus::PrecisionLimit)
        };
        if state.status.is_some() {
            return;
        }
        let problem = Problem {
            columns: self.basis.columns(),
            x,
            mask: self.masks.as_ref().map(|masks| masks.padded(i)),
            weights: None,
            nonnegative: self.coder.nonnegative,
            ridge,
            overview: None,
            floor: 0.25 * T::EPSILON.to_f64() * energies.0.sqrt(),
            pulse,
        };
        self.work.residual.copy_from_slice(residual);
        state.active.solve(self.basis.raw().level(), &problem, (mu, slack), &mut self.work);
        residual.copy_from_slice(&self.work.residual);
    }
}

/// The atoms not yet in use whose correlations exceed `limit`, or the most correlated of them; `false` if there are none.
fn newcomers<T: Scalar>(correlations: &[T], members: &[u32], limit: f64, out: &mut Vec<u32>) -> bool {
    out.clear();
    let limit = T::from_f64(limit);
    let above = correlations.iter().zip(0..).filter(|(c, _)| c.abs() > limit).map(|(_, atom)| atom);
    out.extend(above.filter(|atom| !members.contains(atom)));
    if out.len() > NEWCOMERS {
        let size = |atom: u32| correlations[atom as usize].abs().to_f64();
        out.sort_unstable_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        out.truncate(NEWCOMERS);
    }
    !out.is_empty()
}
