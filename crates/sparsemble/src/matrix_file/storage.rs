//! Where the samples of a file are: in memory of our own, or still in the file.

use crate::error::Result;
use crate::files::MappedFile;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::stored::StoredNumbers;

/// The samples of a file: one row of the file is one sample, a column of [`view`](Self::view).
///
/// A large `.npy` file of the number type that was asked for stays where it is. Of one in C order, blocks are read as they
/// are needed; one in Fortran order is mapped, and the system brings in the parts that are read and drops them when
/// memory is short. Such a file must not be changed while this exists; a program that shortens a mapped one ends ours.
#[derive(Debug)]
pub struct MatrixFile<T> {
    storage: Storage<T>,
    /// The number of features and of samples.
    shape: (usize, usize),
    order: Order,
}

#[derive(Debug)]
enum Storage<T> {
    Owned(Vec<T>),
    Stored(StoredNumbers<T>),
    /// The file, and where in it the numbers start.
    Mapped(MappedFile, usize),
}

/// What lies side by side in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The rows of the file: C order, samples one after the other.
    Rows,
    /// The columns of the file: the order of Fortran and MATLAB, features one after the other.
    Columns,
}

impl Order {
    fn strides(self, (n_features, n_samples): (usize, usize)) -> (usize, usize) {
        match self {
            Self::Rows => (1, n_features),
            Self::Columns => (n_samples, 1),
        }
    }
}

impl<T: Scalar> MatrixFile<T> {
    /// Samples that have been read.
    pub(super) fn owned(values: Vec<T>, shape: (usize, usize), order: Order) -> Result<Self> {
        MatrixView::from_strided(&values, shape, order.strides(shape))?;
        Ok(Self { storage: Storage::Owned(values), shape, order })
    }

    /// Samples that stay in the file and lie there one after the other.
    pub(super) fn stored(numbers: StoredNumbers<T>, shape: (usize, usize)) -> Result<Self> {
        MatrixView::of_stored(&numbers, shape.0, shape.1)?;
        Ok(Self { storage: Storage::Stored(numbers), shape, order: Order::Rows })
    }

    /// Samples that stay in the file, if their numbers lie in it as they would in memory.
    pub(super) fn mapped(file: MappedFile, start: usize, shape: (usize, usize), order: Order) -> Option<Self> {
        let fits = T::cast(file.get(start..)?)
            .is_some_and(|values| MatrixView::from_strided(values, shape, order.strides(shape)).is_ok());
        fits.then_some(Self { storage: Storage::Mapped(file, start), shape, order })
    }

    /// M × T: the samples in columns.
    pub fn view(&self) -> MatrixView<'_, T> {
        let strided = |values| MatrixView::from_strided(values, self.shape, self.order.strides(self.shape));
        let view = match &self.storage {
            Storage::Owned(values) => strided(values),
            Storage::Stored(numbers) => MatrixView::of_stored(numbers, self.shape.0, self.shape.1),
            Storage::Mapped(file, start) => strided(T::cast(&file[*start..]).unwrap_or_default()),
        };
        match view {
            Ok(view) => view,
            Err(_) => unreachable!("the same view was made when the file was opened"),
        }
    }

    /// M, the number of features.
    pub fn n_features(&self) -> usize {
        self.shape.0
    }

    /// T, the number of samples.
    pub fn n_samples(&self) -> usize {
        self.shape.1
    }

    /// Whether the samples are still in the file.
    pub fn is_in_file(&self) -> bool {
        !matches!(self.storage, Storage::Owned(_))
    }

    /// A copy of the samples in memory, column after column.
    pub fn to_matrix(&self) -> Matrix<T> {
        self.view().to_matrix()
    }
}
