"""The page docs/PERFORMANCE.md: one part for each benchmark, written by that benchmark alone."""

import re
from pathlib import Path


def write_part(path: Path, part: str) -> None:
    """Put a part, which begins with its title, in the place of the one with the same title, or at the end."""
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = {_title(text): text for text in re.split(r"^(?=# )", page, flags=re.MULTILINE) if text.strip()}
    parts[_title(part)] = part
    path.write_text("\n\n".join(text.strip() for text in parts.values()) + "\n", encoding="utf-8")


def _title(part: str) -> str:
    return part.strip().splitlines()[0]
