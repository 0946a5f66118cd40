//! How well clusters agree with classes.

use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};

use super::assignment::optimal_assignment;

/// Two partitions of the same samples, compared: the classes that are known and the clusters that were found.
///
/// None of the figures depends on how classes and clusters are called.
///
/// # Cost
/// A sort of the labels; then C·K counts for C classes and K clusters, and for the matching another factor of the smaller
/// of them.
///
/// # Example
/// ```
/// use sparsemble::metrics::Agreement;
///
/// let classes = ["cat", "cat", "dog", "dog"];
/// let agreement = Agreement::between(&classes, &[7, 7, 3, 7])?;
/// assert_eq!(agreement.accuracy(), 0.75);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V, the accuracy and NMI of Table 3.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    counts: Matrix<u64>,
    pairs: Vec<(usize, usize)>,
    total: u64,
}

impl Agreement {
    /// Of a class and a cluster for each sample, each of any type that can be ordered.
    ///
    /// # Errors
    /// If there is no sample, or there are not as many clusters as classes.
    pub fn between<A: Ord, B: Ord>(classes: &[A], clusters: &[B]) -> Result<Self> {
        expect_size("clusters: number of samples (that of the classes)", classes.len(), clusters.len())?;
        if classes.is_empty() {
            return Err(Error::Empty { what: "classes", unit: "sample" });
        }
        let ((classes, n_classes), (clusters, n_clusters)) = (numbered(classes), numbered(clusters));
        let mut counts = Matrix::from_fn(n_classes, n_clusters, |_, _| 0);
        for (&class, &cluster) in classes.iter().zip(&clusters) {
            counts.column_mut(cluster)[class] += 1;
        }
        let costs = Matrix::from_fn(n_classes, n_clusters, |r, c| -(counts.column(c)[r] as f64));
        let pairs = optimal_assignment(costs.view())?;
        Ok(Self { counts, pairs, total: classes.len() as u64 })
    }

    /// How many samples of each class are in each cluster: classes × clusters, both in ascending order of their labels.
    pub fn counts(&self) -> MatrixView<'_, u64> {
        self.counts.view()
    }

    /// Which class goes with which cluster, no two with the same, so that the most samples are right.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The share of the samples whose cluster is paired with their class.
    pub fn accuracy(&self) -> f64 {
        let right: u64 = self.pairs.iter().map(|&(class, cluster)| self.counts.column(cluster)[class]).sum();
        right as f64 / self.total as f64
    }

    /// The normalised mutual information I / ((H₁ + H₂) / 2): the normaliser is the mean of the two entropies. It is 1 if
    /// there is one class and one cluster.
    pub fn nmi(&self) -> f64 {
        let (classes, clusters) = self.sums();
        if classes.len() == 1 && clusters.len() == 1 {
            return 1.0;
        }
        let total = self.total as f64;
        let information = |class: usize, cluster: usize| match self.counts.column(cluster)[class] {
            0 => 0.0,
            both => {
                let both = both as f64;
                both / total * (both * total / (classes[class] as f64 * clusters[cluster] as f64)).ln()
            }
        };
        let mutual: f64 = (0..clusters.len())
            .flat_map(|k| (0..classes.len()).map(move |c| (c, k)))
            .map(|(c, k)| information(c, k))
            .sum();
        let entropy =
            |sums: &[u64]| -> f64 { sums.iter().map(|&sum| sum as f64 / total).map(|share| -share * share.ln()).sum() };
        (mutual / (0.5 * (entropy(&classes) + entropy(&clusters)))).clamp(0.0, 1.0)
    }

    /// The adjusted Rand index: the share of pairs of samples on which both partitions agree, such that 0 is what chance
    /// gives and 1 is full agreement. It is negative for less than chance.
    pub fn ari(&self) -> f64 {
        let pairs = |count: u64| 0.5 * count as f64 * (count as f64 - 1.0);
        let (classes, clusters) = self.sums();
        let together: f64 = self.counts.as_slice().iter().map(|&count| pairs(count)).sum();
        let [of_classes, of_clusters] =
            [&classes, &clusters].map(|sums| sums.iter().map(|&sum| pairs(sum)).sum::<f64>());
        let most = 0.5 * (of_classes + of_clusters);
        let by_chance = if self.total > 1 { of_classes * of_clusters / pairs(self.total) } else { 0.0 };
        // Nothing to agree on: all samples apart in both partitions, or together in both.
        if (most - by_chance).abs() <= 0.0 { 1.0 } else { (together - by_chance) / (most - by_chance) }
    }

    /// The sizes of the classes and of the clusters.
    fn sums(&self) -> (Vec<u64>, Vec<u64>) {
        let mut classes = vec![0; self.counts.rows()];
        let mut clusters = vec![0; self.counts.columns()];
        for (cluster, sum) in clusters.iter_mut().enumerate() {
            for (class, &count) in classes.iter_mut().zip(self.counts.column(cluster)) {
                *class += count;
                *sum += count;
            }
        }
        (classes, clusters)
    }
}

/// The labels as numbers from 0, in their order, and how many different ones there are.
fn numbered<L: Ord>(labels: &[L]) -> (Vec<usize>, usize) {
    let mut different: Vec<&L> = labels.iter().collect();
    different.sort_unstable();
    different.dedup();
    let numbers = labels.iter().map(|label| different.partition_point(|other| *other < label)).collect();
    (numbers, different.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_and_clusters_do_not_matter() {
        let classes = [0, 0, 1, 1, 2, 2, 2];
        let one = Agreement::between(&classes, &[5, 5, 9, 9, 9, 1, 1]).unwrap();
        let other = Agreement::between(&classes.map(|c| 10 - c), &["x", "x", "a", "a", "a", "y", "y"]).unwrap();
        for figure in [Agreement::accuracy, Agreement::nmi, Agreement::ari] {
            assert!((figure(&one) - figure(&other)).abs() < 1e-15);
        }
        assert!((one.accuracy() - 6.0 / 7.0).abs() < 1e-15);
        assert_eq!(one.counts().get(2, 0), 2);
        assert_eq!(one.pairs(), [(0, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn full_agreement_is_one_even_where_there_is_nothing_to_agree_on() {
        for labels in [&[0, 1, 2, 2][..], &[0], &[4, 4, 4], &[0, 1, 2]] {
            let agreement = Agreement::between(labels, labels).unwrap();
            for figure in [agreement.accuracy(), agreement.nmi(), agreement.ari()] {
                assert!((figure - 1.0).abs() < 1e-12, "{labels:?}: {figure}");
            }
        }
        let one_cluster = Agreement::between(&[0, 0, 1, 1], &[0; 4]).unwrap();
        assert!(one_cluster.nmi().abs() < 1e-15 && one_cluster.ari().abs() < 1e-15);
        assert!((one_cluster.accuracy() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn partitions_of_different_samples_are_refused() {
        assert!(Agreement::between(&[0, 1], &[0]).is_err());
        assert!(Agreement::between::<u32, u32>(&[], &[]).is_err());
    }
}
