"""Odd addresses, and odd questions to the page's own routes: none is a fault of the server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from test_asked import ASKED, post

from app.serve.door.guard import API


@pytest.fixture(scope="module")
def served(shipped: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shipped, timeout=60) as client:
        yield client


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert "Traceback" not in "".join(capfd.readouterr()) + caplog.text


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/?deep_link=x",
            "/config?deep_link=../../x",
            "/config?page=nothing",
            f"{API}/info?page=x&all_endpoints=true",
        ),
        *(
            f"/assets/{'x' * 3000}",
            "/assets/%00",
            "/static/..%2f..%2fetc/passwd",
            "/svelte/%2e%2e/x",
            f"{API}/run/predict",
        ),
        *("/hx/recordings/%00", f"/hx/races/{'x' * 3000}", "/hx/planner/origin?preset=toy&temperature=nan"),
        *("/hx/planner/origin?preset=smollm2&temperature=1e400", "/hx/0123456789abcdef/%00"),
        *("/hx/planner/faults", "/hx/planner/faults?stack=%00,@,target", f"/hx/planner/faults?stack={'x' * 3000}"),
    ],
)
def test_no_address_is_a_fault(served: httpx.Client, path: str) -> None:
    assert served.get(path).status_code < 500


def test_what_speaks_against_a_stack_is_said_of_its_levels(served: httpx.Client) -> None:
    answer = served.get("/hx/planner/faults", params={"stack": "exit:2@at=8,exit:4@at=4,ngram:2"}).json()
    assert [(fault["level"], fault["reason"][:9]) for fault in answer["faults"]] == [(1, "exit at 4"), (2, "the last ")]
    assert served.get("/hx/planner/faults", params={"stack": "ngram:2,target"}).json() == {"faults": []}
    assert served.get("/hx/planner/faults", params={"stack": "target," * 100}).status_code == 422


@pytest.mark.parametrize("path", ["/hx/planner/answer", "/hx/planner/price", "/hx/qr"])
def test_no_question_to_the_page_s_own_routes_is_a_fault(served: httpx.Client, path: str) -> None:
    for body in ("", "{", "[" * 100_000, *(x for x in ASKED if not isinstance(x, str))):
        answer = post(served, path, body)
        assert 400 <= answer.status_code < 500 and len(answer.json()["error"]) > 10, (body, answer.text)
