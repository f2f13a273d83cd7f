"""Errors of files and libraries, as they really are: visitors read words, the log names the file."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.kit.faults import bare, in_words
from app.kit.payload import status
from app.serve.engine import stream
from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.settings import RunRequest
from hsd_core.models.loading import DecoderError
from hsd_core.models.weights import WeightsError


def missing(file: Path) -> None:
    (file.parent / "nothing").read_bytes()


def a_folder(file: Path) -> None:
    file.parent.read_bytes()


def safetensors(file: Path) -> None:
    safe = pytest.importorskip("safetensors")
    file.write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    safe.safe_open(file, "np")


def no_safetensors(file: Path) -> None:
    pytest.importorskip("safetensors").safe_open(file, "np")


def onnx(file: Path) -> None:
    ort = pytest.importorskip("onnxruntime")
    file.write_bytes(b"no model")
    ort.InferenceSession(str(file), providers=["CPUExecutionProvider"])


def no_onnx(file: Path) -> None:
    pytest.importorskip("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])


def mapped(file: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.UntypedStorage.from_file(str(file.parent), False, 64)  # a folder can be opened, not mapped


def not_mapped(file: Path) -> None:
    pytest.importorskip("torch").UntypedStorage.from_file(str(file), False, 64)


def allocated(file: Path) -> None:
    pytest.importorskip("torch").empty(2**50)


def not_loaded(file: Path) -> None:
    # as glibc says it of a library that it has no memory for; a package that is there is not lacking
    raise ImportError(f"{file}: failed to map segment from shared object", name="_safetensors_rust", path=str(file))


def of_another_system(file: Path) -> None:
    raise ImportError(f"{file}: version `GLIBC_2.99' not found", name="_safetensors_rust", path=str(file))


def not_installed(file: Path) -> None:
    import no_such_package  # noqa: F401


def archived(file: Path) -> None:
    file.write_bytes(b"x")
    zipfile.ZipFile(file)


def no_json(file: Path) -> None:
    json.loads("{")


def of_ours(file: Path) -> None:
    raise DecoderError(f"{file} is damaged (MetadataIncompleteBuffer); download it again")


def of_weights(file: Path) -> None:
    raise WeightsError(f"the cache folder {file.parent} cannot be used: Permission denied; set HSD_CACHE to another")


ERRORS: list[tuple[Callable[[Path], None], str]] = [
    (missing, "a file that the server needs cannot be read"),
    (a_folder, "a file that the server needs cannot be read"),
    (safetensors, "a file that the server needs cannot be read"),
    (no_safetensors, "a file that the server needs cannot be read"),
    (onnx, "a file that the server needs cannot be read"),
    (no_onnx, "a file that the server needs cannot be read"),
    (mapped, "a file that the server needs cannot be read"),
    (not_mapped, "a file that the server needs cannot be read"),
    (allocated, "there is not enough memory on the server"),
    (not_loaded, "there is not enough memory on the server"),
    (of_another_system, "the server cannot load the library _safetensors_rust; tell whoever runs it"),
    (not_installed, "the server lacks the package no_such_package"),
    (archived, "a file that the server needs cannot be read"),
    (no_json, "a file that the server needs cannot be read"),
    (of_ours, "of one visitor.bin is damaged (MetadataIncompleteBuffer); download it again"),
    (of_weights, "cannot be used: Permission denied; set HSD_CACHE to another"),
]


class Failing:
    """A pipeline whose weights cannot be opened."""

    def __init__(self, fails: Callable[[], None]) -> None:
        self._fails = fails

    def catalogue(self) -> list[dict[str, Any]]:
        return []

    def open(self, preset: str, **_: Any) -> Any:
        self._fails()


@pytest.mark.parametrize(("fails", "said"), ERRORS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_visitor_reads_words_and_the_log_names_the_file(
    fails: Callable[[Path], None], said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    run = Run("a" * 32)
    pipeline = Failing(lambda: fails(folder / "of one visitor.bin"))
    *_, last = stream(Loader(pipeline), RunRequest(run.name, "hi", "target", "toy"), run)
    text = last["status"]["text"]
    assert last["final"] and last["status"]["mode"] == "error" and said in text
    assert "/" not in text and tmp_path.name not in text and Path.home().name not in text.split()
    with pytest.raises(Exception) as raised:
        fails(folder / "of one visitor.bin")
    assert str(raised.value)[:60] in caplog.text and "Traceback" in caplog.text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/home/ann/.cache/hsd-explorer/smollm2.bin is damaged", "smollm2.bin is damaged"),
        ("cannot read '/srv/a b/c.bin': Permission denied", "cannot read 'c.bin': Permission denied"),
        ("from file </srv/x/y.bin>: Cannot (12)", "from file <y.bin>: Cannot (12)"),
        (r"C:\Users\Ann\x\y.bin and 'D:\\a b\\c.bin'", "y.bin and 'c.bin'"),
        ("see file:///srv/x/y.html", "see y.html"),
        ("~/models/mine is not a folder", "mine is not a folder"),
        (f"{Path.home()}/own: damaged", "own: damaged"),
        ("Load model from /srv/x/y.onnx failed:Protobuf", "Load model from y.onnx failed:Protobuf"),
        ("/srv/x/a.bin, /srv/x/b.bin", "a.bin, b.bin"),
        # what is not a folder stays
        ("12 tokens/s, 3/4 of a/b/c; 1 / 2 / 3", "12 tokens/s, 3/4 of a/b/c; 1 / 2 / 3"),
        ("see https://huggingface.co/a/b/c", "see https://huggingface.co/a/b/c"),
        ("a hub id looks like OWNER/NAME", "a hub id looks like OWNER/NAME"),
        ("python -m hsd_core --help", "python -m hsd_core --help"),
    ],
)
def test_folders_are_left_out_of_sentences(text: str, left: str) -> None:
    assert bare(text) == left
    assert status("error", text)["text"] == left
    assert status("live", text)["text"] == text


def test_every_error_has_words() -> None:
    class Odd(Exception):
        pass

    for error in (
        Odd("/srv/x/y"),
        Odd(),
        ValueError(),
        MemoryError(),
        ImportError("x", name="onnxruntime"),
        EOFError(),
    ):
        text = in_words(error)
        assert len(text) > 20 and "/" not in text and not re.search(r"\s$", text)
    mapped = "unable to mmap 269060552 bytes from file </srv/x/model.safetensors>: Cannot allocate memory (12)"
    assert "not enough memory" in in_words(RuntimeError(mapped))
    assert "onnxruntime" in in_words(ImportError("x", name="onnxruntime"))
