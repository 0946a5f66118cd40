//! One seed, many independent streams of random numbers.
//!
//! Whoever draws names its stream and, where it draws in rounds, numbers it. What one stream gives does not depend on
//! how many others exist or how much they have drawn, so adding a random step changes no other, and results do not
//! depend on the order or the threads in which the steps run. Nothing is ever taken from the system's entropy.
//!
//! A stream is read in order. Where every sample needs a number of its own, [`RowNumbers`] gives it by the sample's
//! row, so that any part of the data, on any thread or machine, finds the same numbers.

use std::f64::consts::TAU;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// Which random numbers a learner uses: those of a round of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The seed of the whole training.
    pub seed: u64,
    /// l, the number of the ensemble's member, from 0.
    pub round: u64,
}

impl Draw {
    /// The first round of a seed: for what is learned once.
    pub fn first(seed: u64) -> Self {
        Self { seed, round: 0 }
    }

    /// The round's stream of this name.
    pub(crate) fn stream(self, name: &'static str) -> ChaCha8Rng {
        stream(self.seed, name, self.round)
    }
}

/// The longest name of a stream, in bytes.
const NAME: usize = 16;

/// The stream of this name and number.
///
/// The key of the cipher spells out all three parts, so two streams are the same only if seed, name and number are.
pub(crate) fn stream(seed: u64, name: &'static str, number: u64) -> ChaCha8Rng {
    debug_assert!(name.len() <= NAME, "the name of a stream has at most {NAME} bytes");
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    key[16..].iter_mut().zip(name.bytes()).for_each(|(slot, byte)| *slot = byte);
    ChaCha8Rng::from_seed(key)
}

/// A normal number of variance one (Box and Muller).
pub(crate) fn normal(stream: &mut impl Rng) -> f64 {
    let mut uniform = || ((stream.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
    (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos()
}

/// One number for each row, a pure function of the row and of the stream this was made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNumbers {
    key: [u32; 2],
    /// The upper half of the counter; the lower half is the row.
    upper: [u32; 2],
}

impl RowNumbers {
    /// Takes the next 128 bits of the stream as a key.
    pub(crate) fn from_stream(stream: &mut ChaCha8Rng) -> Self {
        let mut pair = || [stream.next_u32(), stream.next_u32()];
        Self { key: pair(), upper: pair() }
    }

    /// The number of this row, evenly spread between 0 and 1 and never either of them.
    pub(crate) fn uniform(&self, row: u64) -> f64 {
        let counter = [row as u32, (row >> 32) as u32, self.upper[0], self.upper[1]];
        let [low, high, ..] = philox(counter, self.key);
        let bits = (u64::from(high) << 32 | u64::from(low)) >> 12;
        (bits as f64 + 0.5) / (1_u64 << 52) as f64
    }
}

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const ROUNDS: usize = 10;
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    for _ in 0..ROUNDS {
        let [a, b] =
            [u64::from(MULTIPLIERS[0]) * u64::from(counter[0]), u64::from(MULTIPLIERS[1]) * u64::from(counter[2])];
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_numbers(seed: u64, name: &'static str, number: u64) -> [u64; 4] {
        let mut rng = stream(seed, name, number);
        std::array::from_fn(|_| rng.next_u64())
    }

    #[test]
    fn seed_name_and_number_each_make_another_stream() {
        let reference = first_numbers(7, "patches", 0);
        assert_eq!(reference, first_numbers(7, "patches", 0));
        for other in [first_numbers(8, "patches", 0), first_numbers(7, "patch", 0), first_numbers(7, "patches", 1)] {
            assert_ne!(reference, other);
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_published_cipher() {
        // ChaCha8 with a key and nonce of zeros: the first words of the key stream 3e00ef2f895f40d67f5bb8e81f09a5a1…
        assert_eq!(stream(0, "", 0).next_u64(), u64::from_le_bytes([0x3e, 0, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6]));
    }

    #[test]
    fn the_numbers_of_rows_are_those_of_the_published_generator() {
        // From the known answers that come with Random123.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let digits_of_pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let found = philox(digits_of_pi, [0xa409_3822, 0x299f_31d0]);
        assert_eq!(found, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn rows_have_numbers_of_their_own_spread_evenly() {
        let numbers = RowNumbers::from_stream(&mut stream(5, "test", 0));
        let other = RowNumbers::from_stream(&mut stream(5, "test", 1));
        let rows = [0, 1, 2, 1 << 32, 1 << 63];
        assert!(rows.iter().all(|&row| (numbers.uniform(row) - other.uniform(row)).abs() > 0.0));
        let count = 20_000;
        let mean = |power: i32| (0..count).map(|row| numbers.uniform(row).powi(power)).sum::<f64>() / count as f64;
        // Five standard deviations of each mean.
        assert!((mean(1) - 0.5).abs() < 5.0 * (1.0_f64 / 12.0 / count as f64).sqrt());
        assert!((mean(2) - 1.0 / 3.0).abs() < 5.0 * (4.0_f64 / 45.0 / count as f64).sqrt());
    }
}
