"""The page docs/DEFAULTS.md."""

from shared.records import Record, Records
from shared.tables import table

from choosers.settings import PRESENT, WAYS

HEAD = """\
# The defaults of clustering, chosen

Written by `cargo xtask bench defaults --output docs/DEFAULTS.md`; do not edit it by hand.

The six sets on which clustering is judged in Table 3 of [REPRODUCTION](REPRODUCTION.md) take no part in
this, nor does any copy or part of them. The rule was written before the first figure; what was cut later, for
its cost, is in [0022](decisions/0022-clusters-by-default.md):

- **Samples** are those of the sets below, from packages that carry data. Each draw has another 80 % of a
  set, but at most as many samples as the command says, and another seed; all settings get the same draws. A
  set whose classes share less than 0.1 of NMI with plain K-Means is left out: its classes are no clusters.
  Sets of one source (`mfeat`) are views of the same things and count as one.
- **The score** of a setting on a source is the mean of accuracy and NMI (arithmetic normaliser) over the
  draws. Settings are compared source by source; a difference counts if its mean is more than two standard
  errors over the sources above zero. Below that settings are level, and **the present one stays**.
- **One way at a time**: everything else as it is at present, a value that counts as better replaces the
  present one; of several the best.
- **Confirmation**, with draws that took no part: all replacements together. If they count as better than the
  present setting they are the choice; if not, the present one is.
- **Stability** is the mean adjusted Rand index of two draws on the samples they share. It uses no classes;
  it is shown beside the score and does not choose, as a bad clustering may be stable.
"""

GUESSING = """\
`-k auto` takes the number of eigenvalues before the widest gap. Others are compared with it by the factor by
which they are off, as log₂, with the same rule for what counts.
"""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    facts = [[name, machine[name]] for name in ("date", "versions", "command")]
    parts = [HEAD, "## Run\n", table(["", ""], facts), *_sets(records), *_details(records)]
    return "\n".join(parts)


def details(records: Records) -> list[str]:
    """Return what a terminal shows beside the page."""
    return _details(records)


def _details(records: Records) -> list[str]:
    parts = ["## Confirmation and choice\n", _comparison(records, ("confirmation", "choice"))]
    parts += ["## One way at a time\n", f"At present: {_present()}.\n"]
    parts += [_comparison(records, ("present", *WAYS))]
    parts += ["## Baselines\n", _comparison(records, ("baseline",))]
    return [*parts, *_guesses(records)]


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


def _present() -> str:
    return ", ".join(f"{way} = {getattr(PRESENT, way)}" for way in WAYS)


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


def _comparison(records: Records, benches: tuple[str, ...]) -> str:
    header = [
        "",
        "setting",
        "accuracy, %",
        "NMI, %",
        "score beside the present, points",
        "better, worse",
        "counts",
    ]
    header += ["stability, %", "beside the present, points"]
    rows = [_cells(record) for record in records.measurements if record["bench"] in benches]
    return table(header, rows)


def _cells(record: Record) -> list[str]:
    # In a way of its own the name of a setting is what it differs in.
    name = "" if record["contender"] == record["setting"] else record["contender"]
    return [
        name,
        record["setting"],
        f"{100 * record['accuracy']:.1f}",
        f"{100 * record['nmi']:.1f}",
        f"{100 * record['score_difference']:+.2f} ± {100 * record['score_error']:.2f}",
        f"{record['better']}, {record['worse']}",
        "yes" if record["counts"] else "",
        f"{100 * record['stability']:.1f}",
        f"{100 * record['stability_difference']:+.2f} ± {100 * record['stability_error']:.2f}",
    ]
