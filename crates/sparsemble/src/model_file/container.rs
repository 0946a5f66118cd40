//! Reading the container: a safetensors file as named tensors and a map of texts, with limits on everything.
//!
//! Tensors are read one by one from the file to where they belong. Only the header is parsed by the safetensors crate,
//! which checks that the tensors are as long as their shapes say and fill the file without gaps.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::scalar::Scalar;

use crate::reason::Outcome;

/// The longest header: room for about five thousand members, and little to spend on a hostile file.
pub(super) const MAX_HEADER: u64 = 1 << 20;
/// The longest file.
pub(super) const MAX_FILE: u64 = 1 << 32;
/// The most tensors.
const MAX_TENSORS: usize = 1 << 14;
/// The longest name of a tensor or a text.
const MAX_NAME: usize = 256;
/// The header starts behind its own length.
pub(super) const LENGTH: u64 = size_of::<u64>() as u64;
/// Bytes that are converted at a time; a multiple of every number's size.
const CHUNK: usize = 1 << 16;

/// A file whose header has been read and checked. Texts and tensors are taken out of it, so that what is left at the end
/// is what nobody knew.
pub(super) struct Container<R> {
    file: R,
    body: u64,
    pub(super) texts: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, TensorInfo>,
}

impl<R: Read + Seek> Container<R> {
    pub(super) fn open(mut file: R, length: u64) -> Outcome<Self> {
        if length > MAX_FILE {
            return Err(format!("the file has {length} bytes, more than the {MAX_FILE} allowed").into());
        }
        let not_safetensors =
            "this is not a safetensors file, or its beginning is damaged; give a model file as it was saved";
        if length < LENGTH {
            return Err(not_safetensors.into());
        }
        let mut bytes = [0; LENGTH as usize];
        file.read_exact(&mut bytes)?;
        let header_length = u64::from_le_bytes(bytes);
        if header_length > MAX_HEADER || header_length > length - LENGTH {
            return Err(not_safetensors.into());
        }
        let mut header = vec![0; header_length as usize];
        file.read_exact(&mut header)?;
        if header.first() != Some(&b'{') {
            return Err(not_safetensors.into());
        }
        let header: Metadata = serde_json::from_slice(&header)?;
        let (found, promised) = (length - LENGTH - header_length, header.data_len() as u64);
        if found != promised {
            return Err(format!(
                "the header promises {promised} bytes of tensors and {found} follow; the file is damaged"
            )
            .into());
        }
        let texts: BTreeMap<String, String> = header.metadata().clone().into_iter().flatten().collect();
        let tensors: BTreeMap<_, _> = header.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        check_names(texts.keys().chain(tensors.keys()), tensors.len())?;
        Ok(Self { file, body: LENGTH + header_length, texts, tensors })
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, key: &str) -> Outcome<String> {
        self.texts.remove(key).ok_or_else(|| format!("the header lacks the text `{key}`; the file is damaged").into())
    }

    /// A text that must be there and be a number, or another thing that can be parsed.
    pub(super) fn parsed<V: std::str::FromStr>(&mut self, key: &str) -> Outcome<V> {
        let text = self.text(key)?;
        let refused = |_| format!("the text `{key}` is not what it should be; the file is damaged").into();
        text.parse().map_err(refused)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The type of a tensor's numbers, if it is there.
    pub(super) fn dtype(&self, name: &str) -> Option<Dtype> {
        self.tensors.get(name).map(|info| info.dtype)
    }

    /// A matrix of the scalars that were asked for, whose columns are the rows of the tensor.
    pub(super) fn scalars<T: Scalar>(&mut self, name: &str) -> Outcome<(Vec<T>, [usize; 2])> {
        let (info, [rows, columns]) = self.matrix(name, scalar_dtype::<T>())?;
        let values = if info.dtype == Dtype::F32 {
            self.read(&info, |bytes| T::from_f64(f32::from_le_bytes(bytes).into()))?
        } else {
            self.read(&info, |bytes| T::from_f64(f64::from_le_bytes(bytes)))?
        };
        Ok((values, [rows, columns]))
    }

    /// A matrix of halves, as their bits.
    pub(super) fn halves(&mut self, name: &str) -> Outcome<(Vec<u16>, [usize; 2])> {
        let (info, size) = self.matrix(name, Dtype::F16)?;
        Ok((self.read(&info, u16::from_le_bytes)?, size))
    }

    /// A matrix of bytes.
    pub(super) fn bytes(&mut self, name: &str) -> Outcome<(Vec<i8>, [usize; 2])> {
        let (info, size) = self.matrix(name, Dtype::I8)?;
        Ok((self.read(&info, i8::from_le_bytes)?, size))
    }

    /// A list of finite reals.
    pub(super) fn reals(&mut self, name: &str) -> Outcome<Vec<f64>> {
        let info = self.list(name, Dtype::F64)?;
        let values = self.read(&info, f64::from_le_bytes)?;
        match values.iter().position(|value| !value.is_finite()) {
            Some(place) => Err(format!("the tensor `{name}` holds a NaN or infinite value at {place}").into()),
            None => Ok(values),
        }
    }

    /// A list of whole numbers that this machine can count to.
    pub(super) fn counts(&mut self, name: &str) -> Outcome<Vec<usize>> {
        let info = self.list(name, Dtype::U64)?;
        let values = self.read(&info, u64::from_le_bytes)?;
        let counts: Option<Vec<usize>> = values.into_iter().map(|value| usize::try_from(value).ok()).collect();
        counts.ok_or_else(|| format!("the tensor `{name}` holds a number that is too large").into())
    }

    /// Refuses a file that holds more than was taken.
    pub(super) fn finish(self) -> Outcome<()> {
        let left = self.tensors.keys().next().map(|name| ("tensor", name));
        match left.or_else(|| self.texts.keys().next().map(|key| ("text", key))) {
            Some((what, name)) => {
                Err(format!("there is no place for the {what} {name:?} in a model of this kind").into())
            }
            None => Ok(()),
        }
    }

    /// A tensor of two dimensions, and its rows and columns as those of our matrices.
    fn matrix(&mut self, name: &str, dtype: Dtype) -> Outcome<(TensorInfo, [usize; 2])> {
        let info = self.take(name, dtype)?;
        match info.shape[..] {
            [columns, rows] => Ok((info, [rows, columns])),
            _ => Err(format!("the tensor `{name}` has {} dimensions, not 2", info.shape.len()).into()),
        }
    }

    fn list(&mut self, name: &str, dtype: Dtype) -> Outcome<TensorInfo> {
        let info = self.take(name, dtype)?;
        match info.shape.len() {
            1 => Ok(info),
            dimensions => Err(format!("the tensor `{name}` has {dimensions} dimensions, not 1").into()),
        }
    }

    fn take(&mut self, name: &str, dtype: Dtype) -> Outcome<TensorInfo> {
        match self.tensors.remove(name) {
            Some(info) if info.dtype == dtype => Ok(info),
            Some(info) => Err(format!("the tensor `{name}` is of type {}, not {dtype}", info.dtype).into()),
            None => Err(format!("the tensor `{name}` is missing").into()),
        }
    }

    /// Reads a tensor; that it lies within the file is known.
    fn read<const SIZE: usize, V>(&mut self, info: &TensorInfo, convert: impl Fn([u8; SIZE]) -> V) -> Outcome<Vec<V>> {
        let (start, end) = info.data_offsets;
        let mut left = end - start;
        let mut values = Vec::new();
        let no_memory = |_| format!("there is not enough memory for {left} bytes");
        values.try_reserve_exact(left / SIZE).map_err(no_memory)?;
        self.file.seek(SeekFrom::Start(self.body + start as u64))?;
        let mut chunk = vec![0; CHUNK.min(left)];
        while left > 0 {
            let part = &mut chunk[..CHUNK.min(left)];
            self.file.read_exact(part)?;
            values.extend(part.as_chunks().0.iter().map(|&bytes| convert(bytes)));
            left -= part.len();
        }
        Ok(values)
    }
}

pub(super) fn scalar_dtype<T: Scalar>() -> Dtype {
    if size_of::<T>() == size_of::<f32>() { Dtype::F32 } else { Dtype::F64 }
}

pub(super) fn check_names<'a>(mut names: impl Iterator<Item = &'a String>, n_tensors: usize) -> Outcome<()> {
    if n_tensors > MAX_TENSORS {
        return Err(format!("{n_tensors} tensors are more than the {MAX_TENSORS} allowed").into());
    }
    match names.find(|name| name.len() > MAX_NAME) {
        Some(name) => Err(format!("a name of {} bytes is longer than the {MAX_NAME} allowed", name.len()).into()),
        None => Ok(()),
    }
}
