"""The named endpoints as programs meet them: gradio_client, curl as README has it, and an MCP client."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio_client
import httpx
import pytest
from pagekit import at_tools, awaited, launched

from app.kit.static import ASSETS
from app.serve.door.guard import API
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile
from hsd_core.trace.metrics import measure

NAMES = {"run_stack", "compare", "plan", "calibration", "diagnose", "recordings", "load_trace"}
STACK = "table:3@id=order1,table@id=order6"
ASKED = {"prompt": "The small level", "stack": STACK, "preset": "toy", "max_new_tokens": 24}
README = (Path(__file__).parents[2] / "app" / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## For programs")[1]
SHELL, PYTHON = (re.search(rf"```{kind}\n(.*?)```", SECTION, re.S) for kind in ("sh", "python"))
CODE = ASSETS / "traces" / "01-code.jsonl.gz"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with launched(Pipeline, mcp=True) as url:
        yield url


@pytest.fixture(scope="module")
def client(address: str) -> gradio_client.Client:
    return gradio_client.Client(address, verbose=False)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    logged = "".join(capfd.readouterr()) + caplog.text
    assert "Traceback" not in logged, logged[-3000:]


def test_what_is_public_is_named_and_every_parameter_of_it_is_described(address: str) -> None:
    info = httpx.get(f"{address}{API}/info").json()
    assert {name.strip("/") for name in info["named_endpoints"]} == NAMES and not info["unnamed_endpoints"]
    tools = {tool["name"]: tool for tool in httpx.get(f"{address}{API}/mcp/schema").json()}
    assert set(tools) == NAMES
    for tool in tools.values():
        assert len(tool["description"]) > 40
        for one in tool["inputSchema"]["properties"].values():
            assert len(one["description"]) > 10 and ("type" in one or "oneOf" in one), one


def test_a_run_is_told_as_it_is_written_and_its_trace_where_it_is_asked_for(client: gradio_client.Client) -> None:
    told = list(client.submit(**ASKED, api_name="/run_stack"))
    *before, last = told
    assert last["done"] and last["text"] and "trace" not in last
    assert last["totals"]["committed"] == last["totals"]["footer"]["committed"] == 24
    assert before and all(not one["done"] and last["text"].startswith(one["text"]) for one in before)
    hot = client.predict(**{**ASKED, "temperature": 9}, api_name="/run_stack")
    assert "temperature 9 was set to 2" in hot["status"], "a number out of range is said"
    whole = client.predict(**ASKED, trace=True, api_name="/run_stack")
    assert (whole["text"], [whole["trace"][i]["event"] for i in (0, -1)]) == (last["text"], ["header", "footer"])


def test_stacks_are_compared_over_one_prompt(client: gradio_client.Client) -> None:
    stacks = ["table@id=order6", STACK]
    asked = {"prompt": "The small level", "preset": "toy", "max_new_tokens": 16, "repeats": 2}
    found = client.predict(stacks=stacks, **asked, api_name="/compare")
    plain, drafted = found["lanes"]
    assert [lane["stack"] for lane in found["lanes"]] == stacks
    assert plain["text"] == drafted["text"] and not drafted["same"]["diverges"]
    assert plain["speed_up"] == 1.0 and drafted["interval"][0] <= drafted["speed_up"] <= drafted["interval"][1]
    assert drafted["totals"]["levels"][1]["judged"] > 0


def test_a_plan_is_made_in_the_profile_of_a_preset_or_in_one_s_own(client: gradio_client.Client) -> None:
    found = client.predict("smollm2", api_name="/calibration")
    assert found["source"] in ("shipped", "measured") and found["how"].endswith("--preset smollm2")
    own = client.predict(profile=found["profile"], max_block=8, api_name="/plan")
    there = client.predict("smollm2", max_block=8, api_name="/plan")
    assert (own["best"], own["source"], there["source"]) == (there["best"], "given", found["source"])
    assert "tokens per pass of the target" in own["headline"] and own["best"]["stack"].endswith("target")


def test_a_recording_and_a_file_are_read_alike(client: gradio_client.Client) -> None:
    assert "01-code" in [entry["name"] for entry in client.predict(api_name="/recordings")]
    found = client.predict("01-code", api_name="/load_trace")
    figures = measure(tracefile.read(CODE))
    assert {name: found["totals"][name] for name in figures} == json.loads(json.dumps(figures))
    packed = base64.b64encode(CODE.read_bytes()).decode()
    assert client.predict(file=packed, api_name="/load_trace") == found
    run = client.predict(**ASKED, trace=True, api_name="/run_stack")
    lines = "\n".join(json.dumps(event) for event in run["trace"])
    again = client.predict(file=lines, trace=True, api_name="/load_trace")
    assert (again["text"], again["trace"]) == (run["text"], run["trace"])


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("run_stack", {**ASKED, "stack": 7}, "stack must be text, not 7;"),
        ("run_stack", {**ASKED, "temperature": "hot"}, "temperature must be a number"),
        ("run_stack", {**ASKED, "seed": 1.5}, "seed must be a whole number"),
        ("run_stack", {**ASKED, "replan": "yes"}, 'replan must be true or false, not "yes";'),
        ("run_stack", {**ASKED, "words": 3}, "there is no parameter 'words'"),
        ("run_stack", {"prompt": "x"}, "the field stack is missing"),
        ("compare", {"prompt": "x", "stacks": ["a", 3], "preset": "toy"}, "stacks must be a list of texts"),
        ("compare", {"prompt": "x", "stacks": "a b", "preset": "toy"}, "stacks must be a list of texts"),
        ("plan", {"profile": []}, "profile must be an object of fields"),
        ("plan", {"max_block": True}, "max_block must be a whole number"),
        ("recordings", {"words": 3}, "there is no parameter 'words'; there are none here"),
        ("plans", {}, "there is no endpoint 'plans'; /gradio_api/info lists the endpoints"),
    ],
)
def test_arguments_that_are_none_are_refused_by_name(address: str, name: str, asked: Any, said: str) -> None:
    answer = httpx.post(f"{address}{API}/call/v2/{name}", json=asked)
    assert answer.status_code in (400, 404, 422) and said in answer.json()["error"]
    assert "; info lists" not in answer.json()["error"], "an address is no folder of this machine"


def test_gradio_s_client_says_which_argument_is_wrong(client: gradio_client.Client) -> None:
    with pytest.raises(ValueError, match="stack must be text, not 5; /gradio_api/info"):
        client.predict(**{**ASKED, "stack": 5}, api_name="/run_stack")


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("run_stack", {**ASKED, "preset": "nothing"}, "there is no preset 'nothing'"),
        ("run_stack", {**ASKED, "stack": "table@id=/etc/passwd"}, "no table '/etc/passwd'"),
        ("run_stack", {**ASKED, "prompt": " "}, "the prompt is empty"),
        ("compare", {"prompt": "x", "stacks": [STACK], "preset": "toy"}, "a race has 2 to 4 stacks"),
        ("compare", {"prompt": "x", "stacks": [STACK] * 2, "preset": "toy"}, "is in the race twice"),
        ("plan", {"preset": "nothing"}, "nothing"),
        ("plan", {"max_block": 99}, "max_block"),
        ("plan", {"profile": {"levels": []}}, "missing field 'acceptance'"),
        ("calibration", {"preset": "toy"}, "there is no profile of toy here"),
        ("diagnose", {}, "paste what an engine printed"),
        ("diagnose", {"output": "hello"}, "text 1: no line in it mentions speculation"),
        ("load_trace", {}, "the name of a recording or a file"),
        ("load_trace", {"recording": "../01-code"}, "there is no recording"),
        ("load_trace", {"file": "{}"}, "header"),
        ("load_trace", {"file": "not base64"}, "damaged"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    client: gradio_client.Client, name: str, asked: Any, said: str
) -> None:
    with pytest.raises(gradio_client.exceptions.AppError, match=said):
        client.predict(**asked, api_name=f"/{name}")


def test_another_engines_speculation_is_diagnosed(client: gradio_client.Client) -> None:
    steps = {"num_spec_steps": 43, "num_spec_tokens": 3, "num_draft_tokens": 129, "num_accepted_draft_tokens": 10}
    spec = {**steps, "acceptance_histogram": [39, 1, 0, 3]}
    metrics = {"generation_time_ms": 653.6, "speculative_decoding": spec}
    reply = json.dumps({"usage": {"completion_tokens": 54}, "metrics": metrics})
    found = client.predict(reply, "", 12.0, api_name="/diagnose")
    assert (found["engine"], found["verdict"][:17]) == ("vllm", "Speculation loses")
    assert [round(share, 2) for share in found["acceptance_by_position"]] == [0.09, 0.75, 1.0]
    again = client.predict(json.dumps(found["runs"]), "", 12.0, api_name="/diagnose")
    assert again["curve"] == found["curve"]


def test_the_examples_run_word_for_word(address: str) -> None:
    assert SHELL and PYTHON
    here = "http://127.0.0.1:7860"
    shell, python = (example[1].replace(here, address) for example in (SHELL, PYTHON))
    assert here in SHELL[1] and here in PYTHON[1]
    said = subprocess.run(["bash", "-euo", "pipefail", "-c", shell], capture_output=True, text=True, check=True).stdout
    events = [part.partition("\ndata: ")[::2] for part in said.strip().split("\n\n")]
    assert {kind for kind, _ in events} == {"event: generating", "event: complete"}
    last = json.loads(events[-1][1])[0]
    assert last["done"] and last["totals"]["committed"] == 24
    texts = [json.loads(data)[0]["text"] for kind, data in events if kind == "event: generating"]
    assert all(last["text"].startswith(text) for text in texts)
    ran = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, check=True).stdout
    assert "tokens per pass of the target" in ran


def test_an_mcp_client_lists_and_calls_the_tools(address: str) -> None:
    async def spoken() -> dict[str, Any]:
        found: dict[str, Any] = {}
        async with at_tools(address) as session:
            found["names"] = {tool.name for tool in (await session.list_tools()).tools}
            calls = {
                "run": ("run_stack", ASKED),
                "plan": ("plan", {"max_block": 4}),
                "kind": ("run_stack", {**ASKED, "max_new_tokens": "many"}),
                "list": ("compare", {"prompt": "x", "stacks": [STACK, 3], "preset": "toy"}),
                "more": ("run_stack", {**ASKED, "words": 3}),
                "object": ("plan", {"profile": [1] * 99}),
                "file": ("plan", {"preset": {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}}),
                "lacks": ("run_stack", {"prompt": "x"}),
                "preset": ("run_stack", {**ASKED, "preset": "nothing"}),
                "name": ("plans", {}),
            }
            for key, (name, arguments) in calls.items():
                answer = await session.call_tool(name, arguments)
                found[key] = answer.isError, answer.content[0].text
        return found

    found = awaited(spoken())
    assert found["names"] == NAMES
    wrong, text = found["run"]
    assert not wrong and json.loads(text)["totals"]["committed"] == 24, text
    wrong, text = found["plan"]
    assert not wrong and "headline" in json.loads(text)
    listed = "; /gradio_api/info lists the parameters"
    assert found["kind"] == (True, f'max_new_tokens must be a whole number, not "many"{listed}')
    assert found["list"] == (True, f'stacks must be a list of texts, not ["{STACK}", 3]{listed}')
    assert found["more"][0] and "there is no parameter 'words'; the parameters are prompt, " in found["more"][1]
    assert found["object"][0] and "profile must be an object of fields, not [1, 1, 1" in found["object"][1]
    assert found["file"][0] and "does not accept paths on the server" in found["file"][1]
    assert found["lacks"] == (True, "the field stack is missing; send it")
    assert found["preset"][0] and "there is no preset 'nothing'" in found["preset"][1]
    assert found["name"][0] and "there is no tool 'plans'; the tools are calibration, compare" in found["name"][1]


@pytest.mark.parametrize("body", ["", "{", "[" * 5000, "[]", "7", '{"jsonrpc": "2.0"}', '{"jsonrpc": "2.0", "id": 1}'])
def test_what_is_no_message_of_mcp_is_refused(address: str, body: str) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    answer = httpx.post(f"{address}{API}/mcp/", content=body, headers=headers)
    assert 400 <= answer.status_code < 500 and "rror" in answer.text


@pytest.mark.parametrize("given", ["NaN", "1e999", "1.5", "true", "null", "[]", "{}", '"\\ud800"', "9" * 40])
def test_an_id_that_cannot_be_sent_back_is_refused_in_json(address: str, given: str) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    body = f'{{"jsonrpc": "2.0", "id": {given}, "method": "tools/call", "params": {{"name": "none"}}}}'
    answer = httpx.post(f"{address}{API}/mcp/", content=body, headers=headers)
    assert answer.status_code == 400

    def refused(constant: str) -> None:
        raise ValueError(constant)

    assert json.loads(answer.text, parse_constant=refused)["error"]["code"] == -32600


def test_what_clients_send_is_not_in_the_log(address: str, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    for message in (
        {"id": 1, "method": "tools/call", "params": {"name": ["a secret"], "arguments": "a secret"}},
        {"id": 1, "method": "a secret", "params": {}},
        {"method": "notifications/progress", "params": {"progressToken": "a secret", "progress": "a secret"}},
    ):
        httpx.post(f"{address}{API}/mcp/", json={"jsonrpc": "2.0", **message}, headers=headers)
    assert "an MCP message was not served" in caplog.text and "a secret" not in caplog.text


@pytest.mark.parametrize("path", ["mcp/sse", "mcp/messages", "mcp/http/x", "mcp/anything"])
def test_nothing_else_is_below_the_tools(address: str, path: str) -> None:
    for answer in (httpx.get(f"{address}{API}/{path}"), httpx.post(f"{address}{API}/{path}", json={})):
        assert answer.status_code == 404 and answer.json()["error"]


def test_without_the_option_there_are_no_tools(shipped: str) -> None:
    assert httpx.post(f"{shipped}{API}/mcp", json={}).status_code == 404


def test_the_option_says_how_to_get_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from app import options

    monkeypatch.setattr(options, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        options.parse(["--mcp"])
    assert "pip install -r app/requirements-mcp.txt" in capfd.readouterr().err
    assert (Path(__file__).parents[2] / "app" / "requirements-mcp.txt").is_file()
