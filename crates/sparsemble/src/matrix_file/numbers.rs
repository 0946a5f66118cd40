//! Numbers as files store them: of any size, kind and byte order.

use std::io::Read;

use crate::scalar::Scalar;

use crate::reason::Outcome;

/// Bytes that are converted at a time; a multiple of every number's size.
const CHUNK: usize = 1 << 16;

/// How a file stores a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberType {
    pub(super) kind: NumberKind,
    /// In bytes: 1, 2, 4 or 8; 4 or 8 for reals.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Real,
    Signed,
    /// Also truth values: 0 and 1.
    Unsigned,
}

/// A number as it was stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Real(f64),
    Signed(i64),
    Unsigned(u64),
}

impl Number {
    /// The nearest number of the type that is asked for.
    pub(super) fn scalar<T: Scalar>(self) -> T {
        T::from_f64(match self {
            Self::Real(value) => value,
            Self::Signed(value) => value as f64,
            Self::Unsigned(value) => value as f64,
        })
    }

    /// The number if it counts something.
    pub(super) fn count(self) -> Outcome<usize> {
        let count = match self {
            Self::Real(_) => None,
            Self::Signed(value) => usize::try_from(value).ok(),
            Self::Unsigned(value) => usize::try_from(value).ok(),
        };
        count.ok_or_else(|| format!("{self:?} is given where a count belongs; the file is damaged").into())
    }
}

impl NumberType {
    /// Whether the bytes of the file are those of the scalars in memory.
    pub(super) fn is_native<T: Scalar>(self) -> bool {
        self == Self { kind: NumberKind::Real, size: size_of::<T>(), big_endian: cfg!(target_endian = "big") }
    }

    /// Whether `f32` holds every number of this type.
    pub(super) fn fits_single(self) -> bool {
        self.size <= if self.kind == NumberKind::Real { 4 } else { 2 }
    }

    /// Reads `count` numbers. Whoever calls has checked that the file is long enough for them.
    pub(super) fn read<V>(
        self,
        source: &mut (impl Read + ?Sized),
        count: usize,
        convert: impl Fn(Number) -> Outcome<V>,
    ) -> Outcome<Vec<V>> {
        let mut values = Vec::new();
        let no_memory = |_| format!("there is not enough memory for {count} numbers; give fewer samples");
        values.try_reserve_exact(count).map_err(no_memory)?;
        let mut left = count * self.size;
        let mut chunk = vec![0; CHUNK.min(left)];
        while left > 0 {
            let part = &mut chunk[..CHUNK.min(left)];
            source.read_exact(part)?;
            left -= part.len();
            self.convert(part, &convert, &mut values)?;
        }
        Ok(values)
    }

    fn convert<V>(self, bytes: &[u8], convert: impl Fn(Number) -> Outcome<V>, values: &mut Vec<V>) -> Outcome<()> {
        use NumberKind::{Real, Signed, Unsigned};
        let real = |value: f64| convert(Number::Real(value));
        let signed = |value: i64| convert(Number::Signed(value));
        let unsigned = |value: u64| convert(Number::Unsigned(value));
        let big = self.big_endian;
        match (self.kind, self.size) {
            (Real, 4) => each(bytes, big, |b| real(f32::from_le_bytes(b).into()), values),
            (Real, 8) => each(bytes, big, |b| real(f64::from_le_bytes(b)), values),
            (Signed, 1) => each(bytes, big, |b| signed(i8::from_le_bytes(b).into()), values),
            (Signed, 2) => each(bytes, big, |b| signed(i16::from_le_bytes(b).into()), values),
            (Signed, 4) => each(bytes, big, |b| signed(i32::from_le_bytes(b).into()), values),
            (Signed, 8) => each(bytes, big, |b| signed(i64::from_le_bytes(b)), values),
            (Unsigned, 1) => each(bytes, big, |b| unsigned(u8::from_le_bytes(b).into()), values),
            (Unsigned, 2) => each(bytes, big, |b| unsigned(u16::from_le_bytes(b).into()), values),
            (Unsigned, 4) => each(bytes, big, |b| unsigned(u32::from_le_bytes(b).into()), values),
            (Unsigned, 8) => each(bytes, big, |b| unsigned(u64::from_le_bytes(b)), values),
            (_, size) => Err(format!("there are no numbers of {size} bytes").into()),
        }
    }
}

/// Converts numbers of one size, which are turned round first if their byte order is the other one.
fn each<const SIZE: usize, V>(
    bytes: &[u8],
    big_endian: bool,
    convert: impl Fn([u8; SIZE]) -> Outcome<V>,
    values: &mut Vec<V>,
) -> Outcome<()> {
    for &number in bytes.as_chunks::<SIZE>().0 {
        let mut number = number;
        if big_endian {
            number.reverse();
        }
        values.push(convert(number)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use NumberKind::{Real, Signed, Unsigned};

    fn read(kind: NumberKind, size: usize, big_endian: bool, bytes: &[u8]) -> Vec<f64> {
        let number = NumberType { kind, size, big_endian };
        number.read(&mut &bytes[..], bytes.len() / size, |n| Ok(n.scalar())).unwrap()
    }

    #[test]
    fn every_type_is_read_in_both_byte_orders() {
        for big in [false, true] {
            let turned = |bytes: Vec<u8>| if big { bytes.into_iter().rev().collect() } else { bytes };
            let check = |kind, bytes: Vec<u8>, value: f64| {
                assert_eq!(read(kind, bytes.len(), big, &turned(bytes)), [value]);
            };
            check(Real, 1.5_f32.to_le_bytes().to_vec(), 1.5);
            check(Real, (-0.1_f64).to_le_bytes().to_vec(), -0.1);
            check(Signed, (-3_i8).to_le_bytes().to_vec(), -3.0);
            check(Signed, (-300_i16).to_le_bytes().to_vec(), -300.0);
            check(Signed, (-70_000_i32).to_le_bytes().to_vec(), -70_000.0);
            check(Signed, (-(1_i64 << 40)).to_le_bytes().to_vec(), -(2.0_f64.powi(40)));
            check(Unsigned, vec![200], 200.0);
            check(Unsigned, 60_000_u16.to_le_bytes().to_vec(), 60_000.0);
            check(Unsigned, u32::MAX.to_le_bytes().to_vec(), f64::from(u32::MAX));
            check(Unsigned, (1_u64 << 63).to_le_bytes().to_vec(), 2.0_f64.powi(63));
        }
    }

    #[test]
    fn more_numbers_than_there_are_is_a_file_that_ends_too_early() {
        let number = NumberType { kind: Real, size: 8, big_endian: false };
        let read = number.read::<f64>(&mut &[0; 20][..], 3, |n| Ok(n.scalar()));
        assert!(format!("{:?}", read.unwrap_err()).contains("ends too early"));
    }
}
