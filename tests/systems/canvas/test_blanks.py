"""Tokens of blanks, and COrAL's rewriting."""

from __future__ import annotations

import pytest
from blanks_kit import stack_over, start
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft, Verify
from hsd_core.grammar.stack_text import format_stack, parse, plain_target
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.systems.canvas.blanks import BlanksTokenizer, canvas_of
from hsd_core.systems.canvas.canvas_level import BigramLevel
from hsd_core.systems.canvas.language import Canvas, sentences
from hsd_core.systems.canvas.notes import Rewritten
from hsd_core.systems.canvas.refine import rewritten
from hsd_core.trace.checks import check


def test_a_prompt_fills_cells_and_leaves_blanks() -> None:
    codec, language = BlanksTokenizer(), sentences()
    words = language.words
    canvas = canvas_of(language, codec.encode("The _ sees zebras?"))
    assert [w if w is None else words[w] for w in canvas.cells[:6]] == ["the", None, "sees", None, ".", None]
    assert canvas.before == words.index(".")
    assert codec.decode(codec.encode("the cat")) == "the₁ cat₂ "
    filled = codec.encode("a _ moon")
    assert codec.encode(codec.decode(filled)) == filled, "a shown prompt is read again as it was"
    with pytest.raises(ValueError, match="a block has 16 cells and the prompt 17 words; write at most 16"):
        codec.encode("cat " * 17)


def test_a_full_block_is_followed_by_the_next_one() -> None:
    language = sentences()
    size = len(language.words)
    full = [*start(language), *(cell * size + cell for cell in reversed(range(language.cells)))]
    assert canvas_of(language, full) == Canvas(15, (None,) * 16)
    assert canvas_of(language, [*full, 3 * size + 5]).cells[3] == 5


def test_what_stands_on_both_sides_of_a_blank_decides() -> None:
    """A reader sees the left side alone; the model of blanks sees both."""
    codec, language = BlanksTokenizer(), sentences()
    canvas = canvas_of(language, codec.encode("the _ cat"))
    likeliest = language.words[int(language.rows(canvas)[1].argmax())]
    assert likeliest in ("old", "small", "red", "quiet", "tired", "happy")
    assert language.words[int(BigramLevel(language, 0.0).after(language.words.index("the")).argmax())] != likeliest


def test_the_preset_runs_from_a_prompt() -> None:
    pipeline = Pipeline.open("blanks")
    events = list(pipeline.run(pipeline.default_stack, "the old _ sees a", max_new_tokens=20, temperature=1.0))
    assert check(events) == [] and len(output_of(events)) == 20
    assert events[0].lossless  # type: ignore[attr-defined]


def test_under_apd_the_diffusion_model_is_what_is_approximated() -> None:
    plain = [plain_target(parse(text)[-1]) for text in ("infill:4,bigram@rule=apd", "coral:4,bigram@rule=top")]
    assert format_stack(plain[:1]) == "infill@order=left" and plain[1].name == "bigram"


def test_a_rewritten_block_stands_still_and_is_near_the_readers_own() -> None:
    language = sentences()
    drafts = rewritten(language, Canvas(language.first, (None,) * 16), range(8))
    assert 2 <= len(drafts) < 24 and drafts[-1] != drafts[-2]
    events = list(
        hsd_core.run(
            stack_over(language, "coral:8,bigram@rule=top@k=1"), start(language), Sampling(), 1, max_new_tokens=48
        )
    )
    assert check(events) == []
    plain = list(hsd_core.run(stack_over(language, "bigram"), start(language), Sampling(), 1, max_new_tokens=48))
    assert output_of(events) == output_of(plain)
    # k = 1 keeps the reader's first choice alone: greedy decoding
    notes = [Rewritten.of(e) for e in events if isinstance(e, Draft)]
    assert all(notes) and sum(e.work.forwards for e in events if isinstance(e, Draft)) > len(notes)
    checks = [c.outcome for e in events if isinstance(e, Verify) for c in e.checks]
    assert 0.1 < checks.count("accepted") / len(checks) < 1.0
