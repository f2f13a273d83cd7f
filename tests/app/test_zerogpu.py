"""The engine on a pretended ZeroGPU: forked workers, plain data, an end that a worker hears of, a quota used up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.app.pretend_zerogpu import lending, token_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, as ZeroGPU does")
ROOT = Path(__file__).parents[2]

# In a process of its own, from which workers are forked: it runs no model and so has no threads of one.
PAGE = """
import asyncio, json, multiprocessing, os, signal, sys, time
from contextlib import aclosing
import gradio as gr
from gradio.context import LocalContext
from app.serve.engines.choice import engine_for
from app.serve.engines.zerogpu import PLACES
from app.serve.line.known_runs import Run
from app.serve.engine import RUN
from app.serve.offer import ServerOffer
from app.serve.settings import RunRequest
from hsd_core.pipeline import Pipeline

STACK = "table:3@id=order1,table:5@id=order3,table@id=order6"
TOKENS = json.loads(sys.argv[1])

class Headers(dict):
    pass

class Asked:
    def __init__(self, visitor):
        self.headers = Headers({"x-ip-token": TOKENS[visitor], "x-gradio-user": "app"})

async def told(engine, name, stop=False, leave=False, tokens=40, act=None):
    LocalContext.request.set(Asked(name))
    request = RunRequest(name * 32, "The tower of levels", STACK, "toy", max_new_tokens=tokens, baseline=False)
    run, said = Run(request.run), []
    async with aclosing(engine.work(RUN, request, run)) as payloads:
        async for item in payloads:
            said.append(item)
            if stop and item["ev"]:
                run.stop()
            if leave and item["ev"]:
                break
            if act and any(record["event"] == "commit" for record in item["ev"]):
                act()
    commits = [record for item in said for record in item["ev"] if record["event"] == "commit"]
    return {"mode": run.state["mode"], "text": run.state["text"], "final": said[-1]["final"],
            "ids": [one["id"] for record in commits for one in record["tokens"]], "free": len(engine._free)}

def main():
    engine, found = engine_for("zerogpu", Pipeline, ServerOffer(device="cpu")), {}
    async def all_of_it():
        found["first"], found["beside"] = await asyncio.gather(
            asyncio.create_task(told(engine, "a")), asyncio.create_task(told(engine, "b")))
        found["stopped"] = await told(engine, "c", stop=True, tokens=512)
        found["left"] = await told(engine, "c", leave=True, tokens=512)
        found["refused"] = await told(engine, "d")
        killed = lambda: [os.kill(child.pid, signal.SIGKILL) for child in multiprocessing.active_children()]
        found["killed"] = await told(engine, "e", tokens=512, act=killed)
        found["after"] = await told(engine, "f")
    asyncio.run(all_of_it())
    found["workers"] = len(multiprocessing.active_children())
    engine.close(1.0)
    time.sleep(0.5)
    found["places"], found["left"]["workers"] = PLACES, len(multiprocessing.active_children())
    print(json.dumps(found))

main()
"""


@pytest.mark.everything
def test_runs_of_a_pretended_zerogpu(tmp_path: Path) -> None:
    pytest.importorskip("spaces")
    (tmp_path / "page.py").write_text(PAGE, encoding="utf-8")
    tokens = {name: token_of(name) for name in "abcdef"}
    command = [sys.executable, ROOT / "tests" / "app" / "pretend_zerogpu.py", tmp_path / "page.py", json.dumps(tokens)]
    with lending() as (lender, variables):
        lender.used_up.add(tokens["d"])
        ended = subprocess.run(
            command, env={**os.environ, **variables}, capture_output=True, text=True, cwd=ROOT, check=False, timeout=200
        )
    assert ended.returncode == 0, ended.stderr[-2000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    plain = _plain()
    for name in ("first", "beside", "after"):
        assert found[name]["mode"] == "live" and found[name]["ids"] == plain, name
    assert found["stopped"]["final"] and found["stopped"]["text"] == "stopped"
    assert found["refused"]["mode"] == "error"
    asks = "this run asks for 13 s of your ZeroGPU quota, which has 2 s left; ask again in 10 min"
    assert found["refused"]["text"].startswith(f"no graphics card for this run: {asks}; "), found["refused"]["text"]
    assert found["killed"]["mode"] == "error"
    assert found["killed"]["text"] == "the graphics card was taken from this run: GPU task aborted"
    assert found["workers"] and not found["left"]["workers"], "none outlives the page"
    assert found["killed"]["ids"], "what it had written is kept"
    assert all(found[name]["free"] == found["places"] for name in ("left", "after", "refused"))
    asked = [(one.get("token"), int(one["durationSeconds"])) for one in lender.asked]
    assert [token for token, _ in asked[:2]] in ([tokens["a"], tokens["b"]], [tokens["b"], tokens["a"]])
    assert [token for token, _ in asked[2:]] == [tokens[name] for name in "ccdef"], "each visitor's own quota"
    assert asked[0][1] < asked[2][1] < 60, "little is asked for, by the length of the run"
    assert not lender.lent, "every card came back"


def _asked(job: str, request: Any) -> bytes:
    from app.serve.engines.messages import Begin, pack

    return pack(Begin(request.run, job, msgspec.Raw(msgspec.msgpack.encode(request))))


def test_little_is_asked_of_a_visitors_quota() -> None:
    from app.engine_process import works
    from app.serve.engines.zerogpu import MOST_S, seconds
    from app.serve.settings import RunRequest
    from app.tabs.results.quick import QuickRequest

    def asks(tokens: int) -> int:
        request = RunRequest("a" * 32, "The", "target", "smollm2", max_new_tokens=tokens)
        return seconds(works()[1], _asked("run", request))

    assert 0 < asks(16) < asks(128) < asks(512) <= MOST_S
    quick = QuickRequest("a" * 32, "smollm2", {"ngram:2,target": "ngram:2,target"})
    assert asks(512) < seconds(works()[1], _asked("quick", quick)) <= MOST_S, "twelve prompts take their time"


@pytest.mark.parametrize(
    ("wait", "left", "said"),
    [("0:10:00", 2, "; ask again in 10 min"), ("1 day, 2:03:04", 40, "fewer tokens, or again in 26 h 4 min")],
)
def test_a_quota_that_is_used_up_is_said_with_what_is_left_and_until_when(wait: str, left: int, said: str) -> None:
    from app.serve.engines.zerogpu import _said

    spaces = f"You have exceeded your free ZeroGPU quota (60s requested vs. {left}s left). Try again in {wait}. "
    found = _said(ValueError(spaces))
    assert found.startswith(f"this run asks for 60 s of your ZeroGPU quota, which has {left} s left")
    assert found.endswith(said)
    assert _said(ValueError("<b>No GPU</b> was available.")) == "No GPU was available"


@pytest.mark.parametrize(("back_s", "over"), [(1.0, False), (1e6, True)])
def test_a_run_ends_by_itself_before_its_time_on_the_card_is_over(
    back_s: float, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.engine_process import works
    from app.serve.engines import zerogpu
    from app.serve.engines.messages import VERSION, Hello, Sent, from_engine, pack
    from app.serve.settings import RunRequest

    monkeypatch.setattr(zerogpu, "BACK_S", back_s)
    request = RunRequest("a" * 32, "The tower", "table@id=order6", "toy", max_new_tokens=16, baseline=False)
    told = [from_engine(one) for one in zerogpu.lent(*works(), pack(Hello(VERSION)), _asked("run", request), 0)]
    last = [one for one in told if isinstance(one, Sent)][-1]
    assert last.final and ("the time on the card" in last.state["text"]) == over


def _plain() -> list[int]:
    from hsd_core.core.events import Commit
    from hsd_core.pipeline import Pipeline

    run = Pipeline.open("toy").run("table@id=order6", "The tower of levels", max_new_tokens=40, baseline=False)
    return [one.id for event in run if isinstance(event, Commit) for one in event.tokens]
