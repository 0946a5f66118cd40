"""Records as tables: for the terminal, and for the page docs/PERFORMANCE.md."""

from collections.abc import Callable
from typing import Any

from shared.records import Record, Records

COMPARISON_HEADER = ["workload", "ours", "rival", "ratio", "objective", "target", "met"]
"""The objective is how far ours is above the rival's, relatively; nothing where there is none in common."""


def summary(records: Records, details: list[str]) -> str:
    """Return all comparisons, some details and how many targets were met, for a terminal."""
    rows = [COMPARISON_HEADER]
    rows += [_comparison_cells(record) for record in records.comparisons]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    failures = [f"FAILED {failure}" for failure in records.failures]
    return "\n".join(["", *(line.rstrip() for line in lines), "", *details, *failures, verdict(records)])


def head(text: str, machine: dict[str, str], records: Records, meaning: str) -> list[str]:
    """Return how a part of the page begins: how it was measured, on what, and which targets were met."""
    parts = [text, "## Machine\n", table(["", ""], [[name, value] for name, value in machine.items()])]
    return [*parts, "## Targets\n", verdict(records) + "\n", *_targets(records, meaning)]


def verdict(records: Records) -> str:
    """Count the targets that were met."""
    judged = [record for record in records.comparisons if record["met"] is not None]
    if not judged:
        return "No target has been measured."
    missed = [record for record in judged if not record["met"]]
    worse = f" {len(records.failures)} objectives were worse than a rival's." if records.failures else ""
    return f"{len(judged) - len(missed)} of {len(judged)} targets met, {len(missed)} missed.{worse}"


def _comparison_cells(record: Record) -> list[str]:
    ratio = record.get("reason", "none") if record["ratio"] is None else digits(record["ratio"])
    excess = record.get("objective_excess")
    objective = "" if excess is None else f"{excess:+.0e}"
    at_most = "≤ " if record.get("at_most") else ""
    target = "" if record["target"] is None else f"{at_most}{record['target']:g}"
    met = {None: "", True: "yes", False: "NO"}[record["met"]]
    return [record["workload"], record["ours"], record["rival"], ratio, objective, target, met]


def _targets(records: Records, meaning: str) -> list[str]:
    judged = [record for record in records.comparisons if record["target"] is not None]
    judged.sort(key=lambda record: record["met"] is not False)
    others = [record for record in records.comparisons if record["target"] is None]
    parts = [
        f"{meaning} Missed targets come first.\n",
        table(COMPARISON_HEADER, [_comparison_cells(record) for record in judged]),
    ]
    if others:
        parts.append("Without a target:\n")
        parts.append(table(COMPARISON_HEADER[:5], [_comparison_cells(record)[:5] for record in others]))
    return parts


def growth(records: Records, what: str, costs: dict[str, str], text: str) -> list[str]:
    """Tabulate how costs grow; `costs` are their keys in the records, with a title for each."""
    if not records.growth:
        return []
    rows = [
        [
            record["growth"],
            {"lambda": "λ"}.get(record["variable"], record["variable"]),
            ", ".join(f"{value:g}" for value in record["values"]),
            f"{record['exponent']:.2f}",
            *(", ".join(digits(cost) for cost in record[key]) for key in costs),
        ]
        for record in records.growth
    ]
    header = [what, "varied", "values", "exponent", *costs.values()]
    return ["## Growth\n", text + "\n", table(header, rows)]


def memory(records: Records, text: str) -> list[str]:
    """Tabulate what was needed beyond the input."""
    if not records.memory:
        return []
    rows = [
        [record["memory"], f"{record['data_mb']:.0f}", f"{record['extra_mb']:.0f}"]
        for record in records.memory
    ]
    return ["## Memory\n", text + "\n", table(["call", "input", "beyond it"], rows)]


def pivot(records: list[Record], keys: tuple[str, ...], cell: Callable[[Record], str]) -> str:
    """Tabulate a line for each contender and a column for each case."""
    cases: dict[tuple[Any, ...], str] = {}
    cells: dict[str, dict[tuple[Any, ...], str]] = {}
    for record in records:
        case = tuple(record[key] for key in keys)
        cases[case] = " ".join(f"{'λ' if key == 'lambda' else key}={record[key]}" for key in keys)
        threads = f" ×{record['threads']}" if record["threads"] > 1 else ""
        label = f"{record['contender']} {record['dtype']}{threads}"
        cells.setdefault(label, {})[case] = cell(record)
    rows = [[label, *(found.get(case, "") for case in cases)] for label, found in cells.items()]
    return table(["", *cases.values()], rows)


def digits(value: float) -> str:
    """Write three digits, or all those before the point."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
