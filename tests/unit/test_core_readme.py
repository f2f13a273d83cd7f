"""The round that core/README.md follows through the code: every line that it names holds what it names.

`python tests/unit/test_core_readme.py` writes the numbers anew.
"""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "hsd_core" / "core" / "README.md"
# `name` [file.py:12](file.py#L12)
NAMED = re.compile(r"`(\w+)`((?: \[| \(?\[))([\w.]+):(\d+)\]\(([\w./]+)#L(\d+)\)")
MOST_WORDS = 600


def defined(path: Path, name: str) -> list[int]:
    """The lines of a file that define a name."""
    start = re.compile(rf"\s*(?:def|class) {name}\b")
    return [i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if start.match(line)]


def test_every_line_holds_what_it_is_named_for() -> None:
    text = README.read_text(encoding="utf-8")
    found = NAMED.findall(text)
    assert len(found) == text.count("#L") >= 15
    for name, _, shown, line, path, anchor in found:
        assert (Path(path).name, line) == (shown, anchor)
        assert int(line) in defined(README.parent / path, name), f"{name} stands elsewhere in {path}"


def test_it_is_short_and_every_file_of_the_core_is_small() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in README.parent.glob("*.py")}
    assert max(sizes.values()) <= 420, sizes


def rewritten(text: str) -> str:
    """The text with the line of each definition that is nearest to the one it names."""

    def line(match: re.Match[str]) -> str:
        name, between, shown, old, path, _ = match.groups()
        at = min(defined(README.parent / path, name), key=lambda number: abs(number - int(old)))
        return f"`{name}`{between}{shown}:{at}]({path}#L{at})"

    return NAMED.sub(line, text)


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
