//! Learning anchors and maps from pairs of inputs and targets.

use fearless_simd::dispatch;

use crate::blocks::Run;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result, expect_size};
use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::matrix::{Matrix, MatrixView};
use crate::rng::{Draw, RowNumbers};
use crate::sampling::Race;
use crate::scalar::Scalar;

use super::AnchoredEnsemble;
use super::choice::{self, Anchors, Chooser};
use super::frame::Frame;
use super::groups::Groups;
use super::maps::Maps;
use super::member::AnchoredMember;
use super::pairs::{ColumnPairs, Pairs, Reader};
use super::prediction::stacked;
use super::reduced::reduced;
use super::ridge::{CHUNK, Sums};
use super::survey::{self, surveyed, surveyed_count};

/// Samples whose atoms are chosen at a time.
const BLOCK: usize = 64 * choice::BLOCK;

/// Samples are drawn as anchors in proportion to their contrast, up to this many times the root mean square of all.
const CONTRAST: f64 = 0.5;

/// Atoms of the member that shows which directions maps use, and the number of its draw, beyond that of any other.
const PILOT_ATOMS: usize = 64;
const PILOT: u64 = u64::MAX;

/// Learns an [`AnchoredEnsemble`].
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `n_atoms` | K | 256 | anchors, and maps, of a member | ≥ 1, ≤ T |
/// | `n_models` | L | 4 | members | ≥ 1 |
/// | `n_features` | F | 12 | the most features the choice is made by | ≥ 1 |
/// | `n_directions` | r | 64 | the most directions of the inputs that maps look at | ≥ 1 |
/// | `n_parts` | m | 64 | the most directions of the outputs that maps make | ≥ 1 |
/// | `shrinkage` | λ | 15 | how many average pairs pull each map to that of all | ≥ 0 |
/// | `seed` | | 0 | of the examples | |
///
/// First comes the [`Frame`]. Its features are the leading principal directions of the inputs, or of a view of them, each
/// divided by the fourth root of its variance (half of whitening). Its directions of inputs, of unit variance, and of
/// outputs are those that the maps of a first, small member use most. Then, for each member: anchors are features of examples, drawn by their contrast; every pair goes to the atom its features choose; and the map
/// of an atom is the ridge solution of its own pairs, which with λ pairs of the common kind added is zero, that is the
/// common map, where an atom has none.
///
/// # Shapes
/// Inputs N × T, targets M × T.
///
/// # Cost
/// About T·(F·(N + K) + (r + m)·(N + r)) multiply-adds for each member, and K·r²·(r/6 + m) to solve. Memory beyond the
/// pairs is eight bytes for each and the sums of one atom for each thread.
///
/// # Errors
/// If sizes disagree, a value is not finite, a field is out of range, or there are fewer inputs with contrast than atoms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnchoredLearner {
    /// K.
    pub n_atoms: usize,
    /// L.
    pub n_models: usize,
    /// F.
    pub n_features: usize,
    /// r.
    pub n_directions: usize,
    /// m.
    pub n_parts: usize,
    /// λ.
    pub shrinkage: f64,
    /// The seed of the examples.
    pub seed: u64,
}

impl Default for AnchoredLearner {
    fn default() -> Self {
        Self { n_atoms: 256, n_models: 4, n_features: 12, n_directions: 64, n_parts: 64, shrinkage: 15.0, seed: 0 }
    }
}

impl AnchoredLearner {
    /// Learns all members from the columns of two matrices, which count alike unless there are masses.
    ///
    /// # Errors
    /// See [`AnchoredLearner`].
    pub fn fit<T: Scalar>(
        &self,
        inputs: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<AnchoredEnsemble<T>> {
        let pairs = ColumnPairs::new(inputs, targets, masses)?;
        let view = Matrix::from_fn(inputs.rows(), inputs.rows(), |r, c| f64::from(u8::from(r == c)));
        let frame = self.frame(&pairs, &view, run.silent())?;
        let member = |number: usize| {
            let draw = Draw { seed: self.seed, round: number as u64 };
            self.member(&pairs, &frame, draw, run.passes(number..number + 1, self.n_models, inputs.columns()))
        };
        let members = (0..self.n_models).map(member).collect::<Result<Vec<_>>>()?;
        AnchoredEnsemble::mean_of(frame, members)
    }

    /// Learns what the members share; `view` times an input is what the choice may look at.
    pub(crate) fn frame<T: Scalar>(&self, pairs: &dyn Pairs<T>, view: &Matrix<f64>, run: Run<'_>) -> Result<Frame<T>> {
        self.check()?;
        expect_size("view: number of columns (length of an input)", pairs.n_inputs(), view.columns())?;
        let whole = survey::frame(pairs, view, self.n_features, run.part(0..1, 4))?;
        if self.n_directions >= whole.directions().columns() && self.n_parts >= whole.outputs().columns() {
            return Ok(whole);
        }
        // Which directions maps use is not known before there are maps.
        let few = Self { n_atoms: self.n_atoms.min(PILOT_ATOMS), ..*self };
        let pilot = few.member(pairs, &whole, Draw { seed: self.seed, round: PILOT }, run.part(1..4, 4))?;
        reduced(&whole, pilot.maps(), self.n_directions, self.n_parts)
    }

    /// Learns one member.
    pub(crate) fn member<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        frame: &Frame<T>,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<AnchoredMember<T>> {
        self.check()?;
        let features = stacked(&[frame.features()]);
        let anchors = self.draw(pairs, (frame, &features), draw, run.part(0..1, 10))?;
        let mut groups = Groups::default();
        let chosen = assign(pairs, (frame, &features), &anchors, run.part(1..5, 10))?;
        groups.sort(&chosen, 0..chosen.len(), anchors.n_atoms());
        let maps = self.solve(pairs, frame, &groups, run.part(5..10, 10))?;
        AnchoredMember::new(anchors, maps)
    }

    fn check(&self) -> Result<()> {
        let counts = [
            ("n_atoms", self.n_atoms),
            ("n_features", self.n_features),
            ("n_directions", self.n_directions),
            ("n_parts", self.n_parts),
        ];
        if let Some((name, value)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(Error::parameter(name, value, "must be at least 1"));
        }
        if !(self.shrinkage >= 0.0 && self.shrinkage.is_finite()) {
            return Err(Error::parameter("shrinkage", self.shrinkage, "must be zero or more, and finite"));
        }
        Ok(())
    }

    /// Features of examples, drawn from the surveyed pairs in proportion to their contrast, within a limit.
    fn draw<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        (frame, features): (&Frame<T>, &Panels<T>),
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Dictionary<T>> {
        let n_features = frame.features().columns();
        let space = || Looker::new(pairs, features);
        let blocks = run.map_blocks(surveyed_count(pairs), choice::BLOCK, space, |looker, range| {
            let mut block: Vec<T> = Vec::with_capacity(range.len() * n_features);
            looker.look(pairs, range.map(|i| surveyed(pairs, i)), |found| block.extend(&found[..n_features]));
            Ok(block)
        })?;
        let found = Matrix::from_columns(blocks.concat(), n_features, surveyed_count(pairs))?;
        let energy = |i: usize| found.column(i).iter().map(|value| value.to_f64().powi(2)).sum::<f64>();
        let mean_energy = (0..found.columns()).map(energy).sum::<f64>() / found.columns() as f64;
        let limit = CONTRAST * mean_energy.sqrt();
        let weight = |(): &mut (), i: usize| Ok(pairs.mass(surveyed(pairs, i)) * energy(i).sqrt().min(limit));
        let numbers = RowNumbers::from_stream(&mut draw.stream("anchors"));
        let rows = Race::run((0, found.columns(), self.n_atoms), numbers, || (), weight, run.silent())?.winners();
        if rows.len() < self.n_atoms {
            let (needed, found) = (self.n_atoms, rows.len());
            return Err(Error::TooFewSamples { what: "inputs with contrast, for anchors", needed, found });
        }
        Dictionary::new(Matrix::from_fn(n_features, rows.len(), |r, k| found.column(rows[k])[r]))
    }

    /// The map of each atom by the pairs that are its own.
    fn solve<T: Scalar>(
        &self,
        pairs: &dyn Pairs<T>,
        frame: &Frame<T>,
        groups: &Groups,
        run: Run<'_>,
    ) -> Result<Maps<T>> {
        let reduction = Reduction::new(frame);
        let (n_directions, n_parts) = (frame.directions().columns(), frame.outputs().columns());
        let space = || (Sums::new(n_directions, n_parts), Reducer::new(pairs, &reduction));
        // One atom at a time: its sums have one order, whatever the threads.
        let maps = run.map_blocks(self.n_atoms, 1, space, |(sums, reducer), atom| {
            sums.clear();
            groups.of(atom.start).chunks(CHUNK).for_each(|samples| reducer.add(pairs, samples, sums));
            sums.finish();
            // The directions have unit variance, so average pairs add to the diagonal alone.
            let map = sums.map(self.shrinkage + 1e-6);
            Ok(map.as_slice().iter().map(|&value| T::from_f64(value)).collect::<Vec<T>>())
        })?;
        Maps::new(Matrix::from_columns(maps.concat(), n_directions, self.n_atoms * n_parts)?, n_parts)
    }
}

/// Reads inputs and multiplies them with packed columns, a block at a time.
struct Looker<'a, T> {
    panels: &'a Panels<T>,
    reader: Reader<T>,
    tiles: Tiles<T>,
    found: Store<T>,
}

impl<'a, T: Scalar> Looker<'a, T> {
    fn new(pairs: &dyn Pairs<T>, panels: &'a Panels<T>) -> Self {
        Self {
            panels,
            reader: Reader::new(pairs),
            tiles: Tiles::new(pairs.n_inputs(), choice::BLOCK),
            found: Store::new(panels, choice::BLOCK),
        }
    }

    /// Gives `take` the products of each input, of at most a block.
    fn look(
        &mut self,
        pairs: &dyn Pairs<T>,
        samples: impl ExactSizeIterator<Item = usize>,
        mut take: impl FnMut(&[T]),
    ) {
        let count = samples.len();
        self.tiles.clear();
        samples.for_each(|sample| self.tiles.push(self.reader.read_input(pairs, sample)));
        correlate(self.panels, &self.tiles, &mut self.found);
        (0..count).for_each(|slot| take(self.found.of(slot)));
    }
}

/// The atom of every pair.
fn assign<T: Scalar>(
    pairs: &dyn Pairs<T>,
    (frame, features): (&Frame<T>, &Panels<T>),
    anchors: &Dictionary<T>,
    run: Run<'_>,
) -> Result<Vec<u32>> {
    let (n_features, anchors) = (frame.features().columns(), Anchors::all(anchors));
    let space = || (Looker::new(pairs, features), Chooser::new(&anchors, BLOCK));
    let blocks = run.map_blocks(pairs.count(), BLOCK, space, |(looker, chooser), range| {
        for start in range.clone().step_by(choice::BLOCK) {
            let block = start..(start + choice::BLOCK).min(range.end);
            dispatch!(best_level(), simd => {
                looker.look(pairs, block, |found| chooser.push(simd, &found[..n_features]));
            });
        }
        let mut chosen = [Vec::new()];
        chooser.choose(&mut chosen);
        Ok(chosen.concat())
    })?;
    Ok(blocks.concat())
}

/// From pairs to what the maps of atoms look at and should make: R·u and Pᵀ(y − W·u).
struct Reduction<T> {
    n_directions: usize,
    n_parts: usize,
    /// R and PᵀW, one below the other.
    of_inputs: Panels<T>,
    /// Pᵀ.
    of_targets: Panels<T>,
}

impl<T: Scalar> Reduction<T> {
    fn new(frame: &Frame<T>) -> Self {
        let (common, outputs) = (frame.common(), frame.outputs());
        let mapped = Matrix::from_fn(common.rows(), outputs.columns(), |r, part| {
            let products =
                outputs.column(part).iter().enumerate().map(|(c, p)| p.to_f64() * common.column(c)[r].to_f64());
            T::from_f64(products.sum())
        });
        Self {
            n_directions: frame.directions().columns(),
            n_parts: outputs.columns(),
            of_inputs: stacked(&[frame.directions(), &mapped]),
            of_targets: stacked(&[outputs]),
        }
    }
}

/// What a thread needs for that.
struct Reducer<'a, T> {
    reduction: &'a Reduction<T>,
    reader: Reader<T>,
    inputs: (Tiles<T>, Store<T>),
    targets: (Tiles<T>, Store<T>),
}

impl<'a, T: Scalar> Reducer<'a, T> {
    fn new(pairs: &dyn Pairs<T>, reduction: &'a Reduction<T>) -> Self {
        let room = |rows: usize, panels: &Panels<T>| (Tiles::new(rows, CHUNK), Store::new(panels, CHUNK));
        Self {
            reduction,
            reader: Reader::new(pairs),
            inputs: room(pairs.n_inputs(), &reduction.of_inputs),
            targets: room(pairs.n_outputs(), &reduction.of_targets),
        }
    }

    /// Adds at most a chunk of pairs to the sums.
    fn add(&mut self, pairs: &dyn Pairs<T>, samples: &[u32], sums: &mut Sums) {
        self.inputs.0.clear();
        self.targets.0.clear();
        for &sample in samples {
            let (input, target) = self.reader.read(pairs, sample as usize);
            self.inputs.0.push(input);
            self.targets.0.push(target);
        }
        correlate(&self.reduction.of_inputs, &self.inputs.0, &mut self.inputs.1);
        correlate(&self.reduction.of_targets, &self.targets.0, &mut self.targets.1);
        for (slot, &sample) in samples.iter().enumerate() {
            let (directions, common) = self.inputs.1.of(slot).split_at(self.reduction.n_directions);
            let left =
                self.targets.1.of(slot).iter().zip(common).map(|(target, common)| target.to_f64() - common.to_f64());
            let pair = directions.iter().map(|value| value.to_f64()).chain(left.take(self.reduction.n_parts));
            sums.add(pairs.mass(sample as usize), pair);
        }
    }
}
