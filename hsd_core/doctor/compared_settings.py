"""Several settings in what was given: which one is diagnosed, and how the others compare with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.doctor.engines import name_of
from hsd_core.doctor.reading.lines.sections import is_drafted, is_plain
from hsd_core.doctor.reading.seen import Seen, added


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in figures; None: not told. k: 0 for plain decoding, None for a draft of unknown length."""

    name: str
    k: int | None
    tokens_per_pass: float | None
    acceptance: float | None
    ms_per_token: float | None
    at_most_ms: float | None


def main_of(seen: Sequence[Seen]) -> list[Seen]:
    """The outputs that are diagnosed: of the engine and drafter of which most is told, and its plain runs."""
    bench = [one for one in seen if "llama_bench" in one.notes and one.decode_ms and one.timed_tokens]
    if bench:  # of the models that it timed, the slowest is the target
        target = max(bench, key=lambda one: (one.decode_ms or 0.0) / (one.timed_tokens or 1.0))
        seen = [one for one in seen if one is target or "llama_bench" not in one.notes]
    drafting = [one for one in seen if one.drafts]
    if not drafting:
        engine = max(seen, key=lambda one: one.timed_tokens or 0.0).engine
        return [one for one in seen if one.engine == engine]
    best = max(drafting, key=_told)
    engine, drafter = best.engine, best.drafter
    alike = [one for one in seen if one.engine in (engine, "") and (not one.drafts or one.drafter in (drafter, ""))]
    return _under_one_heading(alike, best) if best in alike else [best]


def _under_one_heading(alike: Sequence[Seen], best: Seen) -> list[Seen]:
    """Where headings or rows tell more than with or without, such as a model or a backend: those of the best one's."""
    wanted = _of_setup(best)
    drafting = [one for one in alike if one.drafts and (one.label == best.label or one.k != best.k)]
    drafting = [one for one in drafting if not wanted or not (also := _of_setup(one)) or also == wanted]
    plain = [one for one in alike if not one.drafts]
    common = {one.label: len(wanted & _of_setup(one)) for one in plain}
    most = max(common.values(), default=0)
    return drafting + [one for one in plain if common[one.label] == most]


def _of_setup(one: Seen) -> set[str]:
    """Words of a heading that are neither of drafts nor a number; of a table's row its requests at once too."""
    label = re.sub(r"\b(?:k|n|num_steps|n-max)\s?=\s?\d+", "", one.label.lower())
    words = {word.strip() for word in re.findall(r"[\w.]*[^\W\d][\w.]*|(?<==)\s?\d+", label)}
    at_once = {f"{one.running:g}"} if one.kind == "table" and one.running is not None else set()
    return at_once | {word for word in words if not is_plain(word) and not is_drafted(word)}


def compared(seen: Sequence[Seen]) -> list[Setting]:
    """Every setting beside the others, quickest first; nothing where there is one."""
    groups: dict[object, list[Seen]] = {}
    for one in seen:
        groups.setdefault((one.engine, one.drafter, one.label, one.drafts, one.k), []).append(one)
    engines = {one.engine for one in seen}
    listed = [_setting(added(parts), len(engines) > 1) for parts in groups.values()]
    if len(listed) < 2:
        return []
    return sorted(listed, key=lambda one: (one.ms_per_token is None, one.ms_per_token or 0.0))


def by_throughput(settings: Sequence[Setting]) -> list[str]:
    """Where a log tells only the throughput of intervals, with drafts and without."""
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


def _told(one: Seen) -> tuple[int, float, float]:
    """How much is told of a setting: what can be said of it, how often it was counted, then how quick it is."""
    figures = (one.rounds, one.accepted, one.decode_ms, one.draft_ms, one.kept or None)
    ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else 0.0
    return sum(figure is not None for figure in figures), one.rounds or 0.0, -ms


def _setting(one: Seen, engines: bool) -> Setting:
    lead = f"{name_of(one.engine)}, " if engines and one.engine else ""
    if not one.drafts and "unsaid" in one.notes:
        ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else None
        return Setting(f"{lead}{one.label or 'with or without drafts'}", None, None, None, ms, one.at_most_ms)
    if not one.drafts:
        what = one.label or ("no drafts" if one.drafted == 0 else "without drafts")
        ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else None
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
    ms = one.decode_ms / one.timed_tokens if one.decode_ms and one.timed_tokens else None
    return Setting(f"{lead}{what}", one.k, per_pass, share, ms, one.at_most_ms)
