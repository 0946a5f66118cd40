//! stub
use crate::scalar::Scalar;
use super::*;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Momentum { None, Nesterov }
#[derive(Debug, Clone, PartialEq)]
pub struct Fista { pub lambda: f64, pub momentum: Momentum, pub nonnegative: bool, pub tolerance: f64, pub max_iterations: usize }
impl<T: Scalar> SparseCoder<T> for Fista { fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> { OneSparse::default().encode(basis, samples, run) } }
