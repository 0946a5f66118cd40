//! Checkpoints: what the steps of a training leave behind, one after the other in a file that only grows.
//!
//! A step that adds to those before it, a member of an ensemble, is written behind them, so that none is written twice. A
//! step that is all there is takes the place of the file. A run that is killed while it writes leaves a step that is not
//! whole, which its length or its checksum tells; it is not read, and the next one is written in its place.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | [`MAGIC`] |
//! | 8 and 8 | for each step: the length of its model and of its state, low bytes first as all numbers |
//! | | its model, a model file of its own that says it is not complete |
//! | | its state: see [`super::state`] |
//! | 4 | CRC-32 of all of these |
//!
//! A checkpoint is trusted no more than a model file: see [`model_file`](super).

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crc32fast::Hasher;

use crate::ensemble::Ensemble;
use crate::error::Result;
use crate::files::{self, File, SharedFile};
use crate::model::Model;
use crate::reason::Outcome;
use crate::recipe::{KeptStep, ToKeep};
use crate::scalar::Scalar;

use super::container::MAX_FILE;
use super::{Loaded, Record, decode, encode, state};

/// What a checkpoint begins with; the last letter is the version of the format. No model file begins so.
pub(super) const MAGIC: [u8; 8] = *b"smbl-ck1";
/// The two lengths in front of a step.
const HEAD: u64 = 16;
/// The checksum behind it.
const TAIL: u64 = 4;
/// Bytes that are summed at a time.
const CHUNK: usize = 1 << 16;

/// The file that keeps what the steps of a training leave behind.
///
/// # Example
/// ```
/// use sparsemble::model_file::{self, Checkpoint, Record};
/// use sparsemble::recipe::{Recipe, TrainingSet};
/// use sparsemble::{Error, Matrix, Run};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.checkpoint");
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
/// let set = TrainingSet::new(samples.view());
/// let recipe = Recipe { n_atoms: 3, n_models: 4, ..Recipe::new("boost-ex".parse()?) };
/// let record = Record::of(&recipe, set, "waves".into(), Run::default())?;
///
/// // A run that is killed in its third round …
/// let mut checkpoint = Checkpoint::begin(&path, &record);
/// let killed = recipe.train(
///     set,
///     &mut |step, to_keep| {
///         checkpoint.keep(to_keep)?;
///         if step.number == 2 { Err(Error::Interrupted { done: 0, total: 0 }) } else { Ok(()) }
///     },
///     Run::default(),
/// );
/// assert!(killed.is_err());
///
/// // … and goes on.
/// let (mut checkpoint, mut past) = Checkpoint::resume(&path, &record)?;
/// assert_eq!(past.len(), 2);
/// let resumed = recipe.resume(set, &mut past, &mut |_, to_keep| checkpoint.keep(to_keep), Run::default())?;
/// let whole = recipe.train(set, &mut |_, _| Ok(()), Run::default())?;
/// assert_eq!(model_file::encode(&resumed.model, &record)?, model_file::encode(&whole.model, &record)?);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint<'a, T> {
    path: PathBuf,
    record: &'a Record<T>,
    /// Where the next step goes; `None` before the first one of a run.
    end: Option<u64>,
}

impl<'a, T: Scalar> Checkpoint<'a, T> {
    /// For a run that begins: its first step takes the place of any file of that name.
    pub fn begin(path: impl Into<PathBuf>, record: &'a Record<T>) -> Self {
        Self { path: path.into(), record, end: None }
    }

    /// For a run that goes on, and the steps that it has done: to the bits of a run that was never left.
    ///
    /// # Cost
    /// The file is read once for its checksums, and once more as the steps are asked for, one at a time.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file cannot be read; [`Error::Model`](crate::Error::Model) if it is no checkpoint or holds no whole step; those of
    /// [`Loaded::expect_resumable`].
    pub fn resume(path: impl Into<PathBuf>, record: &'a Record<T>) -> Result<(Self, PastSteps<'a, T>)> {
        let path = path.into();
        let (file, length) = files::open(&path)?;
        let codes = Arc::new(SharedFile::new(files::open(&path)?.0, path.clone()));
        let mut past = PastSteps { file: BufReader::new(file), codes, places: Vec::new().into_iter(), path, record };
        let places = whole_steps(&mut past.file, length).map_err(|reason| reason.about_model(&past.path))?;
        let end = places.last().map(Place::end);
        // Refused before anything is done, if it is another run's.
        if let Some(first) = places.first() {
            let loaded: Loaded<T> = first.model(&mut past.file).map_err(|reason| reason.about_model(&past.path))?;
            loaded.expect_resumable(record)?;
        }
        past.places = places.into_iter();
        Ok((Self { path: past.path.clone(), record, end }, past))
    }

    /// Keeps what a step leaves behind.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if it cannot be written: the steps before it are kept all the same.
    /// [`Error::Model`](crate::Error::Model) if the model is one that could not be read again.
    pub fn keep(&mut self, step: &ToKeep<'_, T>) -> Result<()> {
        let model = step.model()?;
        let refused = |reason: crate::reason::Reason| reason.about_model(&self.path);
        let model = encode::bytes((&model).into(), self.record, false).map_err(refused)?;
        let mut length = 0;
        let mut write = |file: &mut dyn Write| {
            length = write_step(file, &model, step)?;
            Ok(())
        };
        if let Some(end) = self.end.filter(|_| step.adds()) {
            files::append(&self.path, end, write)?;
            self.end = Some(end + length);
        } else {
            files::write_atomically(&self.path, |file| file.write_all(&MAGIC).and_then(|()| write(file)))?;
            self.end = Some(MAGIC.len() as u64 + length);
        }
        Ok(())
    }
}

/// Writes a step and tells how many bytes it has taken.
fn write_step<T: Scalar>(file: &mut dyn Write, model: &[u8], step: &ToKeep<'_, T>) -> io::Result<u64> {
    let mut summed = Summed { file, sum: Hasher::new() };
    let state = state::length(step.codes(), step.residuals());
    summed.write_all(&(model.len() as u64).to_le_bytes())?;
    summed.write_all(&state.to_le_bytes())?;
    summed.write_all(model)?;
    state::write(&mut summed, step.codes(), step.residuals())?;
    let sum = summed.sum.finalize();
    file.write_all(&sum.to_le_bytes())?;
    Ok(HEAD + model.len() as u64 + state + TAIL)
}

/// A file and the checksum of what goes to it.
struct Summed<'a> {
    file: &'a mut dyn Write,
    sum: Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Where a step is in the file, and the lengths of its two parts.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    model: u64,
    state: u64,
}

impl Place {
    fn end(&self) -> u64 {
        self.start + HEAD + self.model + self.state + TAIL
    }

    /// Reads the model.
    fn model<T: Scalar>(&self, file: &mut (impl Read + Seek)) -> Outcome<Loaded<T>> {
        decode::loaded(Cursor::new(self.model_bytes(file)?), self.model)
    }

    fn model_bytes(&self, file: &mut (impl Read + Seek)) -> Outcome<Vec<u8>> {
        file.seek(SeekFrom::Start(self.start + HEAD))?;
        let mut bytes = Vec::new();
        let no_memory = |_| format!("there is not enough memory for {} bytes", self.model);
        bytes.try_reserve_exact(self.model as usize).map_err(no_memory)?;
        bytes.resize(self.model as usize, 0);
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Finds the steps that are whole, up to the first that is not.
fn whole_steps(file: &mut (impl Read + Seek), length: u64) -> Outcome<Vec<Place>> {
    let mut magic = [0; MAGIC.len()];
    if length < MAGIC.len() as u64 || file.read_exact(&mut magic).is_err() || magic != MAGIC {
        return Err(
            "this is no checkpoint of this version of sparsemble, or its beginning is damaged; resume with the \
                    version that made it, or begin anew"
                .into(),
        );
    }
    let mut places = Vec::new();
    let mut start = MAGIC.len() as u64;
    while let Some(place) = whole_step(file, start, length)? {
        start = place.end();
        places.push(place);
    }
    if places.is_empty() {
        return Err("the checkpoint is damaged: it holds no whole step; begin anew".into());
    }
    Ok(places)
}

/// The step that starts here, if it is whole.
fn whole_step(file: &mut (impl Read + Seek), start: u64, length: u64) -> Outcome<Option<Place>> {
    let Some(room) = length.checked_sub(start + HEAD + TAIL) else { return Ok(None) };
    let mut head = [0; HEAD as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut head)?;
    let [model, state] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| head[at + i])));
    // No step has an empty model; a file that was cut by a failing machine may end in zeros.
    let fits = model > 0 && model <= MAX_FILE && model.checked_add(state).is_some_and(|both| both <= room);
    if !fits {
        return Ok(None);
    }
    let mut sum = Hasher::new();
    sum.update(&head);
    let mut left = model + state;
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        let part = &mut chunk[..left.min(CHUNK as u64) as usize];
        file.read_exact(part)?;
        sum.update(part);
        left -= part.len() as u64;
    }
    let mut tail = [0; TAIL as usize];
    file.read_exact(&mut tail)?;
    Ok((u32::from_le_bytes(tail) == sum.finalize()).then_some(Place { start, model, state }))
}

/// The steps that a run has done, for [`Recipe::resume`](crate::recipe::Recipe::resume). Each is read when it is asked for.
#[derive(Debug)]
pub struct PastSteps<'a, T> {
    file: BufReader<File>,
    /// The same file, for the codes: they stay in it until they are needed.
    codes: Arc<SharedFile>,
    places: std::vec::IntoIter<Place>,
    path: PathBuf,
    record: &'a Record<T>,
}

impl<T: Scalar> Iterator for PastSteps<'_, T> {
    type Item = Result<KeptStep<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.places.next()?;
        let state = place.start + HEAD + place.model;
        let loaded = place.model(&mut self.file);
        let read = loaded.and_then(|loaded| Ok((loaded, state::read(&self.codes, state, place.state)?)));
        Some(read.map_err(|reason| reason.about_model(&self.path)).and_then(|(loaded, (codes, residuals))| {
            loaded.expect_resumable(self.record)?;
            Ok(KeptStep { model: loaded.model, codes, residuals })
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<T: Scalar> ExactSizeIterator for PastSteps<'_, T> {}

/// Whether a file begins as a checkpoint does.
pub(super) fn is_checkpoint(path: &Path) -> Result<bool> {
    let (mut file, _) = files::open(path)?;
    let mut magic = [0; MAGIC.len()];
    Ok(file.read_exact(&mut magic).is_ok() && magic == MAGIC)
}

/// The model of the steps of a checkpoint.
pub(super) fn loaded<T: Scalar>(path: &Path) -> Result<Loaded<T>> {
    let (mut file, length) = files::open(path)?;
    let read = |file: &mut File| {
        let places = whole_steps(&mut BufReader::new(&mut *file), length)?;
        joined(places.iter().map(|place| place.model(file)).collect::<Outcome<Vec<Loaded<T>>>>()?)
    };
    read(&mut file).map_err(|reason| reason.about_model(path))
}

/// The first step's model as the bytes of a file.
pub(super) fn first_model(path: &Path) -> Result<Vec<u8>> {
    let (mut file, length) = files::open(path)?;
    let read = |file: &mut File| match whole_steps(&mut BufReader::new(&mut *file), length)?.first() {
        Some(first) => first.model_bytes(file),
        None => Err("the checkpoint holds no whole step".into()),
    };
    read(&mut file).map_err(|reason| reason.about_model(path))
}

/// One model of what the steps have made.
fn joined<T: Scalar>(steps: Vec<Loaded<T>>) -> Outcome<Loaded<T>> {
    let several = steps.len() > 1;
    let (mut ensembles, mut last) = (Vec::new(), None);
    for step in steps {
        match step.model {
            Model::Ensemble(ensemble) => ensembles.push(ensemble),
            _ if several => {
                return Err("the checkpoint has several steps of a model that has one; it is damaged".into());
            }
            _ => return Ok(step),
        }
        last = Some((step.record, step.library_version, step.algorithm_version));
    }
    let Some((record, library_version, algorithm_version)) = last else {
        return Err("the checkpoint holds no whole step".into());
    };
    let model = Model::Ensemble(Ensemble::of_steps(ensembles)?);
    Ok(Loaded { model, record, complete: false, library_version, algorithm_version })
}
