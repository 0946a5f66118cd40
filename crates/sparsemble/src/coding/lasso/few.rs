//! Few atoms, or few features: samples side by side, one in each lane of a vector.
//!
//! There the walk of [`super::active_set`] waits more than it computes: its steps are a few sums long, and each needs the one
//! before. Here all lanes take a step at the same time, in double precision, on a tableau of all atoms
//! ([`super::few_atoms`]) or in the space of the features ([`super::few_features`]). What comes out is judged by the same
//! duality gap as everything else; a sample that is not good enough is coded as if nothing had been tried.
//!
//! No lane depends on another, so a code does not depend on its neighbours.

use fearless_simd::prelude::*;

use super::certificate::gap_of_products;
use super::few_atoms::FewAtoms;
use super::few_features::FewFeatures;
use super::side_by_side::MOST_ATOMS;
use crate::kernels::Columns;
use crate::scalar::Scalar;

/// The most lanes of a vector in any instruction set.
pub(super) const MOST_LANES: usize = 8;

/// A number for each lane.
pub(super) type PerLane = [f64; MOST_LANES];

/// An atom of whose energy no more than this is outside of the span of the support is taken to lie in it.
pub(super) const IN_SPAN: f64 = 1e-10;

/// No atom, as the number of one.
pub(super) const NONE: f64 = -1.0;

/// A dictionary for which samples are coded side by side.
pub(super) enum Few {
    TwoFeatures(FewFeatures<2>),
    ThreeFeatures(FewFeatures<3>),
    FourFeatures(FewFeatures<4>),
    EightFeatures(FewFeatures<8>),
    Atoms(FewAtoms),
}

/// As many samples as a vector has lanes.
pub(super) trait Lanes<S: Simd> {
    /// Takes samples, of which `value` tells each lane's features; returns their largest correlations with an atom.
    fn load(&mut self, value: impl Fn(usize, usize) -> f64) -> S::f64s;

    /// Looks for the codes at each sample's μ, with correlations that may exceed it by `slack`, and returns their gaps; infinity
    /// for those that may be more than `enough`.
    fn solve<T: Scalar>(&mut self, limits: (&PerLane, &PerLane), enough: f64) -> PerLane;

    /// The code that was found for a sample, by atoms in ascending order; some coefficients may be zero, those of which the
    /// atoms mean nothing.
    fn code(&self, lane: usize, code: &mut [(u32, f64)]);
}

impl Few {
    /// `None` if there are too many atoms or too long ones.
    pub(super) fn new<T: Scalar>(columns: &Columns<T>) -> Option<Self> {
        let (n_features, n_atoms) = (columns.rows(), columns.count());
        // The walk is in the smaller space; a step in that of eight features takes as long as one on a full tableau.
        if n_atoms <= n_features || (n_features > 4 && n_atoms <= MOST_ATOMS) {
            return FewAtoms::new(columns).map(Self::Atoms);
        }
        match n_features {
            ..=2 => FewFeatures::new(columns).map(Self::TwoFeatures),
            3 => FewFeatures::new(columns).map(Self::ThreeFeatures),
            4 => FewFeatures::new(columns).map(Self::FourFeatures),
            _ => FewFeatures::new(columns).map(Self::EightFeatures),
        }
    }

    /// The most entries of a code.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::TwoFeatures(_) => 2,
            Self::ThreeFeatures(_) => 3,
            Self::FourFeatures(_) => 4,
            Self::EightFeatures(_) => 8,
            Self::Atoms(few) => few.n_atoms(),
        }
    }
}

/// The codes that lanes have reached.
pub(super) struct Reached<S: Simd> {
    /// xᵀx.
    pub(super) energies: S::f64s,
    /// xᵀr.
    pub(super) with_residual: S::f64s,
    /// rᵀr.
    pub(super) left: S::f64s,
    /// ‖a‖₁.
    pub(super) penalty: S::f64s,
    /// The largest correlation of an atom with r.
    pub(super) largest: S::f64s,
}

impl<S: Simd> Reached<S> {
    /// The relative duality gap of each code; infinity where it is more than `enough` with sums as far off as rounding can make
    /// them: by the fraction `noise` of what their terms can add up to, with no atom longer than `norm`.
    #[inline(always)]
    pub(super) fn gaps(&self, (noise, norm): (f64, f64), mu: &PerLane, enough: f64) -> PerLane {
        let size = self.penalty.mul_add(norm, self.energies.sqrt());
        let largest_at_most = size.mul_add(noise * norm, self.largest);
        let mut gaps = [f64::INFINITY; MOST_LANES];
        for (lane, gap) in gaps[..S::f64s::LEN].iter_mut().enumerate() {
            let products = (self.energies[lane], self.with_residual[lane], self.left[lane]);
            let rounding = if products.0 > 0.0 { noise * size[lane] * size[lane] / products.0 } else { 0.0 };
            let at_most = gap_of_products(products, mu[lane], self.penalty[lane], largest_at_most[lane]) + rounding;
            let exact = gap_of_products(products, mu[lane], self.penalty[lane], self.largest[lane]);
            *gap = if at_most <= enough { exact } else { f64::INFINITY };
        }
        gaps
    }
}

/// Coefficients as the number type has them.
#[inline(always)]
pub(super) fn rounded<S: Simd, T: Scalar>(simd: S, coefficients: S::f64s) -> S::f64s {
    if T::EPSILON.to_f64() > f64::EPSILON {
        S::f64s::from_fn(simd, |lane| T::from_f64(coefficients[lane]).to_f64())
    } else {
        coefficients
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::coding::lasso::certificate::relative_gap;
    use crate::coding::lasso::goal::slack;
    use crate::coding::lasso::rounds::energy;
    use crate::kernels::all_levels;

    /// Gaps of at most this are good enough.
    const ENOUGH: f64 = 1e-9;

    /// Two atoms of unit norm with this product, a third that is orthogonal to both, and zeros.
    fn atoms(product: f64, (n_features, n_atoms): (usize, usize)) -> Columns<f64> {
        let mut atoms = Columns::zeros(n_features, n_atoms);
        atoms.padded_mut(0)[0] = 1.0;
        atoms.padded_mut(n_atoms - 1)[..2].copy_from_slice(&[product, (1.0 - product * product).sqrt()]);
        atoms.padded_mut(1)[2] = 1.0;
        atoms
    }

    /// Sizes of which each is for another kind of walk.
    const SIZES: [(usize, usize); 4] = [(4, 3), (4, 6), (3, 5), (6, 17)];

    /// The gaps and codes of the samples, a lane each; codes have entries for all atoms.
    #[inline(always)]
    fn solve<S: Simd>(
        simd: S,
        columns: &Columns<f64>,
        (nonnegative, mu): (bool, f64),
        value: impl Fn(usize, usize) -> f64,
    ) -> Vec<(f64, Vec<f64>)> {
        let few = Few::new(columns).unwrap();
        let limits = (&[mu; MOST_LANES], &[slack::<f64>(mu, ENOUGH); MOST_LANES]);
        match &few {
            Few::TwoFeatures(f) => found(f.lanes(simd, nonnegative), &few, columns, limits, value),
            Few::ThreeFeatures(f) => found(f.lanes(simd, nonnegative), &few, columns, limits, value),
            Few::FourFeatures(f) => found(f.lanes(simd, nonnegative), &few, columns, limits, value),
            Few::EightFeatures(f) => found(f.lanes(simd, nonnegative), &few, columns, limits, value),
            Few::Atoms(f) => found(f.lanes(simd, nonnegative), &few, columns, limits, value),
        }
    }

    #[inline(always)]
    fn found<S: Simd>(
        mut lanes: impl Lanes<S>,
        few: &Few,
        columns: &Columns<f64>,
        limits: (&PerLane, &PerLane),
        value: impl Fn(usize, usize) -> f64,
    ) -> Vec<(f64, Vec<f64>)> {
        // What is left of the samples before does not matter.
        lanes.load(|lane, row| ((lane + 2 * row) as f64).cos());
        lanes.solve::<f64>(limits, ENOUGH);
        lanes.load(&value);
        let gaps = lanes.solve::<f64>(limits, ENOUGH);
        let codes = (0..S::f64s::LEN).map(|lane| {
            let (mut code, mut dense) = (vec![(0, 0.0); few.width()], vec![0.0; columns.count()]);
            lanes.code(lane, &mut code);
            code.retain(|(_, a)| a.abs() > 0.0);
            assert!(code.is_sorted_by(|a, b| a.0 < b.0), "{code:?}");
            for (j, a) in code {
                dense[j as usize] = a;
            }
            (gaps[lane], dense)
        });
        codes.collect()
    }

    #[test]
    fn every_lane_has_the_code_of_its_own_sample() {
        for level in all_levels() {
            dispatch!(level, simd => lanes_are_apart(simd));
        }
    }

    #[inline(always)]
    fn lanes_are_apart<S: Simd>(simd: S) {
        for (size, nonnegative) in SIZES.into_iter().flat_map(|size| [(size, false), (size, true)]) {
            let columns = atoms(0.6, size);
            let value = |lane: usize, row: usize| if lane == 1 { 0.0 } else { ((5 * lane + 3 * row) as f64).sin() };
            let together = solve(simd, &columns, (nonnegative, 0.1), value);
            for (lane, (gap, own)) in together.iter().enumerate() {
                assert!(*gap <= ENOUGH && (!nonnegative || own.iter().all(|a| *a >= 0.0)), "lane {lane}: gap {gap}");
                // The orthogonal atom is a problem of its own.
                let x = value(lane, 2);
                let alone = if nonnegative { (x - 0.1).max(0.0) } else { (x.abs() - 0.1).max(0.0) * x.signum() };
                assert!((own[1] - alone).abs() < 1e-12, "lane {lane}: {} against {alone}", own[1]);
                let all_alike = solve(simd, &columns, (nonnegative, 0.1), |_, row| value(lane, row));
                assert!(all_alike.iter().all(|other| other == &(*gap, own.clone())), "a lane depends on another");
            }
        }
    }

    #[test]
    fn more_atoms_than_features_have_codes_of_a_few() {
        for level in all_levels() {
            // Atoms that are all of the same kind, so that most steps meet one in the span of the support.
            dispatch!(level, simd => codes_are_minima(simd, |j, row| ((7 * j + 3 * row * row + j * row) as f64).sin()));
        }
    }

    #[test]
    fn atoms_may_repeat() {
        for level in all_levels() {
            dispatch!(level, simd => codes_are_minima(simd, |j, row| ((7 * (j / 2) + 3 * row * row) as f64).sin()));
        }
    }

    #[inline(always)]
    fn codes_are_minima<S: Simd>(simd: S, entry: impl Fn(usize, usize) -> f64) {
        for (n_atoms, n_features) in [(5, 3), (16, 2), (16, 7), (17, 4), (40, 8), (300, 3), (7, 1)] {
            let mut columns = Columns::<f64>::zeros(n_features, n_atoms);
            for j in 0..n_atoms {
                let entries = columns.padded_mut(j)[..n_features].iter_mut().enumerate();
                entries.for_each(|(row, own)| *own = 1.0 + entry(j, row));
            }
            for (nonnegative, part) in [false, true].into_iter().flat_map(|sign| (0..20).map(move |part| (sign, part)))
            {
                let x = |lane, row| 1.0 + ((part * 31 + lane * 5 + row * (lane + 2)) as f64).cos();
                for (lane, (gap, code)) in solve(simd, &columns, (nonnegative, 0.02), x).iter().enumerate() {
                    assert!(*gap <= ENOUGH, "{n_atoms} atoms of {n_features} features: {gap}");
                    assert!(!nonnegative || code.iter().all(|a| *a >= 0.0));
                    let x: Vec<f64> = (0..n_features).map(|row| x(lane, row)).collect();
                    assert!(plain_gap(&columns, &x, (nonnegative, 0.02), code) <= ENOUGH);
                }
            }
        }
    }

    /// The gap of a code, computed one product after the other.
    fn plain_gap(columns: &Columns<f64>, x: &[f64], (nonnegative, mu): (bool, f64), code: &[f64]) -> f64 {
        let mut residual = x.to_vec();
        for (j, a) in code.iter().enumerate() {
            residual.iter_mut().zip(columns.column(j)).for_each(|(r, entry)| *r -= a * entry);
        }
        let correlation = |j| columns.column(j).iter().zip(&residual).map(|(a, b)| a * b).sum::<f64>();
        let sizes = (0..columns.count()).map(correlation).map(|c| if nonnegative { c } else { c.abs() });
        let penalty = code.iter().map(|a| a.abs()).sum();
        relative_gap((x, energy(x)), &residual, mu, penalty, sizes.fold(0.0, f64::max))
    }

    #[test]
    fn what_rounding_spoils_is_not_called_good_enough() {
        for level in all_levels() {
            dispatch!(level, simd => spoiled(simd));
        }
    }

    /// The codes need both atoms, which are nearly the same.
    #[inline(always)]
    fn spoiled<S: Simd>(simd: S) {
        for (size, apart) in SIZES.into_iter().flat_map(|size| (4..16).map(move |digits| (size, 0.1_f64.powi(digits))))
        {
            let columns = atoms(1.0 - apart, size);
            let x = |_, row| if row == 1 { 1.0 } else { 0.0 };
            for (gap, code) in solve(simd, &columns, (false, 1e-7), x) {
                let x: Vec<f64> = (0..size.0).map(|row| x(0, row)).collect();
                let plain = plain_gap(&columns, &x, (false, 1e-7), &code);
                assert!(gap.is_infinite() || plain <= 2.0 * ENOUGH, "{size:?}, {apart}: {gap} against {plain}");
                assert!(gap.is_infinite() || !(1e-12..1e-10).contains(&apart), "{size:?}, {apart}: {gap}");
            }
        }
    }

    #[test]
    fn no_atom_is_in_a_code_twice_where_rounding_spoils_the_walk() {
        for level in all_levels() {
            dispatch!(level, simd => nearly_in_a_plane(simd));
        }
    }

    /// Three of five atoms lie nearly in a plane, and none along an axis: rounding may let a member seem to violate.
    #[inline(always)]
    fn nearly_in_a_plane<S: Simd>(simd: S) {
        for (apart, mu) in (2..8).flat_map(|a| (3..8).map(move |b| (0.1_f64.powi(a), 0.1_f64.powi(b)))) {
            let mut columns = Columns::<f64>::zeros(3, 5);
            for j in 0..5 {
                let angle = apart * (j * j) as f64 + if j < 3 { 0.7 } else { 1.9 + j as f64 };
                let atom = [0.6 * angle.cos(), 0.8 * angle.cos() + 0.1 * apart * j as f64, angle.sin()];
                columns.padded_mut(j)[..3].copy_from_slice(&atom);
            }
            for (nonnegative, part) in [false, true].into_iter().flat_map(|sign| (0..8).map(move |part| (sign, part))) {
                let x = |lane, row| ((part * 31 + lane * 5 + row * (lane + 2)) as f64).cos();
                // That atoms are in order, each once, is looked at in `found`.
                for (lane, (gap, code)) in solve(simd, &columns, (nonnegative, mu), x).iter().enumerate() {
                    let x: Vec<f64> = (0..3).map(|row| x(lane, row)).collect();
                    let plain = plain_gap(&columns, &x, (nonnegative, mu), code);
                    assert!(gap.is_infinite() || plain <= 2.0 * ENOUGH, "{apart}, {mu}: {gap} against {plain}");
                }
            }
        }
    }

    #[test]
    fn many_atoms_and_long_ones_are_for_others() {
        let is_some = |rows, count| Few::new(&Columns::<f32>::zeros(rows, count)).is_some();
        assert!(is_some(3, 2) && is_some(64, 16) && is_some(3, 16) && is_some(3, 2000) && is_some(8, 512));
        assert!(!is_some(9, 17) && !is_some(65, 2) && !is_some(3, 5000) && !is_some(8, 513));
    }
}
