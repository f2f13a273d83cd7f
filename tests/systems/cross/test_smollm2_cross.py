"""SmolLM2 drafted for in other tokens than its own: by itself with fewer merges, by a model that knows nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import notes_of
import pytest
from families import save
from toys import output_of

from hsd_core import cli
from hsd_core.pipeline import Pipeline
from hsd_core.systems.cross.command import RECORDED
from hsd_core.systems.cross.fewer_merges import with_fewer_merges
from hsd_core.trace import file
from hsd_core.trace.checks import check

TRACES = Path(__file__).parents[3] / "assets" / "traces"
PROMPT = "Why is the sky blue? Answer in two sentences, with an emoji: 🌍"


@pytest.fixture(scope="module")
def recut(tmp_path_factory: pytest.TempPathFactory, smollm2_folder: Path) -> Path:
    out = tmp_path_factory.mktemp("recut") / "smollm2-3000-merges"
    assert with_fewer_merges(smollm2_folder, out, merges=RECORDED)
    return out


def test_the_draft_of_the_recording_is_made_by_a_command_once(
    recut: Path, smollm2_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = file.read(TRACES / "43-another-tokenizer.jsonl.gz")[0].levels[0]
    assert draft.weights["source"] == recut.name
    assert draft.params["vocabulary"] == json.loads((recut / "config.json").read_text())["vocab_size"]
    kept = (recut / "rows.safetensors").stat().st_mtime_ns
    assert cli.main(["fewer-merges", "--out", str(recut)]) == 0
    assert "is there; to use it: --stack cross:6" in capsys.readouterr().err
    assert (recut / "rows.safetensors").stat().st_mtime_ns == kept
    with pytest.raises(ValueError, match="holds something else; name a new folder"):
        with_fewer_merges(smollm2_folder, recut, merges=9)
    with pytest.raises(ValueError, match="the tokenizer has 48900; name fewer"):
        with_fewer_merges(smollm2_folder, recut, merges=90_000)


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
