"""The text is drawn with its own spaces and columns, whatever stands beside its tokens, and is copied without that."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from test_first_screen import DESK, PHONE, PROJECTOR, seek, visit

from app.kit.static import ASSETS
from hsd_core.core.events import Piece
from hsd_core.trace import file
from hsd_core.trace.metrics import committed_ids

# How far each token begins behind the one before it, on one line and with no ghost between, less what the same letters
# take in a line of plain text.
EXCESS = """
() => {
  const flow = document.querySelector(".hx-flow");
  const plain = flow.appendChild(document.createElement("span"));
  plain.style.cssText = "position: absolute; white-space: pre; visibility: hidden";
  const wide = (text, line) => {
    const {fontFamily, fontSize} = getComputedStyle(line);
    Object.assign(plain.style, {fontFamily, fontSize});
    return (plain.textContent = text), plain.getBoundingClientRect().width;
  };
  const body = (cell) => cell.childNodes[1].getClientRects()[0];
  const found = [];
  for (const cell of flow.querySelectorAll(".hx-cell")) {
    const next = cell.nextSibling;
    const texts = [...cell.childNodes].map((x) => x.textContent);
    const special = [cell, next].some((x) => x?.querySelector?.("[data-special], [data-partial], [data-glyph]"));
    if (special || !next?.matches?.(".hx-cell") || cell.querySelector(".hx-ghosts")) continue;
    const [a, b] = [body(cell), body(next)];
    if (!a || !b || Math.abs(a.top - b.top) > 4) continue;
    const text = texts[1] + texts[2] + next.childNodes[0].textContent;
    found.push([b.left - a.left - wide(text, cell), text]);
  }
  plain.remove();
  return found;
}
"""

# Where the first letter of each line of the text stands, by its token, and where its indentation alone would put it.
COLUMNS = """
() => {
  const flow = document.querySelector(".hx-flow");
  const plain = flow.appendChild(document.createElement("span"));
  plain.style.cssText = "position: absolute; white-space: pre; visibility: hidden";
  const wide = (text, line) => {
    const {fontFamily, fontSize} = getComputedStyle(line);
    Object.assign(plain.style, {fontFamily, fontSize});
    return (plain.textContent = text), plain.getBoundingClientRect().width;
  };
  const style = getComputedStyle(flow);
  const edge = flow.getBoundingClientRect().left + parseFloat(style.paddingLeft);
  const found = [];
  let indent = "";
  for (const cell of flow.querySelectorAll(".hx-cell")) {
    const token = cell.childNodes[1];
    const [before, text, after] = [cell.firstChild.data, token.textContent, cell.lastChild.data];
    for (const space of [before, text.trim() ? "" : text])
      indent = space.includes("\\n") ? space.split("\\n").at(-1) : indent === null ? null : indent + space;
    if (text.trim() && !token.matches("[data-special]")) {
      if (indent !== null) found.push([token.getClientRects()[0].left - edge, wide(indent, cell), text]);
      indent = null;
    }
    if (after.includes("\\n")) indent = after.split("\\n").at(-1);
    else if (indent !== null) indent += after;
  }
  plain.remove();
  return found;
}
"""

# Of each line of code: how far its tokens stand from where the text before them puts them, up to where it wraps; and
# how many drafts were rejected within it.
CODE = """
() => {
  const flow = document.querySelector(".hx-flow");
  const plain = flow.appendChild(document.createElement("span"));
  plain.style.cssText = "position: absolute; white-space: pre; visibility: hidden";
  const found = [];
  for (const line of flow.querySelectorAll(".hx-code")) {
    const {fontFamily, fontSize} = getComputedStyle(line);
    Object.assign(plain.style, {fontFamily, fontSize});
    const edge = line.getBoundingClientRect().left + parseFloat(getComputedStyle(line).paddingLeft);
    let text = "", top = null;
    for (const cell of line.querySelectorAll(":scope > .hx-cell")) {
      const token = cell.childNodes[1], box = token.getClientRects()[0];
      plain.textContent = text + cell.firstChild.data;
      if (box && token.textContent.trim()) {
        top ??= box.top;
        if (Math.abs(box.top - top) > 4) break;
        found.push([box.left - edge - plain.getBoundingClientRect().width, token.textContent]);
      }
      text += cell.firstChild.data + token.textContent + (token.dataset.glyph ? "" : cell.lastChild.data);
    }
  }
  plain.remove();
  const fonts = [...new Set([...flow.querySelectorAll(".hx-code")].map((line) => getComputedStyle(line).fontFamily))];
  return {found, fonts, within: flow.querySelectorAll(".hx-code > .hx-ghosts:not(:last-child)").length};
}
"""

COPIED = """
() => {
  getSelection().selectAllChildren(document.querySelector(".hx-flow"));
  const event = new ClipboardEvent("copy", {clipboardData: new DataTransfer(), bubbles: true, cancelable: true});
  document.querySelector(".hx-tok").dispatchEvent(event);
  getSelection().removeAllRanges();
  return event.clipboardData.getData("text/plain");
}
"""


def test_tokens_stand_as_far_apart_as_in_plain_text_and_are_copied_as_such(page: Any, shipped: str) -> None:
    visit(page, shipped, "01-code")
    seek(page, 1)
    _far_apart(page)
    _copied(page, "01-code")


@pytest.mark.everything
@pytest.mark.parametrize("size", [PHONE, PROJECTOR])
def test_tokens_stand_as_far_apart_elsewhere(page: Any, shipped: str, size: tuple[int, int]) -> None:
    visit(page, shipped, "01-code", size)
    seek(page, 1)
    _far_apart(page)


def _far_apart(page: Any) -> None:
    found = page.evaluate(EXCESS)
    assert len(found) > 40 and any("(" in text for _, text in found)
    assert [(text, by) for by, text in found if abs(by) > 1] == []


@pytest.mark.parametrize(("recording", "above"), [("01-code", 0), ("12-hispec", 1)])
@pytest.mark.everything
def test_ghosts_move_no_line_out_of_its_column(page: Any, shipped: str, recording: str, above: int) -> None:
    visit(page, shipped, recording)
    lines = 0
    for share in (0.2, 0.3, 0.5, 0.7, 0.85, 1):
        seek(page, share)
        found = page.evaluate(COLUMNS)
        lines = max(lines, len(found))
        assert [(text, at) for at, column, text in found if abs(at - column) > 1] == []
    assert lines > (8 if not above else 0)
    assert page.locator(".hx-cell > .hx-ghosts").count() > 2 or above, "some were rejected at the beginning of a line"
    assert page.locator(".hx-above-line").count() == above
    order = "(x) => x.previousSibling.getBoundingClientRect().right <= x.getBoundingClientRect().left + 3"
    assert all(one.evaluate(order) for one in page.locator(".hx-cell > .hx-ghosts").all()), "behind the line before"


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.everything
def test_code_is_painted_as_it_is_written_whatever_was_rejected_in_it(
    page: Any, shipped: str, size: tuple[int, int]
) -> None:
    visit(page, shipped, "01-code", size)
    tokens, within = 0, 0
    for share in (0.4, 0.55, 0.7, 0.85, 1):  # a phone shows few lines at a time
        seek(page, share)
        said = page.evaluate(CODE)
        tokens, within = tokens + len(said["found"]), within + said["within"]
        assert "mono" in said["fonts"][0] and len(said["fonts"]) == 1
        assert [(text, by) for by, text in said["found"] if abs(by) > 1] == []
    assert tokens > (30 if size == DESK else 8) and within > 0, "drafts were rejected within lines"


@pytest.mark.everything
def test_words_are_not_set_as_code_and_copied_as_the_text_alone(page: Any, shipped: str) -> None:
    visit(page, shipped, "12-hispec")
    seek(page, 1)
    assert page.locator(".hx-tok").count() > 20 and page.locator(".hx-code").count() == 0
    _copied(page, "12-hispec")


def _copied(page: Any, recording: str) -> None:
    events = file.read(ASSETS / f"traces/{recording}.jsonl.gz")
    bytes_of = {e.id: b"" if e.special else base64.b64decode(e.b64) for e in events if isinstance(e, Piece)}
    assert page.locator(".hx-flow .hx-ghosts").count()
    assert page.evaluate(COPIED) == b"".join(bytes_of[i] for i in committed_ids(events)).decode()
