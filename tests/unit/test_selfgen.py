"""Batched generation against plain decoding, and a file that is gone on with."""

from __future__ import annotations

import json

import pytest
import torch
from cases import first_always

from hsd_core.cli import main
from hsd_core.measure.texts import selfgen
from hsd_core.measure.texts.output_file import drop_outgrown, jobs_left, open_file, record
from hsd_core.measure.texts.selfgen import Job, TurnOpening, generate, invented, jobs_of
from hsd_core.models import DecoderError
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace.conventions import loop_from
from hsd_core.trace.prompt_files import PromptText, read_texts
from tests.tiny import tiny

GREEDY, WARM = Sampling(), Sampling(0.8, 0, 0.95)
KINDS = ("llama", "mistral", "qwen2", "qwen3")
TIE = 1e-3


def jobs(*lengths: int, vocab: int = 61) -> list[Job]:
    random = torch.Generator().manual_seed(7)
    prompts = (tuple(torch.randint(vocab, (n,), generator=random).tolist()) for n in lengths)
    return [Job(PromptText(p), 0) for p in prompts]


def written(decoder, work, sampling=GREEDY, **more):
    more = {"ends": frozenset({3}), "max_new_tokens": 20, **more}
    return {job.text.prompt_ids: ids for job, ids in generate(decoder, work, sampling, **more)}


def plain(decoder, prompt, n, ends):
    """Greedy decoding, one forward a token over the whole text; ids and each step's top-two margin."""
    ids, out, margins = list(prompt), [], []
    while len(out) < n:
        top = decoder.forward(Pass(ids, 0, 1), decoder.new_cache(len(ids)))[0].topk(2)
        margins.append(float(top.values[0] - top.values[1]))
        out.append(int(top.indices[0]))
        ids.append(out[-1])
        if out[-1] in ends:
            break
    return out, margins


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [1, 3, 8])
def test_greedy_output_is_that_of_plain_decoding(kind, batch):
    decoder, work = tiny(kind), jobs(5, 1, 70, 12, 33, 66)
    got = written(decoder, work, batch=batch)
    assert set(got) == {job.text.prompt_ids for job in work}
    for prompt, ids in got.items():
        expected, margins = plain(decoder, prompt, 20, {3})
        first = next((i for i, (a, b) in enumerate(zip(ids, expected, strict=False)) if a != b), None)
        assert (first is None and len(ids) == len(expected)) or margins[first] < TIE


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_a_step_does_not_see_the_others(kind):
    decoder = tiny(kind)
    texts = [job.text.prompt_ids for job in jobs(4, 70, 130)]
    cache = decoder.new_cache(140, texts=3)
    for b, text in enumerate(texts):
        decoder.forward(Pass(list(text[:-1]), 0, 1), cache.text(b))
    step = Pass([t[-1] for t in texts], slots=tuple(len(t) - 1 for t in texts))
    got = decoder.forward(step, cache)
    for row, text in zip(got, texts, strict=True):
        alone = decoder.forward(Pass(list(text), 0, 1), decoder.new_cache(len(text)))[0]
        assert torch.allclose(row, alone, atol=1e-4)


def test_a_slot_that_is_used_again_remembers_nothing():
    decoder, work = tiny(), jobs(90, 4, 4, 60, 2)
    assert written(decoder, work, batch=1) == {
        prompt: ids for job in work for prompt, ids in written(decoder, [job], batch=1).items()
    }


@first_always("sampling", [WARM, Sampling(1.0, 5)])
def test_a_sampled_text_does_not_depend_on_the_batch_size_or_the_others(sampling):
    decoder, work = tiny(), jobs(5, 9, 40, 12, 33, 66, 2)
    one = written(decoder, work, sampling, batch=1, seed=4)
    assert one == written(decoder, work, sampling, batch=5, seed=4)
    assert one == {**one, **written(decoder, work[3:], sampling, batch=2, seed=4)}
    assert one != written(decoder, work, sampling, batch=5, seed=5)


@pytest.mark.everything
def test_sampled_tokens_follow_the_models_distribution():
    decoder, prompt, n = tiny(vocab=7), (1, 2, 3), 4000
    copies = [Job(PromptText(prompt), i) for i in range(n)]
    counts = torch.zeros(7)
    for _, ids in generate(decoder, copies, Sampling(1.0), ends=frozenset(), max_new_tokens=1, batch=500):
        counts[ids[0]] += 1
    dist = decoder.forward(Pass(list(prompt), 0, 1), decoder.new_cache(3))[0].softmax(-1)
    chi = float(((counts - n * dist) ** 2 / (n * dist)).sum())
    assert chi < 27.9  # 6 degrees of freedom, once in 10,000
    assert float(((counts - n * dist.roll(1)) ** 2 / (n * dist.roll(1))).sum()) > 27.9


def test_the_context_ends_a_text():
    decoder = tiny()
    (ids,) = written(decoder, jobs(185), ends=frozenset(), max_new_tokens=50).values()
    assert len(ids) == 192 - 185
    with pytest.raises(ValueError, match="context"):
        written(decoder, jobs(192))
    with pytest.raises(ValueError, match="vocabulary"):
        written(decoder, [Job(PromptText((61,)), 0)])
    with pytest.raises(DecoderError, match="192"):
        decoder.new_cache(193, texts=2)


OPENINGS = [TurnOpening((1, 2, 3), (3, 5, 6), "a", 1.0), TurnOpening((4, 9, 11, 8), (3, 7), "b", 3.0)]


def invented_texts(decoder, count, **more):
    more = {"ends": frozenset({3}), "max_new_tokens": 9, "batch": 4, "seed": 1, **more}
    return list(generate(decoder, invented(OPENINGS, count, 1), WARM, **more))


def test_an_invented_turn_is_closed_as_the_template_closes_it_and_then_answered():
    closings = {o.ids: list(o.closing) for o in OPENINGS}
    for job, output in invented_texts(tiny(), 20):
        given, prompt = job.text.given, list(job.text.prompt_ids)
        turn, closing = prompt[len(given) : -len(closings[given])], prompt[-len(closings[given]) :]
        assert closing == closings[given] and 3 not in turn
        assert 1 <= len(output) <= 9 and 3 not in output[:-1]
        assert record(job, output, WARM, 1)["written_from"] == len(given)


def test_a_turn_that_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr(selfgen, "LONGEST_TURN", 5)
    for job, output in invented_texts(tiny(), 6, ends=frozenset()):
        assert len(job.text.prompt_ids) == len(job.text.given) + 5 + len(job.closing) and len(output) == 9


def test_more_invented_texts_begin_with_the_same_ones_and_finished_ones_are_not_redone():
    few, many = invented(OPENINGS, 5, 1), invented(OPENINGS, 30, 1)
    assert many[:5] == few and {job.text.kind for job in many} == {"a", "b"}
    done = [record(job, output, WARM, 1) for job, output in invented_texts(tiny(), 5)]
    assert jobs_left(many, done, WARM, 1) == many[5:]


@first_always("work", [jobs(5, 70, 12), invented(OPENINGS, 7, 1)])
def test_the_states_that_are_kept_are_those_of_a_pass_over_the_text(work):
    decoder, kept = tiny(), []
    for job, output in generate(
        decoder,
        work,
        WARM,
        ends=frozenset({3}),
        max_new_tokens=20,
        batch=3,
        depths=[1, decoder.layers],
        keep=lambda job, output, states: kept.append(([*job.text.prompt_ids, *output], states)),
    ):
        assert kept[-1][0] == [*job.text.prompt_ids, *output]
    for ids, states in kept:
        for depth, state in states.items():
            wanted = decoder.forward_layers(Pass(ids[:-1]), decoder.new_cache(len(ids)), 0, depth)
            assert state.dtype == torch.float16 and torch.allclose(state.float(), wanted, rtol=2e-3, atol=2e-3)


def test_an_output_that_repeats_itself_is_cut_when_asked():
    decoder, work = tiny(vocab=7), jobs(3, 4, 5, 6, vocab=7)
    whole = written(decoder, work, ends=frozenset(), max_new_tokens=120)
    cut = written(decoder, work, ends=frozenset(), max_new_tokens=120, cut_loops=True)
    assert any(len(ids) < 120 for ids in cut.values()), "a greedy output of so small a model soon repeats itself"
    for prompt, ids in cut.items():
        assert ids == whole[prompt][: len(ids)] and (len(ids) == 120 or loop_from(ids) is not None)


LOOPS = {
    "a pattern of two": ([9, 8, 7, *[1, 2] * 8], 5),
    "a run": ([9, 8, 7, *[5] * 12], 4),
    "a long one": ([9, *[*range(10, 40)] * 3], 31),
    "twice is not a loop": ([9, *[*range(10, 40)] * 2], None),
    "too short": ([9, 8, *[1, 2, 3] * 3], None),
    "it stopped repeating": ([*[1, 2] * 20, 7], None),
    "nothing": ([], None),
}


@pytest.mark.parametrize("what", LOOPS)
def test_a_loop_starts_at_its_second_turn(what):
    ids, start = LOOPS[what]
    assert loop_from(ids) == start


@pytest.mark.parametrize("cut_loops", [False, True])
def test_a_loop_is_cut_once_whether_its_record_is_flagged_or_not(cut_loops, tmp_path):
    """The writer flags every loop there is, so looking again at what it did not flag finds none."""
    outputs = [ids for ids, _ in LOOPS.values()]
    outputs.append([1, *[7] * 12] * 3)  # a loop of loops: what is left of it ends in a loop again
    outputs += written(
        tiny(vocab=7), jobs(3, 4, 5, 6, 7, vocab=7), ends=frozenset(), max_new_tokens=120, cut_loops=cut_loops
    ).values()
    path = tmp_path / "out.jsonl"
    lines = [record(Job(PromptText((1, 2)), 0), output, GREEDY, 0) for output in outputs]
    assert {"loop_from" in line for line in lines} == {True, False}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    flagged = read_texts(path, lambda text: [])
    path.write_text("".join(json.dumps({**line, "loop_from": None}) + "\n" for line in lines), encoding="utf-8")
    for text, bare, output in zip(flagged, read_texts(path, lambda text: []), outputs, strict=True):
        kept = [*text.before_loop(text.output_ids)]
        assert kept == [*bare.before_loop(bare.output_ids)] == output[: loop_from(output)]


def test_every_copy_of_a_prompt_is_written_once():
    texts = [PromptText((1, 2)), PromptText((5,)), PromptText((1, 2))]
    todo = jobs_left(jobs_of(texts), [], WARM, 1)
    assert [job.copy for job in todo] == [0, 0, 1]
    done = [record(job, [3], WARM, 1) for job in todo[:2]]
    assert jobs_left(jobs_of(texts), done, WARM, 1) == todo[2:]
    assert jobs_left(jobs_of(texts), done, WARM, 2) and len(jobs_left(jobs_of(texts), done, GREEDY, 1)) == 3
    decoder = tiny()
    first, second = (ids for _, ids in generate(decoder, [todo[0], todo[2]], WARM, ends=frozenset()))
    assert first != second


def test_a_torn_last_line_is_cut_off_and_a_whole_one_kept(tmp_path):
    path = tmp_path / "out.jsonl"
    line = json.dumps(record(Job(PromptText((1, 2), kind="k"), 0), [4, 5], GREEDY, 0))
    for torn, kept in ((line[:20], 1), (line, 2), ("", 1)):
        path.write_text(line + "\n" + torn, encoding="utf-8")
        assert len(open_file(path)) == kept
        assert path.read_text(encoding="utf-8") == (line + "\n") * kept
    path.write_text("nonsense\n" + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        open_file(path)
    with pytest.raises(ValueError, match="compress it at the end"):
        open_file(tmp_path / "out.jsonl.gz")


def test_a_text_that_a_smaller_limit_ended_is_written_again_and_no_other():
    outputs = {(1,): [4, 5], (2,): [4, 3], (3,): [3], (4,): [4, 5], (5,): [4, 5]}
    todo = [Job(PromptText(prompt), 0) for prompt in outputs]
    limits = dict(zip(outputs, (2, 2, 2, None, 4), strict=True))  # older files name none; with 4, it was the context
    done = [record(job, outputs[ids], GREEDY, 0, limit=limits[ids]) for job in todo if (ids := job.text.prompt_ids)]
    assert jobs_left(todo, done, GREEDY, 0, limit=3, ends=frozenset({3})) == todo[:1]
    assert jobs_left(todo, done, GREEDY, 0, limit=2, ends=frozenset({3})) == []
    again = record(todo[0], [4, 5, 6], GREEDY, 0, limit=3)
    assert jobs_left(todo, [*done, again], GREEDY, 0, limit=3, ends=frozenset({3})) == []


def test_the_longer_output_takes_the_place_of_the_shorter(tmp_path):
    path, job, other = tmp_path / "out.jsonl", Job(PromptText((1, 2)), 0), Job(PromptText((1, 2)), 1)
    old, short, long = (record(job, [4, 5, 6][:n], WARM, 0, limit=limit) for n, limit in ((2, None), (2, 2), (3, 3)))
    lines = [
        json.dumps(line)
        for line in (old, short, record(job, [4, 5], WARM, 1, limit=2), record(other, [4, 5], WARM, 0, limit=2), long)
    ]
    torn = '{"kind":"c","prom'
    path.write_text("\n".join([*lines, torn]), encoding="utf-8")
    drop_outgrown(path)
    assert path.read_text(encoding="utf-8") == "\n".join([lines[0], *lines[2:], torn])
    drop_outgrown(path)
    assert path.read_text(encoding="utf-8") == "\n".join([lines[0], *lines[2:], torn])


@first_always("what", [["--prompts"], ["--invent", "5", "--openings"]])
def test_the_command_with_a_larger_limit_ends_where_that_alone_would(what, tmp_path, monkeypatch, capsys):
    from hsd_core import pipeline

    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    monkeypatch.setattr(Bench, "turn", lambda self, start, system: ([*start.encode()], [3, 5, 6]), raising=False)
    prompts, out, whole = tmp_path / "p.jsonl", tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    prompts.write_text("".join(json.dumps({"prompt": p, "start": p}) + "\n" for p in "abca"), encoding="utf-8")
    command = ["selfgen", *what, str(prompts), "--temperature", "0.8"]
    assert main([*command, "--out", str(whole), "--max-new-tokens", "9"]) == 0
    for limit in ("5", "9"):
        assert main([*command, "--out", str(out), "--max-new-tokens", limit]) == 0
    texts = [[json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in (out, whole)]
    bare = [sorted((t["prompt_ids"], t["output_ids"], t.get("copy")) for t in each) for each in texts]
    assert bare[0] == bare[1] and {t["max_new_tokens"] for t in texts[1]} == {9}
    assert not list(tmp_path.glob("*.partial"))


FOREIGN = {
    "a text without a last newline": "Dear diary",
    "a prompts file without one": '{"prompt": "a"}\n{"prompt": "b"}',
    "one prompt with its kind": '{"kind": "k", "prompt": "b"}',
    "prompts as ids": '{"kind": "k", "prompt_ids": [1, 2]}\n',
    "other lines before a torn one": 'nonsense\n{"kind":"c","prom',
    "one of ours, and then something else": '{"kind":"c","prompt_ids":[1],"output_ids":[2]}\nDear diary',
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_that_is_not_ours_is_refused_and_left_as_it_is(what, tmp_path):
    path = tmp_path / "diary"
    path.write_text(FOREIGN[what], encoding="utf-8")
    with pytest.raises(ValueError, match="no record of a written text; give a new file"):
        open_file(path)
    assert path.read_text(encoding="utf-8") == FOREIGN[what]


def test_prompt_files_of_every_form_are_read(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(
        '{"prompt": "ab", "category": "c"}\n\n{"turns": ["b", "x"], "kind": "k"}\n'
        '{"prompt_ids": [7], "output_ids": [8, 9], "loop_from": 1}\n',
        encoding="utf-8",
    )
    one, two, three = read_texts(path, lambda text: list(text.encode()))
    assert (one.prompt_ids, one.sort, two.prompt_ids, two.sort) == ((97, 98), "c", (98,), "k")
    assert three == PromptText((7,), (8, 9), loop_from=1)


@pytest.mark.parametrize("loop", ["-1", "3", "true", '"1"'])
def test_a_loop_starts_within_its_output(loop, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt_ids": [7], "output_ids": [8, 9], "loop_from": %s}' % loop, encoding="utf-8")  # noqa: UP031
    with pytest.raises(ValueError, match=r"line 1: loop_from"):
        read_texts(path, lambda text: [1])


@pytest.mark.parametrize("line", ["[]", "{}", '{"turns": []}', '{"prompt_ids": ["a"]}', '{"prompt_ids": []}', "{"])
def test_a_line_that_is_no_prompt_is_named(tmp_path, line):
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt": "a"}\n' + line, encoding="utf-8")
    with pytest.raises(ValueError, match="line 2"):
        read_texts(path, lambda text: [1])


class Bench:
    """A pipeline over a tiny model: one byte is one id."""

    ends = frozenset({3})

    @classmethod
    def open(cls, *_: object, **__: object):
        return cls()

    def lean_target(self, spec):
        return tiny(vocab=257)

    def encode(self, prompt, *, raw):
        return list(prompt.encode())


def test_the_command_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, capsys):
    from hsd_core import pipeline

    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    prompts, out, whole = tmp_path / "p.jsonl", tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    prompts.write_text("".join(json.dumps({"prompt": p, "category": "c"}) + "\n" for p in "abca"), encoding="utf-8")
    command = ["selfgen", "--prompts", str(prompts), "--max-new-tokens", "9", "--temperature", "0.8", "--batch", "2"]
    assert main([*command, "--out", str(whole)]) == 0
    assert main([*command, "--out", str(out), "--limit", "2"]) == 0
    with out.open("a", encoding="utf-8") as file:
        file.write('{"kind":"c","prom')
    assert main([*command, "--out", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == sorted(whole.read_text(encoding="utf-8").splitlines()) and len(lines) == 4
    assert json.loads(lines[0])["category"] == json.loads(lines[0])["kind"] == "c"
    assert "2 of 4 prompts to do" in capsys.readouterr().err


def test_the_prompts_are_not_written_to(tmp_path, monkeypatch, capsys):
    from hsd_core import pipeline

    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    prompts, link = tmp_path / "p.jsonl", tmp_path / "link.jsonl"
    line = '{"kind":"k","prompt_ids":[1,2],"output_ids":[4]}\n'  # a file of ours, read for its prompts
    prompts.write_text(line, encoding="utf-8")
    link.symlink_to(prompts)
    assert main(["selfgen", "--prompts", str(prompts), "--out", str(link), "--temperature", "1"]) == 2
    assert "give a new file" in capsys.readouterr().err
    assert prompts.read_text(encoding="utf-8") == line


def test_a_preset_without_a_transformer_says_so(tmp_path, capsys):
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"prompt": "a"}', encoding="utf-8")
    command = ["selfgen", "--preset", "toy", "--prompts", str(prompts), "--out", str(tmp_path / "o.jsonl")]
    assert main(command) == 2
    assert "lean decoder" in capsys.readouterr().err
    assert not (tmp_path / "o.jsonl").exists()


def test_nothing_to_do_writes_nothing():
    assert list(selfgen.generate(tiny(), [], GREEDY, ends=frozenset())) == []
