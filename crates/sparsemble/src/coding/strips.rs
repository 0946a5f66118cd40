//! The codes of many samples, strip by strip: in memory, or in a file from which each strip is read when it is needed.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::scalar::Scalar;

use super::SparseCodes;
#[cfg(feature = "io")]
pub(crate) use stored::StoredCodes;

/// The codes of many samples: those of the first ones, of the next ones, and so on.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodeStrips, SparseCodes};
///
/// let strip = SparseCodes::from_parts(5, vec![0, 1, 3], vec![4, 0, 2], vec![1.5, -1.0, 2.0])?;
/// let strips = CodeStrips::from(vec![strip.clone(), strip.clone()]);
/// assert_eq!(strips.len(), 2);
/// assert_eq!(*strips.get(1)?, strip);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CodeStrips<T> {
    strips: Vec<CodeStrip<T>>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) enum CodeStrip<T> {
    Held(SparseCodes<T>),
    #[cfg(feature = "io")]
    Stored(StoredCodes),
}

impl<T: Scalar> CodeStrips<T> {
    /// How many strips there are.
    pub fn len(&self) -> usize {
        self.strips.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.strips.is_empty()
    }

    /// The codes of a strip.
    ///
    /// # Errors
    /// If there is no such strip, the file cannot be read any more, or something else has been written to it.
    pub fn get(&self, strip: usize) -> Result<Cow<'_, SparseCodes<T>>> {
        match self.strips.get(strip) {
            Some(CodeStrip::Held(codes)) => Ok(Cow::Borrowed(codes)),
            #[cfg(feature = "io")]
            Some(CodeStrip::Stored(stored)) => stored.codes().map(Cow::Owned),
            None => Err(Error::parameter("strip", strip, "must be below the number of strips")),
        }
    }

    /// The codes of all strips, one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<Cow<'_, SparseCodes<T>>>> {
        (0..self.len()).map(|strip| self.get(strip))
    }
}

impl<T> From<Vec<SparseCodes<T>>> for CodeStrips<T> {
    fn from(codes: Vec<SparseCodes<T>>) -> Self {
        codes.into_iter().map(CodeStrip::Held).collect()
    }
}

impl<T> FromIterator<CodeStrip<T>> for CodeStrips<T> {
    fn from_iter<I: IntoIterator<Item = CodeStrip<T>>>(strips: I) -> Self {
        Self { strips: strips.into_iter().collect() }
    }
}

impl<T> Default for CodeStrips<T> {
    fn default() -> Self {
        Self { strips: Vec::new() }
    }
}

#[cfg(feature = "io")]
mod stored {
    use std::ops::Range;
    use std::sync::Arc;

    use super::{CodeStrip, CodeStrips, Result, Scalar, SparseCodes};
    use crate::files::SharedFile;

    /// Where in a file the bytes of a strip are: see [`crate::coding::bytes`].
    #[derive(Debug, Clone)]
    pub(crate) struct StoredCodes {
        pub(crate) file: Arc<SharedFile>,
        pub(crate) place: Range<u64>,
    }

    impl StoredCodes {
        pub(super) fn codes<T: Scalar>(&self) -> Result<SparseCodes<T>> {
            SparseCodes::from_bytes(&self.bytes()?).map_err(|reason| reason.about_model(self.file.path()))
        }

        fn bytes(&self) -> Result<Vec<u8>> {
            self.file.read(self.place.clone())
        }
    }

    impl<T: Scalar> CodeStrips<T> {
        /// How many bytes they are in all.
        pub(crate) fn n_bytes(&self) -> u64 {
            let of_strip = |strip: &CodeStrip<T>| match strip {
                CodeStrip::Held(codes) => codes.n_bytes(),
                CodeStrip::Stored(stored) => stored.place.end - stored.place.start,
            };
            self.strips.iter().map(of_strip).sum()
        }

        /// The bytes of each strip.
        pub(crate) fn bytes(&self) -> impl Iterator<Item = Result<Vec<u8>>> {
            self.strips.iter().map(|strip| match strip {
                CodeStrip::Held(codes) => Ok(codes.to_bytes()),
                CodeStrip::Stored(stored) => stored.bytes(),
            })
        }
    }
}
