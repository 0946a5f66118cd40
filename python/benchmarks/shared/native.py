"""Calls of the program of crates/sparsemble-bench, which measures native code and reports its own time."""

import json
import os
import subprocess
from typing import Any

from shared.contest import Contender


def native(*arguments: Any) -> dict[str, Any]:
    """Run it once and return the record it prints."""
    command = [os.environ["SPARSEMBLE_BENCH_BIN"], *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def product_contender(library: str, dtype: str, n_features: int, n_atoms: int, n_samples: int) -> Contender:
    """Time the product of atoms and samples by a GEMM library."""

    def run() -> tuple[float, None]:
        record = native("product", library, dtype, n_features, n_atoms, n_samples)
        return record["seconds"], None

    return Contender(library, dtype, 1, n_samples, run)
