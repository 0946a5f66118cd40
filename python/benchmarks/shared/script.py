"""The command line of a benchmark: which workloads run, how large, and where the results go."""

import argparse
import datetime
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.machine import describe
from shared.page import write_part
from shared.records import Records
from shared.tables import summary

Sizes = dict[str, tuple[type, str]]
"""For each field of the settings that the command line can change, its type and what it means."""


def main(
    name: str,
    workloads: dict[str, Callable[[Any, Records], None]],
    settings: tuple[Any, Any],
    sizes: Sizes,
    report: tuple[Callable[[Records, dict[str, str]], str], Callable[[Records], list[str]]],
) -> int:
    """Read the command line, run the workloads and report.

    `settings` are those of a full and of a quick run; `report` makes the part of the page and the details for
    the terminal. Returns 1 if an objective of ours was worse than a rival's.
    """
    full, quick = settings
    parser = argparse.ArgumentParser(prog=f"cargo xtask bench {name}")
    parser.add_argument("--quick", action="store_true", help="small, within a minute: for a rough idea")
    for field, (kind, meaning) in sizes.items():
        option = "--" + field.removeprefix("n_").replace("_", "-")
        usual = f"{meaning} (a full run: {getattr(full, field):,})"
        parser.add_argument(option, dest=field, type=kind, help=usual)
    parser.add_argument("--only", choices=workloads, help="one workload")
    parser.add_argument(
        "--with",
        dest="earlier",
        type=Path,
        nargs="+",
        default=[],
        metavar="RESULTS",
        help="what other runs have printed on standard output; it is reported together with this run",
    )
    parser.add_argument(
        "--output", type=Path, help="also write our part of the page docs/PERFORMANCE.md here"
    )
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="the date on the page")
    arguments = parser.parse_args()

    machine = {"date": arguments.date} | describe()
    command = " ".join([f"cargo xtask bench {name}", *sys.argv[1:]])
    asked = {field: getattr(arguments, field) for field in sizes}
    chosen = replace(
        quick if arguments.quick else full,
        **{field: value for field, value in asked.items() if value is not None},
    )
    records = Records()
    for path in arguments.earlier:
        records.recall(path)
    records.begin(command)
    machine["command"] = "; ".join(records.commands)
    for workload, run in workloads.items():
        if arguments.only in (None, workload):
            run(chosen, records)
    page, details = report
    print(summary(records, details(records)), file=sys.stderr)
    if arguments.output:
        write_part(arguments.output, page(records, machine))
    return 1 if records.failures else 0
