"""USPS digits to labels: ours against scikit-learn's `SpectralClustering`, fed the l1 graph by SPAMS."""

import multiprocessing
import time
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np
from scipy.sparse import csr_array
from shared.contest import Contender, Result, interleave
from shared.records import Records, progress
from sklearn.cluster import SpectralClustering

from clusterers.l1 import KIND, spams_codes
from clusterers.runs import N_CLASSES, Settings, accuracy, files, prepared, usps

TARGET = 20.0
KINDS = {"sparsemble, l1 graph": KIND, "sparsemble": "ensemble"}
"""The graph of the rival, which the target is for; and what a user gets: a better one that takes longer."""
PATIENCE = 180.0
"""Seconds after which scikit-learn is stopped; the ratio is then a bound from below."""


def run(settings: Settings, records: Records) -> None:
    """Time both from samples to labels on one thread, but for the codes of SPAMS, whose time is estimated."""
    X, classes = usps(settings)
    once = replace(settings, repetitions=1)
    counted = [result for result in spams_codes(prepared(X), once, records) if result.counts]
    coding = min(counted, key=lambda result: result.seconds)
    with files(prepared(X)) as samples:
        l1_graph = csr_array(samples.graph(KIND)[1].astype(np.float64))
    with files(X) as samples:
        contenders = []
        for name, kind in KINDS.items():
            contenders.append(Contender(name, "f32", 1, len(X), lambda kind=kind: _ours(samples, kind)))
        progress("pipeline: ours")
        own = interleave(contenders, settings.repetitions)
    progress(f"pipeline: scikit-learn, at most {PATIENCE:.0f} s")
    rival = _rival(l1_graph)
    rival.seconds += coding.seconds
    for result in (*own, rival):
        score = None if result.output is None else accuracy(classes, result.output)
        records.note("pipeline", result, accuracy=score)
    workload = f"{len(X)} USPS digits to labels"
    for result, target in zip(own, (TARGET, None), strict=True):
        records.compare(workload, rival.name, result.name, rival.seconds / result.seconds, target)


def _ours(samples, kind):
    record, labels = samples.fit(kind)
    return record["seconds"], labels


def _rival(graph: csr_array) -> Result:
    """Run scikit-learn once in a process of its own, which can be stopped."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_cluster, args=(graph, sender))
    process.start()
    size = graph.shape[0]
    try:
        if receiver.poll(PATIENCE):
            seconds, labels = receiver.recv()
            return Result("SPAMS and scikit-learn", "f64", 1, size, seconds, labels)
        name = f"SPAMS and scikit-learn, stopped after {PATIENCE:.0f} s"
        return Result(name, "f64", 1, size, PATIENCE, complete=False)
    finally:
        process.kill()
        process.join()


def _cluster(graph: csr_array, sender: Connection) -> None:
    start = time.perf_counter()
    clustering = SpectralClustering(N_CLASSES, affinity="precomputed", assign_labels="kmeans", random_state=0)
    labels = clustering.fit_predict(graph)
    sender.send((time.perf_counter() - start, labels))
