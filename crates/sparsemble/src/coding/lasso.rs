//! stub
use crate::scalar::Scalar;
use super::*;
#[derive(Debug, Clone, PartialEq)]
pub struct Lasso { pub penalty: Penalty, pub nonnegative: bool, pub atom_weights: Option<Vec<f64>>, pub tolerance: f64, pub max_rounds: usize }
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty { Lambda(f64), Relative(f64), Error(f64), L1Norm(f64) }
impl Lasso { pub fn lambda(lambda: f64) -> Self { Self { penalty: Penalty::Lambda(lambda), nonnegative: false, atom_weights: None, tolerance: 1e-6, max_rounds: 100 } } }
impl<T: Scalar> SparseCoder<T> for Lasso { fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> { OneSparse::default().encode(basis, samples, run) } }
pub fn lambda_max<T: Scalar>(_basis: &CodingBasis<T>, _samples: &Samples<'_, T>, _run: Run<'_>) -> Result<Vec<f64>> { todo!() }
