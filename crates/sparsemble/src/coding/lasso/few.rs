//! Dictionaries of a few atoms: samples side by side, one in each lane of a vector.
//!
//! With a handful of atoms the walk of [`super::active_set`] waits more than it computes: its steps are a few sums long, and
//! each needs the one before. Here all lanes take a step at the same time, in double precision ([`super::side_by_side`]). What
//! comes out is judged by the same duality gap as everything else; a sample that is not good enough is coded as if nothing had
//! been tried.
//!
//! No lane depends on another, so a code does not depend on its neighbours.

use fearless_simd::prelude::*;

use super::certificate::{gap_of_products, product};
use super::side_by_side::{MOST_ATOMS, PerAtom, SideBySide};
use crate::coding::basis::inverse;
use crate::kernels::Columns;
use crate::scalar::Scalar;

/// The most features; the products of longer samples are the work of the passes.
const MOST_FEATURES: usize = 64;

/// The most lanes of a vector in any instruction set.
pub(super) const MOST_LANES: usize = 8;

/// The atoms and their products, in double precision.
pub(super) struct Few {
    n_features: usize,
    /// Atom by atom.
    atoms: Vec<f64>,
    /// Row by row.
    gram: Vec<f64>,
    /// The same, divided by the largest energy.
    unit_gram: Vec<f64>,
    largest_energy: f64,
}

/// As many samples as a vector has lanes.
pub(super) struct Lanes<'a, S: Simd> {
    few: &'a Few,
    simd: S,
    nonnegative: bool,
    energies: S::f64s,
    correlations: PerAtom<S>,
    coefficients: PerAtom<S>,
}

impl Few {
    /// `None` if there are too many atoms, or too long ones.
    pub(super) fn new<T: Scalar>(columns: &Columns<T>) -> Option<Self> {
        let (n_features, n_atoms) = (columns.rows(), columns.count());
        if n_atoms > MOST_ATOMS || n_features > MOST_FEATURES {
            return None;
        }
        let atoms: Vec<f64> = (0..n_atoms).flat_map(|j| columns.column(j)).map(|value| value.to_f64()).collect();
        let atom = |j: usize| &atoms[j * n_features..][..n_features];
        let gram: Vec<f64> = (0..n_atoms)
            .flat_map(|j| (0..n_atoms).map(move |k| (j, k)))
            .map(|(j, k)| product(atom(j), atom(k)))
            .collect();
        let largest_energy = (0..n_atoms).map(|j| gram[j * n_atoms + j]).fold(0.0, f64::max);
        let unit_gram = gram.iter().map(|product| product * inverse(largest_energy)).collect();
        Some(Self { n_features, atoms, gram, unit_gram, largest_energy })
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
            let mut x = [0.0; MOST_LANES];
            for (lane, x) in x[..S::f64s::LEN].iter_mut().enumerate() {
                *x = value(lane, feature);
            }
            let x = S::f64s::from_slice(simd, &x[..S::f64s::LEN]);
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

    /// Looks for the codes at each sample's μ, with correlations that may exceed it by `slack`, and returns their gaps; infinity
    /// for those that may be more than `enough`.
    #[inline(always)]
    pub(super) fn solve<T: Scalar>(
        &mut self,
        space: &mut SideBySide<S>,
        (mu, slack): (&[f64; MOST_LANES], &[f64; MOST_LANES]),
        enough: f64,
    ) -> [f64; MOST_LANES] {
        let unit = inverse(self.few.largest_energy);
        let mut correlations = self.correlations;
        for correlation in &mut correlations[..self.n_atoms()] {
            *correlation *= unit;
        }
        let in_units = [mu, slack].map(|values| S::f64s::from_slice(self.simd, &values[..S::f64s::LEN]) * unit);
        let noise = self.energies.sqrt() * (self.noise() * self.few.largest_energy.sqrt() * unit);
        let minima = space.solve(&self.few.unit_gram, &correlations, in_units[0], in_units[1] + noise);
        self.coefficients = self.as_returned::<T>(minima);
        self.gaps(mu, enough)
    }

    /// The coefficients as the number type has them.
    #[inline(always)]
    fn as_returned<T: Scalar>(&self, coefficients: &PerAtom<S>) -> PerAtom<S> {
        let mut rounded = *coefficients;
        if T::EPSILON.to_f64() > f64::EPSILON {
            for a in &mut rounded[..self.n_atoms()] {
                *a = S::f64s::from_fn(self.simd, |lane| T::from_f64(a[lane]).to_f64());
            }
        }
        rounded
    }

    /// The relative duality gap of each code; infinity where it is more than `enough` with sums as far off as rounding can make
    /// them.
    #[inline(always)]
    fn gaps(&self, mu: &[f64; MOST_LANES], enough: f64) -> [f64; MOST_LANES] {
        let (n_atoms, zero) = (self.n_atoms(), S::f64s::splat(self.simd, 0.0));
        let (mut penalty, mut with_sample, mut with_itself, mut left) = (zero, zero, zero, [zero; MOST_ATOMS]);
        for (j, left) in left[..n_atoms].iter_mut().enumerate() {
            let row = &self.few.gram[j * n_atoms..][..n_atoms];
            let mut image = zero;
            for (&a, &entry) in self.coefficients.iter().zip(row) {
                image = a.mul_add(entry, image);
            }
            *left = self.correlations[j] - image;
            penalty += self.coefficients[j].abs();
            with_sample = self.coefficients[j].mul_add(self.correlations[j], with_sample);
            with_itself = self.coefficients[j].mul_add(image, with_itself);
        }
        let (noise, norm) = (self.noise(), self.few.largest_energy.sqrt());
        let size = penalty.mul_add(norm, self.energies.sqrt());
        let largest = self.size_of_largest(&left[..n_atoms]);
        let largest_at_most = size.mul_add(noise * norm, largest);
        let products_with_residual = self.energies - with_sample;
        let residual = (products_with_residual - with_sample + with_itself).max(0.0);
        let mut gaps = [f64::INFINITY; MOST_LANES];
        for (lane, gap) in gaps[..S::f64s::LEN].iter_mut().enumerate() {
            let products = (self.energies[lane], products_with_residual[lane], residual[lane]);
            let rounding = if products.0 > 0.0 { noise * size[lane] * size[lane] / products.0 } else { 0.0 };
            let at_most = gap_of_products(products, mu[lane], penalty[lane], largest_at_most[lane]) + rounding;
            let exact = gap_of_products(products, mu[lane], penalty[lane], largest[lane]);
            *gap = if at_most <= enough { exact } else { f64::INFINITY };
        }
        gaps
    }

    #[inline(always)]
    fn size_of_largest(&self, correlations: &[S::f64s]) -> S::f64s {
        let mut largest = S::f64s::splat(self.simd, 0.0);
        for &correlation in correlations {
            largest = largest.max(if self.nonnegative { correlation } else { correlation.abs() });
        }
        largest
    }

    /// How far off a sum of products can be, as a fraction of what its terms can add up to.
    #[inline(always)]
    fn noise(&self) -> f64 {
        f64::EPSILON * (self.few.n_features + 2 * self.n_atoms()) as f64
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
                let mut space = SideBySide::new(simd, nonnegative, 3);
                let gaps = lanes.solve::<f64>(&mut space, (&mu, &[0.0; MOST_LANES]), 1e-10);
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
    fn more_atoms_than_features_have_codes_of_a_few() {
        for level in all_levels() {
            dispatch!(level, simd => many_for_few_features(simd));
        }
    }

    /// Atoms that are all of the same kind, so that most steps meet one in the span of the support.
    #[inline(always)]
    fn many_for_few_features<S: Simd>(simd: S) {
        for (n_atoms, n_features) in [(5, 3), (10, 3), (16, 2), (16, 7)] {
            let mut columns = Columns::<f64>::zeros(n_features, n_atoms);
            for j in 0..n_atoms {
                let entries = columns.padded_mut(j)[..n_features].iter_mut().enumerate();
                entries.for_each(|(row, entry)| *entry = 1.0 + ((7 * j + 3 * row * row + j * row) as f64).sin());
            }
            let few = Few::new(&columns).unwrap();
            for nonnegative in [false, true] {
                let mut space = SideBySide::new(simd, nonnegative, n_atoms);
                let mut found = 0;
                for part in 0..20 {
                    let x = |lane, row| 1.0 + ((part * 31 + lane * 5 + row * (lane + 2)) as f64).cos();
                    let mut lanes = few.lanes(simd, nonnegative, x);
                    let gaps = lanes.solve::<f64>(&mut space, (&[0.02; MOST_LANES], &[0.0; MOST_LANES]), 1e-10);
                    found += gaps[..S::f64s::LEN].iter().filter(|gap| **gap <= 1e-10).count();
                    assert!(
                        !nonnegative
                            || lanes
                                .coefficients()
                                .iter()
                                .all(|a| a.simd_ge(0.0).to_bitmask() + 1 == 1 << S::f64s::LEN)
                    );
                }
                assert_eq!(found, 20 * S::f64s::LEN, "{n_atoms} atoms of {n_features} features");
            }
        }
    }

    #[test]
    fn what_rounding_spoils_is_not_called_good_enough() {
        for level in all_levels() {
            let few = Few::new(&atoms(1.0 - 1e-12)).unwrap();
            dispatch!(level, simd => spoiled(simd, &few));
        }
    }

    /// Its code needs both atoms, which are nearly the same.
    #[inline(always)]
    fn spoiled<S: Simd>(simd: S, few: &Few) {
        let mut lanes = few.lanes(simd, false, |_, row| [0.0, 1.0, 0.0, 0.0][row]);
        let mut space = SideBySide::new(simd, false, 3);
        let gaps = lanes.solve::<f64>(&mut space, (&[1e-7; MOST_LANES], &[0.0; MOST_LANES]), 1e-10);
        assert!(gaps.iter().all(|gap| gap.is_infinite()), "{gaps:?}");
    }

    #[test]
    fn many_atoms_and_long_ones_are_for_others() {
        let is_some = |rows, count| Few::new(&Columns::<f32>::zeros(rows, count)).is_some();
        assert!(is_some(3, 2) && is_some(64, 16) && is_some(3, 16));
        assert!(!is_some(64, 17) && !is_some(65, 2));
    }
}
