//! Inputs in eight bits, one after the other, from which blocks of some of them are taken: see [`ByteMaps`](super::ByteMaps).

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use crate::scalar::Scalar;

/// The steps that the largest entry of an input has.
pub(super) const STEPS: f64 = 127.0;

/// An input whose largest entry is fainter than this counts as zero, so that no factor is infinite.
const FAINT: f64 = 1e-30;

/// Added to a float of few digits before the point, this rounds it and leaves it in the lowest bits.
const TO_BITS: f32 = 12_582_912.0;

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
        let largest = input.iter().fold(T::ZERO, |largest, value| if value.abs() > largest { value.abs() } else { largest });
        let largest = largest.to_f64();
        let factor = T::from_f64(if largest > FAINT { STEPS / largest } else { 0.0 });
        let steps = |value: T| ((value * factor).to_f64() as f32 + TO_BITS).to_bits() as i32;
        let mut sum = 0;
        let (fours, last) = input.as_chunks();
        for (word, &[a, b, c, d]) in record.iter_mut().zip(fours) {
            let [a, b, c, d] = [a, b, c, d].map(steps);
            *word = word_of([a, b, c, d]);
            sum += [a, b, c, d].map(|step| (step << 24) >> 24).into_iter().sum::<i32>();
        }
        if !last.is_empty() {
            let four: [i32; 4] = std::array::from_fn(|i| last.get(i).map_or(0, |&value| steps(value)));
            record[fours.len()] = word_of(four);
            sum += four.map(|step| (step << 24) >> 24).into_iter().sum::<i32>();
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

    /// The words of an input, and what its products, moved as they are, begin with.
    #[inline(always)]
    pub(super) fn words(&self, slot: usize) -> (&[i32], i32) {
        let record = &self.data[slot * self.stride..][..self.stride];
        (&record[..self.fours], record[self.fours + 1])
    }

    /// What a step of an input is.
    #[inline(always)]
    pub(super) fn step(&self, slot: usize) -> f32 {
        f32::from_bits(self.data[slot * self.stride + self.fours].cast_unsigned())
    }
}

/// Four bytes of a word in the order of [`PLACES`].
#[inline(always)]
fn word_of([a, b, c, d]: [i32; 4]) -> i32 {
    (a & 0xff) | (c & 0xff) << 8 | (b & 0xff) << 16 | d << 24
}

/// The byte of a word that each of four entries has: the first two are the lower halves of sixteen bits, so that a shift
/// makes pairs of them where there are no products of bytes.
pub(super) const PLACES: [usize; 4] = [0, 2, 1, 3];
