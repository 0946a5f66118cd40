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

/// Distances that are looked at together.
const WORD: usize = u64::BITS as usize;

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
    /// What none of the patches that may be in the group exceeds.
    limit: f32,
    /// Of the patches that may be in the group: their distances, filled up to whole vectors, and where these are among all.
    near: Vec<f32>,
    numbers: Vec<u32>,
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
            limit: 0.0,
            near: Vec::new(),
            numbers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The patch itself and those nearest to it by squared distance, all within reach; fewer than a group if there are
    /// no more.
    #[inline(always)]
    pub(super) fn find<S: Simd>(&mut self, simd: S, plane: &Plane, (row, column): (usize, usize)) -> &[Place] {
        let rows = window(row, self.reach, plane.size().height - self.side + 1);
        let columns = window(column, self.reach, plane.size().width - self.side + 1);
        // A power of two: then no number has to be divided to tell its row and column.
        let pitch = columns.len().next_power_of_two().max(VECTORS * S::f32s::LEN);
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
        // Nearer than any other can be, so that it is always in its group.
        self.distances[(row - rows.start) * pitch + column - columns.start] = -1.0;
        let count = self.list(simd, (rows.len(), columns.len()), pitch);
        self.choose(simd, count, pitch);
        for place in &mut self.places {
            place.row += rows.start as u32;
            place.column += columns.start as u32;
        }
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

    /// Lists all that may be in the group, and says how many they are: where so many halves of columns have a patch within
    /// some distance, those beyond it are not.
    #[inline(always)]
    fn list<S: Simd>(&mut self, simd: S, (height, width): (usize, usize), pitch: usize) -> usize {
        let lanes = S::f32s::LEN;
        self.least.chunks_exact_mut(pitch).for_each(|kind| kind[width..].fill(f32::INFINITY));
        self.limit =
            if self.group <= KINDS * width { limit(simd, &self.least, self.group, f32::MAX) } else { f32::MAX };
        let limit = S::f32s::splat(simd, self.limit);
        let distances = &self.distances[..height * pitch];
        self.near.resize(distances.len() + lanes, 0.0);
        self.numbers.resize(distances.len(), 0);
        let mut count = 0;
        // As many at a time as a word has bits, so that there is one loop over hits for all of them.
        for (word, part) in distances.chunks(WORD).enumerate() {
            let mut hits = 0_u64;
            for (v, vector) in part.chunks_exact(lanes).enumerate() {
                hits |= S::f32s::from_slice(simd, vector).simd_le(limit).to_bitmask() << (v * lanes);
            }
            while hits != 0 {
                let bit = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let number = word * WORD + bit;
                self.near[count] = part[bit];
                self.numbers[count] = number as u32;
                // What lies beyond the window is overwritten by the next one.
                count += usize::from(number & (pitch - 1) < width);
            }
        }
        self.near[count..count + lanes].fill(f32::INFINITY);
        count
    }

    /// Takes the nearest of those that are listed, and of equal ones the first.
    #[inline(always)]
    fn choose<S: Simd>(&mut self, simd: S, count: usize, pitch: usize) {
        let near = &self.near[..count.next_multiple_of(S::f32s::LEN)];
        let wanted = self.group.min(count);
        let limit = if wanted < count { limit(simd, near, wanted, self.limit) } else { f32::INFINITY };
        let (below, equal) = (S::f32s::simd_lt, S::f32s::simd_eq);
        let mut room = wanted - how_many(simd, near, below, limit).min(wanted);
        let limit = S::f32s::splat(simd, limit);
        self.places.clear();
        for (vector, numbers) in near.chunks_exact(S::f32s::LEN).zip(self.numbers.chunks(S::f32s::LEN)) {
            let distances = S::f32s::from_slice(simd, vector);
            let mut hits = below(distances, limit).to_bitmask();
            let mut others = equal(distances, limit).to_bitmask();
            while others != 0 && room > 0 {
                hits |= others & others.wrapping_neg();
                others &= others - 1;
                room -= 1;
            }
            while hits != 0 {
                let number = numbers[hits.trailing_zeros() as usize];
                hits &= hits - 1;
                self.places.push(Place { row: number >> pitch.ilog2(), column: number & (pitch as u32 - 1) });
            }
        }
    }
}

/// A limit that so many of the values, whole vectors of them, do not exceed, or as few more as there can be for equal ones.
/// It is `most` if fewer do not exceed that; what is negative counts as zero.
#[inline(always)]
fn limit<S: Simd>(simd: S, values: &[f32], wanted: usize, most: f32) -> f32 {
    let within = |limit: f32| how_many(simd, values, S::f32s::simd_le, limit);
    if within(0.0) >= wanted {
        return 0.0;
    }
    let (mut below, mut limit) = (0.0_f32, largest(simd, values, most));
    if within(limit) < wanted {
        return most;
    }
    // By halves of the range, which the values are spread over; where many are crowded together, by halves of the numbers there
    // are: those that are not negative are ordered as their bits are.
    for round in 0.. {
        let bits = u32::midpoint(below.to_bits(), limit.to_bits());
        let middle = if round < HALVES { 0.5 * (below + limit) } else { f32::from_bits(bits) };
        if middle <= below || middle >= limit {
            break;
        }
        let found = within(middle);
        // Nobody can guess which: both are chosen rather than branched to.
        limit = if found >= wanted { middle } else { limit };
        below = if found >= wanted { below } else { middle };
        if found == wanted {
            break;
        }
    }
    limit
}

/// How often a range is halved before the numbers in it are.
const HALVES: usize = 12;

/// The largest of the values that do not exceed `most`, or zero.
#[inline(always)]
fn largest<S: Simd>(simd: S, values: &[f32], most: f32) -> f32 {
    let (most, zero) = (S::f32s::splat(simd, most), S::f32s::splat(simd, 0.0));
    let mut largest = zero;
    for vector in values.chunks_exact(S::f32s::LEN) {
        let vector = S::f32s::from_slice(simd, vector);
        largest = largest.max(vector.simd_le(most).select(vector, zero));
    }
    largest.reduce_max()
}

/// How many values, whole vectors of them, are so.
#[inline(always)]
fn how_many<S: Simd>(
    simd: S,
    values: &[f32],
    is: impl Fn(S::f32s, S::f32s) -> <S::f32s as SimdBase<S>>::Mask,
    limit: f32,
) -> usize {
    let limit = S::f32s::splat(simd, limit);
    let mut count = 0;
    for vector in values.chunks_exact(S::f32s::LEN) {
        count += is(S::f32s::from_slice(simd, vector), limit).to_bitmask().count_ones() as usize;
    }
    count
}

/// The origins within reach of one, or as many at the border.
pub(super) fn window(origin: usize, reach: usize, origins: usize) -> Range<usize> {
    let length = (2 * reach).min(origins);
    let start = origin.saturating_sub(reach).min(origins - length);
    start..start + length
}
