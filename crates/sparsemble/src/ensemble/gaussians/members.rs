//! All members against a block of samples: how likely each is, and what it says.

use fearless_simd::{dispatch, prelude::*};

use crate::eigen::Eigen;
use crate::kernels::{COMBINED, Columns, Energies, Panels, Tiles, VECTORS, add_combinations, best_level, correlate};
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
pub(super) struct Member<T> {
    /// log π.
    pub(super) log_weight: f64,
    /// The eigenvectors of S, N × N.
    pub(super) seen: Eigen,
    /// The estimate is this matrix times z, M × N; no row if there are to be no estimates.
    pub(super) gain: Matrix<T>,
}

/// All members, packed for the pass: as many side by side as vectors have lanes, so that those with about as many directions
/// that tell them apart come together.
#[derive(Debug)]
pub(super) struct Members<T> {
    panels: Panels<T>,
    /// The group of each panel: members that lie side by side in all of its vectors.
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
    pub(super) fn new(members: &[Member<T>]) -> Self {
        let least = |member: &Member<T>| member.seen.values.last().copied().unwrap_or(1.0);
        let floor = members.iter().map(least).fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
        let telling =
            |member: &Member<T>| member.seen.values.iter().take_while(|value| **value > TELLING * floor).count();
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(telling(&members[k])));
        let lanes = Panels::<T>::lanes(best_level());
        let (side_by_side, parts) = (lanes.min(members.len()), (lanes / members.len()).max(1));
        let rows = members[0].gain.columns();
        let (mut groups, mut directions) = (Vec::new(), Vec::new());
        for (group, together) in order.chunks(side_by_side).enumerate() {
            // The first has the most; where nothing tells, the energies are zero.
            let vectors = telling(&members[together[0]]).div_ceil(parts).max(1);
            groups.resize(groups.len() + vectors.div_ceil(VECTORS), group);
            for vector in 0..vectors.next_multiple_of(VECTORS) {
                for lane in 0..lanes {
                    let part = lane / side_by_side;
                    let member = together.get(lane % side_by_side).filter(|_| part < parts);
                    let seen = member.map(|&k| &members[k].seen);
                    push_direction(seen, vector * parts + part, floor, rows, &mut directions);
                }
            }
        }
        let direction = |j: usize| &directions[j * rows..][..rows];
        let panels = Panels::pack(best_level(), (rows, groups.len() * VECTORS * lanes), direction, |_| T::ONE);
        let log_det = |member: &Member<T>| member.seen.values.iter().map(|value| value.ln()).sum::<f64>();
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
            let best = dispatch!(best_level(), simd => {
                let best = self.score(simd, energies.of(slot), scores);
                self.choose(simd, best + NEGLIGIBLE.ln(), scores, weights);
                best
            });
            let evidence = posterior(best, weights);
            take(slot, weights, evidence - 0.5 * self.inverse_floor * squares[slot]);
        }
    }

    /// Writes the log likelihoods of all members, in their order and filled up to whole vectors, and returns the largest.
    #[inline(always)]
    fn score<S: Simd>(&self, simd: S, energies: &[T], scores: &mut Vec<f64>) -> f64 {
        let (count, lanes) = (self.count(), S::f64s::LEN);
        scores.resize(count.next_multiple_of(lanes), f64::NEG_INFINITY);
        for ((score, constant), energy) in scores.iter_mut().zip(&self.constants).zip(energies) {
            *score = constant + 0.5 * energy.to_f64();
        }
        for part in energies.chunks_exact(count).take(self.parts).skip(1) {
            scores.iter_mut().zip(part).for_each(|(score, energy)| *score += 0.5 * energy.to_f64());
        }
        let mut best = S::f64s::splat(simd, f64::NEG_INFINITY);
        for scores in scores.chunks_exact(lanes) {
            // What is no number is passed over.
            best = best.max_precise(S::f64s::from_slice(simd, scores));
        }
        best.reduce_max()
    }

    /// Lists the members whose log likelihoods are above `least`, with these.
    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, least: f64, scores: &[f64], weights: &mut Vec<(usize, f64)>) {
        weights.clear();
        let (lanes, least) = (S::f64s::LEN, S::f64s::splat(simd, least));
        for (v, part) in scores.chunks_exact(lanes).enumerate() {
            let mut hits = S::f64s::from_slice(simd, part).simd_gt(least).to_bitmask();
            while hits != 0 {
                let lane = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                weights.push((self.order[v * lanes + lane], part[lane]));
            }
        }
    }

    /// Adds to columns, which are [`estimates`](Self::estimates), what members make of the samples in the same places: of each
    /// member the samples it has a say in, and how much. One member after the other, so that its gain is read once for all of them.
    pub(super) fn combine(&self, says: &[Vec<(usize, f64)>], samples: &Matrix<T>, out: &mut Columns<T>) {
        dispatch!(best_level(), simd => self.add_all(simd, says, samples, out));
    }

    #[inline(always)]
    fn add_all<S: Simd>(&self, simd: S, says: &[Vec<(usize, f64)>], samples: &Matrix<T>, out: &mut Columns<T>) {
        for (k, says) in says.iter().enumerate() {
            for some in says.chunks(COMBINED) {
                // A short last part adds nothing a few times more.
                let places = std::array::from_fn(|i| match some.get(i) {
                    Some(&(slot, weight)) => (slot, T::from_f64(weight)),
                    None => (some[0].0, T::ZERO),
                });
                let samples = places.map(|(slot, _)| samples.column(slot));
                add_combinations(simd, (&self.gains, k * samples[0].len()), samples, places, out);
            }
        }
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

/// Makes the log likelihoods of the members that count, the best of which is given, their weights; returns the log of the sum.
fn posterior(best: f64, weights: &mut [(usize, f64)]) -> f64 {
    for (_, weight) in weights.iter_mut() {
        // Most samples have one member, and need no exponential.
        *weight = if *weight < best { (*weight - best).exp() } else { 1.0 };
    }
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

fn columns_of<'a, T: Scalar>(gains: impl Iterator<Item = &'a Matrix<T>> + Clone, rows: usize) -> Columns<T> {
    let n_features = gains.clone().next().map_or(0, Matrix::rows);
    let mut columns = Columns::zeros(n_features, gains.clone().count() * rows);
    let all = gains.flat_map(|gain| (0..rows).map(|j| gain.column(j)));
    for (c, column) in all.enumerate() {
        columns.padded_mut(c)[..n_features].copy_from_slice(column);
    }
    columns
}
