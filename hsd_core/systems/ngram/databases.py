"""The hierarchy of HD: databases consulted in an order, lookups chained into a draft; and how a stack's are opened.

A stack names its databases by letter or by file; each is checked against the target's tokenizer. One `Databases` serves
one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType

from hsd_core.levels.lookup_trie import Found
from hsd_core.models.database_file import NgramError, file_kind
from hsd_core.models.suffixes import Copied
from hsd_core.systems.ngram.context_db import ContextDatabase
from hsd_core.systems.ngram.model_db import ModelDatabase, load_model_db
from hsd_core.systems.ngram.text_db import TextDatabase, load_text_db
from hsd_core.systems.ngram.window import NgramPool

LETTERS = "cms"
WINDOW = "w"  # what a lookahead window gave, which HD files in D_c; asked right behind the text's own


@dataclass(frozen=True, slots=True)
class LookupLimits:
    """When a database speaks: with which key lengths, and how common its answer must be.

    A wrong draft costs the verifier a row, and a one-token key always has an answer, mostly a wrong one.
    `min_count`, `min_share`: the answer's occurrences and their share of its key's (static databases only).
    """

    min_key: int
    max_key: int
    min_count: int = 1
    min_share: float = 0.0


# chosen on held-out outputs of SmolLM2-135M-Instruct; assets/ngram/measured.md has the table
REACH: Mapping[str, LookupLimits] = MappingProxyType(
    {"c": LookupLimits(2, 6), "m": LookupLimits(1, 4, 2, 0.4), "s": LookupLimits(2, 3, 4, 0.5)}
)


class Databases:
    """
    Args:
        order: which databases, in which order, of the letters c, m, s.
        model_db, text_db: static ones, shared between runs and never written; needed where the order names them.
        max_continuations, continuation: of D_c (HD: 7 and 4).
        reach: by letter, what differs from `REACH`.
        ahead: n-grams of a lookahead window are looked up too, behind D_c, under their first token. Only then may
            `order` be empty.
    Raises:
        NgramError: an unknown letter, one given twice, or one whose database is missing.
    """

    def __init__(
        self,
        order: str = "cms",
        model_db: ModelDatabase | None = None,
        text_db: TextDatabase | None = None,
        *,
        max_continuations: int = 7,
        continuation: int = 4,
        reach: Mapping[str, LookupLimits] | None = None,
        ahead: bool = False,
    ) -> None:
        if not (order or ahead) or set(order) - set(LETTERS) or len(set(order)) != len(order):
            raise NgramError(f"n-gram databases {order!r}: name each of c, m, s at most once, for example cms")
        self.order = order.replace("c", f"c{WINDOW}") if ahead and "c" in order else ahead * WINDOW + order
        self._ahead = NgramPool(max_continuations) if ahead else None
        self.reach = {letter: (reach or {}).get(letter, REACH[letter]) for letter in order}
        self._static: dict[str, ModelDatabase | TextDatabase] = {}
        for letter, database, command in (("m", model_db, "ngram-model"), ("s", text_db, "ngram-text")):
            if letter in order and database is None:
                raise NgramError(
                    f"n-gram databases {order!r}: database {letter} is missing; leave {letter} out or build it with "
                    f"`python -m hsd_core {command}`"
                )
            if database is not None:
                self._static[letter] = database
        self._context: ContextDatabase | None = None
        if "c" in order:
            own = self.reach["c"]
            self._context = ContextDatabase(
                min_key=own.min_key, max_key=own.max_key, continuation=continuation, max_continuations=max_continuations
            )
        self._tail = max((r.max_key for r in self.reach.values()), default=1)
        self.misses = 0  # lookups that no database answered

    def insert(self, ids: Sequence[int]) -> None:
        """The prompt, then each newly committed stretch; n-grams across the seam are filed too."""
        if self._context is not None:
            self._context.insert(ids)

    def file(self, ngrams: Iterable[Sequence[int]]) -> None:
        """What a lookahead window gave."""
        if self._ahead is not None:
            for ngram in ngrams:
                self._ahead.insert(ngram)

    def guess(self, context: Sequence[int], limit: int) -> list[Found]:
        """Up to `limit` tokens that may follow.

        Every finding joins the context of the next lookup, until a miss. Only `misses` changes.

        Args:
            context: prompt, committed and tentative tokens.
        """
        tail: list[int] = list(context[-self._tail :])
        found: list[Found] = []
        while len(found) < limit:
            for letter in self.order:
                more = self._find(letter, tail, limit - len(found))
                if more:
                    break
            else:
                self.misses += 1
                break
            found.extend(more)
            tail = [*tail, *(x.token for x in more)][-self._tail :]
        return found

    def guesses(self, context: Sequence[int], limit: int, count: int) -> list[list[Found]]:
        """Up to `count` different sequences of up to `limit` tokens that may follow, the one of `guess` first.

        The further ones come from the databases in their order (HD takes 7 of 4 tokens): whatever else D_c has behind
        the longest known suffixes, whatever else D_m and D_s know often enough; each is continued as `guess` would.
        """
        first = self.guess(context, limit)
        if not first or count == 1:
            return [first] if first else []
        tail = list(context[-self._tail :])
        found = {tuple(x.token for x in first): first}
        for beginning in self._beginnings(tail, limit):
            more = self.guess([*tail, *(x.token for x in beginning)], limit - len(beginning))
            found.setdefault(tuple(x.token for x in (*beginning, *more)), [*beginning, *more])
            if len(found) >= count:
                break
        return list(found.values())

    def _beginnings(self, tail: list[int], limit: int) -> Iterator[list[Found]]:
        """What may follow, one sequence for every way in which a database knows the text to go on."""
        for letter in self.order:
            if (database := self._static.get(letter)) is None:
                yield from self._own(letter, tail, limit)
                continue
            own = self.reach[letter]
            for length in range(min(own.max_key, database.max_key, len(tail)), own.min_key - 1, -1):
                for token, times in database.continuations(tail[-length:]):
                    if times >= own.min_count:
                        yield [Found(token, letter, length)]

    def _own(self, letter: str, tail: list[int], limit: int) -> Iterator[list[Found]]:
        """What the run's own databases have behind a text, in the order in which they would offer it."""
        if letter == WINDOW and self._ahead is not None and tail:
            for rest in self._ahead.behind(tail[-1]):
                yield [Found(token, letter, 1) for token in rest[:limit]]
        elif letter == "c" and self._context is not None:
            for tokens, at, key in self._context.found(tail, limit):
                yield [Found(token, letter, key, Copied(at + i, key + i, 1.0)) for i, token in enumerate(tokens)]

    def _find(self, letter: str, tail: list[int], limit: int) -> list[Found]:
        if (database := self._static.get(letter)) is None:
            return next(self._own(letter, tail, limit), [])
        own = self.reach[letter]
        known = database.find(
            tail, min_key=own.min_key, max_key=own.max_key, min_count=own.min_count, min_share=own.min_share
        )
        return [] if known is None else [Found(known[0], letter, known[1])]

    def settings(self) -> dict[str, object]:
        """How lookups work, for a trace: `db` the order, `reach` by letter, and of D_c how much a lookup hands out and
        how many continuations a key keeps. What D_c holds follows from these and the text: no trace lists it."""
        own = self._context
        reach = {letter: asdict(one) for letter, one in self.reach.items()}
        told: dict[str, object] = {"db": self.order, "reach": reach}
        if own is None:
            return told if self._ahead is None else {**told, "max_continuations": self._ahead.kept}
        return {**told, "continuation": own.continuation, "max_continuations": own.max_continuations}

    def counts(self) -> dict[str, int]:
        """Totals: `inserts` (continuations filed), `evictions`, `misses` (lookups)."""
        context = self._context
        return {
            "inserts": context.inserts if context else 0,
            "evictions": context.evictions if context else 0,
            "misses": self.misses,
        }


LETTER_OF = {"model": "m", "text": "s"}
WORDS = {"m": "it is what a target wrote (m)", "s": "it is text (s)"}
# Texts that somebody picked say a thing less often than general ones, and are nearer to what is asked.
OWN_TEXT = LookupLimits(2, 3, 2, 0.5)


@dataclass(slots=True)
class OpenedDatabases:
    """What `Databases` takes: its order, the static databases, the reach that differs. files: names by letter."""

    order: str = ""
    model_db: ModelDatabase | None = None
    text_db: TextDatabase | None = None
    reach: dict[str, LookupLimits] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def open_databases(asked: Sequence[str | Path], own: Mapping[str, Path | None], tokenizer: str) -> OpenedDatabases:
    """
    Args:
        asked: in order, a letter of c, m, s, or a file. own: the preset's files by letter. tokenizer: the target's
            (`Tokenizer.digest`).
    Raises:
        NgramError: a file is missing, damaged, no database or one of another tokenizer, or there are two of one kind.
    """
    found = OpenedDatabases()
    for one in asked:
        path = own.get(one) if isinstance(one, str) else one
        letter = one if isinstance(one, str) else LETTER_OF[file_kind(one)]
        if letter in found.order:
            there = found.files.get(letter, f"the preset's {letter}")
            raise NgramError(f"{path}: {WORDS[letter]}, and so is {there}; keep one of them")
        found.order += letter
        if isinstance(one, Path):
            found.files[letter] = one.name
        if letter == "m" and path is not None:
            found.model_db = load_model_db(path, tokenizer=tokenizer)
        elif letter == "s" and path is not None:
            found.text_db = load_text_db(path, tokenizer=tokenizer)
            found.reach |= {"s": OWN_TEXT} if isinstance(one, Path) else {}
    return found
