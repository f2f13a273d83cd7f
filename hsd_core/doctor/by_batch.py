"""The draft length for each number of requests at once, as the table that an engine takes.

Costs are the best that is known: times at several loads in the outputs; else joint passes of a profile
(`calibrate --load`); else computed, c(nB) / B for n rows of each of B requests, on the line through a plain pass and a
pass over a draft in the outputs, or, where these do not tell what rows cost, on the figures of an H100.

vLLM: docs/features/speculative_decoding/dynamic_speculative_decoding.md, issue 49548, pull request 35060. SGLang:
speculative/adaptive_spec_params.py. TensorRT-LLM: pull request 10860, `DecodingBaseConfig` of 1.3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hsd_core.doctor.diagnosis import main_setting
from hsd_core.doctor.draft_profile import DraftProfile, profile_of
from hsd_core.doctor.drafters import kind_of
from hsd_core.doctor.engines import engine_of, name_of
from hsd_core.doctor.findings import NOT_FREE
from hsd_core.doctor.gain import WORTH, slope_of
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.verdict import length_setting
from hsd_core.theory import Profile, ProfileError, profile_from
from hsd_core.theory.profiles.under_load import under_load

MOST = 512  # requests at once
RARE = 1e-4  # of drafts: a longer draft gains nothing
SHARE = 0.05  # of a pass: what a drafted token costs where no output tells it; a lookup's costs nothing
SERVERS = ("vllm", "sglang", "tensorrt-llm", "tgi")  # engines that are made for many requests
LARGEST = 2_000_000  # characters of a profile
_KEYS = ('"levels"', '"acceptance"', '"cost_ms"')  # of a profile in JSON
# An H100 SXM's data sheet: 3.35 TB/s, 989 TFLOPS (16 bits, dense). A pass reads 2 bytes and computes 2 operations for
# each weight and row; up to so many rows the reading takes longer. Real kernels are slower.
FREE_ROWS = round(989e12 / 3.35e12)


@dataclass(frozen=True, slots=True)
class Range:
    """low to high requests at once: drafts of k tokens (0: none), `speed_up` times plain decoding of as many."""

    low: int
    high: int
    k: int
    speed_up: float | None


@dataclass(frozen=True, slots=True)
class _Best:
    load: int
    k: int
    speed_up: float | None


def by_batch(
    seen: Sequence[Counts], *, plain_ms: float | None = None, costs: Profile | None = None
) -> dict[str, Any] | None:
    """`ranges` of requests at once, `costs` (what they are, in words), `measured`, `setting` in the engine's syntax
    ("" where it has none), `note` on it, and `needs`, what would measure it. None: the outputs tell no acceptance, or
    neither their engine nor their load is of many requests.

    Args:
        costs: a profile whose passes are taken for those of the engine; the acceptance is the outputs'.
    Raises:
        DoctorError: as `profile_of`; the profile has no level that drafts.
    """
    profile = profile_of(main_setting(seen), plain_ms=plain_ms)
    found, measured = _measured(seen, profile.engine), True
    words = "measured: the times in this output"
    if not found:
        busy = profile.running is not None and profile.running > 1.2
        if profile.no_drafts or not profile.k or not (profile.conditional or profile.flat):
            return None
        if costs is None and not busy and profile.engine not in SERVERS:
            return None
        found, words, measured = _from_profile(profile, costs) if costs is not None else _computed(profile)
    ranges = _ranges(found)
    setting, note = in_syntax(profile, ranges)
    needs = "" if measured else _needs(profile.engine)
    listed = [{"low": one.low, "high": one.high, "k": one.k, "speed_up": one.speed_up} for one in ranges]
    return {
        "running": profile.running,
        "ranges": listed,
        "costs": words,
        "measured": measured,
        "setting": setting,
        "note": note,
        "needs": needs,
    }


def costs_in(texts: Sequence[tuple[str, str]]) -> tuple[Profile | None, list[tuple[str, str]]]:
    """The last profile among named texts, and the other texts.

    Raises:
        DoctorError: a profile is wrong.
    """
    costs, others = None, list[tuple[str, str]]()
    for name, text in texts:
        if len(text) > LARGEST or not text.lstrip().startswith("{") or not all(key in text for key in _KEYS):
            others.append((name, text))
            continue
        try:
            costs = profile_from(json.loads(text))
        except (ProfileError, ValueError, RecursionError) as error:
            raise DoctorError(f"{name}: {error}") from None
    return costs, others


def _measured(seen: Sequence[Counts], engine: str) -> list[_Best]:
    """The best length at each load, where the outputs time several lengths at several loads; else nothing."""
    at: dict[int, dict[int, float]] = {}
    for one in seen:
        if one.engine not in (engine, "") or not one.running or not one.decode_ms or not one.timed_tokens:
            continue
        if one.drafts and not one.k:
            continue
        lengths = at.setdefault(round(one.running), {})
        k, ms = (one.k or 0) if one.drafts else 0, one.decode_ms / one.timed_tokens
        lengths[k] = min(ms, lengths.get(k, ms))
    found = []
    for load, lengths in sorted(at.items()):
        if len(lengths) > 1:
            k = min(lengths, key=lambda k: lengths[k])
            if 0 in lengths and lengths[0] < WORTH * lengths[k]:
                k = 0
            found.append(_Best(load, k, lengths[0] / lengths[k] if 0 in lengths else None))
    return found if len(found) > 1 else []


def _from_profile(profile: DraftProfile, costs: Profile) -> tuple[list[_Best], str, bool]:
    """Over the passes of a measured profile: its cheapest level that is no lookup drafts, unless the drafter looks up.

    Raises:
        DoctorError: it has a target alone.
    """
    drafting = [i for i, level in enumerate(costs.levels[:-1]) if not level.is_lookup]
    if not drafting:
        raise DoctorError("the profile has no level that drafts; give one of a drafter and a target")
    drafter, target = drafting[0], costs.levels[-1]
    looks_up = kind_of(profile.drafter) in ("lookups", "suffix")
    both = set(target.joint) & (set(target.joint) if looks_up else set(costs.levels[drafter].joint))
    loads = sorted(both) or [2**i for i in range(6)]

    def best(load: int) -> _Best:
        now = under_load(costs, load)
        verify = now.edge_cost.get((drafter, len(costs.levels) - 1), now.levels[-1].cost)
        return _best_at(
            profile,
            load,
            now.levels[-1].cost(1),
            verify,
            lambda k: 0.0 if looks_up else now.levels[drafter].block_ms(k),
        )

    names = target.name if looks_up else f"{costs.levels[drafter].name} and {target.name}"
    passes = f"joint passes of {names}, measured" if both else f"passes of {names}, c(nB) / B for n rows of B requests"
    about = ", ".join(str(costs.about[key]) for key in ("machine", "recorded") if key in costs.about)
    words = f"predicted: the acceptance of this output over {passes}" + f" ({about})" * bool(about)
    return [best(load) for load in loads], words, bool(both)


def _computed(profile: DraftProfile) -> tuple[list[_Best], str, bool]:
    """Over c(nB) / B, from the rows of the outputs or a GPU's figures."""
    plain, verify, at = profile.plain_ms, profile.pass_ms, max(1, round(profile.running or 1))
    rows = round(profile.length or profile.k or 1) + 1
    looks_up = kind_of(profile.drafter) in ("lookups", "suffix")
    base, slope, free = plain or verify or 1.0, 0.0, at
    if plain and verify and verify > NOT_FREE * plain:
        slope = (verify - plain) / (at * (rows - 1))
        words = f"computed: c(nB) / B on the line through a plain pass and one of {rows} rows in this output"
    else:
        free = FREE_ROWS
        slope = base / free
        words = f"computed: c(nB) / B for an H100 in 16 bits, where up to {free} rows cost as much as one"
    draft = profile.draft_ms
    if draft is None and plain and (more := slope_of(profile)) is not None:
        draft = max(0.0, more)
    if draft is None:
        draft = 0.0 if looks_up else SHARE * base
        words += "" if looks_up else f"; a drafted token is assumed to cost {100 * SHARE:.0f} % of a pass"

    def c(n: int) -> float:
        return base + slope * max(0, n - free)

    def best(load: int) -> _Best:
        each = draft * c(load) / c(at)  # a drafted token takes a row of each request
        return _best_at(
            profile, load, c(load), lambda n: c(load * n), lambda k: each * (min(k, 1) if profile.block else k)
        )

    return [best(load) for load in range(1, MOST + 1)], words, False


def _best_at(
    profile: DraftProfile, load: int, plain: float, verify: Callable[[int], float], draft: Callable[[int], float]
) -> _Best:
    """The best length up to the present one; below `WORTH` none. Passes without a draft are plain ones."""
    survived, kept, best = 1.0, 0.0, _Best(load, 0, 1.0)
    for k in range(1, (profile.k or 0) + 1):
        survived *= profile.accepts(k - 1)
        if survived < RARE:
            break
        kept += survived
        ms = profile.drafting * (verify(k + 1) + draft(k)) + (1.0 - profile.drafting) * plain
        gain = plain * (1.0 + profile.drafting * kept) / ms
        if gain >= WORTH and gain > (best.speed_up or 1.0):
            best = _Best(load, k, gain)
    return best


def _ranges(found: Sequence[_Best]) -> list[Range]:
    """Neighbours of one length joined; a border stands where another length was found first. `speed_up`: its least."""
    ranges: list[Range] = []
    ends = [following.load - 1 for _, following in pairwise(found)] + [max(MOST, found[-1].load)]
    lows = [1, *(one.load for one in found[1:])]
    for low, high, one in zip(lows, ends, found, strict=True):
        if ranges and ranges[-1].k == one.k:
            last = ranges.pop()
            least = min(filter(None, (last.speed_up, one.speed_up)), default=None)
            ranges.append(Range(last.low, high, one.k, least))
        else:
            ranges.append(Range(low, high, one.k, one.speed_up))
    return ranges


def in_syntax(profile: DraftProfile, ranges: Sequence[Range]) -> tuple[str, str]:
    """The table in the engine's syntax, "" where it takes none, and what to know of it."""
    longest, engine, title = max(one.k for one in ranges), profile.engine, name_of(profile.engine)
    if not longest:
        return engine_of(engine).off, "No number of requests at once is worth drafts."
    if len(ranges) == 1:
        return length_setting(profile, longest), "One length for any number of requests; no table is needed."
    base, kind = length_setting(profile, longest), kind_of(profile.drafter)
    pays = max(one.high for one in ranges if one.k)
    if engine == "vllm":
        table = json.dumps([[one.low, one.high, one.k] for one in ranges])
        text = f'{base.removesuffix("}" + chr(39))}, "num_speculative_tokens_per_batch_size": {table}}}\''
        return text, (
            "vLLM 0.24 or newer, not with --data-parallel-size above 1; measure where the table says 0, where one "
            "version fell far below plain decoding (vLLM issue 49548). disable_by_batch_size has done nothing since "
            "0.10 and is gone."
        )
    if engine == "sglang" and kind in ("", "eagle3", "mtp", "heads"):
        slots = json.dumps({str(one.low): {"candidate_steps": [one.k]} for one in ranges})
        start = base if kind else f"--speculative-algorithm EAGLE3 --speculative-draft-model-path DRAFT {base}"
        adaptive = "--speculative-adaptive --speculative-adaptive-config by-batch.json"
        return (
            f"printf '%s' '{slots}' > by-batch.json\n{start} {adaptive}",
            (
                "Each key is the least batch of its steps. For EAGLE and EAGLE3 with --speculative-eagle-topk 1 alone; "
                "a version that refuses 0 takes 1 there."
            ),
        )
    if engine == "tensorrt-llm":
        lines = [line for line in base.split("\n") if "max_draft_len" not in line]
        until = ", ".join(f"{one.high}: {one.k}" for one in ranges if one.k or one.high < pays)
        table = f"  max_draft_len: {longest}\n  draft_len_schedule: {{{until}}}"
        return "\n".join([*lines, table]), (
            "TensorRT-LLM 1.3 or newer: a key is the largest batch of its length, and above the last one nothing is "
            "drafted (up to 1.2 a key was the smallest batch). For one length alone, max_concurrency."
        )
    if engine == "llama.cpp":
        return f"--parallel {pays} {base}", (
            "llama.cpp has no table by batch: one length holds for any number of slots, so this admits no more "
            "requests than drafts pay for. For more, run a second server without drafts."
        )
    if engine == "sglang":
        return base, f"SGLang has a table by batch for EAGLE and EAGLE3 alone; this length pays up to {pays} requests."
    return base, f"{title} has no table by batch; this length pays up to {pays} requests at once."


def _needs(engine: str) -> str:
    """What would measure the table."""
    command = {
        "vllm": "vllm bench serve --max-concurrency 1 (then 8, 32, 128)",
        "sglang": "python -m sglang.bench_serving --max-concurrency 1 (then 8, 32, 128)",
        "tensorrt-llm": "trtllm-bench throughput --streaming --concurrency 1 (then 8, 32, 128)",
        "llama.cpp": "llama-server --parallel 32, and 1, 4, 16 and 32 requests at once",
    }.get(engine, "1, 8, 32 and 128 requests at once")
    return (
        f"Measured, it may look otherwise: run {command} with drafts and without, and give all outputs; or add a "
        "profile with joint passes (python -m hsd_core calibrate --load)."
    )


def batch_lines(found: dict[str, Any]) -> list[str]:
    """The table as lines for a terminal."""
    lines = [f"By requests at once ({found['costs']}):"]
    for one in found["ranges"]:
        last = one is found["ranges"][-1]
        span = f"{one['low']} or more" if last else f"{one['low']} to {one['high']}"
        gain = (
            "" if one["speed_up"] is None or not one["k"] else f", at least {one['speed_up']:.2f} times plain decoding"
        )
        lines.append(f"- {span}: " + (f"drafts of {one['k']}{gain}" if one["k"] else "no drafts"))
    lines += ["    " + found["setting"].replace("\n", "\n    "), found["note"], found["needs"]]
    return [line for line in lines if line.strip()]
