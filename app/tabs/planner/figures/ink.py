"""What the Planner's figures share: names and hues of levels, sizes of type, plotly's layout.

A figure is `{"title", "text", "figure": {"data", "layout"} or None, "table": {"columns", "rows"}}`, plain JSON types:
built here, drawn in the browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from app.kit.figures.hues import INK, LINE, MARK, MUTED, PAPER, SOFT, hue, shaded
from app.tabs.planner.profiles.turn import kind_of
from hsd_core.grammar import LevelSpec, StackError
from hsd_core.grammar.stack_names import full_level_name, level_name
from hsd_core.grammar.stack_text import parse
from hsd_core.theory.profiles.profile import Profile

NARROW, WALL = 700, 1800  # px of the page, as in planner.css


@dataclass(frozen=True, slots=True)
class Ink:
    """The page that a figure is drawn for."""

    dark: bool
    width: int = 1440

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    def px(self, size: float) -> float:
        """A size of type or height, larger where the page is thrown on a wall."""
        return round(size * 1.4) if self.width >= WALL else size

    @property
    def text(self) -> str:
        return INK[self.dark]

    @property
    def muted(self) -> str:
        return MUTED[self.dark]

    @property
    def paper(self) -> str:
        return PAPER[self.dark]

    @property
    def soft(self) -> str:
        return SOFT[self.dark]

    @property
    def mark(self) -> str:
        return MARK[self.dark]

    def hue(self, kind: str) -> str:
        return hue(kind, self.dark)

    def level(self, profile: Profile, index: int) -> str:
        """The hue of a level, its kind's shades in order, as the page's own tables have them."""
        return shaded([kind_of(profile, i) for i in range(len(profile.levels))], index, self.dark)

    def layout(self, height: int, **more: Any) -> dict[str, Any]:
        """What all figures share."""
        axis = {"gridcolor": LINE[self.dark], "linecolor": LINE[self.dark], "zeroline": False, "automargin": True}
        return {
            "height": self.px(height),
            "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": self.text, "size": self.px(12), "family": "system-ui, sans-serif"},
            "hoverlabel": {"bgcolor": INK[not self.dark], "font": {"color": self.text}, "bordercolor": self.muted},
            "showlegend": False,
            "dragmode": False,
            **more,
            "xaxis": {**axis, "fixedrange": True, **more.get("xaxis", {})},
            "yaxis": {**axis, "fixedrange": True, **more.get("yaxis", {})},
        }


def safe(text: str) -> str:
    """Plotly reads a small HTML in its labels, and a profile may come from anyone."""
    return text.replace("<", "‹").replace(">", "›").replace("&", "＆")


def brief(text: str, width: int) -> str:
    """A label of at most so many characters."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def wrapped(text: str, width: int) -> str:
    """A label in lines of about so many characters."""
    return "<br>".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent."""
    return f"{100 * share:.{digits}f} %"


def called(profile: Profile) -> list[str]:
    """What the levels of a profile are called: as everywhere; with all that tells them apart where several would have
    one name, and by their own names where nothing says what they are."""
    last = len(profile.levels) - 1
    texts = [
        level.spec if i == last or not level.spec else f"{level.spec},target" for i, level in enumerate(profile.levels)
    ]
    specs = [_spec(text) for text in texts]
    names = [own if spec is None else level_name(spec) for spec, own in zip(specs, profile.names, strict=True)]
    return [
        name if spec is None or names.count(name) == 1 else full_level_name(spec)
        for name, spec in zip(names, specs, strict=True)
    ]


def _spec(text: str) -> LevelSpec | None:
    try:
        return parse(text)[0]
    except StackError:  # a file's own words
        return None
