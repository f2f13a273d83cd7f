"""Every state of the page that a visitor opens, and how: driven by the pictures (`tests/measuring/screenshots.py`) and
by the checks for everyone (`test_everyone.py`).

A state is an address and a few steps; it is made on a page of any size, light or dark. `made` is called with reduced
motion, so that replays show their end at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SIZES = {"desktop": (1440, 900), "laptop": (1280, 720), "phone": (390, 844), "projector": (1920, 1080)}

OPEN = "panel=time+prediction+stack+controls+details"  # all that lies one press behind the first screen

Steps = Callable[[Any], object]


@dataclass(frozen=True)
class State:
    """`query`: of the address. `ready`: in sight once the tab has drawn. `steps`: from there to the state."""

    name: str
    query: str
    ready: str
    steps: Steps

    @property
    def tall(self) -> bool:
        """Whether it goes on below the window's edge as a page to be read; the first screen's figures do not count."""
        return self.name.startswith(("race", "planner", "results", "atlas")) or self.name in (
            "learn",
            "learn-sheet",
            "learn-class",
        )


def made(page: Any, site: str, state: State) -> None:
    """Opens the state on the page, drawn and at rest."""
    page.emulate_media(reduced_motion="reduce")
    as_it_is = "panel=" in state.query or "story=" in state.query
    page.goto(f"{site}/?{state.query}" if as_it_is else f"{site}/?{state.query}&{OPEN}")
    page.locator(state.ready).first.wait_for()
    page.locator("#hx-first").wait_for(state="detached")
    state.steps(page)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _nothing(page: Any) -> None:
    """The address alone opens it."""


def _pressed(name: str, then: str, *, tab: str = "") -> Steps:
    """Press the button of this name; `then` is what it shows."""

    def steps(page: Any) -> None:
        page.locator(tab or "body").get_by_role("button", name=name, exact=True).first.click()
        page.locator(then).first.wait_for()

    return steps


def _opened(*names: str) -> Steps:
    """Open what stands one step behind; its chart is waited for."""

    def steps(page: Any) -> None:
        for name in names:
            page.locator(f".hx-more[data-more={name}] > summary").click()
        page.locator(".hx-more[open] .hx-plot").first.scroll_into_view_if_needed()
        page.locator(".hx-more[open] .hx-plot .main-svg").first.wait_for()

    return steps


def _in_sight(selector: str, drawn: str) -> Steps:
    """Scroll there; what is only drawn when somebody looks is waited for."""

    def steps(page: Any) -> None:
        page.locator(selector).first.scroll_into_view_if_needed()
        page.locator(drawn).first.wait_for()

    return steps


def _card(page: Any) -> None:
    page.locator(".hx-flow .hx-tok").nth(24).evaluate("(x) => x.click()")  # wherever the pointer's card lies
    page.locator(".hx-card.hx-pinned").wait_for()


def _ghost_card(page: Any) -> None:
    page.locator(".hx-ghost").last.evaluate("(x) => x.click()")
    page.locator(".hx-card.hx-pinned").wait_for()


def _definition(page: Any) -> None:
    page.locator(".hx-headline .hx-term").click()
    page.locator(".hx-definition").wait_for()


def _code(page: Any) -> None:
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("textbox", name="The whole run").wait_for()
    page.get_by_role("button", name="Code: This moment").click()
    page.get_by_role("dialog", name="QR code: This moment").wait_for()


def _add_level(page: Any) -> None:
    page.get_by_text("add a level").click()
    page.locator(".hx-add .hx-item").first.wait_for()


def _floor(page: Any) -> None:
    page.get_by_role("button", name="rule, policy and order").last.click()


def _picture(page: Any) -> None:
    page.get_by_role("button", name="save as a picture: lanes", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator(".hx-picture-menu:visible").wait_for()


def _stale(page: Any) -> None:
    page.get_by_role("button", name="one more").first.click()
    page.locator(".hx-stale").first.wait_for()


def _draws(page: Any) -> None:
    page.get_by_role("button", name="Draw 1,000 times").click()
    page.get_by_text("1,000 draws").first.wait_for()


def _whole(page: Any) -> None:
    page.get_by_role("checkbox", name="whole text").check()


def _answered(page: Any) -> None:
    page.get_by_label("3: both guesses").check()
    page.get_by_role("button", name="That is my answer").click()
    page.locator(".hx-reveal").wait_for()


def _sheet(page: Any) -> None:
    page.get_by_role("button", name="Printable sheet").click()
    page.locator(".hx-paper-answers").wait_for()


def _race_tokens(page: Any) -> None:
    page.locator(".hx-race-column .hx-tok").nth(12).evaluate("(x) => x.click()")
    page.locator(".hx-race-chosen:not(:empty)").wait_for()


def _diagnosed(page: Any) -> None:
    page.get_by_role("button", name="transformers: 81 % accepted").click()
    page.locator(".hx-doc-card").wait_for()


def _wrong_number(page: Any) -> None:
    page.locator("input.hx-plan-cell, .hx-planner td input").first.fill("-7")
    page.locator(".hx-plan-fault:visible").first.wait_for()


def _onwards(times: int) -> Steps:
    """Press on in the story; `times` moments."""

    def steps(page: Any) -> None:
        for _ in range(times):
            page.keyboard.press("ArrowRight")

    return steps


_STORY = ".hx-story-says:not(:empty)"
_TEXT = ".hx-flow .hx-tok"
_PLAY = "recording=01-code"
_RACE = ".hx-race-row"
_PLAN = ".hx-al-answer:not(:empty)"
_EXPERTS = ".hx-planner .hx-plan-headline:not(:empty)"
_LESSON = ".hx-lesson[aria-busy=false] .hx-step-title"
_RESULTS = ".hx-res-bars"

STATES = (
    State("story", "story=1", _STORY, _onwards(3)),
    State("story-round", "story=1", _STORY, _onwards(7)),
    State("story-alone", "story=1&scene=2", _STORY, _onwards(5)),
    State("story-run", "story=1&scene=3", _STORY, _onwards(1)),
    State("play", _PLAY, _TEXT, _nothing),
    State("play-first-visit", "explore=1&panel=", _TEXT, _nothing),
    State("play-definition", f"{_PLAY}&panel=", _TEXT, _definition),
    State("play-time", f"{_PLAY}&panel=time", _TEXT, _nothing),
    State("play-sampled", "recording=06-chat-sampled", _TEXT, _nothing),
    State("play-four-levels", "recording=09-four-levels", _TEXT, _nothing),
    State("play-card", _PLAY, _TEXT, _card),
    State("play-ghost-card", _PLAY, _TEXT, _ghost_card),
    State("play-help", _PLAY, _TEXT, _pressed("help: how to read this page", ".hx-help")),
    State("play-recordings", _PLAY, _TEXT, _pressed("Recordings", ".hx-shelf")),
    State("play-examples", _PLAY, _TEXT, _pressed("Examples", ".hx-menu:visible")),
    State("play-settings", _PLAY, _TEXT, _pressed("settings", ".hx-settings")),
    State("play-share", _PLAY, _TEXT, _pressed("Share", ".hx-share")),
    State("play-code", f"{_PLAY}&at=6.4", _TEXT, _code),
    State("play-picture", _PLAY, _TEXT, _picture),
    State("play-add-level", _PLAY, _TEXT, _add_level),
    State("play-floor", _PLAY, _TEXT, _floor),
    State("play-other-stack", _PLAY, _TEXT, _stale),
    State("play-whole-text", _PLAY, _TEXT, _whole),
    State("play-databases", "recording=02-repeat&at=3&databases=1", ".hx-db-shares td", _nothing),
    State("play-databases-window", "recording=24-databases-and-window&databases=1", ".hx-db-shares td", _nothing),
    State("play-tree", "recording=21-exit-tree&at=4", _TEXT, _nothing),
    State("play-anatomy", f"{_PLAY}&anatomy=1", ".hx-an-act", _nothing),
    State("play-anatomy-sampled", "recording=06-chat-sampled&at=1.8&anatomy=1", ".hx-an-act", _nothing),
    State("play-anatomy-exits", "recording=12-hispec&anatomy=1", ".hx-an-act", _nothing),
    State("play-anatomy-tree", "recording=26-tree-sampled&at=2.2&anatomy=1", ".hx-an-act", _nothing),
    State("play-proof", f"{_PLAY}&proof=1", ".hx-proof", _nothing),
    State("play-proof-drawn", "recording=06-chat-sampled&proof=1", ".hx-proof", _draws),
    State("play-presenter", f"{_PLAY}&present=1", _TEXT, _nothing),
    State("play-presenter-anatomy", f"{_PLAY}&present=1&at=6&anatomy=1", ".hx-an-act", _nothing),
    State("play-embed", f"{_PLAY}&at=6.4&embed=1", _TEXT, _nothing),
    State("play-error", "recording=nope", ".hx-note[data-kind=error]", _nothing),
    State("play-figures", _PLAY, _TEXT, _in_sight("#figures", ".js-plotly-plot .main-svg")),
    State("race", "tab=race", _RACE, _nothing),
    State("race-four", "tab=race&race=04-four-levels", _RACE, _nothing),
    State("race-presenter", "tab=race&present=1", _RACE, _nothing),
    State("race-token", "tab=race", _RACE, _race_tokens),
    State("race-own", "tab=race", _RACE, _pressed("Race your own stacks", ".hx-race-live")),
    State("race-compare", "tab=race&compare=01-code,09-four-levels", ".hx-race-differ", _nothing),
    State("race-load", "tab=race&load=8", ".hx-load", _nothing),
    State("race-error", "tab=race&race=nope", ".hx-note[data-kind=error]", _nothing),
    State("planner", "tab=planner", _PLAN, _nothing),
    State(
        "planner-plots",
        "tab=planner&data=plans,figures,validation,profile",
        _EXPERTS,
        _in_sight(".hx-plot-graph", ".hx-plot-graph .main-svg"),
    ),
    State("planner-lengths", "tab=planner&data=lengths", ".hx-tl[data-ready]", _nothing),
    State("planner-load", "tab=planner&requests=8", ".hx-load[data-ready=true]", _nothing),
    State("planner-doctor", "tab=planner&doctor=1", ".hx-doc-form", _diagnosed),
    State("planner-wrong-number", "tab=planner&data=whatif,tables", ".hx-plan-cell", _wrong_number),
    State("learn", "tab=learn", ".hx-lessons a", _nothing),
    State("learn-question", "tab=learn&lesson=2", _LESSON, _nothing),
    State("learn-answered", "tab=learn&lesson=2", _LESSON, _answered),
    State("learn-estimate", "tab=learn&lesson=2&step=2", _LESSON, _nothing),
    State("learn-figures", "tab=learn&lesson=5", _LESSON, _nothing),
    State("learn-try", "tab=learn&lesson=1&step=99", _LESSON, _nothing),
    State("learn-tree", "tab=learn&lesson=10", _LESSON, _nothing),
    State("learn-presenter", "tab=learn&lesson=5&present=1", _LESSON, _nothing),
    State("learn-touch", "tab=learn&lesson=7", ".hx-look", _nothing),
    State("learn-beside", "tab=learn&lesson=10&beside=1", _LESSON, _nothing),
    State("learn-class", "tab=learn&class=45", ".hx-class-plan h1", _nothing),
    State("learn-notes", "tab=learn&class=45&notes=1", ".hx-notes-now", _nothing),
    State("learn-sheet", "tab=learn", ".hx-lessons a", _sheet),
    State("results", "tab=results", _RESULTS, _nothing),
    State("atlas", "tab=atlas", ".hx-atlas-one", _nothing),
    State("atlas-system", "tab=atlas&system=hierarchy-drafting", ".hx-system", _nothing),
    State("results-behind", "tab=results", _RESULTS, _opened("tasks", "all", "origin", "here")),
)
