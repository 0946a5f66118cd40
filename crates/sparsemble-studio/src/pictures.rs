//! Pictures that were uploaded, in memory and for a while.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sparsemble::image::{BitDepth, Layout, Raster, encode_by_rows};

use crate::guard::secret;
use crate::settings::Limits;

/// The most pictures, however small they are.
const COUNT: usize = 64;

/// An uploaded picture.
pub(crate) struct Picture {
    pub(crate) raster: Raster,
    pub(crate) layout: Layout,
}

impl Picture {
    /// Decodes the bytes of a file.
    pub(crate) fn decode(bytes: &[u8], limits: &Limits) -> sparsemble::Result<Self> {
        let raster = Raster::decode(bytes, limits.pixels)?;
        Ok(Self { layout: raster.layout(), raster })
    }

    /// As a file that every browser can show.
    pub(crate) fn png(&self) -> sparsemble::Result<Vec<u8>> {
        let rows = self.layout.size.height;
        encode_by_rows(&self.layout, rows, |rows| self.raster.rows(rows))
    }

    fn bytes(&self) -> usize {
        let sample = if self.layout.depth == BitDepth::Eight { 1 } else { 2 };
        self.layout.size.width * self.layout.size.height * self.layout.channels * sample
    }
}

/// The pictures that are kept, the one that was used last at the end.
#[derive(Default)]
pub(crate) struct Pictures {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    id: String,
    picture: Arc<Picture>,
    used: Instant,
}

impl Pictures {
    /// Keeps a picture and gives it a name; the oldest go if there are too many.
    pub(crate) fn keep(&self, picture: Arc<Picture>, limits: &Limits) -> io::Result<String> {
        let id = secret()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.used.elapsed() < limits.idle_time);
        kept.push_back(Kept { id: id.clone(), picture, used: Instant::now() });
        let bytes = |kept: &VecDeque<Kept>| kept.iter().map(|one| one.picture.bytes()).sum::<usize>();
        while kept.len() > 1 && (kept.len() > COUNT || bytes(&kept) > limits.kept_bytes) {
            kept.pop_front();
        }
        Ok(id)
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Picture>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|one| one.id == id)?;
        let mut found = kept.remove(place)?;
        found.used = Instant::now();
        let picture = Arc::clone(&found.picture);
        kept.push_back(found);
        Some(picture)
    }
}
