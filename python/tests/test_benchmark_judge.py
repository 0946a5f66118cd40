"""How the benchmark decides whether a target is met, and when it refuses to."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from coders.judge import compare_fastest, compare_with_ourselves
from shared.contest import Contender, Result, interleave
from shared.records import Records


def result(name, seconds, *, gap=0.0, dtype="f64", threads=1, objective=1.0, n_samples=10):
    return Result(
        name, dtype, threads, n_samples, seconds, gap_max=gap, objective=np.full(n_samples, objective)
    )


def only_comparison(rivals, ours, target=None, same_objective=True):
    records = Records()
    compare_fastest(records, "work", rivals, ours, target, same_objective)
    [comparison] = records.comparisons
    return comparison, records.failures


def test_the_fastest_rival_that_reaches_the_gap_is_the_one_to_beat():
    rivals = [result("fast", 2.0, gap=1e-5), result("middle", 6.0, gap=1e-7), result("slow", 9.0)]
    comparison, failures = only_comparison(rivals, [result("ours", 2.0)], target=3.0)
    assert comparison["rival"] == "middle f64"
    assert comparison["ratio"] == pytest.approx(3.0)
    assert comparison["met"] is True
    assert not failures


def test_times_are_compared_per_sample():
    comparison, _ = only_comparison([result("rival", 1.0, n_samples=5)], [result("ours", 1.0)])
    assert comparison["ratio"] == pytest.approx(2.0)


def test_a_gap_of_ours_that_is_too_large_misses_the_target():
    comparison, _ = only_comparison([result("rival", 9.0)], [result("ours", 1.0, gap=2e-6)], target=2.0)
    assert comparison["ratio"] is None
    assert comparison["met"] is False


def test_without_a_rival_that_counts_there_is_no_verdict():
    comparison, _ = only_comparison([result("rival", 9.0, gap=1.0)], [result("ours", 1.0)], target=2.0)
    assert comparison["ratio"] is None
    assert comparison["met"] is None


def test_a_worse_objective_is_a_failure_only_where_both_minimise_the_same():
    rivals, ours = [result("rival", 9.0)], [result("ours", 1.0, objective=1.00001)]
    comparison, failures = only_comparison(rivals, ours)
    assert comparison["objective_excess"] == pytest.approx(1e-5)
    assert len(failures) == 1
    assert not only_comparison(rivals, ours, same_objective=False)[1]


def test_we_are_compared_with_ourselves_over_threads_and_dtypes():
    records = Records()
    ours = [
        result("ours", seconds, dtype=dtype, threads=threads)
        for dtype, threads, seconds in (("f32", 1, 2.0), ("f32", 2, 1.0), ("f64", 1, 3.0), ("f64", 2, 2.0))
    ]
    compare_with_ourselves(records, "work", ours)
    assert [comparison["ratio"] for comparison in records.comparisons] == [2.0, 1.5, 1.5]
    assert [comparison["met"] for comparison in records.comparisons] == [True, False, False]


def test_contenders_take_turns_and_the_best_run_of_each_is_kept():
    turns, times = [], {"a": iter([3.0, 1.0, 2.0]), "b": iter([5.0, 6.0, 4.0])}

    def runner(name):
        def run():
            turns.append(name)
            seconds = next(times[name])
            return seconds, f"{name} after {seconds} s"

        return run

    best = interleave([Contender(name, "f32", 1, 1, runner(name)) for name in "ab"], 3)
    assert turns == ["a", "b"] * 3
    assert [found.seconds for found in best] == [1.0, 4.0]
    assert [found.output for found in best] == ["a after 1.0 s", "b after 4.0 s"]
