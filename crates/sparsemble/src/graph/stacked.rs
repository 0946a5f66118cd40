//! The 1-sparse codes of many members, one below the other.

use std::ops::Range;

use crate::coding::SparseCodes;
use crate::error::{Error, Result, expect_size};

/// The codes of T samples in L dictionaries, stacked: a sparse matrix A of K₁ + … + K_L rows and T columns.
///
/// Every member gives every sample one entry at most, an atom and its coefficient, so the matrix is two arrays a member
/// and nothing else: 8·L bytes a sample. The similarity of two samples is the product of their columns,
/// S = AᵀA: explicit as a [`Graph`](super::Graph), or applied without ever being formed.
///
/// # Example
/// ```
/// use sparsemble::graph::StackedCodes;
///
/// let mut codes = StackedCodes::new(3);
/// codes.push(2, vec![0, 1, 0], vec![0.5, 1.0, 0.0])?; // the last sample has no entry
/// codes.push(1, vec![0, 0, 0], vec![1.0, 1.0, 1.0])?;
/// assert_eq!((codes.n_members(), codes.n_rows(), codes.n_nonzero()), (2, 3, 5));
/// assert_eq!(codes.member(1).entry(2), Some((0, 1.0)));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V (the stacked coefficient vector of length LK).
#[derive(Debug, Clone, PartialEq)]
pub struct StackedCodes {
    n_samples: usize,
    /// The first row of each member, and the number of all rows.
    first_rows: Vec<usize>,
    /// The atoms of all samples in the first member, in the second, and so on.
    atoms: Vec<u32>,
    /// Their coefficients; zero for a sample without an entry.
    coefficients: Vec<f32>,
}

/// The codes of all samples in one of the members.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberCodes<'a> {
    /// The rows of the stacked matrix that belong to this member.
    first_row: usize,
    n_atoms: usize,
    atoms: &'a [u32],
    coefficients: &'a [f32],
}

impl StackedCodes {
    /// No members yet.
    pub fn new(n_samples: usize) -> Self {
        Self { n_samples, first_rows: vec![0], atoms: Vec::new(), coefficients: Vec::new() }
    }

    /// Adds a member of `n_atoms` atoms, given the atom of each sample and its coefficient; zero means no entry.
    ///
    /// # Errors
    /// If there is not one atom and one coefficient for each sample, an atom is not below `n_atoms`, a coefficient is not
    /// finite, or there would be more than 2³² − 1 rows.
    pub fn push(&mut self, n_atoms: usize, atoms: Vec<u32>, coefficients: Vec<f32>) -> Result<()> {
        expect_size("stacked codes: number of atoms (one for each sample)", self.n_samples, atoms.len())?;
        expect_size("stacked codes: number of coefficients (one for each sample)", self.n_samples, coefficients.len())?;
        if let Some(atom) = atoms.iter().find(|atom| **atom as usize >= n_atoms) {
            return Err(Error::parameter("stacked codes: atom", atom, "must be below the number of atoms"));
        }
        if let Some(sample) = coefficients.iter().position(|a| !a.is_finite()) {
            return Err(Error::NotFinite { what: "stacked codes", row: atoms[sample] as usize, column: sample });
        }
        let rows = self.n_rows() + n_atoms;
        if u32::try_from(rows).is_err() {
            return Err(Error::parameter("stacked codes: number of rows", rows, "must be below 2³²"));
        }
        self.first_rows.push(rows);
        self.atoms.extend(atoms);
        self.coefficients.extend(coefficients);
        Ok(())
    }

    /// T.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// L.
    pub fn n_members(&self) -> usize {
        self.first_rows.len() - 1
    }

    /// K₁ + … + K_L, the atoms of all members.
    pub fn n_rows(&self) -> usize {
        self.first_rows[self.n_members()]
    }

    /// The number of entries that are not zero.
    pub fn n_nonzero(&self) -> usize {
        self.coefficients.iter().filter(|a| **a != 0.0).count()
    }

    /// Whether no coefficient is negative: only then AᵀA is a similarity without taking magnitudes.
    pub fn is_nonnegative(&self) -> bool {
        self.coefficients.iter().all(|a| *a >= 0.0)
    }

    /// Σ n² over the rows, where n samples have an entry: the multiply-adds that AᵀA takes, and the most entries it can
    /// have.
    pub fn products(&self) -> usize {
        let mut products = 0_usize;
        for member in self.members() {
            let mut counts = vec![0_usize; member.n_atoms];
            let entries = member.atoms.iter().zip(member.coefficients).filter(|(_, a)| **a != 0.0);
            entries.for_each(|(&atom, _)| counts[atom as usize] += 1);
            products = counts.iter().fold(products, |sum, n| sum.saturating_add(n.saturating_mul(*n)));
        }
        products
    }

    /// The codes in one of the members.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn member(&self, member: usize) -> MemberCodes<'_> {
        let first_row = self.first_rows[member];
        let range = member * self.n_samples..(member + 1) * self.n_samples;
        MemberCodes {
            first_row,
            n_atoms: self.first_rows[member + 1] - first_row,
            atoms: &self.atoms[range.clone()],
            coefficients: &self.coefficients[range],
        }
    }

    /// The same matrix in compressed sparse columns.
    pub fn into_codes(self) -> SparseCodes<f32> {
        let mut codes = SparseCodes::with_capacity(self.n_rows(), self.n_samples, self.n_nonzero());
        for i in 0..self.n_samples {
            let entry = |member: MemberCodes<'_>| {
                member.entry(i).map(|(atom, a)| ((member.first_row + atom as usize) as u32, a))
            };
            codes.push(self.members().filter_map(entry));
        }
        codes
    }

    /// All members, in order.
    pub fn members(&self) -> impl Iterator<Item = MemberCodes<'_>> {
        (0..self.n_members()).map(|member| self.member(member))
    }
}

impl<'a> MemberCodes<'a> {
    /// The rows of the stacked matrix that belong to this member.
    pub fn rows(&self) -> Range<usize> {
        self.first_row..self.first_row + self.n_atoms
    }

    /// K of this member.
    pub fn n_atoms(&self) -> usize {
        self.n_atoms
    }

    /// The atom of each sample, which means something only where the coefficient is not zero.
    pub fn atoms(&self) -> &'a [u32] {
        self.atoms
    }

    /// The coefficient of each sample, zero where there is none.
    pub fn coefficients(&self) -> &'a [f32] {
        self.coefficients
    }

    /// The atom and the coefficient of one sample, if it has an entry.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn entry(&self, sample: usize) -> Option<(u32, f32)> {
        let coefficient = self.coefficients[sample];
        (coefficient != 0.0).then(|| (self.atoms[sample], coefficient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_stacked_one_below_the_other() {
        let mut codes = StackedCodes::new(2);
        codes.push(3, vec![2, 0], vec![0.5, -1.0]).unwrap();
        assert!(!codes.is_nonnegative());
        codes.push(2, vec![1, 1], vec![0.0, 2.0]).unwrap();
        assert_eq!(codes.members().map(|member| member.rows()).collect::<Vec<_>>(), [0..3, 3..5]);
        assert_eq!([codes.member(1).entry(0), codes.member(1).entry(1)], [None, Some((1, 2.0))]);
        assert_eq!((codes.n_rows(), codes.n_nonzero(), codes.products()), (5, 3, 3));
        codes.push(2, vec![1, 1], vec![1.0, 2.0]).unwrap();
        assert_eq!(codes.products(), 7);
        let columns = codes.into_codes();
        assert_eq!(columns.column(0).collect::<Vec<_>>(), [(2, 0.5), (6, 1.0)]);
        assert_eq!(columns.column(1).collect::<Vec<_>>(), [(0, -1.0), (4, 2.0), (6, 2.0)]);
    }

    #[test]
    fn what_is_no_code_of_every_sample_is_refused() {
        let push = |n_atoms, atoms: &[u32], a: &[f32]| StackedCodes::new(2).push(n_atoms, atoms.to_vec(), a.to_vec());
        assert!(push(2, &[0, 1], &[1.0, 1.0]).is_ok());
        assert!(push(2, &[0, 2], &[1.0, 1.0]).is_err());
        assert!(push(2, &[0], &[1.0, 1.0]).is_err() && push(2, &[0, 1], &[1.0]).is_err());
        let place = Error::NotFinite { what: "stacked codes", row: 1, column: 1 };
        assert_eq!(push(2, &[0, 1], &[1.0, f32::NAN]), Err(place));
    }
}
