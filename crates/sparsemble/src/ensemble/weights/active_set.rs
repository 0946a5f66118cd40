//! The smallest affine combination of residuals: min γᵀHγ with Σγ = 1, and γ_l ≥ 0 where asked.
//!
//! Without signs the minimum is a small least-squares problem ([`Problem::affine_minimum`]). With signs an active-set
//! method walks from one such minimum to the next, starting at the best member: the one whose residual is most
//! opposed to that of the combination enters; the weights move towards the minimum on the new set; a weight that would
//! become negative stops the move and its member leaves. A step that does not lower the energy is undone and its member
//! refused until something else has helped, so no set occurs twice and rounding cannot make it go round in circles.
//! The factor of the small problem grows by a row with each member that enters ([`Factor`]): a step costs the square of
//! the number of members, not the cube.

use super::WeightConstraint;

/// A member nearer than this to the span of the others, by energy, counts as dependent and gets no weight: what it
/// could add would need weights of 10⁵ and more.
const DEPENDENT: f64 = 1e-10;

/// A member enters only if the condition of optimality is missed by more than this, as a fraction.
const SLACK: f64 = 1e-13;

/// γ, member 0 first.
pub(super) struct Solution {
    pub(super) gamma: Vec<f64>,
    /// See [`Certificate::optimality`](super::Certificate::optimality).
    pub(super) optimality: f64,
}

/// Finds the best weights; `gram` is H, with member 0 first.
pub(super) fn solve(gram: &[f64], constraint: WeightConstraint) -> Solution {
    let gram = scaled(gram);
    let point = minimum(&gram, constraint);
    let optimality = Problem::new(&gram, constraint).violation(&point);
    Solution { gamma: point.gamma, optimality }
}

/// The best weights alone.
pub(super) fn weights(gram: &[f64], constraint: WeightConstraint) -> Vec<f64> {
    minimum(&scaled(gram), constraint).gamma
}

/// H with a largest entry of about one.
fn scaled(gram: &[f64]) -> Vec<f64> {
    // No product of two residuals is larger than the larger of their energies.
    let energies = gram.iter().step_by(gram.len().isqrt() + 1);
    let scale = energies.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    // A scale of zero means that nothing is left to do; H then stays zero.
    let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    if factor.is_finite() {
        gram.iter().map(|h| h * factor).collect()
    } else {
        gram.iter().map(|h| h / scale).collect()
    }
}

/// The minimum, sought from those under stricter constraints: the order of the cases holds whatever rounding does.
fn minimum(gram: &[f64], constraint: WeightConstraint) -> Point {
    let problem = Problem::new(gram, constraint);
    let start = match constraint {
        WeightConstraint::Simplex => problem.best_member_alone(),
        WeightConstraint::Affine | WeightConstraint::NonNegative => minimum(gram, WeightConstraint::Simplex),
        WeightConstraint::Unconstrained => {
            let cases = [WeightConstraint::Affine, WeightConstraint::NonNegative].map(|case| minimum(gram, case));
            let [affine, nonnegative] = cases;
            if affine.energy <= nonnegative.energy { affine } else { nonnegative }
        }
    };
    if constraint.is_nonnegative() {
        return ActiveSet::new(problem, start).improve();
    }
    let all: Vec<usize> = problem.allowed().collect();
    let free = problem.point(problem.affine_minimum(&all), all);
    if free.energy < start.energy { free } else { start }
}

/// γᵀHγ.
pub(super) fn energy(gram: &[f64], gamma: &[f64]) -> f64 {
    gamma.iter().zip(slopes(gram, gamma)).map(|(weight, slope)| weight * slope).sum()
}

/// Hγ: the product of each residual with that of the combination.
fn slopes(gram: &[f64], gamma: &[f64]) -> Vec<f64> {
    let mut slopes = vec![0.0; gamma.len()];
    add_slopes(gram, gamma, &mut slopes);
    slopes
}

fn add_slopes(gram: &[f64], gamma: &[f64], slopes: &mut [f64]) {
    // H is symmetric, and few weights are not zero: their rows alone are read.
    for (row, weight) in gram.chunks_exact(gamma.len()).zip(gamma).filter(|(_, weight)| weight.abs() > 0.0) {
        slopes.iter_mut().zip(row).for_each(|(slope, h)| *slope += h * weight);
    }
}

/// H, what may be used of it, and in what units misses are told: ‖r_i‖ · largest norm.
struct Problem<'a> {
    gram: &'a [f64],
    size: usize,
    constraint: WeightConstraint,
    scales: Vec<f64>,
}

/// A member seen from the anchor of a set: its number, one over its distance to the anchor, and what its product with the
/// anchor leaves of the anchor's energy.
#[derive(Clone, Copy)]
struct Other {
    member: usize,
    unit: f64,
    left: f64,
}

/// Weights, the members that are free to move, Hγ and the energy γᵀHγ.
#[derive(Clone)]
struct Point {
    gamma: Vec<f64>,
    free: Vec<usize>,
    slopes: Vec<f64>,
    energy: f64,
}

impl<'a> Problem<'a> {
    fn new(gram: &'a [f64], constraint: WeightConstraint) -> Self {
        let problem = Self { gram, size: gram.len().isqrt(), constraint, scales: Vec::new() };
        let largest = problem.allowed().map(|i| problem.at(i, i)).fold(0.0, f64::max).sqrt();
        let scales = (0..problem.size).map(|i| problem.at(i, i).sqrt() * largest).collect();
        Self { scales, ..problem }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.gram[i * self.size + j]
    }

    /// Member 0 first, if it may be used.
    fn allowed(&self) -> std::ops::Range<usize> {
        usize::from(!self.constraint.sum_is_free())..self.size
    }

    fn must_be_nonnegative(&self, member: usize) -> bool {
        member > 0 && self.constraint.is_nonnegative()
    }

    /// The true member of least residual, with all the weight.
    fn best_member_alone(&self) -> Point {
        let best = (1..self.size).min_by(|&i, &j| self.at(i, i).total_cmp(&self.at(j, j))).unwrap_or(1);
        let mut gamma = vec![0.0; self.size];
        gamma[best] = 1.0;
        self.point(gamma, vec![best])
    }

    fn point(&self, gamma: Vec<f64>, free: Vec<usize>) -> Point {
        let mut point = Point { slopes: vec![0.0; self.size], gamma, free, energy: 0.0 };
        self.evaluate(&mut point);
        point
    }

    /// Computes Hγ and γᵀHγ.
    fn evaluate(&self, point: &mut Point) {
        point.slopes.fill(0.0);
        add_slopes(self.gram, &point.gamma, &mut point.slopes);
        point.energy = point.gamma.iter().zip(&point.slopes).map(|(weight, slope)| weight * slope).sum();
    }

    /// The one of least residual: the others are seen from it, as r = r_k + Σ γ_i (r_i − r_k).
    fn anchor(&self, members: &[usize]) -> Option<usize> {
        members.iter().copied().min_by(|&i, &j| self.at(i, i).total_cmp(&self.at(j, j)))
    }

    /// A member seen from the anchor; `None` of the anchor itself and of one that is too near to it.
    fn seen_from(&self, anchor: usize, member: usize) -> Option<Other> {
        let (energy, own, product) = (self.at(anchor, anchor), self.at(member, member), self.at(anchor, member));
        let distance = own - 2.0 * product + energy;
        (member != anchor && distance > DEPENDENT * (own + energy)).then(|| Other {
            member,
            unit: 1.0 / distance.sqrt(),
            left: energy - product,
        })
    }

    /// The cosine between two members as they are seen from the anchor.
    fn cosine(&self, anchor: usize, a: Other, b: Other) -> f64 {
        (self.at(a.member, b.member) - self.at(anchor, anchor) + a.left + b.left) * (a.unit * b.unit)
    }

    /// The γ of least energy with Σγ = 1 that uses only `members`; those that depend on others get zero.
    ///
    /// With the best of them as anchor k, r = r_k + Σ γ_i (r_i − r_k), a least-squares problem without constraint. Its Gram
    /// matrix, scaled to a unit diagonal, is factored by Cholesky with pivots, which stops at dependent columns.
    fn affine_minimum(&self, members: &[usize]) -> Vec<f64> {
        let mut gamma = vec![0.0; self.size];
        let Some(anchor) = self.anchor(members) else { return gamma };
        let others: Vec<Other> = members.iter().filter_map(|&member| self.seen_from(anchor, member)).collect();
        let column = |b: usize, out: &mut Vec<f64>| {
            out.extend(others.iter().map(|&other| self.cosine(anchor, others[b], other)));
        };
        let right = |a: usize| others[a].left * others[a].unit;
        for (a, weight) in least_squares(others.len(), column, right) {
            gamma[others[a].member] = weight * others[a].unit;
        }
        gamma[anchor] = 1.0 - gamma.iter().sum::<f64>();
        gamma
    }

    /// By how much the conditions of optimality are missed, as a fraction.
    fn violation(&self, point: &Point) -> f64 {
        let miss = |member: usize, miss: f64| {
            let may_only_enter = self.must_be_nonnegative(member) && point.gamma[member] <= 0.0;
            if may_only_enter { miss } else { miss.abs() }
        };
        self.misses(point).map(|(i, value)| miss(i, value)).fold(0.0, f64::max)
    }

    /// (rᵀr − r_iᵀr) / (‖r_i‖ · largest norm) for every member that may be used: positive if more of it would help.
    fn misses(&self, point: &Point) -> impl Iterator<Item = (usize, f64)> {
        let miss = |i| if self.scales[i] > 0.0 { (point.energy - point.slopes[i]) / self.scales[i] } else { 0.0 };
        self.allowed().map(move |i| (i, miss(i)))
    }
}

/// The walk from one minimum to the next.
struct ActiveSet<'a> {
    problem: Problem<'a>,
    point: Point,
    /// That of the members which are free.
    factor: Factor,
    /// Where a step leads; space between steps.
    next: Point,
    target: Vec<f64>,
}

impl<'a> ActiveSet<'a> {
    fn new(problem: Problem<'a>, mut start: Point) -> Self {
        if problem.constraint.sum_is_free() {
            start.free.push(0); // it may have any sign, so it is always free
        }
        let factor = Factor::of(&problem, &start.free);
        Self { factor, next: start.clone(), target: vec![0.0; problem.size], point: start, problem }
    }

    /// Lets members enter, the most promising first, until none would help.
    fn improve(mut self) -> Point {
        if self.point.free.len() > 1 {
            self.advance();
        }
        let mut refused = vec![false; self.problem.size];
        // Usually each member enters once; the bound is never met but rules out an endless loop.
        for _ in 0..20 + 10 * self.problem.size {
            let misses = self.problem.misses(&self.point);
            let outside = misses.filter(|(i, miss)| *miss > SLACK && !refused[*i] && !self.point.free.contains(i));
            let Some((entering, _)) = outside.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            // One that depends on the others could only share their weight.
            if self.factor.push(&self.problem, entering) && self.advance() {
                refused.fill(false);
            } else {
                refused[entering] = true;
            }
        }
        self.point
    }

    /// Moves to the minimum with the members of the factor free if that lowers the energy; `false`, and no change, if not.
    fn advance(&mut self) -> bool {
        let (problem, factor) = (&self.problem, &mut self.factor);
        let (gamma, target) = (&mut self.next.gamma, &mut self.target);
        gamma.copy_from_slice(&self.point.gamma);
        loop {
            factor.minimum(target);
            let blocked = |i: &usize| problem.must_be_nonnegative(*i) && target[*i] <= 0.0;
            let steps = factor.members().filter(blocked).map(|i| (i, ratio(gamma[i], target[i])));
            let Some((first, step)) = steps.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                gamma.copy_from_slice(target);
                break;
            };
            gamma.iter_mut().zip(&*target).for_each(|(weight, goal)| *weight += step * (goal - *weight));
            gamma[first] = 0.0;
            factor.remove(problem, first); // one fewer each time, so the loop ends
        }
        problem.evaluate(&mut self.next);
        let helps = self.next.energy < self.point.energy;
        if helps {
            self.next.free.clear();
            self.next.free.extend(self.factor.members());
            std::mem::swap(&mut self.point, &mut self.next);
        } else {
            self.factor = Factor::of(&self.problem, &self.point.free);
        }
        helps
    }
}

/// The least-squares problem of [`Problem::affine_minimum`] for members that come and go one at a time, in the order in
/// which they came: a Cholesky factor by rows, one over its diagonal entry last in each.
struct Factor {
    anchor: usize,
    others: Vec<Other>,
    rows: Vec<f64>,
    /// The right side, solved forward.
    forward: Vec<f64>,
    /// Space to solve it back.
    left: Vec<f64>,
}

impl Factor {
    fn of(problem: &Problem<'_>, members: &[usize]) -> Self {
        let anchor = problem.anchor(members).unwrap_or(1);
        let mut factor = Self { anchor, others: Vec::new(), rows: Vec::new(), forward: Vec::new(), left: Vec::new() };
        for &member in members {
            factor.push(problem, member);
        }
        factor
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.anchor).chain(self.others.iter().map(|other| other.member))
    }

    /// Adds a member; `false`, and no change, if it depends on the others.
    fn push(&mut self, problem: &Problem<'_>, member: usize) -> bool {
        let Some(new) = problem.seen_from(self.anchor, member) else { return false };
        let start = self.rows.len();
        let (mut at, mut unexplained) = (0, 1.0);
        for (place, &other) in self.others.iter().enumerate() {
            let (row, own) = (&self.rows[at..at + place], &self.rows[start..]);
            let known: f64 = row.iter().zip(own).map(|(a, b)| a * b).sum();
            let value = (problem.cosine(self.anchor, new, other) - known) * self.rows[at + place];
            self.rows.push(value);
            unexplained -= value * value;
            at += place + 1;
        }
        if unexplained <= DEPENDENT {
            self.rows.truncate(start);
            return false;
        }
        let unit = 1.0 / unexplained.sqrt();
        let known: f64 = self.rows[start..].iter().zip(&self.forward).map(|(a, b)| a * b).sum();
        self.forward.push((new.left * new.unit - known) * unit);
        self.rows.push(unit);
        self.others.push(new);
        true
    }

    /// Takes a member out: those that came after it come again.
    fn remove(&mut self, problem: &Problem<'_>, member: usize) {
        let Some(place) = self.others.iter().position(|other| other.member == member) else {
            let members: Vec<usize> = self.members().filter(|&other| other != member).collect();
            *self = Self::of(problem, &members);
            return;
        };
        let after = self.others.split_off(place);
        self.rows.truncate(place * (place + 1) / 2);
        self.forward.truncate(place);
        after[1..].iter().for_each(|other| _ = self.push(problem, other.member));
    }

    /// The γ of least energy with Σγ = 1 that uses only its members.
    fn minimum(&mut self, gamma: &mut [f64]) {
        gamma.fill(0.0);
        self.left.clone_from(&self.forward);
        let (mut sum, mut end) = (0.0, self.rows.len());
        for (place, other) in self.others.iter().enumerate().rev() {
            let row = &self.rows[end - place - 1..end];
            let y = self.left[place] * row[place];
            self.left.iter_mut().zip(&row[..place]).for_each(|(left, value)| *left -= value * y);
            gamma[other.member] = y * other.unit;
            sum += y * other.unit;
            end -= place + 1;
        }
        gamma[self.anchor] = 1.0 - sum;
    }
}

/// How far a weight can go towards a target that is not positive before it is zero.
fn ratio(weight: f64, target: f64) -> f64 {
    if weight > 0.0 { weight / (weight - target) } else { 0.0 }
}

/// The minimum of ½yᵀSy − yᵀb for a positive semidefinite S of unit diagonal, whose columns `s` appends to a vector: the
/// entries of y for the pivots that were used, the others being zero.
fn least_squares(size: usize, s: impl Fn(usize, &mut Vec<f64>), b: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
    let mut left: Vec<f64> = vec![1.0; size]; // what of each column is not yet explained; nothing is asked of a pivot
    let mut pivots: Vec<usize> = Vec::with_capacity(size);
    let mut factor: Vec<f64> = Vec::with_capacity(size * size); // row after row, one a pivot
    let mut forward: Vec<f64> = Vec::with_capacity(size);
    while let Some(pivot) = (0..size).max_by(|&a, &b| left[a].total_cmp(&left[b])).filter(|&a| left[a] > DEPENDENT) {
        let root = left[pivot].sqrt();
        let rows = factor.chunks_exact(size);
        let known: f64 = rows.zip(&forward).map(|(row, value)| row[pivot] * value).sum();
        forward.push((b(pivot) - known) / root);
        let end = factor.len();
        s(pivot, &mut factor);
        let (before, row) = factor.split_at_mut(end);
        for other in before.chunks_exact(size) {
            row.iter_mut().zip(other).for_each(|(value, explained)| *value -= other[pivot] * explained);
        }
        let unit = 1.0 / root;
        for (value, left) in row.iter_mut().zip(&mut left) {
            *value *= unit;
            *left -= *value * *value;
        }
        left[pivot] = f64::NEG_INFINITY;
        pivots.push(pivot);
    }
    let mut y = vec![0.0; pivots.len()];
    for p in (0..pivots.len()).rev() {
        let row = &factor[p * size..][..size];
        let known: f64 = (p + 1..pivots.len()).map(|q| row[pivots[q]] * y[q]).sum();
        y[p] = (forward[p] - known) / row[pivots[p]];
    }
    pivots.into_iter().zip(y).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H of these residuals, member 0 first.
    fn gram(residuals: &[[f64; 2]]) -> Vec<f64> {
        residuals.iter().flat_map(|a| residuals.iter().map(|b| a[0] * b[0] + a[1] * b[1])).collect()
    }

    /// ‖Σ γ_l r_l‖².
    fn energy(residuals: &[[f64; 2]], gamma: &[f64]) -> f64 {
        let sum = |i: usize| residuals.iter().zip(gamma).map(|(r, weight)| weight * r[i]).sum::<f64>();
        sum(0).powi(2) + sum(1).powi(2)
    }

    #[test]
    fn the_nearest_point_of_a_segment_is_found() {
        // From (−1, 1) to (3, 1): the nearest point to the origin is (0, 1), a quarter of the way.
        let residuals = [[5.0, 5.0], [-1.0, 1.0], [3.0, 1.0]];
        let solution = solve(&gram(&residuals), WeightConstraint::Simplex);
        assert!((solution.gamma[1] - 0.75).abs() < 1e-14 && (solution.gamma[2] - 0.25).abs() < 1e-14);
        assert!((energy(&residuals, &solution.gamma) - 1.0).abs() < 1e-14 && solution.optimality < 1e-14);
    }

    #[test]
    fn copies_and_zeros_are_no_trouble() {
        for residuals in [[[1.0, 2.0]; 4], [[0.0, 0.0]; 4], [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0]]] {
            for constraint in WeightConstraint::ALL {
                let solution = solve(&gram(&residuals), constraint);
                let best = residuals[1..].iter().map(|r| r[0] * r[0] + r[1] * r[1]).fold(f64::INFINITY, f64::min);
                let found = energy(&residuals, &solution.gamma);
                assert!(found <= best + 1e-14, "{constraint:?}: {found} > {best}");
                assert!((solution.gamma.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn weights_that_would_be_huge_are_not_tried() {
        // The two members differ by 10⁻⁷ in the direction of the residual: a perfect fit would take weights of 10⁷.
        let solution = solve(&gram(&[[9.0, 0.0], [1.0, 0.0], [1.0 + 1e-7, 0.0]]), WeightConstraint::Affine);
        assert!(solution.gamma.iter().all(|weight| weight.abs() <= 1.0), "{:?}", solution.gamma);
    }
}
