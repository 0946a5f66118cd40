//! Lloyd's iterations with masses, Eq. (13): samples to their nearest centres, centres to the means of their samples.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::Columns;
use crate::matrix::Matrix;
use crate::points::Points;
use crate::scalar::Scalar;
use crate::sums::add_multiple;
use crate::worst::Worst;

use super::nearest::{BLOCK, Nearest, Scratch};

/// The most memory the sums of a pass may take, and the most parts a pass is cut into.
const SUMS_MEMORY: usize = 256 << 20;
const MOST_PARTS: usize = 64;
/// Sums that a thread forms at a time.
const SUMS_BLOCK: usize = 1 << 13;

/// Where the iterations ended.
pub(super) struct Found<T> {
    pub(super) centers: Matrix<T>,
    pub(super) assignments: Vec<u32>,
    pub(super) inertia: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    pub(super) reseeded: usize,
}

/// Improves centres until the inertia falls by no more than `tolerance` of itself, or at most `max_iterations` times.
pub(super) fn improve<T: Scalar>(
    points: &Points<'_, T>,
    mut centers: Matrix<T>,
    (max_iterations, tolerance): (usize, f64),
    run: Run<'_>,
) -> Result<Found<T>> {
    let step = |number: usize| run.passes(number..number + 1, max_iterations.saturating_add(1), points.count());
    let mut nearest = Nearest::new(&centers);
    let mut parts = Parts::new(points.count(), nearest.centers());
    let mut pass = Pass::over(points, &nearest, None, &mut parts, step(0))?;
    let (mut iterations, mut reseeded, mut converged) = (0, 0, false);
    while !converged && iterations < max_iterations {
        let (next_centers, moved) = pass.means(points, &centers);
        nearest = nearest.moved(&next_centers);
        let next = Pass::over(points, &nearest, Some(&pass.assignments), &mut parts, step(iterations + 1))?;
        converged = pass.inertia - next.inertia <= tolerance * pass.inertia || next.assigns_as(&pass, points.masses());
        // Rounding may make the last step a step up; that one is not taken.
        if next.inertia > pass.inertia {
            break;
        }
        iterations += 1;
        reseeded += moved;
        (centers, pass) = (next_centers, next);
    }
    Ok(Found { centers, assignments: pass.assignments, inertia: pass.inertia, iterations, converged, reseeded })
}

/// Everything one pass over the samples, or over a part of them, tells about a set of centres.
struct Pass {
    assignments: Vec<u32>,
    distances: Vec<f64>,
    /// Σ p(x_i) x_i of each cluster, the padding of the samples included.
    sums: Vec<f64>,
    /// Σ p(x_i) of each cluster.
    masses: Vec<f64>,
    inertia: f64,
}

impl Pass {
    /// Sends each sample to its nearest centre. It stays with its former one unless the new one is really nearer, so
    /// that rounding in the search cannot send it back and forth.
    fn over<T: Scalar>(
        points: &Points<'_, T>,
        nearest: &Nearest<T>,
        former: Option<&[u32]>,
        parts: &mut Parts,
        run: Run<'_>,
    ) -> Result<Self> {
        let work = |scratch: &mut Scratch<T>, range: Range<usize>| {
            let mut part = parts.begin(range.start);
            let former_distance =
                |i: usize, x: &[T]| former.map_or(f64::INFINITY, |of| nearest.squared_distance(x, of[i] as usize));
            nearest.visit(points, scratch, range, former_distance, |i, x, distance, nearer| {
                let former = || (former.map_or(0, |of| of[i] as usize), distance);
                part.take(points.masses()[i], x, nearer.unwrap_or_else(former));
            });
            Ok(())
        };
        run.map_blocks(points.count(), parts.size, || nearest.scratch(), work)?;
        let whole = parts.whole(run.silent())?;
        Ok(Self { inertia: whole.inertia / points.total_mass(), ..whole })
    }

    /// Whether all samples that count have the same centres.
    fn assigns_as(&self, other: &Self, masses: &[f64]) -> bool {
        let pairs = self.assignments.iter().zip(&other.assignments);
        pairs.zip(masses).all(|((mine, other), mass)| mine == other || *mass <= 0.0)
    }

    fn take<T: Scalar>(&mut self, mass: f64, x: &[T], (center, distance): (usize, f64)) {
        self.assignments.push(center as u32);
        self.distances.push(distance);
        if mass > 0.0 {
            self.masses[center] += mass;
            self.inertia += mass * distance;
            let sums = &mut self.sums[center * x.len()..][..x.len()];
            add_multiple(mass, x, sums);
        }
    }

    /// The means of the clusters, and how many were empty and got a sample instead.
    fn means<T: Scalar>(&self, points: &Points<'_, T>, centers: &Matrix<T>) -> (Matrix<T>, usize) {
        let stride = self.sums.len() / self.masses.len();
        let mut means = centers.clone();
        let mut empty = Vec::new();
        for (j, &mass) in self.masses.iter().enumerate() {
            if mass > 0.0 {
                let sums = &self.sums[j * stride..];
                means.column_mut(j).iter_mut().zip(sums).for_each(|(mean, sum)| *mean = T::from_f64(sum / mass));
            } else {
                empty.push(j);
            }
        }
        let reseeded = self.reseed(points, &empty, &mut means);
        (means, reseeded)
    }

    /// Moves centres of empty clusters to different samples of positive mass with the largest ‖x_i − μ‖², none that is
    /// a centre already, and says how many there were.
    fn reseed<T: Scalar>(&self, points: &Points<'_, T>, empty: &[usize], centers: &mut Matrix<T>) -> usize {
        let mut worst = Worst::of(points.samples(), empty.len());
        if !empty.is_empty() {
            let counted = (0..points.count()).filter(|&i| points.masses()[i] > 0.0);
            counted.for_each(|i| worst.offer(self.distances[i], i));
        }
        let samples = empty.iter().zip(worst.into_samples());
        samples.map(|(&j, i)| points.copy(i, centers.column_mut(j))).count()
    }
}

/// The parts of a pass, whose memory serves the next pass again: fresh memory would take longer to get than to add up.
struct Parts {
    /// Samples in a part.
    size: usize,
    parts: Vec<Mutex<Pass>>,
}

impl Parts {
    fn new<T: Scalar>(n_samples: usize, centers: &Columns<T>) -> Self {
        let n_sums = centers.stride() * centers.count();
        let size = chunk_size(n_samples, centers.count(), n_sums * size_of::<f64>());
        let part = |_| {
            let (sums, masses) = (vec![0.0; n_sums], vec![0.0; centers.count()]);
            Mutex::new(Pass { assignments: Vec::new(), distances: Vec::new(), sums, masses, inertia: 0.0 })
        };
        Self { size, parts: (0..n_samples.div_ceil(size)).map(part).collect() }
    }

    /// The part that begins with this sample, empty.
    fn begin(&self, first: usize) -> MutexGuard<'_, Pass> {
        let mut part = self.parts[first / self.size].lock().unwrap_or_else(PoisonError::into_inner);
        let Pass { assignments, distances, sums, masses, inertia } = &mut *part;
        assignments.clear();
        distances.clear();
        sums.fill(0.0);
        masses.fill(0.0);
        *inertia = 0.0;
        part
    }

    /// All parts together: each sum over the parts in their order, whatever thread forms it.
    fn whole(&mut self, run: Run<'_>) -> Result<Pass> {
        let parts: Vec<&Pass> =
            self.parts.iter_mut().map(|part| &*part.get_mut().unwrap_or_else(PoisonError::into_inner)).collect();
        let add = |(): &mut (), range: Range<usize>| {
            let mut sums = vec![0.0; range.len()];
            for part in &parts {
                sums.iter_mut().zip(&part.sums[range.clone()]).for_each(|(sum, x)| *sum += x);
            }
            Ok(sums)
        };
        let n_sums = parts.first().map_or(0, |part| part.sums.len());
        let mut masses = vec![0.0; parts.first().map_or(0, |part| part.masses.len())];
        for part in &parts {
            masses.iter_mut().zip(&part.masses).for_each(|(sum, x)| *sum += x);
        }
        Ok(Pass {
            assignments: parts.iter().flat_map(|part| part.assignments.iter().copied()).collect(),
            distances: parts.iter().flat_map(|part| part.distances.iter().copied()).collect(),
            sums: run.map_blocks(n_sums, SUMS_BLOCK, || (), add)?.concat(),
            masses,
            inertia: parts.iter().map(|part| part.inertia).fold(0.0, |sum, inertia| sum + inertia),
        })
    }
}

/// Samples in a part of a pass: whatever the number of threads, so that the sums are the same bits; few enough parts for
/// their sums to fit in memory, and more samples than sums, which must all be set to zero and added up.
fn chunk_size(n_samples: usize, n_centers: usize, sums: usize) -> usize {
    let parts = (SUMS_MEMORY / sums.max(1)).clamp(4, MOST_PARTS);
    n_samples.div_ceil(parts).max(2 * n_centers).next_multiple_of(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cluster_gets_the_worst_represented_sample() {
        // The farthest sample has no mass, and the farthest that counts is there twice.
        let samples = Matrix::from_columns(vec![0.0, 1.0, 2.0, 9.0, 20.0, 20.0, 30.0], 1, 7).unwrap();
        let points = Points::tame(samples.view(), &[1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.0]);
        let centers = Matrix::from_columns(vec![2.0, -50.0, -60.0], 1, 3).unwrap();
        let nearest = Nearest::new(&centers);
        let mut parts = Parts::new(points.count(), nearest.centers());
        let pass = Pass::over(&points, &nearest, None, &mut parts, Run::threads(1)).unwrap();
        let (means, reseeded) = pass.means(&points, &centers);
        assert_eq!((means.column(1), means.column(2), reseeded), ([20.0].as_slice(), [9.0].as_slice(), 2));
    }

    #[test]
    fn empty_clusters_beyond_the_different_samples_stay_where_they_are() {
        let samples = Matrix::from_columns(vec![1.0_f32; 4], 1, 4).unwrap();
        let points = Points::tame(samples.view(), &[1.0; 4]);
        let found = improve(&points, Matrix::from_columns(vec![1.0, 5.0], 1, 2).unwrap(), (10, 0.0), Run::threads(1));
        let found = found.unwrap();
        assert_eq!((found.centers.as_slice(), found.reseeded, found.converged), ([1.0, 5.0].as_slice(), 0, true));
    }
}
