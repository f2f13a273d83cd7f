"""What the house holds: lines and files by room, fields of the core's types, literal twins, words of READMEs.

    python -m tests.house [--root CHECKOUT]

It counts and asserts nothing, so that two trees can be laid beside each other.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

TYPES = {"Proposal": "level", "DraftOrder": "level", "Level": "level", "Draft": "rounds", "Kind": "kind"}
ELSEWHERE = {"level": ("level", "protocol", "draft_order", "proposal")}  # files in which such a type may stand
TWIN_LINES = 6  # a function shorter than this is no twin


def sources(folder: Path, ending: str = ".py") -> list[Path]:
    found = (path for path in folder.rglob(f"*{ending}") if path.is_file())
    return sorted(path for path in found if not {"node_modules", "__pycache__", ".venv"} & set(path.parts))


def lines(path: Path) -> int:
    """Lines that are not blank."""
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())


def total(paths: list[Path]) -> str:
    return f"{sum(map(lines, paths)):7,} lines {len(paths):4} files"


def fields(tree: ast.Module, name: str) -> int | None:
    """How many fields a class of this name has; None where it is not there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return sum(isinstance(one, ast.AnnAssign) and "ClassVar" not in ast.dump(one) for one in node.body)
    return None


def twins(folder: Path) -> Iterator[list[str]]:
    """Functions of the same text in several places."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sources(folder):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= TWIN_LINES:
                text = "".join(ast.dump(one) for one in node.body if not isinstance(one, ast.Expr))
                found[text or str(node)].append(f"{path.relative_to(folder.parent)}:{node.lineno} {node.name}")
    return (places for places in found.values() if len(places) > 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the checkout to count")
    root = parser.parse_args().root
    core = root / "hsd_core"
    print("room", "not blank", sep="\t")
    for room in sorted(path for path in core.iterdir() if path.is_dir() and path.name != "__pycache__"):
        print(f"  {room.name:10}", total(sources(room)))
    print("  whole     ", total(sources(core)))
    rooms = {
        "app": sources(root / "app"),
        "scripts": sources(root / "assets" / "js", ".js"),
        "texts": sources(root / "assets" / "text", ".js"),
        "styles": sources(root / "assets" / "css", ".css"),
        "tests": sources(root / "tests") + sources(root / "tests", ".mjs"),
    }
    for name, paths in rooms.items():
        print(f"{name:12}", total(paths))
    words = {path.relative_to(root): len(path.read_text(encoding="utf-8").split()) for path in sources(root, ".md")}
    readmes = {path: count for path, count in words.items() if path.name == "README.md"}
    print(f"{'READMEs':12} {sum(readmes.values()):7,} words {len(readmes):4} files")
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources(core)}
    print("fields")
    for name, where in TYPES.items():
        places = [path for path in trees if path.stem in ELSEWHERE.get(where, (where,))]
        counts = [count for path in places if (count := fields(trees[path], name)) is not None]
        print(f"  {name:10} {max(counts, default=0):3}")
    runs = [n for p, t in trees.items() if p.stem == "run" for n in t.body if getattr(n, "name", "") == "run"]
    for node in runs:
        print(f"  {'run':10} {len(node.args.args) + len(node.args.kwonlyargs):3} parameters")
    same = list(twins(core))
    print(f"twins        {len(same):7} functions with the same text elsewhere")
    for places in same:
        print("  " + " = ".join(places))
    longest = Counter({str(path.relative_to(root)): lines(path) for path in sources(core)}).most_common(3)
    print("longest     ", ", ".join(f"{name} {count}" for name, count in longest))


if __name__ == "__main__":
    main()
