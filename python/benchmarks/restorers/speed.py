"""Races: blocks by an ensemble of the paper against the same loop on SPAMS, ours against GEMM; growth."""

import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import spams
from shared.contest import Contender, interleave
from shared.data import learning_patches
from shared.native import native
from shared.records import Records, progress

import sparsemble
from restorers.runs import RECOVERED, Settings, pictures

N_MODELS = 50
N_ATOMS = 256
N_MEASUREMENTS = 16
LAMBDA = 0.1
TARGET = 5.0
SIDES = (128, 256, 512)
GEMM_TARGET = 0.6
THREADS = 2
MEMORY_TARGET = 2048
"""Megabytes for a picture of 12 megapixels."""


def run(settings: Settings, records: Records) -> None:
    """Time all."""
    _blocks(settings, records)
    _gemm(settings, records)
    _growth(settings, records)
    if settings.large:
        _large(settings, records)


def _blocks(settings: Settings, records: Records) -> None:
    """RandExAv: every block of a picture coded in fifty dictionaries of examples, seen through Φ."""
    progress("speed: RandExAv, block by block")
    truth = next(iter(pictures(RECOVERED, settings).values())) / 255
    height, width = (length // 8 * 8 for length in truth.shape)
    blocks = truth[:height, :width].reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2).reshape(-1, 64)
    blocks = blocks - blocks.mean(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    phi = sparsemble.CompressiveRecovery(n_measurements=N_MEASUREMENTS, random_state=0).phi_
    measurements = np.ascontiguousarray((blocks @ phi.T).astype(np.float32))
    examples = learning_patches(8, 20_000, 1)[0]
    dictionaries = [examples[rng.choice(len(examples), N_ATOMS, replace=False)] for _ in range(N_MODELS)]
    bases = [np.ascontiguousarray((dictionary @ phi.T).astype(np.float32)) for dictionary in dictionaries]
    contenders = [
        Contender(
            "sparsemble", "f32", 1, len(blocks), partial(_timed, _ours, measurements, bases, dictionaries)
        ),
        Contender("SPAMS", "f32", 1, len(blocks), partial(_timed, _spams, measurements, bases, dictionaries)),
    ]
    ours, rival = interleave(contenders, settings.repetitions)
    workload = f"RandExAv, {N_MODELS} × {N_ATOMS} atoms, {N_MEASUREMENTS} of 64 numbers of a block"
    for result in (ours, rival):
        records.note(workload, result)
    records.compare(workload, "the same loop on SPAMS", "sparsemble", rival.seconds / ours.seconds, TARGET)
    apart = np.abs(ours.output - rival.output).max()
    if apart > 1e-2:
        records.fail(f"{workload}: the pictures differ by {apart:.3g} of white")


def _timed(code, *arguments):
    start = time.perf_counter()
    output = code(*arguments)
    return time.perf_counter() - start, output


def _ours(measurements, bases, dictionaries):
    total = 0
    for basis, dictionary in zip(bases, dictionaries, strict=True):
        total += sparsemble.sparse_encode(measurements, basis, lam=LAMBDA, n_threads=1) @ dictionary
    return total / len(bases)


def _spams(measurements, bases, dictionaries):
    total = 0
    samples = np.asfortranarray(measurements.T)
    for basis, dictionary in zip(bases, dictionaries, strict=True):
        atoms = np.asfortranarray(basis.T)
        total += spams.lasso(samples, D=atoms, lambda1=LAMBDA / 2, mode=2, numThreads=1).T @ dictionary
    return total / len(bases)


def _gemm(settings: Settings, records: Records) -> None:
    """Compare the multiply-adds of both priors in a second with those of products right after it."""
    progress("speed: recovery beside GEMM")
    truth = next(iter(pictures(RECOVERED, settings).values()))
    for threads in (1, THREADS):
        found = [_recover(truth, threads) for _ in range(settings.repetitions)]
        # The best of each: the best quotient would be that of a product that was disturbed.
        seconds = min(each["seconds"] for each in found)
        rate = max(each["gemm_per_second"] for each in found)
        share = found[0]["multiply_adds"] / seconds / rate
        height, width = truth.shape
        workload = f"recovery of {width} × {height} pixels, threads={threads}: share of GEMM rate"
        records.compare(workload, "faer", "sparsemble", share, GEMM_TARGET, seconds=seconds)


def _large(settings: Settings, records: Records) -> None:
    """Recover a picture of so many megapixels: the usual one, mirrored again and again."""
    truth = next(iter(pictures(RECOVERED, settings).values()))
    height = int((settings.large * 1e6 * 3 / 4) ** 0.5) // 8 * 8
    width = int(settings.large * 1e6 / height) // 8 * 8
    progress(f"speed: recovery of {width} × {height} pixels, which takes a while")
    larger = np.pad(truth, ((0, height - truth.shape[0]), (0, width - truth.shape[1])), mode="symmetric")
    found = _recover(larger, THREADS)
    workload = f"recovery of {width} × {height} pixels, threads={THREADS}"
    share = found["multiply_adds"] / found["seconds"] / found["gemm_per_second"]
    name = f"{workload}: share of GEMM rate"
    records.compare(name, "faer", "sparsemble", share, GEMM_TARGET, seconds=found["seconds"])
    records.limit(f"{workload}: megabytes", "1 MB", "sparsemble", found["peak_mb"], MEMORY_TARGET)


def _recover(picture: np.ndarray, threads: int) -> dict[str, float]:
    """Recover a picture by the native program."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "picture.f32"
        picture.astype("<f4").tofile(path)
        options = {"samples": path, "features": picture.shape[1], "threads": threads, "repetitions": 1}
        return native("recover", *(f"{name}={value}" for name, value in options.items()))


def _growth(settings: Settings, records: Records) -> None:
    """The time of a recovery by the number of pixels, and the memory it needs beyond what was there."""
    progress("speed: recovery by the number of pixels")
    truth = next(iter(pictures(RECOVERED, settings).values()))
    sides = [side for side in SIDES if side <= min(truth.shape)]
    if len(sides) < 2:
        sides = [min(truth.shape) // 2, min(truth.shape)]
    recovery = sparsemble.CompressiveRecovery(n_measurements=N_MEASUREMENTS, random_state=0, n_threads=1)
    seconds = []
    for side in sides:
        part = np.ascontiguousarray(truth[:side, :side])
        measurements = recovery.sense(part)
        runs = []
        for _ in range(settings.repetitions):
            start = time.perf_counter()
            recovery.recover(measurements, part.shape)
            runs.append(time.perf_counter() - start)
        seconds.append(min(runs))
    pixels = [float(side * side) for side in sides]
    per_pixel = [1e6 * each / count for each, count in zip(seconds, pixels, strict=True)]
    records.grow("recovery of a picture", "pixels", pixels, seconds, unit="seconds", us_per_pixel=per_pixel)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    records.remember("the largest of these, and all of Python", pixels[-1] * 8 / 2**20, most)
