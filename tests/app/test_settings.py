"""Requests are checked on the server: figures clamped, nonsense refused."""

from __future__ import annotations

from typing import Any

import pytest
from sharedkit import preset

from app.serve.settings import LIMITS, MAX_PROMPT, RequestError, check, check_files, check_ids, parse
from hsd_core.grammar import keys
from hsd_core.grammar.key import FileKey
from hsd_core.grammar.stack_text import parse as parse_stack

GOOD: dict[str, Any] = {"run": "a" * 32, "prompt": "hello", "stack": "target", "preset": "toy"}


@pytest.mark.parametrize("name", LIMITS)
def test_figures_are_clamped_to_their_limits_and_it_is_said(name: str) -> None:
    low, high = LIMITS[name]
    for asked, given in ((low - 1, low), (high + 1, high)):
        request = parse({**GOOD, name: asked})
        assert getattr(request, name) == given
        assert any(name in note for note in request.notes)


@pytest.mark.parametrize("value", ["12", None, True, float("nan"), float("inf"), [], {}])
def test_what_is_no_figure_is_refused(value: Any) -> None:
    with pytest.raises(RequestError, match="max_new_tokens"):
        parse({**GOOD, "max_new_tokens": value})


@pytest.mark.parametrize("name", LIMITS)
def test_figures_of_hundreds_of_digits_are_clamped(name: str) -> None:
    for value in (10**400, -(10**400)):
        request = parse({**GOOD, name: value})
        assert getattr(request, name) in LIMITS[name]
        assert request.notes[0].startswith(f"{name} of hundreds of digits was set to")


def test_halves_of_characters_are_replaced() -> None:
    assert parse({**GOOD, "prompt": "a\ud800b \ud83d\ude00"}).prompt == "a\ufffdb \U0001f600"
    assert parse({**GOOD, "stack": "\udfff"}).stack == "\ufffd"


def test_a_prompt_that_is_empty_or_too_long_is_refused() -> None:
    for prompt in ("", "  \n", None, "x" * (MAX_PROMPT + 1)):
        with pytest.raises(RequestError, match="prompt"):
            parse({**GOOD, "prompt": prompt})
    assert parse({**GOOD, "prompt": "x" * MAX_PROMPT}).prompt


@pytest.mark.parametrize("run", ["", "short", "../../etc/passwd", "x" * 65, None, 7])
def test_a_run_has_a_plain_name(run: Any) -> None:
    with pytest.raises(RequestError, match="name"):
        parse({**GOOD, "run": run})


def test_a_visitor_may_name_only_the_preset_s_own_models() -> None:
    levels = [{"name": "table", "params": {"id": "order1"}}, {"name": "ngram", "params": {}}]
    catalogue = [{"name": "toy", "levels": levels, "stacks": [{"stack": "model:3@id=Own/model,target"}]}]
    for stack in ("target", "table:4@id=order1,target", "model:2@id=Own/model,target"):
        check_ids(parse({**GOOD, "stack": stack}), catalogue)
    for stack in ("model@id=Other/model,target", "model:4@dtype=int8@id=../x,target", "target@id=", "target@ID=x@id=y"):
        with pytest.raises(RequestError, match="command line"):
            check_ids(parse({**GOOD, "stack": stack}), catalogue)
    with pytest.raises(RequestError, match="command line"):
        check_ids(parse({**GOOD, "preset": "other", "stack": "model@id=Own/model,target"}), catalogue)


def test_a_visitor_may_name_the_listed_drafts_and_read_an_exit_through_the_lens() -> None:
    catalogue = [preset()]
    for stack in (
        "nano:4@id=tiny,target",
        "nano:4@id=tiny-fed,exit:2@at=4@id=lens,target",
        "exit:2@at=4,exit:4@at=8,target",
    ):
        check_ids(parse({**GOOD, "preset": "shared", "stack": stack}), catalogue)
    for stack in (
        "nano:4@id=lens,target",
        "exit:2@at=4@id=tiny,target",
        "exit:2@at=4@id=other,target",
        "nano@id=../x,target",
        "model:4@id=lens,target",
        "model:4@id=tiny,target",
        "target@id=lens",
        " nano:4 @id=else,target",
    ):
        with pytest.raises(RequestError, match="command line"):
            check_ids(parse({**GOOD, "preset": "shared", "stack": stack}), catalogue)


def test_a_visitor_may_name_what_drafts_on_a_miss_if_it_is_listed() -> None:
    drafts = [{"name": "tiny", "title": "", "fed": False}]
    levels = [{"name": "ngram", "params": {}, "drafts": drafts}, {"name": "nano", "params": {}, "drafts": drafts}]
    catalogue = [{"name": "toy", "levels": levels, "stacks": []}]
    for stack in ("ngram:2@miss=nano,target", "ngram:2@miss=tiny,target"):
        check_ids(parse({**GOOD, "stack": stack}), catalogue)
    for stack in ("ngram:2@miss=../x.safetensors,target", "ngram@ miss=else,target", "nano@miss=nano,target"):
        with pytest.raises(RequestError, match="command line"):
            check_ids(parse({**GOOD, "stack": stack}), catalogue)


def test_a_visitor_may_name_listed_files_alone_whatever_key_names_them() -> None:
    levels = [
        {"name": "ngram", "databases": ["notes.npz"]},
        {"name": "suffix", "outputs": ["ours.jsonl"]},
        {"name": "skip", "sets": ["small"]},
    ]
    for stack in (
        "ngram:2@db=c+notes.npz,target",
        "suffix:2@earlier=ours.jsonl,target",
        "suffix:2@earlier=runs,target",  # of the same visitor
        "skip:4@set=small,target",
        "skip:4@set=none,target",
        "skip:4,target",
    ):
        check_files("toy", parse_stack(stack), {"levels": levels})
    for stack, noun in (
        ("ngram:2@db=c+else.npz,target", "database"),
        ("suffix:2@earlier=else.jsonl,target", "outputs"),
        ("skip:4@set=/etc/x.json,target", "set of subla"),
        ("int8:2@vocab=99@text=else.npz,target", "database"),
    ):
        with pytest.raises(RequestError, match=f"has no {noun}.*command line"):
            check_files("toy", parse_stack(stack), {"levels": levels})
    named = {key for key in keys() if isinstance(keys()[key], FileKey)}
    assert named == {"db", "earlier", "set", "text"}, (
        "a key that names files of the server says so, and is refused here"
    )


def test_a_request_hands_all_its_settings_to_the_workbench_and_depths_only_when_asked() -> None:
    class Bench:
        def run(self, *given: Any, **options: Any) -> Any:
            self.given, self.options = given, options
            return iter(())

    pipeline = Bench()
    parse({**GOOD, "temperature": 0.5, "seed": 3, "max_new_tokens": 7, "raw": True, "detail": "light"}).start(pipeline)
    assert pipeline.given == ("target", "hello")
    assert not pipeline.options.pop("stop")()
    assert pipeline.options == {
        "temperature": 0.5,
        "top_k": 0,
        "top_p": 1.0,
        "seed": 3,
        "max_new_tokens": 7,
        "raw": True,
        "baseline": True,
        "heads": 0,
        "reading": None,
        "earlier": (),
    }
    parse({**GOOD, "depths": True}).start(pipeline)
    assert pipeline.options["depths"] is True
    parse({**GOOD, "depths": "yes"}).start(pipeline)
    assert "depths" not in pipeline.options


def test_defaults_measure_plain_decoding_and_are_greedy() -> None:
    request = parse(GOOD)
    assert request.baseline
    assert request.temperature == 0.0
    assert not request.raw
    assert not request.notes


def test_a_run_is_for_a_device_that_the_preset_can_use() -> None:
    levels = [{"name": "table", "params": {"id": "order1"}, "usable": True, "reason": ""}]
    toy = {"name": "toy", "usable": True, "levels": levels, "stacks": []}
    asked = parse({**GOOD, "stack": "table@id=order1", "device": "cpu"})
    check(asked, [{**toy, "devices": [{"name": "cpu", "usable": True, "reason": ""}]}])
    with pytest.raises(RequestError, match="too slow"):
        check(asked, [{**toy, "devices": [{"name": "cpu", "usable": False, "reason": "too slow"}]}])
