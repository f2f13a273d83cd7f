"""Whatever is pasted, the doctor answers or says one sentence, and its work grows no faster than the text."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import hsd_core.doctor.reading
from hsd_core.doctor.diagnosis import diagnose
from hsd_core.doctor.draft_profile import flat_share, mean_accepted
from hsd_core.doctor.reading.counts import DoctorError, number
from hsd_core.doctor.reading.inputs import read_texts

OUTPUTS = Path(__file__).parents[1] / "doctor_outputs"
MODULES = ["hsd_core.doctor.reading.inputs"] + [
    module.name for module in pkgutil.walk_packages(hsd_core.doctor.reading.__path__, "hsd_core.doctor.reading.")
]
LINES = (
    "SpecDecoding metrics: Mean acceptance length: 1, Accepted: 1 ",
    "Decode batch #running-req: 1 accept len: 1 gen throughput (token/s) ",
    "statistics draft: #calls = 1 #gen drafts = 5, #gen tokens = 9 ",
    "eval time = 1 ms / 2 tokens ( draft acceptance = 0.1 ( 1 accepted / 2 generated) ",
    'vllm:spec_decode_num_drafts_total{engine="0", ',
    "accept 1,1,1 ",
    "k = draft max tokens acc len ",
    "- |-",
    "a-a/",
    "  ",
    "0,",
    '{"',
)


def answer(text: str) -> dict[str, Any] | str:
    """The diagnosis, or the sentence that refuses it."""
    try:
        given = diagnose(read_texts([("pasted text", text)]))
    except DoctorError as error:
        said = str(error)
        assert "\n" not in said and len(said) < 1500
        return said
    json.dumps(given, allow_nan=False)
    return given


def expressions() -> list[tuple[str, re.Pattern[str]]]:
    found = {}
    for name in MODULES:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, re.Pattern):
                found[value.pattern] = (name, value)
            elif isinstance(value, tuple):
                for one in value:
                    parts = one if isinstance(one, tuple) else (one,)
                    found |= {part.pattern: (name, part) for part in parts if isinstance(part, re.Pattern)}
    return list(found.values())


def repeats(parsed: Any) -> Iterator[Any]:
    """Every part of an expression that may match more than once."""
    for part in parsed:
        for item in part if isinstance(part, tuple | list) else ():
            inner = item if isinstance(item, tuple | list) else [item]
            for one in inner:
                if hasattr(one, "data"):
                    yield from repeats(one.data)
        if isinstance(part, tuple) and str(part[0]).endswith("REPEAT") and part[1][1] > 1:
            yield part[1][2].data


def test_no_expression_repeats_a_repetition() -> None:
    parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    nested, flat = (parser.parse(text).data for text in (r"x(?:a+b?)+", r"x(?:ab?)+c\d*"))
    assert [any(list(repeats(inside)) for inside in repeats(of)) for of in (nested, flat)] == [True, False]
    assert len(expressions()) > 15
    for name, pattern in expressions():
        for inside in repeats(parser.parse(pattern.pattern).data):
            assert not list(repeats(inside)), f"{name}: {pattern.pattern}"


def steps(text: str) -> int:
    """Lines of Python that reading a text takes."""
    count = 0

    def counting(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "doctor" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return counting

    before = sys.gettrace()
    sys.settrace(counting)
    try:
        answer(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("end", ["", "\n"])
def test_twice_the_text_is_twice_the_work(line: str, end: str) -> None:
    once, twice = steps((line + end) * 40), steps((line + end) * 80)
    assert twice <= 2.3 * once + 500


def test_a_line_of_a_log_that_differs_in_its_numbers_alone_is_taken_apart_once() -> None:
    def log(lines: int) -> str:
        return "".join(
            f"[2026-02-03 10:{at // 60:02d}:{at % 60:02d} TP0] Decode batch, #running-req: 1, #token: {100 + at}, "
            f"accept len: {2 + at % 50 / 100:.2f}, accept rate: 0.50, gen throughput (token/s): {200 + at % 9}.5, \n"
            for at in range(lines)
        )

    assert steps(log(200)) - steps(log(100)) < 100 * 900  # 768 a line; 1,548 where each was walked over


@pytest.mark.parametrize(
    "text",
    [
        '{"internal_states":[{"avg_spec_accept_length":2}],"speculative_num_steps":1e6}',
        '{"usage":{},"metrics":{"speculative_decoding":{"num_spec_steps":3,"acceptance_histogram_by_draft_length":'
        '{"60000000":[1]}}}}',
        '{"metrics":{"speculative_decoding":{"num_spec_steps":3,"acceptance_histogram":{"%s":1}}}}' % ("9" * 5000),
        '{"metrics":{"speculative_decoding":{"num_spec_steps":%s}}}' % ("9" * 5000),
        '{"timings":{"predicted_n":%s,"predicted_ms":1e999,"draft_n":-1,"draft_n_accepted":0.5}}' % ("9" * 400),
        '{"metrics":{"speculative_decoding":{"per_step_accepted":[0.5,1e300],"per_step_drafted":[1.5,1e300]}}}',
        f"SpecDecoding metrics: Accepted: {'9' * 400} tokens, Drafted: {'9' * 401} tokens",
        "eval time = %s ms / %s tokens\ndraft acceptance = 0.5 ( 1 accepted / %s generated)" % (("9" * 400,) * 3),
        "vllm:spec_decode_num_drafts_total 1e400\nvllm:spec_decode_num_draft_tokens_total 1e14\n",
        'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="%s"} 1\n' % ("9" * 400),
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"format": "hsd-doctor-runs", "runs": [{"rounds": 1e-9, "drafted": 1e15, "accepted": 1e14, "k": 256}]}',
        '{"format": "hsd-doctor-runs", "runs": [{"rounds": 1, "k": %s}]}' % ("9" * 5000),
    ],
)
def test_figures_beyond_all_bounds_end_nothing(text: str) -> None:
    assert answer(text)


def test_a_number_is_read_within_bounds_or_not_at_all() -> None:
    assert [number(value) for value in (3, "2.50", 0, 1e15, "1e3")] == [3.0, 2.5, 0.0, 1e15, 1000.0]
    for value in ("9" * 33, "9" * 5000, 10**400, 1e16, -1, "nan", "inf", 1e-300, True, None, [], "", "one"):
        assert number(value) is None


def test_the_share_of_a_long_draft_costs_what_that_of_a_short_one_does() -> None:
    assert mean_accepted(0.5, 3.5) == pytest.approx(0.5 + 0.25 + 0.125 + 0.5 * 0.0625)
    assert mean_accepted(0.5, 1e12) == pytest.approx(1.0)
    assert mean_accepted(1.0, 1e9) == pytest.approx(1e9)
    assert flat_share(1.0, 1e12) == pytest.approx(0.5)


def test_whatever_is_done_to_an_output_there_is_an_answer_or_a_sentence() -> None:
    texts = [path.read_text(encoding="utf-8")[:6000] for path in sorted((OUTPUTS / "pasted").glob("*.txt"))]
    texts += [path.read_text(encoding="utf-8")[:6000] for path in sorted(OUTPUTS.glob("*_composed_*"))]
    pick = random.Random(0)
    odd = ["9" * 400, "1e400", "-1", "0", "nan", "1e15", "3,5", "1,000,000", "[]", "{}", "null", "60000000", "1e-9"]
    answered = 0
    for _ in range(400):
        text = pick.choice(texts)
        for _ in range(pick.choice([1, 1, 2, 4])):
            at = pick.randrange(len(text) + 1)
            numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
            how = pick.random()
            if how < 0.5 and numbers:
                start, end = pick.choice(numbers).span()
                text = text[:start] + pick.choice(odd) + text[end:]
            elif how < 0.7:
                text = text[:at] + text[at + pick.randrange(200) :]
            elif how < 0.85:
                text = text[:at] + pick.choice('\n|:"{}[],%()') * pick.choice([1, 40]) + text[at:]
            else:
                text += "\n" + pick.choice(texts)[at : at + 2000]
        answered += isinstance(answer(text), dict)
    assert answered > 250
