//! The patches of a neighbourhood that are most like one of them.

use std::ops::Range;

use fearless_simd::prelude::*;

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

/// Vectors of neighbours in a row, and rows of them, that are compared together: pixels that were read serve all rows.
const VECTORS: usize = 2;
const ROWS: usize = 4;

/// Kinds of rows whose least distances are kept apart.
const KINDS: usize = 2;

/// Finds like patches.
#[derive(Debug)]
pub(super) struct Matcher {
    side: usize,
    reach: usize,
    group: usize,
    /// The patch itself, row by row.
    own: Vec<f32>,
    /// Of all patches in the window, row by row, each row followed by others beyond the window.
    distances: Vec<f32>,
    /// The least distance in each column of the window, in its even rows and in its odd ones.
    least: Vec<f32>,
    /// For each patch that may be in the group, in this order of bits: its squared distance, its row and column in the
    /// window.
    candidates: Vec<u64>,
    places: Vec<Place>,
}

impl Matcher {
    pub(super) fn new(side: usize, reach: usize, group: usize) -> Self {
        Self {
            side,
            reach,
            group,
            own: Vec::new(),
            distances: Vec::new(),
            least: Vec::new(),
            candidates: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The patch itself and those nearest to it by squared distance, all within reach; fewer than a group if there are
    /// no more.
    #[inline(always)]
    pub(super) fn find<S: Simd>(&mut self, simd: S, plane: &Plane, (row, column): (usize, usize)) -> &[Place] {
        let rows = window(row, self.reach, plane.size().height - self.side + 1);
        let columns = window(column, self.reach, plane.size().width - self.side + 1);
        let pitch = columns.len().next_multiple_of(VECTORS * S::f32s::LEN);
        self.distances.resize(pitch * rows.len().next_multiple_of(ROWS), 0.0);
        self.own.clear();
        (0..self.side).for_each(|r| self.own.extend_from_slice(&plane.from(row + r, column)[..self.side]));
        self.least.clear();
        self.least.resize(KINDS * pitch, f32::INFINITY);
        for first in rows.clone().step_by(ROWS) {
            for start in (0..columns.len()).step_by(VECTORS * S::f32s::LEN) {
                let corner = (first, columns.start + start);
                let at = ((first - rows.start) * pitch + start, pitch, start);
                let count = ROWS.min(rows.end - first);
                self.compare(simd, plane, (row, column), (corner, count), at);
            }
        }
        let own = (row - rows.start, column - columns.start);
        self.list(simd, own, (rows.len(), columns.len()), pitch);
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

    /// Adds the products of a line of pixels with the lines of the own patch that it is compared with: it is number
    /// `line` − r of the patches that begin in row r, for those rows FROM .. TO whose patches have it.
    #[expect(clippy::needless_range_loop, reason = "the compiler keeps all sums in registers if it is written so")]
    #[inline(always)]
    fn add_line<S: Simd, const FROM: usize, const TO: usize>(
        &self,
        simd: S,
        pixels: &[f32],
        line: usize,
        sums: &mut [[S::f32s; VECTORS]; ROWS],
    ) {
        let lanes = S::f32s::LEN;
        let mut own: [&[f32]; ROWS] = [&[]; ROWS];
        for r in FROM..TO {
            own[r] = &self.own[(line - r) * self.side..][..self.side];
        }
        for c in 0..self.side {
            let pixels = &pixels[c..c + VECTORS * lanes];
            let mut vectors = [S::f32s::splat(simd, 0.0); VECTORS];
            for (v, vector) in vectors.iter_mut().enumerate() {
                *vector = S::f32s::from_slice(simd, &pixels[v * lanes..(v + 1) * lanes]);
            }
            for r in FROM..TO {
                let own = S::f32s::splat(simd, own[r][c]);
                for v in 0..VECTORS {
                    sums[r][v] = vectors[v].mul_add(own, sums[r][v]);
                }
            }
        }
    }

    /// The distances of the patches that begin in some rows, at some places of each, by ‖x‖² + ‖y‖² − 2xᵀy.
    #[inline(always)]
    fn compare<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        (row, column): (usize, usize),
        (corner, count): ((usize, usize), usize),
        (at, pitch, start): (usize, usize, usize),
    ) {
        let lanes = S::f32s::LEN;
        let mut sums = [[S::f32s::splat(simd, 0.0); VECTORS]; ROWS];
        for line in 0..count + self.side - 1 {
            let pixels = &plane.from(corner.0 + line, corner.1)[..self.side + VECTORS * lanes - 1];
            // The first and the last lines belong to the patches of some rows only.
            match ((line + 1).saturating_sub(self.side), ROWS.min(line + 1)) {
                (0, 1) => self.add_line::<S, 0, 1>(simd, pixels, line, &mut sums),
                (0, 2) => self.add_line::<S, 0, 2>(simd, pixels, line, &mut sums),
                (0, 3) => self.add_line::<S, 0, 3>(simd, pixels, line, &mut sums),
                (0, _) => self.add_line::<S, 0, 4>(simd, pixels, line, &mut sums),
                (1, 3) => self.add_line::<S, 1, 3>(simd, pixels, line, &mut sums),
                (1, _) => self.add_line::<S, 1, 4>(simd, pixels, line, &mut sums),
                (2, _) => self.add_line::<S, 2, 4>(simd, pixels, line, &mut sums),
                _ => self.add_line::<S, 3, 4>(simd, pixels, line, &mut sums),
            }
        }
        let own = S::f32s::splat(simd, plane.energies(row, column)[0]);
        let (zero, twice) = (S::f32s::splat(simd, 0.0), S::f32s::splat(simd, -2.0));
        for (r, sums) in sums.iter().take(count).enumerate() {
            let energies = &plane.energies(corner.0 + r, corner.1)[..VECTORS * lanes];
            for (v, sum) in sums.iter().enumerate() {
                let energies = S::f32s::from_slice(simd, &energies[v * lanes..(v + 1) * lanes]);
                let distances = sum.mul_add(twice, energies + own).max(zero);
                distances.store_slice(&mut self.distances[at + r * pitch + v * lanes..][..lanes]);
                let least = &mut self.least[r % KINDS * pitch + start + v * lanes..][..lanes];
                S::f32s::from_slice(simd, least).min(distances).store_slice(least);
            }
        }
    }

    /// Lists the patch itself, before any other, and all that may be in its group: where so many halves of columns have a
    /// patch within some distance, those beyond it are not.
    #[inline(always)]
    fn list<S: Simd>(&mut self, simd: S, own: (usize, usize), (height, width): (usize, usize), pitch: usize) {
        let lanes = S::f32s::LEN;
        self.least.copy_within(pitch..pitch + width, width);
        let least = &mut self.least[..KINDS * width];
        let limit = if self.group <= least.len() {
            *least.select_nth_unstable_by(self.group - 1, f32::total_cmp).1
        } else {
            f32::INFINITY
        };
        let limit = S::f32s::splat(simd, limit);
        self.candidates.clear();
        self.candidates.push((own.0 << 16 | own.1) as u64);
        for (row, distances) in self.distances.chunks_exact(pitch).take(height).enumerate() {
            for (v, part) in distances.chunks_exact(lanes).enumerate() {
                let mut hits = S::f32s::from_slice(simd, part).simd_le(limit).to_bitmask();
                while hits != 0 {
                    let (lane, column) = (hits.trailing_zeros() as usize, v * lanes + hits.trailing_zeros() as usize);
                    hits &= hits - 1;
                    if column < width && (row, column) != own {
                        // Distances are not negative, and such numbers are ordered as their bits are.
                        let key = u64::from(part[lane].to_bits() + 1) << 32;
                        self.candidates.push(key | (row << 16 | column) as u64);
                    }
                }
            }
        }
    }
}

/// The origins within reach of one, or as many at the border.
pub(super) fn window(origin: usize, reach: usize, origins: usize) -> Range<usize> {
    let length = (2 * reach).min(origins);
    let start = origin.saturating_sub(reach).min(origins - length);
    start..start + length
}
