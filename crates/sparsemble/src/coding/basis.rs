//! The matrix samples are coded against, prepared once and used by every coder.

use std::ops::Range;
use std::sync::OnceLock;

use super::gram::Gram;
use crate::error::{Error, Result};
use crate::kernels::{CoarsePanels, Columns, Panels, Store, Tiles, best_level, correlate};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Any matrix to code against (D, ΦD, D_lo or X), with what the coders need of it.
///
/// Making one copies the atoms; packed forms and the Gram matrix are made when a coder first asks for them and kept.
///
/// # Shapes
/// `n_features × n_atoms`; columns need not have unit norm, may repeat and may be zero (a zero atom is never used).
#[derive(Debug)]
pub struct CodingBasis<T> {
    /// The atoms, those of extreme norm divided by a power of two.
    atoms: Columns<T>,
    /// The power of two each atom was divided by, nearly always one.
    scales: Vec<f64>,
    /// The norms of the atoms as they are kept.
    norms: Vec<f64>,
    inverse_norms: Vec<f64>,
    largest_norm: f64,
    raw: OnceLock<Panels<T>>,
    unit: OnceLock<Panels<T>>,
    squares: OnceLock<Panels<T>>,
    coarse: OnceLock<CoarsePanels>,
    gram: Gram<T>,
    unit_gram: Gram<T>,
    doubles: OnceLock<Box<CodingBasis<f64>>>,
}

impl<T: Scalar> CodingBasis<T> {
    /// Copies the columns of `atoms`.
    ///
    /// # Errors
    /// If there is no atom or no feature, or a value is not finite.
    pub fn new(atoms: MatrixView<'_, T>) -> Result<Self> {
        if atoms.columns() == 0 {
            return Err(Error::Empty { what: "dictionary", unit: "atom" });
        }
        if atoms.rows() == 0 {
            return Err(Error::Empty { what: "dictionary", unit: "feature" });
        }
        atoms.expect_finite("dictionary")?;
        Ok(Self::prepare(Columns::copy_of(atoms)))
    }

    fn prepare(mut atoms: Columns<T>) -> Self {
        let scales = (0..atoms.count()).map(|j| tame(atoms.padded_mut(j))).collect();
        let norms: Vec<f64> = (0..atoms.count()).map(|j| norm(atoms.column(j))).collect();
        Self {
            gram: Gram::new(atoms.count()),
            unit_gram: Gram::new(atoms.count()),
            atoms,
            scales,
            inverse_norms: norms.iter().map(|&norm| inverse(norm)).collect(),
            largest_norm: norms.iter().copied().fold(0.0, f64::max),
            norms,
            raw: OnceLock::new(),
            unit: OnceLock::new(),
            squares: OnceLock::new(),
            coarse: OnceLock::new(),
            doubles: OnceLock::new(),
        }
    }

    /// M, the number of features.
    pub fn n_features(&self) -> usize {
        self.atoms.rows()
    }

    /// K, the number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.atoms.count()
    }

    /// The atoms; those of extreme norm divided by their [`Self::scale`], so that products neither over- nor underflow.
    pub(crate) fn columns(&self) -> &Columns<T> {
        &self.atoms
    }

    /// The norm of an atom of [`Self::columns`].
    pub(crate) fn norm(&self, atom: usize) -> f64 {
        self.norms[atom]
    }

    /// One over the norm of an atom of [`Self::columns`], zero for a zero atom.
    #[inline]
    pub(crate) fn inverse_norm(&self, atom: u32) -> f64 {
        self.inverse_norms[atom as usize]
    }

    /// The largest of the norms.
    pub(crate) fn largest_norm(&self) -> f64 {
        self.largest_norm
    }

    /// What an atom of [`Self::columns`] must be multiplied by to be the given one: one, or a power of two.
    pub(crate) fn scale(&self, atom: usize) -> f64 {
        self.scales[atom]
    }

    /// The coefficient for the given atom and sample, from that for the tamed ones.
    #[inline]
    pub(crate) fn coefficient(&self, atom: u32, tamed: f64, sample_scale: f64) -> T {
        T::from_f64(tamed * sample_scale / self.scales[atom as usize])
    }

    /// M·K: the multiply-adds of one sample's pass over the atoms.
    pub(crate) fn work(&self) -> usize {
        self.n_features().saturating_mul(self.n_atoms())
    }

    /// The atoms of [`Self::columns`], packed.
    pub(crate) fn raw(&self) -> &Panels<T> {
        self.raw.get_or_init(|| self.pack(|_| T::ONE))
    }

    /// The atoms with unit norm (zero atoms stay zero), packed.
    pub(crate) fn unit(&self) -> &Panels<T> {
        self.unit.get_or_init(|| self.pack(|j| T::from_f64(inverse(self.norms[j]))))
    }

    /// The squares of the entries of the unit atoms, packed: times a mask they give the energy an atom keeps.
    pub(crate) fn unit_squares(&self) -> &Panels<T> {
        self.squares.get_or_init(|| {
            let mut squares = Columns::zeros(self.n_features(), self.n_atoms());
            for j in 0..self.n_atoms() {
                let factor = inverse(self.norms[j]);
                for (square, value) in squares.padded_mut(j).iter_mut().zip(self.atoms.column(j)) {
                    *square = T::from_f64((value.to_f64() * factor).powi(2));
                }
            }
            Panels::pack(best_level(), (self.n_features(), self.n_atoms()), |j| squares.column(j), |_| T::ONE)
        })
    }

    /// The atoms with a factor each, packed.
    pub(crate) fn pack(&self, scale: impl Fn(usize) -> T) -> Panels<T> {
        let size = (self.n_features(), self.n_atoms());
        Panels::pack(best_level(), size, |j| self.atoms.column(j), scale)
    }

    /// The atoms of [`Self::columns`], packed in sixteen bits.
    pub(crate) fn coarse(&self) -> &CoarsePanels {
        self.coarse.get_or_init(|| {
            let size = (self.n_features(), self.n_atoms());
            CoarsePanels::pack(best_level(), size, |j| self.atoms.column(j), |j| (self.norms[j], 1.0))
        })
    }

    /// The same with a factor on each.
    pub(crate) fn coarse_times(&self, factor: impl Fn(usize) -> f64) -> CoarsePanels {
        self.coarse().resized(|j| (self.norms[j], factor(j)))
    }

    /// The given atoms in double precision, for samples that rounding has left unfinished.
    pub(crate) fn in_doubles(&self) -> &CodingBasis<f64> {
        self.doubles.get_or_init(|| {
            let mut atoms = Columns::zeros(self.n_features(), self.n_atoms());
            for j in 0..self.n_atoms() {
                let entries = self.atoms.column(j).iter().map(|value| value.to_f64() * self.scales[j]);
                atoms.padded_mut(j).iter_mut().zip(entries).for_each(|(out, value)| *out = value);
            }
            Box::new(CodingBasis::prepare(atoms))
        })
    }

    /// Whether the Gram matrix is small enough to be kept.
    pub(crate) fn has_gram(&self) -> bool {
        self.gram.fits()
    }

    /// The products of one atom of [`Self::columns`] with all of them; only if [`Self::has_gram`].
    #[inline(always)]
    pub(crate) fn gram_row(&self, atom: usize) -> &[T] {
        self.gram.row(atom, |rows| self.products(self.raw(), rows, |_| T::ONE))
    }

    /// The same for the atoms with unit norm.
    #[inline(always)]
    pub(crate) fn unit_gram_row(&self, atom: usize) -> &[T] {
        self.unit_gram.row(atom, |rows| self.products(self.unit(), rows, |j| T::from_f64(inverse(self.norms[j]))))
    }

    /// The correlations of some atoms, with a factor each, with all those packed.
    #[inline(never)]
    fn products(&self, panels: &Panels<T>, atoms: Range<usize>, scale: impl Fn(usize) -> T) -> Store<T> {
        let mut tiles = Tiles::new(self.n_features(), atoms.len());
        let mut store = Store::new(panels, atoms.len());
        for j in atoms {
            let factor = scale(j);
            tiles.push(&self.atoms.column(j).iter().map(|&value| value * factor).collect::<Vec<T>>());
        }
        correlate(panels, &tiles, &mut store);
        store
    }
}

/// Divides a column by a power of two if its norm is extreme, and returns that power (one for most).
///
/// Squares and products of tamed columns stay far inside the range of `f32`, so no finite input can give NaN; dividing
/// by a power of two changes no digit.
pub(crate) fn tame<T: Scalar>(column: &mut [T]) -> f64 {
    const TAME: std::ops::Range<f64> = 1e-6..1e6;
    let norm = norm(column);
    if norm <= 0.0 || TAME.contains(&norm) {
        return 1.0;
    }
    let scale = norm.log2().floor().exp2();
    for value in column {
        *value = T::from_f64(value.to_f64() / scale);
    }
    scale
}

/// 1/x, and 0 for 0.
pub(crate) fn inverse(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x } else { 0.0 }
}

/// The norm of a column, summed in double precision and safe from overflow and underflow of the squares.
pub(crate) fn norm<T: Scalar>(column: &[T]) -> f64 {
    let plain: f64 = column.iter().map(|&x| x.to_f64() * x.to_f64()).sum();
    if (1e-200..1e200).contains(&plain) {
        return plain.sqrt();
    }
    let largest = column.iter().fold(0.0_f64, |largest, &x| largest.max(x.to_f64().abs()));
    if largest <= 0.0 {
        return 0.0;
    }
    largest * column.iter().map(|&x| (x.to_f64() / largest).powi(2)).sum::<f64>().sqrt()
}
