"""Lookups in n-gram databases; suffix decoding (Oliaro et al. 2024, arXiv 2411.04975), which scores what followed every
end of the text; lookahead decoding (Fu et al. 2024, arXiv 2402.02057), in which the passes of the level above also
guess its next tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import BOTTOM, DRAFTER, FileKey, FileName, Share, StackError, Whole
from hsd_core.grammar.keys import DRAFTS, GROW, GUESS, WINDOW, N
from hsd_core.grammar.kind import (
    ORANGE,
    Kind,
    KindText,
    Look,
    Lookup,
    NameForms,
    Origin,
    Placement,
    Planning,
    Site,
    Unplanned,
)
from hsd_core.grammar.spec import LevelSpec

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.systems.ngram.databases import OpenedDatabases


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources(FileKey):
    """Letters of an alphabet, each at most once, and names of files, separated by plus signs: cm, c+notes.npz.

    suffix: of file names, which have no comma, @ or +, as these are signs of the grammar.
    """

    type = "sources"
    alphabet: str

    @property
    def cure(self) -> str:
        most, last = self.alphabet[:-1], self.alphabet[-1]
        return (
            f"use the letters {', '.join(most)} and {last}, each at most once, in order of lookup, or {self.suffix} "
            f"files set off by plus signs: {self.alphabet[0]}+notes{self.suffix}"
        )

    def parse(self, text: str) -> str | None:
        parts = self.parts(text)
        known = all(self._is_file(part) or part in self.alphabet for part in parts)
        return self._written(parts) if all(text.split("+")) and known and len(set(parts)) == len(parts) else None

    def parts(self, value: str) -> list[str]:
        """Every letter and every file, in order."""
        return [part for named in value.split("+") for part in ([named] if self._is_file(named) else named)]

    def files(self, value: str) -> list[str]:
        """The files alone."""
        return [part for part in self.parts(value) if self._is_file(part)]

    def _is_file(self, part: str) -> bool:
        return part.endswith(self.suffix)

    def _written(self, parts: list[str]) -> str:
        """The one way to write them: no plus sign between letters."""
        text = "".join(f"+{part}+" if self._is_file(part) else part for part in parts)
        return text.replace("++", "+").strip("+")


ORIGINS = (
    Origin("c", "context: prompt and output"),
    Origin("w", "window: guessed ahead by the level above", 0.8, "ink"),
    Origin("m", "model: what the target wrote before", 0.55, "paper"),
    Origin("s", "statistics: general text", 0.62, "ink"),
)
DB = Sources(
    name="db", place=50, noted="databases {}", alphabet="cms", noun="database", listed="databases", suffix=".npz"
)
KEPT = Whole(
    name="kept",
    place=58,
    counts=DRAFTER,
    usual=7,
    low=1,
    high=64,
    noted="keeps {}",
    tip="how many continuations of one key the context's database keeps",
)
SHORTEST = Whole(
    name="key",
    place=59,
    counts=DRAFTER,
    usual=2,
    low=1,
    high=6,
    label="least key",
    noted="keys of {} or more",
    tip="the least number of tokens in a key of the context's database",
)
FACTOR = Share(
    name="factor",
    place=58,
    counts=DRAFTER,
    usual=1.0,
    low=0.25,
    high=8.0,
    step=0.25,
    noted="{} a token",
    tip="how many tokens are drafted at most for each token of the text\u2019s end that occurred before",
)
LEAST = Share(
    name="share",
    place=61,
    counts=DRAFTER,
    usual=0.1,
    label="least share",
    noted="shares of {} or more",
    tip="the least share of the earlier occurrences that went on as a drafted token and those before it do",
)
RUNS, ALL = "runs", "all"  # of other prompts, and of the same one too
EARLIER = FileName(
    name="earlier",
    place=50,
    counts=BOTTOM,
    noted="earlier: {}",
    noun="outputs",
    listed="outputs",
    suffix=".jsonl",
    own=(RUNS, ALL),
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    here = {"c": True, "m": preset.model_db is not None, "s": preset.text_db is not None}
    order = "".join(letter for letter in preset.databases if here[letter])
    return [kind.entry("n-gram lookup", params={"db": order})]


def databases(spec: LevelSpec, site: Site) -> OpenedDatabases:
    """The databases that a level names, else the preset's own.

    Raises:
        StackError: the preset does not ship one of them, or a file is not a database of its tokenizer.
    """
    from hsd_core.models.database_file import NgramError
    from hsd_core.systems.ngram.databases import open_databases

    preset = site.preset
    own = {"m": preset.model_db, "s": preset.text_db}
    asked = spec.get(DB)
    parts = DB.parts(asked or preset.databases)
    missing = [part for part in parts if part in own and own[part] is None]
    if missing and asked:
        raise StackError(
            f"preset {preset.name} ships no database {missing[0]!r}; write ngram@db=c, or build one with `python -m "
            f"hsd_core ngram-{'model' if missing[0] == 'm' else 'text'}` and name its file: ngram@db=c+FILE.npz"
        )
    if not (parts := [part for part in parts if part not in missing]):
        raise StackError(f"preset {preset.name} has no n-gram databases for this tokenizer; leave ngram out")
    files = DB.files(asked or "")
    try:
        return open_databases(
            [site.file(part) if part in files else part for part in parts], own, site.tokenizer.digest
        )
    except NgramError as error:
        raise StackError(f"{spec.name}: {error}") from error


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.ngram.databases import REACH, Databases
    from hsd_core.systems.ngram.ngram_level import NgramLevel

    opened = databases(spec, site)
    order = opened.order
    n, guess, window = spec[N], spec[GUESS], spec[WINDOW]
    if window and "c" not in order:
        raise StackError(f"{spec.name}: @window= feeds the context's database; write c into @db= or leave @window= out")
    reach = {**opened.reach, "c": replace(REACH["c"], min_key=spec[SHORTEST])}
    params: dict[str, object] = {"guess": guess} if guess > 1 else {}
    params |= {"window": window, "n": n} if window else {}
    params |= {"files": opened.files} if opened.files else {}
    return NgramLevel(
        lambda: Databases(
            order,
            model_db=opened.model_db,
            text_db=opened.text_db,
            max_continuations=spec[KEPT],
            continuation=n - 1,
            reach=reach,
            ahead=window > 0,
        ),
        site.tokenizer.vocab_size,
        label="n-gram lookup",
        guess=guess,
        window=window,
        n=n,
        params=params,
    )


def offer_suffix(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("suffix decoding")]


def build_suffix(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.models.database_file import NgramError
    from hsd_core.systems.ngram.build import read_outputs
    from hsd_core.systems.ngram.ngram_level import NgramLevel
    from hsd_core.systems.ngram.suffix_db import Earlier, Limits, Suffixes

    vocab, asked, earlier = site.tokenizer.vocab_size, spec.get(EARLIER), None
    if asked in EARLIER.own:
        earlier = Earlier(again=asked == ALL)
    elif asked:
        try:
            earlier = Earlier(read_outputs(site.file(asked)), files=False)
        except NgramError as error:
            raise StackError(f"{spec.name}: {error}") from error
        if earlier.largest >= vocab:
            raise StackError(
                f"{spec.name}: {asked} has the id {earlier.largest}, and the target's ids end at {vocab - 1}"
            )
    limits = Limits(spec[SHORTEST], spec[FACTOR], spec[LEAST])
    params: dict[str, object] = {"earlier": asked} if asked else {}
    return NgramLevel(
        lambda: Suffixes(limits, earlier),
        vocab,
        name=spec.name,
        kind=spec.name,
        label="suffix decoding",
        guess=0,
        params=params,
    )


def offer_lookahead(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("lookahead")]


def build_lookahead(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.ngram.databases import Databases
    from hsd_core.systems.ngram.ngram_level import NgramLevel

    window, n, guess = spec[WINDOW], spec[N], spec[GUESS]
    if not window:
        raise StackError(f"{spec.name}: without a window nothing is guessed ahead; leave @window=0 out")
    return NgramLevel(
        lambda: Databases("", max_continuations=guess, ahead=True),
        site.tokenizer.vocab_size,
        name=spec.name,
        kind=spec.name,
        label=f"lookahead, {window} columns",
        guess=guess,
        window=window,
        n=n,
        params={"guess": guess, "window": window, "n": n},
    )


KINDS = (
    Kind(
        name="ngram",
        order=10,
        look=Look("N", ORANGE, "dotted", stand_in="lookup"),
        text=KindText(
            title="lookups",
            about="Hierarchy Drafting's databases: what followed the same tokens before.",
            help="@db= names the databases in the order in which they are asked: the context (c), what the target "
            "usually writes (m), general text (s), or files of ngram-model and ngram-text: c+notes.npz. @guess= says "
            "how many candidates are offered side by side, for one pass to judge; @window= lets a lookahead window "
            "feed the context's.",
            in_names=NameForms(
                ("{guess} lookups at once", "lookups"), {WINDOW.name: "{level} with a lookahead window"}
            ),
        ),
        keys=(*DRAFTS, DB, GUESS.usually(1), WINDOW.usually(0), N.usually(5), KEPT, SHORTEST),
        placement=Placement(block=2, verifies=False, cheap=True, needs=frozenset({"tokenizer"})),
        lookup=Lookup(origins=ORIGINS, beside=lambda count: LevelSpec("ngram", values={GUESS.name: count})),
        offer=offer,
        build=build,
    ),
    Kind(
        name="suffix",
        order=11,
        look=Look("X", ORANGE, "wavy"),
        text=KindText(
            title="suffix decoding",
            about="Of all ends of the text that occurred before, the one whose continuation scores best drafts.",
            help="A longer match drafts more: @factor= tokens for each of its own, which are at least @key=; @share= "
            "is the least share of the occurrences behind a draft. @grow= makes it a tree of the likeliest paths. "
            "@earlier=FILE.jsonl also looks in outputs that selfgen wrote, @earlier=runs in those of your own earlier "
            "runs, since the page was opened, of other prompts; @earlier=all in those of the same prompt too.",
        ),
        keys=(GROW, EARLIER, FACTOR, SHORTEST.usually(1), LEAST),
        placement=Placement(block=8, verifies=False, cheap=True, needs=frozenset({"tokenizer"})),
        lookup=Lookup(origins=(ORIGINS[0], Origin("e", "earlier outputs", 0.55, "paper"))),
        planning=Planning(
            unplanned=lambda spec: (
                Unplanned(
                    "outputs of earlier runs, which differ from run to run",
                    "what earlier runs wrote differs from run to run; calibrate suffix without @earlier=",
                )
                if spec.get(EARLIER)
                else None
            ),
            named=True,
        ),
        offer=offer_suffix,
        build=build_suffix,
    ),
    Kind(
        name="lookahead",
        order=12,
        look=Look("A", ORANGE, "dashed"),
        text=KindText(
            title="lookahead",
            about="A window of guesses is part of each pass of the level above; the n-grams that it gives are offered.",
            help="No model, no store, no training. @window= is the number of columns, @n= the tokens of an n-gram, "
            "@guess= how many that begin with the text's last token are kept and offered side by side. It pays where "
            "extra rows of a pass are free.",
        ),
        keys=(GUESS.usually(7), WINDOW.usually(7), N.usually(5)),
        placement=Placement(verifies=False, cheap=True, needs=frozenset({"weights"})),
        lookup=Lookup(origins=(Origin("w", "window: guessed ahead by the level above"),)),
        offer=offer_lookahead,
        build=build_lookahead,
    ),
)
