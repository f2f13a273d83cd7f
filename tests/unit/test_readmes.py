"""READMEs are short enough to be read: words of each, of a paragraph and of all, and links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = {"README.md": 700, "hsd_core/README.md": 1200, "app/README.md": 1200, "hsd_core/core/README.md": 600}
OF_A_SYSTEM, OF_ANOTHER, OF_A_PARAGRAPH, OF_ALL = 100, 300, 90, 8000
OUTSIDE = {"node_modules", ".venv", "shared"}
READMES = sorted(path for path in ROOT.rglob("README.md") if not OUTSIDE & set(path.relative_to(ROOT).parts))
ANCHOR = re.compile(r"[^\w\- ]")


def most(path: Path) -> int:
    name = path.relative_to(ROOT).as_posix()
    return WORDS.get(name, OF_A_SYSTEM if name.startswith("hsd_core/systems/") else OF_ANOTHER)


def prose(text: str) -> list[str]:
    """Its paragraphs and points, without code and tables."""
    text = re.sub(r"^---\n.*?^---\n|^```.*?^```$|^<!--.*?-->$", "\n", text, flags=re.S | re.M)
    blocks = re.split(r"\n\s*\n|\n(?=- )", text)
    return [block for block in blocks if block.strip() and not block.lstrip().startswith("|")]


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.relative_to(ROOT).parent.as_posix())
def test_a_readme_is_short_and_leads_to_what_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.split()) <= most(path)
    long = [block for block in prose(text) if len(block.split()) > OF_A_PARAGRAPH]
    assert not long, long[0][:200]
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(("http", "data:")):
            name, _, part = link.partition("#")
            there = (path.parent / name).resolve() if name else path
            assert there.exists(), link
            if part and there.suffix == ".md":
                titles = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.M)
                found = {ANCHOR.sub("", title.lower()).replace(" ", "-") for title in titles}
                assert part in found or part.startswith("L"), link


def test_all_of_them_are_read_in_under_an_hour() -> None:
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in READMES) <= OF_ALL
