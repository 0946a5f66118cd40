//! What the members make of a block of inputs: each input by the map of its atom, the inputs of an atom together.

use fearless_simd::{dispatch, prelude::*};

use crate::kernels::{Columns, Panels, Store, TILE, best_level, correlate_loose};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::choice::{self, Anchors, Chooser};
use super::frame::Frame;
use super::groups::Groups;
use super::maps::Maps;
use super::member::AnchoredMember;

/// Inputs whose outputs are made at a time: so many that most atoms have several, and no map is read for one input.
pub(crate) const ANCHORED_BLOCK: usize = 1 << 14;

/// Inputs that go through a map at a time.
const GROUP: usize = choice::BLOCK;

/// An ensemble packed for prediction.
#[derive(Debug)]
pub(super) struct Packed<T> {
    /// F, r, M and m: see [`Frame`].
    sizes: [usize; 4],
    n_inputs: usize,
    /// C, R and W, one below the other.
    before: Panels<T>,
    members: Vec<PackedMember<T>>,
    /// P, as a dictionary with an atom for each output.
    after: Panels<T>,
}

#[derive(Debug)]
struct PackedMember<T> {
    anchors: Anchors<T>,
    /// The map of each atom, as a dictionary with an atom for each of its outputs.
    maps: Vec<Panels<T>>,
    /// β_l.
    weight: T,
}

impl<T: Scalar> Packed<T> {
    pub(super) fn new(frame: &Frame<T>, members: &[AnchoredMember<T>], beta: &[f64]) -> Self {
        let member = |(member, &weight): (&AnchoredMember<T>, &f64)| PackedMember {
            anchors: Anchors::new(member.anchors()),
            maps: pack(member.maps()),
            weight: T::from_f64(weight),
        };
        let outputs = frame.outputs();
        let transposed = outputs.view().transposed().to_matrix();
        Self {
            sizes: [frame.features(), frame.directions(), frame.common(), outputs].map(Matrix::columns),
            n_inputs: frame.n_inputs(),
            before: stacked(&[frame.features(), frame.directions(), frame.common()]),
            members: members.iter().zip(beta).map(member).collect(),
            after: stacked(&[&transposed]),
        }
    }

    /// What a thread needs.
    pub(super) fn predictor(&self) -> Predictor<'_, T> {
        let [n_features, n_directions, _, n_parts] = self.sizes;
        Predictor {
            packed: self,
            before: Store::new(&self.before, GROUP),
            chooser: Chooser::new(n_features, self.members.iter().map(|member| &member.anchors)),
            chosen: vec![Vec::new(); self.members.len()],
            groups: Groups::default(),
            directions: Columns::zeros(n_directions, ANCHORED_BLOCK),
            mapped: Store::new(&self.members[0].maps[0], GROUP),
            sums: Columns::zeros(n_parts, ANCHORED_BLOCK),
            after: Store::new(&self.after, GROUP),
        }
    }
}

/// The columns of matrices as the atoms of one packed dictionary.
pub(super) fn stacked<T: Scalar>(matrices: &[&Matrix<T>]) -> Panels<T> {
    let columns: Vec<&[T]> =
        matrices.iter().flat_map(|matrix| (0..matrix.columns()).map(|c| matrix.column(c))).collect();
    Panels::pack(best_level(), (matrices[0].rows(), columns.len()), |c| columns[c], |_| T::ONE)
}

fn pack<T: Scalar>(maps: &Maps<T>) -> Vec<Panels<T>> {
    let mut columns = Matrix::zeros(maps.n_inputs(), maps.n_outputs());
    let mut pack = |atom: usize| {
        (0..maps.n_outputs()).for_each(|j| maps.copy_column(atom * maps.n_outputs() + j, columns.column_mut(j)));
        stacked(&[&columns])
    };
    (0..maps.n_atoms()).map(&mut pack).collect()
}

/// What a thread needs to predict.
pub(crate) struct Predictor<'a, T> {
    packed: &'a Packed<T>,
    before: Store<T>,
    chooser: Chooser<'a, T>,
    /// The atoms that each member has chosen.
    chosen: Vec<Vec<u32>>,
    groups: Groups,
    /// R·u of all inputs; they and the sums are looked up in any order, so each begins with a line of the cache.
    directions: Columns<T>,
    mapped: Store<T>,
    /// Σ β_l Q_l R·u of all inputs.
    sums: Columns<T>,
    after: Store<T>,
}

impl<T: Scalar> Predictor<'_, T> {
    /// Writes what becomes of every input to `values`, and Σ β_l ‖difference of member l from it‖² to `spreads`.
    ///
    /// Inputs and values are columns one after the other, at most [`ANCHORED_BLOCK`]. What becomes of an input does not depend
    /// on the others.
    pub(crate) fn predict(&mut self, inputs: &[T], values: &mut [T], spreads: &mut [T]) {
        let n_outputs = self.packed.sizes[2];
        let count = inputs.len() / self.packed.n_inputs;
        (0..count).for_each(|i| self.sums.padded_mut(i).fill(T::ZERO));
        self.chosen.iter_mut().for_each(Vec::clear);
        spreads.fill(T::ZERO);
        self.look(inputs, values);
        for number in 0..self.packed.members.len() {
            self.map(number, spreads);
        }
        let blocks = values.chunks_mut(GROUP * n_outputs).zip(spreads.chunks_mut(GROUP));
        for (number, (values, spreads)) in blocks.enumerate() {
            let first = number * GROUP;
            let sums = (first..first + spreads.len()).map(|i| self.sums.column(i));
            multiply(&self.packed.after, sums, &mut self.after);
            for (slot, (value, spread)) in values.chunks_exact_mut(n_outputs).zip(spreads).enumerate() {
                value.iter_mut().zip(self.after.of(slot)).for_each(|(value, &part)| *value += part);
                *spread -= energy(self.sums.padded(first + slot));
            }
        }
    }

    /// Writes W·u to `values`, keeps R·u, and lets every member choose.
    fn look(&mut self, inputs: &[T], values: &mut [T]) {
        let [n_features, n_directions, n_outputs, _] = self.packed.sizes;
        let blocks = inputs.chunks(GROUP * self.packed.n_inputs).zip(values.chunks_mut(GROUP * n_outputs));
        for (number, (inputs, values)) in blocks.enumerate() {
            multiply(&self.packed.before, inputs.chunks_exact(self.packed.n_inputs), &mut self.before);
            for (slot, value) in values.chunks_exact_mut(n_outputs).enumerate() {
                let (features, rest) = self.before.of(slot).split_at(n_features);
                self.chooser.push(features);
                self.directions.padded_mut(number * GROUP + slot)[..n_directions]
                    .copy_from_slice(&rest[..n_directions]);
                value.copy_from_slice(&rest[n_directions..][..n_outputs]);
            }
            let chosen = &mut self.chosen;
            self.chooser.choose(|member, atom| chosen[member].push(atom));
        }
    }

    /// Adds what a member makes of all inputs, atom by atom.
    fn map(&mut self, number: usize, spreads: &mut [T]) {
        let member = &self.packed.members[number];
        self.groups.sort(&self.chosen[number], member.maps.len());
        for (atom, map) in member.maps.iter().enumerate() {
            for group in self.groups.of(atom).chunks(GROUP) {
                multiply(map, group.iter().map(|&i| self.directions.column(i as usize)), &mut self.mapped);
                let (mapped, sums, weight) = (&self.mapped, &mut self.sums, member.weight);
                dispatch!(map.level(), simd => add(simd, mapped, (weight, group), sums, spreads));
            }
        }
    }
}

/// Multiplies a map with at most [`GROUP`] samples, wherever they lie.
fn multiply<'a, T: Scalar>(map: &Panels<T>, samples: impl Iterator<Item = &'a [T]>, out: &mut Store<T>) {
    let mut columns: [&[T]; GROUP] = [&[]; GROUP];
    let count = columns.iter_mut().zip(samples).map(|(column, sample)| *column = sample).count();
    let whole = count.next_multiple_of(TILE);
    // The last tile is filled up with what does no harm.
    let filler = columns[0];
    columns[count..whole].fill(filler);
    correlate_loose(map, &columns[..whole], out);
}

/// Adds what a map makes of its samples, by the weight of its member, to the sums and, squared, to the spreads.
#[inline(always)]
fn add<S: Simd, T: Scalar>(
    simd: S,
    mapped: &Store<T>,
    (weight, samples): (T, &[u32]),
    sums: &mut Columns<T>,
    spreads: &mut [T],
) {
    let lanes = T::Native::<S>::LEN;
    let by = T::Native::<S>::splat(simd, weight);
    for (slot, &i) in samples.iter().enumerate() {
        let mut squares = T::Native::<S>::splat(simd, T::ZERO);
        // Both are padded with zeros to whole vectors.
        let vectors = sums.padded_mut(i as usize).chunks_exact_mut(lanes).zip(mapped.of(slot).chunks_exact(lanes));
        for (sums, part) in vectors {
            let part = T::Native::<S>::from_slice(simd, part);
            part.mul_add(by, T::Native::<S>::from_slice(simd, sums)).store_slice(sums);
            squares = part.mul_add(part, squares);
        }
        spreads[i as usize] += weight * squares.reduce_sum();
    }
}

/// Σ x², in eight sums side by side so that additions do not wait for each other.
#[inline(always)]
fn energy<T: Scalar>(values: &[T]) -> T {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [T::ZERO; 8];
    for eight in eights {
        for i in 0..8 {
            sums[i] += eight[i] * eight[i];
        }
    }
    for (sum, &value) in sums.iter_mut().zip(rest) {
        *sum += value * value;
    }
    sums.into_iter().fold(T::ZERO, |all, sum| all + sum)
}
