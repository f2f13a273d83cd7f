"""What a file is, and what it tells: the one door of all readers, with bounds on what is read."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hsd_core.doctor.reading.log_lines import LogReader
from hsd_core.doctor.reading.replies import is_reply, seen_in_reply
from hsd_core.doctor.reading.scrapes import Scrape, between, is_scrape, scrapes, seen_in
from hsd_core.doctor.reading.seen import DoctorError, Seen, added, check
from hsd_core.trace.typed import Malformed, Wrong, decode, json_decoder, plain
from hsd_core.trace.typed.bounded import regular

MOST_LOG = 64_000_000  # bytes of a log, which is read line by line
MOST_TEXT = 16_000_000  # bytes of everything else
MOST_FILES = 16
MOST_REPLIES = 20_000
LONGEST_LINE = 2_000_000
FORMAT = "hsd-doctor-runs"
_HEAD = 65_536  # bytes that show what a file is
_TOO_LARGE = (
    "{name} has {mb:.0f} MB, at most {most:.0f} are read; keep the lines that matter: "
    "grep -E 'SpecDecoding|draft acceptance|acc per pos|eval time|statistics|Decode batch' {name} > small.log"
)


class Runs(msgspec.Struct, forbid_unknown_fields=True):
    """Runs of one engine as a program writes them: {"format": "hsd-doctor-runs", "runs": [...]}, each a `Seen`."""

    format: str
    runs: list[Seen]


_RUNS = json_decoder(Runs)


def read_files(paths: Sequence[str | Path]) -> list[Seen]:
    """What files tell, a `Seen` for each output; two scrapes of one server count as one, what happened between them.

    Raises:
        DoctorError: one is none of the outputs that are known, is damaged or too large, or they are of two engines.
        OSError: one cannot be read.
    """
    return _joined([_read(Path(path)) for path in _few(paths)])


def read_texts(texts: Sequence[tuple[str, str]]) -> list[Seen]:
    """The same of texts: pairs of a name and a text.

    Raises:
        DoctorError: as `read_files`.
    """
    parts = []
    for name, text in _few(texts):
        if len(text) > MOST_LOG:
            raise DoctorError(_TOO_LARGE.format(name=name, mb=len(text) / 1e6, most=MOST_LOG / 1e6))
        head = text[:_HEAD].lstrip("\ufeff \t\r\n")
        if _is_text(text[:_HEAD], head):
            parts.append(_read_text(text.lstrip("\ufeff"), name))
        else:
            parts.append(_read_log(io.StringIO(text), name))
    return _joined(parts)


def _few(given: Sequence[Any]) -> Sequence[Any]:
    if not given:
        raise DoctorError("nothing was given; name a file with an engine's metrics, replies or log")
    if len(given) > MOST_FILES:
        raise DoctorError(f"{len(given)} files; give {MOST_FILES} at most")
    return given


def _read(path: Path) -> list[Seen] | list[Scrape]:
    try:
        size = regular(path).stat().st_size
    except ValueError as error:
        raise DoctorError(str(error)) from None
    with path.open("rb") as file:
        start = file.read(_HEAD)
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"  # PowerShell writes the former
    if encoding == "utf-8-sig" and b"\0" in start:
        raise DoctorError(f"{path} is no text; name a file with an engine's metrics, replies or log")
    shown = start.decode(encoding, errors="replace")
    text = _is_text(shown, shown.lstrip())
    most = MOST_TEXT if text else MOST_LOG
    if size > most:
        raise DoctorError(_TOO_LARGE.format(name=path, mb=size / 1e6, most=most / 1e6))
    with path.open(encoding=encoding, errors="replace", newline=None) as lines:
        return _read_text(lines.read(), path.name) if text else _read_log(lines, path.name)


def _is_text(shown: str, head: str) -> bool:
    """Whether it is read whole: JSON or a scrape; a log is read line by line."""
    return re.match(r"\{|\[\s*[\[{\]]|data:", head) is not None or is_scrape(shown)


def _read_text(text: str, name: str) -> list[Seen] | list[Scrape]:
    if is_scrape(text):
        found = scrapes(text, name)
        if not found:
            raise DoctorError(f"{name}: holds none of the counters that are read; save all of /metrics")
        return found
    return _read_json(text, name)


def _read_json(text: str, name: str) -> list[Seen]:
    values = list(_values(text, name))
    if len(values) == 1 and isinstance(values[0], dict) and values[0].get("format") == FORMAT:
        try:
            return [check(run) for run in decode(text, _RUNS).runs]
        except Wrong as error:
            raise DoctorError(f"{name}: {error}") from None
    replies: dict[Any, Seen] = {}
    for number, value in enumerate(values):
        if number >= MOST_REPLIES:
            raise DoctorError(f"{name}: more than {MOST_REPLIES} replies; keep the first ones")
        if is_reply(value) and (seen := seen_in_reply(value, name)) is not None:
            # chunks of one stream have one id, and the last of them has the counts of all
            replies[value.get("id") or (value.get("meta_info") or {}).get("id") or number] = seen
    if not replies:
        raise DoctorError(
            f"{name}: no reply in it says what its decoding did; start vLLM with --per-request-spec-decode-metrics "
            "detailed and --enable-per-request-metrics, or take llama.cpp's timings or SGLang's meta_info"
        )
    return _of_replies(list(replies.values()), name)


def _of_replies(replies: list[Seen], name: str) -> list[Seen]:
    engines = sorted({reply.engine for reply in replies if reply.engine})
    if len(engines) > 1:
        raise DoctorError(f"{name}: holds replies of {' and '.join(engines)}; give each engine a file of its own")
    for reply in replies:
        reply.engine = engines[0] if engines else ""
    drafting = [reply.k for reply in replies if reply.drafts]
    if drafting and replies[0].engine not in ("llama.cpp", "transformers", "mlx-vlm"):  # lengths that vary there
        by_k = {k: [reply for reply in replies if reply.k == k and reply.drafts] for k in dict.fromkeys(drafting)}
        return [added(part) for part in by_k.values()]
    return [added(replies)]


def _values(text: str, name: str) -> Iterator[Any]:
    try:
        whole = plain(text)
        yield from whole if isinstance(whole, list) else [whole]
        return
    except Malformed:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip().removeprefix("data:").strip()
        if not line or line == "[DONE]" or line.startswith((":", "event:")):
            continue
        try:
            yield plain(line)
        except Malformed as error:
            raise DoctorError(f"{name}, line {number}: no whole JSON ({error}); save the reply again") from None


def _read_log(lines: Iterable[str], name: str) -> list[Seen]:
    reader = LogReader(name)
    reader.read(_short(lines, name))
    found = reader.seen()
    if not found:
        raise DoctorError(
            f"{name}: no line in it speaks of speculation. Known are Prometheus text, replies in JSON, aiperf's "
            "profile_export.jsonl and logs of vLLM, llama.cpp (-lv 4 for positions) and SGLang"
        )
    return found


def _short(lines: Iterable[str], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise DoctorError(
                f"{name}, line {number}: longer than {LONGEST_LINE / 1e6:g} MB; save the log line by line"
            )
        yield line


def _joined(parts: Sequence[list[Seen] | list[Scrape]]) -> list[Seen]:
    """All outputs; scrapes of one server in the order in which they were given."""
    listed = [one for part in parts for one in part if isinstance(one, Scrape)]
    seen = [one for part in parts for one in part if isinstance(one, Seen)]
    if len(listed) > 2:
        raise DoctorError(f"{len(listed)} scrapes; give two of one server, the earlier one first")
    if len(listed) == 2:
        seen.append(seen_in(between(listed[0], listed[1], "the scrapes"), "the scrapes", difference=True))
    elif listed:
        seen.append(seen_in(listed[0], "the scrape", difference=False))
    engines = sorted({one.engine for one in seen if one.engine})
    if len(engines) > 1:
        raise DoctorError(f"the files are of {' and '.join(engines)}; ask about one engine at a time")
    return seen
