//! All members against a block of samples: how likely each is, and what it says.

use fearless_simd::{Simd, dispatch};

use crate::eigen::Eigen;
use crate::kernels::{Columns, Energies, Panels, Tiles, best_level, correlate, subtract_combination};
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::sums::product;

/// Samples in a block.
pub(super) const BLOCK: usize = 96;

/// An eigenvalue this many times the smallest of all members tells the members apart; smaller ones are left out of the
/// comparison, as they are nearly the same in all.
const TELLING: f64 = 1.2;

/// Members less likely than this have no say.
const NEGLIGIBLE: f64 = 1e-3;

/// One member as seen through Φ: z ~ N(0, S), and the best linear estimate of x from z.
pub(super) struct Member {
    /// log π.
    pub(super) log_weight: f64,
    /// The eigenvectors of S, N × N.
    pub(super) seen: Eigen,
    /// The estimate is this matrix times z, M × N.
    pub(super) gain: Matrix<f64>,
}

/// All members, packed for the pass: as many side by side as vectors have lanes, so that those with about as many directions
/// that tell them apart come together.
#[derive(Debug)]
pub(super) struct Members<T> {
    panels: Panels<T>,
    /// The group of each vector: members that lie side by side.
    groups: Vec<usize>,
    /// The members as they are packed. Where there are at most half as many as lanes, all of them follow once more, `parts` times
    /// altogether, each time with others of their directions.
    order: Vec<usize>,
    parts: usize,
    /// How many directions of all members tell them apart.
    n_directions: usize,
    /// log π − ½ log det S of each member in this order.
    constants: Vec<f64>,
    /// 1/s.
    inverse_floor: f64,
    /// The gains of all members side by side, M × (K·N).
    gains: Columns<T>,
    /// Zeros, as long as a padded estimate.
    nothing: Vec<T>,
}

/// What a thread needs for a block.
pub(super) struct Scratch<T> {
    tiles: Tiles<T>,
    energies: Energies<T>,
    /// ‖z‖² of each sample.
    squares: Vec<f64>,
    /// Of one sample: each member that counts, and how much.
    weights: Vec<(usize, f64)>,
    scores: Vec<f64>,
}

impl<T: Scalar> Members<T> {
    /// Packs the members.
    ///
    /// log N(z; 0, S) = const − ½ log det S + ½ Σ_j (1/s − 1/λ_j)(v_jᵀz)² with s the smallest eigenvalue of all, and
    /// the constant the same for all members: eigenvectors with λ_j near s cost nothing.
    pub(super) fn new(members: &[Member]) -> Self {
        let least = |member: &Member| member.seen.values.last().copied().unwrap_or(1.0);
        let floor = members.iter().map(least).fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
        let telling = |member: &Member| member.seen.values.iter().take_while(|value| **value > TELLING * floor).count();
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(telling(&members[k])));
        let lanes = Panels::<T>::lanes(best_level());
        let (side_by_side, parts) = (lanes.min(members.len()), (lanes / members.len()).max(1));
        let rows = members[0].gain.columns();
        let (mut groups, mut directions) = (Vec::new(), Vec::new());
        for (group, together) in order.chunks(side_by_side).enumerate() {
            // The first has the most; where nothing tells, the energies are zero.
            for vector in 0..telling(&members[together[0]]).div_ceil(parts).max(1) {
                groups.push(group);
                for lane in 0..lanes {
                    let part = lane / side_by_side;
                    let member = together.get(lane % side_by_side).filter(|_| part < parts);
                    let seen = member.map(|&k| &members[k].seen);
                    push_direction(seen, vector * parts + part, floor, rows, &mut directions);
                }
            }
        }
        let direction = |j: usize| &directions[j * rows..][..rows];
        let panels = Panels::pack(best_level(), (rows, groups.len() * lanes), direction, |_| T::ONE);
        let log_det = |member: &Member| member.seen.values.iter().map(|value| value.ln()).sum::<f64>();
        let constant = |k: &usize| members[*k].log_weight - 0.5 * log_det(&members[*k]);
        let gains = columns_of(members.iter().map(|member| &member.gain), rows);
        Self {
            panels,
            groups,
            parts,
            n_directions: members.iter().map(telling).sum(),
            constants: order.iter().map(constant).collect(),
            order,
            inverse_floor: 1.0 / floor,
            nothing: vec![T::ZERO; gains.stride()],
            gains,
        }
    }

    /// K.
    pub(super) fn count(&self) -> usize {
        self.constants.len()
    }

    /// How many directions a sample is compared with.
    pub(super) fn n_directions(&self) -> usize {
        self.n_directions
    }

    /// What a thread needs.
    pub(super) fn scratch(&self) -> Scratch<T> {
        let rows = self.gains.count() / self.count();
        Scratch {
            tiles: Tiles::new(rows, BLOCK),
            energies: Energies::new(&self.panels, self.groups.clone(), BLOCK),
            squares: Vec::new(),
            weights: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Gives `take` for each sample of a block its place in it, the members that count with weights that sum to one, and
    /// the log likelihood of what was measured, without the factor √(2π) of each entry.
    pub(super) fn weigh<'s>(
        &self,
        scratch: &mut Scratch<T>,
        samples: impl Iterator<Item = &'s [T]>,
        mut take: impl FnMut(usize, &[(usize, f64)], f64),
    ) {
        scratch.tiles.clear();
        scratch.squares.clear();
        for sample in samples {
            scratch.tiles.push(sample);
            scratch.squares.push(product(sample, sample));
        }
        scratch.energies.clear();
        correlate(&self.panels, &scratch.tiles, &mut scratch.energies);
        for slot in 0..scratch.squares.len() {
            let Scratch { energies, squares, weights, scores, .. } = scratch;
            let best = dispatch!(best_level(), simd => self.score(simd, energies.of(slot), scores));
            let evidence = posterior(scores, best, &self.order, weights);
            take(slot, weights, evidence - 0.5 * self.inverse_floor * squares[slot]);
        }
    }

    /// Writes the log likelihoods of all members, in their order, and returns the largest.
    #[inline(always)]
    fn score<S: Simd>(&self, _: S, energies: &[T], scores: &mut Vec<f64>) -> f64 {
        scores.clear();
        scores.extend_from_slice(&self.constants);
        for part in energies.chunks_exact(self.count()).take(self.parts) {
            scores.iter_mut().zip(part).for_each(|(score, energy)| *score += 0.5 * energy.to_f64());
        }
        // Some maxima side by side, which do not wait for each other.
        let mut best = [f64::NEG_INFINITY; 8];
        for scores in scores.chunks(best.len()) {
            best.iter_mut().zip(scores).for_each(|(best, &score)| *best = if score > *best { score } else { *best });
        }
        best.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Adds to columns, which are [`estimates`](Self::estimates), what members make of the samples in the same places: of each
    /// member the samples it has a say in, and how much. One member after the other, so that its gain is read once for all of them.
    pub(super) fn combine(&self, says: &[Vec<(usize, f64)>], samples: &Matrix<T>, out: &mut Columns<T>) {
        dispatch!(best_level(), simd => self.add_all(simd, says, samples, out));
    }

    #[inline(always)]
    fn add_all<S: Simd>(&self, simd: S, says: &[Vec<(usize, f64)>], samples: &Matrix<T>, out: &mut Columns<T>) {
        let mut before = vec![T::ZERO; out.stride()];
        for (k, says) in says.iter().enumerate() {
            for &(slot, weight) in says {
                before.copy_from_slice(out.padded(slot));
                self.add(simd, (k, weight), samples.column(slot), &before, out.padded_mut(slot));
            }
        }
    }

    /// Writes what one member makes of a sample to `out`, which is as long as a padded column of estimates.
    pub(super) fn estimate(&self, k: usize, sample: &[T], out: &mut [T]) {
        dispatch!(best_level(), simd => self.add(simd, (k, 1.0), sample, &self.nothing, out));
    }

    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, (k, weight): (usize, f64), sample: &[T], before: &[T], out: &mut [T]) {
        let factor = T::from_f64(-weight);
        let term = |(j, &value): (usize, &T)| ((k * sample.len() + j) as u32, factor * value);
        subtract_combination(simd, &self.gains, &sample.iter().enumerate().map(term), before, out);
    }

    /// Zeros, a column for each of so many estimates.
    pub(super) fn estimates(&self, count: usize) -> Columns<T> {
        Columns::zeros(self.n_features(), count)
    }

    /// M.
    pub(super) fn n_features(&self) -> usize {
        self.gains.rows()
    }
}

/// The weights of the members that count, by their log likelihoods in this order and the best of them; returns the log of the
/// sum.
fn posterior(scores: &[f64], best: f64, order: &[usize], weights: &mut Vec<(usize, f64)>) -> f64 {
    weights.clear();
    // Of most members this is known without an exponential.
    let least = best + NEGLIGIBLE.ln();
    let near = scores.iter().zip(order).filter(|(score, _)| **score > least);
    weights.extend(near.map(|(score, &k)| (k, (score - best).exp())));
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in weights.iter_mut() {
        *weight /= total;
    }
    best + total.ln()
}

/// Adds the j-th direction of a member, scaled so that its squared product with z is the term of the score; zeros if there is
/// none that tells.
fn push_direction<T: Scalar>(member: Option<&Eigen>, j: usize, floor: f64, rows: usize, directions: &mut Vec<T>) {
    match member.and_then(|seen| Some((seen, seen.values.get(j).filter(|value| **value > TELLING * floor)?))) {
        Some((seen, value)) => {
            let scale = (1.0 / floor - 1.0 / value).sqrt();
            directions.extend(seen.vectors.column(j).iter().map(|entry| T::from_f64(entry * scale)));
        }
        None => directions.extend(std::iter::repeat_n(T::ZERO, rows)),
    }
}

fn columns_of<'a, T: Scalar>(gains: impl Iterator<Item = &'a Matrix<f64>> + Clone, rows: usize) -> Columns<T> {
    let n_features = gains.clone().next().map_or(0, Matrix::rows);
    let mut columns = Columns::zeros(n_features, gains.clone().count() * rows);
    let all = gains.flat_map(|gain| (0..rows).map(|j| gain.column(j)));
    for (c, column) in all.enumerate() {
        columns.padded_mut(c).iter_mut().zip(column).for_each(|(to, &value)| *to = T::from_f64(value));
    }
    columns
}
