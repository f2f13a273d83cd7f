"""SmolLM2 drafted for in other tokens than its own: by itself with fewer merges, by a model that knows nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import notes_of
import pytest
from families import save
from remade import remake
from toys import output_of

from hsd_core.pipeline import Pipeline
from hsd_core.trace.checks import check

PROMPT = "Why is the sky blue? Answer in two sentences, with an emoji: 🌍"
FEW = 3_000  # merges: every second word is several tokens


@pytest.fixture(scope="module")
def recut(tmp_path_factory: pytest.TempPathFactory, smollm2_folder: Path) -> Path:
    return remake(smollm2_folder, tmp_path_factory.mktemp("recut") / "recut", merges=FEW)


@pytest.fixture(scope="module")
def plain(smollm2: Any) -> tuple[int, ...]:
    return output_of(list(smollm2.run("target", PROMPT, max_new_tokens=20)))


def kept(events: list[Any]) -> tuple[int, int]:
    checks = [c.outcome for e in events if e.event == "verify" for c in e.checks]
    return checks.count("accepted"), checks.count("accepted") + checks.count("rejected")


def test_the_same_layers_over_fewer_merges_are_kept_often_and_change_no_token(
    smollm2: Pipeline, recut: Path, plain: tuple[int, ...]
) -> None:
    events = list(smollm2.run(f"cross:6@id={recut},target", PROMPT, max_new_tokens=20))
    assert output_of(events) == plain and check(events) == []
    accepted, judged = kept(events)
    assert accepted > 0.6 * judged and accepted > 5
    drafts = [e for e in events if e.event == "draft"]
    assert any(len(notes_of.own(draft)) > len(draft.ids) > 0 for draft in drafts), "one word, several tokens of its own"


def test_shared_tokens_alone_are_kept_less_often(smollm2: Pipeline, recut: Path, plain: tuple[int, ...]) -> None:
    events = list(smollm2.run(f"cross:4@map=shared@id={recut},target", PROMPT, max_new_tokens=8))
    assert output_of(events) == plain[:8] and check(events) == []
    assert 0 < kept(events)[0] < 8


@pytest.mark.everything
def test_an_end_of_text_is_drafted_and_kept(smollm2: Pipeline, recut: Path) -> None:
    prompt = "Say only the word yes."
    plain = output_of(list(smollm2.run("target", prompt, max_new_tokens=64)))
    events = list(smollm2.run(f"cross:6@id={recut},target", prompt, max_new_tokens=64))
    assert output_of(events) == plain and plain[-1] in smollm2.ends
    last = [token for e in events if e.event == "commit" for token in e.tokens][-1]
    drafted = {id_ for e in events if e.event == "draft" for id_ in e.ids}
    assert last.id in smollm2.ends and last.id in drafted


def test_a_draft_that_knows_nothing_changes_no_token(smollm2: Pipeline, plain: tuple[int, ...], tmp_path: Path) -> None:
    save(tmp_path, "qwen2")
    for map_ in ("text", "shared"):
        events = list(smollm2.run(f"cross:3@map={map_}@id={tmp_path},target", PROMPT, max_new_tokens=12))
        assert output_of(events) == plain[:12] and check(events) == []
