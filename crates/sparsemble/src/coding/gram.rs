//! Rows of a Gram matrix, made when they are first wanted.

use std::ops::Range;
use std::sync::OnceLock;

use crate::kernels::Store;
use crate::scalar::Scalar;

/// The most memory a Gram matrix may take.
const LARGEST: usize = 64 << 20;

/// Rows made at a time: whole tiles of the pass, few enough that a small batch pays little for atoms it never uses.
const GROUP: usize = 12;

/// The products of all pairs of atoms; no rows at all if they would be too many.
#[derive(Debug)]
pub(super) struct Gram<T> {
    n_atoms: usize,
    groups: Vec<OnceLock<Store<T>>>,
}

impl<T: Scalar> Gram<T> {
    pub(super) fn new(n_atoms: usize) -> Self {
        let size = n_atoms.saturating_mul(n_atoms).saturating_mul(size_of::<T>());
        let groups = if size <= LARGEST { n_atoms.div_ceil(GROUP) } else { 0 };
        Self { n_atoms, groups: std::iter::repeat_with(OnceLock::new).take(groups).collect() }
    }

    /// Whether there are any rows.
    pub(super) fn fits(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The products of one atom with all of them, as long as the correlations of [`Store`]; `make` computes those of a
    /// range of atoms. All rows are made alike, so their values do not depend on who asked first.
    #[inline(always)]
    pub(super) fn row(&self, atom: usize, make: impl FnOnce(Range<usize>) -> Store<T>) -> &[T] {
        let start = atom / GROUP * GROUP;
        let end = (start + GROUP).min(self.n_atoms);
        self.groups[atom / GROUP].get_or_init(|| make(start..end)).of(atom - start)
    }
}
