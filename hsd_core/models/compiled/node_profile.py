"""The time of every node of a session, from onnxruntime's profile, labelled by the caller's `asked`.

A profiled session is slower (every node is recorded), so it is used for profiling only.
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

    op: its name in ONNX, such as "MatMul". ns: its time. given, made: the sizes of its first input and first output.
    """

    op: str
    ns: int
    given: tuple[int, ...]
    made: tuple[int, ...]


class NodeProfile:
    """The profile of all sessions made with it. `asked`: the label of the next passes.

    Args:
        folder: for onnxruntime's files; the caller removes it.
    """

    def __init__(self, folder: Path) -> None:
        self.asked: Any = None
        self._folder = folder
        self._watched: list[tuple[Any, list[Any]]] = []  # sessions, and the labels of their runs

    def enable(self, options: Any) -> None:
        """Called before a session is made with these options."""
        options.enable_profiling = True
        options.profile_file_prefix = str(self._folder / f"{len(self._watched)}")

    def watch(self, session: Any) -> None:
        """Called after that: records the label of each run of this session."""
        runs: list[Any] = []
        run = session.run_with_iobinding

        def watched(*given: Any) -> None:
            runs.append(self.asked)
            run(*given)

        session.run_with_iobinding = watched
        self._watched.append((session, runs))

    def close(self) -> Iterator[tuple[Any, list[Node]]]:
        """End all profiles; yields the label and the nodes of every run of every session. Can be called once."""
        for session, asked in self._watched:
            path = Path(session.end_profiling())
            yield from zip(asked, runs_of(json.loads(path.read_text(encoding="utf-8"))), strict=True)
        self._watched.clear()


def runs_of(events: list[dict[str, Any]]) -> list[list[Node]]:
    """The nodes of each run of a session, from the events of its profile, by their begin."""
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
