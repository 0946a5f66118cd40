"""The memory of training on a file of many millions of patches, which is not read as a whole."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from shared.contest import Result
from shared.data import learning_patches
from shared.records import Records, progress

from learners.runs import SIDE, Settings

THREADS = 2
N_ATOMS = 256
METHODS = {
    "BoostEx": "--method boost-ex --models 3 --one-sparse",
    "BoostEx, lasso": "--method boost-ex --models 2 --lambda 0.2",
    "RandExAv": "--method rand-ex-av --models 3",
    "online Alt-Opt": "--method online --iterations 1 --sparsity 3",
}
MOST_MB = 4096
"""What training may take, however many samples there are in the file."""
BLOCK = 100_000
POLL = 0.02
"""Seconds between two looks at the memory of the process."""


def run(settings: Settings, records: Records) -> None:
    """Train with each method on a file of so many millions of patches, if that was asked for."""
    if not settings.large:
        return
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.npy"
        progress(f"writing {settings.large} million patches")
        _write(samples, settings.large * 1_000_000)
        for name, options in METHODS.items():
            progress(f"{name} on {settings.large} million patches")
            _train(records, name, options, samples)


def _write(path: Path, count: int) -> None:
    """Write patches of the photographs, each block of them with other noise, so that no two are the same."""
    patches, _ = learning_patches(SIDE, BLOCK, 0)
    file = np.lib.format.open_memmap(path, mode="w+", dtype="<f4", shape=(count, SIDE * SIDE))
    rng = np.random.default_rng(0)
    for start in range(0, count, BLOCK):
        block = file[start : start + BLOCK]
        noise = rng.standard_normal(block.shape, dtype=np.float32)
        block[:] = patches[: len(block)].astype(np.float32) + np.float32(0.01) * noise
    file.flush()


def _train(records: Records, name: str, options: str, samples: Path) -> None:
    """Train in a process of its own and watch its memory."""
    output = samples.with_name("model.safetensors")
    given = f"train {options} --atoms {N_ATOMS} --threads {THREADS} --force".split()
    command = [os.environ["SPARSEMBLE_PROGRAM"], *given, "-o", str(output), str(samples)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    anonymous = whole = 0.0
    while process.poll() is None:
        now = _memory(process.pid)
        anonymous = max(anonymous, now.get("RssAnon", 0.0))
        whole = max(whole, now.get("VmHWM", 0.0))
        time.sleep(POLL)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed")
    count = (samples.stat().st_size - 128) // (4 * SIDE * SIDE)
    result = Result(name, "f32", THREADS, count, seconds)
    facts = {"file_mb": samples.stat().st_size / 2**20, "anonymous_mb": anonymous, "resident_mb": whole}
    records.note("large", result, K=N_ATOMS, **facts)
    records.limit(f"{name} on {count:,} patches: memory", "MB", name, whole, MOST_MB)


def _memory(pid: int) -> dict[str, float]:
    """Megabytes of a process by name: RssAnon is what it needs, VmHWM the most that was ever resident."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    fields = (line.split() for line in lines)
    return {words[0].rstrip(":"): float(words[1]) / 1024 for words in fields if words and words[-1] == "kB"}
