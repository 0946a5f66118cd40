"""Races for ×2: the model of the package, the paper's RandExAv, a paired dictionary coded by SPAMS, GEMM."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import spams
from PIL import Image
from scipy.io import loadmat
from shared.contest import Result
from shared.native import native
from shared.records import Records, progress

from enlargers.protocol import imresize
from enlargers.runs import Settings, folder

SCALE = 2
N_MODELS, N_ATOMS = 50, 1024
LAMBDA = 0.2
"""Of SPAMS, with ½ before the error: that of Yang et al."""
THREADS = 2
TARGETS = {"gemm": 0.6, "rand-ex-av gemm": 0.7, "rand-ex-av": 50.0, "spams": 100.0}
MEMORY_TARGET = 1024
"""Megabytes, for a hundred megapixels."""
PART = 4
"""The slow ones enlarge a part of the picture, so many times smaller on each side."""


def run(settings: Settings, records: Records) -> None:
    """Time everyone on the same picture in turn, and ours on others."""
    truth = np.asarray(Image.open(folder("standard") / "lena_512.png").convert("L"), dtype=np.float32)
    picture = truth[: settings.side, : settings.side]
    with tempfile.TemporaryDirectory() as directory:
        _race(picture, Path(directory), settings, records)
        _growth(picture, Path(directory), settings, records)
        if settings.large:
            _large(Path(directory), settings, records)


def _race(picture: np.ndarray, directory: Path, settings: Settings, records: Records) -> None:
    """Seconds for a megapixel of each, the best of several turns."""
    part = picture[: len(picture) // PART, : len(picture) // PART]
    features, dictionary = _features(part), _dictionary()
    best: dict[str, float] = {}
    shares: dict[str, float] = {}
    for turn in range(settings.repetitions):
        progress(f"race, turn {turn + 1} of {settings.repetitions}")
        for method, image in (("anchored", picture), ("rand-ex-av", part)):
            record = _enlarge(method, image, directory)
            megapixel = record["seconds"] / (SCALE**2 * image.size) * 1e6
            best[method] = min(megapixel, best.get(method, np.inf))
            share = record["multiply_adds"] / record["seconds"] / record["gemm_per_second"]
            shares[method] = max(share, shares.get(method, 0.0))
        start = time.perf_counter()
        spams.lasso(features, D=dictionary, lambda1=LAMBDA, mode=2, numThreads=THREADS)
        seconds = (time.perf_counter() - start) / features.shape[1] * 1e6
        best["SPAMS"] = min(seconds, best.get("SPAMS", np.inf))
    for name, seconds in best.items():
        records.note("×2, a megapixel", Result(name, "f32", THREADS, 1_000_000, seconds))
    workload = "×2, a megapixel of the result"
    ours = "anchored"
    records.compare(f"{workload}: share of GEMM rate", "faer", ours, shares[ours], TARGETS["gemm"])
    rival = f"RandExAv, {N_MODELS} × {N_ATOMS}"
    ratio = best["rand-ex-av"] / best[ours]
    records.compare(workload, f"our {rival}", ours, ratio, TARGETS["rand-ex-av"])
    share = shares["rand-ex-av"]
    records.compare(f"{workload}: share of GEMM rate", "faer", rival, share, TARGETS["rand-ex-av gemm"])
    ratio = best["SPAMS"] / best[ours]
    records.compare(workload, "PairDict, codes by SPAMS", ours, ratio, TARGETS["spams"])


def _enlarge(method: str, picture: np.ndarray, directory: Path, repetitions: int = 1) -> dict[str, float]:
    """Enlarge a picture by the native program."""
    path = directory / "picture.f32"
    picture.astype("<f4").tofile(path)
    options = {"samples": path, "features": picture.shape[1], "threads": THREADS, "repetitions": repetitions}
    if method == "rand-ex-av":
        options |= {"models": N_MODELS, "atoms": N_ATOMS}
    return native("enlarge", method, *(f"{name}={value}" for name, value in options.items()))


def _dictionary() -> np.ndarray:
    """Return the low-resolution dictionary of Yang et al.; atoms are columns, of unit norm as there."""
    atoms = loadmat(folder("..", "scsr") / "D_1024_0.15_5.mat")["Dl"]
    return np.asfortranarray((atoms / np.sqrt((atoms**2).sum(axis=0))).astype(np.float32))


def _features(small: np.ndarray) -> np.ndarray:
    """Return the features of all patches of 5 × 5 pixels; columns are patches.

    First and second differences across and down, and the four together no longer than one.
    """
    large = np.clip(np.round(imresize(small.astype(float), SCALE)), 0, 255)
    padded = np.pad(large, 2, mode="edge")
    rows, columns = large.shape
    middle = slice(2, -2)
    across = [padded[middle, 3 : columns + 3] - padded[middle, 1 : columns + 1]]
    across.append(padded[middle, 4:] - 2 * large + padded[middle, :columns])
    down = [padded[3 : rows + 3, middle] - padded[1 : rows + 1, middle]]
    down.append(padded[4:, middle] - 2 * large + padded[:rows, middle])
    windows = [np.lib.stride_tricks.sliding_window_view(plane, (5, 5)) for plane in across + down]
    features = np.concatenate([window.reshape(-1, 25) for window in windows], axis=1)
    features /= np.maximum(1.0, np.sqrt((features**2).sum(axis=1, keepdims=True)))
    return np.asfortranarray(features.T.astype(np.float32))


def _growth(picture: np.ndarray, directory: Path, settings: Settings, records: Records) -> None:
    """Time and memory by the number of pixels: the picture, mirrored again and again."""
    pixels, seconds, memory = [], [], []
    for times in (1, 2, 4):
        progress(f"growth: {times} × {times} pictures")
        side = times * len(picture)
        larger = np.pad(picture, (0, side - len(picture)), mode="symmetric")
        record = _enlarge("anchored", larger, directory, min(2, settings.repetitions))
        pixels.append(float(SCALE**2 * larger.size))
        seconds.append(record["seconds"])
        memory.append(record["peak_mb"])
    each = [1e6 * value / count for value, count in zip(seconds, pixels, strict=True)]
    records.grow("enlarging ×2", "pixels", pixels, seconds, unit="seconds", us_per_pixel=each, peak_mb=memory)


def _large(directory: Path, settings: Settings, records: Records) -> None:
    """Enlarge a colour picture by the program, to so many megapixels; it is mirrored again and again."""
    truth = np.asarray(Image.open(folder("sr", "Set14") / "lenna.bmp").convert("RGB"))
    height = int((settings.large * 1e6 * 3 / 4) ** 0.5) // SCALE
    width = int(settings.large * 1e6 / SCALE / height) // SCALE
    progress(f"speed: {SCALE * width} × {SCALE * height} pixels, which takes a while")
    more = ((0, max(0, height - truth.shape[0])), (0, max(0, width - truth.shape[1])), (0, 0))
    small, large = directory / "small.png", directory / "large.png"
    Image.fromarray(np.pad(truth, more, mode="symmetric")[:height, :width]).save(small, compress_level=1)
    command = [
        os.environ["SPARSEMBLE_PROGRAM"],
        "upscale",
        str(small),
        "--scale",
        str(SCALE),
        "-o",
        str(large),
    ]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--threads", str(THREADS)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit("sparsemble upscale has failed")
    workload = f"×{SCALE} to {SCALE * width} × {SCALE * height} pixels by the program, colour"
    records.note(workload, Result("sparsemble", "f32", THREADS, SCALE**2 * width * height, seconds))
    records.limit(f"{workload}: megabytes", "1 MB", "sparsemble", usage.ru_maxrss * 1024 / 1e6, MEMORY_TARGET)
