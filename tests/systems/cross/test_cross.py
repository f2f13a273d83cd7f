"""A draft model with another tokenizer: text goes over and back to the byte in any script; any two models fit."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import notes_of
import pytest
from families import TEXTS, save, tokenizer
from toys import output_of
from words_of import Words, crossed

import hsd_core
from hsd_core import cli
from hsd_core.core.notes import noted
from hsd_core.grammar.stack_text import StackError
from hsd_core.models.sampling import Sampling
from hsd_core.models.tokenizer import Tokenizer
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import target_preset, weights_named
from hsd_core.systems.cross.cross_level import CrossRun
from hsd_core.systems.cross.notes import Ruler
from hsd_core.systems.cross.retokenizing import Retokenizer, Speller, finished
from hsd_core.systems.cross.warping import edits, overlapping, warped
from hsd_core.trace.checks import check

SCRIPTS = (
    "The small level drafts a few tokens.  Two blanks, a tab\t and\n\na new line.",
    "def f(x):\n    return {1: 20304, 2: -7.5e-3}[x]",
    "小さなモデルが下書きし、大きなモデルが確かめる。小模型起草",
    "العربية من اليمين إلى اليسار ١٢٣",
    "Cafe\u0301 nai\u0308ve \u1e69 \u0928\u093f \uac01 \u1100\u1161\u11a8 A\u030a",
    "👩🏽‍💻 👍🏿 🇨🇭 ❤️ 𝔘𝔫𝔦",
    " leading, trailing ",
    "<|im_end|> and </s> are text here",
    "",
)


def fewer(folder: Path, merges: int) -> Tokenizer:
    """The families' tokenizer with its first merges alone, its ids in another order."""
    tokenizer().save_pretrained(folder)
    path = folder / "tokenizer.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    kept = spec["model"]["merges"][:merges]
    made = {"".join(one.split(" ") if isinstance(one, str) else one) for one in kept}
    added = {one["content"]: one for one in spec["added_tokens"]}
    vocabulary = [token for token in spec["model"]["vocab"] if token in added or token in made or len(token) == 1]
    spec["model"] |= {"vocab": {token: id_ for id_, token in enumerate(reversed(vocabulary))}, "merges": kept}
    for content, one in added.items():
        one["id"] = spec["model"]["vocab"][content]
    path.write_text(json.dumps(spec), encoding="utf-8")
    return Tokenizer(folder)


def metaspace(folder: Path) -> Tokenizer:
    """One that puts a blank before every text, as those of Llama 2 do, and has bytes for what it does not know."""
    from tokenizers import Tokenizer as Fast
    from tokenizers import decoders, models, normalizers, trainers

    made = Fast(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    made.decoder = decoders.ByteFallback()
    each = [f"<0x{byte:02X}>" for byte in range(256)]
    learns = trainers.BpeTrainer(vocab_size=380, special_tokens=["<unk>", "<s>", "</s>", *each], show_progress=False)
    made.train_from_iterator([text.replace(" ", "\u2581") for text in TEXTS], learns)
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    path = folder / "tokenizer.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["added_tokens"] = [one for one in spec["added_tokens"] if not one["content"].startswith("<0x")]
    path.write_text(json.dumps(spec), encoding="utf-8")
    return Tokenizer(folder)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tokenizer]:
    root = tmp_path_factory.mktemp("tokenizers")
    tokenizer().save_pretrained(root / "whole")
    found = {"whole": Tokenizer(root / "whole"), "fewer": fewer(root / "fewer", 12)}
    return {**found, "metaspace": metaspace(root / "metaspace")}


@pytest.mark.parametrize("name", ["whole", "fewer", "metaspace"])
def test_any_bytes_are_spelled_to_the_letter(tokenizers: dict[str, Tokenizer], name: str) -> None:
    own, rng = tokenizers[name], random.Random(7)
    broken = [bytes(rng.randrange(256) for _ in range(rng.randrange(1, 12))) for _ in range(60)]
    cut = [text.encode()[rng.randrange(4) : -1 - rng.randrange(4)] for text in SCRIPTS if len(text) > 8]
    for data in [text.encode() for text in SCRIPTS] + broken + cut:
        pieces = Speller(own).spell(data)
        assert b"".join(own.piece(id_) for id_, _ in pieces) == data
        ends = [end for _, end in pieces]
        assert ends == sorted(ends) and ends[-1:] in ([], [len(data)])
        assert not any(own.is_special(id_) for id_, _ in pieces)


@pytest.mark.parametrize(
    "pair", [("whole", "fewer"), ("fewer", "whole"), ("metaspace", "whole"), ("whole", "metaspace")]
)
def test_a_text_comes_back_from_the_other_vocabulary(tokenizers: dict[str, Tokenizer], pair: tuple[str, str]) -> None:
    own, target = (tokenizers[name] for name in pair)
    retokenizer, rng = Retokenizer(own, target), random.Random(3)
    for text in SCRIPTS:
        ids = [id_ for id_, _ in Speller(target).spell(text.encode())]
        ends = [sum(len(retokenizer.bytes_of(id_)) for id_ in ids[: at + 1]) for at in range(len(ids))]
        data = text.encode()
        mine = [*retokenizer.own(ids, ends, data, 0)]
        assert b"".join(own.piece(id_) for id_, _ in mine) == data
        for _ in range(8):  # from anywhere, in the middle of a character too: the same bytes, as many as stand for it
            cut = rng.randrange(len(ids) + 1)
            before = ids[:cut]
            at = ends[cut - 1] if cut else 0
            rest = retokenizer.target(before, data[at:], 10_000)
            assert b"".join(target.piece(id_) for id_ in rest) == data[at:]
            assert retokenizer.target(before, data[at:], 2) == rest[:2]


def test_warping_is_the_alignment_by_bytes_but_where_pieces_look_alike(tokenizers: dict[str, Tokenizer]) -> None:
    few, whole = tokenizers["fewer"], tokenizers["whole"]
    same = there = 0
    for text in filter(None, SCRIPTS):
        own, target = ([one.piece(id_) for id_, _ in Speller(one).spell(text.encode())] for one in (few, whole))
        beside, bytes_ = warped(own, target), overlapping(own, target)
        assert [at for place in beside for at in place] == sorted(at for place in beside for at in place)
        assert {at for place in beside for at in place} == set(range(len(own))) and all(beside)
        same, there = same + sum(map(list.__eq__, beside, bytes_)), there + len(target)
    assert 0.8 < same / there < 1.0
    assert warped([b"a", b"b"], [b"a", b"b"]) == overlapping([b"a", b"b"], [b"a", b"b"]) == [[0], [1]]
    own, target = [b"t", b"he", b"the"], [b"the", b"the"]
    assert overlapping(own, target) == [[0, 1], [2]]
    assert edits(b"kitten", b"sitting") == 3


def test_special_tokens_go_by_their_name_and_an_end_stays_an_end(tokenizers: dict[str, Tokenizer]) -> None:
    whole, few = tokenizers["whole"], tokenizers["fewer"]
    retokenizer = Retokenizer(few, whole)
    ends = [len(retokenizer.bytes_of(id_)) for id_ in (1, 2)]
    text = retokenizer.bytes_of(1) + retokenizer.bytes_of(2)
    mine = [id_ for id_, _ in retokenizer.own([1, 2], [ends[0], sum(ends)], text, 0)]
    assert mine == [few.specials["<s>"], few.specials["</s>"]] != [1, 2]
    assert few.end is not None and retokenizer.drafted([few.end]) == (b"", whole.end, [4])
    assert few.end in retokenizer.stops
    other = SimpleNamespace(**{k: getattr(few, k) for k in ("vocab_size", "piece", "is_special", "within", "start")})
    other.specials, other.end, other.eos_ids = {"<|end|>": few.end}, few.end, few.eos_ids
    foreign = Retokenizer(other, whole)  # of another name: an end is an end
    assert foreign.drafted([few.end]) == (b"", whole.end, [4])


def test_of_two_ids_for_the_same_bytes_the_first_is_shared() -> None:
    assert Retokenizer(Words((b"b", b"a")), Words((b"a", b"b", b"a"))).shared == {0: 1, 1: 0}


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"a", 1),
        ("é".encode(), 2),
        ("é".encode()[:1], 0),
        ("a👍".encode()[:4], 1),
        (b"a\x80\x80", 3),
        (b"\xff", 1),
        (b"", 0),
    ],
)
def test_a_character_that_is_cut_waits_for_its_end(data: bytes, whole: int) -> None:
    assert finished(data) == whole


def test_runs_over_pieces_of_characters_keep_their_caches_in_step() -> None:
    """Tables refuse a context that their cache contradicts, so a rollback that cuts elsewhere fails here."""
    thumb, e = "👍".encode(), "é".encode()
    own = [bytes([byte]) for byte in sorted({*thumb, *e, *b" ab"})]
    target = [thumb[:3], thumb[3:], thumb, e, e[:1], e[1:], b" a", b"a", b"b", b" ", b"ab "]
    kept = broken = 0
    for seed in range(30):
        pieces: Sequence[Sequence[bytes]] = (own, target) if seed % 2 else (target, own)
        map_ = "text" if seed % 3 else "shared"
        below, above = (Words(one, end=True) for one in pieces)
        stack = crossed(
            f"cross:{1 + seed % 5}@map={map_},table:2@policy=flush,table", below, above, seed, sharpness=2.5
        )
        ends = above.eos_ids
        for sampling in (Sampling(0.0), Sampling(1.0)):
            events = list(hsd_core.run(stack, [0, 1], sampling, seed, max_new_tokens=40, ends=ends))
            assert check(events) == []
            kept += sum(c.outcome == "accepted" for e in events if e.event == "verify" for c in e.checks)
            text = b"".join(above.piece(id_) for id_ in output_of(events))
            broken += b"".join(text.decode(errors="replace").encode().split()) != b"".join(text.split())
    assert kept > 50 and broken > 5


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("two")
    target, draft = save(root / "target", "llama-tied"), save(root / "draft", "qwen2", seed=1, layers=2)
    small = fewer(root / "words", 30)
    (draft / "tokenizer.json").write_text((root / "words/tokenizer.json").read_text())
    config = json.loads((draft / "config.json").read_text())
    (draft / "config.json").write_text(json.dumps({**config, "eos_token_id": small.specials["</s>"]}))
    (draft / "generation_config.json").unlink(missing_ok=True)
    return target, draft


def test_any_two_models_fit_by_target_and_draft(two: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    target, draft = map(str, two)
    preset = target_preset(target, draft)
    assert preset.default_stack == "cross:4,target" and preset.draft is None
    assert preset.stranger is not None and weights_named(preset, draft).id == draft
    command = [
        "generate",
        "--target",
        target,
        "--draft",
        draft,
        "--raw",
        "--prompt",
        "A draft",
        "--max-new-tokens",
        "12",
    ]
    assert cli.main(command) == 0
    said = capsys.readouterr()
    assert "draft has another tokenizer: it is the level cross" in said.err and "exact" in said.err
    assert cli.main(["models", "--target", target, "--draft", draft]) == 0
    listed = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("    O cross"))
    assert "usable" in listed and "weights" in listed
    with pytest.raises(StackError, match=r"tokenizer differs .* write cross:4@id="):
        Pipeline.open(preset, stack=f"model:2@id={draft},target")
    with pytest.raises(StackError, match="cross has no distribution and cannot verify"):
        Pipeline.open(preset, stack="ngram:2,cross:4,target")


@pytest.mark.parametrize("map_", ["text", "shared"])
def test_a_greedy_text_is_the_targets_and_the_trace_says_what_was_written(two: tuple[Path, Path], map_: str) -> None:
    pipeline = Pipeline.open(target_preset(*map(str, two)))
    stack = f"cross:4@map={map_},target"
    for prompt in SCRIPTS[:6]:
        events = list(pipeline.run(stack, prompt, raw=True, max_new_tokens=20))
        plain = list(pipeline.run("target", prompt, raw=True, max_new_tokens=20))
        assert output_of(events) == output_of(plain) and check(events) == []
    for seed in range(3):
        events = list(pipeline.run(stack, TEXTS[0], raw=True, temperature=1.0, seed=seed, max_new_tokens=24))
        assert check(events) == []
        assert any(notes_of.own(e) for e in events if e.event == "draft")
    (at, draft), *_ = ((at, e) for at, e in enumerate(events) if e.event == "draft" and e.ids)
    events[at] = msgspec.structs.replace(draft, notes=noted(Ruler((0,))))
    assert any("its own tokens (0,) have" in wrong for wrong in check(events))
    level = events[0].levels[0]
    assert level.params["map"] == map_ and level.params["vocabulary"] < level.params.get("shared", 0) + 320
    memory = pipeline.memory(stack, 64)
    assert memory.kept > pipeline.memory("target", 64).kept


def test_presets_name_strangers_that_are_other_presets() -> None:
    coder = PRESETS["qwen-coder"]
    assert coder.stranger == PRESETS["smollm2"].target
    assert weights_named(coder, "smollm2") == PRESETS["smollm2"].target


def test_of_a_draft_the_tokens_count_as_read_whose_bytes_the_draft_model_has_read() -> None:
    inner, retokenizer = SimpleNamespace(cached=3), SimpleNamespace(bytes_of=lambda id_: b"ab")
    run = CrossRun(inner, retokenizer, 9, "m", 9, None)  # type: ignore[arg-type]
    run._text, run._own_ends = bytearray(b"xx"), [2, 4, 6, 8]
    run._count([0], [1, 2, 3])  # type: ignore[arg-type]
    assert run.cached == 1 + 2, "its three ids end where the second of the target's does"
    inner.cached = 2
    run._count([0], [1, 2, 3])  # type: ignore[arg-type]
    assert run.cached == 1 + 1
