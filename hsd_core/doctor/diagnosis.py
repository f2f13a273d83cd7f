"""The whole answer about an engine's speculation: as JSON for programs, and with all that a page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsd_core.doctor.compared_settings import Setting, by_throughput, compared, main_of
from hsd_core.doctor.counted_share import Share
from hsd_core.doctor.draft_profile import DraftProfile, profile_of
from hsd_core.doctor.engines import name_of
from hsd_core.doctor.findings import findings, levels_in_words
from hsd_core.doctor.gain import Gain, gain_of, needed
from hsd_core.doctor.reading.seen import DoctorError, Seen
from hsd_core.doctor.remedies import does_not_fit, missing, remedies, texts
from hsd_core.doctor.stacks_above import levels_more
from hsd_core.doctor.verdict import counted, parts, verdict

JSON_NAMES = (
    "engine",
    "tokens_per_pass",
    "acceptance_by_position",
    "draft_ms_per_token",
    "pass_ms",
    "ms_per_token",
    "pays_if_plain_above_ms",
    "best",
    "missing",
    "advice",
    "compared",
)


def diagnose(seen: Sequence[Seen], *, plain_ms: float | None = None) -> dict[str, Any]:
    """The answer to outputs; where they are of several settings, that of which most is told, beside the others.

    The names in `JSON_NAMES` are for other programs, null for what cannot be known: acceptance_by_position is of those
    drafts that came so far, best is {"k", "speed_up"} with k = 0 for plain decoding. Beside them stands what the page
    shows: verdict, parts (where a token's ms go), curve, findings, remedies, rates, levels, profile.

    Raises:
        DoctorError: the outputs say nothing of speculation, or contradict each other.
    """
    if not seen:
        raise DoctorError("nothing was given; name a file with an engine's metrics, replies or log")
    profile = profile_of(main_of(seen), plain_ms=plain_ms)
    beside = compared(seen)
    gain = gain_of(profile)
    cures = remedies(profile, gain)
    said = findings(profile, gain)
    levels = levels_in_words(levels_more(profile), profile.engine)
    return {
        **brief(profile, gain, texts(cures) + levels),
        "compared": [_told(setting) for setting in beside],
        "title": name_of(profile.engine),
        "drafter": profile.drafter,
        "k": profile.k,
        "plain_ms": _rounded(profile.plain_ms),
        "verdict": f"This drafter does not fit. {verdict(profile)}" if does_not_fit(profile) else verdict(profile),
        "counted": counted(profile),
        "parts": [{"kind": part.kind, "ms": _rounded(part.ms), "words": part.words} for part in parts(profile)],
        "curve": curve(gain),
        "best_between": None if gain is None else [gain.low, gain.high],
        "needed": None if not profile.k else _rounded(needed(profile, profile.k)),
        "findings": [
            *({"kind": "throughput", "text": text} for text in by_throughput(beside)),
            *({"kind": finding.kind, "text": finding.text} for finding in said),
        ],
        "remedies": [{"why": cure.why, "text": cure.text} for cure in cures],
        "levels": levels,
        "rates": rates(profile),
        "acceptance": [_share(share) for share in profile.conditional],
        "survival": [_share(share) for share in profile.survival],
        "flat": None if profile.flat is None else _rounded(profile.flat.value),
        "rounds": _rounded(profile.rounds) if "means" not in profile.notes else None,
        "running": _rounded(profile.running),
        "at_most_ms": _rounded(profile.at_most_ms),
    }


def _told(setting: Setting) -> dict[str, Any]:
    return {
        "name": setting.name,
        "k": setting.k,
        "tokens_per_pass": _rounded(setting.tokens_per_pass),
        "acceptance": _rounded(setting.acceptance),
        "ms_per_token": _rounded(setting.ms_per_token),
        "at_most_ms": _rounded(setting.at_most_ms),
    }


def brief(profile: DraftProfile, gain: Gain | None, advice: list[str]) -> dict[str, Any]:
    """The names that other programs rely on."""
    best = None
    if gain is not None:
        best = {"k": gain.best.k, "speed_up": _rounded(gain.best.speed_up)}
    shares = [_rounded(share.value) for share in profile.conditional]
    drafting = not profile.no_drafts
    return {
        "engine": profile.engine or None,
        "tokens_per_pass": _rounded(profile.tokens_per_pass),
        "acceptance_by_position": shares or None,
        "draft_ms_per_token": _rounded(profile.draft_ms),
        "pass_ms": _rounded(profile.pass_ms),
        "ms_per_token": _rounded(profile.ms_per_token),
        "pays_if_plain_above_ms": _rounded(profile.ms_per_token) if drafting else None,
        "best": best,
        "missing": missing(profile),
        "advice": advice,
    }


def curve(gain: Gain | None) -> list[dict[str, Any]]:
    """The gain by draft length."""
    if gain is None:
        return []
    return [
        {
            "k": length.k,
            "ms": _rounded(length.ms),
            "tokens": _rounded(length.tokens),
            "speed_up": _rounded(length.speed_up),
            "low": _rounded(length.low),
            "high": _rounded(length.high),
            "assumed": length.assumed,
        }
        for length in gain.lengths
    ]


def rates(profile: DraftProfile) -> list[dict[str, Any]]:
    """The figures that go by the name of acceptance, side by side."""
    if not profile.drafted or profile.accepted is None or profile.no_drafts:
        return []
    tokens = profile.tokens_per_pass
    listed = [
        ("accepted of drafted", profile.accepted / profile.drafted, "what logs print; it falls as drafts get longer")
    ]
    first = profile.conditional[0] if profile.conditional else profile.first
    if first is not None:
        listed.append(("first position", first.value, "of all drafts, those whose first token was kept"))
    if profile.rounds and tokens:
        kept = profile.accepted / profile.rounds * profile.drafting
        listed.append(
            ("accepted of written", kept / (1.0 + kept), "of all tokens of the text, those that were drafted")
        )
    return [{"name": name, "value": _rounded(value), "means": means} for name, value, means in listed]


def _share(share: Share) -> dict[str, Any]:
    return {
        "value": _rounded(share.value),
        "low": _rounded(share.low),
        "high": _rounded(share.high),
        "at_least": share.at_least,
    }


def _rounded(value: float | None) -> float | None:
    """Six digits: no figure here is better than that."""
    return None if value is None else float(f"{value:.6g}")
