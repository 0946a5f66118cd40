//! What an ensemble is compared with, timed between its own steps.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::product::{Library, Product, Shape};

/// What is timed between the steps of an ensemble, so that a slow spell of the machine meets both.
pub(crate) enum Beside {
    Nothing,
    /// The product of all atoms and samples.
    Products(Products),
    /// A call of the coder for each dictionary.
    Coder {
        seconds: f64,
    },
}

impl Beside {
    /// Gets ready for what the option says.
    pub(crate) fn new(what: &str, shape: Shape) -> Result<Self> {
        Ok(match what {
            "nothing" => Self::Nothing,
            "coder" => Self::Coder { seconds: 0.0 },
            "products" => Self::Products(Products { product: Product::new(shape), seconds: [0.0; 2] }),
            other => bail!("beside=coder or products, not {other}"),
        })
    }

    /// The seconds by what was timed.
    pub(crate) fn seconds(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Products(Products { seconds: [faer, matrixmultiply], .. }) => {
                json!({ "faer": faer, "matrixmultiply": matrixmultiply })
            }
            Self::Coder { seconds } => json!({ "coder": seconds }),
        }
    }
}

/// The products so far, by each library.
pub(crate) struct Products {
    product: Product<f32>,
    seconds: [f64; 2],
}

impl Products {
    /// Forms the product this many times by each library.
    pub(crate) fn run(&mut self, passes: usize) -> Result<()> {
        for _ in 0..passes {
            for (seconds, library) in self.seconds.iter_mut().zip([Library::Faer, Library::Matrixmultiply]) {
                *seconds += self.product.time(library)?;
            }
        }
        Ok(())
    }
}
