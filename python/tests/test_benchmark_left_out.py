"""How settings are chosen where the set that judges is left out."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from choosers import left_out
from choosers.settings import PLAIN
from choosers.sweeps import PAIRS
from shared.records import Records

SETS = [SimpleNamespace(name=f"set {size}", samples=np.zeros((size, 2))) for size in (30, 10, 20)]


@pytest.fixture
def runs(monkeypatch):
    """Accuracies that are made up, and a list of what was run."""
    made = []

    def sweep(whole, setting, seed):
        made.append((whole.name, seed))
        worth = 0.9 if setting.members == 20 else 0.8 if setting.members == 30 else 0.1
        worth -= 0.05 * (setting.refinements == 1)
        accuracies = np.full(len(PAIRS), worth)
        accuracies[7] += 0.01
        return np.array([accuracies, accuracies])

    monkeypatch.setattr(left_out, "sweep", sweep)
    return made


def test_the_best_value_is_taken_with_its_best_step_and_ties_go_to_the_earlier(runs):
    found = left_out._search(Records(), "none", SETS, 2)
    assert (found.members, found.refinements) == (20, 0)
    assert (found.vectors, found.power) == PAIRS[7]
    assert (found.graph, found.signed, found.sharpness) == ("ensemble", False, 1.0)


def test_what_has_lost_is_not_run_on_the_largest_set(runs):
    bad = left_out.replace(PLAIN, members=10)
    lost = left_out._tried(bad, SETS, 2, least=0.6)
    assert not lost.exact
    assert lost.score < 0.6
    assert runs == [("set 10", 0), ("set 10", 1), ("set 20", 0)]
    assert left_out._tried(bad, SETS, 2).score == pytest.approx(0.11)
