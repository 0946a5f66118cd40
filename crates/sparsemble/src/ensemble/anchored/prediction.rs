//! What the members make of a block of inputs: each input by the map of its atom, the inputs of an atom together.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::error::Result;
use crate::kernels::{
    ByteColumns, ByteMapper, ByteMaps, Columns, Epilogue, Panels, Product, Store, TILE, best_level, correlate_loose,
};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::choice::{self, Anchors, Chooser};
use super::frame::Frame;
use super::groups::Groups;
use super::maps::{Kept, Maps};
use super::member::AnchoredMember;

/// Inputs whose outputs are made at a time: so many that every cell has some, and no list is read for one input.
pub(crate) const ANCHORED_BLOCK: usize = 1 << 14;

/// Inputs that go through all maps together: so many that most atoms have several, and few enough for the nearer caches.
const MAPPED: usize = 1 << 13;

/// Inputs that go through a map at a time.
const GROUP: usize = choice::BLOCK;

/// An ensemble packed for prediction.
#[derive(Debug)]
pub(super) struct Packed<T> {
    /// F, r, M and m: see [`Frame`].
    sizes: [usize; 4],
    n_inputs: usize,
    anchors: Anchors,
    members: Vec<PackedMember<T>>,
}

#[derive(Debug)]
struct PackedMember<T> {
    n_atoms: usize,
    maps: PackedMaps<T>,
    /// β_l.
    weight: f64,
}

/// The map of each atom.
#[derive(Debug)]
enum PackedMaps<T> {
    /// In whole numbers.
    Bytes(ByteMaps),
    /// As a dictionary with an atom for each of its outputs.
    Floats(Vec<Panels<T>>),
}

impl<T: Scalar> Packed<T> {
    pub(super) fn new(frame: &Frame<T>, members: &[AnchoredMember<T>], beta: &[f64]) -> Self {
        let member = |(member, &weight): (&AnchoredMember<T>, &f64)| {
            let maps = member.maps();
            PackedMember { n_atoms: maps.n_atoms(), maps: pack(maps), weight }
        };
        Self {
            sizes: [frame.features(), frame.directions(), frame.common(), frame.outputs()].map(Matrix::columns),
            n_inputs: frame.n_inputs(),
            anchors: Anchors::in_cells(&members.iter().map(AnchoredMember::anchors).collect::<Vec<_>>()),
            members: members.iter().zip(beta).map(member).collect(),
        }
    }

    /// How many anchors an input is compared with.
    pub(super) fn products_of_choices(&self) -> usize {
        self.anchors.n_products()
    }

    /// Whether there is a member with maps in bytes, or with others.
    fn has(&self, bytes: bool) -> bool {
        self.members.iter().any(|member| matches!(member.maps, PackedMaps::Bytes(_)) == bytes)
    }

    /// What a thread needs; the entries of an output will come in this order.
    pub(super) fn predictor(&self, frame: &Frame<T>, order: &[usize]) -> Predictor<'_, T> {
        let [_, n_directions, n_outputs, n_parts] = self.sizes;
        let common = Matrix::from_fn(self.n_inputs, n_outputs, |r, c| frame.common().column(order[c])[r]);
        let outputs = Matrix::from_fn(n_parts, n_outputs, |r, c| frame.outputs().column(r)[order[c]]);
        let before = stacked(&[frame.features(), frame.directions(), &common]);
        let after = stacked(&[&outputs]);
        Predictor {
            packed: self,
            inputs: vec![T::ZERO; GROUP * self.n_inputs],
            offsets: Vec::with_capacity(ANCHORED_BLOCK),
            seen: Store::new(&before, GROUP),
            before,
            chooser: Chooser::new(&self.anchors, ANCHORED_BLOCK),
            chosen: vec![Vec::new(); self.anchors.n_members()],
            groups: Groups::default(),
            directions: Columns::zeros(n_directions, ANCHORED_BLOCK * usize::from(self.has(false))),
            bytes: ByteColumns::new(n_directions, ANCHORED_BLOCK * usize::from(self.has(true))),
            mapper: ByteMapper::new(n_directions, n_parts),
            sums: Columns::zeros(n_parts, ANCHORED_BLOCK),
            made: Store::new(&after, GROUP),
            after,
        }
    }
}

/// The columns of matrices as the atoms of one packed dictionary.
pub(super) fn stacked<T: Scalar>(matrices: &[&Matrix<T>]) -> Panels<T> {
    let columns: Vec<&[T]> =
        matrices.iter().flat_map(|matrix| (0..matrix.columns()).map(|c| matrix.column(c))).collect();
    Panels::pack(best_level(), (matrices[0].rows(), columns.len()), |c| columns[c], |_| T::ONE)
}

fn pack<T: Scalar>(maps: &Maps<T>) -> PackedMaps<T> {
    // Who computes in doubles wants more digits than bytes have.
    if let (Kept::Byte { values, scales }, true) = (maps.kept(), T::EPSILON.to_f64() > f64::from(f32::EPSILON) / 2.0) {
        return PackedMaps::Bytes(ByteMaps::pack(best_level(), (maps.n_inputs(), maps.n_outputs()), values, scales));
    }
    let mut columns = Matrix::zeros(maps.n_inputs(), maps.n_outputs());
    let mut pack = |atom: usize| {
        (0..maps.n_outputs()).for_each(|j| maps.copy_column(atom * maps.n_outputs() + j, columns.column_mut(j)));
        stacked(&[&columns])
    };
    PackedMaps::Floats((0..maps.n_atoms()).map(&mut pack).collect())
}

/// What a thread needs to predict.
pub(crate) struct Predictor<'a, T> {
    packed: &'a Packed<T>,
    /// Those that are looked at.
    inputs: Vec<T>,
    /// What is added to all entries of each output.
    offsets: Vec<T>,
    /// C, R and W, one below the other, and what they make of inputs.
    before: Panels<T>,
    seen: Store<T>,
    chooser: Chooser<'a>,
    /// The atoms that each member has chosen.
    chosen: Vec<Vec<u32>>,
    groups: Groups,
    /// R·u of all inputs; they and the sums are looked up in any order, so each begins with a line of the cache.
    directions: Columns<T>,
    /// The same in whole numbers. Of both there is only what the members want.
    bytes: ByteColumns,
    mapper: ByteMapper,
    /// Σ β_l Q_l R·u of all inputs.
    sums: Columns<T>,
    /// P, as a dictionary with an atom for each output, and what it makes of sums.
    after: Panels<T>,
    made: Store<T>,
}

impl<T: Scalar> Predictor<'_, T> {
    /// Writes what becomes of every input to `values`, and Σ β_l ‖difference of member l from it‖² to `spreads`.
    ///
    /// `read` gives the inputs by their numbers and returns what is added to all entries of the output. Values are columns one
    /// after the other, at most [`ANCHORED_BLOCK`], and there is a spread for each, or none at all if nobody asks for them. What
    /// becomes of an input does not depend on the others.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn predict(
        &mut self,
        read: impl FnMut(usize, &mut [T]) -> Result<T>,
        values: &mut [T],
        spreads: &mut [T],
    ) -> Result<()> {
        let n_outputs = self.packed.sizes[2];
        let count = values.len() / n_outputs;
        (0..count).for_each(|i| self.sums.padded_mut(i).fill(T::ZERO));
        spreads.fill(T::ZERO);
        self.look(read, values)?;
        self.chooser.choose(&mut self.chosen);
        for start in (0..count).step_by(MAPPED) {
            let part = start..(start + MAPPED).min(count);
            (0..self.packed.members.len()).for_each(|number| self.map(number, part.clone(), spreads));
        }
        for (number, values) in values.chunks_mut(GROUP * n_outputs).enumerate() {
            let first = number * GROUP;
            let sums = (first..first + values.len() / n_outputs).map(|i| self.sums.column(i));
            multiply(&self.after, sums, &mut self.made);
            let spreads = spreads.get_mut(first..).unwrap_or_default();
            dispatch!(best_level(), simd => self.finish(simd, first, values, spreads));
        }
        Ok(())
    }

    /// Writes W·u to `values`, and keeps R·u and the features.
    fn look(&mut self, mut read: impl FnMut(usize, &mut [T]) -> Result<T>, values: &mut [T]) -> Result<()> {
        let n_outputs = self.packed.sizes[2];
        self.offsets.clear();
        self.bytes.clear();
        for (number, values) in values.chunks_mut(GROUP * n_outputs).enumerate() {
            let inputs = &mut self.inputs[..values.len() / n_outputs * self.packed.n_inputs];
            for (slot, input) in inputs.chunks_exact_mut(self.packed.n_inputs).enumerate() {
                self.offsets.push(read(number * GROUP + slot, input)?);
            }
            multiply(&self.before, inputs.chunks_exact(self.packed.n_inputs), &mut self.seen);
            dispatch!(best_level(), simd => self.keep(simd, number * GROUP, values));
        }
        Ok(())
    }

    /// Takes apart what has been made of some inputs, from the first on.
    #[inline(always)]
    fn keep<S: Simd>(&mut self, simd: S, first: usize, values: &mut [T]) {
        let [n_features, n_directions, n_outputs, _] = self.packed.sizes;
        let (wants_bytes, wants_floats) = (self.packed.has(true), self.packed.has(false));
        for (slot, value) in values.chunks_exact_mut(n_outputs).enumerate() {
            let (features, rest) = self.seen.of(slot).split_at(n_features);
            self.chooser.push(simd, features);
            let (directions, rest) = rest.split_at(n_directions);
            if wants_bytes {
                self.bytes.push(simd, directions);
            }
            if wants_floats {
                self.directions.padded_mut(first + slot)[..n_directions].copy_from_slice(directions);
            }
            value.copy_from_slice(&rest[..n_outputs]);
        }
    }

    /// Adds what a member makes of these inputs, atom by atom.
    fn map(&mut self, number: usize, part: Range<usize>, spreads: &mut [T]) {
        let (member, chosen) = (&self.packed.members[number], &self.chosen[number]);
        let sums = &mut self.sums;
        self.groups.sort(chosen, part, member.n_atoms);
        match &member.maps {
            PackedMaps::Bytes(maps) => {
                let inputs = (&self.bytes, self.groups.all(), chosen.as_slice());
                self.mapper.add(maps, inputs, member.weight, (sums, spreads));
            }
            PackedMaps::Floats(maps) => {
                for (atom, map) in maps.iter().enumerate() {
                    for samples in self.groups.of(atom).chunks(GROUP) {
                        let columns = samples.iter().map(|&i| self.directions.column(i as usize));
                        multiply(map, columns, &mut Add { weight: T::from_f64(member.weight), samples, sums, spreads });
                    }
                }
            }
        }
    }

    /// Adds what the members have made of some inputs, from the first on, and the offsets.
    #[inline(always)]
    fn finish<S: Simd>(&self, _: S, first: usize, values: &mut [T], spreads: &mut [T]) {
        let values = values.chunks_exact_mut(self.packed.sizes[2]);
        for (slot, value) in values.enumerate() {
            let offset = self.offsets[first + slot];
            for (value, &part) in value.iter_mut().zip(self.made.of(slot)) {
                *value = *value + part + offset;
            }
            if let Some(spread) = spreads.get_mut(slot) {
                *spread -= energy(self.sums.padded(first + slot));
            }
        }
    }
}

/// Multiplies a map with at most [`GROUP`] samples, wherever they lie.
fn multiply<'a, T: Scalar>(map: &Panels<T>, samples: impl Iterator<Item = &'a [T]>, out: &mut impl Epilogue<T>) {
    let mut columns: [&[T]; GROUP] = [&[]; GROUP];
    let count = columns.iter_mut().zip(samples).map(|(column, sample)| *column = sample).count();
    let whole = count.next_multiple_of(TILE);
    // The last tile is filled up with what does no harm.
    let filler = columns[0];
    columns[count..whole].fill(filler);
    correlate_loose(map, &columns[..whole], out);
}

/// Adds what a map makes of its samples, by the weight of its member, to the sums and, squared, to the spreads.
struct Add<'a, T> {
    weight: T,
    samples: &'a [u32],
    sums: &'a mut Columns<T>,
    spreads: &'a mut [T],
}

impl<T: Scalar> Epilogue<T> for Add<'_, T> {
    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, simd: S, (): (), (panel, slot): (usize, usize), product: Product<T::Native<S>>) {
        let lanes = T::Native::<S>::LEN;
        let by = T::Native::<S>::splat(simd, self.weight);
        for (&i, parts) in self.samples[slot..].iter().zip(product) {
            let mut squares = T::Native::<S>::splat(simd, T::ZERO);
            // Both are padded with zeros, to whole vectors and to whole panels.
            let sums = self.sums.padded_mut(i as usize)[panel * parts.len() * lanes..].chunks_exact_mut(lanes);
            for (sums, part) in sums.zip(parts) {
                part.mul_add(by, T::Native::<S>::from_slice(simd, sums)).store_slice(sums);
                squares = part.mul_add(part, squares);
            }
            if let Some(spread) = self.spreads.get_mut(i as usize) {
                *spread += self.weight * squares.reduce_sum();
            }
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (): (), _: usize, _: usize) {}
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
