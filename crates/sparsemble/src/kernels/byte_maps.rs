//! Many small linear maps kept in bytes, applied in whole numbers: inputs are rounded to sixteen bits, and nothing else is.
//!
//! An input is scaled to a norm of 32,000 steps. Rounding moves it by at most ½√r of them, so what a map q makes of it is off
//! by no more than ½√r / 32,000 of ‖q‖‖x‖: a ten-thousandth for r = 48. Twice as many products are made at a time as in
//! single precision, and half as much is read.

use fearless_simd::{Level, dispatch, f32x8, i16x16, i32x8, prelude::*};

use super::aligned::Aligned;
use super::best_level;
use super::coarse::{NORM, round_to_pairs};
use super::columns::Columns;
use crate::scalar::Scalar;
use crate::sums::product_by;

/// Outputs in a vector: a map has few, and longer vectors would be filled up with more zeros.
const LANES: usize = 8;

/// Vectors of outputs and inputs whose sums are in registers at a time.
const VECTORS: usize = 3;
const TILE: usize = 4;

/// Inputs in pairs of sixteen bits, and what a step of each is.
#[derive(Debug)]
pub(crate) struct Words {
    pairs: usize,
    data: Aligned<i32>,
    steps: Vec<f32>,
}

impl Words {
    /// Room for so many inputs of this length.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let pairs = rows.div_ceil(2);
        Self { pairs, data: Aligned::zeros(pairs * capacity), steps: vec![0.0; capacity] }
    }

    /// Keeps an input.
    pub(crate) fn set<T: Scalar>(&mut self, number: usize, input: &[T]) {
        let words = &mut self.data[number * self.pairs..(number + 1) * self.pairs];
        let norm = dispatch!(best_level(), simd => {
            let norm = product_by(simd, input, input).sqrt();
            round_to_pairs(simd, input, norm, words);
            norm
        });
        self.steps[number] = (norm / NORM) as f32;
    }

    #[inline(always)]
    fn of(&self, number: u32) -> &[i32] {
        &self.data[number as usize * self.pairs..][..self.pairs]
    }
}

/// Maps of the same size.
#[derive(Debug)]
pub(crate) struct ByteMaps {
    level: Level,
    pairs: usize,
    /// Outputs, up to whole vectors.
    width: usize,
    /// Map by map, pair of inputs by pair, output by output.
    data: Aligned<i16>,
    /// What a step of each output of each map is.
    units: Aligned<f32>,
}

impl ByteMaps {
    /// Packs the maps whose outputs, one after the other, have these bytes and scales.
    pub(crate) fn pack<T: Scalar>(level: Level, (rows, outputs): (usize, usize), bytes: &[i8], scales: &[T]) -> Self {
        let (pairs, width) = (rows.div_ceil(2), outputs.next_multiple_of(LANES));
        let count = scales.len() / outputs;
        let (mut data, mut units) = (Aligned::zeros(count * pairs * width * 2), Aligned::zeros(count * width));
        for (number, (column, scale)) in bytes.chunks_exact(rows).zip(scales).enumerate() {
            let (map, output) = (number / outputs, number % outputs);
            units[map * width + output] = scale.to_f64() as f32;
            for (r, &byte) in column.iter().enumerate() {
                data[((map * pairs + r / 2) * width + output) * 2 + r % 2] = byte.into();
            }
        }
        Self { level, pairs, width, data, units }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.units.len() / self.width
    }

    /// Adds what a map makes of the named inputs, by a weight, to their sums and, squared, to the spreads.
    pub(crate) fn add<T: Scalar>(
        &self,
        map: usize,
        (words, names): (&Words, &[u32]),
        weight: f64,
        (sums, spreads): (&mut Columns<T>, &mut [T]),
    ) {
        dispatch!(self.level, simd => for names in names.chunks(TILE) {
            self.add_tile(simd, map, (words, names), weight as f32, (sums, spreads));
        });
    }

    #[inline(always)]
    fn add_tile<S: Simd, T: Scalar>(
        &self,
        simd: S,
        map: usize,
        (words, names): (&Words, &[u32]),
        weight: f32,
        (sums, spreads): (&mut Columns<T>, &mut [T]),
    ) {
        // A short tile is filled up with what does no harm.
        let inputs: [&[i32]; TILE] = std::array::from_fn(|s| words.of(names[s.min(names.len() - 1)]));
        let mut squares = [f32x8::splat(simd, 0.0); TILE];
        for first in (0..self.width).step_by(VECTORS * LANES) {
            let mut products = [[f32x8::splat(simd, 0.0); VECTORS]; TILE];
            match (self.width - first) / LANES {
                1 => self.multiply::<S, 1>(simd, (map, first), inputs, &mut products),
                2 => self.multiply::<S, 2>(simd, (map, first), inputs, &mut products),
                _ => self.multiply::<S, VECTORS>(simd, (map, first), inputs, &mut products),
            }
            for ((&name, products), squares) in names.iter().zip(products).zip(&mut squares) {
                let step = f32x8::splat(simd, words.steps[name as usize]);
                let sums = sums.padded_mut(name as usize)[first..].chunks_exact_mut(LANES);
                for (sums, product) in sums.zip(products) {
                    let part = product * step;
                    *squares = part.mul_add(part, *squares);
                    let parts: [f32; LANES] = part.into();
                    for (sum, part) in sums.iter_mut().zip(parts) {
                        *sum += T::from_f64(f64::from(weight * part));
                    }
                }
            }
        }
        for (&name, squares) in names.iter().zip(squares) {
            spreads[name as usize] += T::from_f64(f64::from(weight * squares.reduce_sum()));
        }
    }

    /// N vectors of outputs of a tile, from the first on, in units of the inputs' steps.
    #[inline(always)]
    fn multiply<S: Simd, const N: usize>(
        &self,
        simd: S,
        (map, first): (usize, usize),
        inputs: [&[i32]; TILE],
        products: &mut [[f32x8<S>; VECTORS]; TILE],
    ) {
        let size = self.pairs * self.width * 2;
        let rows = self.data[map * size..(map + 1) * size].chunks_exact(self.width * 2);
        let mut sums = [[i32x8::splat(simd, 0); N]; TILE];
        let [a, b, c, d] = inputs;
        for (row, (((&a, &b), &c), &d)) in rows.zip(a.iter().zip(b).zip(c).zip(d)) {
            let row = &row[first * 2..(first + N * LANES) * 2];
            let maps: [i16x16<S>; N] =
                std::array::from_fn(|v| i16x16::from_slice(simd, &row[v * 2 * LANES..(v + 1) * 2 * LANES]));
            for (sums, word) in sums.iter_mut().zip([a, b, c, d]) {
                let pair: i16x16<S> = i32x8::splat(simd, word).bitcast();
                for (sum, map) in sums.iter_mut().zip(maps) {
                    *sum += map.pairwise_dot_product(pair);
                }
            }
        }
        let units = &self.units[map * self.width + first..][..N * LANES];
        for (products, sums) in products.iter_mut().zip(sums) {
            for ((product, sum), unit) in products.iter_mut().zip(sums).zip(units.chunks_exact(LANES)) {
                *product = sum.to_float::<f32x8<S>>() * f32x8::from_slice(simd, unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::all_levels;

    #[test]
    fn a_map_in_bytes_makes_what_it_makes_in_floats_but_for_the_rounding_of_inputs() {
        let wave = |i: usize| (i as f32 * 0.7).sin();
        for ((rows, outputs), level) in [(5, 3), (48, 24), (7, 36), (16, 44)]
            .into_iter()
            .flat_map(|size| all_levels().into_iter().map(move |level| (size, level)))
        {
            let bytes: Vec<i8> = (0..3 * outputs * rows).map(|i| (127.0 * wave(i * i)) as i8).collect();
            let scales: Vec<f32> = (0..3 * outputs).map(|i| 0.01 + 0.001 * (i % 7) as f32).collect();
            let maps = ByteMaps::pack(level, (rows, outputs), &bytes, &scales);
            assert_eq!(maps.count(), 3);
            let inputs: Vec<Vec<f32>> =
                (0..11).map(|i| (0..rows).map(|r| 50.0 * wave(13 * i + 5 * r)).collect()).collect();
            let mut words = Words::new(rows, 11);
            inputs.iter().enumerate().for_each(|(i, input)| words.set(i, input));
            let (mut sums, mut spreads) = (Columns::<f32>::zeros(outputs, 11), vec![0.0_f32; 11]);
            let names = [3, 0, 10, 7, 8];
            maps.add(1, (&words, &names), 0.5, (&mut sums, &mut spreads));
            for (i, input) in inputs.iter().enumerate() {
                let norm = product_by_hand(input, input).sqrt();
                let mut squares = 0.0;
                for j in 0..outputs {
                    let at = outputs + j;
                    let map: Vec<f32> = (0..rows).map(|r| f32::from(bytes[at * rows + r]) * scales[at]).collect();
                    let made = product_by_hand(&map, input);
                    let bound = 0.52 * (rows as f64).sqrt() / NORM * norm * product_by_hand(&map, &map).sqrt();
                    let expected = if names.contains(&(i as u32)) { 0.5 * made } else { 0.0 };
                    let off = (f64::from(sums.column(i)[j]) - expected).abs();
                    assert!(off <= bound, "input {i}, output {j} of {outputs}: off by {off}");
                    squares += 2.0 * expected * expected;
                }
                assert!((f64::from(spreads[i]) - squares).abs() <= 2e-3 * squares.max(1e-9));
            }
        }
    }

    fn product_by_hand(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    }
}
