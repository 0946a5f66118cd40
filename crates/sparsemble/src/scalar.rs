//! The two number types everything is written for.

use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::instances::Instances;

/// A real number: `f32` or `f64`.
///
/// Every algorithm is generic over it, and the type of the input is the type of the output. Bulk work (correlations,
/// residuals) runs in the type itself; sums that decide something (gaps, energies, the small systems of the coders) are
/// accumulated in `f64` for both. The trait is sealed: no other type can implement it.
pub trait Scalar:
    sealed::Sealed
    + Copy
    + Debug
    + Display
    + Default
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + Neg<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The distance from one to the next larger number.
    const EPSILON: Self;
    /// The name of the type as NumPy writes it.
    const NAME: &'static str;

    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
    /// The magnitude.
    #[must_use]
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! implement_scalar {
    ($type:ty, $name:literal) => {
        impl Scalar for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = <$type>::EPSILON;
            const NAME: &'static str = $name;

            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
            #[inline]
            fn is_finite(self) -> bool {
                <$type>::is_finite(self)
            }
        }
        impl sealed::Sealed for $type {
            fn instances() -> &'static Instances<Self> {
                static INSTANCES: Instances<$type> = Instances::of_scalar();
                &INSTANCES
            }
            #[cfg(feature = "io")]
            fn cast(bytes: &[u8]) -> Option<&[Self]> {
                bytemuck::try_cast_slice(bytes).ok()
            }
            #[cfg(feature = "io")]
            fn bytes_of(numbers: &mut [Self]) -> &mut [u8] {
                bytemuck::cast_slice_mut(numbers)
            }
        }
    };
}

implement_scalar!(f32, "float32");
implement_scalar!(f64, "float64");

/// What the kernels know of a number.
#[cfg(target_arch = "x86_64")]
use crate::kernels::wide::WideElement as Element;
#[cfg(not(target_arch = "x86_64"))]
use fearless_simd::SimdFloatElement as Element;

mod sealed {
    use super::{Instances, Scalar};

    /// Keeps what other crates know of a number out of the public interface while our own code can still rely on it.
    pub trait Sealed: super::Element {
        /// The heavy algorithms for this type, compiled in this crate.
        fn instances() -> &'static Instances<Self>
        where
            Self: Scalar;

        /// Bytes in the order of this machine as numbers, if they are aligned and fill the last one.
        #[cfg(feature = "io")]
        fn cast(bytes: &[u8]) -> Option<&[Self]>
        where
            Self: Sized;

        /// Numbers as their bytes in the order of this machine.
        #[cfg(feature = "io")]
        fn bytes_of(numbers: &mut [Self]) -> &mut [u8]
        where
            Self: Sized;
    }
}
