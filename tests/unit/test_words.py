"""Where the English stands that the server writes for the page: in app/words, and nowhere else in app."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
HOLE = "\x01"  # stands in a text for what is filled in
PROSE = re.compile(
    rf"[^\W\d_]{{2}}[’',.:;!?)\]]* +[(\[“\"']*(?:[^\W\d_]{{2}}|{HOLE})|{HOLE}[,:;]? +[^\W\d_]{{2}}", re.UNICODE
)
LOGGED = {"debug", "info", "warning", "error", "exception", "critical"}
HOMES = ("words/", "planner/words.py", "play/examples.py")  # of what a translator rewrites
# Read when the server starts: what is wrong with a file or an option goes to the log and the terminal.
NEVER_SHOWN = (
    "atlas/systems.py",
    "learn/classes.py",
    "learn/lessons.py",
    "results/bundled_results.py",
    "results/studies.py",
    "serve/door/policy.py",
    "serve/offer.py",
    "serve/door/address.py",
    "serve/door/proxied.py",
    "options.py",
    "site/written.py",
)
OF_NO_LANGUAGE = {  # by module, beginnings: scripts, markup, styles, fonts, headers, commands, what libraries say
    "serve/door/asked.py": ["data: "],
    "kit/faults.py": ["unable to (?:open|"],
    "kit/figures/panels.py": ["hx-figure hx-wide"],
    "kit/figures/run_figures.py": ["system-ui, sans-serif"],
    "serve/door/first.py": ["\n(() => {", "\nif (self.origin", '<div id="hx-first">', "<link "],
    "kit/mounted.py": ["\nconst root = ", "<div class="],
    "kit/figures/notes.py": ["\nconst root = "],
    "page.py": ["Segoe UI", "Noto Sans", "DejaVu Sans Mono"],
    "planner/figures/ink.py": ["system-ui, sans-serif"],
    "planner/profiles/sources.py": ["python -m hsd_core "],
    "programs/planning.py": ["python -m hsd_core "],
    "results/quick.py": ["printf "],
    "play/stage.py": ["\nconst root = ", "<div class="],
    "kit/static.py": ["public, max-age=", "preload; as=style", "import {", "export const {", 'new URL("'],
}


def english(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a module that are English, with their lines: no docstrings, and nothing that is logged."""
    tree = ast.parse(source)
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):  # docstrings, also those of attributes
            passed.add(node.value)
        if isinstance(node, ast.JoinedStr):
            passed.update(part for part in node.values if isinstance(part, ast.Constant))
            specs = [part.format_spec for part in node.values if isinstance(part, ast.FormattedValue)]
            passed.update(inner for spec in specs if spec is not None for inner in ast.walk(spec))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOGGED:
            passed.update(inner for argument in node.args for inner in ast.walk(argument))
    for node in ast.walk(tree):
        if node in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if PROSE.search(text):
            yield node.lineno, text.replace(HOLE, "…")


def test_what_counts_as_english() -> None:
    source = '"""A docstring."""\nlog.info("is logged %s", x)\nx = "two words"\ny = f"{n} rows"\nz = f"{a} {b:>3}ms"\n'
    assert list(english(source)) == [(3, "two words"), (4, "… rows")]


def test_the_servers_english_stands_in_words() -> None:
    left, met = [], set()
    for path in sorted(APP.rglob("*.py")):
        name = path.relative_to(APP).as_posix()
        if name.startswith(HOMES) or name in NEVER_SHOWN:
            continue
        for line, text in english(path.read_text(encoding="utf-8")):
            known = [(name, start) for start in OF_NO_LANGUAGE.get(name, ()) if text.startswith(start)]
            met.update(known)
            if not known:
                left.append(f"app/{name}:{line}: {text!r}")
    assert left == [], "English outside app/words; move it there"
    assert {(name, start) for name, starts in OF_NO_LANGUAGE.items() for start in starts} == met


def test_words_need_nothing_of_the_server() -> None:
    for path in (APP / "words").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                assert set(names) <= {"__future__", "collections.abc", "math"}, path.name
