"""The complete diagnosis of an engine's speculation: as JSON for programs, and with everything that a page draws.

Of several settings, one is diagnosed and the others are compared with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hsd_core.doctor.draft_profile import DraftProfile, Share, profile_of
from hsd_core.doctor.engines import name_of
from hsd_core.doctor.findings import findings, level_sentences
from hsd_core.doctor.gain import Gain, Length, break_even_acceptance, extra_levels, gain_of
from hsd_core.doctor.reading.counts import Counts, DoctorError, sum_counts
from hsd_core.doctor.reading.headings import is_drafted, is_plain
from hsd_core.doctor.verdict import counted, does_not_fit, missing, parts, remedies, remedy_lines, verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """The figures of one setting; None: not known. k: 0 for plain decoding, None for a draft of unknown length."""

    name: str
    k: int | None
    tokens_per_pass: float | None
    acceptance: float | None
    ms_per_token: float | None
    at_most_ms: float | None


def main_setting(seen: Sequence[Counts]) -> list[Counts]:
    """The outputs that are diagnosed: those of the engine and drafter with the most figures, and its plain runs."""
    bench = [one for one in seen if "llama_bench" in one.notes and one.decode_ms and one.timed_tokens]
    if bench:  # the slowest of the timed models is the target
        target = max(bench, key=lambda one: (one.decode_ms or 0.0) / (one.timed_tokens or 1.0))
        seen = [one for one in seen if one is target or "llama_bench" not in one.notes]
    drafting = [one for one in seen if one.drafts]
    if not drafting:
        engine = max(seen, key=lambda one: one.timed_tokens or 0.0).engine
        return [one for one in seen if one.engine == engine]
    best = max(drafting, key=_amount_known)
    engine, drafter = best.engine, best.drafter
    alike = [one for one in seen if one.engine in (engine, "") and (not one.drafts or one.drafter in (drafter, ""))]
    return _under_one_heading(alike, best) if best in alike else [best]


def _under_one_heading(alike: Sequence[Counts], best: Counts) -> list[Counts]:
    """The outputs whose heading or row names the same model, backend or the like as the best one's."""
    wanted = _setup_words(best)
    drafting = [one for one in alike if one.drafts and (one.label == best.label or one.k != best.k)]
    drafting = [one for one in drafting if not wanted or not (also := _setup_words(one)) or also == wanted]
    plain = [one for one in alike if not one.drafts]
    common = {one.label: len(wanted & _setup_words(one)) for one in plain}
    most = max(common.values(), default=0)
    return drafting + [one for one in plain if common[one.label] == most]


def _setup_words(one: Counts) -> set[str]:
    """The words of a heading that name neither drafts nor a number; for a table's row also its concurrent requests."""
    label = re.sub(r"\b(?:k|n|num_steps|n-max)\s?=\s?\d+", "", one.label.lower())
    words = {word.strip() for word in re.findall(r"[\w.]*[^\W\d][\w.]*|(?<==)\s?\d+", label)}
    at_once = {f"{one.running:g}"} if one.kind == "table" and one.running is not None else set()
    return at_once | {word for word in words if not is_plain(word) and not is_drafted(word)}


def compare_settings(seen: Sequence[Counts]) -> list[Setting]:
    """All settings, the fastest first; empty if there is only one."""
    groups: dict[object, list[Counts]] = {}
    for one in seen:
        groups.setdefault((one.engine, one.drafter, one.label, one.drafts, one.k), []).append(one)
    engines = {one.engine for one in seen}
    listed = [_setting(sum_counts(parts), len(engines) > 1) for parts in groups.values()]
    if len(listed) < 2:
        return []
    return sorted(listed, key=lambda one: (one.ms_per_token is None, one.ms_per_token or 0.0))


def by_throughput(settings: Sequence[Setting]) -> list[str]:
    """A comparison by throughput, for logs that print only the throughput of intervals, with drafts and without."""
    known = [one for one in settings if one.at_most_ms is not None and one.ms_per_token is None]
    plain = [one.at_most_ms or 1.0 for one in known if one.k == 0]
    drafted = [one.at_most_ms or 1.0 for one in known if one.k != 0]
    if not plain or not drafted:
        return []
    most, least = 1e3 / min(drafted), 1e3 / min(plain)
    return [
        f"In the log's intervals one request got {most:.1f} tokens/s with drafts and {least:.1f} without: "
        f"{most / least:.2f} times as many, pauses counted in both."
    ]


def _amount_known(one: Counts) -> tuple[int, float, float]:
    """How much is known of a setting: its number of figures, then of counted rounds, then its speed."""
    figures = (one.rounds, one.accepted, one.decode_ms, one.draft_ms, one.kept or None)
    ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else 0.0
    return sum(figure is not None for figure in figures), one.rounds or 0.0, -ms


def _setting(one: Counts, engines: bool) -> Setting:
    lead = f"{name_of(one.engine)}, " if engines and one.engine else ""
    ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else None
    if not one.drafts and "unclear" in one.notes:
        return Setting(f"{lead}{one.label or 'with or without drafts'}", None, None, None, ms, one.at_most_ms)
    if not one.drafts:
        what = one.label or ("no drafts" if one.drafted == 0 else "without drafts")
        return Setting(f"{lead}{what}", 0, 1.0, None, ms, one.at_most_ms)
    size = f"drafts of {one.k}" if one.k else "with drafts"
    if one.lengths_vary and one.drafted and one.rounds:
        size = f"drafts of {one.drafted / one.rounds:.1f} in the mean"
    label = "" if one.label.isdecimal() and one.k else one.label
    what = ", ".join(part for part in (label, one.drafter, size) if part)
    per_pass = None
    if one.rounds and one.accepted is not None:
        per_pass = 1.0 + one.accepted / one.rounds
    if one.timed_tokens and one.timed_passes and (per_pass is None or one.rounds != one.timed_passes):
        per_pass = one.timed_tokens / one.timed_passes
    share = one.accepted / one.drafted if one.drafted and one.accepted is not None else None
    return Setting(f"{lead}{what}", one.k, per_pass, share, ms, one.at_most_ms)


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


def diagnose(seen: Sequence[Counts], *, plain_ms: float | None = None) -> dict[str, Any]:
    """The diagnosis of outputs; of several settings, the one with the most figures is diagnosed.

    The names in `JSON_NAMES` are for other programs, null for what cannot be known: acceptance_by_position counts the
    drafts that reached the position, best is {"k", "speed_up"} with k = 0 for plain decoding. The other entries are
    what the page shows: verdict, parts (where a token's ms go), curve, findings, remedies, rates, levels.

    Raises:
        DoctorError: the outputs contain nothing about speculation, or contradict each other.
    """
    if not seen:
        raise DoctorError("nothing was given; name a file with an engine's metrics, replies or log")
    profile = profile_of(main_setting(seen), plain_ms=plain_ms)
    settings = compare_settings(seen)
    gain = gain_of(profile)
    cures = remedies(profile, gain)
    levels = level_sentences(extra_levels(profile), profile.engine)
    return {
        **brief(profile, gain, remedy_lines(cures) + levels),
        "compared": [_rounded_record(setting) for setting in settings],
        "title": name_of(profile.engine),
        "drafter": profile.drafter,
        "k": profile.k,
        "plain_ms": _rounded(profile.plain_ms),
        "verdict": f"This drafter does not fit. {verdict(profile)}" if does_not_fit(profile) else verdict(profile),
        "counted": counted(profile),
        "parts": [{"kind": part.kind, "ms": _rounded(part.ms), "words": part.words} for part in parts(profile)],
        "curve": [] if gain is None else [_rounded_record(length) for length in gain.lengths],
        "best_between": None if gain is None else [gain.low, gain.high],
        "needed": None if not profile.k else _rounded(break_even_acceptance(profile, profile.k)),
        "findings": [
            *({"kind": "throughput", "text": text} for text in by_throughput(settings)),
            *({"kind": finding.kind, "text": finding.text} for finding in findings(profile, gain)),
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


def brief(profile: DraftProfile, gain: Gain | None, advice: list[str]) -> dict[str, Any]:
    """The part of the diagnosis that other programs rely on."""
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


def rates(profile: DraftProfile) -> list[dict[str, Any]]:
    """The different figures that are called acceptance."""
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


def _rounded_record(record: Setting | Length) -> dict[str, Any]:
    fields = asdict(record)
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in fields.items()}


def _rounded(value: float | None) -> float | None:
    """Six digits: no figure here is more exact."""
    return None if value is None else float(f"{value:.6g}")
