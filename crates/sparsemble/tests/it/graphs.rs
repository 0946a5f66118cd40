//! Graphs of samples, each against a plain computation with dense matrices, and the laws of all.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::clustering::{Coded, GraphForm};
use sparsemble::coding::{CodingBasis, Lasso, Pursuit, Samples, SparseCoder};
use sparsemble::dictionary::{AltOpt, Centers, Examples, WeakLearner};
use sparsemble::graph::{
    AtomCount, BuiltGraph, DictionaryGraph, ExampleGraph, Graph, GraphKind, MemberGraph, MemberLearner, NeighbourGraph,
    SelfExpression, StackedCodes,
};
use sparsemble::{Draw, Error, Matrix, Run, Scalar};

use crate::problems::{Values, cases, columns};

const SEED: u64 = 11;

const KINDS: [&str; 11] = [
    "ensemble:members=4",
    "ensemble:members=3,refinements=0,signed",
    "boost-km:members=3",
    "rand-ex-av:members=4",
    "boost-ex:members=4",
    "l1:lambda=0.3",
    "elastic-net:lambda=0.2,ridge=0.1",
    "elastic-net",
    "omp:sparsity=3",
    "alt-opt:atoms=6,max_iterations=3",
    "neighbours:count=3",
];

/// Samples of unit norm near lines through the origin, the i-th near line i mod `lines`.
pub(crate) fn near_lines<T: Scalar>(seed: u64, n_features: usize, n_samples: usize, lines: usize) -> Matrix<T> {
    let mut values = Values::new(seed);
    let directions: Matrix<f64> = values.matrix(n_features, lines);
    let mut samples = Matrix::zeros(n_features, n_samples);
    for i in 0..n_samples {
        let noisy: Vec<f64> = directions.column(i % lines).iter().map(|d| d + 0.15 * values.normal()).collect();
        let norm = noisy.iter().map(|x| x * x).sum::<f64>().sqrt();
        samples.column_mut(i).iter_mut().zip(noisy).for_each(|(out, x)| *out = T::from_f64(x / norm));
    }
    samples
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The graph as a dense matrix; it is symmetric and has no diagonal, or it would not be one.
fn dense(graph: &Graph) -> Matrix<f64> {
    let (starts, neighbours, weights) = graph.clone().into_parts();
    assert_eq!(Graph::new(starts, neighbours, weights).as_ref(), Ok(graph));
    let mut dense = Matrix::zeros(graph.vertices(), graph.vertices());
    for i in 0..graph.vertices() {
        let (neighbours, weights) = graph.row(i);
        neighbours.iter().zip(weights).for_each(|(&j, &w)| dense.column_mut(i)[j as usize] = f64::from(w));
    }
    dense
}

/// |A| + |Aᵀ| of a square matrix, or |AᵀA|, without the diagonal.
fn similarity(a: &Matrix<f64>, product: bool) -> Matrix<f64> {
    let count = a.columns();
    Matrix::from_fn(count, count, |j, i| match (i == j, product) {
        (true, _) => 0.0,
        (false, true) => dot(a.column(i), a.column(j)).abs(),
        (false, false) => a.column(i)[j].abs() + a.column(j)[i].abs(),
    })
}

fn assert_near(found: &Matrix<f64>, expected: &Matrix<f64>, tolerance: f64) {
    for (place, (found, expected)) in found.as_slice().iter().zip(expected.as_slice()).enumerate() {
        assert!((found - expected).abs() <= tolerance, "entry {place}: {found} for {expected}");
    }
}

/// The best single atom of x by a plain search, and its coefficient.
fn best_atom(atoms: &Matrix<f64>, x: &[f64], own: Option<usize>, nonnegative: bool) -> Option<(usize, f64)> {
    let products = (0..atoms.columns()).filter(|j| Some(*j) != own).map(|j| (j, dot(atoms.column(j), x)));
    let size = |product: f64| if nonnegative { product } else { product.abs() };
    products.max_by(|a, b| size(a.1).total_cmp(&size(b.1))).filter(|best| size(best.1) > 0.0)
}

/// The stacked codes by hand: draw, code, move each atom to the mean direction of its samples, code again.
fn stacked_by_hand(samples: &Matrix<f64>, counts: &[f64], graph: &MemberGraph, n_atoms: usize) -> Matrix<f64> {
    let count = samples.columns();
    let mut masses = counts.to_vec();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for round in 0..graph.n_members as u64 {
        let draw = Draw { seed: SEED, round };
        let dictionary = match graph.learner {
            MemberLearner::Examples => Examples { n_atoms }.fit(samples.view(), &masses, draw, Run::threads(1)),
            MemberLearner::Centers => Centers::new(n_atoms).fit(samples.view(), &masses, draw, Run::threads(1)),
        };
        let mut atoms = dictionary.unwrap().atoms().clone();
        let code = |atoms: &Matrix<f64>| -> Vec<(usize, f64)> {
            let best = |i: usize| best_atom(atoms, samples.column(i), None, graph.nonnegative).unwrap_or((0, 0.0));
            (0..count).map(best).collect()
        };
        let mut codes = code(&atoms);
        for _ in 0..graph.refinements {
            let mut sums: Vec<Vec<f64>> = vec![vec![0.0; samples.rows()]; atoms.columns()];
            for (i, &(atom, a)) in codes.iter().enumerate() {
                sums[atom].iter_mut().zip(samples.column(i)).for_each(|(sum, x)| *sum += counts[i] * a * x);
            }
            sums.retain(|sum| dot(sum, sum) > 0.0);
            atoms = Matrix::from_fn(samples.rows(), sums.len(), |r, j| sums[j][r] / dot(&sums[j], &sums[j]).sqrt());
            codes = code(&atoms);
        }
        let first = rows.len();
        rows.resize(first + atoms.columns(), vec![0.0; count]);
        for (i, &(atom, a)) in codes.iter().enumerate() {
            rows[first + atom][i] = counts[i] * a * a.abs().powf(graph.sharpness - 1.0);
        }
        masses = codes.iter().zip(counts).map(|((_, a), count)| count * (1.0 - a * a).max(0.0)).collect();
    }
    Matrix::from_fn(rows.len(), count, |row, i| rows[row][i])
}

#[test]
fn the_graph_of_members_is_that_of_a_plain_computation() {
    let samples = near_lines(1, 7, 90, 5);
    let forms = [
        MemberGraph { n_members: 5, ..MemberGraph::default() },
        MemberGraph { n_members: 3, refinements: 2, nonnegative: false, ..MemberGraph::default() },
        MemberGraph { n_members: 3, ..MemberGraph::boost_km() },
    ];
    let counts: Vec<f64> = (0..90).map(|i| f64::from(1 + i % 3)).collect();
    for graph in forms {
        let expected = similarity(&stacked_by_hand(&samples, &[1.0; 90], &graph, 11), true);
        let built = graph.build(samples.view(), SEED, Run::threads(2)).unwrap();
        assert_near(&dense(&built.graph), &expected, 1e-6);
        assert!(expected.as_slice().iter().filter(|w| **w > 0.0).count() > 400);
        // Samples that stand for several.
        let expected = similarity(&stacked_by_hand(&samples, &counts, &graph, 11), true);
        let codes = graph.codes(samples.view(), Some(&counts), SEED, Run::threads(2)).unwrap();
        assert_near(&dense(&codes.graph(Run::threads(1)).unwrap()), &expected, 1e-5);
    }
}

#[test]
fn samples_that_stand_for_several_are_similar_as_often() {
    let samples = near_lines::<f64>(13, 6, 40, 3);
    let counts: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 4)).collect();
    let kind = GraphKind::Neighbours(NeighbourGraph { count: 4 });
    let plain = dense(&kind.build(samples.view(), SEED, Run::threads(1)).unwrap().graph);
    let coded = Coded::of(&kind, samples.view(), Some(&counts), SEED, Run::threads(1)).unwrap();
    let found = coded.similarity(GraphForm::Automatic, Run::threads(1)).unwrap();
    let expected = Matrix::from_fn(40, 40, |j, i| plain.column(i)[j] * counts[i] * counts[j]);
    assert_near(&dense(&found.graph().unwrap().graph), &expected, 1e-6);
    assert!(Coded::of(&kind, samples.view(), Some(&counts[1..]), SEED, Run::threads(1)).is_err());
}

#[test]
fn rand_ex_av_is_the_average_of_codes_by_samples_without_oneself() {
    let samples = near_lines(2, 6, 70, 4);
    for nonnegative in [false, true] {
        let graph =
            ExampleGraph { n_members: 6, atoms: AtomCount::Exactly(20), nonnegative, ..ExampleGraph::default() };
        let mut mean: Matrix<f64> = Matrix::zeros(70, 70);
        for round in 0..6 {
            let draw = Draw { seed: SEED, round };
            let dictionary = Examples { n_atoms: 20 }.fit(samples.view(), &[1.0; 70], draw, Run::threads(1)).unwrap();
            let sources = dictionary.sources().unwrap();
            for i in 0..70 {
                let own = sources.iter().position(|source| *source == i);
                if let Some((atom, a)) = best_atom(dictionary.atoms(), samples.column(i), own, nonnegative) {
                    mean.column_mut(i)[sources[atom]] += a / 6.0;
                }
            }
        }
        let built = graph.build(samples.view(), SEED, Run::threads(1)).unwrap();
        assert_near(&dense(&built.graph), &similarity(&mean, false), 1e-6);
    }
}

#[test]
fn boost_ex_weighs_codes_by_the_rounds_of_equations_9_to_12() {
    let samples = near_lines(3, 6, 60, 4);
    let (count, n_atoms, rounds) = (60, 15, 5);
    let mut masses = vec![1.0; count];
    let mut so_far: Matrix<f64> = Matrix::zeros(6, count);
    let mut mean: Matrix<f64> = Matrix::zeros(count, count);
    for round in 0..rounds {
        let draw = Draw { seed: SEED, round };
        let dictionary = Examples { n_atoms }.fit(samples.view(), &masses, draw, Run::threads(1)).unwrap();
        let sources = dictionary.sources().unwrap();
        let code = |i: usize| {
            let own = sources.iter().position(|source| *source == i);
            best_atom(dictionary.atoms(), samples.column(i), own, false).unwrap()
        };
        let codes: Vec<(usize, f64)> = (0..count).map(code).collect();
        let member = Matrix::from_fn(6, count, |r, i| dictionary.atoms().column(codes[i].0)[r] * codes[i].1);
        let step = |at: &Matrix<f64>| -> Vec<f64> {
            at.as_slice().iter().zip(so_far.as_slice()).map(|(a, b)| a - b).collect()
        };
        let (towards, left) = (step(&member), step(&samples));
        let alpha = if round == 0 { 1.0 } else { dot(&left, &towards) / dot(&towards, &towards) };
        so_far = Matrix::from_fn(6, count, |r, i| (1.0 - alpha) * so_far.column(i)[r] + alpha * member.column(i)[r]);
        mean.as_mut_slice().iter_mut().for_each(|a| *a *= 1.0 - alpha);
        for (i, (atom, a)) in codes.iter().enumerate() {
            mean.column_mut(i)[sources[*atom]] += alpha * a;
        }
        masses = codes.iter().map(|(_, a)| 1.0 - a * a).collect();
    }
    let graph =
        ExampleGraph { n_members: rounds as usize, atoms: AtomCount::Exactly(n_atoms), ..ExampleGraph::boost_ex() };
    let built = graph.build(samples.view(), SEED, Run::threads(2)).unwrap();
    assert_near(&dense(&built.graph), &similarity(&mean, false), 1e-6);
}

#[test]
fn with_half_of_the_samples_as_atoms_boosted_examples_still_join_everyone() {
    // Coded by themselves, those drawn would have no error and not be drawn again: two rounds would see all.
    let samples = near_lines::<f64>(4, 6, 40, 4);
    let graph = ExampleGraph { n_members: 12, atoms: AtomCount::Exactly(20), ..ExampleGraph::boost_ex() };
    let built = graph.build(samples.view(), SEED, Run::threads(1)).unwrap();
    assert!(built.report.mean_neighbours > 5.0 && built.report.isolated == 0, "{:?}", built.report);
}

#[test]
fn the_l1_graph_codes_each_sample_in_the_dictionary_of_the_others() {
    let samples = near_lines(5, 8, 50, 4);
    let coders: [(SelfExpression, Box<dyn SparseCoder<f64>>); 2] = [
        (SelfExpression::default(), Box::new(Lasso::lambda(0.2))),
        (SelfExpression { coder: sparsemble::coding::Coder::omp(3) }, Box::new(Pursuit::omp(3))),
    ];
    for (graph, coder) in coders {
        let mut codes: Matrix<f64> = Matrix::zeros(50, 50);
        for i in 0..50 {
            let others: Vec<usize> = (0..50).filter(|j| *j != i).collect();
            let basis = CodingBasis::new(columns(&samples, &others).view()).unwrap();
            let own = columns(&samples, &[i]);
            let coding = coder.encode(&basis, &Samples::new(own.view()), Run::threads(1)).unwrap();
            coding.codes.column(0).for_each(|(atom, a)| codes.column_mut(i)[others[atom]] = a);
        }
        let built = graph.build(samples.view(), Run::threads(2)).unwrap();
        assert_near(&dense(&built.graph), &similarity(&codes, false), 2e-3);
        assert_eq!(built.report.unconverged, 0);
    }
}

#[test]
fn the_graph_of_a_dictionary_joins_samples_that_use_the_same_atoms() {
    let samples = near_lines(6, 8, 60, 4);
    let graph = DictionaryGraph { atoms: AtomCount::Exactly(7), max_iterations: 4, ..DictionaryGraph::default() };
    let start = Centers::new(7).start(samples.view(), None, SEED, Run::threads(1)).unwrap();
    let learning = AltOpt { max_iterations: 4, ..AltOpt::lambda(0.2) };
    let dictionary = learning.fit(samples.view(), None, &start, Run::threads(1)).unwrap().dictionary;
    let basis = CodingBasis::new(dictionary.view()).unwrap();
    let coding = Lasso::lambda(0.2).encode(&basis, &Samples::new(samples.view()), Run::threads(1)).unwrap();
    let built = graph.build(samples.view(), SEED, Run::threads(2)).unwrap();
    assert_near(&dense(&built.graph), &similarity(&coding.codes.to_dense(), true), 1e-5);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn neighbours_are_those_of_a_plain_search(
        seed in any::<u64>(), n_features in 1_usize..20, n_samples in 12_usize..300, count in 1_usize..12,
        offset in prop_oneof![Just(0.0), Just(30.0)], size in prop_oneof![Just(1.0), Just(1e-150)],
    ) {
        let mut values = Values::new(seed);
        let samples = Matrix::from_fn(n_features, n_samples, |_, _| size * (offset + values.normal()));
        let built = NeighbourGraph { count: count.min(n_samples - 1) }.build(samples.view(), Run::threads(2)).unwrap();
        let apart = |i: usize, j: usize| {
            let squares = samples.column(i).iter().zip(samples.column(j)).map(|(a, b)| ((a - b) / size).powi(2));
            squares.sum::<f64>()
        };
        let mut directed: Matrix<f64> = Matrix::zeros(n_samples, n_samples);
        for i in 0..n_samples {
            let mut others: Vec<usize> = (0..n_samples).filter(|j| *j != i).collect();
            others.sort_by(|&a, &b| apart(i, a).total_cmp(&apart(i, b)));
            others.iter().take(count).for_each(|&j| directed.column_mut(i)[j] = 1.0);
        }
        prop_assert_eq!(dense(&built.graph), similarity(&directed, false));
    }

    #[test]
    fn every_graph_is_the_same_for_any_number_of_threads_and_none_is_asymmetric(
        seed in any::<u64>(), n_samples in 24_usize..450,
    ) {
        let samples = near_lines::<f32>(seed, 5, n_samples, 3);
        for text in KINDS {
            let kind: GraphKind = text.parse().unwrap();
            let build = |threads| kind.build(samples.view(), seed, Run::threads(threads)).unwrap();
            let BuiltGraph { graph, report } = build(1);
            dense(&graph);
            prop_assert_eq!(graph.vertices(), n_samples);
            prop_assert!(report.mean_neighbours > 0.5 && report.unconverged == 0, "{}: {:?}", text, report);
            prop_assert_eq!(&build(3).graph, &graph, "{}", text);
        }
    }
}

#[test]
fn samples_of_one_line_are_joined_and_those_of_others_hardly() {
    let samples = near_lines::<f32>(8, 12, 240, 4);
    for text in KINDS.iter().filter(|text| !text.starts_with("alt-opt")) {
        let graph = text.parse::<GraphKind>().unwrap().build(samples.view(), SEED, Run::default()).unwrap().graph;
        let (mut within, mut total) = (0.0, 0.0);
        for i in 0..graph.vertices() {
            let (neighbours, weights) = graph.row(i);
            for (&j, &weight) in neighbours.iter().zip(weights) {
                total += f64::from(weight);
                within += if i % 4 == j as usize % 4 { f64::from(weight) } else { 0.0 };
            }
        }
        assert!(within > 0.8 * total, "{text}: {}", within / total);
    }
}

#[test]
fn where_prices_are_relative_the_graph_does_not_depend_on_the_scale_of_the_samples() {
    let samples = near_lines::<f64>(10, 8, 90, 3);
    for text in ["l1:relative=0.1", "elastic-net", "elastic-net:lambda=0.1,ridge=0.5,relative"] {
        let kind: GraphKind = text.parse().unwrap();
        let graph = |scale: f64| {
            let scaled = Matrix::from_fn(8, 90, |r, i| scale * samples.column(i)[r]);
            kind.build(scaled.view(), SEED, Run::threads(1)).unwrap().graph
        };
        let expected = graph(1.0);
        assert!(expected.edges() > 90);
        for scale in [2.0_f64.powi(-7), 256.0] {
            let found = graph(scale);
            (0..90).for_each(|i| assert_eq!(found.row(i).0, expected.row(i).0, "{text}, times {scale}: sample {i}"));
            assert_near(&dense(&found), &dense(&expected), 1e-6);
        }
    }
}

#[test]
fn members_end_when_no_error_is_left_and_zero_samples_have_no_edges() {
    // Two directions, each many times, and a zero.
    let samples = Matrix::from_fn(2, 21, |r, i| if i == 20 { 0.0 } else { f64::from(u8::from(r == i % 2)) });
    let graph = MemberGraph { atoms: AtomCount::Exactly(10), ..MemberGraph::default() };
    let codes: StackedCodes = graph.codes(samples.view(), None, SEED, Run::threads(1)).unwrap();
    assert!(codes.n_members() < 5 && codes.n_nonzero() == 20 * codes.n_members(), "{codes:?}");
    let built = graph.build(samples.view(), SEED, Run::threads(1)).unwrap();
    assert_eq!((built.report.isolated, built.report.most_neighbours), (1, 9));
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let samples = near_lines::<f32>(9, 5, 80, 3);
    let graph = MemberGraph { n_members: 3, ..MemberGraph::default() };
    let build = |seed| graph.build(samples.view(), seed, Run::default()).unwrap().graph;
    assert_eq!(build(1), build(1));
    assert_ne!(build(1), build(2));
}

#[test]
fn what_makes_no_graph_is_refused() {
    let hole = Matrix::from_fn(3, 30, |r, i| if (r, i) == (1, 20) { f64::NAN } else { (r + i) as f64 });
    let place = Error::NotFinite { what: "samples", row: 1, column: 20 };
    for text in KINDS {
        let kind: GraphKind = text.parse().unwrap();
        let build = |samples: &Matrix<f64>| kind.build(samples.view(), SEED, Run::default());
        let found = build(&hole).unwrap_err();
        assert!(
            found == place || found == Error::NotFinite { what: "dictionary", row: 1, column: 20 },
            "{text}: {found}"
        );
        assert!(build(&Matrix::zeros(3, 1)).is_err() && build(&Matrix::zeros(3, 0)).is_err(), "{text}");
        assert!(build(&Matrix::zeros(0, 30)).is_err(), "{text}");
    }
    let samples = near_lines::<f64>(10, 3, 30, 2);
    for text in [
        "ensemble:atoms=31",
        "ensemble:members=0",
        "boost-km:atoms=31",
        "rand-ex-av:members=0",
        "boost-ex:atoms=31",
        "rand-ex-av:samples_per_atom=0.5",
        "l1:lambda=-1",
        "alt-opt:atoms=31",
        "neighbours:count=30",
        "neighbours:count=0",
    ] {
        assert!(text.parse::<GraphKind>().unwrap().build(samples.view(), SEED, Run::default()).is_err(), "{text}");
    }
    let all_zero = Matrix::<f64>::zeros(3, 30);
    assert!(MemberGraph::default().build(all_zero.view(), SEED, Run::default()).is_err());
}

/// Features and labels of one of the shared data sets, whose last column is the label; `None` if it is not there.
#[cfg(feature = "io")]
pub(crate) fn real_data(name: &str) -> Option<(Matrix<f32>, Vec<u32>)> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/clustering").join(name);
    if !file.is_file() {
        eprintln!("SKIPPED: {} is not there", file.display());
        return None;
    }
    let table = sparsemble::matrix_file::read::<f32>(&file).unwrap().to_matrix();
    let n_features = table.rows() - 1;
    let features = Matrix::from_fn(n_features, table.columns(), |r, i| table.column(i)[r]);
    Some((features, (0..table.columns()).map(|i| table.column(i)[n_features] as u32).collect()))
}

#[cfg(feature = "io")]
#[test]
fn graphs_of_real_data_join_samples_of_one_class() {
    use sparsemble::clustering::{Duplicates, Preparation, Scaling};

    for (name, scale, merged) in [("soybean562.csv", Scaling::None, 31), ("segment2310.csv", Scaling::Range, 224)] {
        let Some((samples, labels)) = real_data(name) else { continue };
        let prepared = Preparation::default().prepare(samples.view(), None, Run::default()).unwrap();
        assert_eq!(prepared.scale, scale, "{name}: {:?}", prepared.ranges);
        let duplicates = Duplicates::find(prepared.samples.view(), Run::default()).unwrap();
        assert_eq!(duplicates.count(), merged, "{name}");
        let samples = duplicates.merge(prepared.samples).unwrap();
        let label = |i: usize| labels[duplicates.representatives()[i]];
        for (text, least) in [("ensemble", 0.7), ("rand-ex-av", 0.7), ("l1", 0.6), ("neighbours", 0.7)] {
            let built = text.parse::<GraphKind>().unwrap().build(samples.view(), SEED, Run::default()).unwrap();
            let (mut within, mut total) = (0.0, 0.0);
            for i in 0..built.graph.vertices() {
                let (neighbours, weights) = built.graph.row(i);
                for (&j, &weight) in neighbours.iter().zip(weights) {
                    total += f64::from(weight);
                    within += if label(i) == label(j as usize) { f64::from(weight) } else { 0.0 };
                }
            }
            eprintln!("{name} {text}: {:.3} within, {:?}", within / total, built.report);
            assert!(within > least * total, "{name} {text}: {}", within / total);
        }
    }
}
