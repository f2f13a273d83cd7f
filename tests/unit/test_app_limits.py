"""The index of a visitor's limits, which the reference shows: its constants are there, and none is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from app.site.visitor_limits import UNITS, visitor_limits

APP = Path(__file__).parents[2] / "app"
BOUNDS = re.compile(
    r"(MAX|MOST|LONGEST|PATIENCE|WAITING|OWN|ALL|PLACES|FOR_CALLS|OF_A_SESSION|DEEPEST|REPEATS|PROMPTS|CPU_S|MEMORY|WORK_S)"
    r"(_\w+)?|\w*TOKENS\w*"
)
ROOMS = ("serve", "tabs/explore", "tabs/race", "tabs/planner", "tabs/results", "workshop")
OF_NO_VISITOR = {  # what is shipped or drawn
    "tabs/planner/profiles/plan_request.py": {"LONGEST_MS"},
    "tabs/planner/profiles/validations.py": {"MOST_STACKS", "MOST_SITTINGS"},
    "tabs/planner/why.py": {"MOST"},
    "tabs/results/bundled_results.py": {"MOST"},
}


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


def test_every_limit_of_the_index_is_a_number_that_is_shown_whole() -> None:
    for one in visitor_limits():
        number, _, unit = one.shown.partition(" ")
        assert float(number.replace(",", "")) * UNITS[unit] == one.value > 0, one.constant


def test_no_limit_is_left_out_of_the_index_or_stands_there_twice() -> None:
    listed = [(f"{one.module.replace('.', '/')}.py", one.constant) for one in visitor_limits()]
    assert len(listed) == len(set(listed))
    for path in sorted(one for room in ROOMS for one in (APP / room).rglob("*.py")):
        module = path.relative_to(APP).as_posix()
        bounds = {name for name in named(path) if BOUNDS.fullmatch(name)} - OF_NO_VISITOR.get(module, set())
        left = bounds - {name for where, name in listed if where == module}
        assert not left, f"app/{module} {left}: state it in app/site/visitor_limits.py"


def test_what_is_left_out_is_there() -> None:
    for module, names in OF_NO_VISITOR.items():
        assert names <= named(APP / module), module
