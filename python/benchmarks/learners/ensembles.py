"""Ensembles: what boosting and averaging cost beside the products and calls of the coder they consist of."""

from coders.rivals import product_contenders
from shared.contest import Result, interleave
from shared.data import Problem, learning_patches
from shared.records import Records, progress

from learners.runs import SIDE, Settings, files

PRODUCT_TARGET = 1.5
CODER_TARGET = 1.3
LAM = 0.2
LASSO_SAMPLES = 20_000
LASSO_MODELS = 5
METHODS = {"BoostEx": "boost", "RandExAv": "average"}


def run(settings: Settings, records: Records) -> None:
    """Run both with 1-sparse codes, and boosting with the lasso."""
    _one_sparse(settings, records)
    _lasso(settings, records)


def _one_sparse(settings: Settings, records: Records) -> None:
    """Take all L rounds against L times the fastest library's product of all atoms and all samples."""
    X, _ = learning_patches(SIDE, settings.n_samples, 0)
    shape = {"M": SIDE**2, "K": settings.n_atoms, "L": settings.n_models}
    sizes = " ".join(f"{name}={value}" for name, value in shape.items())
    progress(f"ensembles with 1-sparse codes {sizes} T={len(X)}")
    options = {"atoms": settings.n_atoms, "models": settings.n_models, "coder": "one-sparse"}
    with files(X) as samples:
        contenders = [
            samples.contender(name, learner, threads, **options)
            for name, learner in METHODS.items()
            for threads in (1, 2)
        ]
        products = product_contenders(Problem(X, X[: settings.n_atoms]))
        contenders += [product for product in products if product.dtype == "f32"]
        results = interleave(contenders, settings.repetitions)
    ours = results[: 2 * len(METHODS)]
    for result in results[len(ours) :]:
        result.seconds *= settings.n_models
    for result in results:
        records.note("ensembles, 1-sparse", result, **shape)
    product = min(results[len(ours) :], key=lambda result: result.seconds)
    for one, two in zip(ours[::2], ours[1::2], strict=True):
        workload = f"{one.name} 1-sparse {sizes} T={len(X)}"
        ratio = one.seconds / product.seconds
        records.limit(workload, f"{product.label} products", one.label, ratio, PRODUCT_TARGET)
        records.compare(workload, one.label, two.label, one.seconds / two.seconds)


def _lasso(settings: Settings, records: Records) -> None:
    """Take each round against a call of the coder for its dictionary, right after it."""
    X, _ = learning_patches(SIDE, min(settings.n_samples, LASSO_SAMPLES), 0)
    shape = {"M": SIDE**2, "K": settings.n_atoms, "L": LASSO_MODELS, "lambda": LAM}
    workload = f"BoostEx lasso M={SIDE**2} K={settings.n_atoms} L={LASSO_MODELS} λ={LAM} T={len(X)}"
    progress(workload)
    options = {"atoms": settings.n_atoms, "models": LASSO_MODELS, "coder": f"lasso:lambda={LAM}"}
    with files(X) as samples:
        contenders = [samples.contender("BoostEx", "boost-and-code", threads, **options) for threads in (1, 2)]
        results = interleave(contenders, settings.repetitions)
    for result in results:
        calls = Result("calls of the lasso", "f32", result.threads, len(X), result.output["coder_seconds"])
        records.note("ensembles, lasso", result, **shape)
        records.note("ensembles, lasso", calls, **shape)
        ratio = result.seconds / calls.seconds
        records.limit(workload, calls.label, result.label, ratio, CODER_TARGET)
