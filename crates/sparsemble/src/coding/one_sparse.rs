//! The best single atom for each sample: one fused pass over the dictionary, nothing of size K × T stored.
//!
//! For one coefficient the error ‖x − a·d_j‖² is least at a = d_jᵀx / ‖d_j‖², where it is ‖x‖² − (d_jᵀx / ‖d_j‖)²; so the
//! best atom has the largest correlation *after division by its norm*, which matters because the columns of ΦD do not
//! have unit norm.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::blocks::{Run, block_size};
use crate::error::{Error, Result};
use crate::kernels::{
    Best, CoarseClasses, CoarseTiles, Columns, Largest, Panels, Store, Tiles, best_level, correlate, dots, few_dots,
    first_largest,
};
use crate::scalar::Scalar;

use super::basis::inverse;
use super::{Coding, CodingBasis, CodingReport, SampleStatus, Samples, SparseCoder, SparseCodes, join};

/// Samples coded at a time: enough to amortise a walk through the dictionary, few enough to stay in cache.
const BLOCK: usize = 96;

/// 1-sparse coding, min over j and a of ‖x − a·d_j‖², or the `atoms` best single choices.
///
/// With `atoms = s > 1` the code holds the s atoms of least error *each on its own*, every coefficient being the best
/// one for its atom alone: a nearest-neighbour list, not a joint approximation (use [`Pursuit`](super::Pursuit) for
/// that).
///
/// # Cost
/// M·K multiply-adds a sample, for one atom in whole numbers of 16 bits: sooner than a matrix product of floats. The answer is
/// that of floats.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodingBasis, OneSparse, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// let atoms = Matrix::from_columns(vec![10.0_f32, 10.0, 0.0, 0.1], 2, 2)?;
/// let sample = Matrix::from_columns(vec![0.0, 2.0], 2, 1)?;
/// let basis = CodingBasis::new(atoms.view())?;
/// let coding = OneSparse::default().encode(&basis, &Samples::new(sample.view()), Run::default())?;
/// assert_eq!(coding.codes.atoms(), [1]); // the small atom points the right way
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A1, §IV-B, §V (1-sparse representations).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneSparse {
    /// How many atoms to return for each sample, or all if there are not so many.
    pub atoms: usize,
    /// Allow only positive coefficients.
    pub nonnegative: bool,
}

impl Default for OneSparse {
    fn default() -> Self {
        Self { atoms: 1, nonnegative: false }
    }
}

impl<T: Scalar> SparseCoder<T> for OneSparse {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        (T::instances().one_sparse)(self, basis, samples, run)
    }
}

impl OneSparse {
    /// [`SparseCoder::encode`]; see [`crate::instances`].
    pub(crate) fn encode_here<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        samples: &Samples<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        samples.check(basis)?;
        if self.atoms == 0 {
            return Err(Error::parameter("atoms", 0, "must be at least 1"));
        }
        let fused = self.atoms == 1 && !samples.is_masked();
        let size = block_size(BLOCK, basis.work());
        let blocks = run.map_blocks(
            samples.count(),
            size,
            || Scratch::new(basis, self.largest(), (fused, size)),
            |scratch, range| {
                samples.load(range.clone(), &mut scratch.x, &mut scratch.scales)?;
                Ok(scratch.encode_block(self, basis, samples, range))
            },
        )?;
        Ok(join(basis.n_atoms(), blocks))
    }
}

impl OneSparse {
    fn largest(self) -> Largest {
        if self.nonnegative { Largest::Value } else { Largest::Magnitude }
    }
}

/// One thread's working space.
struct Scratch<T> {
    x: Columns<T>,
    scales: Vec<f64>,
    scores: Scores<T>,
}

/// Where the correlations of a pass go: only the running classes where these suffice, else all of them.
enum Scores<T> {
    Fused { samples: CoarseTiles, classes: CoarseClasses, finder: Finder<T> },
    Stored { tiles: Tiles<T>, correlations: Store<T>, masked_energies: Option<Store<T>> },
}

impl<T: Scalar> Scratch<T> {
    fn new(basis: &CodingBasis<T>, largest: Largest, (fused, room): (bool, usize)) -> Self {
        let rows = basis.n_features();
        Self {
            x: Columns::zeros(rows, room),
            scales: Vec::with_capacity(room),
            scores: if fused {
                Scores::Fused {
                    samples: CoarseTiles::new(rows, room),
                    classes: CoarseClasses::new(basis.coarse(), room, largest),
                    finder: Finder::default(),
                }
            } else {
                let correlations = Store::new(basis.unit(), room);
                Scores::Stored { tiles: Tiles::new(rows, room), correlations, masked_energies: None }
            },
        }
    }

    fn encode_block(
        &mut self,
        coder: &OneSparse,
        basis: &CodingBasis<T>,
        samples: &Samples<'_, T>,
        range: Range<usize>,
    ) -> Coding<T> {
        let most = range.len() * coder.atoms.min(basis.n_atoms());
        let mut block = Coding {
            codes: SparseCodes::with_capacity(basis.n_atoms(), range.len(), most),
            report: CodingReport::with_capacity(range.len()),
        };
        match &mut self.scores {
            Scores::Fused { samples: coarse, classes, finder } => {
                let level = best_level();
                coarse.load(level, &self.x, range.len());
                range.clone().enumerate().for_each(|(slot, i)| classes.exclude(slot, samples.excluded_atom(i)));
                classes.find(basis.coarse(), coarse);
                let excluded = |slot: usize| samples.excluded_atom(range.start + slot).map(|atom| atom as u32);
                dispatch!(level, simd => finder.find_all(simd, basis, (classes, coarse), excluded, &self.x));
                for (&found, &scale) in finder.found.iter().zip(&self.scales) {
                    finish(&mut block, basis, scale, [found].into_iter());
                }
            }
            Scores::Stored { tiles, correlations, masked_energies } => {
                let mut entries = Vec::new();
                tiles.clear();
                (0..range.len()).for_each(|slot| tiles.push(self.x.column(slot)));
                correlate(basis.unit(), tiles, correlations);
                let energies = mask_energies(basis, samples, range.clone(), tiles, masked_energies);
                for (slot, i) in range.enumerate() {
                    let energies = energies.map(|store| store.of(slot));
                    coder.choose(correlations.of(slot), energies, samples.excluded_atom(i), &mut entries);
                    finish(&mut block, basis, self.scales[slot], entries.drain(..));
                }
            }
        }
        block
    }
}

impl OneSparse {
    /// The best atoms by error, given the correlations with unit atoms and, under a mask, the energy each atom keeps.
    fn choose<T: Scalar>(
        &self,
        correlations: &[T],
        energies: Option<&[T]>,
        excluded: Option<usize>,
        entries: &mut Vec<(u32, f64)>,
    ) {
        let coefficient = |j: usize| {
            let energy = energies.map_or(1.0, |e| e[j].to_f64());
            (correlations[j].to_f64() * inverse(energy), energy.sqrt())
        };
        let mut scored: Vec<(f64, u32, f64)> = (0..correlations.len())
            .filter(|j| Some(*j) != excluded)
            .map(|j| (coefficient(j), j as u32))
            .filter(|((a, _), _)| a.abs() > 0.0 && (*a > 0.0 || !self.nonnegative))
            .map(|((a, root), j)| (-(a * root).abs(), j, a))
            .collect();
        if scored.len() > self.atoms {
            scored.select_nth_unstable_by(self.atoms - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            scored.truncate(self.atoms);
        }
        entries.extend(scored.into_iter().map(|(_, j, a)| (j, a)));
    }
}

/// The energy of each unit atom on the observed entries of each sample: a pass of the squared atoms over the masks.
pub(super) fn mask_energies<'a, T: Scalar>(
    basis: &CodingBasis<T>,
    samples: &Samples<'_, T>,
    range: Range<usize>,
    tiles: &mut Tiles<T>,
    space: &'a mut Option<Store<T>>,
) -> Option<&'a Store<T>> {
    if !samples.is_masked() {
        return None;
    }
    let panels: &Panels<T> = basis.unit_squares();
    let store = space.get_or_insert_with(|| Store::new(panels, BLOCK));
    let mut mask = vec![T::ZERO; basis.n_features()];
    tiles.clear();
    for sample in range {
        samples.load_mask(sample, &mut mask);
        tiles.push(&mask);
    }
    correlate(panels, tiles, store);
    Some(store)
}

/// Finds the best atom of each sample from the classes of a pass.
#[derive(Default)]
struct Finder<T> {
    leading: Vec<Option<u32>>,
    /// The atoms among which the best one of a sample is, their products with it, and what counts of these.
    atoms: Vec<u32>,
    products: Vec<T>,
    scores: Vec<T>,
    /// The best atom of each sample and its coefficient on the unit atom, which is zero if there is none.
    found: Vec<(u32, f64)>,
}

impl<T: Scalar> Finder<T> {
    /// The first among equals, as a plain search would have it.
    #[inline(always)]
    fn find_all<S: Simd>(
        &mut self,
        simd: S,
        basis: &CodingBasis<T>,
        (classes, coarse): (&CoarseClasses, &CoarseTiles),
        excluded: impl Fn(usize) -> Option<u32>,
        x: &Columns<T>,
    ) {
        self.found.clear();
        classes.leading(simd, coarse, &mut self.leading);
        for slot in 0..self.leading.len() {
            let (x, excluded) = (x.padded(slot), excluded(slot));
            let score = |atom: u32, product: T| match excluded {
                Some(excluded) if excluded == atom => T::ZERO,
                _ => T::from_f64(classes.size(product.to_f64() * basis.inverse_norm(atom))),
            };
            let (atom, product, score) = if let Some(class) = self.leading[slot] {
                let atoms = classes.atoms(class);
                let products = few_dots(simd, basis.columns(), &atoms, x);
                let scores = std::array::from_fn::<T, 8, _>(|i| score(atoms[i], products[i]));
                let place = first_largest(simd, &scores);
                (atoms[place], products[place], scores[place])
            } else {
                self.atoms.clear();
                classes.leaders(simd, coarse, slot, &mut self.atoms);
                dots(simd, basis.columns(), &self.atoms, x, &mut self.products);
                self.scores.clear();
                self.scores.extend(self.atoms.iter().zip(&self.products).map(|(&atom, &product)| score(atom, product)));
                self.scores.resize(self.atoms.len().next_multiple_of(T::Native::<S>::LEN), T::ZERO);
                let place = Best::place_in(simd, &self.scores);
                let atom = self.atoms.get(place).copied().unwrap_or(0);
                (
                    atom,
                    self.products.get(place).copied().unwrap_or(T::ZERO),
                    self.scores.get(place).copied().unwrap_or(T::ZERO),
                )
            };
            let coefficient = product.to_f64() * basis.inverse_norm(atom);
            self.found.push(if score > T::ZERO { (atom, coefficient) } else { (0, 0.0) });
        }
    }
}

/// Adds a sample to the block, given its coefficients on unit atoms.
fn finish<T: Scalar>(
    block: &mut Coding<T>,
    basis: &CodingBasis<T>,
    scale: f64,
    entries: impl Iterator<Item = (u32, f64)>,
) {
    let before = block.codes.n_nonzero();
    block.codes.push(entries.map(|(j, a)| (j, basis.coefficient(j, a * basis.inverse_norm(j), scale))));
    block.report.push(SampleStatus::Converged, block.codes.n_nonzero() - before, None);
}
