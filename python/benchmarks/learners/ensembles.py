"""Ensembles: what boosting and averaging cost beside the products and calls of the coder they consist of.

What they are compared with is timed by the same process in between, after each round of boosting and each
tenth of the samples of an average, so that a slow spell of the machine meets both.
"""

from shared.contest import Result, interleave
from shared.data import learning_patches
from shared.records import Records, progress

from learners.runs import SIDE, Settings, files

PRODUCT_TARGET = 1.5
CODER_TARGET = 1.3
LAM = 0.2
LASSO_SAMPLES = 20_000
LASSO_MODELS = 5


def run(settings: Settings, records: Records) -> None:
    """Run both with 1-sparse codes, and boosting with the lasso."""
    products = {"coder": "one-sparse", "beside": "products"}
    for name, learner in {"BoostEx": "boost", "RandExAv": "average"}.items():
        shape = {"K": settings.n_atoms, "L": settings.n_models, "T": settings.n_samples}
        _race(records, f"{name} 1-sparse", learner, shape, products, PRODUCT_TARGET, settings.repetitions)
    calls = {"coder": f"lasso:lambda={LAM}", "beside": "coder"}
    shape = {"K": settings.n_atoms, "L": LASSO_MODELS, "T": min(settings.n_samples, LASSO_SAMPLES)}
    _race(records, f"BoostEx lasso λ={LAM}", "boost", shape, calls, CODER_TARGET, settings.repetitions)


def _race(
    records: Records,
    name: str,
    learner: str,
    shape: dict[str, int],
    options: dict[str, str],
    target: float,
    repetitions: int,
) -> None:
    workload = " ".join([f"{name} M={SIDE**2}", *(f"{size}={value}" for size, value in shape.items())])
    progress(workload)
    X, _ = learning_patches(SIDE, shape["T"], 0)
    with files(X) as samples:
        options = options | {"atoms": shape["K"], "models": shape["L"]}
        contenders = [samples.contender(name, learner, threads, **options) for threads in (1, 2)]
        one, two = interleave(contenders, repetitions)
    facts = {"M": SIDE**2, "K": shape["K"], "L": shape["L"]}
    for result in (one, two):
        records.note("ensembles", result, **facts)
        for unit, seconds in result.output["beside"].items():
            threads = result.threads if unit == "coder" else 1
            records.note("ensembles", Result(f"{unit} beside it", "f32", threads, len(X), seconds), **facts)
    unit, seconds = min(one.output["beside"].items(), key=lambda pair: pair[1])
    what = "calls of the coder" if unit == "coder" else f"products by {unit}"
    records.limit(workload, f"{shape['L']} {what}", one.label, one.seconds / seconds, target)
    if unit == "coder":
        ratio = two.seconds / two.output["beside"][unit]
        records.limit(workload, f"{shape['L']} {what}", two.label, ratio, target)
    records.compare(workload, one.label, two.label, one.seconds / two.seconds)
