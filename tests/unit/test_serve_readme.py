"""The way of a Generate that app/serve/README.md tells: each file that it names defines what it is named for."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "app" / "serve" / "README.md"
NAMED = re.compile(r"((?:`\w+`, )*`\w+`) \[([\w.-]+)\]\(([\w./-]+)\)")  # `name`, `other` [file.py](path/file.py)
DEFINED = r"^\s*(?:export |async |static )*(?:def |class |function |const )?{}\b ?[(=:]"


def test_each_file_defines_what_it_is_named_for() -> None:
    found = NAMED.findall(README.read_text(encoding="utf-8"))
    assert len(found) >= 15
    for names, shown, path in found:
        file = README.parent / path
        assert file.name == shown
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(DEFINED.format(name), text, re.M), f"{path} does not define {name}"


def test_it_is_ten_steps() -> None:
    steps = re.findall(r"^(\d+)\. ", README.read_text(encoding="utf-8"), re.M)
    assert steps == [str(i) for i in range(1, 11)]
