"""Requests are checked on the server: figures clamped, nonsense refused."""

from __future__ import annotations

from typing import Any

import pytest

from app.settings import LIMITS, MAX_PROMPT, RequestError, check_ids, parse

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


def test_defaults_measure_plain_decoding_and_are_greedy() -> None:
    request = parse(GOOD)
    assert request.baseline
    assert request.temperature == 0.0
    assert not request.raw
    assert not request.notes
