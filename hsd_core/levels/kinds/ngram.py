"""Lookups in n-gram databases, and on a miss the drafts of a nano."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hsd_core.levels.kinds import nano, setting
from hsd_core.levels.kinds.keys import DRAFTER, DRAFTS, GUESS, WINDOW, Key, Letters, N, Whole
from hsd_core.levels.kinds.kind import ORANGE, Kind, Origin, Site
from hsd_core.levels.kinds.spec import LevelSpec, StackError

if TYPE_CHECKING:
    from hsd_core.levels.protocol import Level
    from hsd_core.stacks.presets import Preset

ORIGINS = (
    Origin("c", "context: prompt and output"),
    Origin("w", "window: guessed ahead by the level above", 0.8, "ink"),
    Origin("m", "model: what the target wrote before", 0.55, "paper"),
    Origin("s", "statistics: general text", 0.62, "ink"),
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    here = {"c": True, "m": preset.model_db is not None, "s": preset.text_db is not None}
    order = "".join(letter for letter in preset.databases if here[letter])
    return [kind.entry("n-gram lookup", params={"db": order}, drafts=nano.drafts(preset))]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.fused import OrderedLevel
    from hsd_core.levels.ngram import NgramLevel
    from hsd_core.ngram import Databases, load_model_db, load_text_db
    from hsd_core.ngram.databases import REACH

    preset = site.preset
    order = spec.db or preset.databases
    paths = {"m": preset.model_db, "s": preset.text_db}
    missing = [letter for letter in order if letter != "c" and paths[letter] is None]
    if missing and spec.db:
        raise StackError(f"preset {preset.name} ships no database {missing[0]!r}; write ngram@db=c")
    order = "".join(letter for letter in order if letter not in missing)
    if not order:
        raise StackError(f"preset {preset.name} has no n-gram databases for this tokenizer; leave ngram out")
    known = site.tokenizer.digest
    model_db = load_model_db(paths["m"], tokenizer=known) if "m" in order and paths["m"] else None
    text_db = load_text_db(paths["s"], tokenizer=known) if "s" in order and paths["s"] else None
    kept, n, guess, window = (int(setting(spec, key) or 0) for key in ("kept", "n", "guess", "window"))
    if window and "c" not in order:
        raise StackError(f"{spec.name}: @window= feeds the context's database; write c into @db= or leave @window= out")
    reach = {"c": replace(REACH["c"], min_key=int(setting(spec, "key") or 1))}
    told: dict[str, object] = {"guess": guess} if guess > 1 else {}
    told |= {"window": window, "n": n} if window else {}
    lookups = NgramLevel(
        lambda: Databases(
            order,
            model_db=model_db,
            text_db=text_db,
            max_continuations=kept,
            continuation=n - 1,
            reach=reach,
            ahead=window > 0,
        ),
        site.tokenizer.vocab_size,
        label="n-gram lookup",
        guess=guess,
        window=window,
        n=n,
        params=told,
    )
    if spec.miss is None:
        return lookups
    name = None if spec.miss == nano.KIND.name else spec.miss
    silent = replace(spec, name=nano.KIND.name, db=None, guess=None, miss=None, own=(), id=name)
    return OrderedLevel(lookups, nano.build(silent, site))


KINDS = (
    Kind(
        name="ngram",
        order=10,
        title="n-gram",
        about="Hierarchy Drafting's databases: what followed the same tokens before.",
        help="@db= names the databases in the order in which they are asked: the context (c), what the target usually "
        "writes (m), general text (s). @guess= says how many sequences are offered side by side, for one pass to "
        "judge; @window= lets a lookahead window feed the context's; @miss=nano lets a nano draft where they are "
        "silent.",
        letter="N",
        colour=ORANGE,
        underline="dotted",
        keys=(
            *DRAFTS,
            Letters(name="db", place=50, alphabet="cms"),
            GUESS,
            WINDOW,
            N,
            Whole(
                name="kept",
                place=58,
                counts=DRAFTER,
                low=1,
                high=64,
                tip="how many continuations of one key the context's database keeps",
            ),
            Whole(
                name="key",
                place=59,
                counts=DRAFTER,
                low=1,
                high=6,
                label="least key",
                tip="how many tokens a key of the context's database has at least",
            ),
            Key(name="miss", place=60),
        ),
        usual={"guess": 1, "window": 0, "n": 5, "kept": 7, "key": 2},
        block=2,
        verifies=False,
        cheap=True,
        needs=("tokenizer",),
        of_target=lambda spec: spec.miss is not None,
        origins=ORIGINS,
        offer=offer,
        build=build,
    ),
)
