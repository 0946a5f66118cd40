"""USPS digits to labels: ours against scikit-learn's `SpectralClustering`, fed the l1 graph by SPAMS."""

import time

import numpy as np
from scipy.sparse import csr_array
from shared.contest import Contender, interleave
from shared.records import Records, progress
from sklearn.cluster import SpectralClustering

from clusterers.l1 import KIND, spams_codes
from clusterers.runs import N_CLASSES, Settings, accuracy, files, prepared, usps

TARGET = 20.0
KINDS = {"sparsemble": "ensemble", "sparsemble, l1 graph": KIND}
"""What a user gets, and the graph of the rival."""


def run(settings: Settings, records: Records) -> None:
    """Time both from samples to labels on one thread, but for the codes of SPAMS, whose time is estimated."""
    X, classes = usps(settings)
    counted = [result for result in spams_codes(prepared(X), settings, records) if result.counts]
    coding = min(counted, key=lambda result: result.seconds)
    with files(prepared(X)) as samples:
        l1_graph = csr_array(samples.graph(KIND)[1].astype(np.float64))
    progress("pipeline")
    with files(X) as samples:
        contenders = []
        for name, kind in KINDS.items():
            contenders.append(Contender(name, "f32", 1, len(X), lambda kind=kind: _ours(samples, kind)))
        contenders.append(Contender("scikit-learn", "f64", 1, len(X), lambda: _rival(l1_graph)))
        *own, rival = interleave(contenders, settings.repetitions)
    workload = f"{len(X)} USPS digits to labels"
    rival.name, rival.seconds = "SPAMS and scikit-learn", rival.seconds + coding.seconds
    for result in (*own, rival):
        score = accuracy(classes, result.output)
        records.note("pipeline", result, accuracy=score)
    for result, target in zip(own, (TARGET, None), strict=True):
        records.compare(workload, rival.name, result.name, rival.seconds / result.seconds, target)


def _ours(samples, kind):
    record, labels = samples.fit(kind)
    return record["seconds"], labels


def _rival(graph):
    start = time.perf_counter()
    clustering = SpectralClustering(N_CLASSES, affinity="precomputed", assign_labels="kmeans", random_state=0)
    labels = clustering.fit_predict(graph)
    return time.perf_counter() - start, labels
