"""Long prompts that the page loads: texts that are shipped, within what a server that allows them reads."""

from __future__ import annotations

import io
import sys

import pytest

from app.serve.settings import MAX_PROMPT, RequestError, prompt_characters
from app.tabs.explore.long_texts import LONG_TEXTS, long_text, menu
from hsd_core.cli.shared_options import prompt_progress


def test_every_long_text_is_there_as_long_as_the_menu_says() -> None:
    assert [one["name"] for one in menu()] == [one.name for one in LONG_TEXTS]
    for entry in menu():
        prompt = long_text({"name": entry["name"]})["prompt"]
        assert len(prompt) == entry["characters"]
        assert MAX_PROMPT < len(prompt) < prompt_characters(8192)


@pytest.mark.parametrize("odd", [None, {}, {"name": "../README.md"}, {"name": 3}])
def test_no_other_file_is_read(odd: object) -> None:
    with pytest.raises(RequestError, match="no such text"):
        long_text(odd)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_how_much_of_a_prompt_was_read_and_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    tell = prompt_progress(lambda: now)
    tell("target", 128, 512)
    now = 102.0
    tell("target", 256, 512)
    now = 106.0
    tell("target", 512, 512)
    tell("nano", 40, 40)
    lines = shown.getvalue().split("\r\033[K")[1:]
    assert lines == [
        "reading the prompt: 128 of 512 tokens, by target",
        "reading the prompt: 256 of 512 tokens, by target, about 4 s left",
        "",
    ], "the line goes when all is read, and a prompt that is read in one piece says nothing"
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    tell("target", 128, 512)
    assert not piped.getvalue()
