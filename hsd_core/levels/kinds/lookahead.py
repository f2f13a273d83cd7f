"""Lookahead decoding (Fu et al. 2024, arXiv 2402.02057): the level above guesses its own future in its own passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.declared.key import StackError
from hsd_core.levels.declared.keys import GUESS, WINDOW, N
from hsd_core.levels.declared.kind import ORANGE, Kind, Origin, Site

if TYPE_CHECKING:
    from hsd_core.levels.declared.preset import Preset
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.levels.protocol import Level


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("lookahead")]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.built.ngram import NgramLevel
    from hsd_core.ngram import Databases

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
        name="lookahead",
        order=12,
        title="lookahead",
        about="A window of guesses is part of each pass of the level above; the n-grams that it gives are offered.",
        help="No model, no store, no training. @window= is the number of columns, @n= the tokens of an n-gram, @guess= "
        "how many that begin with the text's last token are kept and offered side by side. It pays where extra rows "
        "of a pass are free.",
        letter="A",
        colour=ORANGE,
        underline="dashed",
        keys=(GUESS.usually(7), WINDOW.usually(7), N.usually(5)),
        verifies=False,
        cheap=True,
        needs=frozenset({"weights"}),
        origins=(Origin("w", "window: guessed ahead by the level above"),),
        offer=offer,
        build=build,
    ),
)
