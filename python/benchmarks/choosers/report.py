"""The pages docs/DEFAULTS.md and docs/LEFT_OUT.md."""

import re

from shared.records import Record, Records
from shared.tables import table

from choosers import left_out_page

HEAD = """\
# The defaults of clustering, chosen

Written by `cargo xtask bench defaults --output docs/DEFAULTS.md`; do not edit it by hand.

The six sets on which clustering is judged in Table 3 of [REPRODUCTION](REPRODUCTION.md) take no part in
this, nor does any copy or part of them. The rule was written before the first figure of this search:

- **Samples** are those of the sets below, from packages that carry data. Each draw has another 80 % of a
  set, but at most as many samples as the command says, and another seed; all settings get the same draws. A
  set whose classes share less than 0.1 of NMI with plain K-Means is left out: its classes are no clusters.
  Sets of one source (`mfeat`) are views of the same things and count as one.
- **The score** of a setting on a source is the mean of accuracy and NMI (arithmetic normaliser) over the
  draws. Settings are compared source by source; errors are standard errors over the sources.
- **The start** is plain: the paper's BoostKM (samples centred and of unit norm, features as they are, centres
  as atoms, codes with signs and as they are, no moves of atoms) with 30 members of T/8 atoms, and the step of
  Ng, Jordan and Weiss (as many eigenvectors as clusters, all the same). That the graph is one of stacked
  codes is no part of the search: of the paper's it is the one that need not be formed.
- **The search** goes through the ways in the order of the table below, the values of each as they are there,
  everything else as it is then. Where all values cost the same (scale, sharpness, power) the best mean is
  taken, as there is nothing else to prefer. Where they do not, the cheapest that is not worse than the best
  by more than one standard error. It ends when a pass changes nothing, or after three.
- **Confirmation**, with draws that took no part: what was found is the choice if it is better than the start
  by more than two standard errors; if not, the start is. Whatever else is in that table does not choose.
- **Stability** is the mean adjusted Rand index of two draws on the samples they share. It uses no classes;
  it is shown beside the score and does not choose, as a bad clustering may be stable.
"""

SEARCH = """\
`graph` is by centres (`boost-km`) or examples (`ensemble`); a number for `scale` divides features by their
ranges where the largest is more than so many times the lower quartile. Scores are points beside the value
that was in force; that which is taken is bold.
"""

GUESSING = """\
`-k auto` takes the number of eigenvalues before the widest gap. Others are compared with it by the factor by
which they are off, as log₂, with the same rule for what counts.
"""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page of the search; what was found with a set left out is a part of it, or a page itself."""
    left_out = left_out_page.page(records, machine) if left_out_page.details(records) else ""
    if left_out and not _searched(records):
        return left_out
    facts = [[name, machine[name]] for name in ("date", "versions", "command")]
    parts = [HEAD, "## Run\n", table(["", ""], facts), *_sets(records), *_details(records)]
    return "\n".join([*parts, re.sub("^#", "##", left_out, flags=re.MULTILINE)])


def details(records: Records) -> list[str]:
    """Return what a terminal shows beside the page."""
    return [*(_details(records) if _searched(records) else []), *left_out_page.details(records)]


def _searched(records: Records) -> bool:
    """Whether anything was found beside what is of the sets left out."""
    return any(not record["bench"].startswith("left-out") for record in records.measurements)


def _details(records: Records) -> list[str]:
    parts = ["## Confirmation and choice\n", _confirmation(records)]
    return [*parts, "## Search from plain settings\n", SEARCH, _search(records), *_guesses(records)]


def _guesses(records: Records) -> list[str]:
    header = [
        "rule",
        "right, %",
        "within one, %",
        "off by a factor of",
        "log₂ of it less than the first",
        "counts",
    ]
    parts = ["## How many clusters there are\n", GUESSING]
    titles = {"guess": "The sets above", "guess of known structure": "Samples whose structure is known"}
    for bench, title in titles.items():
        found = [record for record in records.measurements if record["bench"] == bench]
        rows = [
            [
                record["contender"],
                f"{100 * record['right']:.0f}",
                f"{100 * record['within_one']:.0f}",
                f"{record['factor']:.2f}",
                f"{record['less']:+.2f} ± {record['less_error']:.2f}",
                "yes" if record["counts"] else "",
            ]
            for record in found
        ]
        parts += [f"{title}, {found[0]['sources']} sources:\n", table(header, rows)] if found else []
    return parts if len(parts) > 2 else []


def _sets(records: Records) -> list[str]:
    rows = [
        [
            record["contender"],
            str(record["T"]),
            str(record["M"]),
            str(record["classes"]),
            f"{record['information']:.2f}",
            "yes" if record["taken"] else "no",
        ]
        for record in records.measurements
        if record["bench"] == "set"
    ]
    return ["## Sets\n", table(["set", "samples", "features", "classes", "NMI of K-Means", "taken"], rows)]


def _search(records: Records) -> str:
    steps: dict[tuple[int, str], list[str]] = {}
    for record in records.measurements:
        if record["bench"] == "search":
            value = f"**{record['contender']}**" if record["taken"] else record["contender"]
            points = "" if record["in_force"] else f" {_points(record, 'score')}"
            steps.setdefault((record["pass"], record["way"]), []).append(value + points)
    rows = [[str(number), way, ", ".join(values)] for (number, way), values in steps.items()]
    return table(["pass", "way", "values"], rows)


def _confirmation(records: Records) -> str:
    header = [
        "",
        "beside plain",
        "accuracy, %",
        "NMI, %",
        "score beside plain, points",
        "better, worse",
        "counts",
    ]
    header += ["stability, %", "beside plain, points"]
    rows = [_cells(record) for record in records.measurements if record["bench"] == "confirmation"]
    return table(header, rows)


def _cells(record: Record) -> list[str]:
    return [
        record["contender"],
        record["setting"],
        f"{100 * record['accuracy']:.1f}",
        f"{100 * record['nmi']:.1f}",
        _points(record, "score"),
        f"{record['better']}, {record['worse']}",
        "yes" if record["counts"] else "",
        f"{100 * record['stability']:.1f}",
        _points(record, "stability"),
    ]


def _points(record: Record, what: str) -> str:
    return f"{100 * record[f'{what}_difference']:+.2f} ± {100 * record[f'{what}_error']:.2f}"
