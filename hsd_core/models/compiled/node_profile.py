"""What every node of a session takes: onnxruntime's own profile, by what was asked for meanwhile.

A profiled session is slower than another (every node is stamped and written down), so it serves nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_KERNEL, _RUN = "_kernel_time", "model_run"
_NS_PER_US = 1000


@dataclass(frozen=True, slots=True)
class Node:
    """One kernel of one pass.

    op: its name in ONNX, "MatMul". ns: how long it ran. given, made: the sizes of its first input and of its first
    output.
    """

    op: str
    ns: int
    given: tuple[int, ...]
    made: tuple[int, ...]


class NodeProfile:
    """Of all sessions that are made with it. `asked`: what passes are run for; their nodes are found by it again.

    Args:
        folder: where onnxruntime may write. Whoever made it removes it.
    """

    def __init__(self, folder: Path) -> None:
        self.asked: Any = None
        self._folder = folder
        self._watched: list[tuple[Any, list[Any]]] = []  # sessions, and what each of their runs was for

    def enable(self, options: Any) -> None:
        """Before a session is made with these options."""
        options.enable_profiling = True
        options.profile_file_prefix = str(self._folder / f"{len(self._watched)}")

    def watch(self, session: Any) -> None:
        """Behind that: remember what each run of this session is for."""
        runs: list[Any] = []
        run = session.run_with_iobinding

        def watched(*given: Any) -> None:
            runs.append(self.asked)
            run(*given)

        session.run_with_iobinding = watched
        self._watched.append((session, runs))

    def close(self) -> Iterator[tuple[Any, list[Node]]]:
        """End all profiles: for every run of a session, what it was for and its nodes. Can be asked once."""
        for session, asked in self._watched:
            path = Path(session.end_profiling())
            yield from zip(asked, runs_of(json.loads(path.read_text(encoding="utf-8"))), strict=True)
        self._watched.clear()


def runs_of(events: list[dict[str, Any]]) -> list[list[Node]]:
    """The nodes of each run of a session, from the events of its profile: those that began while it was under way."""
    runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e.get("name") == _RUN)
    nodes = sorted((e for e in events if str(e.get("name", "")).endswith(_KERNEL)), key=lambda event: event["ts"])
    found: list[list[Node]] = [[] for _ in runs]
    at = 0
    for event in nodes:
        while at < len(runs) and runs[at][1] < event["ts"]:
            at += 1
        if at < len(runs) and runs[at][0] <= event["ts"]:
            found[at].append(_node(event))
    return found


def _node(event: dict[str, Any]) -> Node:
    about = event["args"]
    given, made = (about.get(f"{side}_type_shape") or [{}] for side in ("input", "output"))
    return Node(about["op_name"], int(event["dur"]) * _NS_PER_US, _sizes(given[0]), _sizes(made[0]))


def _sizes(shape: dict[str, list[int]]) -> tuple[int, ...]:
    return tuple(next(iter(shape.values()), ()))
