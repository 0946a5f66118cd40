//! What boosting keeps of all samples between two passes, strip by strip: in memory, or in files where it would take too
//! much of that ([`Run::scratch_in`]).
#![cfg_attr(not(feature = "io"), allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "files can fail"))]

use std::ops::{Deref, DerefMut, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::Run;
use crate::coding::{CodeStrip, SparseCodes};
use crate::ensemble::strips::STRIP;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

#[cfg(feature = "io")]
use {crate::coding::StoredCodes, crate::files::SharedFile, std::sync::Arc, std::sync::atomic::AtomicU64};

/// X_l, zeros at first.
pub(super) struct Approximations<T> {
    n_features: usize,
    n_samples: usize,
    place: Place<T>,
}

enum Place<T> {
    Memory(Vec<Mutex<Vec<T>>>),
    #[cfg(feature = "io")]
    File(SharedFile),
}

/// The approximations of one strip of samples, column after column.
pub(super) enum Piece<'a, T> {
    Held(MutexGuard<'a, Vec<T>>),
    #[cfg(feature = "io")]
    Copied {
        place: u64,
        values: Vec<T>,
    },
}

impl<T: Scalar> Approximations<T> {
    pub(super) fn zeros(n_features: usize, n_samples: usize, run: Run<'_>) -> Result<Self> {
        Ok(Self { n_features, n_samples, place: Place::zeros(n_features, n_samples, run)? })
    }

    /// Those of a strip of samples. One thread at a time has them.
    pub(super) fn piece(&self, samples: Range<usize>) -> Result<Piece<'_, T>> {
        match &self.place {
            Place::Memory(pieces) => {
                Ok(Piece::Held(pieces[samples.start / STRIP].lock().unwrap_or_else(PoisonError::into_inner)))
            }
            #[cfg(feature = "io")]
            Place::File(file) => {
                let place = samples.start as u64 * (self.n_features * size_of::<T>()) as u64;
                let mut values = vec![T::ZERO; samples.len() * self.n_features];
                file.read_into(place, T::bytes_of(&mut values))?;
                Ok(Piece::Copied { place, values })
            }
        }
    }

    /// Keeps a piece that has changed.
    pub(super) fn put_back(&self, piece: Piece<'_, T>) -> Result<()> {
        match (&self.place, piece) {
            #[cfg(feature = "io")]
            (Place::File(file), Piece::Copied { place, mut values }) => file.write(place, T::bytes_of(&mut values)),
            (_, _) => Ok(()), // it was changed where it is
        }
    }

    /// All of them, copied.
    pub(super) fn matrix(&self) -> Result<Matrix<T>> {
        let mut values = Vec::with_capacity(self.n_features * self.n_samples);
        for start in (0..self.n_samples).step_by(STRIP) {
            values.extend_from_slice(&self.piece(start..(start + STRIP).min(self.n_samples))?);
        }
        Matrix::from_columns(values, self.n_features, self.n_samples)
    }

    /// Where the codes of a round go: to the same kind of place.
    pub(super) fn shelf(&self) -> Result<Shelf> {
        Ok(Shelf {
            #[cfg(feature = "io")]
            file: match &self.place {
                Place::Memory(_) => None,
                Place::File(file) => Some((Arc::new(SharedFile::nameless(file.path())?), AtomicU64::new(0))),
            },
        })
    }
}

impl<T: Scalar> Place<T> {
    fn zeros(n_features: usize, n_samples: usize, run: Run<'_>) -> Result<Self> {
        #[cfg(feature = "io")]
        {
            let bytes = (n_features as u64).saturating_mul(n_samples as u64).saturating_mul(size_of::<T>() as u64);
            if let Some(folder) = run.scratch_for(bytes) {
                let file = SharedFile::nameless(folder)?;
                file.resize(bytes)?;
                return Ok(Self::File(file));
            }
        }
        let _ = run;
        let strips = (0..n_samples).step_by(STRIP).map(|start| STRIP.min(n_samples - start));
        Ok(Self::Memory(strips.map(|samples| Mutex::new(vec![T::ZERO; samples * n_features])).collect()))
    }
}

impl<T> Deref for Piece<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Held(values) => values,
            #[cfg(feature = "io")]
            Self::Copied { values, .. } => values,
        }
    }
}

impl<T> DerefMut for Piece<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Held(values) => values,
            #[cfg(feature = "io")]
            Self::Copied { values, .. } => values,
        }
    }
}

/// Where the threads of a round put the codes of their strips.
pub(super) struct Shelf {
    /// And where the next strip goes.
    #[cfg(feature = "io")]
    file: Option<(Arc<SharedFile>, AtomicU64)>,
}

impl Shelf {
    pub(super) fn put<T: Scalar>(&self, codes: SparseCodes<T>) -> Result<CodeStrip<T>> {
        #[cfg(feature = "io")]
        if let Some((file, end)) = &self.file {
            let bytes = codes.to_bytes();
            let length = bytes.len() as u64;
            let start = end.fetch_add(length, std::sync::atomic::Ordering::Relaxed);
            file.write(start, &bytes)?;
            return Ok(CodeStrip::Stored(StoredCodes { file: Arc::clone(file), place: start..start + length }));
        }
        Ok(CodeStrip::Held(codes))
    }
}
