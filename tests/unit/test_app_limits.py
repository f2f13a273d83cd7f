"""The index of a visitor's limits in app/README.md: what it states is what the code has, and none is left out."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app"
ROW = re.compile(r"\| ([\d,.]+) ?(\w*) \| `([\w/]+)\.py` `([A-Z_]+)(?:\[\"(\w+)\"\]\[(\d)\])?` \| \S")
UNITS = {"": 1, "s": 1, "B": 1, "kB": 10**3, "MB": 10**6, "MiB": 2**20, "GiB": 2**30}
BOUNDS = re.compile(
    r"(MAX|MOST|LONGEST|PATIENCE|WAITING|OWN|ALL|PLACES|FOR_CALLS|OF_A_SESSION|DEEPEST|REPEATS|PROMPTS|CPU_S|MEMORY|WORK_S)"
    r"(_\w+)?|\w*TOKENS\w*"
)
ROOMS = ("serve", "play", "race", "planner", "results", "workshop")
OF_NO_VISITOR = {  # what is shipped or drawn
    "planner/profiles/plan_request.py": {"LONGEST_MS"},
    "planner/profiles/validations.py": {"MOST_STACKS", "MOST_SITTINGS"},
    "planner/words.py": {"MOST"},
    "results/bundled_results.py": {"MOST"},
}


def stated() -> list[tuple[str, str, float]]:
    """Module, name and value of each limit in the index."""
    text = (APP / "README.md").read_text(encoding="utf-8").split("## Limits of a visitor")[1].split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    found = [ROW.search(row) for row in rows]
    assert all(found), [row for row, one in zip(rows, found, strict=True) if not one]
    return [(f"{m[3]}.py", f"{m[4]}.{m[5]}.{m[6]}" if m[5] else m[4], _value(m[1], m[2])) for m in found if m]


def _value(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * UNITS[unit]


def named(path: Path) -> set[str]:
    """The names of numbers that a module declares, alone or several in a line."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and all(_of_numbers(part) for part in ast.walk(node.value)):
            found |= {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return found


def _of_numbers(part: ast.AST) -> bool:
    if isinstance(part, ast.Constant):
        return isinstance(part.value, int | float)
    return isinstance(part, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.operator | ast.unaryop | ast.expr_context)


@pytest.mark.parametrize(("module", "name", "value"), stated())
def test_the_index_states_what_the_code_has(module: str, name: str, value: float) -> None:
    constant, *inside = name.split(".")
    actual = getattr(import_module(f"app.{module.removesuffix('.py').replace('/', '.')}"), constant)
    if inside:
        actual = actual[inside[0]][int(inside[1])]
    assert actual == value


def test_no_limit_is_left_out_of_the_index_or_stands_there_twice() -> None:
    listed = [(module, name) for module, name, _ in stated()]
    assert len(listed) == len(set(listed))
    for path in sorted(one for room in ROOMS for one in (APP / room).rglob("*.py")):
        module = path.relative_to(APP).as_posix()
        bounds = {name for name in named(path) if BOUNDS.fullmatch(name)} - OF_NO_VISITOR.get(module, set())
        assert bounds <= {name for where, name in listed if where == module}, f"app/{module}: state it in app/README.md"


def test_what_is_left_out_is_there() -> None:
    for module, names in OF_NO_VISITOR.items():
        assert names <= named(APP / module), module
