//! Degradations as text: one description for the command line, Python and files.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::image::Size;
use crate::scalar::Scalar;
use crate::spec::{Spec, unless, write};

use super::blur::decimated;
use super::{
    Blur, ContinuedBlocks, Degradation, Dense, Identity, Mask, PerBlock, Projection, ProjectionKind, expect_countable,
};

/// What Φ is, before it is known what it acts on.
///
/// As text it is its name and what differs from the defaults, and is read back by [`str::parse`]:
///
/// | text | Φ |
/// | --- | --- |
/// | `identity` | [`Identity`] |
/// | `gaussian:measurements=16,seed=5` | [`Projection`]; also `orthonormal` and `bernoulli` |
/// | `mask:missing=0.5,seed=3` | [`Mask::random`] |
/// | `blur:sigma=1.6` | [`Blur::gaussian`] |
/// | `blur:sigma=1.6,decimate=2` | the same, [`decimated`](Blur::decimated) |
///
/// The seed is 0 if it is not given.
///
/// # Example
/// ```
/// use sparsemble::degradation::{Degradation, Operator};
/// use sparsemble::image::Size;
///
/// let operator: Operator = "blur:sigma=1.6,decimate=2".parse()?;
/// let patch = operator.of_samples::<f32>(64)?; // patches of 8 × 8 pixels
/// assert_eq!(patch.n_measurements(), 16);
/// let picture = operator.of_image::<f64>(Size { width: 100, height: 60 }, 8)?;
/// assert_eq!(picture.n_measurements(), 50 * 30);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV, Eq. (14).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// Nothing happened.
    Identity,
    /// Few random combinations of the features.
    Projection(Projection),
    /// Some features are missing.
    Mask {
        /// The share that is missing, less than 1.
        missing: f64,
        /// Which of them.
        seed: u64,
    },
    /// A Gaussian blur.
    Blur {
        /// The standard deviation, in pixels.
        sigma: f64,
        /// Every how many pixels one is kept: 1 for all.
        decimate: usize,
    },
}

impl Operator {
    /// Φ of samples with this many features. To a blur they are square patches, row by row.
    ///
    /// # Errors
    /// If there is no feature, a setting is out of its range, or a blur is given samples that are no square patches.
    pub fn of_samples<T: Scalar>(&self, n_features: usize) -> Result<Box<dyn Degradation<T>>> {
        if let Self::Projection(projection) = self {
            return Ok(Box::new(projection.matrix(n_features)?));
        }
        let side = n_features.isqrt();
        let square = side * side == n_features;
        if matches!(self, Self::Blur { .. }) && !square {
            let reason = format!("acts on square patches, and {n_features} features are none");
            return Err(Error::parameter("phi", self, reason));
        }
        // To the others it is all one how the features lie.
        let (width, height) = if square { (side, side) } else { (n_features, 1) };
        self.of_image(Size { width, height }, side)
    }

    /// Φ of pictures of this size. A projection measures each block of `block_side` × `block_side` pixels by itself
    /// ([`PerBlock`], or [`ContinuedBlocks`] for pictures that end within a block); the others act on the picture as a
    /// whole and have no use for the side.
    ///
    /// # Errors
    /// If there is no pixel, there are more than can be counted, or a setting is out of its range.
    pub fn of_image<T: Scalar>(&self, size: Size, block_side: usize) -> Result<Box<dyn Degradation<T>>> {
        expect_countable(size)?;
        let n_features = size.pixels();
        if n_features == 0 {
            return Err(Error::Empty { what: "image", unit: "pixel" });
        }
        match *self {
            Self::Identity => Ok(Box::new(Identity::new(n_features))),
            Self::Projection(projection) => {
                let patch = projection.matrix(block_side.saturating_mul(block_side))?;
                let whole = size.width.is_multiple_of(block_side) && size.height.is_multiple_of(block_side);
                if whole {
                    return Ok(Box::new(PerBlock::new(size, block_side, &patch)?));
                }
                Ok(Box::new(ContinuedBlocks::new(size, block_side, &patch)?))
            }
            Self::Mask { missing, seed } => Ok(Box::new(Mask::random(n_features, missing, seed)?)),
            Self::Blur { sigma, decimate } => Ok(Box::new(Blur::gaussian(size, sigma)?.decimated(decimate)?)),
        }
    }

    /// The size of what is measured of pictures of this size, if that is a picture.
    pub fn measured_size(&self, size: Size) -> Option<Size> {
        match *self {
            Self::Identity => Some(size),
            Self::Blur { decimate, .. } => Some(decimated(size, decimate.max(1))),
            Self::Projection(_) | Self::Mask { .. } => None,
        }
    }

    /// The matrix of Φ for samples with this many features.
    ///
    /// # Errors
    /// As [`of_samples`](Self::of_samples).
    pub fn matrix<T: Scalar>(&self, n_features: usize) -> Result<Dense<T>> {
        Dense::of(self.of_samples(n_features)?.as_ref())
    }
}

impl From<Projection> for Operator {
    fn from(projection: Projection) -> Self {
        Self::Projection(projection)
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Identity => f.write_str("identity"),
            Self::Projection(projection) => projection.fmt(f),
            Self::Mask { missing, seed } => {
                write(f, "mask", [Some(format!("missing={missing}")), unless(&0, "seed", seed)])
            }
            Self::Blur { sigma, decimate } => {
                write(f, "blur", [Some(format!("sigma={sigma}")), unless(&1, "decimate", decimate)])
            }
        }
    }
}

impl FromStr for Operator {
    type Err = Error;

    /// # Errors
    /// If the text names no operator, lacks a setting or has one the operator does not know.
    fn from_str(text: &str) -> Result<Self> {
        let mut spec = Spec::parse("phi", text);
        let operator = match spec.name {
            "identity" => Self::Identity,
            "mask" => Self::Mask {
                missing: needed(&mut spec, "missing", "mask:missing=0.5")?,
                seed: spec.value("seed")?.unwrap_or(0),
            },
            "blur" => Self::Blur {
                sigma: needed(&mut spec, "sigma", "blur:sigma=1.6")?,
                decimate: spec.value("decimate")?.unwrap_or(1),
            },
            name => match ProjectionKind::named(name) {
                Some(kind) => Self::Projection(Projection {
                    kind,
                    n_measurements: needed(&mut spec, "measurements", "gaussian:measurements=16")?,
                    seed: spec.value("seed")?.unwrap_or(0),
                }),
                None => {
                    return Err(spec.refuse(
                        "is not known; write identity, gaussian:measurements=16, orthonormal:…, bernoulli:…, \
                         mask:missing=0.5, blur:sigma=1.6 or blur:sigma=1.6,decimate=2",
                    ));
                }
            },
        };
        spec.finish()?;
        Ok(operator)
    }
}

/// The value of a setting that has no default.
fn needed<V: FromStr>(spec: &mut Spec<'_>, key: &'static str, example: &str) -> Result<V> {
    let value = spec.value(key)?;
    value.ok_or_else(|| spec.refuse(format!("needs {key}, as in {example}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_operator_are_the_same_thing() {
        for (text, operator) in [
            ("identity", Operator::Identity),
            (
                "bernoulli:measurements=8,seed=3",
                Projection { kind: ProjectionKind::Bernoulli, n_measurements: 8, seed: 3 }.into(),
            ),
            ("mask:missing=0.5,seed=3", Operator::Mask { missing: 0.5, seed: 3 }),
            ("mask:missing=0.25", Operator::Mask { missing: 0.25, seed: 0 }),
            ("blur:sigma=1.6", Operator::Blur { sigma: 1.6, decimate: 1 }),
            ("blur:sigma=1.6,decimate=2", Operator::Blur { sigma: 1.6, decimate: 2 }),
        ] {
            assert_eq!(text.parse::<Operator>().unwrap(), operator);
            assert_eq!(operator.to_string(), text);
        }
    }

    #[test]
    fn a_text_that_is_not_understood_is_refused_with_the_fix() {
        for (text, part) in [
            ("haar:measurements=3", "is not known; write identity"),
            ("identity:seed=3", "`identity` has no setting `seed`"),
            ("gaussian", "needs measurements, as in gaussian:measurements=16"),
            ("gaussian:measurements=few", "`measurements` needs a number"),
            ("gaussian:measurements=3,rows=4", "has no setting `rows`"),
            ("mask:seed=2", "needs missing, as in mask:missing=0.5"),
            ("blur", "needs sigma"),
            ("blur:sigma=1,decimate=-2", "`decimate` needs a number"),
        ] {
            let message = text.parse::<Operator>().unwrap_err().to_string();
            assert!(message.contains(part) && message.contains(text), "{message}");
        }
    }

    #[test]
    fn operators_are_built_for_what_they_act_on() {
        let image = Size { width: 24, height: 16 };
        for (text, of_patch, of_image) in [
            ("identity", 64, 384),
            ("orthonormal:measurements=16", 16, 6 * 16),
            ("mask:missing=0.5", 32, 192),
            ("blur:sigma=1.6", 64, 384),
            ("blur:sigma=1.6,decimate=3", 9, 8 * 6),
        ] {
            let operator: Operator = text.parse().unwrap();
            let (patch, picture) =
                (operator.of_samples::<f32>(64).unwrap(), operator.of_image::<f32>(image, 8).unwrap());
            assert_eq!([patch.n_features(), patch.n_measurements()], [64, of_patch], "{text}");
            assert_eq!([picture.n_features(), picture.n_measurements()], [384, of_image], "{text}");
            let pixels = operator.measured_size(image).map(|size| size.width * size.height);
            assert!(pixels.is_none_or(|pixels| pixels == of_image), "{text}");
            let (matrix, y) = (operator.matrix::<f32>(64).unwrap(), [(); 64].map(|()| 0.5));
            let mut measured = [vec![0.0; of_patch], vec![1.0; of_patch]];
            patch.apply(&y, &mut measured[0]);
            matrix.apply(&y, &mut measured[1]);
            measured[0].iter().zip(&measured[1]).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{text}"));
        }
    }

    #[test]
    fn what_an_operator_cannot_act_on_is_refused() {
        let message = |text: &str, n_features| {
            text.parse::<Operator>().unwrap().of_samples::<f64>(n_features).unwrap_err().to_string()
        };
        assert!(message("blur:sigma=1", 60).contains("square patches, and 60 features are none"));
        assert!(message("blur:sigma=0", 64).contains("sigma"));
        assert!(message("blur:sigma=1,decimate=0", 64).contains("decimate"));
        assert!(message("mask:missing=1", 64).contains("missing"));
        assert!(message("orthonormal:measurements=65", 64).contains("at most the number of features"));
        for text in ["identity", "mask:missing=0", "blur:sigma=1", "gaussian:measurements=1"] {
            assert!(message(text, 0).contains("empty"), "{text}");
        }
        let operator: Operator = "gaussian:measurements=2".parse().unwrap();
        // Pictures that end within a block are continued.
        let odd = operator.of_image::<f64>(Size { width: 12, height: 8 }, 8).unwrap();
        assert_eq!([odd.n_features(), odd.n_measurements()], [96, 4]);
        assert!(operator.of_image::<f64>(Size { width: 8, height: 8 }, 0).is_err());
        let huge = Size { width: 1 << (usize::BITS / 2 + 1), height: 1 << (usize::BITS / 2 + 1) };
        for text in ["identity", "mask:missing=0.5", "blur:sigma=1", "orthonormal:measurements=4"] {
            let refused = text.parse::<Operator>().unwrap().of_image::<f64>(huge, 8).unwrap_err().to_string();
            assert!(refused.contains("larger than any picture"), "{text}: {refused}");
        }
    }
}
