//! Upscalers to texts and tensors and back.

use std::borrow::Cow;
use std::io::{Read, Seek};

use safetensors::Dtype;

use crate::dictionary::Dictionary;
use crate::ensemble::{AnchoredEnsemble, AnchoredMember, Frame, Kept, Maps, Upscaler, UpscalerStage};
use crate::reason::Outcome;
use crate::scalar::Scalar;

use super::container::Container;
use super::contents::{Contents, Values};
use super::decode::matrix;
use super::encode::{add_matrix, add_reals};

/// The tensors of a stage's frame.
const FRAME: [&str; 4] = ["common", "features", "directions", "outputs"];

pub(super) fn add_upscaler<'a, T: Scalar>(contents: &mut Contents<'a, T>, upscaler: &'a Upscaler<T>) -> Outcome<()> {
    contents.text("scale", &upscaler.scale());
    contents.text("stages", &upscaler.stages().len());
    for (v, stage) in upscaler.stages().iter().enumerate() {
        let prefix = format!("stage.{v}.");
        contents.text(format!("{prefix}low_side"), &stage.low_side());
        contents.text(format!("{prefix}high_side"), &stage.high_side());
        let (ensemble, frame) = (stage.ensemble(), stage.ensemble().frame());
        let matrices = [frame.common(), frame.features(), frame.directions(), frame.outputs()];
        for (name, matrix) in FRAME.into_iter().zip(matrices) {
            add_matrix(contents, format!("{prefix}{name}"), matrix);
        }
        add_reals(contents, &format!("{prefix}beta"), ensemble.beta().to_vec())?;
        for (l, member) in ensemble.members().iter().enumerate() {
            add_member(contents, &format!("{prefix}member.{l}."), member);
        }
    }
    Ok(())
}

fn add_member<'a, T: Scalar>(contents: &mut Contents<'a, T>, prefix: &str, member: &'a AnchoredMember<T>) {
    let maps = member.maps();
    add_matrix(contents, format!("{prefix}anchors"), member.anchors().atoms());
    let (n_atoms, n_outputs) = (maps.n_atoms(), maps.n_outputs());
    let values = match maps.kept() {
        Kept::Full(values) => Values::Scalars(Cow::Borrowed(values)),
        Kept::Half(values) => Values::Halves(values),
        Kept::Byte { values, scales } => {
            let scales = Values::Scalars(Cow::Borrowed(scales.as_slice()));
            contents.tensor(format!("{prefix}scales"), &[n_atoms, n_outputs], scales);
            Values::Bytes(values)
        }
    };
    contents.tensor(format!("{prefix}maps"), &[n_atoms * n_outputs, maps.n_inputs()], values);
}

pub(super) fn upscaler<T: Scalar, R: Read + Seek>(file: &mut Container<R>) -> Outcome<Upscaler<T>> {
    let (scale, n_stages): (usize, usize) = (file.parsed("scale")?, file.parsed("stages")?);
    // A stage that is not there ends it, whatever number the file tells.
    let stages = (0..n_stages).map(|v| stage(file, &format!("stage.{v}."))).collect::<Outcome<Vec<_>>>()?;
    Ok(Upscaler::new(scale, stages)?)
}

fn stage<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<UpscalerStage<T>> {
    let low_side = file.parsed(&format!("{prefix}low_side"))?;
    let high_side = file.parsed(&format!("{prefix}high_side"))?;
    let mut part = |name: &str| matrix(file, &format!("{prefix}{name}"));
    let [common, features, directions, outputs] = FRAME;
    let frame = Frame::new(part(common)?, part(features)?, part(directions)?, part(outputs)?)?;
    let beta = file.reals(&format!("{prefix}beta"))?;
    let n_outputs = frame.outputs().columns();
    let members = (0..beta.len()).map(|l| member(file, &format!("{prefix}member.{l}."), n_outputs));
    let members = members.collect::<Outcome<Vec<_>>>()?;
    Ok(UpscalerStage::new(low_side, high_side, AnchoredEnsemble::new(frame, members, &beta)?)?)
}

fn member<T: Scalar, R: Read + Seek>(
    file: &mut Container<R>,
    prefix: &str,
    n_outputs: usize,
) -> Outcome<AnchoredMember<T>> {
    let anchors = Dictionary::from_unit_atoms(matrix(file, &format!("{prefix}anchors"))?)?;
    let name = format!("{prefix}maps");
    let (kept, [n_inputs, _]) = match file.dtype(&name) {
        Some(Dtype::F16) => {
            let (values, size) = file.halves(&name)?;
            (Kept::Half(values), size)
        }
        Some(Dtype::I8) => {
            let (values, size) = file.bytes(&name)?;
            let (scales, _) = file.scalars(&format!("{prefix}scales"))?;
            (Kept::Byte { values, scales }, size)
        }
        _ => {
            let (values, size) = file.scalars(&name)?;
            (Kept::Full(values), size)
        }
    };
    Ok(AnchoredMember::new(anchors, Maps::from_parts((n_inputs, n_outputs), kept)?)?)
}
