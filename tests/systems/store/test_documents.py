"""Documents before a prompt: speculation on what is retrieved leaves no trace in the text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from timed import Hand
from toy_states import SumDecoder

from hsd_core.core.choices import SeededChoices
from hsd_core.core.clock import EngineClock
from hsd_core.models.sampling import Sampling
from hsd_core.systems.store import ralm
from hsd_core.systems.store.documents import Bm25, DocumentsError, passages_of, words_of
from hsd_core.systems.store.ralm import RalmResult, RetrievalSettings, generate_with_passages
from hsd_core.systems.store.strides import round_ms

VOCAB, PASSAGES = 13, 9


class Shelf:
    """Passages that share tokens with the last four of a query, some of them equally many. calls: of the whole store;
    hand: the time, of which a call takes 7 and a pass of the model 2."""

    def __init__(self) -> None:
        self.calls, self.hand = 0, Hand()

    def scores(self, queries: Sequence[Sequence[int]]) -> list[list[float]]:
        self.calls, self.hand.ns = self.calls + 1, self.hand.ns + 7
        return [self.among(query, range(PASSAGES)) for query in queries]

    def among(self, query: Sequence[int], passages: Sequence[int]) -> list[float]:
        return [float(sum((id_ * 7 + at) % 5 == 0 for id_ in query[-4:])) for at in passages]


def written(
    asking: RetrievalSettings, seed: int, temperature: float = 1.0, tokens: int = 30, **more: object
) -> RalmResult:
    rng, store, decoder = random.Random(5), Shelf(), SumDecoder(VOCAB)
    passages = [[rng.randrange(VOCAB) for _ in range(6)] for _ in range(PASSAGES)]
    forward = decoder.forward

    def timed(*given: Any) -> Any:
        store.hand.ns += 2
        return forward(*given)

    decoder.forward = timed  # type: ignore[method-assign]
    given = {"sampling": Sampling(temperature), "choices": SeededChoices(seed), "tokens": tokens, **more}
    given["clock"] = EngineClock(store.hand.now)
    made = generate_with_passages(decoder, passages, [1, 2], store, asking, **given)  # type: ignore[arg-type]
    assert made.batches == store.calls, "a batch is one call of the store"
    return made


@pytest.mark.parametrize("apart", [False, True], ids=["in turn", "apart"])
@pytest.mark.parametrize("stride", [1, 3, 7, None], ids=["1", "3", "7", "os3"])
@pytest.mark.parametrize("prefetch", [1, 3])
def test_one_seed_is_one_text(stride: int | None, apart: bool, prefetch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralm, "PREFETCH", prefetch)
    for seed in range(5):
        plain = written(RetrievalSettings(plain=True), seed)
        guessed = written(RetrievalSettings(stride=stride, apart=apart), seed)
        assert (plain.ids, plain.passages) == (guessed.ids, guessed.passages)
        assert plain.queries == plain.batches == 8 and not plain.guesses
        assert guessed.guesses and guessed.batches <= guessed.queries


def test_on_a_lane_of_its_own_a_query_takes_what_the_next_step_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is 4 passes of 2, a call 7: while all guesses are right, a round of s steps takes s times 8, a call is
    hidden but for the last."""
    in_turn, apart = (written(RetrievalSettings(stride=1, apart=apart), 0, tokens=32) for apart in (False, True))
    assert in_turn.wrong == apart.wrong == 0
    first = 7 + 8  # no cache: ask, then generate
    assert 1e6 * in_turn.ms == pytest.approx(first + 7 * round_ms(1.0, 1, 8, 7))
    assert 1e6 * apart.ms == pytest.approx(first + 7 * round_ms(1.0, 1, 8, 7, at_once=True) + 7)
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    assert sum(written(RetrievalSettings(stride=3, apart=True), seed).wrong for seed in range(5)) > 0


def test_guesses_under_way_are_made_without_what_the_query_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    known, real, learnt = [set[int]()], ralm._Run._guess, ralm._Run._learnt

    def guess(self: ralm._Run) -> None:
        assert self._cache == known[-1]
        real(self)

    def learn(self: ralm._Run, found: Sequence[list[int]]) -> list[int]:
        best = learnt(self, found)
        known.append(set(self._cache))
        return best

    monkeypatch.setattr(ralm._Run, "_guess", guess)
    monkeypatch.setattr(ralm._Run, "_learnt", learn)
    written(RetrievalSettings(stride=2, apart=True), 1)
    assert len(known) > 3


def test_guesses_save_batches_and_wrong_ones_are_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = written(RetrievalSettings(stride=3), 0)  # with all passages in the cache the best one is always found
    assert sure.wrong == 0 and sure.batches == 4
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    assert sum(written(RetrievalSettings(stride=3), seed).wrong for seed in range(5)) > 0


def test_a_text_whose_wrong_guesses_stay_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralm, "PREFETCH", 1)
    real = ralm._Run._asked

    def trusting(self: ralm._Run, queries: list[list[int]]) -> list[list[int]]:
        """As if the cache's answer were the store's, once it holds something."""
        known, found = sorted(self._cache), real(self, queries)
        if self._asking.plain or not known:
            return found
        return [[known[ralm.best_of(self._store.among(query, known))[0]]] for query in queries]

    monkeypatch.setattr(ralm._Run, "_asked", trusting)
    texts = [
        (written(RetrievalSettings(plain=True), seed).ids, written(RetrievalSettings(stride=3), seed).ids)
        for seed in range(5)
    ]
    assert any(plain != guessed for plain, guessed in texts)


def test_it_ends_with_the_text_and_where_it_is_stopped() -> None:
    ends = frozenset(range(6))
    for asking in (RetrievalSettings(plain=True), RetrievalSettings(stride=3), RetrievalSettings(stride=3, apart=True)):
        ids = written(asking, 3, ends=ends).ids
        assert ids[-1] in ends and not ends & {*ids[:-1]}
    assert written(RetrievalSettings(), 0, stop=lambda: True).ids == []
    for calls in range(1, 12):  # stopped anywhere, what is there is the text's beginning
        left = iter([False] * calls)
        made = written(RetrievalSettings(stride=2, apart=True), 3, stop=lambda left=left: next(left, True))
        assert made.ids == written(RetrievalSettings(plain=True), 3).ids[: len(made.ids)]


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
        Bm25(passages_of(tmp_path), str)


def test_bm25_finds_the_passage(tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    for name, said in {"cats": "cats sleep all day", "dogs": "dogs bark at the moon", "trees": "oaks are old"}.items():
        (tmp_path / f"{name}.txt").write_text(said, encoding="utf-8")
    passages, asked = passages_of(tmp_path), ["Why do dogs bark?", "nothing", "old oaks all day, oaks", ""]
    store = Bm25(passages, lambda ids: asked[ids[0]])
    batch = store.scores([[at] for at in range(len(asked))])
    assert passages[batch[0].index(max(batch[0]))].file == "dogs.txt" and passages[2].file == "trees.txt"
    for at, (text, scores) in enumerate(zip(asked, batch, strict=True)):
        assert store.scores([[at]]) == [scores] and store.among([at], [2, 0]) == [scores[2], scores[0]]
        if words_of(text):
            import bm25s

            index = bm25s.BM25()
            index.index([words_of(one.text) for one in passages], show_progress=False)
            assert scores == pytest.approx(list(index.get_scores(words_of(text))))
