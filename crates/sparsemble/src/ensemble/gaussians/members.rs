//! All members against a block of samples: how likely each is, and what it says.

use fearless_simd::{Level, dispatch};

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

/// All members, packed for the pass.
#[derive(Debug)]
pub(super) struct Members<T> {
    panels: Panels<T>,
    /// The member of each panel.
    owner: Vec<usize>,
    /// log π − ½ log det S.
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
        let level = best_level();
        let width = Panels::<T>::width(level);
        let rows = members[0].gain.columns();
        let (mut owner, mut directions) = (Vec::new(), Vec::new());
        for (k, member) in members.iter().enumerate() {
            let telling = member.seen.values.iter().take_while(|value| **value > TELLING * floor).count();
            let panels = telling.div_ceil(width);
            owner.extend(std::iter::repeat_n(k, panels));
            for j in 0..panels * width {
                directions.push(direction(&member.seen, j, floor, telling));
            }
        }
        let panels = pack(level, rows, &directions);
        let log_det = |member: &Member| member.seen.values.iter().map(|value| value.ln()).sum::<f64>();
        let constants = members.iter().map(|member| member.log_weight - 0.5 * log_det(member)).collect();
        let gains = side_by_side(members.iter().map(|member| &member.gain), rows);
        Self { panels, owner, constants, inverse_floor: 1.0 / floor, nothing: vec![T::ZERO; gains.stride()], gains }
    }

    /// K.
    pub(super) fn count(&self) -> usize {
        self.constants.len()
    }

    /// What a thread needs.
    pub(super) fn scratch(&self) -> Scratch<T> {
        let rows = self.gains.count() / self.count();
        Scratch {
            tiles: Tiles::new(rows, BLOCK),
            energies: Energies::new(&self.panels, self.owner.clone(), self.count(), BLOCK),
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
            scores.clear();
            let energies = energies.of(slot).iter().zip(&self.constants);
            scores.extend(energies.map(|(energy, constant)| constant + 0.5 * energy.to_f64()));
            let evidence = posterior(scores, weights);
            take(slot, weights, evidence - 0.5 * self.inverse_floor * squares[slot]);
        }
    }

    /// Writes the weighted sum of what the members make of a sample to `out`, which is [`padded`](Self::padded).
    pub(super) fn combine(&self, weights: &[(usize, f64)], sample: &[T], out: &mut [T]) {
        let terms = weights.iter().flat_map(|&(k, weight)| {
            let factor = T::from_f64(-weight);
            sample.iter().enumerate().map(move |(j, &value)| ((k * sample.len() + j) as u32, factor * value))
        });
        dispatch!(best_level(), simd => subtract_combination(simd, &self.gains, &terms, &self.nothing, out));
    }

    /// M.
    pub(super) fn n_features(&self) -> usize {
        self.gains.rows()
    }

    /// The length of a padded estimate.
    pub(super) fn padded(&self) -> usize {
        self.gains.stride()
    }
}

/// The weights of the members by their log likelihoods, in the order of the members; returns the log of the sum.
fn posterior(scores: &[f64], weights: &mut Vec<(usize, f64)>) -> f64 {
    weights.clear();
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let relative = scores.iter().map(|score| (score - best).exp()).enumerate();
    weights.extend(relative.filter(|(_, weight)| *weight > NEGLIGIBLE));
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in weights.iter_mut() {
        *weight /= total;
    }
    best + total.ln()
}

/// The j-th direction of a member, scaled so that its squared product with z is the term of the score.
fn direction(seen: &Eigen, j: usize, floor: f64, telling: usize) -> Vec<f64> {
    if j >= telling {
        return vec![0.0; seen.vectors.rows()];
    }
    let scale = (1.0 / floor - 1.0 / seen.values[j]).sqrt();
    seen.vectors.column(j).iter().map(|value| value * scale).collect()
}

fn pack<T: Scalar>(level: Level, rows: usize, directions: &[Vec<f64>]) -> Panels<T> {
    let directions: Vec<Vec<T>> =
        directions.iter().map(|direction| direction.iter().map(|&value| T::from_f64(value)).collect()).collect();
    Panels::pack(level, (rows, directions.len()), |j| &directions[j], |_| T::ONE)
}

fn side_by_side<'a, T: Scalar>(gains: impl Iterator<Item = &'a Matrix<f64>> + Clone, rows: usize) -> Columns<T> {
    let n_features = gains.clone().next().map_or(0, Matrix::rows);
    let mut columns = Columns::zeros(n_features, gains.clone().count() * rows);
    let all = gains.flat_map(|gain| (0..rows).map(|j| gain.column(j)));
    for (c, column) in all.enumerate() {
        columns.padded_mut(c).iter_mut().zip(column).for_each(|(to, &value)| *to = T::from_f64(value));
    }
    columns
}
