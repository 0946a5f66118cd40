//! stub
use crate::scalar::Scalar;
use super::*;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PursuitKind { Matching, Orthogonal, OrderRecursive }
#[derive(Debug, Clone, PartialEq)]
pub struct Pursuit { pub kind: PursuitKind, pub sparsity: Option<usize>, pub error: Option<f64> }
impl<T: Scalar> SparseCoder<T> for Pursuit { fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> { OneSparse::default().encode(basis, samples, run) } }
