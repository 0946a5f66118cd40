//! Samples made comparable before they are clustered: centred, scaled, of unit norm (§V).

use std::fmt::{Display, Formatter};
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use crate::blocks::Run;
use crate::dictionary::normalise;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::features::{Features, RangeRatio};

/// Samples a thread prepares at a time.
const BLOCK: usize = 512;

/// How samples are made comparable.
///
/// | field | default | purpose |
/// | --- | --- | --- |
/// | `centre` | the mean of the data | what is subtracted, see [`Centre`] |
/// | `scale` | automatic | what features are divided by, see [`Scaling`] |
/// | `unit` | `true` | whether each sample then gets unit norm |
///
/// The steps are taken in the order centre of the data, scale, mean of the sample, unit norm. A sample that is zero
/// stays zero. The paper centres and normalises and does not say by which mean; it does not scale.
///
/// # Shapes
/// M × T in and out.
///
/// # Cost
/// Two passes over the samples (three for the deviations), and memory for the prepared samples.
///
/// # Errors
/// If there is no sample or no feature, a value is not finite, or a prepared one would not be; if there is not one mass for each
/// sample, none negative, with a positive sum.
///
/// # Example
/// ```
/// use sparsemble::clustering::{Preparation, Scaling};
/// use sparsemble::{Matrix, Run};
///
/// // The second feature is a hundred times the first, so the automatic choice is to divide by the ranges.
/// let samples = Matrix::from_columns(vec![1.0, 300.0, 3.0, 100.0, 2.0, 200.0], 2, 3)?;
/// let prepared = Preparation::default().prepare(samples.view(), None, Run::default())?;
/// assert_eq!(prepared.scale, Scaling::Range);
/// assert_eq!(prepared.samples.column(2), [0.0, 0.0]); // this one is the mean
/// assert!((prepared.samples.column(0)[1] - 0.5_f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V (data "preprocessed by centering and normalizing to unit norm").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// What is subtracted.
    pub centre: Centre,
    /// What each feature is divided by.
    pub scale: Scaling,
    /// Whether each sample gets unit norm.
    pub unit: bool,
}

/// What is subtracted from the samples. As text: `none`, `data` or `sample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centre {
    /// Nothing.
    None,
    /// The mean of all samples.
    Data,
    /// Each sample's own mean over its features.
    Sample,
}

/// What each feature is divided by; one that is constant is not divided. As text: `none`, `range`, `deviation` or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Nothing.
    None,
    /// The difference of its largest and its least value.
    Range,
    /// Its standard deviation.
    Deviation,
    /// [`Range`](Self::Range) where the features are of different kinds, nothing where they are of one; told apart by
    /// their ranges alone, see [`Prepared::ranges`].
    Automatic,
}

/// Prepared samples, and what was done to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared<T> {
    /// The samples, M × T.
    pub samples: Matrix<T>,
    /// What the features were divided by; never [`Scaling::Automatic`].
    pub scale: Scaling,
    /// What the automatic choice was made by; `None` if all features are constant.
    pub ranges: Option<RangeRatio>,
    /// Samples that are zero: they have no direction.
    pub zero_samples: usize,
}

impl Default for Preparation {
    fn default() -> Self {
        Self { centre: Centre::Data, scale: Scaling::Automatic, unit: true }
    }
}

impl Preparation {
    /// Prepares a copy of the samples. Means and deviations are those of as many equal samples as the masses say.
    ///
    /// # Errors
    /// See [`Preparation`].
    pub fn prepare<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<Prepared<T>> {
        (T::instances().preparation)(*self, samples, masses, run)
    }

    /// [`Self::prepare`]; see [`crate::instances`].
    pub(crate) fn prepare_here<T: Scalar>(
        self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<Prepared<T>> {
        let masses = Masses::new(masses, samples.columns())?;
        let parts = [0..1, 1..2, 2..3].map(|part| run.passes(part, 3, samples.columns()));
        let features = Features::of(samples, masses, parts[0])?;
        let ranges = features.range_ratio();
        let scale = match self.scale {
            Scaling::Automatic => choose(ranges),
            chosen => chosen,
        };
        let step = Step {
            means: (self.centre == Centre::Data).then(|| features.means()),
            divisors: match scale {
                Scaling::None | Scaling::Automatic => None,
                Scaling::Range => Some(features.ranges()),
                Scaling::Deviation => Some(features.deviations(samples, masses, parts[1])?),
            },
            own_mean: self.centre == Centre::Sample,
            unit: self.unit,
        };
        let mut prepared = Matrix::zeros(samples.rows(), samples.columns());
        let zero_samples = step.apply(samples, &mut prepared, parts[2])?;
        Ok(Prepared { samples: prepared, scale, ranges, zero_samples })
    }
}

/// If the largest range is more than this many times the lower quartile, features are taken to be of different kinds: a
/// quarter of them or more would hardly count beside the largest.
const SAME_KIND: f64 = 10.0;

/// The automatic choice. It sees no labels and nothing of the samples but the ranges of their features.
fn choose(ranges: Option<RangeRatio>) -> Scaling {
    if ranges.is_some_and(|ranges| ranges.ratio() > SAME_KIND) { Scaling::Range } else { Scaling::None }
}

/// What is done to each sample.
struct Step {
    means: Option<Vec<f64>>,
    divisors: Option<Vec<f64>>,
    own_mean: bool,
    unit: bool,
}

impl Step {
    /// Fills `out`, and counts the samples that are zero.
    fn apply<T: Scalar>(&self, samples: MatrixView<'_, T>, out: &mut Matrix<T>, run: Run<'_>) -> Result<usize> {
        let rows = samples.rows();
        let pieces: Vec<_> = out.as_mut_slice().chunks_mut(BLOCK * rows).map(Mutex::new).collect();
        let scratch = || (vec![T::ZERO; rows], vec![0.0; rows]);
        let work = |(column, values): &mut (Vec<T>, Vec<f64>), range: Range<usize>| {
            let mut piece = pieces[range.start / BLOCK].lock().unwrap_or_else(PoisonError::into_inner);
            let mut zeros = 0;
            for (i, out) in range.zip(piece.chunks_exact_mut(rows)) {
                samples.copy_column(i, column);
                values.iter_mut().zip(&*column).for_each(|(value, x)| *value = x.to_f64());
                zeros += usize::from(!self.one(values));
                for (row, (out, &value)) in out.iter_mut().zip(&*values).enumerate() {
                    *out = T::from_f64(value);
                    if !out.is_finite() {
                        return Err(Error::NotFinite { what: "prepared samples (scale the data)", row, column: i });
                    }
                }
            }
            Ok(zeros)
        };
        Ok(run.map_blocks(samples.columns(), BLOCK, scratch, work)?.into_iter().sum())
    }

    /// Prepares one sample; `false` if it is zero.
    fn one(&self, values: &mut [f64]) -> bool {
        if let Some(means) = &self.means {
            values.iter_mut().zip(means).for_each(|(value, mean)| *value -= mean);
        }
        if let Some(divisors) = &self.divisors {
            values.iter_mut().zip(divisors).for_each(|(value, divisor)| *value /= divisor);
        }
        if self.own_mean {
            // Exactly zero for a constant sample, which rounding of the mean would make a direction.
            let constant = values.iter().all(|value| value.to_bits() == values[0].to_bits());
            let count = values.len() as f64;
            let mean: f64 = values.iter().map(|value| value / count).sum();
            for value in &mut *values {
                *value = if constant { 0.0 } else { *value - mean };
            }
        }
        if self.unit { normalise(values) } else { values.iter().any(|value| value.abs() > 0.0) }
    }
}

impl Display for Centre {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Data => "data",
            Self::Sample => "sample",
        })
    }
}

impl FromStr for Centre {
    type Err = Error;

    /// # Errors
    /// If the text is none of these.
    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::None, Self::Data, Self::Sample];
        let known = all.into_iter().find(|centre| centre.to_string() == text);
        known.ok_or_else(|| Error::parameter("centre", text, "is not known; write data, sample or none"))
    }
}

impl Display for Scaling {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Range => "range",
            Self::Deviation => "deviation",
            Self::Automatic => "auto",
        })
    }
}

impl FromStr for Scaling {
    type Err = Error;

    /// # Errors
    /// If the text is none of these.
    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::None, Self::Range, Self::Deviation, Self::Automatic];
        let known = all.into_iter().find(|scale| scale.to_string() == text);
        known.ok_or_else(|| Error::parameter("scale", text, "is not known; write auto, range, deviation or none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Matrix<f64> {
        Matrix::from_columns(vec![1.0, 5.0, -20.0, 3.0, 5.0, 40.0, 2.0, 5.0, 7.0, 2.5, 5.0, 1.0], 3, 4).unwrap()
    }

    fn prepare(centre: Centre, scale: Scaling, unit: bool) -> Prepared<f64> {
        Preparation { centre, scale, unit }.prepare(samples().view(), None, Run::threads(1)).unwrap()
    }

    #[test]
    fn each_step_is_that_of_its_definition() {
        let x = samples();
        let mean = |r: usize| (0..4).map(|i| x.column(i)[r]).sum::<f64>() / 4.0;
        let deviation = |r: usize| ((0..4).map(|i| (x.column(i)[r] - mean(r)).powi(2)).sum::<f64>() / 4.0).sqrt();
        for i in 0..4 {
            let own = x.column(i).iter().sum::<f64>() / 3.0;
            for (r, divisor) in [2.0, 1.0, 60.0].into_iter().enumerate() {
                let value = x.column(i)[r];
                let is = |found: Prepared<f64>, wanted: f64| {
                    let found = found.samples.column(i)[r];
                    assert!((found - wanted).abs() < 1e-12, "{found} for {wanted}");
                };
                is(prepare(Centre::None, Scaling::None, false), value);
                is(prepare(Centre::Sample, Scaling::None, false), value - own);
                is(prepare(Centre::Data, Scaling::Range, false), (value - mean(r)) / divisor);
                let deviation = if r == 1 { 1.0 } else { deviation(r) };
                is(prepare(Centre::Data, Scaling::Deviation, false), (value - mean(r)) / deviation);
            }
        }
        let unit = prepare(Centre::Data, Scaling::Automatic, true);
        assert_eq!((unit.scale, unit.zero_samples), (Scaling::Range, 0));
        assert!((0..4).all(|i| (unit.samples.column(i).iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn features_of_one_kind_are_left_alone_and_constant_ones_do_not_count() {
        let x = Matrix::from_columns(vec![0.0, 7.0, 0.0, 1.0, 7.0, 9.9], 3, 2).unwrap();
        let prepared = Preparation::default().prepare(x.view(), None, Run::threads(1)).unwrap();
        assert_eq!(prepared.scale, Scaling::None);
        let ranges = prepared.ranges.unwrap();
        assert_eq!((ranges.quartile, ranges.largest_feature), (1.0, 2));
        assert!((ranges.ratio() - 9.9).abs() < 1e-12);
        // One small feature of five is an exception; two are a kind.
        for (small, scale) in [(1, Scaling::None), (2, Scaling::Range)] {
            let x = Matrix::from_fn(5, 2, |r, i| if r < small { 0.01 * i as f64 } else { i as f64 });
            assert_eq!(Preparation::default().prepare(x.view(), None, Run::threads(1)).unwrap().scale, scale);
        }
    }

    #[test]
    fn samples_without_a_direction_stay_zero() {
        let constant = Matrix::from_fn(3, 5, |_, _| 0.1_f64);
        let prepared = Preparation::default().prepare(constant.view(), None, Run::threads(1)).unwrap();
        assert_eq!((prepared.zero_samples, prepared.ranges), (5, None));
        let by_sample = Preparation { centre: Centre::Sample, ..Preparation::default() };
        let flat = Matrix::from_columns(vec![0.1_f32, 0.1, 0.1, 1.0, 2.0, 4.0], 3, 2).unwrap();
        assert_eq!(by_sample.prepare(flat.view(), None, Run::threads(1)).unwrap().samples.column(0), [0.0; 3]);
    }

    #[test]
    fn any_finite_number_is_prepared_and_nothing_else() {
        let extreme = Matrix::from_columns(vec![1e307, -1e307, 5e306, f64::MIN_POSITIVE], 1, 4).unwrap();
        let prepared = Preparation { scale: Scaling::Range, ..Preparation::default() };
        let prepared = prepared.prepare(extreme.view(), None, Run::threads(1)).unwrap();
        assert!(prepared.samples.as_slice().iter().all(|x| (x.abs() - 1.0).abs() < 1e-12));
        let hole = Matrix::from_columns(vec![1.0, f64::NAN], 1, 2).unwrap();
        let refused = Preparation::default().prepare(hole.view(), None, Run::threads(1));
        assert_eq!(refused, Err(Error::NotFinite { what: "samples", row: 0, column: 1 }));
        assert!(Preparation::default().prepare(Matrix::<f32>::zeros(3, 0).view(), None, Run::threads(1)).is_err());
        assert!(Preparation::default().prepare(Matrix::<f32>::zeros(0, 3).view(), None, Run::threads(1)).is_err());
    }

    #[test]
    fn text_and_setting_are_the_same_thing() {
        for centre in [Centre::None, Centre::Data, Centre::Sample] {
            assert_eq!(centre.to_string().parse::<Centre>().unwrap(), centre);
        }
        for scale in [Scaling::None, Scaling::Range, Scaling::Deviation, Scaling::Automatic] {
            assert_eq!(scale.to_string().parse::<Scaling>().unwrap(), scale);
        }
        assert!("mean".parse::<Centre>().unwrap_err().to_string().starts_with("centre = mean: is not known"));
        assert!("z".parse::<Scaling>().is_err());
    }
}
