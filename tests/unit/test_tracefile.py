from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect
from msgspec.structs import replace
from toys import toy_stack

import hsd_core
from hsd_core.core.events import EVENTS, SCHEMA, Baseline, Event, Header, Piece, Plan, Report
from hsd_core.core.notes import Stale, noted
from hsd_core.levels.notes import Moved
from hsd_core.models.sampling import Sampling
from hsd_core.systems.exits.notes import Depths
from hsd_core.systems.ngram.notes import Filed
from hsd_core.systems.views.notes import Chosen, Held
from hsd_core.trace.codec import from_dict, to_dict
from hsd_core.trace.file import TraceError, dumps, pack, read, write


def recorded(text: str = "ngram:2,table:2,table@rule=block", **options: Any) -> list[Event]:
    stack = toy_stack(text, 4, seed=2)
    return list(hsd_core.run(stack, [0, 1], Sampling(1.0, top_p=0.95), 3, max_new_tokens=8, **options))


RUN = recorded()
LINES = dumps(RUN).splitlines()
RECORDINGS = sorted((Path(__file__).parents[2] / "assets" / "traces").glob("*.jsonl.gz"))


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_is_written_reads_back(name: str, tmp_path: Path) -> None:
    extra = [Piece(3, "aGk="), Report(0, 5, 6, noted(Filed(1, 0, ((1, 2), (3, 4))))), Plan(1, "table", (2,), (), 8, 9)]
    events = [*RUN[:-1], *extra, RUN[-1], Baseline("target", 5, (1, 2), 2, True, 1e-5, (3, 4), (0.5, None))]
    events.append(Report(1, 10, 10, noted(Chosen(9, 4, 6, (Held(0, 2, 6), Held(5, 7, 3))))))
    read_after = Depths((1, 2), ("lens", "lens"), ((0.5, 0.25), (0.75, 1.0)), ((3, 4), (5, 6)))
    events.append(Report(1, None, None, noted(read_after)))
    assert {e.event for e in events} == EVENTS.keys(), "every kind of event makes the journey"
    write(tmp_path / name, events)
    assert read(tmp_path / name) == events
    assert read((tmp_path / name).read_bytes()) == events


@pytest.mark.parametrize("options", [{}, {"heads": 0}, {"about": {"profile": {"costs": [1.5]}, "title": "é"}}])
@pytest.mark.parametrize("text", ["table", "table:3,table", "ngram:1,table:2,table:2,table@bonus=0"])
def test_real_runs_read_back(text: str, options: dict[str, Any]) -> None:
    events = recorded(text, **options)
    assert read(dumps(events).encode()) == events


def test_gz_bytes_are_reproducible(tmp_path: Path) -> None:
    write(tmp_path / "a.gz", RUN)
    write(tmp_path / "b.gz", RUN)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[4:8] == b"\0\0\0\0", "no time stamp"


def test_compression_is_seen_in_the_bytes_not_in_the_name(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(pack(dumps(RUN).encode()))
    assert read(tmp_path / "run.jsonl") == RUN


def test_blank_lines_and_windows_line_ends_are_read() -> None:
    assert read(("\n" + "\r\n\r\n".join(LINES)).encode()) == RUN


def test_an_interrupted_run_is_read_without_its_footer() -> None:
    assert read("\n".join(LINES[:-1]).encode()) == RUN[:-1]


def line_of(event: str, **changes: Any) -> str:
    """The first line of this event in the recorded run, changed; a change to None drops the field."""
    record = next(to_dict(e) for e in RUN if e.event == event)
    record = json.loads(json.dumps(record)) | changes
    return json.dumps({key: value for key, value in record.items() if value != "drop"})


def after_header(line: str) -> bytes:
    return f"{LINES[0]}\n{line}\n".encode()


def guessing(acceptance: dict[str, Any]) -> bytes:
    return after_header(json.dumps({**to_dict(Plan(1, "table", (2,), (), 8, 9)), "acceptance": acceptance}))


def altered(event: str, change: Callable[[dict[str, Any]], object]) -> bytes:
    record = json.loads(line_of(event))
    change(record)
    return json.dumps(record).encode() if event == "header" else after_header(json.dumps(record))


def noting(**notes: Any) -> bytes:
    return altered("draft", lambda r: r.update(notes=notes))


def filing(**filed: Any) -> bytes:
    return after_header(
        json.dumps({"event": "report", "level": 0, "t0": 5, "t1": 6, "notes": {"filed": {"evictions": 0, **filed}}})
    )


DAMAGE = "damaged or was edited; download it again or record the run again"

REFUSED = {
    "empty": (b"", "the file is empty; choose a .jsonl"),
    "blank": (b"\n\n", "the file is empty; choose a .jsonl"),
    "empty gz": (pack(b""), "the file is empty; choose a .jsonl"),
    "not JSON": (b"hello\n", "line 1: not JSON"),
    "cut line": ("\n".join(LINES)[:-5].encode(), f"line {len(LINES)}: not JSON"),
    "not text": (b"\xff\xfe\x00", "the file is not text; choose"),
    "another JSON": (b'{"a": 1}', "line 1: this is not a trace: its first line is not a header; choose"),
    "a list": (b"[1, 2]", "line 1: this is not a trace"),
    "no header": ("\n".join(LINES[1:]).encode(), "line 1: this is not a trace"),
    "newer schema": (
        line_of("header", schema=SCHEMA + 1).encode(),
        f"line 1: trace schema {SCHEMA + 1} is unknown; this version reads",
    ),
    "another format": (line_of("header", format="hsd-race").encode(), "line 1: this is not a trace"),
    "no schema": (line_of("header", schema="drop").encode(), "line 1: trace schema None is unknown"),
    "true schema": (line_of("header", schema=True).encode(), "expected a whole number, got bool"),
    "second header": (f"{LINES[0]}\n{LINES[1]}\n{LINES[0]}".encode(), "line 3: a second header; a file holds one run"),
    "unknown event": (after_header('{"event": "dance"}'), "line 2: unknown event 'dance'; known: header"),
    "nameless event": (after_header('{"event": []}'), "line 2: expected an object with an event's name"),
    "no object": (after_header("[]"), "line 2: expected an object"),
    "missing field": (after_header(line_of("prefill", t1="drop")), "line 2: prefill: missing field 't1'"),
    "unknown field": (after_header(line_of("prefill", colour=1)), "line 2: prefill: unknown field 'colour'"),
    "text in an id": (after_header(line_of("bonus", id="<b>")), "line 2: bonus.id: expected a whole number, got str"),
    "bool for int": (after_header(line_of("bonus", id=True)), "line 2: bonus.id: expected a whole number, got bool"),
    "float for int": (after_header(line_of("bonus", at=1.0)), "bonus.at: expected a whole number, got float"),
    "null for int": (after_header(line_of("bonus", at=None)), "bonus.at: expected a whole number, got null"),
    "text for number": (after_header(line_of("bonus", p="1")), "bonus.p: expected a number, got str"),
    "bool for number": (after_header(line_of("bonus", p=True)), "bonus.p: expected a number, got bool"),
    "NaN": (after_header(line_of("bonus", p=float("nan"))), "NaN is not a number in JSON"),
    "huge number": (
        after_header(line_of("bonus", p=0.5).replace("0.5", "1e999")),
        "bonus.p: the number is larger",
    ),
    "number for text": (after_header('{"event":"piece","id":1,"b64":2}'), "piece.b64: expected text, got int"),
    "int for bool": (after_header('{"event":"piece","id":1,"b64":"","special":1}'), "expected true or false, got int"),
    "text in a list": (altered("commit", lambda r: r["tokens"][0].update(passed=["x"])), "passed[0]: expected a whole"),
    "text for a list": (altered("draft", lambda r: r.update(tokens="12")), "draft.tokens: expected a list, got str"),
    "fewer copies": (noting(copies={"copied": [None] * 9}), "notes.copies.copied: not one entry for each of"),
    "fewer keys": (noting(lookups={"keys": [1] * 9}), "notes.lookups.keys: not one entry for each of"),
    "text for a key": (noting(lookups={"keys": ["x"]}), "notes.lookups.keys[0]: expected a whole number"),
    "a part of a miss": (noting(lookups={"silent": 0.5}), "notes.lookups.silent: expected a whole number"),
    "a note that is none": (noting(horoscope=3), "notes.horoscope: expected an object"),
    "a huge note": (noting(horoscope={"x": [0] * 10**6}), "notes.horoscope: more than 1000000 entries"),
    "no such level": (after_header(line_of("prefill", level=3)), "prefill.level: there is no level 3; the stack has 3"),
    "negative level": (after_header(line_of("prefill", level=-1)), "prefill.level: there is no level -1"),
    "passed by nobody": (altered("commit", lambda r: r["tokens"][0].update(passed=[7])), "there is no level 7"),
    "total of nobody": (altered("footer", lambda r: r["totals"][0].update(level=9)), "there is no level 9"),
    "wrong check": (altered("verify", lambda r: r.update(checks=[1])), "verify.checks[0]: expected an object, got int"),
    "checks no list": (altered("verify", lambda r: r.update(checks={})), "verify.checks: expected a list, got object"),
    "wrong row": (altered("bonus", lambda r: r.update(p_row=[])), "p_row: expected an object, got list"),
    "unknown outcome": (
        altered("verify", lambda r: r["checks"][0].update(outcome="x" * 999)),
        f"verify.checks[0].outcome: unknown value '{'x' * 80}'. The file",
    ),
    "uneven row": (altered("bonus", lambda r: r["p_row"]["ids"].append(1)), "ids, probs differ in length"),
    "estimates of text": (guessing({"hit": "x"}), "plan.acceptance['hit']: expected a number, got str"),
    "estimates of which one is not a number": (
        guessing({"hit": 1.0, "0->2": 0.5, "s[0].x": [], "t": []}),
        "plan.acceptance['s[0].x']: expected a number, got list",
    ),
    "filings of text": (filing(inserts="x"), "notes.filed.inserts: expected a whole number, got str"),
    "filings beyond 64 bits": (filing(inserts=2**70), "notes.filed.inserts: the number is larger than 64 bits"),
    "half a character": (
        after_header('{"event":"piece","id":1,"b64":"\\ud800"}'),
        "the text holds half of a character ('\\ud800')",
    ),
    "many entries": (
        altered("header", lambda r: r.update(profile={"x": [0] * 4096})),
        "profile: more than 4096 entries",
    ),
    "deep object": (
        altered("header", lambda r: r.update(profile={"x": [[[[[[[[0]]]]]]]]})),
        "header.profile: nested deeper than 8",
    ),
    "many levels": (altered("header", lambda r: r.update(levels=r["levels"] * 30)), "at most 64 can be shown"),
    "a huge number": (after_header(line_of("bonus", at=10**400)), "bonus.at: the number is larger than 64 bits"),
    "a huge list entry": (
        altered("draft", lambda r: r["tokens"][0].update(id=2**63)),
        "draft.tokens[0].id: the number is larger",
    ),
    "a huge parameter": (
        altered("header", lambda r: r.update(profile={"x": 10**400})),
        "profile: the number is larger",
    ),
    "a long line": (
        after_header('{"event":"piece","id":1,"b64":"' + "A" * 8_000_000 + '"}'),
        "line 2: longer than 8 MB",
    ),
    "many lines": (LINES[0].encode() + b"\n" * 400_001, "more than 400000 lines"),
    "levels unordered": (altered("header", lambda r: r["levels"].reverse()), "numbered 0, 1, ..., got [2, 1, 0]"),
    "no levels": (line_of("header", levels=[]).encode(), "levels numbered 0, 1, ..., got []"),
    "nested deeply": (b'{"event":"header","schema":1,"profile":{"x":' + b"[" * 200_000, "line 1: nested too deeply"),
    "truncated gz": (pack("\n".join(LINES).encode())[:-12], "the compressed file is damaged"),
    "a gz's first bytes": (b"\x1f\x8b", "the compressed file is damaged"),
    "garbled gz": (pack(b"x" * 99)[:20] + b"????" * 5, "the compressed file is damaged"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_a_damaged_file_is_refused_with_line_and_cure(case: str) -> None:
    data, message = REFUSED[case]
    with pytest.raises(TraceError) as caught:
        read(data)
    said = str(caught.value)
    assert message in said
    assert any(cure in said for cure in (DAMAGE, "choose a", "download it again", "record the run again", "save each"))


def invented(kind: inspect.Type, chance: random.Random) -> Any:
    """A value of a type, redrawn each time; levels exist in a stack of three."""
    if isinstance(kind, inspect.Metadata):
        named = (kind.extra or {}).get("names") == "level"
        return chance.randrange(3) if named else invented(kind.type, chance)
    if isinstance(kind, inspect.StructType):
        length, fields = chance.randrange(4), {}
        for field in kind.fields:
            if field.name == "notes":
                fields["notes"] = chance.choice([{}, noted(Stale(), Moved(1, 2)), {"é": {"y": [1, None, {}]}}])
                continue
            several = isinstance(field.type, inspect.VarTupleType)
            drawn = [invented(field.type.item_type, chance) for _ in range(length)] if several else None
            fields[field.name] = tuple(drawn) if drawn is not None else invented(field.type, chance)
        return kind.cls(**fields)
    if isinstance(kind, inspect.UnionType):
        return invented(chance.choice(kind.types), chance)
    if isinstance(kind, inspect.VarTupleType):
        return tuple(invented(kind.item_type, chance) for _ in range(chance.randrange(4)))
    if isinstance(kind, inspect.DictType):
        return {chance.choice("aé\\ \u2028"): invented(kind.value_type, chance) for _ in range(chance.randrange(4))}
    plain = {
        inspect.LiteralType: lambda: chance.choice(kind.values),
        inspect.IntType: lambda: chance.choice([0, 1, -1, chance.getrandbits(62), 2**63 - 1, -(2**63) + 1]),
        inspect.FloatType: lambda: chance.choice([0.0, 1e-7, 1e22, 5e-324, chance.random(), -chance.expovariate(1e-6)]),
        inspect.StrType: lambda: "".join(chance.choices('a"\\é\n\t\0\u2028🙂', k=chance.randrange(6))),
        inspect.BoolType: lambda: chance.random() < 0.5,
        inspect.NoneType: lambda: None,
        inspect.AnyType: lambda: chance.choice([None, True, 3, 2.5, "x", [1, {"y": []}], {"z": None}]),
    }
    return plain[type(kind)]()


@pytest.mark.parametrize("name", EVENTS)
def test_every_kind_of_event_is_read_as_it_was_written(name: str) -> None:
    chance, kind = random.Random(name), inspect.type_info(EVENTS[name])
    for _ in range(200):
        event = invented(kind, chance)
        if isinstance(event, Header):
            numbered = (replace(level, index=i, shares=None) for i, level in enumerate(RUN[0].levels))
            event = replace(event, levels=tuple(numbered))
        events = [event] if isinstance(event, Header) else [RUN[0], event]
        assert read(dumps(events).encode()) == events
        record = to_dict(event)
        assert from_dict(record) == event and next(iter(record)) == "event"
        assert json.loads(dumps([event])) == json.loads(json.dumps(record)), "as any other reader of JSON reads it"


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_shipped_recording_is_written_again_as_it_is(path: Path) -> None:
    assert dumps(read(path)).encode() == gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("schema", range(1, 8))
def test_a_trace_from_before_the_first_release_is_refused_by_what_it_is(schema: int) -> None:
    with pytest.raises(TraceError, match=f"line 1: this is a trace of schema {schema} from before the first release"):
        read(f"{line_of('header', format='drop', schema=schema)}\n{LINES[1]}".encode())


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_too_large_is_refused(packed: bool) -> None:
    data = dumps(RUN).encode()
    assert read(pack(data) if packed else data, max_bytes=len(data)) == RUN
    with pytest.raises(TraceError, match=r"is larger than .* MB; record a shorter run"):
        read(pack(data) if packed else data, max_bytes=len(data) - 1)


def test_a_gzip_bomb_is_unpacked_no_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = gzip.GzipFile.read
    monkeypatch.setattr(gzip.GzipFile, "read", lambda self, size=-1: asked.append(size) or real(self, size))
    bomb = gzip.compress(b"\0" * 20_000_000)
    assert len(bomb) < 30_000
    with pytest.raises(TraceError, match="is larger than 1 MB"):
        read(bomb, max_bytes=1_000_000)
    assert asked == [1_000_001]


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        read(tmp_path / "none.jsonl")


def test_no_single_wrong_value_is_read_or_crashes() -> None:
    """Every field of every event, replaced by every kind of JSON value: read as the same type, or refused."""
    for event in {e.event: e for e in RUN}.values():
        record = json.loads(json.dumps(to_dict(event)))
        for key in record.keys() - {"event"}:
            for value in (None, True, -7, 2.5, "x", [], [None], ["x"], [[1]], {}, {"x": "y"}):
                line = json.dumps(record | {key: value})
                try:
                    back = read(line.encode() if event.event == "header" else after_header(line))
                except TraceError:
                    continue
                again = json.loads(json.dumps(to_dict(back[-1])))
                assert again.get(key) == value or (not value and key not in again), "a default is left out"
