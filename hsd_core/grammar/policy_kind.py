"""What a stop policy says of itself, as stacks and the page name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hsd_core.grammar.key import Key, Value, settled


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyKind:
    """A stop policy.

    Attributes:
        name: in stacks and traces. order: in lists. words: what the composer says of it. in_names: in names of stacks.
        keys: its own, which every level that has a policy heeds; they count beside this policy alone.
        make: one for a level in a run (a `core.policies.Policy`), from the values of its keys by name.
    """

    name: str
    order: int
    words: str
    make: Callable[..., Any]
    in_names: str = ""
    keys: tuple[Key[Any], ...] = ()

    def bind(self, values: Mapping[str, Value]) -> Any:
        """One for a level with these values; its keys that are not among them are as they are declared."""
        return self.make(**settled(self.keys, values))
