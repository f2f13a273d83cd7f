"""`doctor`: why the speculation of another engine is slow, and what to change."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from hsd_core.cli.options import flag, option, reads
from hsd_core.cli.shared_options import command


def add(commands: Any) -> None:
    parser = command(
        commands, "doctor", "diagnose speculation from the output of vLLM, llama.cpp, SGLang and others", act
    )
    reads(parser, "files FILE", "metrics, replies in JSON, logs; two scrapes: earlier first", nargs="*")
    option(parser, "--plain-ms X", "ms of a token without speculation, if known", type=float)
    option(parser, "--categories NAME=X,...", "tokens a pass by kind of text, such as coding=3.1,roleplay=1.9")
    reads(parser, "--profile FILE", "its passes price many requests at once, as calibrate --load measures them")
    option(parser, "--url URL", "a server: its /metrics are read twice, --pause seconds apart")
    option(parser, "--pause S", "between the two (default 30)", type=float, default=30.0)
    flag(parser, "--json", "print the answer as JSON")


def act(options: argparse.Namespace) -> int:
    from hsd_core.doctor.by_batch import batch_lines
    from hsd_core.doctor.categories import category_lines, diagnose_kinds
    from hsd_core.doctor.diagnosis import JSON_NAMES
    from hsd_core.doctor.reading.inputs import read_files, read_texts, texts_of
    from hsd_core.theory import read_profile

    if bool(options.files) == bool(options.url):
        raise ValueError("name files, or a server with --url")
    if options.url:
        seen = read_texts(_scraped(options.url, options.pause))
    else:
        seen = read_files(options.files)
    texts = (text for _, text in texts_of(options.files))
    costs = read_profile(options.profile) if options.profile else None
    answer = diagnose_kinds(seen, texts, options.categories or "", plain_ms=options.plain_ms, costs=costs)
    kinds, batches = answer["by_category"], answer["by_batch"]
    if options.json:
        more = {name: answer[name] for name in ("by_category", "by_batch") if answer[name]}
        print(json.dumps({**{name: answer[name] for name in JSON_NAMES}, **more}, ensure_ascii=False, indent=1))
    else:
        tables = [*(["", *category_lines(kinds)] if kinds else []), *(["", *batch_lines(batches)] if batches else [])]
        print("\n".join([*answer_lines(answer), *tables]))
    return 0


def answer_lines(answer: dict[str, Any]) -> list[str]:
    """The diagnosis as lines for a terminal."""
    from hsd_core.doctor.verdict import ms

    lines = [f"{answer['title']}: {answer['verdict']}"]
    if answer["counted"]:
        lines.append(f"Counted: {answer['counted']}.")
    lines += [f"- {setting}" for setting in compared_lines(answer["compared"])]
    if answer["parts"]:
        lines.append(
            "Of a token's time: " + ", ".join(f"{ms(part['ms'])} ms {part['words']}" for part in answer["parts"])
        )
    if answer["acceptance"]:
        shares = ", ".join(f"{'≥' if share['at_least'] else ''}{share['value']:.2f}" for share in answer["acceptance"])
        lines.append(f"Accepted by position, of the drafts that reached it: {shares}")
    lines += [finding["text"] for finding in answer["findings"]]
    if answer["curve"]:
        known = [at for at in answer["curve"] if at["speed_up"] is not None]
        shown = [f"{at['k']}: {at['speed_up']:.2f}" for at in known] or [
            f"{at['k']}: {ms(at['ms'])} ms" for at in answer["curve"]
        ]
        lines.append("By draft length: " + ", ".join(shown))
    if answer["rates"]:
        each = ", ".join(f"{100 * rate['value']:.0f} % {rate['name']}" for rate in answer["rates"])
        lines.append(f"Figures that are called acceptance: {each}")
    lines += [""] + [f"{cure['why']}\n    " + cure["text"].replace("\n", "\n    ") for cure in answer["remedies"]]
    lines += answer["levels"]
    if answer["missing"]:
        lines += ["Not known:"] + [f"- {what}" for what in answer["missing"]]
    return [line for n, line in enumerate(lines) if line or (n and lines[n + 1 :])]


def compared_lines(settings: list[dict[str, Any]]) -> list[str]:
    """A line for each setting, the fastest first."""
    from hsd_core.doctor.verdict import ms

    listed = []
    for one in settings:
        figures = [f"{ms(one['ms_per_token'])} ms a token"] if one["ms_per_token"] is not None else []
        if not figures and one["at_most_ms"] is not None:
            figures.append(f"at most {ms(one['at_most_ms'])} ms a token")
        if one["k"] != 0 and one["tokens_per_pass"] is not None:
            figures.append(f"{one['tokens_per_pass']:.2f} tokens a pass")
        if one["acceptance"] is not None:
            figures.append(f"{100 * one['acceptance']:.0f} % accepted")
        listed.append(f"{one['name']}: {', '.join(figures) or 'nothing counted'}")
    return listed


def _scraped(url: str, pause: float) -> list[tuple[str, str]]:
    from hsd_core.measure.probe.server import HttpServer, Refused

    if not 0.1 <= pause <= 3600:
        raise ValueError(f"--pause is {pause:g}; use 0.1 to 3600 seconds")
    server = HttpServer(url.rstrip("/").removesuffix("/metrics"))

    def metrics() -> str:
        try:
            return server.text("/metrics")
        except Refused as error:
            raise ValueError(f"{error}; if it is llama-server, start it with --metrics") from None

    first = metrics()
    print(f"read {server.root}/metrics; send your prompts now, it is read again in {pause:g} s", file=sys.stderr)
    time.sleep(pause)
    return [("the first scrape", first), ("the second scrape", metrics())]
