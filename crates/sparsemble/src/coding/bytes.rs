//! Codes as bytes: what a checkpoint keeps of them, and what boosting puts aside (feature `io`).
//!
//! | bytes | what |
//! | --- | --- |
//! | 8, 8 and 8 | atoms K, samples, coefficients; low bytes first, as all numbers |
//! | 2 or 4 each | how many coefficients each sample has, then the atoms of all; 2 if K is below 2¹⁶ |
//! | 4 or 8 each | the coefficients |

use crate::reason::Outcome;
use crate::scalar::Scalar;

use super::SparseCodes;

/// The bytes in front, by which the number of the others is known.
pub(crate) const CODES_HEAD: usize = 24;

const NO_SUCH_LENGTH: &str = "codes are longer or shorter than they should be";

/// The bytes of a whole number up to the number of atoms.
fn width(n_atoms: u64) -> u64 {
    if n_atoms < 1 << 16 { 2 } else { 4 }
}

/// How many bytes codes with this head have in all; `None` if they cannot be so many.
pub(crate) fn codes_length<T: Scalar>(head: [u8; CODES_HEAD]) -> Option<u64> {
    let [n_atoms, samples, nonzero] = numbers(head);
    let wholes = samples.checked_add(nonzero)?.checked_mul(width(n_atoms))?;
    wholes.checked_add(nonzero.checked_mul(size_of::<T>() as u64)?)?.checked_add(CODES_HEAD as u64)
}

fn numbers(head: [u8; CODES_HEAD]) -> [u64; 3] {
    let (numbers, _) = head.as_chunks();
    std::array::from_fn(|i| u64::from_le_bytes(numbers[i]))
}

impl<T: Scalar> SparseCodes<T> {
    fn head(&self) -> [u8; CODES_HEAD] {
        let numbers = [self.n_atoms(), self.n_samples(), self.n_nonzero()].map(|number| (number as u64).to_le_bytes());
        std::array::from_fn(|i| numbers.as_flattened()[i])
    }

    /// How many bytes [`Self::to_bytes`] gives.
    pub(crate) fn n_bytes(&self) -> u64 {
        codes_length::<T>(self.head()).unwrap_or(u64::MAX)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.n_bytes() as usize);
        bytes.extend(self.head());
        let counts = self.starts().windows(2).map(|ends| (ends[1] - ends[0]) as u32);
        let wholes = counts.chain(self.atoms().iter().copied());
        if width(self.n_atoms() as u64) == 2 {
            wholes.for_each(|whole| bytes.extend((whole as u16).to_le_bytes()));
        } else {
            wholes.for_each(|whole| bytes.extend(whole.to_le_bytes()));
        }
        self.coefficients().iter().for_each(|&value| add_scalar(&mut bytes, value));
        bytes
    }

    /// Reads them back; anything else than codes is refused.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Outcome<Self> {
        let (head, rest) = bytes.split_first_chunk::<CODES_HEAD>().ok_or(NO_SUCH_LENGTH)?;
        if codes_length::<T>(*head) != Some(bytes.len() as u64) {
            return Err(NO_SUCH_LENGTH.into());
        }
        let [n_atoms, samples, nonzero] = numbers(*head);
        let n_atoms = usize::try_from(n_atoms).map_err(|_| "codes have too many atoms")?;
        // There are as many bytes as both need.
        let width = width(n_atoms as u64) as usize;
        let (counts, rest) = rest.split_at(samples as usize * width);
        let (atoms, coefficients) = rest.split_at(nonzero as usize * width);
        let mut starts = Vec::with_capacity(samples as usize + 1);
        let mut end = 0_usize;
        starts.push(end);
        starts.extend(wholes(counts, width).map(|count| {
            end = end.saturating_add(count as usize);
            end
        }));
        Ok(Self::from_parts(n_atoms, starts, wholes(atoms, width).collect(), scalars(coefficients))?)
    }
}

fn wholes(bytes: &[u8], width: usize) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(width).map(|low| {
        let mut whole = [0; 4];
        whole[..low.len()].copy_from_slice(low);
        u32::from_le_bytes(whole)
    })
}

/// Adds the bytes of a number of either type.
pub(crate) fn add_scalar<T: Scalar>(bytes: &mut Vec<u8>, value: T) {
    if size_of::<T>() == size_of::<f32>() {
        bytes.extend((value.to_f64() as f32).to_le_bytes());
    } else {
        bytes.extend(value.to_f64().to_le_bytes());
    }
}

/// The numbers of these bytes.
pub(crate) fn scalars<T: Scalar>(bytes: &[u8]) -> Vec<T> {
    if size_of::<T>() == size_of::<f32>() {
        bytes.as_chunks().0.iter().map(|&bytes| T::from_f64(f32::from_le_bytes(bytes).into())).collect()
    } else {
        bytes.as_chunks().0.iter().map(|&bytes| T::from_f64(f64::from_le_bytes(bytes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(n_atoms: usize) -> SparseCodes<f32> {
        SparseCodes::from_parts(n_atoms, vec![0, 2, 2, 3], vec![1, n_atoms as u32 - 1, 0], vec![0.5, -1.5, 3.0])
            .unwrap()
    }

    #[test]
    fn codes_are_read_as_they_were_written() {
        for codes in [3, 65_535, 65_536, 100_000].map(codes) {
            let bytes = codes.to_bytes();
            assert_eq!(bytes.len() as u64, codes.n_bytes());
            assert_eq!(SparseCodes::from_bytes(&bytes).unwrap(), codes);
        }
        let none = SparseCodes::<f64>::new(7);
        assert_eq!(SparseCodes::from_bytes(&none.to_bytes()).unwrap(), none);
    }

    #[test]
    fn what_is_cut_changed_or_hostile_is_refused_or_read_but_never_more_than_there_is() {
        let bytes = codes(9).to_bytes();
        for end in 0..bytes.len() {
            assert!(SparseCodes::<f32>::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        assert!(SparseCodes::<f32>::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        assert!(SparseCodes::<f64>::from_bytes(&bytes).is_err());
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                // Refused, or other codes that are codes.
                let _ = SparseCodes::<f32>::from_bytes(&changed);
            }
        }
    }
}
