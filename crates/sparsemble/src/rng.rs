//! One seed, many independent streams of random numbers.
//!
//! Whoever draws names its stream and, where it draws in rounds, numbers it. What one stream gives does not depend on
//! how many others exist or how much they have drawn, so adding a random step changes no other, and results do not
//! depend on the order or the threads in which the steps run. Nothing is ever taken from the system's entropy.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

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

#[cfg(test)]
mod tests {
    use rand::Rng;

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
}
