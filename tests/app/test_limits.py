"""No visitor's work is without end: tokens of a prompt, seconds of a run; how far a long prompt is read is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pagekit import asked, awaited, plain_run

from app.kit.payload import payload, status
from app.programs import runs
from app.serve import settings
from app.serve.engine import stream
from app.serve.engines.inline import InlineEngine
from app.serve.line.known_runs import Run, Visitor
from app.serve.loader import Loader
from app.serve.offer import OfferError, ServerOffer
from app.serve.service import Service
from app.serve.settings import (
    LIMITS,
    LONGEST_S,
    MAX_PROMPT,
    PROMPT_TOKENS,
    PROMPT_TOKENS_GPU,
    RequestError,
    TimeLeft,
    parse,
    prompt_characters,
    prompt_tokens,
    within,
)
from app.tabs.race import live
from app.tabs.race.race_request import asked_for
from app.words import run as run_says
from hsd_core.core.events import Event, Footer, Header, LevelInfo
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile

STACK = "table:3@id=order1,table@id=order6"


def request(**changes: Any) -> Any:
    return parse({"run": "r" * 32, "prompt": "x" * 300, "stack": STACK, "preset": "toy", **changes})


class Scripted:
    """A pipeline that plays events, and between the first two of them whatever it is told to do."""

    def __init__(self, events: list[Event], act: Callable[[dict[str, Any]], None] = lambda options: None) -> None:
        self._events, self._act = events, act

    def catalogue(self) -> list[dict[str, Any]]:
        return []

    def open(self, preset: str, **_: Any) -> Scripted:
        return self

    def run(self, *_: Any, **options: Any) -> Iterator[Event]:
        yield self._events[0]
        self._act(options)
        yield from self._events[1:]


@pytest.mark.parametrize("what", ["run", "race"])
def test_a_prompt_of_too_many_tokens_is_refused_before_any_pass(what: str) -> None:
    run, loader = Run("r" * 32), Loader(Pipeline, prompt_tokens=299)
    if what == "run":
        said = list(stream(loader, request(), run))
    else:
        lanes = {"run": "r" * 32, "prompt": "x" * 300, "preset": "toy", "stacks": [STACK, "table@id=order6"]}
        said = list(live.stream(loader, asked_for(lanes, Pipeline.catalogue()), run))
    assert said[-1]["status"]["mode"] == "error"
    assert said[-1]["status"]["text"] == "the prompt has 300 tokens; at most 299 are read here, so shorten it"
    assert not run.records
    assert list(stream(loader, request(prompt="x" * 299, max_new_tokens=1), run))[-1]["status"]["mode"] == "live"


def test_an_operator_says_how_long_a_prompt_may_be() -> None:
    assert [prompt_tokens(device, None) for device in ("cpu", "cuda:1")] == [PROMPT_TOKENS, PROMPT_TOKENS_GPU]
    assert prompt_tokens("cuda", 7) == 7
    assert ServerOffer.of("", "", [], prompt_tokens="512").prompt_tokens == 512
    for odd in ("0", "-3", "many", "2e3", "\u0665", "9" * 5000):
        with pytest.raises(OfferError, match="write how many tokens"):
            ServerOffer.of("", "", [], prompt_tokens=odd)


def test_a_prompt_may_have_more_characters_where_it_may_have_more_tokens() -> None:
    assert prompt_characters(None) == prompt_characters(512) == MAX_PROMPT
    longest = prompt_characters(8192)
    asked = {"run": "r" * 8, "stack": "table", "preset": "toy", "prompt": "x" * longest}
    assert longest > 32_000 and len(parse(asked, longest).prompt) == longest
    with pytest.raises(RequestError, match=f"has {longest + 1} characters; the limit is {longest}"):
        parse({**asked, "prompt": "x" * (longest + 1)}, longest)
    with pytest.raises(RequestError, match="the limit is 8000"):
        parse(asked)


def test_the_rest_of_a_prompt_is_told_by_the_pieces_that_were_read() -> None:
    now = 10.0
    rest = TimeLeft(lambda: now)
    assert rest.after("target", 128, 1024) is None, "nothing is known behind the first piece"
    now = 12.0
    assert rest.after("target", 256, 1024) == pytest.approx(12.0)
    now = 20.0
    assert rest.after("target", 640, 1024) == pytest.approx(7.5)
    assert rest.after("nano", 128, 1024) is None, "another level has a pace of its own"
    assert (
        run_says.reading("target", 640, 1024, 7.5)
        == "reading the prompt: 640 of 1,024 tokens, by target, about 10 s left"
    )
    assert run_says.reading("target", 960, 1024, 0.4) == "reading the prompt: 960 of 1,024 tokens, by target"
    anew = run_says.reading("target", 640, 1024, 7.5, plain=True)
    assert anew == "measuring plain decoding, which reads the prompt anew: 640 of 1,024 tokens, about 10 s left"


def test_the_limits_are_those_that_are_written_down() -> None:
    assert request(max_new_tokens=513).max_new_tokens == LIMITS["max_new_tokens"][1] == 512
    source = " ".join(str(text) for code in runs.running.__code__.co_consts for text in getattr(code, "co_consts", ()))
    assert "max_new_tokens: at most 512" in source
    assert f"at most {MAX_PROMPT} characters" in source


def test_a_limit_in_seconds_counts_from_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(settings.time, "monotonic", lambda: now)
    asked = iter([False, False, False, True])
    over = within(10.0, lambda: next(asked))
    now = 500.0
    assert not over()
    now = 510.0
    assert not over()
    now = 511.0
    assert over()
    now = 501.0
    assert not over()
    assert over(), "or when it is told to"


def test_a_run_that_takes_too_long_ends_with_a_whole_trace_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "LONGEST_S", -1.0)
    run = Run("r" * 32)
    *_, last = stream(Loader(Pipeline), request(), run)
    assert (last["final"], last["status"]["mode"]) == (True, "live")
    said = f"stopped after {LONGEST_S:.0f} s, the limit for a run here; ask for fewer tokens or a shorter prompt"
    assert last["status"]["early"] == last["status"]["text"] == said
    assert isinstance(run.events[-1], Footer) and run.events[-1].reason == "stopped"
    tracefile.write(tmp_path / "early.jsonl.gz", run.events)
    assert tracefile.read(tmp_path / "early.jsonl.gz") == run.events


def test_a_run_whose_time_is_over_while_plain_decoding_is_measured_has_its_text() -> None:
    header, *rest = plain_run(list("abc"))
    assert isinstance(header, Header) and isinstance(header.levels[0], LevelInfo)
    events = [replace(header, levels=(header.levels[0],) * 2), *rest]
    *_, last = stream(Loader(Scripted(events)), request(), Run("r" * 32))
    assert last["status"]["early"].startswith("the text is done; the measurement beside it was stopped after 240 s")
    *_, last = stream(Loader(Scripted(events)), request(baseline=False), Run("s" * 32))
    assert "early" not in last["status"]


def test_a_run_that_is_stopped_is_not_said_to_have_taken_too_long() -> None:
    run = Run("r" * 32)
    events = [*plain_run(list("abc"))[:-1], replace(plain_run(list("abc"))[-1], reason="stopped")]
    *_, last = stream(Loader(Scripted(events, lambda _: run.stopped.set())), request(), run)
    assert last["status"]["text"] == "stopped" and "early" not in last["status"]


def test_a_run_says_how_much_of_a_long_prompt_is_read_and_then_that_it_generates() -> None:
    run, said = Run("r" * 32), []

    def read(options: dict[str, Any]) -> None:
        for done in (128, 256, 300):
            options["reading"]("int8", done, 300)
            said.append((run.state["text"], run.state.get("share")))

    list(stream(Loader(Scripted(plain_run(list("abc")), read)), request(), run))
    assert said == [
        ("reading the prompt: 128 of 300 tokens, by int8", 128 / 300),
        ("reading the prompt: 256 of 300 tokens, by int8", 256 / 300),
        ("generating", None),
    ]


def test_a_prompt_that_is_read_anew_for_plain_decoding_is_told_as_such() -> None:
    header, *rest = plain_run(list("abc"))
    assert isinstance(header, Header) and isinstance(header.levels[0], LevelInfo)
    run, said = Run("r" * 32), []

    class Measured(Scripted):
        def run(self, *_: Any, **options: Any) -> Iterator[Event]:
            yield replace(header, levels=(header.levels[0],) * 2)
            yield from rest
            options["reading"]("target", 128, 300)
            said.append((run.state["text"], run.state["phase"], run.state["share"]))

    list(stream(Loader(Measured([])), request(), run))
    told = "measuring plain decoding, which reads the prompt anew: 128 of 300 tokens"
    assert said == [(told, "plain", 128 / 300)], "the title goes on saying that it is being measured"


def test_what_a_run_says_while_the_engine_is_within_a_step_reaches_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.engines.inline.SAY_S", 0.01)
    heard = threading.Event()

    def write(run: Run) -> Iterator[dict[str, Any]]:
        run.state = status("live", "reading")
        assert heard.wait(20), "nothing is said before the step is over"
        yield payload(run.name, 0, [], True, status("live", "done"))

    async def follow() -> list[str]:
        texts = []
        async for item in Service(InlineEngine(Loader(Pipeline))).serve(*asked(write), Visitor()):
            texts.append(item["status"]["text"])
            heard.set()
        return texts

    assert awaited(follow()) == ["reading", "done"]
