"""The doctor in a browser: pasted, dropped or linked, with the keyboard, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn

REPLY = {
    "usage": {"completion_tokens": 601},
    "metrics": {
        "generation_time_ms": 6000.0,
        "speculative_decoding": {
            "acceptance_histogram": [50, 50, 100, 100],
            "num_spec_steps": 300,
            "num_spec_tokens": 3,
            "num_draft_tokens": 900,
            "num_accepted_draft_tokens": 550,
        },
    },
}


def opened(page: Any, site: str, more: str = "") -> None:
    page.goto(f"{site}/?tab=planner&doctor=1{more}")
    page.wait_for_selector(".hx-doc-form")


def test_pasted_text_is_diagnosed_and_its_link_gives_the_same(page: Any, shipped: str) -> None:
    opened(page, shipped)
    assert not page.locator(".hx-plan-first").is_visible()
    page.get_by_label("what the engine printed").fill(json.dumps(REPLY))
    page.get_by_label("ms of a token without speculation").fill("12")
    page.get_by_role("button", name="Diagnose").click()
    page.wait_for_selector(".hx-doc-card")
    verdict = page.locator(".hx-doc-verdict").inner_text()
    assert verdict.startswith("Speculation pays: ")
    assert page.locator(".hx-doc-status").inner_text().startswith("Answer: Speculation pays")
    assert page.locator(".hx-doc-keys li").count() == 2
    assert "num_speculative_tokens" in page.locator(".hx-doc-card").inner_text()
    batches = page.get_by_role("group", name="Many requests at once").inner_text()
    assert "1 to " in batches and "or more" in batches
    assert "num_speculative_tokens_per_batch_size" in page.locator(".hx-doc-card").inner_text()
    # the counts stand behind the #, and nothing of them before it
    before, _, after = page.url.partition("#")
    assert after.startswith("doctor=") and "histogram" not in before
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    page.get_by_role("button", name="Copy a link to this answer").click()
    page.wait_for_function("window.copied")
    link = page.evaluate("window.copied")
    assert link.startswith(f"{shipped}/?tab=planner&doctor=1#doctor="), "nothing of what Explore holds"
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(".hx-doc-card")
    assert page.locator(".hx-doc-verdict").inner_text() == verdict


@pytest.mark.everything
def test_the_curve_is_read_with_the_keyboard(page: Any, shipped: str) -> None:
    opened(page, shipped)
    page.get_by_role("button", name="transformers: 81 % accepted").click()
    page.wait_for_selector(".hx-doc-card")
    curve = page.get_by_role("slider", name="Gain by draft length")
    assert curve.get_attribute("aria-valuetext") == "drafts of 1 token: 1.14\u00d7"
    curve.focus()
    page.keyboard.press("Home")
    drawn(page)
    assert curve.get_attribute("aria-valuetext") == "without drafts: 1\u00d7"
    page.keyboard.press("End")
    assert "assumed" in (curve.get_attribute("aria-valuetext") or "")
    assert page.locator(".hx-doc-reading").inner_text() == curve.get_attribute("aria-valuetext")
    text = page.locator(".hx-doc-card").inner_text()
    assert "At length 5 drafts pay from an acceptance of 0.832 on; it is 0.813." in text
    page.evaluate("window.copied = ''; navigator.clipboard.writeText = async (t) => { window.copied = t }")
    page.locator(".hx-doc-change button").first.click()
    page.wait_for_function("window.copied.includes('num_assistant_tokens = 1')")


@pytest.mark.everything
def test_files_are_read_together_and_what_is_none_is_refused(page: Any, shipped: str, tmp_path: Path) -> None:
    plain = {"usage": {"completion_tokens": 101}, "metrics": {"generation_time_ms": 1200.0}}
    (tmp_path / "with.json").write_text(json.dumps(REPLY))
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    (tmp_path / "notes.txt").write_text("hello <b>you</b>\n")
    opened(page, shipped)
    page.get_by_role("button", name="transformers: 81 % accepted").click()
    page.wait_for_selector(".hx-doc-card")
    page.get_by_label("what the engine printed").fill("")
    page.get_by_label("ms of a token without speculation").fill("")
    page.get_by_label("outputs of an engine").set_input_files([tmp_path / "notes.txt"])
    page.get_by_role("button", name="Diagnose").click()
    fault = page.locator(".hx-doc .hx-doc-fault")
    fault.wait_for()
    assert fault.inner_text().startswith("notes.txt: no line in it mentions speculation")
    assert page.locator(".hx-doc-card").count() == 0, "no diagnosis of another text stays under an error"
    assert "#doctor=" not in page.url
    page.get_by_role("button", name="remove notes.txt").click()
    page.get_by_role("button", name="Diagnose").click()
    assert fault.inner_text() == "Paste what an engine printed, or open a file."
    page.get_by_label("outputs of an engine").set_input_files([tmp_path / "with.json", tmp_path / "plain.json"])
    page.wait_for_selector(".hx-doc-files li:nth-child(2)")
    page.get_by_role("button", name="Diagnose").click()
    page.wait_for_selector(".hx-doc-card")
    assert "times as fast as plain decoding (12 ms)" in page.locator(".hx-doc-verdict").inner_text()
    settings = page.get_by_role("group", name="The settings in this text").inner_text()
    assert "without drafts" in settings and "drafts of 3" in settings
    assert not fault.is_visible()


@pytest.mark.everything
def test_the_planner_is_one_press_away_and_nothing_is_wider_than_a_phone(page: Any, shipped: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, shipped)
    page.get_by_role("button", name="llama.cpp: an EAGLE-3 draft").click()
    page.wait_for_selector(".hx-doc-card")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Another level?").click()
    assert "doctor=" not in page.url.partition("#")[0]
    assert not page.locator(".hx-doc").is_visible()
    page.wait_for_selector(".hx-plan-top select, .hx-al", state="attached")


@pytest.mark.everything
def test_a_pasted_text_that_is_too_large_is_kept_and_the_page_says_what_to_do(page: Any, shipped: str) -> None:
    opened(page, shipped)
    area = page.get_by_label("what the engine printed")
    long = "INFO a line of a log\n" * 100_000
    area.evaluate("(x, text) => { x.value = text; }", long)
    page.get_by_role("button", name="Diagnose").click()
    said = page.locator(".hx-doc-form [role=alert], .hx-doc [role=alert]").first
    assert said.inner_text().startswith("pasted text brings it to 2.2 MB; at most 2 are read here")
    assert area.input_value() == long
