"""A benchmark's results: a row per stack and per peer, Markdown tables, the claim, and the files that bench writes.

results.json: `about` (machine, versions, command, prompts); `stacks` (a row per stack, fastest first: `asked`, its line
in the stacks file, `stack`, `tokens_per_s`, `speed_up`, `interval`, `tasks`, `accepted_per_pass`, `acceptance`, and
`equal`, the share of prompts whose text is plain decoding's, null for sampled texts, and `price`, null where nothing is
lost); `categories` (see
`by_category`); `peers` (`name`, `tokens_per_s` or null, `why`); `claim` (see there).
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hsd_core.measure.bench.prompts import DEFAULT, tasks_of
from hsd_core.measure.bench.side_by_side import Measurement, PeerRun, completed, from_record, plain_of
from hsd_core.measure.tables import OnClock, markdown, rounded, shares, stack_cells, with_interval
from hsd_core.models.sampling import is_greedy
from hsd_core.theory.profiles.profile import CATEGORIES, COUNTED_ON, Profile
from hsd_core.typed import encode, write_whole

RESAMPLES = 2000


class TimedStack(Protocol):
    """A run's speed: tokens, and their ns on the engine's clock."""

    @property
    def tokens(self) -> int: ...
    @property
    def decode_ns(self) -> int: ...


def sampled(about: Mapping[str, Any]) -> bool:
    """Whether a benchmark samples: then every stack writes another text, and texts are not compared."""
    return not is_greedy(about)


def summary(measurements: Sequence[Measurement], *, drawn: bool = False) -> list[dict[str, Any]]:
    """A row per stack, fastest first: tokens/s, speed-up over its plain decoding with a 95 % interval, acceptance.

    drawn: see `sampled`; if true, `equal` is None.
    """
    by_stack: dict[str, dict[int, Measurement]] = {}
    for m in measurements:
        by_stack.setdefault(m.stack, {})[m.prompt] = m
    rows = [_summary_row(stack, own, by_stack[plain_of(stack)], drawn) for stack, own in by_stack.items()]
    return sorted(rows, key=lambda row: -row["tokens_per_s"])


def _summary_row(stack: str, own: dict[int, Measurement], plain: dict[int, Measurement], drawn: bool) -> dict[str, Any]:
    prompts = sorted(own.keys() & plain.keys())
    low, high = interval([(own[i], plain[i]) for i in prompts])
    judged, accepted = (
        [sum(counts) for counts in zip(*(getattr(own[i], name) for i in prompts), strict=True)]
        for name in ("judged", "accepted")
    )
    diverged, task = [own[i] for i in prompts if own[i].diverges], tasks_of(own[i].category for i in prompts)
    tasks = {i: task[own[i].category] for i in prompts}
    return {
        "stack": stack,
        "plain": plain_of(stack),
        "prompts": len(prompts),
        "tokens_per_s": rate([own[i] for i in prompts]),
        "speed_up": speed_up([(own[i], plain[i]) for i in prompts]),
        "interval": (low, high),
        "slower_on": sum(speed_up([(own[i], plain[i])]) < 1.0 for i in prompts),
        "tokens_per_target_forward": sum(own[i].tokens for i in prompts)
        / max(1, sum(own[i].target_forwards for i in prompts)),
        "acceptance": [a / n if n else None for a, n in zip(accepted, judged, strict=True)],
        "drafted": accepted[-1] / max(1, sum(own[i].tokens for i in prompts)),
        "draft_ms": _draft_ms([own[i] for i in prompts]),
        "equal": None if drawn else sum(own[i].holds for i in prompts),
        "ties": [m.margin for m in diverged if m.holds],
        "price": price([(own[i], plain[i]) for i in prompts]) if stack != plain_of(stack) else None,
        "tasks": {
            task: speed_up([(own[i], plain[i]) for i in prompts if tasks[i] == task])
            for task in dict.fromkeys(tasks.values())
        },
    }


def price(pairs: Sequence[tuple[Measurement, Measurement]]) -> dict[str, float] | None:
    """What a stack that is not exact loses, over pairs of its run and plain decoding: `spared`, the share of tokens
    that are not the target's own choice, and the target's mean `surprise` at its texts and `plain`, at plain
    decoding's, in nats a token. None if the target did not read both."""
    read = [(own, plain) for own, plain in pairs if own.spared is not None and plain.surprise is not None]
    if not read or len(read) < len(pairs):
        return None
    tokens = [sum(runs[i].tokens for runs in read) or 1 for i in (0, 1)]
    nats = [sum((runs[i].surprise or 0.0) * runs[i].tokens for runs in read) / tokens[i] for i in (0, 1)]
    return {"spared": sum(own.spared or 0.0 for own, _ in read) / tokens[0], "surprise": nats[0], "plain": nats[1]}


FEWEST = 3  # prompts, below which a category's speed-up has no interval


def by_category(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """A row per stack and category of the prompts, as both come: `stack`, `category`, `prompts`, `speed_up` over plain
    decoding, `interval` (None of fewer than three prompts), `accepted_per_pass` (tokens per forward of the target),
    `acceptance` by level, and `hits`, the share of drafts of the lowest level that held a token (None if not counted).

    Empty where all prompts are of one category.
    """
    kinds = list(dict.fromkeys(m.category for m in measurements))
    if len(kinds) < 2:
        return []
    rows = []
    for kind in kinds:
        of_kind = [m for m in measurements if m.category == kind]
        for row in summary(of_kind):
            asked, found = (sum(m.offers[i] for m in of_kind if m.stack == row["stack"] and m.offers) for i in (0, 1))
            rows.append(
                {
                    **{name: row[name] for name in ("stack", "plain", "prompts", "speed_up", "acceptance")},
                    "category": kind or "other",
                    "interval": row["interval"] if row["prompts"] >= FEWEST else None,
                    "accepted_per_pass": row["tokens_per_target_forward"],
                    "hits": found / asked if asked else None,
                }
            )
    order = list(dict.fromkeys(m.stack for m in measurements))
    return sorted(rows, key=lambda row: order.index(row["stack"]))


def with_categories(profile: Profile, rows: Sequence[Mapping[str, Any]], texts: str) -> Profile:
    """A profile that also holds what a benchmark counted by category. texts: in words."""
    names = ("stack", "category", "prompts", "acceptance", "hits")
    counted = [{name: row[name] for name in names} for row in rows if row["stack"] != row["plain"]]
    return replace(profile, about={**profile.about, CATEGORIES: counted, COUNTED_ON: texts})


def category_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of `by_category` as a Markdown table; plain decoding has none."""
    head = ("stack", "category", "prompts", "speed-up (95 % interval)", "per target forward", "accepted, by level")
    called = stack_cells(row["stack"] for row in rows)
    drafted = [row for row in rows if row["stack"] != row["plain"]]
    return markdown(head, (_category_cells(row, called[row["stack"]]) for row in drafted))


def _category_cells(row: Mapping[str, Any], stack: str) -> Sequence[object]:
    gain = f"{row['speed_up']:.2f}" if row["interval"] is None else with_interval(row["speed_up"], row["interval"], 2)
    passes = f"{row['accepted_per_pass']:.2f}"
    return (stack, row["category"], row["prompts"], gain, passes, shares(row["acceptance"]))


def _draft_ms(runs: Sequence[Measurement]) -> float | None:
    """ms of all levels below the target per forward pass of it; None if it was not recorded."""
    if not all(run.busy_ns for run in runs):
        return None
    return sum(sum(run.busy_ns[:-1]) for run in runs) / 1e6 / max(1, sum(run.target_forwards for run in runs))


def peer_rows(
    runs: Sequence[PeerRun], plain: Mapping[int, Measurement], missing: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A row per peer: its tokens/s over the prompts on which it did not fail, and relative to our plain decoding on the
    same prompts; or why there is none.

    Args:
        plain: prompt -> our plain decoding of the target. missing: name -> why it was not run.
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(run.peer for run in runs):
        asked = [run for run in runs if run.peer == name and run.prompt in plain]
        own, failed = [run for run in asked if not run.failed], [run for run in asked if run.failed]
        why = f"failed on {len(failed)} of {len(asked)} prompts ({failed[0].failed})" if failed else ""
        if not own:
            rows.append({"name": name, "tokens_per_s": None, "why": why})
            continue
        rows.append(
            {
                "name": name,
                "tokens_per_s": rate(own),
                "beside_plain": rate(own) / rate([plain[run.prompt] for run in own]),
                "prompts": len(own),
                "same_tokens": sum(run.equal for run in own) / max(1, sum(run.of for run in own)),
                "why": why,
            }
        )
    return rows + [{"name": name, "tokens_per_s": None, "why": why} for name, why in missing.items()]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The summary as a Markdown table, with the price of what is not exact."""
    head = ("stack", "tokens/s", "speed-up (95 % interval)", "slower on", "per target forward", "accepted, by level")
    priced = ("not the target's own", "surprise beside plain decoding's, nats") if any(map(_price, rows)) else ()
    called = stack_cells(row["stack"] for row in rows)
    cells = ((*_cells(row, called[row["stack"]]), *_price_cells(row)[: len(priced)]) for row in rows)
    return markdown((*head, "equal", *priced), cells)


def _price(row: Mapping[str, Any]) -> Mapping[str, float] | None:
    found: Mapping[str, float] | None = row.get("price")
    return found


def _price_cells(row: Mapping[str, Any]) -> tuple[str, str]:
    if (lost := _price(row)) is None:
        return "0", "="
    return f"{lost['spared']:.1%}", f"{lost['surprise']:.2f} / {lost['plain']:.2f}"


def _cells(row: Mapping[str, Any], stack: str) -> Sequence[object]:
    ties = f" ({len(row['ties'])} up to a tie of {max(row['ties']):.1g})" if row["ties"] else ""
    equal = "-" if row["equal"] is None else f"{row['equal']}/{row['prompts']}{ties}"
    gain = (with_interval(row["speed_up"], row["interval"], 2), f"{row['slower_on']}/{row['prompts']}")
    accepted = (f"{row['tokens_per_target_forward']:.2f}", shares(row["acceptance"]))
    return (stack, rounded(row["tokens_per_s"]), *gain, *accepted, equal)


def drafts_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The cost and the share of drafts, a row per stack, as a Markdown table."""
    head = ("stack", "speed-up (95 % interval)", "ms of drafting, per target forward", "of the text, drafted")
    called = stack_cells(row["stack"] for row in rows)
    return markdown(head, (_draft_cells(row, called[row["stack"]]) for row in rows))


def _draft_cells(row: Mapping[str, Any], stack: str) -> Sequence[object]:
    ms = "-" if row["draft_ms"] is None else f"{row['draft_ms']:.2f}"
    return (stack, with_interval(row["speed_up"], row["interval"], 2), ms, f"{row['drafted']:.1%}")


def rate(runs: Sequence[TimedStack]) -> float:
    """tokens/s of all runs together."""
    return sum(m.tokens for m in runs) / max(1e-9, sum(m.decode_ns for m in runs) / 1e9)


def speed_up(pairs: Sequence[tuple[TimedStack, TimedStack]]) -> float:
    """tokens/s of the first runs of all pairs / tokens/s of the second ones."""
    return rate([own for own, _ in pairs]) / rate([plain for _, plain in pairs])


def interval(pairs: Sequence[tuple[TimedStack, TimedStack]]) -> tuple[float, float]:
    """The speed-up's 95 % interval: a bootstrap over pairs."""
    drawn = _drawn(len(pairs))
    own, plain = ([pair[i] for pair in pairs] for i in (0, 1))
    ratios = np.sort(_rates(own, drawn) / _rates(plain, drawn))
    return float(ratios[int(0.025 * RESAMPLES)]), float(ratios[int(0.975 * RESAMPLES)])


def _rates(runs: Sequence[TimedStack], drawn: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """`rate` of each resample of these runs; drawn: (resamples, runs) indices."""
    tokens, ns = (np.array([getattr(m, name) for m in runs]) for name in ("tokens", "decode_ns"))
    rates: npt.NDArray[np.float64] = tokens[drawn].sum(1) / np.maximum(1e-9, ns[drawn].sum(1) / 1e9)
    return rates


@lru_cache(maxsize=8)
def _drawn(pairs: int) -> npt.NDArray[np.int64]:
    """(RESAMPLES, pairs) indices drawn with replacement, the same for every stack with as many prompts."""
    chance = random.Random(0)
    return np.array([chance.choices(range(pairs), k=pairs) for _ in range(RESAMPLES)])


Row = dict[str, Any]


def best_by_levels(rows: Iterable[Row], plain: str) -> list[Row]:
    """The fastest stack for each number of levels over one target, fastest first; rows: from `summary`."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["plain"] == plain:
            best.setdefault(levels(row["stack"]), row)
    return sorted(best.values(), key=lambda row: -row["tokens_per_s"])


def levels(stack: str) -> int:
    """The number of levels of a stack."""
    return stack.count(",") + 1


def claim(rows: Sequence[Row], measured: Sequence[Measurement], plain: str) -> dict[str, Any]:
    """The claim of a benchmark over one target.

    Args:
        rows: from `summary`; those on a named clock or not exact are not part of the claim. measured: their runs.
        plain: plain decoding of the target.
    Returns:
        `best`: for each number of levels except plain decoding, fastest first; `over`: the gain of the first over the
        second on the same prompts, with its 95 % interval, or None; `loses`: the stacks whose interval is below plain
        decoding, slowest first. A stack's round gives `tokens` and takes as long as `passes` of plain decoding; its
        speed-up is their ratio.
    """
    rows = [row for row in rows if not OnClock.read(row["stack"]).clock and not row.get("price")]
    best = [row for row in best_by_levels(rows, plain) if row["stack"] != plain]
    loses = [row for row in rows if row["plain"] == plain and row["interval"][1] < 1.0]
    return {
        "best": [_entry(row) for row in best],
        "over": _over(best[0]["stack"], best[1]["stack"], measured) if len(best) > 1 else None,
        "loses": [_entry(row) for row in reversed(loses)],
    }


def _entry(row: Row) -> dict[str, Any]:
    tokens, gain = row["tokens_per_target_forward"], row["speed_up"]
    return {
        "stack": row["stack"],
        "levels": levels(row["stack"]),
        "speed_up": gain,
        "interval": row["interval"],
        "tokens": tokens,
        "passes": tokens / gain,
    }


def _over(stack: str, other: str, measured: Sequence[Measurement]) -> dict[str, Any]:
    own, beside = ({run.prompt: run for run in measured if run.stack == name} for name in (stack, other))
    pairs = [(own[i], beside[i]) for i in sorted(own.keys() & beside.keys())]
    return {"speed_up": speed_up(pairs), "interval": interval(pairs)}


_COLUMNS = ("asked", "stack", "tokens_per_s", "speed_up", "low", "high", "accepted_per_pass", "equal", "prompts")
_PRICE = ("spared", "surprise", "plain")


def results(about: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The contents of results.json from a file of raw results; prompts that were not finished are left out."""
    records = list(records)
    kept = completed(runs_of(records), about["stacks"])
    finished = {run.prompt for run in kept}
    peers = [PeerRun(**record) for record in records if "peer" in record and record["prompt"] in finished]
    first = plain_of(about["stacks"][0])
    plain = {run.prompt: run for run in kept if run.stack == first}
    rows = summary(kept, drawn=sampled(about))
    return {
        "about": {key: value for key, value in about.items() if key not in ("stacks", "asked", "missing")},
        "stacks": [_stack(row, _line(about, row["stack"])) for row in rows],
        "categories": by_category(kept),
        "peers": peer_rows(peers, plain, about.get("missing", {})),
        "claim": claim(rows, kept, first),
    }


def _line(about: Mapping[str, Any], stack: str) -> str:
    """The line of the stacks file for a stack: `default` if that is one, else the first; the stack itself if no line
    asks for it (plain decoding of another)."""
    lines = [line for line, found in about.get("asked", {}).items() if found == stack]
    return DEFAULT if DEFAULT in lines else next(iter(lines), stack)


def _stack(row: Mapping[str, Any], line: str) -> dict[str, Any]:
    kept = ("stack", "plain", "prompts", "tokens_per_s", "speed_up", "interval", "slower_on", "acceptance", "tasks")
    return {
        "asked": line,
        **{name: row[name] for name in kept},
        "accepted_per_pass": row["tokens_per_target_forward"],
        "equal": None if row["equal"] is None else row["equal"] / row["prompts"],
        **({"price": row["price"]} if row["price"] else {}),
    }


def write(folder: Path, found: Mapping[str, Any], asked: Mapping[str, str], report: str) -> None:
    """Write results.json, results.csv, stacks.txt and report.md into a folder."""
    write_whole(folder / "results.json", encode(found))
    write_whole(folder / "results.csv", as_csv(found).encode())
    write_whole(folder / "stacks.txt", as_stacks(asked).encode())
    write_whole(folder / "report.md", report.encode())


def as_stacks(asked: Mapping[str, str]) -> str:
    """A stacks file with the stacks that were measured (line -> stack): `default` may change later, and files grow."""
    return "".join(f"{stack}\n" for stack in dict.fromkeys(OnClock.read(one).stack for one in asked.values()))


def as_csv(found: Mapping[str, Any]) -> str:
    """The rows of the stacks in results.json, with a column for each task."""
    tasks = dict.fromkeys(task for row in found["stacks"] for task in row["tasks"])
    written = io.StringIO()
    priced = _PRICE if any(row.get("price") for row in found["stacks"]) else ()
    table = csv.DictWriter(written, [*_COLUMNS, *priced, *tasks])
    table.writeheader()
    for row in found["stacks"]:
        low, high = row["interval"]
        kept = {name: row[name] for name in _COLUMNS if name in row}
        table.writerow({**kept, "low": low, "high": high, **(row.get("price") or {}), **row["tasks"]})
    return written.getvalue()


def runs_of(records: Sequence[Mapping[str, Any]]) -> list[Measurement]:
    """The runs of stacks among raw records."""
    return [from_record(record) for record in records if "stack" in record]
