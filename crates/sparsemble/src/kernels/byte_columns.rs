//! Inputs in eight bits, one after the other, from which blocks of some of them are taken: see [`ByteMaps`](super::ByteMaps).

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::coarse::{FAINT, TO_BITS};
use crate::scalar::Scalar;

/// The steps that the largest entry of an input has.
pub(super) const STEPS: f64 = 127.0;

/// What the bytes of maps are moved by, so that none has a sign.
pub(super) const MOVED: i32 = 128;

/// Words of a line of the cache.
const LINE: usize = 16;

/// Inputs rounded as they come, to be looked up in any order.
#[derive(Debug)]
pub(crate) struct ByteColumns {
    /// Words of four bytes each.
    fours: usize,
    /// Input by input, in whole lines: its words, what a step of it is, and what its moved products begin with.
    data: Aligned<i32>,
    stride: usize,
    count: usize,
}

impl ByteColumns {
    /// Room for `capacity` inputs of `rows` entries.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let fours = rows.div_ceil(4);
        let stride = (fours + 2).next_multiple_of(LINE);
        Self { fours, data: Aligned::zeros(stride * capacity), stride, count: 0 }
    }

    /// Forgets all inputs.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes one more input.
    #[inline(always)]
    pub(crate) fn push<S: Simd, T: Scalar>(&mut self, _: S, input: &[T]) {
        let record = &mut self.data[self.count * self.stride..][..self.stride];
        let largest = largest(input);
        let factor = T::from_f64(if largest > FAINT { STEPS / largest } else { 0.0 });
        // The lowest byte.
        let steps = |value: T| ((value * factor).to_f64() as f32 + TO_BITS).to_bits() as i8;
        let mut sum = 0;
        let (fours, last) = input.as_chunks();
        for (word, &four) in record.iter_mut().zip(fours) {
            let [a, b, c, d] = four.map(steps);
            *word = i32::from_ne_bytes([a, b, c, d].map(i8::cast_unsigned));
            sum += (i32::from(a) + i32::from(b)) + (i32::from(c) + i32::from(d));
        }
        if !last.is_empty() {
            let four: [i8; 4] = std::array::from_fn(|i| last.get(i).map_or(0, |&value| steps(value)));
            record[fours.len()] = i32::from_ne_bytes(four.map(i8::cast_unsigned));
            sum += four.map(i32::from).into_iter().sum::<i32>();
        }
        record[self.fours] = ((largest / STEPS) as f32).to_bits().cast_signed();
        record[self.fours + 1] = -MOVED * sum;
        self.count += 1;
    }

    /// Takes the named inputs of others, and nothing else.
    #[inline(always)]
    pub(super) fn load_named<S: Simd>(&mut self, _: S, others: &Self, names: &[u32]) {
        let lines = self.stride / LINE;
        let (to, from) = (self.data.as_chunks_mut::<LINE>().0, others.data.as_chunks::<LINE>().0);
        for (to, &name) in to.chunks_exact_mut(lines).zip(names) {
            to.copy_from_slice(&from[name as usize * lines..][..lines]);
        }
        self.count = names.len();
    }

    /// The words of an input.
    #[inline(always)]
    pub(super) fn words(&self, slot: usize) -> &[i32] {
        &self.data[slot * self.stride..][..self.fours]
    }

    /// What the sum of its products, moved as they are, begins with.
    #[inline(always)]
    pub(super) fn start(&self, slot: usize) -> i32 {
        self.data[slot * self.stride + self.fours + 1]
    }

    /// What a step of an input is.
    #[inline(always)]
    pub(super) fn step(&self, slot: usize) -> f32 {
        f32::from_bits(self.data[slot * self.stride + self.fours].cast_unsigned())
    }
}

/// The largest magnitude, in eight lanes side by side.
#[inline(always)]
fn largest<T: Scalar>(input: &[T]) -> f64 {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (eights, rest) = input.as_chunks::<8>();
    let mut lanes = [T::ZERO; 8];
    for eight in eights {
        for i in 0..8 {
            lanes[i] = larger(lanes[i], eight[i].abs());
        }
    }
    let lanes = lanes.into_iter().fold(T::ZERO, larger);
    rest.iter().fold(lanes, |most, value| larger(most, value.abs())).to_f64()
}
