"""Hostile questions to every event and every server function of the page, by every way that leads to them: each is
answered in words, none is a fault of the server, and none starts work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import first_always
from pagekit import launched

from app.serve.door.guard import API, CALLS
from hsd_core.pipeline import Pipeline

JSON = {"content-type": "application/json"}
RUN = "a" * 32
BIG = int("9" * 400)
DEEP: Any = 7
for _ in range(60):
    DEEP = [DEEP]
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
FREE = ("plan", "calibration", "diagnose", "recordings", "load_trace")  # every argument has a default
VALUES: list[Any] = [
    {"path": "x", "meta": 5},
    *(None, True, -1, BIG, 1e308, float("nan"), "", "\ud800", "x" * 100_000, "../../etc/passwd"),
    *([], {}, [[]], {"a": {}}, FILE, DEEP),
]
ASKED: list[Any] = [
    *VALUES,
    *({"run": value} for value in VALUES),
    *(
        {"run": RUN, name: value}
        for name in ("from", "base64", "name", "question", "plan")
        for value in (BIG, DEEP, FILE)
    ),
    {"run": RUN, "prompt": "hi", "stack": "table@id=/etc/passwd", "preset": "toy"},
    {"run": RUN, "prompt": "hi", "stack": "\ud800", "preset": "toy", "max_new_tokens": BIG},
    {"run": RUN, "prompt": "hi", "stack": "table@id=order6", "preset": FILE},
    {"run": RUN, "prompt": DEEP, "stack": "table@id=order6", "preset": "toy", "stacks": ["x"] * 99, "repeats": BIG},
    {"run": RUN, "prompt": "hi", "preset": "toy", "stacks": [FILE, DEEP], "repeats": 1},
    {"run": RUN, "preset": "nothing"},
]


class Counted(Pipeline):
    """Counts what is opened: no hostile question gets that far."""

    opened = 0

    @classmethod
    def open(cls, *args: Any, **options: Any) -> Any:
        cls.opened += 1
        return super().open(*args, **options)


@pytest.fixture(scope="module")
def served(recordings: Path) -> Iterator[httpx.Client]:
    with launched(Counted, traces=recordings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def config(served: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = served.get("/config").json()
    return found


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    Counted.opened = 0
    yield
    logged = "".join(capfd.readouterr()) + caplog.text
    assert "Traceback" not in logged, logged[-3000:]
    assert Counted.opened == 0


def post(served: httpx.Client, path: str, body: Any) -> httpx.Response:
    text = body if isinstance(body, str) else json.dumps(body)
    return served.post(path, content=text, headers=JSON)


def refused(answer: httpx.Response) -> None:
    """It is a sentence as JSON, with the status of a wrong question."""
    assert answer.status_code in (400, 404, 422), (answer.status_code, answer.text[:300])
    said = answer.json()
    assert list(said) == ["error", "detail"][: 2 if answer.status_code == 422 else 1]
    assert 10 < len(said["error"]) < 400 and "\n" not in said["error"], said
    own, _, _ = said["error"].partition(", not ")  # then what was given
    assert "/etc/" not in own and "site-packages" not in said["error"]


def wrong(value: Any) -> None:
    """A payload, or what an event wrote into the page, which says what is wrong or shows nothing."""
    if isinstance(value, dict) and "status" in value:
        assert value["status"]["mode"] == "error" and value["final"] and len(value["status"]["text"]) > 10, value
        assert "/etc/" not in value["status"]["text"]


def heard(served: httpx.Client, session: str) -> dict[str, Any]:
    """What an event that was joined answers in the end."""
    answer = served.get(f"{API}/queue/data", params={"session_hash": session})
    messages = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert answer.status_code == 200 and messages[-1]["msg"] == "close_stream", messages
    found: dict[str, Any] = next(x for x in messages if x["msg"] == "process_completed")
    return found


def broken(own: dict[str, Any]) -> Iterator[Any]:
    """Bodies that are none: no JSON, no object, a field that is missing or of the wrong kind."""
    yield from ("", "{", "nonsense", "[" * 100_000 + "]" * 100_000, "9" * 5000)
    yield from ([], None, 7, "text", True)
    for name in own:
        if name != "trigger_id":
            yield {key: value for key, value in own.items() if key != name}
        for value in (None, True, -1, 10**6, 1.5, BIG, "", "\ud800", "x" * 5000, [], {}, [[]], [FILE], [1] * 50, DEEP):
            if value != own[name] and not (name == "trigger_id" and value is None):
                yield {**own, name: value}


PARTS = 6  # each event is asked a part of all, and each question of a part of the events; with --all all of all


@first_always("part", range(PARTS))
def test_every_event_is_refused_or_ends_in_words(served: httpx.Client, config: dict[str, Any], part: int) -> None:
    events = config["dependencies"]
    assert {"generate", "figures", "race", "quick", "run_stack"} <= {x["api_name"] for x in events}
    for at, event in enumerate(events):
        public = event["api_visibility"] == "public"  # such an event is told nothing but its arguments
        for number, data in enumerate(ASKED[:2] if public else ASKED):
            if (at + number) % PARTS != part and not public:
                continue
            if event["api_name"] in ("quick", "measure") and isinstance(data, dict) and data.get("preset") == "toy":
                continue  # that is all they ask for: they would measure
            session = f"e{event['id']}-{number}"
            asked = {
                "data": [],
                "event_data": data if public else {"asked": data},
                "fn_index": event["id"],
                "session_hash": session,
                "trigger_id": None,
            }
            answer = post(served, f"{API}/queue/join", asked)
            if answer.status_code != 200:
                refused(answer)
            else:
                said = heard(served, session)
                if public and not said["success"]:
                    assert len(said["output"]["error"]) > 10, said
                    continue
                assert said["success"], said
                shown = said["output"]["data"]
                values = [json.loads(value) for value in shown if isinstance(value, str) and value]
                assert len(values) <= 1, "the last payload is the only one"
                for value in values:
                    wrong(value)
            for name in ("predict", event["api_name"]):
                direct = post(served, f"{API}/run/{name}", asked)
                if direct.status_code == 200:
                    assert not event["queue"]
                else:
                    refused(direct)


def test_bodies_that_are_none_are_refused(served: httpx.Client, config: dict[str, Any]) -> None:
    for event in config["dependencies"]:
        own: dict[str, Any] = {"data": [], "fn_index": event["id"], "session_hash": "s", "trigger_id": 10**6}
        for body in broken(own):
            if event["queue"] or not isinstance(body, dict):
                refused(post(served, f"{API}/queue/join", body))
        for body in broken({"data": [], "fn_index": event["id"], "trigger_id": 10**6}):
            refused(post(served, f"{API}/run/predict", body))
    for body in broken({"session_hash": "s", "fn_index": 10**6, "event_id": "e"}):
        refused(post(served, f"{API}/cancel", body))
    for body in broken({"event_id": "e/"}):
        refused(post(served, f"{API}/reset", body))


def test_an_event_is_called_by_name_only_where_it_is_public(served: httpx.Client, config: dict[str, Any]) -> None:
    for event in config["dependencies"]:
        for way in ("call", "call/v2", "run", "api"):
            path = f"{API}/{way}/{event['api_name']}"
            if event["api_visibility"] != "public":
                refused(post(served, path, {"data": []}))
            for body in broken({"data": [[]]}):
                if body not in ({}, {"data": []}) or event["api_name"] not in FREE or way in ("run", "api"):
                    refused(post(served, path, body))
    for way in ("call", "call/v2", "run", "api"):
        for name in ("nothing", "\ud7ff", "x" * 200):
            refused(post(served, f"{API}/{way}/{name}", {"data": []}))
    assert "there is no endpoint 'generate'" in post(served, f"{API}/call/generate", {"data": []}).json()["error"]


def test_the_public_endpoint_says_what_is_wrong_with_each_value(served: httpx.Client) -> None:
    good = {
        **{"prompt": "hi", "stack": "table@id=order6", "preset": "toy", "temperature": 0, "top_k": 0, "top_p": 1.0},
        **{"seed": 0, "max_new_tokens": 3, "replan": False},
    }
    asked = 0
    for name in good:
        for value in VALUES:
            if isinstance(value, str) and name in ("prompt",) and value.strip() and len(value) < 8000:
                continue  # that one would run
            if name in ("temperature", "top_k", "top_p", "seed", "max_new_tokens") and value in (-1, 1e308, BIG):
                continue  # clamped, and said so
            if name == "replan" and value is True:
                continue  # that one would run
            fields = {**good, name: value}
            for path, body in (("call", {"data": list(fields.values())}), ("call/v2", fields)):
                answer = post(served, f"{API}/{path}/run_stack", body)
                if answer.status_code != 200:
                    refused(answer)
                    continue
                said = served.get(f"{API}/call/run_stack/{answer.json()['event_id']}").text
                kind, data = said.rsplit("event: ", 1)[1].split("\ndata: ", 1)
                assert kind == "error" and len(json.loads(data)["error"]) > 10, (name, str(value)[:50], said[:300])
                asked += 1
    assert asked > 20
    for body in ({"data": ["hi"]}, {"data": [*good.values(), False, 1]}):
        assert (
            "values where the event takes 10: prompt, stack, preset"
            in (post(served, f"{API}/call/run_stack", body).json()["error"])
        )
    assert (
        "the field preset is missing"
        in post(served, f"{API}/call/v2/run_stack", {"prompt": "", "stack": ""}).json()["error"]
    )


@first_always("part", range(PARTS))
def test_every_server_function_is_refused_or_answers_in_words(
    served: httpx.Client, config: dict[str, Any], part: int
) -> None:
    functions = [(x["id"], name) for x in config["components"] for name in x["props"].get("server_fns", ())]
    named = {"open_trace", "simulate", "stop", "tail", "offered", "pace", "open_race", "long_text"}
    assert {name for _, name in functions} == named
    for at, (component, name) in enumerate(functions):
        for number, data in enumerate(ASKED):
            if (at + number) % PARTS != part:
                continue
            own = {"data": data, "component_id": component, "session_hash": "s", "fn_name": name}
            answer = post(served, CALLS, own)
            if answer.status_code != 200:
                refused(answer)
                continue
            said = answer.json()
            if name == "offered":  # whatever is sent with it
                assert set(said) == {"catalogue", "settled"}
                continue
            if name == "pace":
                assert said == {"ahead": 0, "answers": None}
                continue
            assert said is True or said["status"]["mode"] == "error", (name, said)
            wrong(said)
    for body in broken({"data": None, "component_id": 10**6, "session_hash": "s", "fn_name": "stop"}):
        refused(post(served, CALLS, body))
    for component in config["components"]:
        for name in ("postprocess", "preprocess", "parent", "__class__", "", None, 7, "\ud800"):
            refused(
                post(served, CALLS, {"data": 1, "component_id": component["id"], "session_hash": "s", "fn_name": name})
            )


@pytest.mark.parametrize(
    "path",
    [
        *("call/run_stack/nothing", "call/v2/run_stack/nothing", "call/generate/nothing", f"call/run_stack/{'x' * 99}"),
        *(
            "queue/data",
            "queue/data?session_hash=",
            "queue/data?session_hash=../..",
            f"queue/data?session_hash={'x' * 99}",
        ),
        *("heartbeat/a.b", f"heartbeat/{'x' * 99}"),
    ],
)
def test_what_nobody_writes_to_cannot_be_listened_to(served: httpx.Client, path: str) -> None:
    refused(served.get(f"{API}/{path}"))


def test_a_session_of_another_time_is_told_to_begin_anew(served: httpx.Client) -> None:
    """In the words of Gradio's client, which then opens the page's connection again."""
    answer = served.get(f"{API}/queue/data?session_hash=of-yesterday")
    (line,) = [x for x in answer.text.splitlines() if x]
    said = json.loads(line.removeprefix("data: "))
    assert said["msg"] == "unexpected_error" and said["session_not_found"] and "reload the page" in said["message"]
