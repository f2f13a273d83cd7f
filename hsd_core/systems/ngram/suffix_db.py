"""SuffixDecoding (Oliaro et al. 2024, arXiv 2411.04975): what followed every end of the text, scored by counts.

The share of a token is its part of the occurrences that go on; the shares along a path are multiplied. A suffix of n
tokens may draft n times `factor` tokens, and its draft's score is the sum of their shares: the expected number of kept
tokens if counts were probabilities. The best score drafts, of this text or of the outputs of earlier runs.

The paper keeps suffix trees. Here a text is one array and the places of a suffix are found by reading it, so memory is
a word for each token, and an output is dropped without mending a tree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from hsd_core.levels.lookup_trie import Found
from hsd_core.levels.shared import Written
from hsd_core.models.suffixes import Copied
from hsd_core.systems.ngram.packing import Ints

LONGEST = 24  # tokens of a suffix (vLLM: suffix_decoding_max_tree_depth)
OUTPUTS = 256  # of earlier runs; the oldest is dropped (max_cached_requests)
BREAK = -1  # between two outputs


class Limits(NamedTuple):
    """shortest: tokens of a suffix. factor: tokens of a draft for each of them (max_spec_factor). share: the least of a
    drafted token (min_token_prob)."""

    shortest: int = 1
    factor: float = 1.0
    share: float = 0.1


class _Node(NamedTuple):
    token: int
    share: float
    parent: int
    depth: int
    after: list[int]  # the places after its occurrences, the newest first


class Draft(NamedTuple):
    """paths: from the first token to each leaf, the likeliest child first everywhere."""

    score: float = 0.0
    paths: tuple[list[Found], ...] = ()


class Occurrences:
    """A text whose parts are counted. letter: of its tokens in a trace; "c" if its positions are those of the run."""

    def __init__(self, letter: str, ids: Sequence[int] = ()) -> None:
        self._letter, self._room, self._size = letter, np.asarray(ids, np.int64), len(ids)

    def extend(self, ids: Sequence[int]) -> None:
        end = self._size + len(ids)
        if end > len(self._room):
            self._room = np.concatenate([self._room[: self._size], np.zeros(end, np.int64)])
        self._room[self._size : end] = ids
        self._size = end

    def draft(self, tail: Sequence[int], limits: Limits, depth: int, nodes: int = 0) -> Draft:
        """The draft of the best suffix of `tail`; of equal ones the longest suffix's.

        Args:
            depth: the most tokens of a path. nodes: the most tokens of a tree; 0 for a chain.
        """
        best, places = Draft(), self._after(tail)
        for length in range(len(places), limits.shortest - 1, -1):
            most = min(nodes or depth, int(length * limits.factor + 1e-6))
            if best.score >= most:  # so is every shorter one's
                break
            grown = self._grow(places[length - 1][::-1].tolist(), most, depth, limits.share, tree=nodes > 0)
            if (score := sum(node.share for node in grown)) > best.score:
                best = Draft(score, (*self._paths(grown, length),))
        return best

    def _after(self, tail: Sequence[int]) -> list[Ints]:
        """The places after the suffixes of `tail` that occur and go on, by their length from 1."""
        ids, found = self._room[: self._size], list[Ints]()
        at = np.flatnonzero(ids[:-1] == tail[-1]) + 1
        at = at[ids[at] != BREAK]
        for length, token in enumerate(reversed(tail), 1):
            if length > 1:
                at = at[at >= length]
                at = at[ids[at - length] == token]
            if not len(at):
                break
            found.append(at)
        return found

    def _grow(self, at: list[int], most: int, depth: int, least: float, *, tree: bool) -> list[_Node]:
        """The likeliest tokens by their share, of equal ones those that occurred last; a parent before its child."""
        ids = self._room.data  # item access without numpy scalars
        queue: list[tuple[float, int, _Node]] = []
        grown: list[_Node] = []
        made, node = 0, _Node(BREAK, 1.0, -1, 0, at)
        while len(grown) < most:
            if node.depth < depth:
                after: dict[int, list[int]] = {}
                for place in node.after:
                    if place < self._size and (token := ids[place]) != BREAK:
                        after.setdefault(token, []).append(place + 1)
                total = sum(map(len, after.values()))
                for token, places in sorted(after.items(), key=lambda one: -len(one[1]))[: None if tree else 1]:
                    if (share := node.share * len(places) / total) >= least:
                        made += 1
                        child = _Node(token, share, len(grown) - 1, node.depth + 1, places)
                        heappush(queue, (-share, made, child))
            if not queue:
                break
            node = heappop(queue)[2]
            grown.append(node)
        return grown

    def _paths(self, grown: Sequence[_Node], length: int) -> list[list[Found]]:
        lines: list[tuple[int, ...]] = []
        for n, node in enumerate(grown):
            lines.append((*(lines[node.parent] if node.parent >= 0 else ()), n))
        parents = {node.parent for node in grown}
        leaves = sorted(line for n, line in enumerate(lines) if n not in parents)
        return [[self._found(grown[n], length) for n in line] for line in leaves]

    def _found(self, node: _Node, length: int) -> Found:
        newest = Copied(node.after[0] - 1, length + node.depth - 1, 1.0) if self._letter == "c" else None
        return Found(node.token, self._letter, length, newest)


class Earlier:
    """Outputs of other runs. files: whether those of coming runs are added. again: whether the same prompt's count."""

    def __init__(self, texts: Iterable[Written] = (), *, files: bool = True, again: bool = False) -> None:
        self.files, self.again, self._texts = files, again, deque(texts, OUTPUTS if files else None)

    @property
    def largest(self) -> int:
        """The largest id; -1 without any."""
        return max((max(output, default=BREAK) for _, output in self._texts), default=BREAK)

    def beside(self, prompt: Sequence[int]) -> list[int]:
        """The outputs of other prompts: run again, a prompt would find its whole answer, which `again` allows."""
        texts = (output for own, output in self._texts if self.again or list(own) != list(prompt))
        return [token for output in texts for token in (*output, BREAK)]

    def add(self, prompt: Sequence[int], output: Sequence[int]) -> None:
        if self.files and output:
            self._texts.append((prompt, output))


class Suffixes:
    """What `NgramRun` asks, for suffix decoding: see `Databases`. One run's."""

    def __init__(self, limits: Limits, earlier: Earlier | None = None) -> None:
        self._limits, self._earlier = limits, earlier
        self._texts = [Occurrences("c")]
        self._prompt: list[int] | None = None
        self._output: list[int] = []
        self.misses = 0

    def look_in(self, written: Iterable[Written]) -> None:
        """Before the prompt: look in these in place of what this program's runs wrote, and add nothing to that."""
        if self._earlier is not None and self._earlier.files:
            self._earlier = Earlier(written, files=False, again=self._earlier.again)

    def insert(self, ids: Sequence[int]) -> None:
        """Add the prompt, then each newly committed stretch."""
        self._texts[0].extend(ids)
        if self._prompt is not None:
            self._output += ids
        else:
            self._prompt = list(ids)
            if self._earlier is not None:
                self._texts.append(Occurrences("e", self._earlier.beside(self._prompt)))

    def guesses(self, context: Sequence[int], limit: int, count: int) -> list[list[Found]]:
        """The paths of the best draft: a tree of at most `count` tokens, or with 0 a chain."""
        tail = context[-LONGEST:]
        best = max((text.draft(tail, self._limits, limit, count) for text in self._texts), key=lambda one: one.score)
        self.misses += not best.paths
        return list(best.paths)

    def file(self, ngrams: Iterable[Sequence[int]]) -> None:
        """Nothing to do: it has no window."""

    def settings(self) -> dict[str, object]:
        """For a trace."""
        return {"db": "c" if self._earlier is None else "ce", **self._limits._asdict()}

    def counts(self) -> dict[str, int]:
        """As `Databases.counts`; what is inserted has no keys."""
        return {"inserts": 0, "evictions": 0, "misses": self.misses}

    def close(self) -> None:
        """The run is over: later ones may look in its output."""
        if self._earlier is not None:
            self._earlier.add(self._prompt or [], self._output)
