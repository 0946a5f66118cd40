"""The memory a call of ours needs beyond its input, measured in a process of its own.

Run as a program with the samples, the atoms and the options of `sparse_encode`: prints two numbers in bytes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

MEGABYTE = 1e6


def measure(X: np.ndarray, D: np.ndarray | None, **options: Any) -> tuple[float, float]:
    """Return the megabytes of the input and those needed beyond it; no D means that X is coded by itself."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "X.npy", Path(folder) / "D.npy"]
        np.save(files[0], X)
        np.save(files[1], np.empty((0, X.shape[1]), X.dtype) if D is None else D)
        command = [sys.executable, "-m", "coders.memory", *map(str, files), json.dumps(options)]
        output = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1]
        ).stdout
    extra = json.loads(output)
    return (X.nbytes + (0 if D is None else D.nbytes)) / MEGABYTE, extra / MEGABYTE


def _high_water_mark() -> int:
    """Bytes. Linux hands the mark of `getrusage` on from parent to child, so its own table is read there."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(samples: str, atoms: str, options: str) -> None:
    """Code the samples and print the rise of the high-water mark."""
    import sparsemble

    X, D = np.load(samples), np.load(atoms)
    chosen = json.loads(options)
    if len(D) == 0:
        D, chosen["exclude"] = X, np.arange(len(X))
    warm_up = X[:8]
    sparsemble.sparse_encode(warm_up, warm_up, method="one-sparse", n_threads=1)
    before = _high_water_mark()
    sparsemble.sparse_encode(X, D, **chosen)
    print(_high_water_mark() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
