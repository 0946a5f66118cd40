"""The page docs/LEFT_OUT.md."""

import numpy as np
from shared.records import Record, Records
from shared.tables import table

RULE = """\
# Clustering settings, chosen with the judged set left out

Written by `cargo xtask bench defaults --only left-out --output docs/LEFT_OUT.md`; do not edit it by hand.

What accuracy do the six sets of Table 3 of [REPRODUCTION](REPRODUCTION.md) get by settings that were chosen
*without their own labels*? The rule was committed before the first figure of this search, by someone who
knew Table 3 and the default, and was not changed after it. There is no second rule.

- **Folds.** Each of the six sets is left out in turn; the other five, at full size, choose. Their labels do
  take part: this is no choice without labels, but one without those of the set that judges.
- **The score** of a setting is the mean over the five sets of the accuracy (optimal assignment), itself the
  mean over three seeds (0, 1, 2): the quantity of the bars. If three cost more than about 70 minutes of one
  core, two (0, 1); nothing else is cut.
- **The start** is plain: the paper's BoostKM (samples centred and of unit norm, features as they are, centres
  as atoms, codes with signs and as they are, no moves of atoms) with 30 members of T/8 atoms, and the step of
  Ng, Jordan and Weiss.
- **The search** goes through the ways of the graph in this order, everything else as it is then: `graph`
  (ensemble, boost-km), `signed` (False, True), `scale` (none, range, deviation, 3, 10, 30, 100), `members`
  (10, 20, 30), `samples_per_atom` (16, 8, 4), `refinements` (0, 1, 2), `sharpness` (1, 2, 4, 8, 16). The best
  mean is taken; ties go to the earlier value. It ends when a pass changes nothing, or after three.
- **The spectral step** is no way of its own, as vectors and power cannot be changed one at a time: every
  graph that is tried is judged by its best pair of `vectors` (1, 1.5, 2, 3 for each cluster) and `power` (0,
  1, 5, 10, 20). The pair is one for all five sets.
- **Judging.** The set left out, 20 runs of `sparsemble cluster` with seeds 100 to 119, by the setting that
  the other five chose: mean ± standard deviation, and NMI (arithmetic normaliser).
- **Beside it** are the default, by the same seeds, and what the same search chooses with all six sets: what
  the procedure would ship. That one has seen the labels of every set it is judged by.
"""

FOUND = """\
Settings are told by what differs from the start. A bar is what issue 6 asks of the average.
"""

STEPS = """\
Scores in per cent, each value with the spectral step that is best for it; the one that is taken is bold. The
cheapest runs are made first: `<` is what a score would be if those not yet made were perfect, where even that
was less than what was in force or better; the rest was then not run.
"""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    facts = [[name, machine[name]] for name in ("date", "versions", "command")]
    return "\n".join([RULE, "## Run\n", table(["", ""], facts), *details(records)])


def details(records: Records) -> list[str]:
    """Return the tables alone; nothing if no set was left out."""
    if not _of(records, "left-out choice"):
        return []
    return [
        *("## The set left out\n", FOUND, _judged(records), _verdict(records)),
        *("## What was chosen\n", _choices(records)),
        *("## The default and the choice by all, same seeds\n", _beside(records)),
        *("## Search, fold by fold\n", STEPS, _steps(records)),
    ]


def _of(records: Records, bench: str) -> list[Record]:
    return [record for record in records.measurements if record["bench"] == bench]


def _by(records: Records, by: str) -> list[Record]:
    return [record for record in _of(records, "left-out judged") if record["by"] == by]


def _judged(records: Records) -> str:
    header = ["set", "setting that the others chose", "accuracy, %", "NMI, %", "bar", "met"]
    rows = [
        [
            record["contender"],
            record["setting"],
            _spread(record, "accuracy"),
            _spread(record, "nmi"),
            f"{100 * record['bar']:g}",
            "yes" if record["met"] else "no",
        ]
        for record in _by(records, "left out")
    ]
    return table(header, rows)


def _verdict(records: Records) -> str:
    lines = []
    names = {"left out": "settings of the other sets", "default": "the default", "all": "the choice by all"}
    for by, name in names.items():
        found = _by(records, by)
        met = sum(record["met"] for record in found)
        mean = np.mean([record["accuracy"] for record in found])
        information = np.mean([record["nmi"] for record in found])
        lines.append(
            f"- {name}: {met} of {len(found)} bars met, mean accuracy {100 * mean:.2f} %, "
            f"mean NMI {100 * information:.2f} %, {found[0]['runs']} runs each"
        )
    return "\n".join(lines) + "\n"


def _choices(records: Records) -> str:
    header = ["left out", "setting", "score on the others, %", "seeds", "passes", "ended by itself"]
    rows = [
        [
            record["contender"],
            record["setting"],
            f"{100 * record['score']:.2f}",
            str(record["seeds"]),
            str(record["passes"]),
            "yes" if record["ended"] else "no",
        ]
        for record in _of(records, "left-out choice")
    ]
    return table(header, rows)


def _beside(records: Records) -> str:
    header = [
        "set",
        "bar",
        "the default, accuracy",
        "NMI",
        "met",
        "the choice by all, accuracy",
        "NMI",
        "met",
    ]
    rows = []
    for default, shipped in zip(_by(records, "default"), _by(records, "all"), strict=True):
        row = [default["contender"], f"{100 * default['bar']:g}"]
        for record in (default, shipped):
            met = "yes" if record["met"] else "no"
            row += [_spread(record, "accuracy"), _spread(record, "nmi"), met]
        rows.append(row)
    return table(header, rows)


def _steps(records: Records) -> str:
    values: dict[tuple[str, int, str], list[str]] = {}
    best: dict[tuple[str, int, str], str] = {}
    for record in _of(records, "left-out step"):
        step = (record["left_out"], record["number"], record["way"])
        least = "" if record["exact"] else "< "
        told = f"{record['contender']} {least}{100 * record['score']:.2f}"
        values.setdefault(step, []).append(f"**{told}**" if record["taken"] else told)
        if record["taken"]:
            best[step] = record["setting"]
    rows = [[*map(str, step), ", ".join(told), best[step]] for step, told in values.items()]
    return table(["left out", "pass", "way", "values", "the best then"], rows)


def _spread(record: Record, what: str) -> str:
    return f"{100 * record[what]:.2f} ± {100 * record[f'{what}_deviation']:.2f}"
