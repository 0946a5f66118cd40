//! Members of supports in the space of a few features, one sample in each lane of a vector.

use fearless_simd::prelude::*;

use super::few::NONE;

/// A vector of features for each sample.
#[derive(Clone, Copy)]
pub(super) struct Vectors<S: Simd, const M: usize>(pub(super) [S::f64s; M]);

/// A member of each support; all zeros but its number where there is none.
#[derive(Clone, Copy)]
pub(super) struct Member<S: Simd, const M: usize> {
    pub(super) number: S::f64s,
    pub(super) sign: S::f64s,
    pub(super) coefficient: S::f64s,
    pub(super) atom: Vectors<S, M>,
    pub(super) dual: Vectors<S, M>,
}

impl<S: Simd, const M: usize> Member<S, M> {
    #[inline(always)]
    pub(super) fn none(simd: S) -> Self {
        let zero = S::f64s::splat(simd, 0.0);
        let number = S::f64s::splat(simd, NONE);
        Self { number, sign: zero, coefficient: zero, atom: Vectors([zero; M]), dual: Vectors([zero; M]) }
    }

    #[inline(always)]
    pub(super) fn is_some(&self) -> S::mask64s {
        self.number.simd_ge(0.0)
    }

    #[inline(always)]
    pub(super) fn select(mask: S::mask64s, yes: &Self, no: &Self) -> Self {
        Self {
            number: mask.select(yes.number, no.number),
            sign: mask.select(yes.sign, no.sign),
            coefficient: mask.select(yes.coefficient, no.coefficient),
            atom: Vectors::select(mask, &yes.atom, &no.atom),
            dual: Vectors::select(mask, &yes.dual, &no.dual),
        }
    }
}

impl<S: Simd, const M: usize> Vectors<S, M> {
    #[inline(always)]
    pub(super) fn dot(&self, other: &Self) -> S::f64s {
        let mut sum = self.0[0] * other.0[0];
        for (&a, &b) in self.0.iter().zip(&other.0).skip(1) {
            sum = a.mul_add(b, sum);
        }
        sum
    }

    #[inline(always)]
    pub(super) fn times(mut self, factor: S::f64s) -> Self {
        for entry in &mut self.0 {
            *entry *= factor;
        }
        self
    }

    /// With `factor` times another taken away.
    #[inline(always)]
    pub(super) fn minus(mut self, factor: S::f64s, other: &Self) -> Self {
        for (entry, &other) in self.0.iter_mut().zip(&other.0) {
            *entry = (-factor).mul_add(other, *entry);
        }
        self
    }

    #[inline(always)]
    pub(super) fn select(mask: S::mask64s, yes: &Self, no: &Self) -> Self {
        let mut chosen = *no;
        for (entry, &yes) in chosen.0.iter_mut().zip(&yes.0) {
            *entry = mask.select(yes, *entry);
        }
        chosen
    }
}
