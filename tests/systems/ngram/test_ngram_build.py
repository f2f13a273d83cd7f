"""Claims about building, saving and loading the static databases."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from hsd_core.models.database_file import NgramError
from hsd_core.systems.ngram.build import build_model_db, build_text_db, count_ngrams
from hsd_core.systems.ngram.databases import REACH, open_databases
from hsd_core.systems.ngram.model_db import load_model_db
from hsd_core.systems.ngram.text_db import load_text_db

SHIPPED = Path(__file__).parents[3] / "assets" / "ngram"
ANY = {"min_key": 1, "max_key": 4, "min_count": 1, "min_share": 0.0}


def record(output, prompt=(1,), **more):
    return {"prompt_ids": list(prompt), "output_ids": list(output), **more}


@pytest.fixture
def outputs(tmp_path):
    def write(*records, name="outputs.jsonl"):
        path = tmp_path / name
        data = "".join(json.dumps(r) + "\n" for r in records).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def tokenizer(tmp_path):
    words = ["the", "cat", "sat", "on", "mat", "dog", "[UNK]"]
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_an_ngram_counts_once_per_output(outputs, tmp_path):
    path = outputs(record([5, 6, 5, 6, 5, 6], [1]), record([5, 6], [2]), record([5, 7], [3]))
    made = build_model_db(path, tmp_path / "m.npz", min_outputs=1)
    assert made.continuations([5]) == [(6, 2), (7, 1)]
    table = made.tables[1]
    assert set(table.seen[table.keys == 5].tolist()) == {3}


def test_outputs_of_one_prompt_are_one_text(outputs, tmp_path):
    path = outputs(record([5, 6], [1]), record([5, 6], [1]), record([7, 8], [1]), record([7, 8], [2]))
    made = build_model_db(path, tmp_path / "m.npz", min_outputs=2)
    assert made.continuations([5]) == []
    assert made.continuations([7]) == [(8, 2)]


def test_ngrams_of_one_output_only_are_left_out(outputs, tmp_path):
    path = outputs(record([5, 6, 9], [1]), record([5, 6, 8], [2]))
    made = build_model_db(path, tmp_path / "m.npz")
    assert made.continuations([5]) == [(6, 2)]
    assert made.continuations([6]) == []
    assert all(int(t.count.min(initial=2)) >= 2 for t in made.tables.values())


def test_what_follows_a_loop_is_dropped(outputs, tmp_path):
    path = outputs(record([5, 6, 7, 8, 7, 8], [1], loop_from=3), record([5, 6, 7, 8], [2]), record([5, 6, 7], [3]))
    made = build_model_db(path, tmp_path / "m.npz", min_outputs=1)
    assert made.continuations([6]) == [(7, 3)]
    assert made.continuations([7]) == [(8, 1)]
    assert made.continuations([8]) == []


def test_a_key_may_reach_into_the_prompt_but_prompt_text_is_never_an_answer(outputs, tmp_path):
    path = outputs(record([5, 6], [2, 3, 4]), record([5, 6], [9, 3, 4]))
    made = build_model_db(path, tmp_path / "m.npz")
    assert made.continuations([4]) == [(5, 2)]
    assert made.continuations([3, 4]) == [(5, 2)]
    assert made.continuations([3]) == []


def test_seven_continuations_a_key_are_kept_the_commonest_first():
    texts = [([i], [50, token]) for i, token in enumerate([60, 60, *range(61, 70)])]
    made = count_ngrams(texts, 100, min_outputs=1)
    assert made.continuations([50]) == [(60, 2), *[(t, 1) for t in range(61, 67)]]


def test_gzip_and_plain_files_give_the_same_database(outputs, tmp_path):
    records = [record([5, 6, 7], [1]), record([5, 6, 7], [2])]
    plain = build_model_db(outputs(*records), tmp_path / "a.npz")
    packed = build_model_db(outputs(*records, name="outputs.jsonl.gz"), tmp_path / "b.npz")
    for length, table in plain.tables.items():
        assert table.keys.tolist() == packed.tables[length].keys.tolist()


def test_a_model_database_survives_the_round_trip(outputs, tmp_path, tokenizer):
    path = outputs(record([2, 3, 4], [1]), record([2, 3, 4], [0]))
    seen = []
    made = build_model_db(
        path,
        tmp_path / "m.npz",
        tokenizer_file=tokenizer,
        tokenizer_name="toy",
        source="made up",
        progress=lambda *a: seen.append(a),
    )
    back = load_model_db(tmp_path / "m.npz", tokenizer=made.header["tokenizer"]["digest"])
    assert {k: v for k, v in back.header.items() if k not in ("kind", "schema")} == json.loads(json.dumps(made.header))
    assert back.header["source"]["lines"] == 2
    assert back.header["source"]["name"] == "made up"
    assert back.header["tokenizer"]["name"] == "toy"
    for length, table in made.tables.items():
        for name in ("keys", "next", "count", "seen"):
            assert getattr(back.tables[length], name).tolist() == getattr(table, name).tolist()
    assert back.find([2, 3], **ANY) == (4, 2)
    assert {stage for stage, _, _ in seen} == {"reading", "counting", "writing"}


def test_a_text_database_survives_the_round_trip(tmp_path, tokenizer):
    folder = tmp_path / "texts" / "deeper"
    folder.mkdir(parents=True)
    (folder / "b.txt").write_text("the cat sat on the mat")
    (folder.parent / "a.md").write_text("the dog sat on the mat\n")
    (folder.parent / "picture.bin").write_bytes(b"\xff\xfe\x00\x01")
    made = build_text_db(folder.parent, tokenizer, tmp_path / "s.npz", source="made up", licence="CC0")
    back = load_text_db(tmp_path / "s.npz", tokenizer=made.header["tokenizer"]["digest"])
    assert back.tokens.tolist() == made.tokens.tolist() == [0, 5, 2, 3, 0, 4, 7, 0, 1, 2, 3, 0, 4, 7]
    assert back.order.tolist() == made.order.tolist()
    assert [f["name"] for f in back.header["source"]["files"]] == ["a.md", "deeper/b.txt"]
    assert back.header["source"]["licence"] == "CC0"
    assert back.find([2, 3], **ANY) == (0, 2)
    assert back.find([0], **ANY) == (4, 1)


def test_max_tokens_ends_the_reading(tmp_path, tokenizer):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("the cat sat on the mat")
    (folder / "b.txt").write_text("the dog")
    made = build_text_db(folder, tokenizer, tmp_path / "s.npz", max_tokens=3)
    assert made.tokens.tolist() == [0, 1, 2, 7]


def test_a_folder_without_text_is_refused(tmp_path, tokenizer):
    (tmp_path / "empty").mkdir()
    with pytest.raises(NgramError, match="no UTF-8 text file"):
        build_text_db(tmp_path / "empty", tokenizer, tmp_path / "s.npz")
    assert not (tmp_path / "s.npz").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: "),
        ('{"prompt_ids": [1]}', "line 1: "),
        ('{"prompt_ids": [1], "output_ids": [1.5]}', "line 1: "),
        ('{"prompt_ids": [1], "output_ids": "text"}', "line 1: "),
        ('{"prompt_ids": [1], "output_ids": [2, 3]}', "no n-gram occurs in 2 or more"),
        ("", "no n-gram occurs in 2 or more"),
    ],
)
def test_a_bad_record_is_refused(tmp_path, line, says):
    (tmp_path / "in.jsonl").write_text(line)
    with pytest.raises(NgramError, match=says):
        build_model_db(tmp_path / "in.jsonl", tmp_path / "m.npz")
    assert not (tmp_path / "m.npz").exists()


def test_ids_beyond_the_vocabulary_are_refused(outputs, tmp_path):
    with pytest.raises(NgramError, match="beyond the vocabulary of 6"):
        build_model_db(outputs(record([5, 6])), tmp_path / "m.npz", vocab_size=6)


def test_a_missing_file_is_named(tmp_path):
    for load in (load_model_db, load_text_db):
        with pytest.raises(NgramError, match=r"nothing\.npz: no such n-gram database"):
            load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("load", [load_model_db, load_text_db])
@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x04pickled", b"PK\x03\x04 cut"])
def test_a_file_that_is_no_database_is_refused(tmp_path, load, data):
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(NgramError, match="damaged, or not an n-gram database"):
        load(tmp_path / "x.npz")


def test_a_truncated_or_flipped_file_is_refused(outputs, tmp_path):
    path = tmp_path / "m.npz"
    build_model_db(outputs(record([5, 6, 7], [1]), record([5, 6, 7], [2])), path)
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:90] + bytes(b ^ 255 for b in data[90:130]) + data[130:]):
        path.write_bytes(damaged)
        with pytest.raises(NgramError, match="damaged"):
            load_model_db(path)


def test_a_pickle_inside_is_never_opened(tmp_path):
    np.savez(tmp_path / "x.npz", header=np.array([{"kind": "model"}], dtype=object))
    with pytest.raises(NgramError, match="damaged, or not an n-gram database"):
        load_model_db(tmp_path / "x.npz")


def rewrite(path, header=None, **arrays):
    with np.load(path) as file:
        whole = dict(file)
    kept = {**json.loads(whole.pop("header").tobytes()), **(header or {})}
    np.savez(path, header=np.frombuffer(json.dumps(kept).encode(), np.uint8), **{**whole, **arrays})


@pytest.fixture
def saved(outputs, tmp_path, tokenizer):
    path = tmp_path / "m.npz"
    build_model_db(outputs(record([2, 3, 4], [1]), record([2, 3, 4], [0])), path, tokenizer_file=tokenizer)
    return path


def test_another_kind_schema_or_tokenizer_is_refused(saved):
    with pytest.raises(NgramError, match="expected a database of kind 'text', found 'model'"):
        load_text_db(saved)
    with pytest.raises(NgramError, match="made with another tokenizer"):
        load_model_db(saved, tokenizer="0" * 64)
    rewrite(saved, {"schema": 99})
    with pytest.raises(NgramError, match="schema 99, this version reads 1"):
        load_model_db(saved)


def test_a_database_is_opened_by_letter_or_by_file_and_only_for_its_tokenizer(saved, tokenizer, tmp_path):
    digest = load_model_db(saved).header["tokenizer"]["digest"]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("the cat sat on the mat")
    own = tmp_path / "s.npz"
    build_text_db(tmp_path / "texts", tokenizer, own)
    opened = open_databases(["c", own], {"m": saved, "s": None}, digest)
    assert (opened.order, opened.model_db, opened.files) == ("cs", None, {"s": "s.npz"})
    assert opened.text_db.tokens.tolist() == load_text_db(own).tokens.tolist()
    assert opened.reach["s"].min_count < REACH["s"].min_count
    shipped = open_databases(["m", "c"], {"m": saved, "s": own}, digest)
    assert (shipped.order, shipped.text_db, shipped.files, shipped.reach) == ("mc", None, {}, {})
    assert shipped.model_db.continuations([2]) == load_model_db(saved).continuations([2])
    with pytest.raises(NgramError, match=r"m\.npz: it is what a target wrote \(m\), and so is the preset's m"):
        open_databases(["m", saved], {"m": saved, "s": None}, digest)
    with pytest.raises(NgramError, match=r"made with another tokenizer \(unnamed.*ngram-text --preset P"):
        open_databases([own], {}, "0" * 64)


def test_a_database_that_names_no_tokenizer_is_for_no_target(outputs, tmp_path):
    build_model_db(outputs(record([5, 6], [1]), record([5, 6], [2])), tmp_path / "m.npz")
    assert load_model_db(tmp_path / "m.npz")
    with pytest.raises(NgramError, match="made with a tokenizer that it does not name; build one with"):
        open_databases([tmp_path / "m.npz"], {}, "0" * 64)


@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x04pickled", b"PK\x03\x04 cut", b"\x93NUMPY\x01\x00"])
def test_a_file_of_any_other_kind_gives_one_line_with_the_cure(tmp_path, data):
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(NgramError, match=r"x\.npz: damaged, or not an n-gram database .*hsd_core ngram-text") as caught:
        open_databases([tmp_path / "x.npz"], {}, "0" * 64)
    assert "\n" not in str(caught.value) and "allow_pickle" not in str(caught.value)
    with pytest.raises(NgramError, match=r"y\.npz: no such n-gram database; build one with"):
        open_databases([tmp_path / "y.npz"], {}, "0" * 64)


def test_numbers_that_are_no_ids_are_refused(saved, tmp_path, tokenizer):
    with np.load(saved) as file:
        following = file["next1"].astype(np.int64)
    rewrite(saved, next1=following - 100)
    with pytest.raises(NgramError, match="unknown ids"):
        load_model_db(saved)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("the cat sat on the mat")
    made = build_text_db(tmp_path / "texts", tokenizer, tmp_path / "s.npz")
    rewrite(tmp_path / "s.npz", tokens=made.tokens.astype(np.int64) - 100)
    with pytest.raises(NgramError, match="not a row of ids"):
        load_text_db(tmp_path / "s.npz")


def test_keys_out_of_order_or_of_unknown_ids_are_refused(saved):
    with np.load(saved) as file:
        keys, following = file["keys1"], file["next1"]
    rewrite(saved, keys1=keys[::-1])
    with pytest.raises(NgramError, match="out of order"):
        load_model_db(saved)
    rewrite(saved, keys1=keys, next1=following + 7)
    with pytest.raises(NgramError, match="unknown ids"):
        load_model_db(saved)
    rewrite(saved, next1=following[:1])
    with pytest.raises(NgramError, match="differ in size"):
        load_model_db(saved)


def test_a_text_whose_order_does_not_sort_it_is_refused(tmp_path, tokenizer):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("the cat sat on the mat")
    path = tmp_path / "s.npz"
    made = build_text_db(tmp_path / "texts", tokenizer, path)
    for order in (made.order[::-1], made.order[:3], made.order + 5):
        rewrite(path, order=order)
        with pytest.raises(NgramError, match="damaged"):
            load_text_db(path)


def test_the_shipped_databases_are_small_and_name_their_sources():
    model = load_model_db(SHIPPED / "smollm2-model.npz")
    text = load_text_db(SHIPPED / "smollm2-text.npz")
    assert model.header["tokenizer"]["digest"] == text.header["tokenizer"]["digest"]
    assert all(path.stat().st_size < 10_000_000 for path in SHIPPED.iterdir())
    assert model.header["source"]["name"]
    assert text.header["source"]["licence"]
    readme = (SHIPPED / "README.md").read_text()
    for name in ("python3.11-doc", "dict-jargon", "dict-devil"):
        assert name in text.header["source"]["name"]
        assert name in readme
    assert all(int(table.count.min()) >= 2 for table in model.tables.values())
