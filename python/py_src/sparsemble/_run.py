"""How a long call is run: on how many threads, and whom it tells of its progress."""

import operator
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend

Progress = bool | Callable[[int, int], Any] | None
RunOptions = tuple[int, Callable[[int, int], Any] | None]


@contextmanager
def running(n_threads: int | None, progress: Progress, total: int) -> Iterator[RunOptions]:
    """Give what the compiled code needs to run, and report the end of a call that went well.

    `total` is what there is to do if the compiled code does not say otherwise.
    """
    threads = thread_count(n_threads)
    if progress is None or progress is False:
        yield threads, None
    elif progress is True:
        with _bar(total) as bar:

            def move(done: int, of: int) -> None:
                bar.total = of
                bar.update(done - bar.n)

            yield threads, move
            move(bar.total, bar.total)
    elif callable(progress):
        function = progress

        def tell(done: int, of: int) -> None:
            nonlocal total
            total = of
            function(done, of)

        yield threads, tell
        function(total, total)
    else:
        raise TypeError(f"progress={progress!r}: use True for a bar, or a function of (done, total)")


def thread_count(n_threads: int | None) -> int:
    """Read `n_threads` as joblib reads `n_jobs`, except that None means all cores that are ours."""
    if n_threads is None:
        cores = joblib.cpu_count()
        # Clusters and joblib's processes say in this variable how many cores are ours.
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            return min(cores, int(limit))
        # A worker of joblib that was not told has others beside it.
        is_worker = get_active_backend()[0].nesting_level
        return 1 if is_worker else cores
    try:
        threads = operator.index(n_threads)
    except TypeError:
        raise TypeError(f"n_threads={n_threads!r}: use a whole number, or None for all cores") from None
    if threads == 0:
        raise ValueError(
            "n_threads=0: use a positive number, None or -1 for all cores, or -2 for all but one"
        )
    # Cores are counted only if need be: that takes longer than coding a hundred samples.
    return threads if threads > 0 else max(1, joblib.cpu_count() + 1 + threads)


def _bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: pip install 'sparsemble[progress]'") from None
    return tqdm(total=total, unit="sample")
