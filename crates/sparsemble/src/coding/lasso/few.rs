//! Dictionaries of a few atoms: samples side by side, one in each lane of a vector.
//!
//! With a handful of atoms the walk of [`super::active_set`] waits more than it computes: its steps are a few sums long, and
//! each needs the one before. Here all lanes move the same coefficient at the same time, by coordinate descent on the Gram
//! matrix in double precision. What it finds is judged by the same duality gap as everything else; a sample that is not good
//! enough after a fixed number of sweeps is coded as if nothing had been tried.
//!
//! No lane depends on another, so a code does not depend on its neighbours.

use fearless_simd::prelude::*;

use super::certificate::{gap_of_products, product};
use crate::coding::basis::inverse;
use crate::kernels::Columns;
use crate::scalar::Scalar;

/// The most atoms for which sweeps over all of them are cheaper than a walk to the few that are needed.
const MOST_ATOMS: usize = 8;

/// Their numbers.
pub(super) const ATOMS: [u32; MOST_ATOMS] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The most features; the products of longer samples are the work of the passes.
const MOST_FEATURES: usize = 64;

/// Sweeps between two looks at the gap.
const SWEEPS: usize = 3;

/// The most such looks.
const LOOKS: usize = 12;

/// The most lanes of a vector in any instruction set.
pub(super) const MOST_LANES: usize = 8;

/// The atoms and their products, in double precision.
pub(super) struct Few {
    n_features: usize,
    /// Atom by atom.
    atoms: Vec<f64>,
    /// Row by row.
    gram: Vec<f64>,
    /// One over the energy of each atom, zero for a zero atom.
    inverse_energies: Vec<f64>,
    largest_norm: f64,
}

/// As many samples as a vector has lanes.
pub(super) struct Lanes<'a, S: Simd> {
    few: &'a Few,
    simd: S,
    nonnegative: bool,
    energies: S::f64s,
    correlations: [S::f64s; MOST_ATOMS],
    coefficients: [S::f64s; MOST_ATOMS],
}

/// Coefficients on their way, and the correlations of the atoms with what they leave.
struct Sweeping<S: Simd> {
    coefficients: [S::f64s; MOST_ATOMS],
    left: [S::f64s; MOST_ATOMS],
}

impl Few {
    /// `None` if there are too many atoms, or too long ones. More atoms than features depend on each other, and coordinate
    /// descent then takes long.
    pub(super) fn new<T: Scalar>(columns: &Columns<T>) -> Option<Self> {
        let (n_features, n_atoms) = (columns.rows(), columns.count());
        if n_atoms > MOST_ATOMS.min(n_features) || n_features > MOST_FEATURES {
            return None;
        }
        let atoms: Vec<f64> = (0..n_atoms).flat_map(|j| columns.column(j)).map(|value| value.to_f64()).collect();
        let atom = |j: usize| &atoms[j * n_features..][..n_features];
        let gram: Vec<f64> = (0..n_atoms)
            .flat_map(|j| (0..n_atoms).map(move |k| (j, k)))
            .map(|(j, k)| product(atom(j), atom(k)))
            .collect();
        let energies = (0..n_atoms).map(|j| gram[j * n_atoms + j]);
        let largest_norm = energies.clone().fold(0.0, f64::max).sqrt();
        let inverse_energies = energies.map(inverse).collect();
        Some(Self { n_features, atoms, gram, inverse_energies, largest_norm })
    }

    /// Samples of which `value` tells each lane's feature.
    #[inline(always)]
    pub(super) fn lanes<S: Simd>(
        &self,
        simd: S,
        nonnegative: bool,
        value: impl Fn(usize, usize) -> f64,
    ) -> Lanes<'_, S> {
        let zero = S::f64s::splat(simd, 0.0);
        let mut energies = zero;
        let mut correlations = [zero; MOST_ATOMS];
        for feature in 0..self.n_features {
            let x = S::f64s::from_fn(simd, |lane| value(lane, feature));
            energies = x.mul_add(x, energies);
            let entries = self.atoms[feature..].iter().step_by(self.n_features);
            for (correlation, &entry) in correlations.iter_mut().zip(entries) {
                *correlation = x.mul_add(entry, *correlation);
            }
        }
        Lanes { few: self, simd, nonnegative, energies, correlations, coefficients: [zero; MOST_ATOMS] }
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// The largest correlation of each sample with an atom.
    #[inline(always)]
    pub(super) fn largest(&self) -> S::f64s {
        self.size_of_largest(&self.correlations[..self.n_atoms()])
    }

    /// The coefficient of an atom in each code.
    #[inline(always)]
    pub(super) fn coefficients(&self) -> &[S::f64s] {
        &self.coefficients[..self.n_atoms()]
    }

    /// Looks for the codes at each sample's μ until the gap of all of them is at most `enough`, as long as it is worth it, and
    /// returns the gaps.
    #[inline(always)]
    pub(super) fn solve<T: Scalar>(&mut self, mu: &[f64; MOST_LANES], enough: f64) -> [f64; MOST_LANES] {
        let mut sweeping = Sweeping { coefficients: self.coefficients, left: self.correlations };
        let mut gaps = [f64::INFINITY; MOST_LANES];
        let mut open = (1_u64 << S::f64s::LEN) - 1;
        for _ in 0..LOOKS {
            self.sweep(mu, &mut sweeping);
            let rounded = self.as_returned::<T>(&sweeping.coefficients);
            let (found, at_most) = self.gaps(&rounded, mu);
            // A code that is good enough stays as it is, however long its neighbours take.
            let finished = (0..S::f64s::LEN).filter(|lane| open >> lane & 1 == 1 && at_most[*lane] <= enough);
            let finished: u64 = finished.map(|lane| 1 << lane).sum();
            let lanes = S::mask64s::from_bitmask(self.simd, finished);
            for (kept, new) in self.coefficients.iter_mut().zip(rounded) {
                *kept = lanes.select(new, *kept);
            }
            let newly = (0..S::f64s::LEN).filter(|lane| finished >> lane & 1 == 1);
            newly.for_each(|lane| gaps[lane] = found[lane]);
            open &= !finished;
            if open == 0 {
                break;
            }
        }
        gaps
    }

    /// Moves each coefficient to where it is best for the others as they are, a few times in turn.
    #[inline(always)]
    fn sweep(&self, mu: &[f64; MOST_LANES], Sweeping { coefficients, left }: &mut Sweeping<S>) {
        let (n_atoms, mu) = (self.n_atoms(), S::f64s::from_slice(self.simd, &mu[..S::f64s::LEN]));
        for j in (0..SWEEPS).flat_map(|_| 0..n_atoms) {
            let row = &self.few.gram[j * n_atoms..][..n_atoms];
            let wanted = coefficients[j].mul_add(row[j], left[j]);
            let size =
                (if self.nonnegative { wanted } else { wanted.abs() } - mu).max(0.0) * self.few.inverse_energies[j];
            let new = if self.nonnegative { size } else { size.copysign(wanted) };
            let change = coefficients[j] - new;
            coefficients[j] = new;
            for (left, &product) in left.iter_mut().zip(row) {
                *left = change.mul_add(product, *left);
            }
        }
    }

    /// The coefficients as the number type has them.
    #[inline(always)]
    fn as_returned<T: Scalar>(&self, coefficients: &[S::f64s; MOST_ATOMS]) -> [S::f64s; MOST_ATOMS] {
        let mut rounded = *coefficients;
        if T::EPSILON.to_f64() > f64::EPSILON {
            for a in &mut rounded[..self.n_atoms()] {
                *a = S::f64s::from_fn(self.simd, |lane| T::from_f64(a[lane]).to_f64());
            }
        }
        rounded
    }

    /// The relative duality gap of each code, and how large it may be with sums as far off as rounding can make them.
    #[inline(always)]
    fn gaps(
        &self,
        coefficients: &[S::f64s; MOST_ATOMS],
        mu: &[f64; MOST_LANES],
    ) -> ([f64; MOST_LANES], [f64; MOST_LANES]) {
        let (n_atoms, zero) = (self.n_atoms(), S::f64s::splat(self.simd, 0.0));
        let (mut penalty, mut with_sample, mut with_itself, mut left) = (zero, zero, zero, [zero; MOST_ATOMS]);
        for j in 0..n_atoms {
            let row = &self.few.gram[j * n_atoms..][..n_atoms];
            let mut image = zero;
            for (&a, &entry) in coefficients.iter().zip(row) {
                image = a.mul_add(entry, image);
            }
            left[j] = self.correlations[j] - image;
            penalty += coefficients[j].abs();
            with_sample = coefficients[j].mul_add(self.correlations[j], with_sample);
            with_itself = coefficients[j].mul_add(image, with_itself);
        }
        let noise = f64::EPSILON * (self.few.n_features + 2 * n_atoms) as f64;
        let norm = self.few.largest_norm;
        let size = penalty.mul_add(norm, self.energies.sqrt());
        let largest = self.size_of_largest(&left[..n_atoms]);
        let largest_at_most = size.mul_add(noise * norm, largest);
        let products_with_residual = self.energies - with_sample;
        let residual = (products_with_residual - with_sample + with_itself).max(0.0);
        let (mut gaps, mut at_most) = ([f64::INFINITY; MOST_LANES], [f64::INFINITY; MOST_LANES]);
        for lane in 0..S::f64s::LEN {
            let products = (self.energies[lane], products_with_residual[lane], residual[lane]);
            let rounding = if products.0 > 0.0 { noise * size[lane] * size[lane] / products.0 } else { 0.0 };
            gaps[lane] = gap_of_products(products, mu[lane], penalty[lane], largest[lane]);
            at_most[lane] = gap_of_products(products, mu[lane], penalty[lane], largest_at_most[lane]) + rounding;
        }
        (gaps, at_most)
    }

    #[inline(always)]
    fn size_of_largest(&self, correlations: &[S::f64s]) -> S::f64s {
        let mut largest = S::f64s::splat(self.simd, 0.0);
        for &correlation in correlations {
            largest = largest.max(if self.nonnegative { correlation } else { correlation.abs() });
        }
        largest
    }

    #[inline(always)]
    fn n_atoms(&self) -> usize {
        self.few.atoms.len() / self.few.n_features.max(1)
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::kernels::all_levels;

    /// Two atoms of unit norm with this product, and a third that is orthogonal to both.
    fn atoms(product: f64) -> Columns<f64> {
        let mut atoms = Columns::zeros(4, 3);
        atoms.padded_mut(0)[0] = 1.0;
        atoms.padded_mut(1)[..2].copy_from_slice(&[product, (1.0 - product * product).sqrt()]);
        atoms.padded_mut(2)[2] = 1.0;
        atoms
    }

    #[test]
    fn every_lane_has_the_code_of_its_own_sample() {
        for level in all_levels() {
            dispatch!(level, simd => lanes_are_apart(simd));
        }
    }

    #[inline(always)]
    fn lanes_are_apart<S: Simd>(simd: S) {
        let few = Few::new(&atoms(0.6)).unwrap();
        let samples: Vec<[f64; 4]> =
            (0..S::f64s::LEN).map(|lane| [0, 1, 2, 3].map(|row| ((5 * lane + 3 * row) as f64).sin())).collect();
        for nonnegative in [false, true] {
            let code = |chosen: &dyn Fn(usize) -> usize, mu: [f64; MOST_LANES]| {
                let mut lanes = few.lanes(simd, nonnegative, |lane, row| samples[chosen(lane)][row]);
                let gaps = lanes.solve::<f64>(&mu, 1e-10);
                (0..S::f64s::LEN)
                    .map(|lane| (gaps[lane], lanes.coefficients().iter().map(|a| a[lane]).collect()))
                    .collect()
            };
            let together: Vec<(f64, Vec<f64>)> = code(&|lane| lane, [0.1; MOST_LANES]);
            for (lane, (gap, own)) in together.iter().enumerate() {
                assert!(*gap <= 1e-10 && (!nonnegative || own.iter().all(|a| *a >= 0.0)), "lane {lane}: gap {gap}");
                // The orthogonal atom is a problem of its own.
                let x = samples[lane][2];
                let alone = if nonnegative { (x - 0.1).max(0.0) } else { (x.abs() - 0.1).max(0.0) * x.signum() };
                assert!((own[2] - alone).abs() < 1e-12, "lane {lane}: {} against {alone}", own[2]);
                let all_alike: Vec<(f64, Vec<f64>)> = code(&|_| lane, [0.1; MOST_LANES]);
                assert!(all_alike.iter().all(|other| other == &(*gap, own.clone())), "a lane depends on another");
            }
        }
    }

    #[test]
    fn what_takes_too_long_is_not_called_good_enough() {
        for level in all_levels() {
            let few = Few::new(&atoms(1.0 - 1e-9)).unwrap();
            dispatch!(level, simd => {
                // Its code needs both atoms, which are nearly the same.
                let mut lanes = few.lanes(simd, false, |_, row| [0.0, 1.0, 0.0, 0.0][row]);
                let gaps = lanes.solve::<f64>(&[1e-6; MOST_LANES], 1e-10);
                assert!(gaps.iter().all(|gap| gap.is_infinite()), "{gaps:?}");
                assert!(lanes.coefficients().iter().all(|a| a[0].abs() <= 0.0));
            });
        }
    }

    #[test]
    fn many_atoms_long_ones_and_more_than_features_are_for_others() {
        let is_some = |rows, count| Few::new(&Columns::<f32>::zeros(rows, count)).is_some();
        assert!(is_some(3, 2) && is_some(64, 8));
        assert!(!is_some(64, 9) && !is_some(65, 2) && !is_some(3, 4));
    }
}
