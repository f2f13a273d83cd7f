"""Documents before a prompt: speculation on what is retrieved leaves no trace in the text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from toy_states import SumDecoder

from hsd_core.core.choices import SeededChoices
from hsd_core.models.sampling import Sampling
from hsd_core.systems.store import ralm
from hsd_core.systems.store.documents import Bm25, DocumentsError, passages_of
from hsd_core.systems.store.ralm import RalmResult, RetrievalSettings, generate_with_passages

VOCAB, PASSAGES = 13, 9


def ranks(query: Sequence[int]) -> list[float]:
    """Passages that share tokens with the last four of a query, some of them equally many."""
    return [float(sum((id_ * 7 + at) % 5 == 0 for id_ in query[-4:])) for at in range(PASSAGES)]


def written(
    asking: RetrievalSettings, seed: int, temperature: float = 1.0, tokens: int = 30, **more: object
) -> RalmResult:
    rng = random.Random(5)
    passages = [[rng.randrange(VOCAB) for _ in range(6)] for _ in range(PASSAGES)]
    given = {"sampling": Sampling(temperature), "choices": SeededChoices(seed), "tokens": tokens, **more}
    return generate_with_passages(SumDecoder(VOCAB), passages, [1, 2], ranks, asking, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("stride", [1, 3, 7, None], ids=["1", "3", "7", "os3"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("prefetch", [1, 3])
def test_one_seed_is_one_text(stride: int | None, seed: int, prefetch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralm, "PREFETCH", prefetch)
    plain, guessed = written(RetrievalSettings(plain=True), seed), written(RetrievalSettings(stride=stride), seed)
    assert (plain.ids, plain.passages) == (guessed.ids, guessed.passages)
    assert plain.queries == plain.batches == 8 and not plain.guesses
    assert guessed.guesses and guessed.batches <= guessed.queries


def test_guesses_save_batches_and_wrong_ones_are_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = written(RetrievalSettings(stride=3), 0)  # with all passages in the cache the best one is always found
    assert sure.wrong == 0 and sure.batches == 4
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    assert sum(written(RetrievalSettings(stride=3), seed).wrong for seed in range(5)) > 0


def test_a_text_whose_wrong_guesses_stay_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    monkeypatch.setattr(ralm._Run, "_asked", trusting(ralm._Run._asked))
    texts = [
        (written(RetrievalSettings(plain=True), seed).ids, written(RetrievalSettings(stride=3), seed).ids)
        for seed in range(5)
    ]
    assert any(plain != guessed for plain, guessed in texts)


def trusting(real: object) -> object:
    """As if the cache's answer were the store's, once it holds something."""

    def asked(self: ralm._Run, queries: list[list[int]]) -> list[int]:
        known = set(self._cache)
        found = real(self, queries)  # type: ignore[operator]
        return [self._best(query, known) for query in queries] if known and not self._asking.plain else found

    return asked


def test_it_ends_with_the_text_and_where_it_is_stopped() -> None:
    ends = frozenset(range(6))
    for asking in (RetrievalSettings(plain=True), RetrievalSettings(stride=3)):
        ids = written(asking, 3, ends=ends).ids
        assert ids[-1] in ends and not ends & {*ids[:-1]}
    assert written(RetrievalSettings(), 0, stop=lambda: True).ids == []


def test_a_line_that_goes_back_reads_what_is_new_alone() -> None:
    line = ralm.PassageContext(SumDecoder(VOCAB), [[1, 2, 3], [4, 5]], [6], 9)
    assert line.logits(0, [])[1] == 4
    there, read = line.logits(0, [7])
    assert read == 1
    assert line.logits(1, [7])[1] == 4
    assert line.logits(0, [7, 8])[1] == 1
    again, read = line.logits(0, [7])
    assert read == 1 and torch.equal(again, there)


def test_a_folder_without_text_and_bm25_that_is_not_here_say_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DocumentsError, match=r"holds no text; put files in it that end in .md"):
        passages_of(tmp_path)
    (tmp_path / "a.txt").write_text("Cats sleep.\n\nDogs bark at the moon.\n", encoding="utf-8")
    assert [one.text for one in passages_of(tmp_path)] == ["Cats sleep.\nDogs bark at the moon."]
    monkeypatch.setattr("hsd_core.systems.store.documents.find_spec", lambda name: None)
    with pytest.raises(DocumentsError, match="pip install bm25s"):
        Bm25(passages_of(tmp_path))


def test_bm25_finds_the_passage(tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    for name, said in {"cats": "cats sleep all day", "dogs": "dogs bark at the moon", "trees": "oaks are old"}.items():
        (tmp_path / f"{name}.txt").write_text(said, encoding="utf-8")
    passages = passages_of(tmp_path)
    scores = list(Bm25(passages).scores("Why do dogs bark?"))
    assert passages[scores.index(max(scores))].file == "dogs.txt"
