"""The user guide does what it says: its Python and its commands, page by page."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))
FENCES = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_the_guide_runs_from_its_first_block_to_its_last(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    for language, text in FENCES.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(text, page, "exec"), names)
        else:
            for line in text.splitlines():
                run_command(line)


def run_command(line):
    words = shlex.split(line, comments=True)
    if words[:1] == ["sparsemble"]:
        if "SPARSEMBLE_PROGRAM" not in os.environ:
            pytest.skip("SPARSEMBLE_PROGRAM does not name the program")
        subprocess.run([os.environ["SPARSEMBLE_PROGRAM"], *words[1:]], check=True)
