"""The lines and the JSON values of a pasted text: quoted, coloured, wrapped, or inside a container's JSON log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from hsd_core.doctor.reading.counts import parsed_number

MOST_FAILURES = 200  # openings of JSON that could not be decoded
MOST_VALUES = 20_000  # JSON values of a text
LONGEST_LINE = 20_000  # characters; of a longer one only the parts around its marks are read
_DEEPEST = 40
_SIGNS = {0xA0: " ", 0x200B: None, 0x2011: "-", 0x2212: "-", 0: None}
_SIGNS |= dict(zip(map(ord, "，。；：（）％、"), (", ", ". ", "; ", ": ", "(", ")", "%", ", "), strict=True))
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPENING = re.compile(r'[{\[]\s*(?:["{\[]|$)')
_LOGGED = ("log", "message", "MESSAGE", "msg", "line")  # keys whose value is a line of a log
_PROSE = ("content", "text", "prompt", "reasoning_content", "output_ids")
_DECODER = json.JSONDecoder(parse_int=parsed_number, parse_float=parsed_number)


def clean(text: str) -> str:
    """The text without colours, with look-alike characters replaced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.translate(_SIGNS).replace("+/-", "±")


def lines_and_values(text: str) -> tuple[list[tuple[int, str]], list[tuple[int, Any]]]:
    """The lines with their numbers, and the JSON values among them with the number of their first line.

    A log line inside a JSON value, as containers write it, counts as a line.
    """
    lines: list[tuple[int, str]] = []
    values: list[tuple[int, Any]] = []
    failures, at, number = 0, 0, 1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        opening = _opening(line) if failures < MOST_FAILURES and len(values) < MOST_VALUES else None
        if opening is not None:
            try:
                value, stop = _DECODER.raw_decode(text, at + opening)
            except (ValueError, RecursionError):
                failures += 1
            else:
                if opening:
                    lines.append((number, line[:opening]))
                logged = list(_logged(value))
                if logged:
                    lines += [(number, part) for part in logged]
                else:
                    values.append((number, value))
                number += text.count("\n", at, stop)
                rest = text.find("\n", stop)
                at = len(text) if rest < 0 else rest + 1
                number += 1
                continue
        lines.append((number, _unquoted(line)))
        at, number = end + 1, number + 1
    return lines, values


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of a JSON value, outer ones first."""
    waiting, depth = [value], 0
    while waiting and depth < _DEEPEST:
        yield from (one for one in waiting if isinstance(one, dict))
        waiting = [
            inner
            for one in waiting
            for key, inner in (one.items() if isinstance(one, dict) else enumerate(one[:MOST_VALUES]))
            if isinstance(inner, dict | list) and key not in _PROSE
        ]
        depth += 1


def as_lines(value: Any) -> Iterator[str]:
    """The figures of a JSON value that is not a reply, as lines; an answer of Prometheus as its samples."""
    for one in islice(mappings(value), MOST_VALUES):
        metric, sample = one.get("metric"), one.get("value")
        if isinstance(metric, dict) and "__name__" in metric and isinstance(sample, list) and len(sample) == 2:
            labels = ",".join(f'{key}="{label}"' for key, label in metric.items() if key != "__name__")
            yield f"{metric['__name__']}{{{labels}}} {sample[1]}"[:LONGEST_LINE]
            continue
        pairs = [f'"{key}": {_as_figures(inner)}' for key, inner in list(one.items())[:200] if _as_figures(inner)]
        if pairs:
            yield ", ".join(pairs)[:LONGEST_LINE]


def _as_figures(value: Any) -> str:
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in listed[:256]):
        return ""
    return ", ".join(f"{one:.12g}" for one in listed[:256])


def commands_joined(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines, joined where a backslash continues them."""
    joined: list[tuple[int, str]] = []
    open_ended = False
    for number, line in lines:
        if open_ended and len(joined[-1][1]) < 4_000:
            joined[-1] = (joined[-1][0], f"{joined[-1][1].rstrip()[:-1]} {line.strip()}")
        else:
            joined.append((number, line))
        open_ended = line.endswith("\\") or line.rstrip().endswith(" \\")
    return joined


def _opening(line: str) -> int | None:
    found = _OPENING.search(line[:LONGEST_LINE])
    return None if found is None else found.start()


def _logged(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            for key in _LOGGED:
                if isinstance(text := one.get(key), str) and "choices" not in one:
                    yield from text.splitlines()


def _unquoted(line: str) -> str:
    start = line.lstrip()
    return start.lstrip("> ") if start.startswith(">") else line
