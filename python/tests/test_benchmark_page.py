"""The parts of the performance page, and the targets that are limits."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from shared.page import write_part
from shared.records import Records
from shared.tables import growth, summary


def test_a_part_replaces_the_one_of_its_title_and_leaves_the_others(tmp_path):
    page = tmp_path / "page.md"
    write_part(page, "# Coders\n\nold\n\n## Machine\n\nslow\n")
    write_part(page, "# Learners\n\nlearned\n")
    write_part(page, "# Coders\n\nnew\n")
    assert page.read_text() == "# Coders\n\nnew\n\n# Learners\n\nlearned\n"


@pytest.mark.parametrize(("ratio", "met"), [(1.4, True), (1.5, True), (1.6, False)])
def test_a_limit_is_met_from_below(ratio, met, capsys):
    records = Records()
    records.limit("work", "products", "ours", ratio, 1.5)
    assert records.comparisons[0]["met"] is met
    assert "≤ 1.5" in summary(records, [])
    assert capsys.readouterr().out.startswith('{"workload": "work"')


def test_growth_has_the_exponent_of_its_power_law(capsys):
    records = Records()
    records.grow("learner", "T", [1, 10, 100], [2.0, 200.0, 20_000.0], unit="seconds", peak_mb=[1, 2, 3])
    assert records.growth[0]["exponent"] == pytest.approx(2.0)
    assert "| learner | T | 1, 10, 100 | 2.00 |" in growth(records, "what", {"seconds": "s"}, "")[-1]
