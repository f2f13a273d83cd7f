"""The entry to all readers, with bounds on what is read.

The kind of a text need not be given. JSON values, samples of /metrics and lines are searched for in every text, alone
or together, whatever surrounds them; the outputs of one setting are added up, each setting is returned separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from hsd_core.doctor.engines import engine_of
from hsd_core.doctor.reading.counts import LONGEST_NAME, Counts, DoctorError, check, sum_counts
from hsd_core.doctor.reading.free_lines import read_free_lines
from hsd_core.doctor.reading.headings import (
    engine_in,
    heading,
    is_command,
    is_log_line,
    is_plain,
    length_in,
    mentions_drafts,
    settings_only,
    turns_on,
)
from hsd_core.doctor.reading.log_lines import LogReader
from hsd_core.doctor.reading.pasted_text import as_lines, clean, commands_joined, lines_and_values
from hsd_core.doctor.reading.printed import Printed, counts_of
from hsd_core.doctor.reading.replies import MOST_REPLIES, replies_in
from hsd_core.doctor.reading.scrapes import Scrape, between, counts_in, is_scrape, scrapes
from hsd_core.doctor.reading.table_rows import read_tables
from hsd_core.typed import Wrong, decode, json_decoder
from hsd_core.typed.files import regular_file

MOST_LOG = 64_000_000  # bytes of a file
MOST_FILES = 16
MOST_SETTINGS = 64  # in one text
MOST_WRITTEN = 400  # lines in addition to a log that are searched for a speed
FORMAT = "hsd-doctor-runs"
_HEAD = 65_536  # bytes that are checked for being text
_VARYING = ("llama.cpp", "transformers", "mlx-vlm", "lmstudio", "tabbyapi")  # engines whose drafts differ in length
_JSON = re.compile(r'\s*(?:\{|\[\s*[{\["])')
_FIGURED = re.compile(r"(?:accept|draft)[^\n]{0,60}?\d|\d[^\n]{0,20}accepted", re.IGNORECASE)
_TOO_LARGE = (
    "{name} has {mb:.0f} MB, at most {most:.0f} are read; keep the lines that matter: "
    "grep -E 'SpecDecoding|draft acceptance|acc per pos|eval time|statistics|Decode batch' {name} > small.log"
)
_KNOWN = (
    "Known are the metrics, replies and logs of vLLM, llama.cpp and SGLang, benchmarks of vLLM, SGLang and "
    "TensorRT-LLM, replies of LM Studio, TabbyAPI and mlx, aiperf's records, and tables or lines with tokens/s or an "
    "acceptance"
)


class Runs(msgspec.Struct, forbid_unknown_fields=True):
    """Runs of one engine, written by a program: {"format": "hsd-doctor-runs", "runs": [...]}, each a `Counts`."""

    format: str
    runs: list[Counts]


_RUNS = json_decoder(Runs)


def read_files(paths: Sequence[str | Path]) -> list[Counts]:
    """The counts of files, one `Counts` for each setting; of two scrapes of one server the difference is counted.

    Raises:
        DoctorError: a file contains neither speculation nor times, is damaged or too large.
        OSError: one cannot be read.
    """
    _check_number_of(paths)
    return _joined([_read(text, name) for name, text in texts_of(paths)])


def texts_of(paths: Sequence[str | Path]) -> Iterator[tuple[str, str]]:
    """The name and the text of each file; raises as `read_files`."""
    return (_text(Path(path)) for path in paths)


def read_texts(texts: Sequence[tuple[str, str]]) -> list[Counts]:
    """The counts of texts, given as pairs of a name and a text.

    Raises:
        DoctorError: as `read_files`.
    """
    for name, text in _check_number_of(texts):
        if len(text) > MOST_LOG:
            raise DoctorError(_TOO_LARGE.format(name=name, mb=len(text) / 1e6, most=MOST_LOG / 1e6))
    return _joined([_read(text, name) for name, text in texts])


def _check_number_of(given: Sequence[Any]) -> Sequence[Any]:
    if not given:
        raise DoctorError("nothing was given; name a file with an engine's metrics, replies or log")
    if len(given) > MOST_FILES:
        raise DoctorError(f"{len(given)} files; give {MOST_FILES} at most")
    return given


def _text(path: Path) -> tuple[str, str]:
    try:
        size = regular_file(path).stat().st_size
    except ValueError as error:
        raise DoctorError(str(error)) from None
    with path.open("rb") as file:
        start = file.read(_HEAD)
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"  # PowerShell writes the former
    if encoding == "utf-8-sig" and b"\0" in start:
        raise DoctorError(f"{path} is no text; name a file with an engine's metrics, replies or log")
    if size > MOST_LOG:
        raise DoctorError(_TOO_LARGE.format(name=path, mb=size / 1e6, most=MOST_LOG / 1e6))
    return path.name, path.read_text(encoding=encoding, errors="replace")


def _read(text: str, name: str) -> list[Counts | Scrape]:
    """The outputs in one text.

    Raises:
        DoctorError: nothing in it is understood, or it contradicts itself.
    """
    text = clean(text)
    if FORMAT in text[:200]:
        return list(_runs(text, name))
    lines, values = lines_and_values(text)
    faults: list[str] = []
    replies, unread = _replies(values, lines, name, faults)
    if unread:
        lines = sorted(lines + unread, key=lambda line: line[0])
    lines = commands_joined(lines)
    samples = [line for _, line in lines if is_scrape(line)]
    if len(samples) > 1 and not text.endswith("\n") and is_scrape(lines[-1][1]) and _cut(samples):
        samples.pop()
    other = [(number, line) for number, line in lines if not is_scrape(line)]
    found: list[Counts | Scrape] = [*scrapes("\n".join(samples), name)] if samples else []
    reader = LogReader(name)
    reader.read(other)
    seen = replies + reader.seen()
    faults += reader.faults
    tables = [*islice(read_tables(other), MOST_SETTINGS)]
    loose = [] if seen or tables or found else read_free_lines(other)[:MOST_SETTINGS]
    engine = engine_in(text) if tables or loose or any(not one.engine for one in seen) else ""
    engine = engine or next((one.engine for one in seen if one.engine), "")
    if seen and not tables and not found:
        _mark_unclear(seen, [line for number, line in other if number not in reader.taken])
        loose = _speeds_near_log(seen, [(number, line) for number, line in other if number not in reader.taken])
    elif found and not seen and not tables:
        plain, with_drafts = _speeds(other)
        loose = plain + with_drafts
    for printed in [*tables, *loose]:
        printed.engine = printed.engine or engine
        if printed.kind == "words" and printed.plain and engine_of(engine).silent and not printed.label:
            printed.plain = False
            printed.notes += ["unclear", "silent"]
        _append_counts(printed, name, seen, faults)
    _fill_from_settings(seen, engine, length_in(text))
    seen = _timed(seen)
    found += _merged(seen)
    if not found:
        cut = not values and _JSON.match(text) is not None
        raise DoctorError(faults[0] if faults else _why_nothing(name, reader, cut, other, settings_only(text)))
    if faults and isinstance(found[-1], Counts):
        found[-1].notes.append(f"fault:{faults[0].removeprefix(f'{name}: ')}"[:400])
    return found


def _cut(samples: Sequence[str]) -> bool:
    """Whether the last number lacks the decimal point that all others have, so it may have lost digits too."""
    pointed = ["." in sample.rsplit(" ", 1)[-1] for sample in samples]
    return all(pointed[:-1]) and not pointed[-1]


def _runs(text: str, name: str) -> list[Counts]:
    try:
        return [check(run) for run in decode(text, _RUNS).runs[:MOST_REPLIES]]
    except (Wrong, ValueError) as error:
        raise DoctorError(f"{name}: {error}") from None


def _replies(
    values: Sequence[tuple[int, Any]], lines: Sequence[tuple[int, str]], name: str, faults: list[str]
) -> tuple[list[Counts], list[tuple[int, str]]]:
    """The replies, labelled with the heading before them, and all other values as lines.

    The chunks of one stream share an id, and the last one counts them all.
    """
    unread: list[tuple[int, str]] = []
    heads = [(number, head) for number, line in lines if (head := heading(line)) is not None] if values else []
    replies: dict[Any, Counts] = {}
    for number, value in values:
        try:
            found = replies_in(value, name)
        except DoctorError as error:
            faults.append(str(error))
            continue
        if not found:
            unread += [(number, line) for line in as_lines(value)]
        label = next((head for before, head in reversed(heads) if before < number), "")
        for key, seen in found[: MOST_REPLIES - len(replies)]:
            seen.label = label[:LONGEST_NAME]
            replies[key if isinstance(key, str | int) else len(replies)] = seen
    return list(replies.values()), unread


def _mark_unclear(seen: Sequence[Counts], unread: Sequence[str]) -> None:
    """Notes that a log of times only may not be plain decoding, if an unread line counts drafts or turns them on."""
    if any(one.drafts or one.drafted is not None for one in seen):
        return
    unsure = [one for one in seen if not is_plain(one.label) and not is_command(one.label)]
    if unsure and any(_FIGURED.search(line) or turns_on(line) for line in unread):
        for one in unsure:
            one.notes.append("unclear")


def _speeds_near_log(seen: list[Counts], lines: Sequence[tuple[int, str]]) -> list[Printed]:
    """A plain speed written in addition to a log of one setting; a speed with drafts is added to the log's counts."""
    drafting = [one for one in seen if one.drafts]
    if not drafting or len({(one.label, one.k, one.drafter) for one in drafting}) > 1:
        return []
    if any(one.speculated or not one.drafts for one in seen):
        return []
    plain, with_drafts = _speeds(lines)
    for one in with_drafts if not any(one.decode_ms for one in drafting) else []:
        for part in drafting:
            _given_time(part, one.per_token or 1e3 / (one.speed or 1.0))
    return plain


def _speeds(lines: Sequence[tuple[int, str]]) -> tuple[list[Printed], list[Printed]]:
    """The one speed without drafts in the lines and the one with drafts; empty if there are more."""
    written = [*islice((line for line in lines if not is_log_line(line[1])), MOST_WRITTEN)]
    printed = [one for one in read_free_lines(written, drafts=True) if one.speed or one.per_token]
    plain = [one for one in printed if one.plain and not one.mentions_drafts]
    with_drafts = [one for one in printed if one.speculated and not one.mentions_drafts]
    if len(plain) != 1 or len(with_drafts) > 1 or len(printed) > 2:
        return [], []
    plain[0].kind = "log"
    return plain, with_drafts


def _given_time(part: Counts, per_token: float) -> None:
    """Takes over ms per token from elsewhere, for the counted tokens."""
    if part.rounds and part.accepted is not None:
        part.timed_tokens, part.timed_passes = part.rounds + part.accepted, part.rounds
        part.decode_ms = per_token * part.timed_tokens


def _append_counts(printed: Printed, name: str, seen: list[Counts], faults: list[str]) -> None:
    try:
        if len(seen) < MOST_REPLIES:
            seen.append(counts_of(printed, name))
    except DoctorError as error:
        faults.append(str(error))


def _fill_from_settings(seen: Sequence[Counts], engine: str, k: int | None) -> None:
    """Adds the engine and the draft length of a command in the text."""
    for one in seen:
        one.engine = one.engine or engine
        if not k or one.k is not None or not one.drafts or "stops_early" in one.notes:
            continue
        if one.drafted and one.accepted is not None and one.rounds is None:
            one.k, one.rounds = k, one.drafted / k
            if one.timed_tokens and one.rounds:
                one.timed_passes = one.timed_tokens / (1.0 + one.accepted / one.rounds)
        elif one.speculated:
            one.k = k
        elif one.rounds and one.drafted is None:
            one.k, one.drafted = k, one.rounds * k
        elif "means" in one.notes and one.accepted is not None:
            one.k, one.drafted = k, max(float(k), one.accepted)


def _timed(seen: list[Counts]) -> list[Counts]:
    """Moves a table's speed at a draft length to the counts of that length, if a log has only these."""
    rows = [one for one in seen if one.kind == "table" and one.speculated and one.k]
    if not rows:
        return seen
    counted: dict[int | None, list[Counts]] = {}
    for one in seen:
        if one.kind != "table" and one.rounds and one.accepted is not None:
            counted.setdefault(one.k, []).append(one)
    used: set[int] = set()
    for row in rows:
        same = counted.get(row.k, [])
        if len(same) == 1 and same[0].decode_ms is None and row.decode_ms and row.timed_tokens:
            tokens = (same[0].rounds or 0.0) + (same[0].accepted or 0.0)
            same[0].decode_ms = row.decode_ms / row.timed_tokens * tokens
            same[0].timed_tokens, same[0].timed_passes = tokens, same[0].rounds
            used.add(id(row))
    return [one for one in seen if id(one) not in used]


def _merged(seen: Sequence[Counts]) -> list[Counts]:
    """The outputs, those of one setting added up."""
    drafting = {(one.engine, one.label, one.drafter) for one in seen if one.drafts}
    groups: dict[Any, list[Counts]] = {}
    for number, one in enumerate(seen):
        of_drafter = one.drafts or (bool(one.drafter) and (one.engine, one.label, one.drafter) in drafting)
        k = one.k if one.engine not in _VARYING or "means" in one.notes else None
        alone = number if one.kind in ("table", "words") else None
        means = "means" in one.notes
        groups.setdefault((one.engine, one.drafter, one.label, of_drafter, k, means, one.kind, alone), []).append(one)
    merged = [sum_counts(parts) for parts in groups.values()]
    if len(merged) > MOST_SETTINGS:
        raise DoctorError(f"{len(merged)} settings in one text; keep those that are to be compared")
    return merged


def _why_nothing(name: str, reader: LogReader, cut: bool, lines: Sequence[tuple[int, str]], settings: str) -> str:
    """Why nothing was found: the settings or the line that came nearest, and what would be understood."""
    score, number, line = reader.nearest
    if settings and (not score or settings_only(line) or is_command(line)):
        return f"{name}: {settings}."
    if not score:
        spoken = next(((number, line) for number, line in lines if mentions_drafts(line)), None)
        score, (number, line) = int(spoken is not None), spoken or (0, "")
    line = line.strip()
    cut_off = " It begins like JSON and is cut off, so save the reply again." if cut else ""
    if not score:
        return f"{name}: no line in it mentions speculation.{cut_off} {_KNOWN}."
    shown = line if len(line) <= 120 else f"{line[:117]}..."
    return f"{name}: nothing in it is understood.{cut_off} Line {number} came nearest: {shown!r}. {_KNOWN}."


def _joined(parts: Sequence[list[Counts | Scrape]]) -> list[Counts]:
    """All outputs; of several scrapes of a server, the difference between the first and the last."""
    seen = [one for part in parts for one in part if isinstance(one, Counts)]
    servers: dict[Any, list[Scrape]] = {}
    for scrape in (one for part in parts for one in part if isinstance(one, Scrape)):
        servers.setdefault((scrape.engine, *sorted(scrape.models)), []).append(scrape)
    scraped = []
    for (_, *models), listed in servers.items():
        if len(listed) > 1:
            one = counts_in(between(listed[0], listed[-1], "the scrapes"), "the scrapes", difference=True)
        else:
            one = counts_in(listed[0], "the scrape", difference=False)
        one.label = models[0][:LONGEST_NAME] if len(servers) > 1 and models else ""
        scraped.append(one)
    timed = [one for one in seen if one.kind == "words" and one.speculated and one.decode_ms and one.timed_tokens]
    if len(scraped) == len(timed) == 1 and scraped[0].drafts and scraped[0].decode_ms is None:
        _given_time(scraped[0], (timed[0].decode_ms or 0.0) / (timed[0].timed_tokens or 1.0))
        seen.remove(timed[0])
    return scraped + seen
