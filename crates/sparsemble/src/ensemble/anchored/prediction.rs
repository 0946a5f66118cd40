//! What the members make of a block of inputs: each input by the map of its atom, the inputs of an atom together.

use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::scalar::Scalar;

use super::choice::{self, Choices, Chooser};
use super::maps::Maps;
use super::member::AnchoredMember;

/// Inputs whose outputs are made at a time: so many that most atoms have several, and no map is read for one input.
pub(crate) const ANCHORED_BLOCK: usize = 1 << 14;

/// Inputs of an atom that go through its map at a time.
const GROUP: usize = 96;

/// All members, packed for prediction.
#[derive(Debug)]
pub(super) struct Packed<T> {
    n_inputs: usize,
    n_outputs: usize,
    choices: Choices<T>,
    /// For each member the maps of its atoms, each packed as a dictionary with an atom for each output.
    maps: Vec<Vec<Panels<T>>>,
    /// β.
    weights: Vec<T>,
}

impl<T: Scalar> Packed<T> {
    pub(super) fn new(members: &[AnchoredMember<T>], beta: &[f64]) -> Self {
        Self {
            n_inputs: members[0].maps().n_inputs(),
            n_outputs: members[0].maps().n_outputs(),
            choices: Choices::new(members.iter().map(|member| (member.features(), member.anchors()))),
            maps: members.iter().map(|member| pack(member.maps())).collect(),
            weights: beta.iter().map(|&weight| T::from_f64(weight)).collect(),
        }
    }

    /// What a thread needs.
    pub(super) fn predictor(&self) -> Predictor<'_, T> {
        Predictor {
            packed: self,
            chooser: Chooser::new(&self.choices),
            chosen: vec![Vec::new(); self.maps.len()],
            groups: Groups::default(),
            inputs: Tiles::new(self.n_inputs, GROUP),
            outputs: Store::new(&self.maps[0][0], GROUP),
        }
    }
}

fn pack<T: Scalar>(maps: &Maps<T>) -> Vec<Panels<T>> {
    let (n_inputs, n_outputs) = (maps.n_inputs(), maps.n_outputs());
    let mut columns = vec![T::ZERO; n_inputs * n_outputs];
    let mut pack = |atom: usize| {
        columns.chunks_exact_mut(n_inputs).enumerate().for_each(|(j, column)| maps.copy_column(atom, j, column));
        Panels::pack(best_level(), (n_inputs, n_outputs), |j| &columns[j * n_inputs..][..n_inputs], |_| T::ONE)
    };
    (0..maps.n_atoms()).map(&mut pack).collect()
}

/// What a thread needs to predict.
pub(crate) struct Predictor<'a, T> {
    packed: &'a Packed<T>,
    chooser: Chooser<'a, T>,
    /// The atoms that each member has chosen.
    chosen: Vec<Vec<u32>>,
    groups: Groups,
    inputs: Tiles<T>,
    outputs: Store<T>,
}

impl<T: Scalar> Predictor<'_, T> {
    /// Writes Σ β_l W_l u for every input u to `values`, and if `squares` is there Σ β_l (W_l u)², entry by entry, to it.
    ///
    /// All are columns one after the other. What becomes of an input does not depend on the others.
    pub(crate) fn predict(&mut self, inputs: &[T], values: &mut [T], mut squares: Option<&mut [T]>) {
        let (n_inputs, n_outputs) = (self.packed.n_inputs, self.packed.n_outputs);
        self.chosen.iter_mut().for_each(Vec::clear);
        for block in inputs.chunks(choice::BLOCK * n_inputs) {
            let chosen = &mut self.chosen;
            self.chooser.choose(block, |member, _, atom| chosen[member].push(atom));
        }
        values.fill(T::ZERO);
        if let Some(squares) = &mut squares {
            squares.fill(T::ZERO);
        }
        for (l, maps) in self.packed.maps.iter().enumerate() {
            let weight = self.packed.weights[l];
            self.groups.sort(&self.chosen[l], maps.len());
            for (atom, map) in maps.iter().enumerate() {
                for group in self.groups.of(atom).chunks(GROUP) {
                    self.inputs.clear();
                    group.iter().for_each(|&i| self.inputs.push(&inputs[i as usize * n_inputs..][..n_inputs]));
                    correlate(map, &self.inputs, &mut self.outputs);
                    for (slot, &i) in group.iter().enumerate() {
                        let range = i as usize * n_outputs..(i as usize + 1) * n_outputs;
                        let output = &self.outputs.of(slot)[..n_outputs];
                        add(weight, output, &mut values[range.clone()], |output| output);
                        if let Some(squares) = &mut squares {
                            add(weight, output, &mut squares[range], |output| output * output);
                        }
                    }
                }
            }
        }
    }
}

fn add<T: Scalar>(weight: T, output: &[T], sums: &mut [T], term: impl Fn(T) -> T) {
    sums.iter_mut().zip(output).for_each(|(sum, &output)| *sum += weight * term(output));
}

/// The samples of each atom, in order.
#[derive(Default)]
pub(super) struct Groups {
    samples: Vec<u32>,
    /// Where the samples of each atom end.
    ends: Vec<usize>,
}

impl Groups {
    /// Sorts samples by the atoms they have chosen, of `n_atoms`.
    pub(super) fn sort(&mut self, chosen: &[u32], n_atoms: usize) {
        self.ends.clear();
        self.ends.resize(n_atoms, 0);
        chosen.iter().for_each(|&atom| self.ends[atom as usize] += 1);
        let mut start = 0;
        for end in &mut self.ends {
            // For now the start; it moves to the end as the samples come in.
            start += std::mem::replace(end, start);
        }
        self.samples.resize(chosen.len(), 0);
        for (i, &atom) in chosen.iter().enumerate() {
            let place = &mut self.ends[atom as usize];
            self.samples[*place] = i as u32;
            *place += 1;
        }
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
        groups.sort(&[2, 0, 2, 2, 0], 4);
        assert_eq!([0, 1, 2, 3].map(|atom| groups.of(atom).to_vec()), [vec![1, 4], vec![], vec![0, 2, 3], vec![]]);
        groups.sort(&[1], 2);
        assert_eq!([0, 1].map(|atom| groups.of(atom).to_vec()), [vec![], vec![0]]);
    }
}
