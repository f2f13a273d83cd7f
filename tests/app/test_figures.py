"""One figure has one value on every screen: those that the page states, by what they are of, are compared."""

from __future__ import annotations

import re
from typing import Any

from lessonkit import looked_up
from pagekit import drawn

# What the screens have stated since the page was loaded, by what it is of: assets/js/levels/stated.js.
STATED = "() => Object.fromEntries([...hxStated].map(([of, texts]) => [of, [...texts]]))"
SCREENS = (  # an address, and what is there when its figures are
    ("?recording=00-vowels&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=01-code&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=09-four-levels&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=05-maths&panel=time+prediction+controls", ".hx-headline-value:has-text('×')"),
    ("?tab=planner&data=plans", ".hx-plan-depths tbody tr:nth-child(3)"),
    ("?tab=results", ".hx-res-bars"),
    ("?tab=race&compare=01-code,09-four-levels", ".hx-race-gain"),
)


def test_no_figure_has_two_values(page: Any, shipped: str) -> None:
    """The lessons, Explore, its menu, Race, the Planner, the tower and Results speak of the same runs and stacks."""
    found = {of: set(texts) for of, texts in looked_up()["stated"].items()}
    page.set_default_timeout(60_000)
    for query, there in SCREENS:
        page.goto(f"{shipped}/{query}")
        page.locator(there).first.wait_for(state="attached")
        if "recording" in query:
            page.wait_for_selector(".hx-flow .hx-tok")
            page.get_by_role("button", name="To the end").click()
        drawn(page)
        for of, texts in page.evaluate(STATED).items():
            found.setdefault(of, set()).update(texts)
    assert {of: texts for of, texts in found.items() if len(texts) > 1} == {}
    assert len(found) > 100, "every screen has stated its figures"
    for what in ("speed_up", "tokens_per_s", "per_forward", "ms_per_token"):
        assert any(of.startswith(f"{what}|run|Write code|") for of in found), what
    assert any(re.match(r"speed_up.*\|theory\|", of) for of in found)
    assert any(of.startswith("speed_up|bench|smollm2|") for of in found)
