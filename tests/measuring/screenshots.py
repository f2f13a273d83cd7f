"""Pictures of every state of the page, to be looked at: no test.

    python -m tests.measuring.screenshots --out DIR [--only card,race] [--sizes desktop,phone]
        [--schemes dark] [--resume]

Each state of `tests/app/states.py` on a desktop (1440 px wide), a laptop (1280 x 720), a phone (390) and a projector
(1920), light and dark, each in a browser that has not seen the page before. DIR/index.html shows all that lie there
side by side, grouped by state; each small picture leads to the whole one.
"""

from __future__ import annotations

import argparse
import contextlib
from html import escape
from pathlib import Path

from playwright.sync_api import Browser, Error, Page

from tests.app.states import SIZES, STATES, State, made
from tests.measuring.serving import chromium, served

SCHEMES = ("light", "dark")
PLOTTED = """
[...document.querySelectorAll(".hx-plot")].every((plot) => !plot.checkVisibility() || plot.querySelector(".main-svg"))
"""
TALLEST = 9000  # px of a picture
STYLE = """
body { margin: 24px; background: #808488; color: #000; font: 15px/1.4 system-ui, sans-serif; }
section { margin-bottom: 32px; }
h2 { margin: 0 0 8px; font-size: 18px; }
div { display: flex; flex-wrap: wrap; gap: 12px; align-items: start; }
a { color: inherit; }
img { display: block; height: 220px; object-fit: cover; object-position: top; }
"""


def picture(browser: Browser, site: str, state: State, size: str, scheme: str, out: Path) -> str:
    """Takes one picture; why its state could not be made, or nothing."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page, failed = context.new_page(), ""
    try:
        made(page, site, state)
    except Error as error:  # its picture shows how far it came
        failed = f"{state.name} ({size}, {scheme}): {error.message.splitlines()[0]}"
    if state.tall:
        _whole(page, width)
    partial = out / f".{name(state, size, scheme)}"
    page.screenshot(path=partial, type="png", timeout=120_000)
    partial.rename(out / name(state, size, scheme))
    context.close()
    return failed


def _whole(page: Page, width: int) -> None:
    """Makes the window as high as what it shows, so that all that is drawn only in sight is drawn."""
    page.set_viewport_size({"width": width, "height": min(TALLEST, page.evaluate("document.body.scrollHeight"))})
    with contextlib.suppress(Error):  # a plot that is not drawn shows as what it is
        page.wait_for_function(PLOTTED)
    page.set_viewport_size({"width": width, "height": min(TALLEST, page.evaluate("document.body.scrollHeight"))})
    page.wait_for_timeout(300)


def name(state: State, size: str, scheme: str) -> str:
    return f"{state.name}_{size}_{scheme}.png"


def sheet(out: Path) -> str:
    """The contact sheet, as HTML. A small picture shows the top of its whole one, as a window of that size would."""
    sections = []
    for state in STATES:
        links = []
        for size, (width, height) in SIZES.items():
            for scheme in SCHEMES:
                file = name(state, size, scheme)
                if not (out / file).exists():
                    continue
                small = f'<img src="{file}" alt="" loading="lazy" style="width:{220 * width / height:.0f}px">'
                links.append(f'<a href="{file}">{small}{size}, {scheme}</a>')
        head = f"<h2>{state.name} <small>{escape(f'/?{state.query}')}</small></h2>"
        if links:
            sections.append(f'<section id="{state.name}">{head}<div>{"".join(links)}</div></section>')
    head = f'<meta charset="utf-8"><title>HSD Explorer</title><style>{STYLE}</style>'
    return f"<!doctype html>{head}{''.join(sections)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures and index.html")
    parser.add_argument("--only", default="", help="states whose names hold one of these, with commas between them")
    parser.add_argument("--sizes", default=",".join(SIZES), help=f"of {', '.join(SIZES)}")
    parser.add_argument("--schemes", default=",".join(SCHEMES), help="light, dark or both")
    parser.add_argument("--resume", action="store_true", help="leave the pictures that are there already")
    parser.add_argument("--url", default=None, help="a page that runs already (default: one is started)")
    options = parser.parse_args()
    states = [state for state in STATES if any(part in state.name for part in options.only.split(","))]
    if not states:
        parser.error(f"no state's name holds {options.only!r}; there are {', '.join(state.name for state in STATES)}")
    sizes, schemes = options.sizes.split(","), options.schemes.split(",")
    for given, known in ((sizes, SIZES), (schemes, SCHEMES)):
        for one in given:
            if one not in known:
                parser.error(f"there is no {one!r}; choose from {', '.join(known)}")
    options.out.mkdir(parents=True, exist_ok=True)
    wanted = [(state, size, scheme) for size in sizes for scheme in schemes for state in states]
    if options.resume:
        wanted = [one for one in wanted if not (options.out / name(*one)).exists()]
    failed = []
    with chromium() as browser, served(options.url) as site:
        for number, one in enumerate(wanted, 1):
            failed.append(picture(browser, site, *one, options.out))
            print(f"{number} of {len(wanted)}: {name(*one)}", failed[-1], flush=True)
    (options.out / "index.html").write_text(sheet(options.out), encoding="utf-8")
    print(options.out / "index.html")
    if any(failed):
        raise SystemExit("not made: " + "; ".join(filter(None, failed)))


if __name__ == "__main__":
    main()
