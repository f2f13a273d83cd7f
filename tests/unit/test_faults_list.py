"""The list of faults fits the tree: each can be put into it, every room has some, and the runner tells what notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import FOUND, LIST, ROOT, Fault, Tree, kept, read, tried

FAULTS = read()
SURVIVE = 3  # at most, of a hundred


def test_each_fault_is_of_a_line_that_stands_in_its_file_once() -> None:
    assert [wrong for fault in FAULTS for wrong in _wrong(fault)] == []


def _wrong(fault: Fault) -> Iterator[str]:
    path = ROOT / fault.file
    if path.is_file():
        try:
            fault.put_into(path.read_text(encoding="utf-8"))
        except ValueError as error:
            yield str(error)
    else:
        tree = sorted(ROOT.glob(f"{Path(fault.file).parts[0]}/**/*{path.suffix}"))
        now = [str(other.relative_to(ROOT)) for other in tree if _has(other, fault.was)]
        yield f"{fault.file} is not there; its line now stands in {', '.join(now) or 'no file'}: {fault.was}"
    for test in fault.by:
        if not (ROOT / test.split("::")[0]).is_file():
            yield f"there is no {test}, which is said to notice {fault.key}"


def _has(path: Path, text: str) -> bool:
    return "node_modules" not in path.parts and text in path.read_text(encoding="utf-8")


def test_no_fault_stands_there_twice() -> None:
    assert len({fault.key for fault in FAULTS}) == len(FAULTS)


def test_every_room_has_a_fault_and_there_are_a_hundred() -> None:
    packages = ("hsd_core", "hsd_core/systems", "app", "app/tabs", "assets/js", "assets/js/shared", "assets/js/tabs")
    rooms = {f"{package}/{path.name}" for package in packages for path in (ROOT / package).iterdir() if path.is_dir()}
    rooms = {room for room in rooms - {*packages, "assets/js/systems"} if not room.endswith("__pycache__")}
    assert rooms - {fault.room for fault in FAULTS} == set()
    assert len(FAULTS) >= 100


def test_few_faults_survive_or_were_never_tried() -> None:
    found = kept(FOUND)
    unnoticed = [fault.key for fault in FAULTS if fault.key not in found or not found[fault.key].by]
    assert len(unnoticed) <= SURVIVE * len(FAULTS) / 100, f"run python -m tests.faults: {unnoticed}"


def test_a_list_says_what_is_wrong_with_a_block(tmp_path: Path) -> None:
    path = tmp_path / "faults.txt"
    path.write_text(LIST.read_text(encoding="utf-8").split("\nby ")[0], encoding="utf-8")
    with pytest.raises(ValueError, match="five lines"):
        read(path)
    for text in ("nothing of it", "twice twice"):
        with pytest.raises(ValueError, match="instead of once"):
            Fault("a.py", "twice", "once", "", ()).put_into(text)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Two modules and their tests; what runs them looks for a name in the test's text."""
    files = {
        "hsd_core/one.py": "A = 1\n",
        "hsd_core/two.py": "B = 2\n",
        "tests/test_named.py": "import hsd_core.one\n",
        "tests/test_around.py": "from hsd_core import two\n",
        "tests/test_always.py": "",
    }
    tree = object.__new__(Tree)
    tree.root = tmp_path
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def failing(test: str) -> str:
        wrong = {"one": "A = 1", "two": "B = 2"}
        text = (tmp_path / test).read_text(encoding="utf-8")
        bad = [m for m, was in wrong.items() if m in text and was not in (tmp_path / f"hsd_core/{m}.py").read_text()]
        return f"{test}::test_it" if bad or "always" in test else ""

    monkeypatch.setattr(Tree, "failing", lambda self, test, limit=0.0: failing(test))
    return tree


def test_the_named_test_notices_or_one_that_imports_the_file_and_the_tree_is_left_as_it_was(small: Tree) -> None:
    named = Fault("hsd_core/one.py", "= 1", "= 2", "", ("tests/test_named.py",))
    assert tried(small, named).by == "tests/test_named.py::test_it"
    around = Fault("hsd_core/two.py", "= 2", "= 1", "", ("tests/test_named.py",))
    assert tried(small, around).by == "tests/test_around.py::test_it"
    assert tried(small, around, reach="named").by == ""
    assert (small.root / "hsd_core/two.py").read_text() == "B = 2\n"


def test_a_test_that_fails_without_any_fault_notices_nothing(small: Tree) -> None:
    fault = Fault("hsd_core/one.py", "= 1", "= 2", "", ("tests/test_always.py", "tests/test_named.py"))
    assert tried(small, fault).by == "tests/test_named.py::test_it"
