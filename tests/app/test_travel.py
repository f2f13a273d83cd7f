"""Travel: links to settings, to a moment and to a whole run; codes; dropped files; the run as one file; a frame."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import segno
from pagekit import HOSTILE, drawn, plain_run
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.kit.static import ASSETS
from app.serve.door.policy import OriginError, content_policy, origins
from app.tabs.explore.codes import CODE, LONGEST, code, code_route
from hsd_core.export.run_page import page as exported
from hsd_core.trace import file as tracefile

TRACE = ASSETS / "traces" / "01-code.jsonl.gz"
COPIED = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (x) => { window.copied = x; }}});"
DROP = """([name, base64, type]) => {
  const bytes = Uint8Array.from(atob(base64), (x) => x.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name));
  document.querySelector(".hx-lanes").dispatchEvent(
    new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
}"""


def opened(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".hx-flow .hx-tok")
    drawn(page)


def share(page: Any) -> Any:
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("textbox", name="The whole run").wait_for()
    assert page.locator(".hx-flow .hx-tok").first.is_visible(), "the text stays"
    return page.locator(".hx-share")


def copied(page: Any, what: str) -> str:
    page.get_by_role("button", name=f"Copy: {what}").click()
    page.get_by_text(f"Copied: {what.lower()}.").wait_for()
    return str(page.evaluate("copied"))


def text_of(page: Any) -> str:
    """Without the counts that Details show."""
    return re.sub(r"\+\d+", "", str(page.evaluate("document.querySelector('.hx-flow').innerText")))


@pytest.mark.everything
def test_a_link_to_a_moment_opens_it_at_rest_with_the_card_of_its_token(page: Any, shipped: str) -> None:
    page.add_init_script(COPIED)
    opened(page, f"{shipped}/?recording=01-code&at=6.4&token=20")
    page.locator(".hx-card").wait_for()
    assert page.get_by_role("button", name="Play", exact=True).is_visible()
    before = page.locator(".hx-transport-clock").inner_text()
    assert before.startswith("round 6")
    assert page.locator(".hx-card").get_by_text("20", exact=True).is_visible()
    share(page)  # the press closes the card, and the link names its token all the same
    link = copied(page, "This moment")
    assert link == f"{shipped}/?recording=01-code&at=6.4&token=20"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="One round forward").click()
    drawn(page)
    assert "at=" not in page.url and "token=" not in page.url  # it would name what is no longer shown


@pytest.mark.everything  # tests/js/moments.test.mjs finds the nearest
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("recording=01-code&at=900.2", "no moment 900.2; the nearest"),
        ("recording=01-code&at=2.1&token=9000", "no token 9000; the nearest"),
        ("recording=01-code&at=1.1&token=100", "Token 100 is not written yet"),
        ("recording=01-code&at=soon", "invalid: at=soon"),
        ("recording=77-code&at=6.4", "no recording \u201c77-code\u201d here; \u201cWrite code\u201d"),
    ],
)
def test_what_a_link_names_and_is_not_there_is_said(page: Any, shipped: str, asked: str, said: str) -> None:
    opened(page, f"{shipped}/?{asked}")
    page.locator(".hx-note").get_by_text(said).wait_for()


@pytest.mark.everything
def test_links_to_settings_and_to_a_whole_run_bring_both_back(page: Any, site: str, browser: Any) -> None:
    page.add_init_script(COPIED)
    opened(page, f"{site}/?recording=00-toy&seed=7&max_new_tokens=33")
    page.get_by_role("button", name="To the end").click()
    drawn(page)
    written = text_of(page)
    share(page)
    settings, whole = copied(page, "These settings"), copied(page, "The whole run")
    assert "seed=7" in settings and "max_new_tokens=33" in settings and "stack=" in settings
    assert "recording=" not in settings
    assert len(whole) < 32_000 and "#run=1." in whole
    other = browser.new_page()
    other.emulate_media(reduced_motion="reduce")  # shows the whole text at once
    opened(other, whole)
    assert text_of(other) == written
    other.reload()
    other.wait_for_selector(".hx-flow .hx-tok")
    assert text_of(other) == written and "#run=1." in other.url
    other.goto(settings)
    other.wait_for_selector(".hx-prompt")
    assert other.locator(".hx-prompt").input_value() == page.locator(".hx-prompt").input_value()
    cut = "#" + whole.split("#")[1][:-200]  # by a mail program
    for wrong, said in (
        ("#run=2.AAAA", "another version"),
        (cut, "damaged ("),
        ("#run=1.!!", "link may have been cut"),
    ):
        other.evaluate("(hash) => { location.hash = hash; }", wrong)
        other.locator(".hx-note").get_by_text(said).wait_for()
    other.close()


@pytest.mark.everything
def test_a_run_that_is_too_long_for_a_link_says_what_to_do_and_its_file_can_be_dropped(
    page: Any, shipped: str, tmp_path: Path
) -> None:
    opened(page, f"{shipped}/?recording=19-what-if")
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_text("Too long for a link").wait_for()
    assert "drop the file onto the page" in page.locator(".hx-share").inner_text()
    with page.expect_download() as download:
        page.locator(".hx-share").get_by_role("button", name="Trace").click()
    data = Path(download.value.path()).read_bytes()
    assert tracefile.read(data) == tracefile.read(ASSETS / "traces" / "19-what-if.jsonl.gz")
    page.keyboard.press("Escape")
    hostile = tracefile.pack(tracefile.dumps(plain_run(HOSTILE, title="dropped")).encode())
    for file, shown in (("a.jsonl.gz", hostile), ("b.jsonl", b"no trace")):
        given = [file, base64.b64encode(shown).decode()]
        page.evaluate(DROP, [*given, "dragenter"])
        page.get_by_text("Drop the trace to open it").wait_for()
        page.evaluate(DROP, [*given, "drop"])
        page.get_by_text("Drop the trace to open it").wait_for(state="hidden")
        if file == "a.jsonl.gz":
            page.get_by_role("heading", name=file).wait_for()
    page.locator(".hx-note").get_by_text("line 1: ").wait_for()
    assert page.evaluate("window.PWNED") is None


@pytest.mark.everything
def test_a_code_is_that_of_the_link_and_fills_the_window(page: Any, shipped: str) -> None:
    opened(page, f"{shipped}/?recording=01-code&at=6.4")
    share(page)
    page.get_by_role("button", name="Code: This moment").click()
    dialog = page.get_by_role("dialog", name="QR code: This moment")
    dialog.wait_for()
    picture = dialog.get_by_role("img", name="QR code").bounding_box()
    assert picture["height"] > 600
    dialog.get_by_text("works only on this machine").wait_for()
    path = dialog.locator("path").last.get_attribute("d")
    assert path == code(f"{shipped}/?recording=01-code&at=6.4")["path"]
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Code: This moment"


def test_the_dark_modules_of_a_code_are_those_of_the_library() -> None:
    drawn_code = code("https://example.org/?recording=01-code")
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", drawn_code["path"])
    dark = {(int(x) + i, int(y)) for x, y, width in runs for i in range(int(width))}
    rows = segno.make_qr("https://example.org/?recording=01-code", error="m").matrix
    assert dark == {(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row) if bit}
    client = TestClient(Starlette(routes=[code_route()]))
    asked = [("javascript:alert(1)", 400), (None, 400), ("http://x/" + "a" * LONGEST, 413), ("http://x/", 200)]
    assert [client.post(CODE, json={"text": text}).status_code for text, _ in asked] == [status for _, status in asked]


def test_a_run_in_one_file_replays_from_a_disk_without_a_network(
    browser: Any, page: Any, site: str, tmp_path: Path
) -> None:
    opened(page, f"{site}/?recording=01-hostile")
    share(page)
    with page.expect_download() as download:
        page.locator(".hx-share").get_by_role("button", name="Page").click()
    saved, made = tmp_path / "saved.html", tmp_path / "made.html"
    download.value.save_as(saved)
    made.write_text(exported(tracefile.read(TRACE)))
    assert saved.stat().st_size < 1_500_000 and made.stat().st_size < 1_500_000
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    alone, faults, asked = context.new_page(), [], []
    alone.on("pageerror", lambda error: faults.append(str(error)))
    alone.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(saved.as_uri())
    alone.wait_for_selector(".hx-flow .hx-tok")
    assert "</script><script>window.PWNED=2</script>" in text_of(alone)
    assert alone.evaluate("window.PWNED") is None
    alone.goto(made.as_uri())
    alone.wait_for_selector(".hx-flow .hx-tok")
    drawn(alone)
    assert "Returns a dictionary with the lowest" in text_of(alone)
    header = tracefile.read(TRACE)[0]
    assert header.recorded[:10] in alone.locator(".hx-status").first.get_attribute("data-tip")
    for part in (".hx-lane-svg", ".hx-tower .hx-floor", ".hx-transport-slider", ".hx-live", ".hx-figures"):
        assert alone.locator(part).first.is_visible(), part
    assert not alone.locator(".hx-tower").get_by_role("switch").count()  # it is shown, not composed
    alone.get_by_role("button", name="To the start").click()
    written = alone.locator(".hx-flow .hx-tok[data-state=committed]")
    for _ in range(6):  # it rests at rejections on the way
        alone.get_by_role("button", name="One round forward").click()
        drawn(alone)
        if written.count():
            break
    written.last.click()
    alone.locator(".hx-card").get_by_text("supplied by").wait_for()
    assert alone.evaluate("document.documentElement.scrollWidth") <= 390
    assert {url.split("?")[0] for url in asked} == {saved.as_uri(), made.as_uri()}
    assert not faults, faults
    context.close()


@pytest.mark.everything
def test_any_chart_is_saved_as_a_picture_that_needs_no_style_sheet(page: Any, shipped: str) -> None:
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.set_viewport_size({"width": 1440, "height": 1000})
    opened(page, f"{shipped}/?recording=12-hispec")
    for name in ("tower", "lanes", "live charts"):
        button = page.get_by_role("button", name=f"save as a picture: {name}", exact=True)
        button.focus()
        page.keyboard.press("Enter")
        with page.expect_download() as download:
            page.keyboard.press("Enter")  # the first of the list, which has the focus
        assert download.value.suggested_filename == f"hsd_{name.replace(' ', '-')}.svg"
        text = Path(download.value.path()).read_text()
        assert not re.search(r"var\(|color-mix|oklab|\sclass=|\sstyle=", text)
        root = ElementTree.fromstring(text.split("\n", 1)[1])
        assert next(root.iter("{http://www.w3.org/2000/svg}rect")).get("fill") == "rgb(255,255,255)"  # light by choice
        assert page.evaluate("document.body.classList.contains('dark')")
    said = " ".join(x.text or "" for x in root.iter("{http://www.w3.org/2000/svg}text"))
    assert re.search(r"Accepted .*0\.\d\d", said)
    page.get_by_role("button", name="save as a picture: lanes", exact=True).focus()
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.locator(".hx-item:visible").filter(has_text="PNG").click()
    assert Path(download.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.everything
def test_a_frame_shows_the_text_and_its_transport_alone(page: Any, shipped: str) -> None:
    page.set_viewport_size({"width": 640, "height": 400})
    opened(page, f"{shipped}/?recording=01-code&at=6.4&embed=1")
    for part, seen in ((".hx-flow", True), (".hx-transport", True), (".hx-tower", False), (".hx-prompt-row", False)):
        assert page.locator(part).is_visible() is seen, part
    assert page.get_by_role("tab").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") <= 400
    link = page.get_by_role("link", name="HSD Explorer").get_attribute("href")
    assert "recording=01-code" in link and "embed" not in link


def test_only_pages_that_the_operator_names_may_frame_this_one() -> None:
    assert content_policy(()).endswith("frame-ancestors 'self'")
    named = origins("https://teaching.example, https://*.school.example:8443/")
    assert content_policy((), named).endswith("'self' https://teaching.example https://*.school.example:8443")
    for wrong in ("*", "teaching.example", "https://x; script-src *", "javascript:1"):
        with pytest.raises(OriginError, match="write it as https"):
            origins(wrong)
