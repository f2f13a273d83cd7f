"""The best draft length for each kind of text, from the tokens a pass that a benchmark printed by category, such as
SPEED-Bench's acceptance lengths, given or in a table of the text. A drafter costs the same on every kind."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hsd_core.doctor.by_batch import by_batch
from hsd_core.doctor.diagnosis import diagnose, main_setting
from hsd_core.doctor.draft_profile import Share, flat_share, profile_of
from hsd_core.doctor.gain import gain_of, worth
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.reading.pasted_text import clean
from hsd_core.doctor.verdict import length_setting
from hsd_core.theory import Profile

MOST = 100
NEAR_END = 20_000  # characters: a table beside a long log stands before or behind it
LONGEST_LENGTH = 33.0  # tokens a pass that are believed of a table
_KIND = re.compile(r"category|subset|kind of text|task|data ?set", re.IGNORECASE)
_LENGTH = re.compile(
    r"acc\w{0,9}[ _-]len|per target forward|tokens?\W{0,2}(?:/|per|a) ?(?:pass|step|forward|round)|\bM?AL\b|\bMAT\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(  # of SPEED-Bench, of Spec-Bench, of papers
    "coding|humanities|math|multilingual|qa|rag|reasoning|roleplay|stem|summarization|writing|mt[_-]?bench|translation"
    "|math_reasoning|extraction|chat|gsm8k|math-?500|humaneval|mbpp",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"overall|all|mean|average|total", re.IGNORECASE)
_BAR = re.compile(r"[|│┃]")
_GAP = re.compile(r"\s*[:=]\s*|\s{2,}|\t|\s(?=[\d.]+$)")


def read_categories(text: str) -> dict[str, float]:
    """Tokens a pass by category from "coding=3.1,roleplay=1.9".

    Raises:
        DoctorError: it is written otherwise.
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            found[name.strip()[:60]] = float(value)
        except ValueError:
            raise DoctorError(f"{part.strip()[:60]!r} is no category; write coding=3.1,roleplay=1.9") from None
    if wrong := [name for name, tokens in found.items() if not (name and math.isfinite(tokens) and tokens >= 1.0)]:
        raise DoctorError(f"{wrong[0]!r} has fewer than 1 token a pass; give the mean acceptance length, 1 or more")
    if len(found) > MOST:
        raise DoctorError(f"{len(found)} categories were given; at most {MOST} are read")
    return found


def categories_in(texts: Iterable[str]) -> dict[str, float]:
    """Tokens a pass by category from a table at the start or the end of a text: a column of categories and one of
    lengths, a column for each category under such a heading, or lines of a known category and a number. Empty: there
    is none, or a category has several rows."""
    for text in texts:
        near = text if len(text) <= 2 * NEAR_END else f"{text[:NEAR_END]}\n{text[-NEAR_END:]}"
        lines = [line.strip(" \t|│┃") for line in clean(near).splitlines()]
        rows = [
            [cell.strip("*` ") for cell in (_BAR if _BAR.search(line) else _GAP).split(line)]
            for line in lines
            if len(line) <= 400 and any(sign.isalnum() for sign in line)
        ]
        for found in (*_under_heads(rows), [(row[0], row[1]) for row in rows if len(row) == 2 and _known(row[:1])]):
            read = {re.sub("[,=]", " ", name): _tokens(value) for name, value in found[:MOST]}
            whole = {name: tokens for name, tokens in read.items() if name and tokens is not None}
            if len(whole) > 1 and len(whole) == len(found):
                return whole
    return {}


def _under_heads(rows: Sequence[Sequence[str]]) -> Iterable[list[tuple[str, str]]]:
    """The categories and figures under each head of such a table."""
    for at, head in enumerate(rows):
        kind = next((i for i, name in enumerate(head) if _KIND.fullmatch(name)), None)
        length = next((i for i, name in enumerate(head) if _LENGTH.search(name)), None)
        if kind is not None and length is not None:
            below = rows[at + 1 : at + 2 + MOST]
            end = next((n for n, row in enumerate(below) if len(row) != len(head)), len(below))
            yield [(row[kind], row[length]) for row in below[:end] if not _WHOLE.fullmatch(row[kind])]
        elif len(_known(head)) > 1 and any(_LENGTH.search(" ".join(row)) for row in rows[max(0, at - 2) : at]):
            own = [row for row in rows[at + 1 : at + 3] if len(row) == len(head)]
            if len(own) == 1:
                yield [pair for pair in zip(head, own[0], strict=True) if _known(pair[:1])]


def _known(names: Sequence[str]) -> list[str]:
    return [name for name in names if _KNOWN.fullmatch(name)]


def _tokens(value: str) -> float | None:
    try:
        tokens = float(value)
    except ValueError:
        return None
    return tokens if 1.0 <= tokens <= LONGEST_LENGTH else None


def diagnose_kinds(
    seen: Sequence[Counts],
    texts: Iterable[str],
    given: str = "",
    *,
    plain_ms: float | None = None,
    costs: Profile | None = None,
) -> dict[str, Any]:
    """`diagnose`, with `by_batch`, over the passes of the profile `costs`, if given; and with `by_category` and
    `categories`, what it is of as `read_categories` wants it: what is given, else a table in the texts, which is no
    setting. `missing` tells what a table lacks.

    Raises:
        DoctorError: as `diagnose`; what is given is wrong, or the outputs tell nothing of other lengths.
    """
    tokens = read_categories(given) if given else categories_in(texts)
    if tokens and not given:
        rows = {*tokens, *(one.label for one in seen if _WHOLE.fullmatch(one.label))}
        seen = [one for one in seen if one.decode_ms or one.label not in rows] or seen
    batches = by_batch(seen, plain_ms=plain_ms, costs=costs)
    answer = {**diagnose(seen, plain_ms=plain_ms), "by_batch": batches, "by_category": [], "categories": ""}
    try:
        found = by_category(seen, tokens, plain_ms=plain_ms) if tokens else []
    except DoctorError as error:
        if given:
            raise
        return {**answer, "missing": [*answer["missing"], str(error)]}
    said = given or ", ".join(f"{name}={mean:g}" for name, mean in tokens.items())
    return {**answer, "by_category": found, "categories": said}


def by_category(
    seen: Sequence[Counts], tokens: Mapping[str, float], *, plain_ms: float | None = None
) -> list[dict[str, Any]]:
    """For each category `acceptance`, the same at every position, `k`, the best draft length (0: no drafts),
    `speed_up` (None: the plain time is not known), and `setting` in the engine's syntax.

    Args:
        tokens: a pass at the draft length of the outputs, by category.
    Raises:
        DoctorError: the outputs do not tell what drafts of other lengths would take.
    """
    profile = profile_of(main_setting(seen), plain_ms=plain_ms)
    length = profile.k or profile.length
    found = []
    for category, mean in tokens.items():
        if length and mean > 1.0 + length:
            raise DoctorError(f"{category}: {mean:g} tokens a pass are more than drafts of {length:g} can give")
        share = flat_share(mean - 1.0, length) if length else 0.0
        own = replace(profile, conditional=(), survival=(), first=None, flat=Share(share), tokens_at={}, drafting=1.0)
        gain = gain_of(own)
        if gain is None:
            raise DoctorError(
                "the best draft length by kind of text needs the times of two draft lengths (none, by --plain-ms, is "
                "one), or of drafting and verifying apart"
            )
        k = gain.best.k if worth(gain) else 0
        setting = length_setting(profile, k)
        found.append(
            {"category": category, "acceptance": share, "k": k, "speed_up": gain.best.speed_up, "setting": setting}
        )
    return found


def category_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The answer as lines for a terminal."""
    lines = ["By kind of text, if all positions are accepted alike:"]
    for one in found:
        gain = "" if one["speed_up"] is None else f", {one['speed_up']:.2f} times plain decoding"
        best = f"drafts of {one['k']}{gain}: {one['setting']}" if one["k"] else f"no drafts: {one['setting']}"
        lines.append(f"- {one['category']}: {100 * one['acceptance']:.0f} % accepted; {best}")
    return lines
