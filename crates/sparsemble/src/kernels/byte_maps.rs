//! Many small linear maps kept in bytes, applied in whole numbers: inputs are rounded to eight bits, and nothing else is.
//!
//! An input is scaled so that its largest entry has 127 steps. Rounding moves no entry by more than half of one, so what a
//! map q makes of the input x is off by no more than ‖q‖₁ max|x| / 254. The errors of entries have nothing to do with each
//! other, so as a rule it is about ‖q‖ max|x| / 440, a thousandth of ‖q‖‖x‖. Four products are made at a time where single
//! precision makes one, and a quarter as much is read.
//!
//! The instruction for four products wants bytes without a sign on one side. So those of the maps are moved by 128, and every sum
//! begins with −128 Σx instead of zero.

use std::ops::Range;

use fearless_simd::{Level, dispatch, f32x8, i16x16, i32x8, prelude::*, u8x32, u16x16};

use super::aligned::Aligned;
use super::byte_columns::{ByteColumns, MOVED};
use super::columns::Columns;
use crate::scalar::Scalar;

/// Outputs in a vector: a map has few, and longer vectors would be filled up with more zeros.
const LANES: usize = 8;

/// Vectors of outputs and inputs whose sums are in registers at a time.
const VECTORS: usize = 3;
const TILE: usize = 4;

/// Maps of the same size.
#[derive(Debug)]
pub(crate) struct ByteMaps {
    level: Level,
    /// A quarter of the inputs, which come by fours.
    fours: usize,
    /// Outputs, up to whole vectors.
    width: usize,
    /// Map by map, four inputs by four, output by output: the moved bytes of the four.
    data: Aligned<u8>,
    /// What a step of each output of each map is.
    units: Aligned<f32>,
}

impl ByteMaps {
    /// Packs the maps whose outputs, one after the other, have these bytes and scales.
    pub(crate) fn pack<T: Scalar>(level: Level, (rows, outputs): (usize, usize), bytes: &[i8], scales: &[T]) -> Self {
        let (fours, width) = (rows.div_ceil(4), outputs.next_multiple_of(LANES));
        let count = scales.len() / outputs;
        let (mut data, mut units) = (Aligned::zeros(count * fours * width * 4), Aligned::zeros(count * width));
        for (number, (column, scale)) in bytes.chunks_exact(rows).zip(scales).enumerate() {
            let (map, output) = (number / outputs, number % outputs);
            units[map * width + output] = scale.to_f64() as f32;
            for (r, &byte) in column.iter().enumerate() {
                let place = ((map * fours + r / 4) * width + output) * 4 + r % 4;
                data[place] = (i32::from(byte) + MOVED) as u8;
            }
        }
        Self { level, fours, width, data, units }
    }

    /// Writes what a map makes of the inputs in these slots, at most a tile of them.
    #[inline(always)]
    fn multiply_tile<S: Simd>(
        &self,
        simd: S,
        map: usize,
        inputs: &ByteColumns,
        slots: Range<usize>,
        made: &mut Columns<f32>,
    ) {
        // A short tile is filled up with its last input once more.
        let slots: [usize; TILE] = std::array::from_fn(|s| (slots.start + s).min(slots.end - 1));
        for first in (0..self.width).step_by(VECTORS * LANES) {
            match (self.width - first) / LANES {
                1 => self.multiply::<S, 1>(simd, (map, first), inputs, slots, made),
                2 => self.multiply::<S, 2>(simd, (map, first), inputs, slots, made),
                _ => self.multiply::<S, VECTORS>(simd, (map, first), inputs, slots, made),
            }
        }
    }

    /// N vectors of outputs of a tile, from the first on.
    #[inline(always)]
    fn multiply<S: Simd, const N: usize>(
        &self,
        simd: S,
        (map, first): (usize, usize),
        inputs: &ByteColumns,
        slots: [usize; TILE],
        made: &mut Columns<f32>,
    ) {
        let size = self.fours * self.width * 4;
        let bytes = &self.data[map * size..(map + 1) * size];
        let [a, b, c, d] = slots.map(|slot| inputs.words(slot));
        let mut sums = [[i32x8::splat(simd, 0); N]; TILE];
        for (sums, &slot) in sums.iter_mut().zip(&slots) {
            *sums = [i32x8::splat(simd, inputs.start(slot)); N];
        }
        for (number, (((a, b), c), d)) in a.iter().zip(b).zip(c).zip(d).enumerate() {
            let row = &bytes[(number * self.width + first) * 4..][..N * LANES * 4];
            let maps: [u8x32<S>; N] =
                std::array::from_fn(|v| u8x32::from_slice(simd, &row[v * 4 * LANES..(v + 1) * 4 * LANES]));
            for (sums, &word) in sums.iter_mut().zip([a, b, c, d]) {
                let word = i32x8::splat(simd, word);
                for (sum, map) in sums.iter_mut().zip(maps) {
                    *sum = add_four_products(simd, *sum, map, word);
                }
            }
        }
        let units = &self.units[map * self.width + first..][..N * LANES];
        // Looked at in their place: sums that are handed on as a whole would leave the registers.
        for (sums, &slot) in sums.iter().zip(&slots) {
            let step = f32x8::splat(simd, inputs.step(slot));
            let made = &mut made.padded_mut(slot)[first..first + N * LANES];
            for (v, sum) in sums.iter().enumerate() {
                let lanes = v * LANES..(v + 1) * LANES;
                let part = sum.to_float::<f32x8<S>>() * f32x8::from_slice(simd, &units[lanes.clone()]) * step;
                part.store_slice(&mut made[lanes]);
            }
        }
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod vnni {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::{__m256i, _mm256_dpbusd_epi32};
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::{__m256i, _mm256_dpbusd_epi32};

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn add_four_products(_simd: Avx512, sum: __m256i, map: __m256i, word: __m256i) -> __m256i {
            _mm256_dpbusd_epi32(sum, map, word)
        }
    );
}

/// Adds to each lane the four products of its bytes: those of a map have no sign, those of an input do.
#[inline(always)]
fn add_four_products<S: Simd>(simd: S, sum: i32x8<S>, map: u8x32<S>, word: i32x8<S>) -> i32x8<S> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Some(avx512) = simd.level().as_avx512() {
        return vnni::add_four_products(avx512, sum.into(), map.into(), word.into()).simd_into(simd);
    }
    // Two at a time: the even bytes, then the odd ones.
    let (map, word): (u16x16<S>, i16x16<S>) = (map.bitcast(), word.bitcast());
    let (low, high): (i16x16<S>, i16x16<S>) = ((map & u16x16::splat(simd, 0xff)).bitcast(), (map >> 8).bitcast());
    sum + low.pairwise_dot_product((word << 8) >> 8) + high.pairwise_dot_product(word >> 8)
}

/// Inputs that go through their maps at a time.
const BLOCK: usize = 96;

/// What a thread needs to apply maps.
///
/// Inputs that share a map lie anywhere. So the inputs of a few maps are fetched together first, and what is made of them is
/// brought back together, which leaves the processor many places to wait for at a time.
#[derive(Debug)]
pub(crate) struct ByteMapper {
    inputs: ByteColumns,
    made: Columns<f32>,
}

impl ByteMapper {
    /// For maps of this size.
    pub(crate) fn new(rows: usize, outputs: usize) -> Self {
        Self { inputs: ByteColumns::new(rows, BLOCK), made: Columns::zeros(outputs, BLOCK) }
    }

    /// Adds what becomes of the named inputs, by a weight, to their sums and, squared, to the spreads, if there are any. `chosen`
    /// has the map of each input; inputs of the same map are named one after the other.
    pub(crate) fn add<T: Scalar>(
        &mut self,
        maps: &ByteMaps,
        (inputs, names, chosen): (&ByteColumns, &[u32], &[u32]),
        weight: f64,
        (sums, spreads): (&mut Columns<T>, &mut [T]),
    ) {
        dispatch!(maps.level, simd => for names in names.chunks(BLOCK) {
            self.inputs.load_named(simd, inputs, names);
            let mut first = 0;
            for same in names.chunk_by(|&a, &b| chosen[a as usize] == chosen[b as usize]) {
                for start in (first..first + same.len()).step_by(TILE) {
                    let slots = start..(start + TILE).min(first + same.len());
                    maps.multiply_tile(simd, chosen[same[0] as usize] as usize, &self.inputs, slots, &mut self.made);
                }
                first += same.len();
            }
            self.bring_back(simd, names, weight as f32, (sums, spreads));
        });
    }

    #[inline(always)]
    fn bring_back<S: Simd, T: Scalar>(
        &self,
        simd: S,
        names: &[u32],
        weight: f32,
        (sums, spreads): (&mut Columns<T>, &mut [T]),
    ) {
        for (slot, &name) in names.iter().enumerate() {
            let mut squares = f32x8::splat(simd, 0.0);
            let (sums, made) = (sums.padded_mut(name as usize), self.made.padded(slot));
            for (sums, made) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(made.as_chunks::<LANES>().0) {
                let part = f32x8::from_slice(simd, made);
                squares = part.mul_add(part, squares);
                let parts: [f32; LANES] = (part * weight).into();
                for i in 0..LANES {
                    sums[i] += T::from_f64(f64::from(parts[i]));
                }
            }
            if let Some(spread) = spreads.get_mut(name as usize) {
                *spread += T::from_f64(f64::from(weight * squares.reduce_sum()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::all_levels;
    use crate::kernels::byte_columns::STEPS;

    #[test]
    fn a_map_in_bytes_makes_what_it_makes_in_floats_but_for_the_rounding_of_inputs() {
        let wave = |i: usize| (i as f32 * 0.7).sin();
        for (rows, outputs) in [(5, 3), (48, 24), (7, 36), (16, 44)] {
            // A file may hold any byte.
            let byte = |i: usize| if i % 50 == 7 { i8::MIN } else { (127.0 * wave(i * i)) as i8 };
            let bytes: Vec<i8> = (0..3 * outputs * rows).map(byte).collect();
            let scales: Vec<f32> = (0..3 * outputs).map(|i| 0.01 + 0.001 * (i % 7) as f32).collect();
            let size = |i: usize| [50.0, 0.0, 1e-35][if i == 7 { 1 } else { 2 * usize::from(i == 8) }];
            let inputs: Vec<Vec<f32>> =
                (0..11).map(|i| (0..rows).map(|r| size(i) * wave(13 * i + 5 * r)).collect()).collect();
            let names = [3, 0, 10, 7, 8];
            let mut of_all_levels = Vec::new();
            for level in all_levels() {
                let maps = ByteMaps::pack(level, (rows, outputs), &bytes, &scales);
                let mut rounded = ByteColumns::new(rows, 11);
                for input in &inputs {
                    dispatch!(level, simd => rounded.push(simd, input));
                }
                let (mut sums, mut spreads) = (Columns::<f32>::zeros(outputs, 11), vec![0.0_f32; 11]);
                let named = (&rounded, &names[..], &[1; 11][..]);
                ByteMapper::new(rows, outputs).add(&maps, named, 0.5, (&mut sums, &mut spreads));
                for (i, input) in inputs.iter().enumerate() {
                    let largest = input.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                    let mut squares = 0.0;
                    for j in 0..outputs {
                        let at = outputs + j;
                        let map: Vec<f32> = (0..rows).map(|r| f32::from(bytes[at * rows + r]) * scales[at]).collect();
                        let sizes: f64 = map.iter().map(|value| f64::from(value.abs())).sum();
                        // What is fainter than the rest is nothing.
                        let bound = 0.5 * 0.51 * f64::from(largest) / STEPS * sizes + 1e-30;
                        let expected =
                            if names.contains(&(i as u32)) { 0.5 * product_by_hand(&map, input) } else { 0.0 };
                        let off = (f64::from(sums.column(i)[j]) - expected).abs();
                        assert!(off <= bound, "input {i}, output {j} of {outputs}: off by {off}");
                        squares += 2.0 * expected * expected;
                    }
                    assert!((f64::from(spreads[i]) - squares).abs() <= 0.05 * squares.max(1e-9));
                }
                of_all_levels.push((0..11).flat_map(|i| sums.column(i).to_vec()).map(f32::to_bits).collect::<Vec<_>>());
            }
            assert!(
                of_all_levels.iter().all(|bits| *bits == of_all_levels[0]),
                "other sums on another instruction set"
            );
        }
    }

    fn product_by_hand(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    }
}
