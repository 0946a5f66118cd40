//! The patches of a neighbourhood that are most like one of them.

use std::ops::Range;

use fearless_simd::prelude::*;

use super::group::LANES;
use super::plane::Plane;

/// A patch, by the row and column of its upper left pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: u32,
    pub(super) column: u32,
}

impl Place {
    pub(super) fn at(self) -> (usize, usize) {
        (self.row as usize, self.column as usize)
    }
}

/// Finds like patches.
#[derive(Debug)]
pub(super) struct Matcher {
    side: usize,
    reach: usize,
    group: usize,
    /// For each candidate, in this order of bits: its squared distance, its row and column in the window.
    candidates: Vec<u64>,
    places: Vec<Place>,
}

impl Matcher {
    pub(super) fn new(side: usize, reach: usize, group: usize) -> Self {
        Self { side, reach, group, candidates: Vec::new(), places: Vec::new() }
    }

    /// The patch itself and those nearest to it by squared distance, all within reach; fewer than a group if there are
    /// no more.
    #[inline(always)]
    pub(super) fn find<S: Simd>(&mut self, simd: S, plane: &Plane, (row, column): (usize, usize)) -> &[Place] {
        let rows = window(row, self.reach, plane.size().height - self.side + 1);
        let columns = window(column, self.reach, plane.size().width - self.side + 1);
        self.candidates.clear();
        for candidate in rows.clone() {
            self.compare_row(simd, plane, (row, column), (candidate, rows.start), columns.clone());
        }
        // The patch itself comes first, whatever others are equal to it.
        let own = (row - rows.start) * columns.len() + column - columns.start;
        self.candidates[own] &= u64::from(u32::MAX);
        let count = self.group.min(self.candidates.len());
        if count < self.candidates.len() {
            self.candidates.select_nth_unstable(count - 1);
        }
        self.places.clear();
        self.places.extend(self.candidates[..count].iter().map(|&candidate| Place {
            row: (candidate >> 16) as u32 % (1 << 16) + rows.start as u32,
            column: candidate as u32 % (1 << 16) + columns.start as u32,
        }));
        &self.places
    }

    /// Adds the candidates of one row of the window, `2·LEN` neighbours at a time.
    #[inline(always)]
    fn compare_row<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        (row, column): (usize, usize),
        (candidate, first_row): (usize, usize),
        columns: Range<usize>,
    ) {
        let lanes = S::f32s::LEN;
        let mut distances = [0.0_f32; LANES];
        for start in columns.clone().step_by(2 * lanes) {
            let mut sums = [S::f32s::splat(simd, 0.0); 2];
            for r in 0..self.side {
                let own = &plane.from(row + r, column)[..self.side];
                let line = &plane.from(candidate + r, start)[..self.side + 2 * lanes - 1];
                for (c, &pixel) in own.iter().enumerate() {
                    let pixel = S::f32s::splat(simd, pixel);
                    for (v, sum) in sums.iter_mut().enumerate() {
                        let apart = S::f32s::from_slice(simd, &line[c + v * lanes..][..lanes]) - pixel;
                        *sum = apart.mul_add(apart, *sum);
                    }
                }
            }
            sums[0].store_slice(&mut distances[..lanes]);
            sums[1].store_slice(&mut distances[lanes..2 * lanes]);
            let place = (candidate - first_row) << 16 | (start - columns.start);
            let inside = (columns.end - start).min(2 * lanes);
            // Distances are not negative, and such numbers are ordered as their bits are.
            let keys = distances[..inside].iter().enumerate();
            self.candidates.extend(keys.map(|(i, d)| u64::from(d.to_bits() + 1) << 32 | (place + i) as u64));
        }
    }
}

/// The origins within reach of one, or as many at the border.
pub(super) fn window(origin: usize, reach: usize, origins: usize) -> Range<usize> {
    let length = (2 * reach).min(origins);
    let start = origin.saturating_sub(reach).min(origins - length);
    start..start + length
}
