//! Products in vectors of 512 bits on processors that have them and that fearless_simd serves with AVX2, because what it calls
//! AVX-512 begins with Ice Lake: Skylake-X and Cascade Lake.
//!
//! Panels are laid out for AVX2 there. The two vectors of a panel are one of these, and the bits of a product are the same. A whole
//! run of panels is multiplied at a time, for which there are registers: thirty-two. What is left at the end is less than a run and is
//! multiplied as for AVX2, panel by panel.
//!
//! This is the only `unsafe` code of the workspace (decision 0006): functions for these processors are called where [`Wide`] is
//! the proof that this is one.

#![expect(unsafe_code, reason = "code for these processors is entered from code for AVX2")]

use std::arch::x86_64::{
    _mm512_castpd256_pd512, _mm512_castpd512_pd256, _mm512_castps256_ps512, _mm512_castps512_ps256,
    _mm512_extractf32x8_ps, _mm512_extractf64x4_pd, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_insertf32x8,
    _mm512_insertf64x4, _mm512_set1_pd, _mm512_set1_ps,
};

use fearless_simd::{Avx2, Level, SimdFloatElement, prelude::*};

use super::correlate::{Product, RUN};
use super::panels::{TILE, VECTORS};

/// Proof that the processor has what the functions of this file are compiled for.
#[derive(Debug, Clone, Copy)]
pub struct Wide(Avx2);

impl Wide {
    /// On such a processor, where the level is AVX2.
    pub(super) fn of(level: Level) -> Option<Self> {
        let Level::Avx2(avx2) = level else { return None };
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")).then_some(Self(avx2))
    }

    /// The level that it goes with.
    pub(super) fn avx2(self) -> Avx2 {
        self.0
    }

    /// Runs what is inlined into this, compiled for these processors.
    #[inline(always)]
    pub(super) fn vectorize<R>(self, run: impl FnOnce(Avx2) -> R) -> R {
        #[target_feature(enable = "avx512f,avx512dq,avx2,bmi1,bmi2,cmpxchg16b,f16c,fma,fxsr,lzcnt,movbe,popcnt,xsave")]
        fn entered<R>(avx2: Avx2, run: impl FnOnce(Avx2) -> R) -> R {
            run(avx2)
        }
        // SAFETY: `self` says that the processor has AVX-512 F and DQ, and its level that it has all others.
        unsafe { entered(self.avx2(), run) }
    }
}

/// Numbers that these products are written for.
pub trait WideElement: SimdFloatElement {
    /// The products of a run of panels with a tile; fast where it is inlined into [`Wide::vectorize`].
    fn multiply_wide(wide: Wide, panels: [&[Self]; RUN], tile: &[Self]) -> [Product<Self::Native<Avx2>>; RUN];
}

macro_rules! implement_wide_element {
    ($scalar:ty, $widened:ident, $insert:ident, $low:ident, $high:ident, $splat:ident, $mul_add:ident) => {
        impl WideElement for $scalar {
            #[inline(always)]
            fn multiply_wide(
                wide: Wide,
                [a, b, c, d]: [&[Self]; RUN],
                tile: &[Self],
            ) -> [Product<Self::Native<Avx2>>; RUN] {
                type Half = <$scalar as SimdFloatElement>::Native<Avx2>;
                const LANES: usize = Half::LEN;
                #[inline(always)]
                fn rows(panel: &[$scalar]) -> impl Iterator<Item = &[$scalar]> {
                    panel.chunks_exact(VECTORS * LANES)
                }
                let simd = wide.avx2();
                let mut products = [[[Half::splat(simd, 0.0); VECTORS]; TILE]; RUN];
                let (ab, cd) = (rows(a).zip(rows(b)), rows(c).zip(rows(d)));
                // SAFETY: `wide` says that the processor has AVX-512 F and DQ, which is all that these functions ask for.
                unsafe {
                    let mut sums = [[$splat(0.0); TILE]; RUN];
                    for (((a, b), (c, d)), samples) in ab.zip(cd).zip(tile.chunks_exact(TILE)) {
                        let mut vectors = [$splat(0.0); RUN];
                        for (vector, atoms) in vectors.iter_mut().zip([a, b, c, d]) {
                            let low = Half::from_slice(simd, &atoms[..LANES]);
                            let high = Half::from_slice(simd, &atoms[LANES..]);
                            *vector = $insert::<1>($widened(low.into()), high.into());
                        }
                        for s in 0..TILE {
                            let sample = $splat(samples[s]);
                            for p in 0..RUN {
                                sums[p][s] = $mul_add(vectors[p], sample, sums[p][s]);
                            }
                        }
                    }
                    for p in 0..RUN {
                        for s in 0..TILE {
                            let sum = sums[p][s];
                            products[p][s] = [$low(sum).simd_into(simd), $high::<1>(sum).simd_into(simd)];
                        }
                    }
                }
                products
            }
        }
    };
}

implement_wide_element!(
    f32,
    _mm512_castps256_ps512,
    _mm512_insertf32x8,
    _mm512_castps512_ps256,
    _mm512_extractf32x8_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps
);
implement_wide_element!(
    f64,
    _mm512_castpd256_pd512,
    _mm512_insertf64x4,
    _mm512_castpd512_pd256,
    _mm512_extractf64x4_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::best_level;
    use crate::kernels::correlate::multiply;
    use crate::scalar::Scalar;

    fn products_have_the_bits_of_avx2<T: Scalar>(wide: Wide, rows: usize) {
        let size = rows * VECTORS * T::Native::<Avx2>::LEN;
        let value = |i: usize| T::from_f64((i * 37 % 101) as f64 / 50.0 - 1.0);
        let atoms: Vec<T> = (0..RUN * size).map(value).collect();
        let tile: Vec<T> = (0..rows * TILE).map(|i| value(3 * i + 1)).collect();
        let panels: [&[T]; RUN] = std::array::from_fn(|p| &atoms[p * size..(p + 1) * size]);
        let found = wide.vectorize(|_| T::multiply_wide(wide, panels, &tile));
        let avx2 = wide.avx2();
        let lanes = |vector: &T::Native<Avx2>| vector.as_slice().to_vec();
        for (p, (found, panel)) in found.iter().zip(panels).enumerate() {
            let plain = avx2.vectorize(|| multiply::<_, T>(avx2, panel, &tile));
            for (s, (found, plain)) in found.iter().zip(plain).enumerate() {
                for (v, (found, plain)) in found.iter().zip(plain).enumerate() {
                    assert_eq!(lanes(found), lanes(&plain), "{rows} rows: panel {p}, sample {s}, vector {v}");
                }
            }
        }
        // And those are not all the same.
        let first = found[0][0][0].as_slice()[0];
        assert!(rows < 2 || found[RUN - 1][TILE - 1][VECTORS - 1].as_slice().iter().all(|&last| last != first));
    }

    #[test]
    fn wide_products_have_the_bits_of_avx2() {
        let avx2 = best_level().as_avx2().map(Level::Avx2);
        // Where there are no such vectors there is nothing to compare.
        let Some(wide) = avx2.and_then(Wide::of) else { return };
        for rows in [1, 2, 7, 64, 65] {
            products_have_the_bits_of_avx2::<f32>(wide, rows);
            products_have_the_bits_of_avx2::<f64>(wide, rows);
        }
    }
}
