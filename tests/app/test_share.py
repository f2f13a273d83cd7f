"""What one takes along: the code for another page, and a run's card for slides."""

from __future__ import annotations

import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pagekit import drawn

SVG = "{http://www.w3.org/2000/svg}"


def test_a_run_is_embedded_in_another_page_and_put_on_a_slide(page: Any, site: str, tmp_path: Path) -> None:
    page.goto(f"{site}/?recording=01-hostile&panel=controls")
    page.wait_for_selector(".hx-flow .hx-tok")
    drawn(page)
    page.get_by_role("button", name="Share", exact=True).click()
    shown = page.get_by_role("img", name="Card for slides: ")
    shown.wait_for()
    assert page.evaluate("(x) => x.decode().then(() => [x.naturalWidth, x.naturalHeight])", shown.element_handle()) == [
        1280,
        720,
    ]

    def saved(kind: str) -> bytes:
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Card for slides: {kind}").click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.suffix == f".{kind.lower()}"
        return file.read_bytes()

    root = ElementTree.fromstring(saved("SVG"))
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {"svg", "title", "rect", "line", "text"}
    written = "".join(node.text or "" for node in root.iter(f"{SVG}text"))
    assert "</script><script>window.PWNED=2</script>" in written and "tokens a pass" in written
    paper = root.find(f"{SVG}rect").get("fill")
    page.get_by_label("dark", exact=True).check()
    other = ElementTree.fromstring(saved("SVG")).find(f"{SVG}rect").get("fill")
    assert {paper, other} == {"#FFFFFF", "#171A1F"}
    picture = saved("PNG")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", picture[16:24]) == (2560, 1440)

    code = page.get_by_role("textbox", name="Embed code").input_value()
    found: list[dict[str, str | None]] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attributes: found.append(dict(attributes))  # type: ignore[method-assign]
    reader.feed(code)
    assert len(found) == 1 and found[0]["src"].startswith(f"{site}/?recording=01-hostile")
    page.route(f"{site}/around", lambda route: route.fulfill(body=code, content_type="text/html"))
    page.goto(f"{site}/around")
    frame = page.frame_locator("iframe")
    frame.locator(".hx-flow .hx-tok").first.wait_for()
    assert frame.get_by_role("link", name="HSD Explorer").is_visible()
    assert not frame.locator(".hx-tower").is_visible() and page.evaluate("window.PWNED") is None
