"""Puts each fault of `faults.txt` into a copy of the tree and says which test notices it.

    python -m tests.faults [--only PATTERN] [--named | --whole] [--jobs N] [--again] [--out FILE]

A fault is one line as a tired engineer might write it. `faults.txt` has one in each block: the file, what a line of it
says (`was`, in that file exactly once), what it says with the fault (`is`), what a user would see, and the tests that
notice (`by`: files or tests of pytest, `.test.mjs` of node). The named tests run first, each of them once without any
fault as well: one that fails anyway notices nothing. Where they pass, the tests that import the file run, and with
--whole the whole default suite. The working tree is never touched.

Results are kept as lines of JSON in `faults.jsonl`; a fault that stands there is not tried again, so a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LIST, FOUND = Path(__file__).with_suffix(".txt"), Path(__file__).with_suffix(".jsonl")
FORKS = multiprocessing.get_context("forkserver")
NAMED_S, SUITE_S = 240, 3600  # s that the tests of one file, and a whole suite, may take


@dataclass(frozen=True, slots=True)
class Fault:
    """One block of the list."""

    file: str
    was: str
    is_: str
    seen: str
    by: tuple[str, ...]

    @property
    def key(self) -> str:
        """What its result is kept under, wherever its file moves."""
        return f"{self.was} | {self.is_}"

    @property
    def room(self) -> str:
        """Of the package and the scripts the room, of a system or a tab its folder."""
        parts = Path(self.file).parent.parts
        depth = 3 if parts[:1] == ("assets",) else 2
        return "/".join(parts[: depth + any(part in parts for part in ("systems", "tabs", "shared"))]) or "."

    def put_into(self, text: str) -> str:
        """The file's text with the fault.

        Raises:
            ValueError: the line is not there, or more than once.
        """
        if (times := text.count(self.was)) != 1:
            raise ValueError(f"{self.file}: {times} times instead of once: {self.was}")
        return text.replace(self.was, self.is_)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a fault. by: the test that noticed it, "" where it survived."""

    fault: str
    by: str

    @property
    def named(self) -> str:
        return self.by or "SURVIVED"


def read(path: Path = LIST) -> list[Fault]:
    """The list: blocks of `key text` lines with an empty line between them; `#` begins a comment.

    Raises:
        ValueError: a block has not each of the five keys once.
    """
    found = []
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        rows = [row.split(None, 1) for row in block.splitlines() if row.strip() and not row.startswith("#")]
        if not rows:
            continue
        said = {row[0]: row[1].strip() for row in rows if len(row) == 2}
        if [row[0] for row in rows] != ["file", "was", "is", "seen", "by"] or len(said) != 5:
            raise ValueError(f"a fault is five lines, file, was, is, seen and by, each with its text:\n{block}")
        found.append(Fault(said["file"], said["was"], said["is"], said["seen"], tuple(said["by"].split())))
    return found


class Tree:
    """A copy of the tree with at most one fault in it."""

    _stamps = itertools.count(1)

    def __init__(self, root: Path = ROOT) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="faults-"))
        tracked = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(tracked, check=True, capture_output=True, text=True).stdout.split("\0"):
            if name and (root / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.root / name)

    def write(self, name: str, text: str) -> None:
        """A time of its own: bytecode is kept by time and size, and a fault often changes neither."""
        (self.root / name).write_text(text, encoding="utf-8")
        stamp = time.time() - 1e7 + 10 * next(self._stamps)
        os.utime(self.root / name, (stamp, stamp))

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def failing(self, test: str, limit: float = NAMED_S) -> str:
        """The first test that fails, of a file or a test; "" where none does."""
        env = {**os.environ, "HSD_PYTHON": sys.executable}
        if test.endswith(".mjs"):
            say = "import json; from hsd_core.grammar.stack_text import grammar; print(json.dumps(grammar()))"
            said = subprocess.run(
                [sys.executable, "-c", say], cwd=self.root, capture_output=True, text=True, check=False
            )
            if said.returncode:
                return test
            env["HSD_GRAMMAR"] = said.stdout
            done, out = _run(["node", "--test", test], self.root, env, limit)
            first = re.search(r"^not ok \d+ - (.*)$|^✖ (.*?) \(", out, re.MULTILINE)
            return "" if done == 0 else f"{test}::{next(filter(None, first.groups())) if first else '?'}"
        done, out = _forked(self.root, test.split(), limit)
        first = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", out, re.MULTILINE)
        if done is not None and done not in (0, 1, 2, 5):
            raise RuntimeError(f"pytest cannot run {test}: {out[-2000:]}")
        return "" if done in (0, 5) else first[1] if first else f"{test} (took longer than {limit:.0f} s)"

    def around(self, name: str) -> list[str]:
        """The test files that import this file, or one that does, or have its name in theirs."""
        return sorted(_importing(self.root, name))


def _run(command: Sequence[str], where: Path, env: dict[str, str], limit: float) -> tuple[int | None, str]:
    """Return code (None where the time ran out) and output; what it started ends with it."""
    process = subprocess.Popen(
        command, cwd=where, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        out, _ = process.communicate(timeout=limit)
        return process.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


def _forked(root: Path, tests: Sequence[str], limit: float) -> tuple[int | None, str]:
    """As `_run`, of pytest: in a process that has torch already."""
    log = root / ".log"
    process = FORKS.Process(target=_pytest, args=(str(root), tests, str(log)))
    process.start()
    try:
        process.join(limit)
        if process.exitcode is None:
            return None, ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # and what it has started
        process.join()
    return process.exitcode, log.read_text(encoding="utf-8")


def _pytest(root: str, tests: Sequence[str], log: str) -> None:
    os.setsid()
    sys.dont_write_bytecode = False
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(written, stream)
    os.chdir(root)
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path[:] = [root, *(path for path in sys.path if path not in ("", str(ROOT)))]
    import pytest

    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    done = pytest.main([*plugins, "--rootdir", root, "-x", "-q", "-rfE", "--tb=no", *tests])
    sys.stdout.flush()
    os._exit(done)  # whatever a fault has left running


def _importing(root: Path, name: str) -> Iterator[str]:
    if name.endswith(".py"):
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        helpers = {module, *(path.stem for path in (root / "tests").glob("*.py") if module in _imports(path))}
        for path in (root / "tests").rglob("test_*.py"):
            if helpers & _imports(path) or Path(name).stem in path.stem:
                yield str(path.relative_to(root))
    for path in (root / "tests").rglob("*.test.mjs"):
        if name.removeprefix("assets/") in path.read_text(encoding="utf-8"):
            yield str(path.relative_to(root))


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module.removeprefix("tests."), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def tried(tree: Tree, fault: Fault, *, reach: str = "around", clean: dict[str, str] | None = None) -> Result:
    """Put a fault into the tree, find the first test that notices it, and take it out again.

    Args:
        reach: the tests that run: "named", those "around" as well, or in the end the "whole" suite.
        clean: what fails without any fault, by test; filled here.
    """
    clean = {} if clean is None else clean
    text = (tree.root / fault.file).read_text(encoding="utf-8")
    stages = [(test, NAMED_S) for test in fault.by]
    if reach != "named":
        stages += [(test, NAMED_S) for test in tree.around(fault.file) if test not in fault.by]
    stages += [("tests", SUITE_S)] * (reach == "whole")
    for test, limit in stages:
        tree.write(fault.file, fault.put_into(text))
        try:
            by = tree.failing(test, limit)
        finally:
            tree.write(fault.file, text)
        alone = by.split(" (took")[0] if test == "tests" else test
        if by and alone not in clean:
            clean[alone] = tree.failing(alone, limit)
        if by and not clean[alone]:
            return Result(fault.key, by)
    return Result(fault.key, "")


def kept(path: Path) -> dict[str, Result]:
    """The results of a file, by fault."""
    if not path.exists():
        return {}
    found = [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return {result.fault: result for result in found}


def table(faults: Sequence[Fault], results: dict[str, Result]) -> str:
    """Caught and survived by room."""
    caught, all_ = Counter[str](), Counter(fault.room for fault in faults if fault.key in results)
    caught.update(fault.room for fault in faults if fault.key in results and results[fault.key].by)
    rows = [f"{room:32} {caught[room]:3} of {n:3}" for room, n in sorted(all_.items())]
    lost = [
        f"  survives: {f.file} | {f.key}\n    seen: {f.seen}"
        for f in faults
        if f.key in results and not results[f.key].by
    ]
    return "\n".join([*rows, f"{'caught':32} {caught.total():3} of {all_.total():3}", *lost])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN", help="faults whose block matches this expression")
    reach = parser.add_mutually_exclusive_group()
    for name, text in (
        ("named", "no other tests than those"),
        ("whole", "the whole suite where none of them notices"),
    ):
        reach.add_argument(f"--{name}", action="store_const", const=name, dest="reach", default="around", help=text)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies of the tree at once")
    parser.add_argument("--again", action="store_true", help="try those again whose result is known")
    parser.add_argument("--out", type=Path, default=FOUND, metavar="FILE", help="results, as lines of JSON")
    args = parser.parse_args()
    FORKS.set_forkserver_preload(["torch", "numpy", "pytest", "msgspec"])
    whole = read()
    faults = [one for one in whole if re.search(args.only, "\n".join(map(str, asdict(one).values())))]
    known = {one.key for one in whole}
    results = {key: result for key, result in kept(args.out).items() if key in known}
    todo = [one for one in faults if args.again or one.key not in results]
    print(f"{len(faults)} faults, {len(todo)} to try", flush=True)
    trees: SimpleQueue[Tree] = SimpleQueue()
    made = [Tree() for _ in range(min(args.jobs, len(todo)))]
    clean: dict[str, str] = {}
    writing = threading.Lock()

    def one(fault: Fault) -> None:
        tree, start = trees.get(), time.monotonic()
        try:
            result = tried(tree, fault, reach=args.reach, clean=clean)
        finally:
            trees.put(tree)
        with writing:
            results[fault.key] = result
            write(args.out, results)
            print(f"{time.monotonic() - start:5.0f} s  {result.named:60}  {fault.file} | {fault.key}", flush=True)

    try:
        for tree in made:
            trees.put(tree)
        with ThreadPoolExecutor(max(1, args.jobs)) as pool:
            list(pool.map(one, todo))
    finally:
        for tree in made:
            tree.close()
    print(table(faults, results))


def write(path: Path, results: dict[str, Result]) -> None:
    """Sorted, so that two runs can be laid beside each other."""
    path.write_text("".join(f"{json.dumps(asdict(one), ensure_ascii=False)}\n" for _, one in sorted(results.items())))


if __name__ == "__main__":
    main()
