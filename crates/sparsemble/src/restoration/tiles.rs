//! Large pictures, tile by tile: what a restoration needs beyond the picture itself is bounded by a tile.

use std::ops::Range;

use crate::blocks::Run;
use crate::error::Result;
use crate::image::{GrayImage, Size};

use super::image_level::Restored;

/// How pictures are cut into tiles, which overlap: one fades into the next, so that no seam is seen.
///
/// | field | default | purpose |
/// | --- | --- | --- |
/// | `whole` | 4 Mi | pictures of at most so many pixels are not cut |
/// | `longest` | 1536 | the longest side of a tile without its margins |
/// | `margin` | 32 | how far a tile goes beyond its share, at least: farther than a group of patches reaches |
///
/// The tiles do not depend on the number of threads, so that the result does not either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiling {
    pub(super) whole: usize,
    pub(super) longest: usize,
    pub(super) margin: usize,
}

impl Default for Tiling {
    fn default() -> Self {
        Self { whole: 1 << 22, longest: 1536, margin: 32 }
    }
}

impl Tiling {
    /// Whether a picture of this size is cut at all.
    pub(super) fn cuts(&self, size: Size) -> bool {
        size.pixels() > self.whole
    }

    /// The picture of all tiles, each restored by `restore`. All sides of tiles are multiples of `grain`, if those of the
    /// picture are.
    pub(super) fn restore(
        &self,
        size: Size,
        grain: usize,
        run: Run<'_>,
        mut restore: impl FnMut(&Tile, Run<'_>) -> Result<Restored>,
    ) -> Result<Restored> {
        if !self.cuts(size) {
            return restore(&Tile { down: Side::whole(size.height), across: Side::whole(size.width) }, run);
        }
        let (down, across) = (self.sides(size.height, grain), self.sides(size.width, grain));
        let tiles: Vec<Tile> =
            down.iter().flat_map(|&down| across.iter().map(move |&across| Tile { down, across })).collect();
        let total = tiles.iter().map(|tile| tile.size().pixels()).sum();
        let mut done = 0;
        let [mut image, mut deviation] = [vec![0.0; size.pixels()], vec![0.0; size.pixels()]];
        for tile in &tiles {
            let pixels = tile.size().pixels();
            let restored = restore(tile, run.part(done..done + pixels, total))?;
            tile.add(&restored.image, &mut image, size.width);
            tile.add(&restored.deviation, &mut deviation, size.width);
            done += pixels;
        }
        Ok(Restored { image: GrayImage::new(size, image)?, deviation: GrayImage::new(size, deviation)? })
    }

    /// Shares of about the same length, with their margins.
    fn sides(&self, length: usize, grain: usize) -> Vec<Side> {
        let margin = self.margin.next_multiple_of(grain);
        let border_of = |i: usize, count: usize| if i == count { length } else { i * length / count / grain * grain };
        // A tile has come in before it goes out: of wide margins there is room for fewer.
        let roomy = |count: &usize| {
            (1..=*count).all(|i| *count == 1 || border_of(i, *count) - border_of(i - 1, *count) >= 2 * margin)
        };
        let count = (1..=length.div_ceil(self.longest)).rev().find(roomy).unwrap_or(1);
        let border = |i: usize| border_of(i, count);
        // Both neighbours of a border go beyond it.
        let fade = |border: usize| if border == 0 || border == length { 0 } else { 2 * margin };
        let side = |i: usize| Side {
            start: border(i).saturating_sub(margin),
            end: (border(i + 1) + margin).min(length),
            rise: fade(border(i)),
            fall: fade(border(i + 1)),
        };
        (0..count).map(side).collect()
    }
}

/// The rows or the columns of a tile.
#[derive(Debug, Clone, Copy)]
struct Side {
    start: usize,
    end: usize,
    /// Over how many pixels from the start it comes in, while the one before goes out.
    rise: usize,
    /// Over how many pixels before the end it goes out.
    fall: usize,
}

impl Side {
    fn whole(length: usize) -> Self {
        Self { start: 0, end: length, rise: 0, fall: 0 }
    }

    /// How much a pixel counts, by its distance from the start; with its neighbour's it is 1.
    fn weight(&self, at: usize) -> f64 {
        let left = self.end - self.start - at;
        if at < self.rise {
            (at as f64 + 0.5) / self.rise as f64
        } else if left <= self.fall {
            (left as f64 - 0.5) / self.fall as f64
        } else {
            1.0
        }
    }
}

/// A part of a picture that is restored on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    down: Side,
    across: Side,
}

impl Tile {
    pub(super) fn size(&self) -> Size {
        Size { width: self.across.end - self.across.start, height: self.down.end - self.down.start }
    }

    pub(super) fn rows(&self) -> Range<usize> {
        self.down.start..self.down.end
    }

    pub(super) fn columns(&self) -> Range<usize> {
        self.across.start..self.across.end
    }

    /// This part of a picture.
    pub(super) fn of(&self, image: &GrayImage) -> Result<GrayImage> {
        image.cropped((self.down.start, self.across.start), self.size())
    }

    /// Adds what it makes of its pixels to those of the picture, whose rows are `width` long.
    fn add(&self, part: &GrayImage, sums: &mut [f64], width: usize) {
        let weights: Vec<f64> = (0..self.columns().len()).map(|at| self.across.weight(at)).collect();
        for (at, row) in self.rows().enumerate() {
            let weight = self.down.weight(at);
            let sums = &mut sums[row * width..][self.columns()];
            for ((sum, value), across) in sums.iter_mut().zip(part.row(at)).zip(&weights) {
                *sum += weight * across * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Tiling = Tiling { whole: 1000, longest: 64, margin: 10 };

    #[test]
    fn tiles_that_are_left_as_they_are_make_the_same_picture() {
        for (width, height, grain) in [(200, 72, 8), (65, 129, 1), (64, 64, 4), (30, 30, 1), (1000, 8, 8), (12, 640, 4)]
        {
            let size = Size { width, height };
            let picture = GrayImage::from_fn(size, |row, column| (row * 31 % 17 + column * 7 % 23) as f64).unwrap();
            let mut tiles = 0;
            let restore = |tile: &Tile, _: Run<'_>| {
                tiles += 1;
                assert!(tile.size().width <= 64 + 40 && tile.size().height <= 64 + 40, "{tile:?}");
                assert!([tile.down, tile.across].iter().all(|side| side.start % grain == 0 && side.end % grain == 0));
                Ok(Restored { image: tile.of(&picture)?, deviation: tile.of(&picture)? })
            };
            let whole = SMALL.restore(size, grain, Run::default(), restore).unwrap();
            assert_eq!(tiles, if width * height <= 1000 { 1 } else { width.div_ceil(64) * height.div_ceil(64) });
            for found in [whole.image, whole.deviation] {
                for (a, b) in found.samples().iter().zip(picture.samples()) {
                    assert!((a - b).abs() < 1e-12, "{width} × {height}: {a} for {b}");
                }
            }
        }
    }

    #[test]
    fn wide_margins_leave_room_for_fewer_tiles_that_still_make_the_same_picture() {
        let size = Size { width: 4096, height: 12 };
        let picture = GrayImage::from_fn(size, |row, column| (row * 31 % 17 + column * 7 % 23) as f64).unwrap();
        for (margin, grain, expected) in [(32, 4, 3), (300, 4, 3), (700, 4, 2), (1024, 4, 2), (1025, 4, 1)] {
            let tiling = Tiling { whole: 1000, longest: 1536, margin };
            let mut tiles = 0;
            let restore = |tile: &Tile, _: Run<'_>| {
                tiles += 1;
                Ok(Restored { image: tile.of(&picture)?, deviation: tile.of(&picture)? })
            };
            let whole = tiling.restore(size, grain, Run::default(), restore).unwrap();
            assert_eq!(tiles, expected, "margin {margin}");
            for (a, b) in whole.image.samples().iter().zip(picture.samples()) {
                assert!((a - b).abs() < 1e-12, "margin {margin}: {a} for {b}");
            }
        }
    }

    #[test]
    fn a_step_between_tiles_becomes_a_slope() {
        let size = Size { width: 128, height: 16 };
        let mut level = 0.0;
        let restore = |tile: &Tile, _: Run<'_>| {
            level += 20.0;
            let even = GrayImage::from_fn(tile.size(), |_, _| level)?;
            Ok(Restored { image: even.clone(), deviation: even })
        };
        let found = SMALL.restore(size, 1, Run::default(), restore).unwrap().image;
        let row = found.row(7);
        assert_eq!((row[0], row[53], row[74], row[127]), (20.0, 20.0, 40.0, 40.0));
        assert!(row[53..75].windows(2).all(|pair| (pair[1] - pair[0]) <= 1.0 + 1e-9 && pair[1] > pair[0]), "{row:?}");
    }

    #[test]
    fn progress_is_that_of_the_whole_and_never_falls() {
        let told = std::cell::RefCell::new(Vec::new());
        let report = |done: usize, total: usize| {
            told.borrow_mut().push((done, total));
            std::ops::ControlFlow::Continue(())
        };
        let size = Size { width: 128, height: 128 };
        let restore = |tile: &Tile, run: Run<'_>| {
            run.map_blocks(10, 2, || (), |(), _| Ok(()))?;
            let even = GrayImage::from_fn(tile.size(), |_, _| 1.0)?;
            Ok(Restored { image: even.clone(), deviation: even })
        };
        SMALL.restore(size, 1, Run::threads(1).on_progress(&report), restore).unwrap();
        let told = told.into_inner();
        assert!(told.is_sorted() && told.len() >= 20 && told.last().is_some_and(|(done, total)| done == total));
    }
}
