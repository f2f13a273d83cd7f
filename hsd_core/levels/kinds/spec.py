"""A level as it is written in a stack, and the error of one that cannot be read or built."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BLOCK = 64
MAX_LEVELS = 8
MAX_GUESS = 8
MAX_COLUMNS = 16  # of a lookahead window
MAX_NGRAM = 8
MAX_NODES = 64  # of a tree of drafts
Value = str | int | float | bool


class StackError(ValueError):
    """A stack that cannot be read or built; the message names the cure."""


@dataclass(frozen=True, slots=True)
class LevelSpec:
    """One level as written. `block` (T) is None where the preset's is meant, and for the target. `at`: layers.

    `k`: how many of its likeliest tokens a verifier with rule top accepts; None means 1. `guess`: how many sequences a
    lookup offers side by side; None means as many as its kind does. `tree`: how many tokens a drafter offers behind
    each token, by depth, as it is written. `replace`: whether those are drawn with replacement. `fuse`: how many
    looked-up sequences stand beside a draft, 0 for none. `own`: the keys that no field is named after, with their
    values, sorted.
    """

    name: str
    block: int | None = None
    at: int | None = None
    policy: str = "fixed"
    theta: float | None = None
    rule: str = "tokenwise"
    k: int | None = None
    bonus: bool = True
    tree: str | None = None
    replace: bool = False
    db: str | None = None
    miss: str | None = None
    guess: int | None = None
    fuse: int = 0
    dtype: str | None = None
    device: str | None = None
    id: str | None = None
    own: tuple[tuple[str, Value], ...] = ()

    @property
    def widths(self) -> tuple[int, ...]:
        """How many tokens are offered behind each token, by depth; () for chains."""
        return tuple(int(part) for part in self.tree.split(".")) if self.tree else ()

    def value(self, key: str) -> Value | None:
        """What a key is set to, or its default."""
        return dict(self.own)[key] if key in dict(self.own) else getattr(self, key, None)
