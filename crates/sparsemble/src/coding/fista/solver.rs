//! The steps, sample by sample.

use std::mem::swap;
use std::ops::Range;

use crate::blocks::Pulse;
use crate::coding::{Coding, CodingReport, SampleStatus, Samples, SparseCodes};
use crate::error::Result;
use crate::kernels::Columns;
use crate::scalar::Scalar;

use super::operator::Operator;
use super::{Fista, Momentum};

/// Samples in a block. Each takes tens to thousands of passes over the dictionary, so small blocks cost nothing.
pub(super) const BLOCK: usize = 8;

/// A curvature that was met is taken this much larger, so that the next step does not meet a little more.
const CURVATURE_MARGIN: f64 = 1.1;

/// A sample and its penalty.
pub(super) struct Target<T> {
    pub(super) values: Vec<T>,
    /// One for an observed value, zero for a missing one.
    pub(super) mask: Vec<T>,
    pub(super) excluded: Option<usize>,
    /// λ for the tamed sample.
    lambda: f64,
    energy: f64,
}

/// A code with its residual r = x − Fa and its correlations c = Fᵀr.
pub(super) struct Point<T> {
    /// The code before it was rounded: a step can be smaller than a single-precision code could follow.
    exact: Vec<f64>,
    pub(super) code: Vec<T>,
    pub(super) residual: Vec<T>,
    pub(super) correlations: Vec<T>,
}

impl<T: Scalar> Point<T> {
    fn new(n_atoms: usize, n_values: usize) -> Self {
        let zeros = |length| vec![T::ZERO; length];
        Self {
            exact: vec![0.0; n_atoms],
            code: zeros(n_atoms),
            residual: zeros(n_values),
            correlations: zeros(n_atoms),
        }
    }
}

/// What a step did: next is where it arrived, y where it was taken from and now where the one before had arrived.
#[derive(Default)]
struct Step {
    /// ‖next − y‖²
    length: f64,
    /// ‖F(next − y)‖²
    image: f64,
    /// ⟨y − next, next − now⟩: positive if the momentum points uphill.
    uphill: f64,
    /// Whether next differs from now.
    moved: bool,
}

/// One thread's working space.
pub(super) struct Solver<'a, T> {
    coder: &'a Fista,
    operator: &'a Operator<'a, T>,
    /// What each tamed atom's coefficient costs, in units of λ.
    prices: Vec<f64>,
    samples: Columns<T>,
    scales: Vec<f64>,
    target: Target<T>,
    before: Point<T>,
    now: Point<T>,
    next: Point<T>,
    /// The code with the least gap so far.
    best: Vec<T>,
    features: Vec<T>,
}

impl<'a, T: Scalar> Solver<'a, T> {
    pub(super) fn new(coder: &'a Fista, operator: &'a Operator<'a, T>) -> Self {
        let basis = operator.basis();
        let (n_atoms, n_values) = (basis.n_atoms(), operator.n_values());
        let (values, mask) = (vec![T::ZERO; n_values], vec![T::ONE; n_values]);
        let [before, now, next] = [(); 3].map(|()| Point::new(n_atoms, n_values));
        Self {
            coder,
            operator,
            prices: (0..n_atoms).map(|j| finite(1.0 / basis.scale(j))).collect(),
            samples: Columns::zeros(n_values, BLOCK),
            scales: Vec::with_capacity(BLOCK),
            target: Target { values, mask, excluded: None, lambda: 0.0, energy: 0.0 },
            before,
            now,
            next,
            best: vec![T::ZERO; n_atoms],
            features: operator.features(),
        }
    }

    pub(super) fn encode_block(
        &mut self,
        samples: &Samples<'_, T>,
        range: Range<usize>,
        pulse: &Pulse<'_>,
    ) -> Result<Coding<T>> {
        let basis = self.operator.basis();
        let mut block = Coding { codes: SparseCodes::new(basis.n_atoms()), report: CodingReport::empty() };
        samples.load(range.clone(), &mut self.samples, &mut self.scales)?;
        for (slot, sample) in range.enumerate() {
            let scale = self.scales[slot];
            self.target.values.copy_from_slice(self.samples.column(slot));
            self.target.energy = energy(&self.target.values);
            self.target.lambda = finite(self.coder.lambda / scale);
            self.target.excluded = samples.excluded_atom(sample);
            samples.load_mask(sample, &mut self.target.mask);
            let (status, passes, gap) = self.solve(pulse)?;
            block.report.push(status, passes, Some(gap));
            let entries = self.best.iter().enumerate().filter(|(_, a)| a.abs() > T::ZERO);
            block.codes.push(entries.map(|(j, a)| (j as u32, basis.coefficient(j as u32, a.to_f64(), scale))));
        }
        Ok(block)
    }

    /// Leaves the code with the least gap in `best`; returns how it ended, the passes and that gap over ‖x‖².
    fn solve(&mut self, pulse: &Pulse<'_>) -> Result<(SampleStatus, usize, f64)> {
        let (mut curvature, mut speed) = (self.operator.curvature(), 1.0_f64);
        let (mut passes, mut least_gap, mut at_rest) = (1, f64::INFINITY, false);
        self.start();
        loop {
            let gap = self.gap();
            if gap < least_gap {
                least_gap = gap;
                self.best.copy_from_slice(&self.now.code);
            }
            if least_gap <= self.coder.tolerance {
                return Ok((SampleStatus::Converged, passes, least_gap));
            }
            if at_rest {
                return Ok((SampleStatus::PrecisionLimit, passes, least_gap));
            }
            if passes >= self.coder.max_iterations {
                return Ok((SampleStatus::IterationLimit, passes, least_gap));
            }
            let next_speed = match self.coder.momentum {
                Momentum::None => 1.0,
                Momentum::Nesterov => f64::midpoint(1.0, (1.0 + 4.0 * speed * speed).sqrt()),
            };
            let push = (speed - 1.0) / next_speed;
            let step = self.step_within(push, &mut curvature, &mut passes, pulse)?;
            speed = if step.uphill >= 0.0 { 1.0 } else { next_speed };
            // A step without momentum that changes no bit will change none ever after.
            at_rest = !step.moved && push <= 0.0;
            swap(&mut self.before, &mut self.now);
            swap(&mut self.now, &mut self.next);
        }
    }

    fn start(&mut self) {
        self.now.exact.fill(0.0);
        self.now.code.fill(T::ZERO);
        self.operator.evaluate(&self.target, &mut self.features, &mut self.now);
        self.before.exact.fill(0.0);
        self.before.residual.copy_from_slice(&self.now.residual);
        self.before.correlations.copy_from_slice(&self.now.correlations);
    }

    /// The duality gap of `now` as a fraction of ‖x‖².
    ///
    /// Every θ with |Fᵀθ| ≤ λ/2 (Fᵀθ ≤ λ/2 if a ≥ 0) bounds the minimum from below by 2⟨θ, x⟩ − ‖θ‖². With θ = s·r
    /// the difference to ‖r‖² + λ‖a‖₁ is (1 − s)²‖r‖² + Σ (λ|a| − 2s·a·c), in which no term is negative; so the gap
    /// stays accurate when it is tiny.
    fn gap(&self) -> f64 {
        let Target { lambda, energy: x_energy, .. } = self.target;
        if x_energy <= 0.0 {
            return 0.0;
        }
        let r_energy = energy(&self.now.residual);
        let (mut largest, mut price, mut agreement) = (0.0_f64, 0.0, 0.0);
        for ((a, c), unit_price) in self.now.code.iter().zip(&self.now.correlations).zip(&self.prices) {
            let (a, c) = (a.to_f64(), c.to_f64());
            largest = largest.max(if self.coder.nonnegative { c } else { c.abs() } / unit_price);
            price += a.abs() * unit_price;
            agreement += a * c;
        }
        let feasible = if largest > 0.0 { 0.5 * lambda / largest } else { f64::INFINITY };
        let wanted = if r_energy > 0.0 { (1.0 + agreement / r_energy).max(0.0) } else { 1.0 };
        let s = feasible.min(wanted);
        let gap = (1.0 - s).powi(2) * r_energy + (lambda * price - 2.0 * s * agreement).max(0.0);
        gap / x_energy
    }

    /// A step that met no more curvature than it reckoned with, which may take several tries.
    fn step_within(&mut self, push: f64, curvature: &mut f64, passes: &mut usize, pulse: &Pulse<'_>) -> Result<Step> {
        // The image is a difference of residuals: below their rounding errors it says nothing about the curvature.
        let rounding = (64.0 * T::EPSILON.to_f64()).powi(2) * self.target.energy;
        loop {
            pulse.count(self.operator.work())?;
            let step = self.step(push, *curvature);
            *passes += 1;
            if step.image <= *curvature * step.length + rounding || *passes >= self.coder.max_iterations {
                return Ok(step);
            }
            *curvature = CURVATURE_MARGIN * step.image / step.length;
        }
    }

    /// The proximal gradient step from y = now + push·(now − before), into `next`.
    fn step(&mut self, push: f64, curvature: f64) -> Step {
        let ahead = |now: f64, before: f64| now + push * (now - before);
        let (rate, threshold) = (1.0 / curvature, 0.5 * self.target.lambda / curvature);
        let mut step = Step::default();
        let now = self.now.exact.iter().zip(&self.now.correlations);
        let before = self.before.exact.iter().zip(&self.before.correlations);
        let next = self.next.exact.iter_mut().zip(&mut self.next.code);
        for (((next, code), price), ((&a, &c), (&a_before, &c_before))) in next.zip(&self.prices).zip(now.zip(before)) {
            let y = ahead(a, a_before);
            *next = self.coder.shrink(y + rate * ahead(c.to_f64(), c_before.to_f64()), threshold * price);
            *code = T::from_f64(*next);
            step.length += (*next - y).powi(2);
            step.uphill += (y - *next) * (*next - a);
            step.moved |= (*next - a).abs() > 0.0;
        }
        self.operator.evaluate(&self.target, &mut self.features, &mut self.next);
        let residuals = self.now.residual.iter().zip(&self.before.residual).zip(&self.next.residual);
        step.image =
            residuals.map(|((r, before), next)| (ahead(r.to_f64(), before.to_f64()) - next.to_f64()).powi(2)).sum();
        step
    }
}

impl Fista {
    /// The proximal map of the penalty: towards zero by `threshold`, and there it stays.
    fn shrink(&self, value: f64, threshold: f64) -> f64 {
        if self.nonnegative { (value - threshold).max(0.0) } else { (value.abs() - threshold).max(0.0).copysign(value) }
    }
}

/// A price beyond all numbers is the largest number: no code will pay either, and zero times it is still zero.
fn finite(price: f64) -> f64 {
    price.min(f64::MAX)
}

/// ‖v‖², summed in double precision.
fn energy<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|value| value.to_f64().powi(2)).sum()
}
