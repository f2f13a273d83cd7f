"""What the page without a server is given of the Planner: the same answers as a server's, each for every look."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from app.kit.static import ASSETS
from app.site import planned_ahead
from app.site.planned_ahead import ahead, profiles, questions, stops
from app.site.seen_as import LOOKS, merged, packed
from app.site.written import LETTERS, written
from app.tabs.planner.desk import Desk
from app.tabs.planner.load_map import answer
from app.tabs.planner.profiles.plan_request import Look, read
from app.tabs.planner.profiles.sources import Sources
from hsd_core.typed import plain


def asked_of_node(script: str, given: object) -> Any:
    """What a script of ours makes of `given`, in node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node.js 20 or newer to test the page's model")
    code = f"import('node:fs').then(async (fs) => {{ const given = JSON.parse(fs.readFileSync(0, 'utf8')); {script} }})"
    done = subprocess.run(
        [node, "--input-type=module", "-e", code], input=json.dumps(given), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


SEEN = f"""
const {{ seenAs, lookOf }} = await import("{(ASSETS / "js/tabs/planner/ahead/plans-ahead.js").as_uri()}");
const {{ parts, value }} = given.packed;
const asked = given.name === undefined ? value : value[given.name];
const out = given.looks.map(([dark, width]) => seenAs(parts, asked, lookOf(dark, width)));
console.log(JSON.stringify(out));
"""


def test_looks_differ_only_where_they_do_and_what_stands_twice_is_written_once() -> None:
    values = [{"size": look.width, "dark": look.dark, "rows": [[1.5, 2.5, 3.5] * 4] * 2, "one": 1} for look in LOOKS]
    values[1]["more"] = "only here"
    out = packed([merged(values), merged(values)])
    assert len(out["parts"]) < 8 and json.dumps(out).count("3.5") <= 4 * len(LOOKS)
    same = [{"size": look.width, "rows": ["a", None, True]} for look in LOOKS]
    assert merged(same)["rows"] == ["a", None, True]
    looks = [list(look) for look in LOOKS]
    assert asked_of_node(SEEN, {"packed": packed(merged(values)), "looks": looks}) == values


def test_answers_made_ahead_are_those_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each control one question."""
    profile = profiles()["whatif:hispec 0"]
    every, names = [*questions(profile)], dict(questions(profile))
    asked = ("", "block=4", f"cost=2={profile['levels'][1]['name']}", f"without={profile['levels'][0]['name']}")
    assert len(names) == len(every) and {*asked} < names.keys()
    monkeypatch.setattr(planned_ahead, "questions", lambda _: [(name, names[name]) for name in asked])
    monkeypatch.setattr(planned_ahead, "EVERY", len(planned_ahead.AGREEMENTS) // 2)
    made, looks = ahead(profile), [list(look) for look in LOOKS]
    assert len(made.plans["value"]) == len(asked)
    desk = Desk(Sources(ASSETS / "profiles", list))
    for name in asked:
        question = json.dumps({"profile": profile, **names[name]})
        served = [plain(desk.work(question, Look(*look))) for look in LOOKS]
        assert asked_of_node(SEEN, {"packed": made.plans, "looks": looks, "name": name}) == served
    assert made.curves[0]["at"] == made.curves[0]["agreement"]
    assert made.brought["load"] == answer(read(profile)) and made.brought["load"]["rows"][-1]["load"] == 256


def test_a_slider_stops_at_the_profiles_own_number_and_asks_nothing_too_large() -> None:
    for profile in profiles().values():
        own = stops(profile)
        assert profile["max_block"] in own["max_block"] and {1} <= set(own["cost"]) & set(own["rejections"])
        assert max(own["max_block"]) * len(profile["levels"]) <= 192


@pytest.mark.parametrize("size", [0, 1, 2, 13, 1000, 4001])
def test_letters_keep_every_byte(size: int) -> None:
    data = bytes((7 * n * n + n) % 256 for n in range(size))
    text = written(data)
    assert set(text) <= set(LETTERS) and len(text) <= 1.24 * size + 2
    loader = (ASSETS / "js/site/loader.js").read_text(encoding="utf-8")
    reader = loader[loader.index("function read(") : loader.index("  /** @param {string} path @returns {Promise<Uint8")]
    out = asked_of_node(f"{reader} console.log(JSON.stringify([...read(given.text, {size})]))", {"text": text.decode()})
    assert out == list(data)
