"""What the page without a server is given of the recordings: their figures and the prices of their stacks, as a server
would answer."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cases import first_always
from test_ahead import asked_of_node

from app.kit.figures.panels import draw
from app.kit.static import ASSETS
from app.site.figures_ahead import LOOKS, figures, template
from app.site.prices_ahead import as_shown, prices
from app.tabs.planner.price import Priced, Prices
from app.words import site as says
from hsd_core.core.events import Event, Header
from hsd_core.grammar.stack_text import grammar
from hsd_core.models.sampling import is_greedy
from hsd_core.theory.profiles import profile_store
from hsd_core.theory.search.prices_by_length import depends_on_length
from hsd_core.trace import file as tracefile

RECORDINGS = sorted((ASSETS / "traces").glob("*.jsonl.gz"))
FIGURES = """
const { seen, whole } = await import("%s");
const out = given.looks.map(([dark, wall]) =>
  Object.values(seen(given.packed, dark, wall)).map((one) => [one.note, one.data, whole(one, given.template)]));
console.log(JSON.stringify(out));
"""
PRICED = """
const { priced } = await import("%s");
console.log(JSON.stringify(given.asked.map((question) => priced(given.ahead, question))));
"""
STACKS = """
const { learn } = await import("%s");
const { parse, format } = await import("%s");
learn(given.grammar);
console.log(JSON.stringify(given.stacks.map((stack) => format(parse(stack)))));
"""


def script(name: str) -> str:
    return (ASSETS / "js" / name).as_uri()


def header(path: Path) -> Header:
    with gzip.open(path) as lines:
        found = tracefile.event_of(1, lines.readline(), 0)
    assert isinstance(found, Header)
    return found


@pytest.fixture(scope="module")
def headers() -> list[Header]:
    return [header(path) for path in RECORDINGS]


@pytest.fixture(scope="module")
def made(headers: list[Header]) -> dict[str, Any]:
    """The prices, as this machine writes them."""
    return prices(headers)


@pytest.fixture(scope="module")
def machine(headers: list[Header]) -> str:
    """That of most recordings."""
    return Counter(one.machine for one in headers if one.preset).most_common(1)[0][0]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, machine: str) -> Prices:
    """Prices of a server on the machine of most recordings, where nothing was measured."""
    monkeypatch.setattr(profile_store, "_machine", lambda _: machine)
    monkeypatch.setattr("app.tabs.planner.price.cached_profile", lambda *_: None)
    return Prices(ASSETS / "profiles")


def served(events: list[Event], dark: bool, wall: bool) -> list[Any]:
    """Note, data and layout of each figure as Gradio sends them, and as its script changes a layout."""
    parts, found = draw(events, dark=dark, wall=wall), list[Any]()
    for note, plot in zip(parts[::3], parts[1::3], strict=True):
        if note is not None:
            drawn = json.loads(plot.postprocess(plot.constructor_args["value"]).plot)
            drawn["layout"] |= {"autosize": True, "margin": {**drawn["layout"]["margin"], "autoexpand": True}}
            found.append([json.loads(json.dumps(note)), drawn["data"], drawn["layout"]])
    return found


@first_always("name", ["12-hispec", "18-auto"])
def test_a_recordings_figures_are_those_that_a_server_draws(name: str) -> None:
    events = tracefile.read(ASSETS / "traces" / f"{name}.jsonl.gz")
    given = {"packed": figures(events), "template": template(), "looks": [list(look) for look in LOOKS]}
    made = asked_of_node(FIGURES % script("site/ahead.js"), given)
    assert made == [served(events, dark, wall) for dark, wall in LOOKS]
    assert len(made[0]) == (name == "12-hispec")


def question(one: Header, **more: Any) -> dict[str, Any]:
    temperature = 0.0 if is_greedy(one.sampling) else one.sampling["temperature"]
    length = len(one.prompt_ids) + one.max_new_tokens // 2
    text = {"length": length, "by_length": depends_on_length(one.stack)}
    asked = {"preset": one.preset, "device": "", "temperature": temperature, "stacks": [as_shown(one.stack)]}
    return {**asked, **text, **more}


def test_prices_of_the_recordings_are_those_that_a_server_answers(
    headers: list[Header], made: dict[str, Any], machine: str, elsewhere: Prices
) -> None:
    asked = [question(one) for one in headers if one.preset and one.machine == machine]
    asked += [question(headers[0], stacks=["int8:6,target", "ngram:3,target"])]  # what each level is worth
    answers = asked_of_node(PRICED % script("site/ahead.js"), {"asked": asked, "ahead": made})
    for one, answer in zip(asked, answers, strict=True):
        text = {"length": one["length"], "by_length": one["by_length"]}
        right = elsewhere.answer(Priced(one["preset"], tuple(one["stacks"]), "", one["temperature"], **text))
        assert answer == json.loads(json.dumps(right)), one
    priced = sum("ms" in answer["prices"][0] for answer in answers[:-1])
    assert priced >= 15, "most recordings have a prediction"


def test_whichever_machine_writes_the_page_its_prices_are_the_same(
    headers: list[Header], made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_store, "_machine", lambda _: "another machine")
    monkeypatch.setattr("app.tabs.planner.price.cached_profile", lambda *_: pytest.fail("asked for here"))
    assert prices(headers) == made


def test_what_was_not_worked_out_says_so_and_how_to_ask(headers: list[Header], made: dict[str, Any]) -> None:
    code = next(one for one in headers if one.preset == "smollm2" and is_greedy(one.sampling))
    asked = [
        question(code, stacks=["ngram:5,int4:7,target"]),
        question(code, temperature=0.3),
        question(code, device="cuda"),
        question(code, preset="toy", stacks=["anything"]),
    ]
    *others, toy = asked_of_node(PRICED % script("site/ahead.js"), {"asked": asked, "ahead": made})
    for one in others:
        assert one["prices"][0]["reason"] == says.NOT_AHEAD and "python app.py" in says.NOT_AHEAD
        assert says.NOT_AHEAD.startswith(f"{one['prices'][0]['brief']};")
    assert "calibrate --preset toy" in toy["prices"][0]["reason"] and toy["about"] is None


def test_stacks_are_asked_for_by_the_text_that_they_are_known_by(headers: list[Header], made: dict[str, Any]) -> None:
    known = [stack for one in made["known"] for stack in (*one["prices"], *one.get("by_length", ()))]
    recorded = [one.stack for one in headers if one.preset == "smollm2"]
    given = {"grammar": grammar(), "stacks": [*known, *recorded]}
    written = asked_of_node(STACKS % (script("shared/levels/kinds.js"), script("shared/levels/stack.js")), given)
    assert written[: len(known)] == known and set(written[len(known) :]) <= set(known)
