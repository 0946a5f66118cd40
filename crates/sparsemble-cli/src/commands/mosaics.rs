//! The atoms of a model as pictures.

use anyhow::Result;
use sparsemble::image::GrayImage;
use sparsemble::patch::mosaic;
use sparsemble::{MatrixView, Model, Scalar};

use crate::description::Description;

/// The most dictionaries that are shown.
const MOST: usize = 6;

/// One for each of the first dictionaries, with its name; none if the atoms are no square patches.
pub(super) fn mosaics<T: Scalar>(model: &Model<T>) -> Result<Vec<(String, GrayImage)>> {
    let (features, side) = (model.n_features(), model.n_features().isqrt());
    let each = Description::of(model).n_atoms();
    if side < 2 || side * side != features || each == 0 {
        return Ok(Vec::new());
    }
    let atoms = model.atoms();
    let dictionaries = atoms.as_slice().chunks(each * features);
    let count = dictionaries.len();
    let named = |(number, atoms): (usize, &[T])| -> Result<(String, GrayImage)> {
        let n_atoms = atoms.len() / features;
        let name = if count == 1 {
            format!("{n_atoms} atoms")
        } else {
            format!("dictionary {} of {count}, {n_atoms} atoms", number + 1)
        };
        Ok((name, mosaic(MatrixView::from_columns(atoms, features, n_atoms)?, side)?))
    };
    dictionaries.enumerate().take(MOST).map(named).collect()
}
