//! Writing the container: named tensors and a map of texts as a safetensors file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;

use crate::scalar::Scalar;

use super::container::{LENGTH, MAX_FILE, MAX_HEADER, check_names, scalar_dtype};
use crate::reason::Outcome;

/// The numbers of a tensor to be written.
pub(super) enum Values<'a, T: Clone> {
    Scalars(Cow<'a, [T]>),
    Reals(Vec<f64>),
    Counts(Vec<u64>),
    /// The bits of halves.
    Halves(&'a [u16]),
    Bytes(&'a [i8]),
}

/// What is to be written.
pub(super) struct Contents<'a, T: Clone> {
    texts: BTreeMap<String, String>,
    tensors: Vec<(String, Vec<usize>, Values<'a, T>)>,
}

impl<'a, T: Scalar> Contents<'a, T> {
    pub(super) fn new() -> Self {
        Self { texts: BTreeMap::new(), tensors: Vec::new() }
    }

    pub(super) fn text(&mut self, key: impl Into<String>, value: &(impl ToString + ?Sized)) {
        self.texts.insert(key.into(), value.to_string());
    }

    pub(super) fn tensor(&mut self, name: impl Into<String>, shape: &[usize], values: Values<'a, T>) {
        // Eight-byte numbers come first, so that every tensor is aligned for whoever maps the file.
        let place = self.tensors.partition_point(|(_, _, other)| other.number_size() >= values.number_size());
        self.tensors.insert(place, (name.into(), shape.to_vec(), values));
    }

    /// The header with its length in front. Written by hand, because the order of the crate's own map is random and the
    /// same model must give the same bytes.
    pub(super) fn header(&self) -> Outcome<Vec<u8>> {
        let texts = serde_json::to_string(&self.texts)?;
        let mut header = format!("{{\"__metadata__\":{texts}");
        let mut end = 0;
        for (name, shape, values) in &self.tensors {
            let start = end;
            end += values.count() * values.number_size();
            let info = TensorInfo { dtype: values.dtype(), shape: shape.clone(), data_offsets: (start, end) };
            header.extend([",\"", name, "\":", &serde_json::to_string(&info)?]);
        }
        header.push('}');
        let mut header = header.into_bytes();
        header.resize(header.len().next_multiple_of(LENGTH as usize), b' ');
        check_names(self.texts.keys().chain(self.tensors.iter().map(|(name, _, _)| name)), self.tensors.len())?;
        let length = header.len() as u64;
        if length > MAX_HEADER {
            return Err(
                format!("a header of {length} bytes is more than the {MAX_HEADER} allowed; take fewer models").into()
            );
        }
        if LENGTH + length + end as u64 > MAX_FILE {
            return Err(format!(
                "a file of {end} bytes is more than the {MAX_FILE} allowed; take fewer models or atoms"
            )
            .into());
        }
        Ok([length.to_le_bytes().as_slice(), &header].concat())
    }

    /// What follows the header.
    pub(super) fn write_body(&self, file: &mut dyn Write) -> io::Result<()> {
        for (_, _, values) in &self.tensors {
            match values {
                Values::Scalars(values) if size_of::<T>() == size_of::<f32>() => {
                    values.iter().try_for_each(|value| file.write_all(&(value.to_f64() as f32).to_le_bytes()))?;
                }
                Values::Scalars(values) => {
                    values.iter().try_for_each(|value| file.write_all(&value.to_f64().to_le_bytes()))?;
                }
                Values::Reals(values) => values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?,
                Values::Counts(values) => values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?,
                Values::Halves(values) => values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?,
                Values::Bytes(values) => values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?,
            }
        }
        Ok(())
    }
}

impl<T: Scalar> Values<'_, T> {
    fn dtype(&self) -> Dtype {
        match self {
            Self::Scalars(_) => scalar_dtype::<T>(),
            Self::Reals(_) => Dtype::F64,
            Self::Counts(_) => Dtype::U64,
            Self::Halves(_) => Dtype::F16,
            Self::Bytes(_) => Dtype::I8,
        }
    }

    fn number_size(&self) -> usize {
        self.dtype().bitsize() / 8
    }

    fn count(&self) -> usize {
        match self {
            Self::Scalars(values) => values.len(),
            Self::Reals(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Halves(values) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }
}
