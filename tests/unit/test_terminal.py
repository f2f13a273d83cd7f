"""Terminal text that cannot steer a terminal, and characters that span tokens."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from msgspec import structs
from small_trace import drafted

from hsd_core.cli.terminal import ACCEPTED, NOBODY, SUPPLIED, letter, printable, text_lines, totals_lines
from hsd_core.core.events import (
    FORMAT,
    SCHEMA,
    Baseline,
    Commit,
    Committed,
    Draft,
    Header,
    LevelInfo,
    Piece,
    Plan,
    Work,
)
from hsd_core.core.notes import noted
from hsd_core.levels.notes import Draws
from hsd_core.trace import file
from hsd_core.trace.conventions import ghosts

TRACES = Path(__file__).parents[2] / "assets" / "traces"


def header(*kinds: str) -> Header:
    levels = tuple(LevelInfo(i, k, k, k, None, None, None, None, True, "cpu", "float") for i, k in enumerate(kinds))
    return Header(FORMAT, SCHEMA, ",".join(kinds), levels, {}, 0, (1,), 4, True, "exact")


def run(*pieces: bytes) -> list:
    told = [Piece(i, base64.b64encode(piece).decode()) for i, piece in enumerate(pieces)]
    tokens = tuple(Committed(i, i, 0, "draft", "", (1,)) for i in range(len(pieces)))
    return [header("ngram", "target"), *told, Commit(0, 0, tokens, 1)]


def test_escape_sequences_become_visible_marks():
    shown = printable("\x1b[2Jred\x07\n\tok\x9b1m")
    assert shown == "?[2Jred?\n\tok?1m".replace("?", "\N{REPLACEMENT CHARACTER}")


def test_a_character_that_spans_tokens_is_printed_once_and_whole():
    sunrise = "🌅".encode()
    assert text_lines(run(b"a", sunrise[:2], sunrise[2:], b"b"), colour=False).replace("[N]", "") == "a🌅b"


def test_bytes_that_never_become_a_character_are_shown_as_replaced():
    assert text_lines(run(b"a", b"\xf0\x9f"), colour=False).endswith("\N{REPLACEMENT CHARACTER}")


def test_letters_follow_the_kind_and_count_where_two_are_alike():
    stack = header("ngram", "model", "model", "int8", "target")
    assert [letter(stack, i) for i in range(5)] == ["N", "M1", "M2", "Q", "T"]


def test_a_trace_from_elsewhere_sends_no_escape_sequences_by_its_words():
    evil = "\x1b]0;title\x07\x1b[2J"
    header, *rest = run(b"a")
    levels = (structs.replace(header.levels[0], label=evil), *header.levels[1:])
    said = {"simulated": evil, "lossless_reason": evil, "levels": levels}
    told = totals_lines([structs.replace(header, **said), Plan(1, evil, (0,), (), 0, 0, why=evil), *rest], colour=False)
    assert not any(c in line for line in told for c in "\x1b\x07")


def test_several_sequences_side_by_side_are_said_where_there_were_any():
    chain = Draft(0, 0, 0, drafted((0, 1), (0, 1)), Work(1), 0, 1)
    tree = Draft(1, 0, 2, drafted((2, 3, 4), (0, 1, 2), parents=(-1, 0, 0)), Work(1), 2, 3)
    said = "1 of 2 drafts offered several sequences, on average 2.0 with 3.0 tokens in all"
    assert any(said in line for line in totals_lines([*run(b"a"), chain, tree], colour=False))
    assert not any("sequences" in line for line in totals_lines([*run(b"a"), chain], colour=False))
    again = structs.replace(
        chain, tokens=drafted((0, 1), (0, 1), parents=(-1, 0)), notes=noted(Draws((2, 1)))
    )  # one line of tokens, the first drawn twice
    assert not any("sequences" in line for line in totals_lines([*run(b"a"), again], colour=False))


def test_the_speed_of_plain_decoding_beside_a_run_is_its_tokens_over_its_time():
    *before, commit = run(b"a", b"b", b"c", b"d")
    baseline = Baseline("target", 0, tuple(n * 10**9 for n in (1, 2, 3, 4)), 4, False)
    told = totals_lines([*before, structs.replace(commit, t=2 * 10**9), baseline], colour=False)
    assert any("measured beside it: 1.0 tokens/s; speed-up 2.00x" in line for line in told)


@pytest.mark.parametrize(
    ("margin", "said"), [(0.0002, "at a near tie"), (0.23, "no near tie"), (None, "another text than plain decoding's")]
)
def test_exact_is_never_said_beside_another_text(margin: float | None, said: str) -> None:
    events = run(b"a", b"b", b"c", b"d")
    same = Baseline("target", 0, (1, 2, 3, 4), 4, False)
    assert any(line.startswith("exact: ") for line in totals_lines([*events, same], colour=False))
    other = structs.replace(same, equal=1, diverges=True, margin=margin)
    told = list(totals_lines([*events, other], colour=False))
    assert not any("exact" in line for line in told)
    assert any(said in line for line in told) and any("divergence from plain decoding at token 1" in x for x in told)
    sampled = structs.replace(events[0], sampling={"temperature": 1.0, "top_k": 0, "top_p": 1.0})
    assert any(line.startswith("exact: ") for line in totals_lines([sampled, *events[1:], other], colour=False))


def test_a_token_has_the_colour_of_who_supplied_it_or_of_who_accepted_it():
    events = file.read(TRACES / "01-code.jsonl.gz")
    supplied, accepted = (text_lines(events, colour=False, by=by) for by in (SUPPLIED, ACCEPTED))
    assert supplied != accepted and unmarked(supplied) == unmarked(accepted)
    assert "[N]" in supplied and "[N]" not in accepted, "a lookup accepts nothing"
    assert {"[Q]", "[T]"} <= set(re.findall(r"\[[A-Z-]\]", accepted))
    inks = set(re.findall(r"38;5;(\d+)m", text_lines(events, colour=True, by=ACCEPTED)))
    assert inks <= {"32", "175", str(NOBODY)} and "32" in inks


def test_rejected_drafts_stand_where_they_stood_by_who_rejected_them():
    events = file.read(TRACES / "01-code.jsonl.gz")
    shown = text_lines(events, colour=False, rejected=True)
    found = re.findall(r"\{[^{}]* x([A-Z])\}", shown)
    assert len(found) == len(ghosts(events)) and set(found) <= {"Q", "T"}
    struck = text_lines(events, colour=True, rejected=True)
    assert struck.count("\033[9;38;5;") == len(ghosts(events))


def unmarked(text: str) -> str:
    return re.sub(r"\[[A-Z-]\]", "", text)


def test_the_column_of_levels_is_as_wide_as_their_names():
    told = run(b"a")
    first, target = told[0].levels
    label = "exit at layer 12, untrained read-out"
    told[0] = structs.replace(told[0], levels=(structs.replace(first, kind="exit", label=label), target))
    told[0] = structs.replace(told[0], stack="exit:4@at=12,target")
    heads, *rows = list(totals_lines(told, colour=False))[1:4]
    assert label in rows[0]
    assert len({len(line) for line in (heads, *rows)}) == 1, "the figures stand below their heads"


def test_a_run_has_its_stack_s_name_before_its_code():
    assert "Lookups, then an 8-bit copy, then the model (ngram:3,int8:6,target)" in list(
        totals_lines(file.read(TRACES / "01-code.jsonl.gz"), colour=False)
    )
