"""Reading every depth: against forwards of the model itself, and against models built to know from a layer on."""

from __future__ import annotations

import json

import pytest
import torch

from hsd_core.cli import main
from hsd_core.core.driver import Stopped
from hsd_core.models.lean import decoder as lean
from hsd_core.models.one_pass import Pass
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.exits import depths
from hsd_core.systems.exits.depths import Sums, read_depths, summary, tables
from hsd_core.systems.exits.notes import Depths
from tests.tiny import tiny


def text(n: int, vocab: int = 61) -> list[int]:
    return torch.randint(vocab, (n,), generator=torch.Generator().manual_seed(n)).tolist()


class Probe:
    """A read-out that remembers: it reads the sum of all states so far, and of what it was fed."""

    def __init__(self, decoder, at, fed=False):
        self.name, self.at, self.fed, self._decoder = f"probe{at}", at, fed, decoder
        self.joined, self.ahead = (), 1

    def new_cache(self, capacity):
        return {"sum": torch.zeros(self._decoder.shape.hidden), "next": 0}

    def forward(self, given, x, cache, line, fed=None):
        assert given.start == cache["next"] and given.end == len(line), "positions must come in order, each once"
        cache["next"] += len(x)
        assert (fed is not None) == self.fed
        total = cache["sum"] + (x if fed is None else x + fed).cumsum(0)
        cache["sum"] = total[-1]
        return self._decoder.head(total[len(total) - given.wanted :]), total


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize(("n", "start"), [(2, 1), (40, 9), (150, 3), (150, 140)])
def test_every_depth_is_the_model_cut_there(kind, n, start):
    decoder, ids = tiny(kind), text(n)
    reading = read_depths(decoder, ids, start)
    assert reading.at == (1, 2, 3, 4) and set(reading.readouts) == {"lens"} and reading.last == 3
    with torch.inference_mode():
        own = decoder.forward(Pass(ids[:-1], 0, n - 1), decoder.new_cache(n))[start - 1 :].softmax(-1)
        for r, at in enumerate(reading.at):
            x = decoder.forward_layers(Pass(ids[:-1]), decoder.new_cache(n), 0, at)
            dist = decoder.head(x)[start - 1 :].softmax(-1)
            assert torch.equal(reading.top[r], dist.argmax(-1))
            assert torch.allclose(reading.p[r], dist[range(n - start), ids[start:]], atol=1e-5)
            assert torch.allclose(reading.overlap[r], 1 - (dist - own).abs().sum(-1) / 2, atol=1e-5)
    assert reading.agree[-1].all() and (n < 40 or not reading.agree[0].all())


def test_a_model_that_is_done_after_two_layers_agrees_from_there_on():
    decoder = tiny()
    for i in (2, 3):
        for part in ("out", "down"):
            layer = decoder.stack[i]
            kept = getattr(layer, part)
            object.__setattr__(layer, part, lambda x, kept=kept: torch.zeros_like(kept(x)))
    reading = read_depths(decoder, text(60), 5)
    assert reading.agree[1:].all() and torch.allclose(reading.overlap[1:], torch.ones(3, 55), atol=1e-5)
    assert not reading.agree[0].all() and (reading.overlap[0] < 0.999).any()


@pytest.mark.parametrize("fed", [False, True])
@pytest.mark.parametrize("at", [0, 2])
def test_a_trained_draft_reads_the_whole_text_at_its_depth(fed, at, monkeypatch):
    decoder, ids, start = tiny(), text(150), 40
    expected = read_depths(decoder, ids, start, [Probe(decoder, at, fed)])
    with torch.inference_mode():
        states = [decoder.embed(ids[:-1])]
        states += [decoder.forward_layers(Pass(ids[:-1]), decoder.new_cache(150), 0, d) for d in range(1, 5)]
        total = states[at].clone()
        if fed:
            total[1:] += states[4][:-1]  # position t reads the feature of t - 1
        dist = decoder.head(total.cumsum(0))[start - 1 :].softmax(-1)
    assert expected.at[-1] == at and expected.readouts[-1] == f"probe{at}"
    assert torch.allclose(expected.p[-1], dist[range(110), ids[start:]], atol=1e-5)
    monkeypatch.setattr(lean, "CHUNK", 7)
    monkeypatch.setattr(depths, "CHUNK", 5)
    again = read_depths(decoder, ids, start, [Probe(decoder, at, fed)])
    assert torch.allclose(again.p, expected.p, atol=1e-5) and torch.equal(again.top, expected.top)


def test_the_drafts_alone_are_read_as_among_all_layers():
    decoder, ids = tiny(), text(90)
    drafts = [Probe(decoder, 0, True), Probe(decoder, 2)]
    whole, alone = read_depths(decoder, ids, 9, drafts), read_depths(decoder, ids, 9, drafts, lens=False)
    assert alone.at == (4, 0, 2) and alone.readouts == ("lens", "probe0", "probe2") and alone.last == 0
    assert torch.equal(alone.top, whole.top[3:]) and torch.equal(alone.agree, whole.agree[3:])
    assert torch.equal(alone.overlap, whole.overlap[3:]) and torch.equal(alone.p, whole.p[3:])


def test_no_more_than_one_chunk_of_rows_is_read_out_at_a_time(monkeypatch):
    decoder, most = tiny(), []
    head = decoder.head
    monkeypatch.setattr(decoder, "head", lambda x: most.append(len(x)) or head(x))
    read_depths(decoder, text(180), 10)
    assert max(most) <= depths.CHUNK < 170


def test_a_stop_is_heard_between_two_layers():
    asked = []

    def stop():
        asked.append(len(asked))
        return len(asked) == 3

    with pytest.raises(Stopped):
        read_depths(tiny("llama"), text(40), 9, stop=stop)
    assert len(asked) == 3


@pytest.mark.parametrize("start", [0, 5, 6])
def test_a_text_without_a_prompt_or_an_output_is_refused(start):
    with pytest.raises(ValueError, match="give a prompt and at least one token"):
        read_depths(tiny(), text(5), start)


@pytest.mark.parametrize("place", [0, -1])
def test_ids_that_the_model_lacks_are_refused(place):
    ids = text(9)
    ids[place] = 61
    with pytest.raises(ValueError, match="id 61 lies outside the target's 61"):
        read_depths(tiny(), ids, 5)


def study_of(values, kinds):
    """A study of texts with one token each, of whose two rows the first agrees where `values` says so."""
    sums = [
        Sums(kind, 1, torch.tensor([v, 1.0], dtype=torch.float64), torch.tensor([v / 2, 1.0], dtype=torch.float64))
        for v, kind in zip(values, kinds, strict=True)
    ]
    reading = depths.DepthReading((1, 2), ("lens", "lens"), 1, torch.zeros(2, 1), torch.zeros(2, 1), torch.zeros(2, 1))
    return summary(reading, sums)


def test_the_interval_is_that_of_the_mean_over_texts():
    study = study_of([0.0, 1.0] * 100, ["a", "b"] * 100)
    assert study["all"]["agree"] == [0.5, 1.0] and study["all"]["tokens"] == 200
    low, high = study["all"]["agree_interval"][0]
    assert low == pytest.approx(0.5 - 1.96 * 0.5 / 200**0.5, abs=0.01)
    assert high == pytest.approx(0.5 + 1.96 * 0.5 / 200**0.5, abs=0.01)
    assert study["all"]["agree_interval"][1] == [1.0, 1.0]
    assert study["kinds"]["a"]["agree"][0] == 0.0 and study["kinds"]["b"]["overlap"][0] == 0.5


def test_long_texts_weigh_by_their_tokens():
    sums = [
        Sums("", n, torch.tensor([agree], dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
        for n, agree in ((9, 9.0), (1, 0.0))
    ]
    reading = depths.DepthReading((1,), ("lens",), 0, torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1, 1))
    assert summary(reading, sums)["all"]["agree"] == [0.9]


def test_the_table_has_a_row_a_readout_and_kinds_only_where_there_are_some():
    shown = tables(study_of([0.0, 1.0], ["a", "b"]))
    assert "| 1 | lens | 0.500 (0.000 to 1.000) |" in shown and "| layers | read-out | a (1) | b (1) |" in shown
    assert "by kind" not in tables(study_of([0.0, 1.0], ["", ""]))


class Level:
    label = "tiny"

    def __init__(self, decoder):
        self.decoder = decoder


class Bench:
    """A pipeline over a tiny model: one byte is one id."""

    ends = frozenset({3})
    preset = PRESETS["toy"]
    about = {"versions": {"torch": "x"}, "machine": "here"}  # noqa: RUF012

    @classmethod
    def open(cls, *_: object, **__: object):
        return cls()

    def lean_target(self, spec):
        return tiny(vocab=257)

    def trained(self, spec):
        return [Probe(tiny(vocab=257), 2)]

    def encode(self, prompt, *, raw):
        return list(prompt.encode())


def test_the_command_reads_given_outputs_and_writes_the_others(tmp_path, monkeypatch, capsys):
    from hsd_core import pipeline

    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    prompts = tmp_path / "p.jsonl"
    lines = [
        {"prompt_ids": [5, 6], "output_ids": [1, 2, 4, 8, 8, 8, 8, 8], "loop_from": 4, "kind": "k"},
        {"prompt": "ab", "category": "c"},
        {"prompt_ids": [5, 6], "output_ids": []},
    ]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    command = ["depth", "--prompts", str(prompts), "--max-new-tokens", "6"]
    assert main([*command, "--json"]) == 0
    study = json.loads(capsys.readouterr().out)
    assert [row["at"] for row in study["rows"]] == [1, 2, 3, 4, 2]
    assert study["rows"][-1]["readout"] == "probe2" and study["kinds"]["k"]["tokens"] == 4
    assert study["all"]["tokens"] == 4 + study["kinds"]["c"]["tokens"] > 4
    assert study["all"]["agree"][3] == 1.0
    assert main(command) == 0
    assert "| 2 | probe2 |" in capsys.readouterr().out
    assert main(["depth", "--preset", "toy", "--prompts", "no-such-file"]) == 2


@pytest.mark.parametrize("name", ["prompt_ids", "output_ids"])
def test_the_command_refuses_ids_that_the_model_lacks_before_it_reads(name, tmp_path, monkeypatch, capsys):
    from hsd_core import pipeline

    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    monkeypatch.setattr(depths, "read_depths", lambda *_, **__: pytest.fail("a text was read"))
    prompts, line = tmp_path / "p.jsonl", {"prompt_ids": [5, 6], "output_ids": [1, 2]}
    prompts.write_text(json.dumps(line) + "\n" + json.dumps({**line, name: [7, 257]}), encoding="utf-8")
    assert main(["depth", "--prompts", str(prompts)]) == 2
    assert "id 257 lies outside the target's 257" in capsys.readouterr().err


def toy_run(**more):
    from hsd_core.pipeline import Pipeline

    pipeline = Pipeline.open("toy")
    return pipeline, lambda: pipeline.run(pipeline.default_stack, "The small level ", max_new_tokens=12, **more)


def test_a_run_ends_with_the_depths_of_its_own_text(monkeypatch):
    pipeline, run = toy_run(depths=True, baseline=True, temperature=0.8)
    decoder = tiny(vocab=257)
    monkeypatch.setattr(type(pipeline), "lean_target", lambda self, spec: decoder)
    *events, beside, report = [e for e in run() if e.event != "piece"]
    assert beside.event == "baseline" and report.event == "report"
    assert (report.level, report.t0, report.t1) == (len(events[0].levels) - 1, None, None)
    depths = Depths.of(report)
    written = [token.id for e in events if e.event == "commit" for token in e.tokens]
    prompt = list(events[0].prompt_ids)
    assert depths == read_depths(decoder, prompt + written, len(prompt)).note()
    assert [len(row) for row in depths.p] == [len(row) for row in depths.top] == [len(written)] * 4


def test_a_stopped_run_reads_no_depths(monkeypatch):
    calls = []
    pipeline, run = toy_run(depths=True, stop=lambda: calls.append(0) or len(calls) > 9)
    monkeypatch.setattr(type(pipeline), "lean_target", lambda self, spec: tiny(vocab=257))
    assert list(run())[-1].reason == "stopped"


def test_a_target_that_is_no_transformer_says_so_before_it_runs():
    _, run = toy_run(depths=True)
    with pytest.raises(ValueError, match="is not a transformer; this needs a model that the lean decoder runs"):
        run()
