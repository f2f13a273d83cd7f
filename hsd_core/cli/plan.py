"""`plan`: the latency-optimal hierarchy of a measured profile, and the runners-up.

A system may define a question about a profile in its `question.py`, which an option adds to the plan:
    OPTION, HELP    the option and its help
    answer          the answer in plain JSON types; DRAWN: the entries that only the page shows
    lines           the answer as text
    NAME, SECONDS   on the page: its name in addresses, and the time limit of one answer
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hsd_core.cli.options import flag, option, reads
from hsd_core.cli.shared_options import DEFAULT_PRESET, add_load, command, loads_of
from hsd_core.grammar import StackError
from hsd_core.grammar.registry import plugins
from hsd_core.grammar.stack_names import stack_names
from hsd_core.theory import Answer, Planner, Profile, Ranked, StackPlan, has_specs, read_profile, stack_text
from hsd_core.theory.search.by_load import AtLoad, plans_by_load, with_joint_passes
from hsd_core.theory.stack_table import StackTable
from hsd_core.typed import pretty

_LISTED = 10


def add(commands: Any) -> None:
    parser = command(commands, "plan", "the fastest stack by a measured profile", act)
    reads(parser, "--profile FILE", "a profile (JSON), as calibrate writes it (default: this machine's or the nearest)")
    option(parser, "--preset P", f"without --profile: whose levels (default {DEFAULT_PRESET})", default=DEFAULT_PRESET)
    option(parser, "--max-block T", "the longest block length (default: the profile's)", type=int)
    option(parser, "--levels N", "at most N levels; 1 is plain decoding", type=int)
    add_load(parser, "also the best stack with so many requests at once, and where levels drop out")
    for question in plugins("question"):
        parser.add_argument(f"--{question.OPTION}", action="store_true", help=question.HELP)
    flag(parser, "--json", "the answer as JSON")


def act(options: argparse.Namespace) -> int:
    loads, (profile, source) = loads_of(options), _profile(options)
    if options.max_block is not None:
        profile = replace(profile, max_block=options.max_block)
    answer = Planner(profile, stops=True).best(depth=options.levels)
    asked = [one for one in plugins("question") if getattr(options, one.OPTION)]
    found = [one.answer(profile) for one in asked]
    over, passes = with_joint_passes(profile) if loads else (profile, None)
    by_load = plans_by_load(over, loads, depth=options.levels) if loads else []
    costs = _costs(profile, by_load, source, passes)
    if options.json:
        more = {
            one.OPTION: {name: value for name, value in reply.items() if name not in one.DRAWN}
            for one, reply in zip(asked, found, strict=True)
        }
        if by_load:
            more["load"] = load_json(profile, by_load, costs)
        print(pretty({**as_json(profile, answer), **more}))
    else:
        print("\n".join(table_lines(profile, answer)))
        for one, reply in zip(asked, found, strict=True):
            print("\n".join(one.lines(reply)))
        if by_load:
            print("\n".join(load_lines(profile, by_load, costs)))
    return 0


def _profile(options: argparse.Namespace) -> tuple[Profile, str]:
    """The profile, and where it is from.

    Raises:
        ValueError: none is given, and of this preset none was measured here or shipped.
    """
    from hsd_core.theory.profiles.profile_store import cached_profile, shipped_profile

    if options.profile:
        return read_profile(options.profile), f"the profile {options.profile}"
    if found := cached_profile(options.preset):
        return found, "this machine's profile"
    if found := shipped_profile(options.preset):
        return found, "the nearest shipped profile"
    raise ValueError(f"no profile of {options.preset} was measured here or is shipped; calibrate, or give --profile")


def load_json(profile: Profile, rows: Sequence[AtLoad], costs: str) -> dict[str, Any]:
    """`rows`: as the answer without load, with `load`, `tokens_per_s` of all requests together, and the names of the
    levels that are in no stack from this load on (`left`), and whose costs are of measured joint passes (`measured`).
    `costs`: what they are, in words."""

    def named(levels: Sequence[int]) -> list[str]:
        return [profile.names[level] for level in levels]

    found = [
        {
            "load": row.load,
            **_ranked(profile, row.best),
            "tokens_per_s": row.tokens_per_s,
            "left": named(row.left),
            "measured": named(row.measured),
        }
        for row in rows
    ]
    return {"rows": found, "costs": costs}


def load_lines(profile: Profile, rows: Sequence[AtLoad], costs: str) -> Iterator[str]:
    """The best stack at each load as text."""
    texts = [_text(profile, row.best.plan) for row in rows]
    wide = max(map(len, texts))
    yield from ("", "best by requests at once; times plain decoding of as many, tokens/s of all together", "")
    yield f"{'requests':>8}  {'best':<{wide}} {'times plain':>12} {'tokens/s':>9}  drops out"
    for row, text in zip(rows, texts, strict=True):
        figures = f"{row.best.prediction.speedup:>12.2f} {row.tokens_per_s:>9.1f}"
        yield f"{row.load:>8}  {text:<{wide}} {figures}  {', '.join(profile.names[i] for i in row.left) or '-'}"
    yield from ("", costs)
    with suppress(StackError):  # levels without a spec, or in no common order
        yield f"as one stack: {StackTable.of(dict(zip((row.load for row in rows), texts, strict=True)))}"


def _costs(profile: Profile, rows: Sequence[AtLoad], source: str, passes: Profile | None) -> str:
    """What costs the rows are planned over. passes: the profile that joint passes were measured with."""
    about = _where(profile)
    joint = [row.load for row in rows if row.measured]
    if not joint:
        what = "joint passes were not measured: n rows of each of B requests are priced as n B rows of one"
    else:
        levels = ", ".join(profile.names[i] for i in sorted({i for row in rows for i in row.measured}))
        what = f"joint passes of {levels} were measured at {', '.join(map(str, joint))} requests"
        if passes is not None and passes is not profile:
            what += f" on {_where(passes)}"
        if any(row.computed for row in rows):
            what += "; other levels and loads are priced as passes of one request with as many rows"
    return f"predicted from {source}" + f" ({about})" * bool(about) + f"; {what}"


def _where(profile: Profile) -> str:
    return ", ".join(str(profile.about[key]) for key in ("machine", "recorded") if key in profile.about)


def as_json(profile: Profile, answer: Answer) -> dict[str, Any]:
    """The answer: the best plan, and `alternatives` of the same shape."""
    others = [_ranked(profile, ranked) for ranked in answer.alternatives[:_LISTED]]
    return {**_ranked(profile, answer.best), "alternatives": others}


def table_lines(profile: Profile, answer: Answer) -> list[str]:
    """The answer as text."""
    best, listed = answer.best, answer.alternatives[:_LISTED]
    ranked = [best, *answer.by_depth, *filter(None, [answer.several]), answer.single, *listed]
    name = dict(zip(map(id, ranked), _names(profile, [each.plan for each in ranked]), strict=True))
    lines = [
        f"best plan: {name[id(best)]}",
        f"predicted: {_figures(best)}, {best.prediction.tokens_per_round:.2f} tokens per forward of the target",
        "",
        f"{'level':<16} {'block':>5} {'mean':>6} {'calls per round':>16} {'ms per round':>13} {'share':>6}",
    ]
    shares = best.prediction.levels
    total = sum(share.ms_per_round for share in shares) + profile.round_ms
    for i, share in enumerate(shares):
        block = str(best.plan.blocks[i]) if i < len(best.plan.blocks) else "-"
        mean = sum(n * p for n, p in enumerate(share.block_lengths))
        lines.append(
            f"{profile.names[share.level]:<16} {block:>5} {mean:>6.2f} {share.calls_per_round:>16.2f} "
            f"{share.ms_per_round:>13.2f} {share.ms_per_round / total:>6.1%}"
        )
    if profile.round_ms:
        lines.append(f"{'engine':<45} {profile.round_ms:>13.2f} {profile.round_ms / total:>6.1%}")
    lines += ["", "best by number of levels"]
    lines += [f"  {len(each.plan.levels)}  {_figures(each)}  {name[id(each)]}" for each in answer.by_depth]
    if answer.several:
        lines += ["", "best with several candidates side by side"]
        lines += [f"     {_figures(answer.several)}  {name[id(answer.several)]}"]
    if best == answer.several:
        lines += ["", "best with one candidate"]
        lines += [f"     {_figures(answer.single)}  {name[id(answer.single)]}"]
    if answer.alternatives:
        lines += ["", "runners-up"]
        lines += [f"     {_figures(each)}  {name[id(each)]}" for each in listed]
    return lines


def _ranked(profile: Profile, ranked: Ranked) -> dict[str, Any]:
    out: dict[str, Any] = {
        "levels": [profile.names[level] for level in ranked.plan.levels],
        "blocks": list(ranked.plan.blocks),
        **({"tree": list(ranked.plan.widths)} if ranked.plan.widths else {}),
        "latency_ms_per_token": ranked.prediction.ms_per_token,
        "speedup": ranked.prediction.speedup,
    }
    if ranked.plan.rules is not None:
        out["rules"] = list(ranked.plan.rules)
    if has_specs(profile, ranked.plan):
        out["stack"] = stack_text(profile, ranked.plan)
    return out


def _names(profile: Profile, plans: Sequence[StackPlan]) -> Iterator[str]:
    """Name and text of each plan; the levels by name, if they have no stack text."""
    texts = [_text(profile, plan) for plan in plans]
    called = stack_names(texts)
    return (text if called[text] == text else f"{called[text]} ({text})" for text in texts)


def _text(profile: Profile, plan: StackPlan) -> str:
    if has_specs(profile, plan):
        return stack_text(profile, plan)
    blocks = (*(f":{block}" for block in plan.blocks), "")
    return ",".join(profile.names[level] + block for level, block in zip(plan.levels, blocks, strict=True))


def _figures(ranked: Ranked) -> str:
    return f"{ranked.prediction.ms_per_token:8.2f} ms per token, {ranked.prediction.speedup:.2f} x plain"
