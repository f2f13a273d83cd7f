"""HD's hierarchy: databases are asked in order, and lookups are chained into a draft; and the opening of a stack's
databases.

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
WINDOW = "w"  # n-grams of a lookahead window, which HD stores in D_c; asked right after the text's own


@dataclass(frozen=True, slots=True)
class LookupLimits:
    """When a database answers: the lengths of keys, and how common an answer must be.

    A wrong draft costs the verifier a row, and a one-token key always has an answer, mostly a wrong one.
    min_count, min_share: of the answer's occurrences, and of their share of the key's (static databases only).
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
        order: the databases in order, of the letters c, m, s.
        model_db, text_db: static ones, shared between runs and read-only; needed if the order names them.
        max_continuations, continuation: of D_c (HD: 7 and 4).
        reach: by letter, limits other than `REACH`.
        ahead: look up the n-grams of a lookahead window too, after D_c, by their first token. Only then may `order` be
            empty.
    Raises:
        NgramError: a letter is unknown or given twice, or its database is missing.
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

    def look_in(self, written: object) -> None:
        """Nothing to do: they hold no other runs' outputs."""

    def insert(self, ids: Sequence[int]) -> None:
        """Add the prompt, then each newly committed stretch, to D_c."""
        if self._context is not None:
            self._context.insert(ids)

    def file(self, ngrams: Iterable[Sequence[int]]) -> None:
        """Add n-grams of a lookahead window."""
        if self._ahead is not None:
            for ngram in ngrams:
                self._ahead.insert(ngram)

    def guess(self, context: Sequence[int], limit: int) -> list[Found]:
        """Up to `limit` tokens that may follow.

        Every token found joins the context of the next lookup, until a miss. Only `misses` changes.

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

        The others come from the databases in their order (HD takes 7 of 4 tokens): D_c's other continuations, longest
        suffixes first, and those that are common enough in D_m and D_s; each is continued as by `guess`.
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
        """All known beginnings of what may follow, database by database."""
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
        """The continuations in the run's own databases, in the order in which they are offered."""
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
        """The settings of lookups for a trace: `db` the order, `reach` by letter, and D_c's `continuation` and
        `max_continuations`. D_c's contents follow from these and the text, so traces do not list them."""
        own = self._context
        reach = {letter: asdict(one) for letter, one in self.reach.items()}
        settings: dict[str, object] = {"db": self.order, "reach": reach}
        if own is None:
            return settings if self._ahead is None else {**settings, "max_continuations": self._ahead.kept}
        return {**settings, "continuation": own.continuation, "max_continuations": own.max_continuations}

    def counts(self) -> dict[str, int]:
        """Totals: `inserts` (continuations added), `evictions`, `misses` (lookups)."""
        context = self._context
        return {
            "inserts": context.inserts if context else 0,
            "evictions": context.evictions if context else 0,
            "misses": self.misses,
        }

    def close(self) -> None:
        """Nothing to do."""


LETTER_OF = {"model": "m", "text": "s"}
WORDS = {"m": "it is what a target wrote (m)", "s": "it is text (s)"}
# A user's text repeats itself less than a general corpus, and is closer to the prompt.
USER_TEXT = LookupLimits(2, 3, 2, 0.5)


@dataclass(slots=True)
class OpenedDatabases:
    """The arguments of `Databases`. files: names by letter."""

    order: str = ""
    model_db: ModelDatabase | None = None
    text_db: TextDatabase | None = None
    reach: dict[str, LookupLimits] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def open_databases(asked: Sequence[str | Path], own: Mapping[str, Path | None], tokenizer: str) -> OpenedDatabases:
    """
    Args:
        asked: letters of c, m, s, or files, in order. own: the preset's files by letter. tokenizer: the target's
            (`Tokenizer.digest`).
    Raises:
        NgramError: a file is missing, damaged, no database, or of another tokenizer, or there are two of one kind.
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
            found.reach |= {"s": USER_TEXT} if isinstance(one, Path) else {}
    return found
