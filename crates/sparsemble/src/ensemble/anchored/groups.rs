//! Samples sorted by the atoms they have chosen.

use std::ops::Range;

/// The samples of each atom, in order.
#[derive(Default)]
pub(super) struct Groups {
    samples: Vec<u32>,
    /// Where the samples of each atom end.
    ends: Vec<usize>,
}

impl Groups {
    /// Sorts these samples by the atoms they have chosen, of `n_atoms`.
    pub(super) fn sort(&mut self, chosen: &[u32], samples: Range<usize>, n_atoms: usize) {
        self.ends.clear();
        self.ends.resize(n_atoms, 0);
        for &atom in &chosen[samples.clone()] {
            self.ends[atom as usize] += 1;
        }
        let mut start = 0;
        for end in &mut self.ends {
            // For now the start; it moves to the end as the samples come in.
            start += std::mem::replace(end, start);
        }
        self.samples.resize(samples.len(), 0);
        for i in samples {
            let place = &mut self.ends[chosen[i] as usize];
            self.samples[*place] = i as u32;
            *place += 1;
        }
    }

    /// All samples, those of the first atom first.
    pub(super) fn all(&self) -> &[u32] {
        &self.samples
    }

    /// The samples of one atom.
    pub(super) fn of(&self, atom: usize) -> &[u32] {
        let start = if atom == 0 { 0 } else { self.ends[atom - 1] };
        &self.samples[start..self.ends[atom]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_the_samples_of_each_atom_in_order() {
        let mut groups = Groups::default();
        groups.sort(&[2, 0, 2, 2, 0], 0..5, 4);
        assert_eq!([0, 1, 2, 3].map(|atom| groups.of(atom).to_vec()), [vec![1, 4], vec![], vec![0, 2, 3], vec![]]);
        groups.sort(&[0, 1, 1, 0], 2..4, 2);
        assert_eq!([0, 1].map(|atom| groups.of(atom).to_vec()), [vec![3], vec![2]]);
        assert_eq!(groups.all(), [3, 2]);
    }
}
