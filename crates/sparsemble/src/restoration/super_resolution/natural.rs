//! Upscalers that are part of the library.

use crate::ensemble::Upscaler;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::model_file;

/// By scale, from two on. How they were made is in the folder's README.
const UPSCALERS: [&[u8]; 3] = [
    include_bytes!("../../../models/upscaler-x2.safetensors"),
    include_bytes!("../../../models/upscaler-x3.safetensors"),
    include_bytes!("../../../models/upscaler-x4.safetensors"),
];

/// An upscaler for photographs, by a scale of 2, 3 or 4.
///
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::restoration::super_resolution::natural_upscaler;
///
/// let upscaler = natural_upscaler(3)?;
/// let image = GrayImage::from_fn(Size { width: 24, height: 16 }, |row, column| (9 * row + column) as f64)?;
/// assert_eq!(upscaler.enlarge(&image, Run::default())?.image.size(), Size { width: 72, height: 48 });
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If there is none for this scale.
pub fn natural_upscaler(scale: usize) -> Result<Upscaler<f32>> {
    let Some(bytes) = scale.checked_sub(2).and_then(|place| UPSCALERS.get(place)) else {
        return Err(Error::parameter("scale", scale, "must be 2, 3 or 4"));
    };
    match model_file::decode::<f32>(bytes)?.model {
        Model::Upscaler(upscaler) => Ok(upscaler),
        _ => Err(Error::Model { name: format!("upscaler by {scale}"), reason: "this is no upscaler".into() }),
    }
}
