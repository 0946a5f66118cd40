"""The documentation runs, and leaves no parameter out."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import sparsemble
from sparsemble.compat import spams

MODULES = [module.name for module in pkgutil.walk_packages(sparsemble.__path__, "sparsemble.")]
COMPATIBLE = [getattr(spams, name) for name in spams.__all__ if name[0].islower()]
CALLABLES = [getattr(sparsemble, name) for name in sparsemble.__all__ if name != "__version__"] + COMPATIBLE
REPORTS = (sparsemble.CodingReport, sparsemble.EnsembleWeights, sparsemble.SampleStatus)
CALLED = [item for item in CALLABLES if item not in REPORTS]


@pytest.mark.parametrize("module", ["sparsemble", *MODULES])
def test_the_examples_print_what_they_say(module):
    with np.printoptions(legacy=False):
        failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0


@pytest.mark.parametrize("function", CALLED, ids=lambda function: function.__name__)
def test_the_public_interface_has_examples(function):
    assert doctest.DocTestFinder().find(function)[0].examples


@pytest.mark.parametrize("item", CALLABLES, ids=lambda item: item.__name__)
def test_every_public_item_is_documented(item):
    assert inspect.getdoc(item)


@pytest.mark.parametrize("function", CALLED, ids=lambda function: function.__name__)
def test_every_parameter_is_documented(function):
    names = inspect.getdoc(function).split("Parameters\n")[1].split("\nReturns\n")[0]
    for parameter in inspect.signature(function).parameters:
        assert parameter in names, parameter


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert sparsemble.__version__ == version("sparsemble")
