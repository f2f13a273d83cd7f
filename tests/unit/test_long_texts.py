"""Long prompts that the page loads: texts that are shipped, within what a server that allows them reads."""

from __future__ import annotations

import pytest

from app.play.long_texts import LONG_TEXTS, long_text, menu
from app.serve.limits import MAX_PROMPT, prompt_characters
from app.serve.settings import RequestError


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
