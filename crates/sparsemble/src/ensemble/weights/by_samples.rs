//! The weights of an ensemble for samples: a set for each ("oracle"), or one shared by all (§II-A, §II-B).

use std::ops::Range;

use fearless_simd::dispatch;

use crate::blocks::{Pulse, Run};
use crate::coding::SparseCoder;
use crate::ensemble::Ensemble;
use crate::ensemble::strips::{STRIP, strip};
use crate::error::{Result, expect_size};
use crate::kernels::best_level;
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::{Certificate, MemberGram, WeightConstraint, Weights};

/// The most groups of samples whose products are kept until all are summed, in their order.
const MOST_GROUPS: usize = 256;

/// The best weights of every single sample: they know the sample, hence the name.
///
/// Paper: §II-B.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleWeights {
    /// The constraint they obey.
    pub constraint: WeightConstraint,
    /// β of each sample in a column, L × T.
    pub beta: Matrix<f64>,
    /// What they achieve, for each sample.
    pub certificates: Vec<Certificate>,
}

impl OracleWeights {
    /// The mean of ‖r‖² over the samples: what Fig. 1 of the paper shows.
    pub fn mean_squared_residual(&self) -> f64 {
        self.mean_square(|certificate| certificate.residual)
    }

    /// What they achieve together: root means of the squared norms, and the worst of the rest.
    pub fn certificate(&self) -> Certificate {
        let worst = |value: fn(&Certificate) -> f64| self.certificates.iter().map(value).fold(0.0, f64::max);
        Certificate {
            residual: self.mean_squared_residual().sqrt(),
            best_member: self.mean_square(|certificate| certificate.best_member).sqrt(),
            optimality: worst(|certificate| certificate.optimality),
            rounding: worst(|certificate| certificate.rounding),
        }
    }

    /// Whether the bound of Eq. (7) holds for every single sample.
    pub fn all_hold(&self) -> bool {
        self.certificates.iter().all(Certificate::holds)
    }

    fn mean_square(&self, norm: fn(&Certificate) -> f64) -> f64 {
        let squares: f64 = self.certificates.iter().map(|certificate| norm(certificate).powi(2)).sum();
        squares / (self.certificates.len().max(1) as f64)
    }
}

impl<T: Scalar> Ensemble<T> {
    /// The products of the members' residuals over samples, each counting its mass (all alike if none are given).
    ///
    /// From them come shared weights ([`MemberGram::weights`]) and the error of any weights, those of every
    /// [`truncated`](Ensemble::truncated) ensemble among them, without coding again.
    ///
    /// # Shapes
    /// `samples` N × T is coded; `targets` M × T is what the approximations should be: the same matrix, unless the samples
    /// are degraded.
    ///
    /// # Cost
    /// L calls of the coder, and (L + 1)²M/2 multiply-adds for each sample. Memory is 256·(L + 1)² numbers at most,
    /// whatever T is.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`], if sizes disagree, or if a mass is negative or all are zero.
    pub fn member_gram(
        &self,
        samples: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<MemberGram> {
        (T::instances().member_gram)(self, samples, targets, masses, coder, run)
    }

    /// [`Self::member_gram`]; see [`crate::instances`].
    pub(crate) fn member_gram_here(
        &self,
        samples: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<MemberGram> {
        let masses = Masses::new(masses, samples.columns())?;
        let group = samples.columns().div_ceil(MOST_GROUPS).next_multiple_of(STRIP);
        let groups = self.map_members((samples, targets), group, coder, run, |group| {
            let mut gram = MemberGram::new(self.n_models())?;
            group(&mut |i, target, members| gram.add(masses.of(i), target, members))?;
            Ok(gram)
        })?;
        let mut whole = MemberGram::new(self.n_models())?;
        groups.iter().try_for_each(|group| whole.merge(group))?;
        Ok(whole)
    }

    /// The best weights of every single sample, for each of the constraints, from one coding.
    ///
    /// # Shapes
    /// As for [`member_gram`](Self::member_gram); the weights are L × T for each constraint.
    ///
    /// # Cost
    /// As for [`member_gram`](Self::member_gram), plus [`MemberGram::weights`] for each sample and constraint.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`], or if sizes disagree.
    ///
    /// # Example
    /// ```
    /// use sparsemble::coding::OneSparse;
    /// use sparsemble::dictionary::Examples;
    /// use sparsemble::ensemble::{Averaging, WeightConstraint};
    /// use sparsemble::{Matrix, Run};
    ///
    /// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
    /// let (view, coder, learner) = (samples.view(), OneSparse::default(), Examples { n_atoms: 3 });
    /// let ensemble = Averaging { n_models: 5, ..Averaging::new(&learner) }.fit(view, Run::default())?;
    /// let all = ensemble.oracle_weights(view, view, &WeightConstraint::ALL, &coder, Run::default())?;
    /// for case in &all {
    ///     assert!(case.all_hold()); // ‖r‖ ≤ ‖r_min‖, sample by sample
    /// }
    /// assert!(all[0].mean_squared_residual() <= all[3].mean_squared_residual());
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    ///
    /// Paper: §II-A, §II-B; Fig. 1.
    pub fn oracle_weights(
        &self,
        samples: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        constraints: &[WeightConstraint],
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Vec<OracleWeights>> {
        (T::instances().oracle_weights)(self, samples, targets, constraints, coder, run)
    }

    /// [`Self::oracle_weights`]; see [`crate::instances`].
    pub(crate) fn oracle_weights_here(
        &self,
        samples: MatrixView<'_, T>,
        targets: MatrixView<'_, T>,
        constraints: &[WeightConstraint],
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Vec<OracleWeights>> {
        let strips = self.map_members((samples, targets), STRIP, coder, run, |strip| {
            let mut weights: Vec<Vec<Weights>> = vec![Vec::new(); constraints.len()];
            strip(&mut |_, target, members| {
                let mut gram = MemberGram::new(self.n_models())?;
                gram.add(1.0, target, members)?;
                let solved = constraints.iter().map(|&constraint| gram.weights(constraint));
                weights.iter_mut().zip(solved).for_each(|(all, one)| all.push(one));
                Ok(())
            })?;
            Ok(weights)
        })?;
        let of_constraint = |number: usize| strips.iter().flat_map(move |strip| &strip[number]);
        let gather = |(number, &constraint): (usize, &WeightConstraint)| {
            let beta = of_constraint(number).flat_map(|weights| weights.beta.iter().copied()).collect();
            let certificates = of_constraint(number).map(|weights| weights.certificate).collect();
            let beta = Matrix::from_columns(beta, self.n_models(), samples.columns())?;
            Ok(OracleWeights { constraint, beta, certificates })
        };
        constraints.iter().enumerate().map(gather).collect()
    }

    /// Cuts the samples into groups of a size that is a multiple of [`STRIP`], and gives `work` a function that codes a group
    /// and walks through its samples: number, target, and the members' approximations in columns.
    fn map_members<R: Send>(
        &self,
        (samples, targets): (MatrixView<'_, T>, MatrixView<'_, T>),
        group: usize,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
        work: impl Fn(&Walk<'_, T>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        expect_size("samples: number of features (that of the ensemble)", self.n_inputs(), samples.rows())?;
        expect_size("targets: number of features (that of the approximations)", self.n_features(), targets.rows())?;
        expect_size("targets: number of samples", samples.columns(), targets.columns())?;
        let offsets = self.offsets();
        let walk = |range: Range<usize>, run: Run<'_>, visit: &mut Visit<'_, T>| {
            let (mut members, mut target) = (self.room(self.n_models()), vec![T::ZERO; self.n_features()]);
            for start in range.clone().step_by(STRIP) {
                let range = start..(start + STRIP).min(range.end);
                let codes = self.encode(&strip(samples, range.clone())?, coder, run)?.codes;
                for (slot, sample) in range.enumerate() {
                    targets.copy_column(sample, &mut target);
                    let code = (&codes, slot);
                    dispatch!(best_level(), simd => self.members_of(simd, code, &offsets, &mut members));
                    visit(sample, &target, &members)?;
                }
            }
            Ok(())
        };
        let of_group = |(): &mut (), range: Range<usize>, pulse: &Pulse<'_>| {
            pulse.within(|run| work(&|visit| walk(range.clone(), run, visit)))
        };
        run.map_long_blocks(samples.columns(), group, || (), of_group)
    }
}

/// What is done with one sample: its number, its target and the members' approximations.
type Visit<'a, T> = dyn FnMut(usize, &[T], &Matrix<T>) -> Result<()> + 'a;
/// A walk through the samples of a strip.
type Walk<'a, T> = dyn Fn(&mut Visit<'_, T>) -> Result<()> + 'a;
