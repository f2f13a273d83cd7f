"""What a run came to, counted from its payloads as they pass: tokens, rounds, what each level judged and accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Tally:
    """
    Attributes:
        tokens: committed; rounds: of the target.
        levels: by index, the kind of each that judged, how many places, and at how many of them it accepted a token.
    """

    tokens: int = 0
    rounds: int = 0
    levels: dict[int, tuple[str, int, int]] = field(default_factory=dict)
    _kinds: list[str] = field(default_factory=list)
    _seen: int = 0

    def count(self, payload: dict[str, Any]) -> None:
        """Count a payload's records that were not counted before."""
        start, records = payload["from"], payload["ev"]
        for record in records[max(0, self._seen - start) :]:
            kind = record["event"]
            if kind == "header":
                self._kinds = [level["kind"] for level in record["levels"]]
            elif kind == "snapshot":
                self.tokens = record["committed"]
                self.rounds += 1
            elif kind == "gauge" and record["judged"]:
                level = record["level"]
                self.levels[level] = self._kinds[level], record["judged"], record["accepted"]
        self._seen = max(self._seen, start + len(records))
