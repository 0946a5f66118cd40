//! Upscalers to texts and tensors and back.

use std::borrow::Cow;
use std::io::{Read, Seek};

use safetensors::Dtype;

use crate::dictionary::Dictionary;
use crate::ensemble::{AnchoredEnsemble, AnchoredMember, Differences, Maps, Upscaler, UpscalerStage};
use crate::matrix::Matrix;
use crate::reason::Outcome;
use crate::scalar::Scalar;

use super::container::Container;
use super::contents::{Contents, Values};
use super::decode::matrix;
use super::encode::{add_matrix, add_reals};

pub(super) fn add_upscaler<'a, T: Scalar>(contents: &mut Contents<'a, T>, upscaler: &'a Upscaler<T>) -> Outcome<()> {
    contents.text("scale", &upscaler.scale());
    contents.text("stages", &upscaler.stages().len());
    for (v, stage) in upscaler.stages().iter().enumerate() {
        contents.text(format!("stage.{v}.low_side"), &stage.low_side());
        contents.text(format!("stage.{v}.high_side"), &stage.high_side());
        add_reals(contents, &format!("stage.{v}.beta"), stage.ensemble().beta().to_vec())?;
        for (l, member) in stage.ensemble().members().iter().enumerate() {
            add_member(contents, &format!("stage.{v}.member.{l}."), member);
        }
    }
    Ok(())
}

fn add_member<'a, T: Scalar>(contents: &mut Contents<'a, T>, prefix: &str, member: &'a AnchoredMember<T>) {
    let maps = member.maps();
    add_matrix(contents, format!("{prefix}features"), member.features());
    add_matrix(contents, format!("{prefix}anchors"), member.anchors().atoms());
    add_matrix(contents, format!("{prefix}common"), maps.common());
    let (n_atoms, n_outputs) = (maps.n_atoms(), maps.n_outputs());
    let values = match maps.differences() {
        Differences::Full(values) => Values::Scalars(Cow::Borrowed(values)),
        Differences::Half(values) => Values::Halves(values),
        Differences::Byte { values, scales } => {
            let scales = Values::Scalars(Cow::Borrowed(scales.as_slice()));
            contents.tensor(format!("{prefix}scales"), &[n_atoms, n_outputs], scales);
            Values::Bytes(values)
        }
    };
    contents.tensor(format!("{prefix}differences"), &[n_atoms * n_outputs, maps.n_inputs()], values);
}

pub(super) fn upscaler<T: Scalar, R: Read + Seek>(file: &mut Container<R>) -> Outcome<Upscaler<T>> {
    let (scale, n_stages): (usize, usize) = (file.parsed("scale")?, file.parsed("stages")?);
    // A stage that is not there ends it, whatever number the file tells.
    let stages = (0..n_stages).map(|v| stage(file, &format!("stage.{v}."))).collect::<Outcome<Vec<_>>>()?;
    Ok(Upscaler::new(scale, stages)?)
}

fn stage<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<UpscalerStage<T>> {
    let (low_side, high_side) =
        (file.parsed(&format!("{prefix}low_side"))?, file.parsed(&format!("{prefix}high_side"))?);
    let beta = file.reals(&format!("{prefix}beta"))?;
    let members = (0..beta.len()).map(|l| member(file, &format!("{prefix}member.{l}.")));
    let members = members.collect::<Outcome<Vec<_>>>()?;
    Ok(UpscalerStage::new(low_side, high_side, AnchoredEnsemble::new(members, &beta)?)?)
}

fn member<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<AnchoredMember<T>> {
    let features = matrix(file, &format!("{prefix}features"))?;
    let anchors = Dictionary::from_unit_atoms(matrix(file, &format!("{prefix}anchors"))?)?;
    let common: Matrix<T> = matrix(file, &format!("{prefix}common"))?;
    let name = format!("{prefix}differences");
    let (differences, [rows, _]) = match file.dtype(&name) {
        Some(Dtype::F16) => {
            let (values, size) = file.halves(&name)?;
            (Differences::Half(values), size)
        }
        Some(Dtype::I8) => {
            let (values, size) = file.bytes(&name)?;
            let (scales, _) = file.scalars(&format!("{prefix}scales"))?;
            (Differences::Byte { values, scales }, size)
        }
        _ => {
            let (values, size) = file.scalars(&name)?;
            (Differences::Full(values), size)
        }
    };
    if rows != common.rows() {
        return Err(format!("the tensor `{name}` has rows of {rows} numbers, not {}", common.rows()).into());
    }
    Ok(AnchoredMember::new(features, anchors, Maps::from_parts(common, differences)?)?)
}
