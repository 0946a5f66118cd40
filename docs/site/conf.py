"""How the site is built; `cargo xtask site` copies the folder docs and builds it there."""

import builtins
import os
from pathlib import Path
from typing import Any

from sparsemble import __version__

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"
builtins.__file__ = str(
    EXAMPLES / "any.py"
)  # the gallery runs scripts without it, and they ask where they are
os.environ["OMP_NUM_THREADS"] = (
    "2"  # examples show what two cores can do, on any machine
)

project = "sparsemble"
author = "The sparsemble developers"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = [str(Path(__file__).parent / "_templates")]
exclude_patterns = ["site", "gallery/*.py", "gallery/*.ipynb"]

html_theme = "furo"
html_title = f"sparsemble {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
smartquotes = False  # two hyphens are an option of a command
# Names in single backticks are of Python, here and in the examples.
default_role = "py:obj"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have the types
autodoc_preserve_defaults = True  # np.float64, and not how Python prints it
numpydoc_show_class_members = False  # autodoc shows them

sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 0,
    "default_thumb_file": None,
    "doc_module": ("sparsemble",),
    "backreferences_dir": "api/examples",
}


def setup(app: Any) -> None:
    """Show the members that are ours, not those that every estimator of scikit-learn has."""
    app.connect("autodoc-skip-member", _is_not_ours)


def _is_not_ours(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    home = getattr(getattr(member, "fget", member), "__module__", None)
    return None if str(home).startswith("sparsemble") else True
