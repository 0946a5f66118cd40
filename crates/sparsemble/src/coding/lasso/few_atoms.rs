//! Dictionaries of a few atoms: the samples of [`super::side_by_side`], and what becomes of them.

use fearless_simd::prelude::*;

use super::certificate::product;
use super::few::{Lanes, MOST_LANES, PerLane, Reached, rounded};
use super::side_by_side::{MOST_ATOMS, PerAtom, SideBySide};
use crate::coding::basis::inverse;
use crate::kernels::Columns;
use crate::scalar::Scalar;

/// The most features; the products of longer samples are the work of the passes.
const MOST_FEATURES: usize = 64;

/// The atoms and their products, in double precision.
pub(super) struct FewAtoms {
    n_features: usize,
    /// Atom by atom.
    atoms: Vec<f64>,
    /// Row by row.
    gram: Vec<f64>,
    /// The same, divided by the largest energy.
    unit_gram: Vec<f64>,
    largest_energy: f64,
}

/// The samples and their codes.
pub(super) struct AtomLanes<'a, S: Simd> {
    few: &'a FewAtoms,
    simd: S,
    nonnegative: bool,
    space: SideBySide<S>,
    energies: S::f64s,
    correlations: PerAtom<S>,
    coefficients: PerAtom<S>,
}

impl FewAtoms {
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

    pub(super) fn n_atoms(&self) -> usize {
        self.atoms.len() / self.n_features.max(1)
    }

    #[inline(always)]
    pub(super) fn lanes<S: Simd>(&self, simd: S, nonnegative: bool) -> AtomLanes<'_, S> {
        let zero = S::f64s::splat(simd, 0.0);
        let space = SideBySide::new(simd, nonnegative, self.n_atoms());
        let (correlations, coefficients) = ([zero; MOST_ATOMS], [zero; MOST_ATOMS]);
        AtomLanes { few: self, simd, nonnegative, space, energies: zero, correlations, coefficients }
    }
}

impl<S: Simd> Lanes<S> for AtomLanes<'_, S> {
    #[inline(always)]
    fn load(&mut self, value: impl Fn(usize, usize) -> f64) -> S::f64s {
        let zero = S::f64s::splat(self.simd, 0.0);
        let (mut energies, mut correlations) = (zero, [zero; MOST_ATOMS]);
        for feature in 0..self.few.n_features {
            let mut x = [0.0; MOST_LANES];
            for (lane, x) in x[..S::f64s::LEN].iter_mut().enumerate() {
                *x = value(lane, feature);
            }
            let x = S::f64s::from_slice(self.simd, &x[..S::f64s::LEN]);
            energies = x.mul_add(x, energies);
            let entries = self.few.atoms[feature..].iter().step_by(self.few.n_features);
            for (correlation, &entry) in correlations.iter_mut().zip(entries) {
                *correlation = x.mul_add(entry, *correlation);
            }
        }
        (self.energies, self.correlations) = (energies, correlations);
        self.size_of_largest(&self.correlations[..self.few.n_atoms()])
    }

    #[inline(always)]
    fn solve<T: Scalar>(&mut self, (mu, slack): (&PerLane, &PerLane), enough: f64) -> PerLane {
        let unit = inverse(self.few.largest_energy);
        let mut correlations = self.correlations;
        for correlation in &mut correlations[..self.few.n_atoms()] {
            *correlation *= unit;
        }
        let in_units = [mu, slack].map(|values| S::f64s::from_slice(self.simd, &values[..S::f64s::LEN]) * unit);
        let noise = self.energies.sqrt() * (self.noise() * self.few.largest_energy.sqrt() * unit);
        self.coefficients = *self.space.solve(&self.few.unit_gram, &correlations, in_units[0], in_units[1] + noise);
        for a in &mut self.coefficients[..self.few.n_atoms()] {
            *a = rounded::<S, T>(self.simd, *a);
        }
        self.reached().gaps((self.noise(), self.few.largest_energy.sqrt()), mu, enough)
    }

    #[inline(always)]
    fn code(&self, lane: usize, code: &mut [(u32, f64)]) {
        for (j, (entry, a)) in code.iter_mut().zip(&self.coefficients).enumerate() {
            *entry = (j as u32, a[lane]);
        }
    }
}

impl<S: Simd> AtomLanes<'_, S> {
    #[inline(always)]
    fn reached(&self) -> Reached<S> {
        let (n_atoms, zero) = (self.few.n_atoms(), S::f64s::splat(self.simd, 0.0));
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
        let with_residual = self.energies - with_sample;
        Reached {
            energies: self.energies,
            with_residual,
            left: (with_residual - with_sample + with_itself).max(0.0),
            penalty,
            largest: self.size_of_largest(&left[..n_atoms]),
        }
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
        f64::EPSILON * (self.few.n_features + 2 * self.few.n_atoms()) as f64
    }
}
