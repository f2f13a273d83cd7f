"""Opening a folder (config.json and safetensors) as a decoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hsd_core.models import machine
from hsd_core.models.decoder_protocol import QUANTISED, Decoder, DecoderError
from hsd_core.models.machine import refuse

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.models.compiled.node_profile import NodeProfile

DTYPES = ("float32", "bfloat16", "float16", *QUANTISED)
BITS = MappingProxyType(
    {"float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "int4": 4}
)  # of a weight, without its scales
KINDS = ("auto", "compiled", "lean", "transformers")


def load_decoder(
    folder: str | Path,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    kind: str = "auto",
    vocab: int | None = None,
    told: Callable[[float, float], None] = lambda done, total: None,
    profile: NodeProfile | None = None,
) -> Decoder:
    """A decoder over the weights in `folder`.

    Args:
        folder: holds config.json and *.safetensors (one file, or shards with their index).
        dtype: one of `DTYPES`; "int8" and "int4" are weights alone, by the compiled and the lean decoder.
        device: "cpu", or a GPU that is here: "cuda" or "cuda:N".
        kind: "compiled" (onnxruntime, on the CPU), "lean" (our own forward in torch), "transformers" (any causal
            model), or "auto": the first of them that can.
        vocab: keep only the first `vocab` columns of the logits.
        told: called with layers that are open, and all, where a decoder opens them one after another.
        profile: writes down what every node of a compiled decoder takes.
    Raises:
        DecoderError: the folder, the model or the options cannot work together; the message says why.
        TooLarge: the weights alone take more memory than is free.
    """
    from hsd_core.models.opening_check import check_opened

    return check_opened(_opened(Path(folder), dtype, device, kind, vocab, told, profile))


def _opened(
    folder: Path,
    dtype: str,
    device: str,
    kind: str,
    vocab: int | None,
    told: Callable[[float, float], None],
    profile: NodeProfile | None,
) -> Decoder:
    from hsd_core.models.compiled import refusal
    from hsd_core.models.lean.shape import LeanShape

    if dtype not in DTYPES:
        raise DecoderError(f"dtype {dtype!r} is not known; use one of {', '.join(DTYPES)}")
    if kind not in KINDS:
        raise DecoderError(f"decoder {kind!r} is not known; use one of {', '.join(KINDS)}")
    device = known_device(device)
    config = read_config(folder)
    needed, cure = least_bytes(folder, dtype), "take int8 or int4, a smaller model or fewer levels"
    refuse(needed, machine.free_bytes(device), f"the model in {folder.name}, as {dtype},", cure)
    shape = None
    try:
        shape = LeanShape.from_config(config)
    except DecoderError:
        if kind in ("compiled", "lean"):
            raise
    if shape is not None and kind in ("auto", "compiled"):
        if not (reason := refusal(shape, dtype, device)):
            from hsd_core.models.compiled.decoder import CompiledDecoder

            weights = partial(_weights, folder)
            return CompiledDecoder(shape, weights, dtype=dtype, vocab=vocab, told=told, profile=profile)
        if kind == "compiled":
            raise DecoderError(f"{reason}; use the lean decoder")
    if shape is not None and kind in ("auto", "lean"):
        from hsd_core.models.gpu.graphs import cuda_graphs
        from hsd_core.models.lean.decoder import LeanDecoder

        graphs = None if device == "cpu" else cuda_graphs(device)
        with _weights(folder) as (tensor, names):
            return LeanDecoder(shape, tensor, names, dtype=dtype, device=device, vocab=vocab, graphs=graphs)
    if dtype in QUANTISED:
        raise DecoderError(
            f"{dtype} needs the lean decoder, which does not run model type {config.get('model_type')!r}; use float32"
        )
    from hsd_core.models.hf import TransformersDecoder

    for path in weight_files(folder):  # refuses a folder of pickles before transformers sees it
        with _open(path):
            pass
    return TransformersDecoder(folder, config, dtype=dtype, device=device, vocab=vocab)


def read_config(folder: Path) -> dict[str, Any]:
    """config.json as a dict.

    Raises:
        DecoderError: it is missing or not JSON.
    """
    from hsd_core.models.weights.errors import text_of

    path = folder / "config.json"
    try:
        config = json.loads(text_of(path))
    except FileNotFoundError:
        raise DecoderError(f"{folder} has no config.json; name a folder with a transformers model") from None
    except (OSError, ValueError) as error:
        raise DecoderError(f"{path} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise DecoderError(f"{path} is not a config of a model; fetch it again")
    return config


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder, in order.

    Raises:
        DecoderError: there are none; a folder of pickles is refused by name.
    """
    from hsd_core.models.weights.errors import text_of

    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(text_of(index))["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DecoderError(f"{index} is not an index of weights; download it again") from error
        files = [folder / Path(name).name for name in names]
    else:
        files = sorted(folder.glob("*.safetensors"))
    missing = [f.name for f in files if not f.is_file()]
    if missing:
        raise DecoderError(f"{folder} lacks {missing[0]}, which its index names; download it again")
    if not files:
        pickles = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
        why = f"only {pickles[0].name}, a pickle, which may run code when opened" if pickles else "no *.safetensors"
        raise DecoderError(f"{folder} has {why}; convert the weights to safetensors")
    return files


def least_bytes(folder: Path, dtype: str) -> int:
    """What the weights of a folder take in memory at least, kept as `dtype`; reads their headers alone.

    Raises:
        DecoderError: see `weight_files`.
    """
    numbers = 0
    for path in weight_files(folder):
        with _open(path) as opened:
            numbers += sum(prod(opened.get_slice(name).get_shape()) for name in opened.keys())  # noqa: SIM118
    return numbers * BITS[dtype] // 8


@contextmanager
def _weights(folder: Path) -> Iterator[tuple[Callable[[str], Tensor], set[str]]]:
    """The weights of a folder by name, and all names."""
    with ExitStack() as stack:
        where: dict[str, Any] = {}
        for path in weight_files(folder):
            opened = stack.enter_context(_open(path))
            where |= dict.fromkeys(opened.keys(), opened)
        yield lambda name: where[name].get_tensor(name), set(where)


def _open(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework="pt")
    except SafetensorError as error:
        raise DecoderError(f"{path} is damaged ({error}); download it again") from error


def known_device(device: str) -> str:
    """The one name of a device that is here: "cpu", "cuda" (the current GPU) or "cuda:N" (another one).

    Raises:
        DecoderError: there is no such device, or not here.
    """
    import torch

    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise DecoderError(f"device {device[:80]!r} is not known; use cpu, cuda or cuda:N") from error
    if wanted.type not in ("cpu", "cuda"):
        raise DecoderError(f"device {device!r} is not supported; use cpu or cuda")
    if wanted.type == "cpu":
        if wanted.index is not None:
            raise DecoderError(f"device {device!r} is not known: the CPU is one device; use cpu")
        return "cpu"
    if not torch.cuda.is_available():
        raise DecoderError("no CUDA device was found; use --device cpu")
    if wanted.index is None or wanted.index == torch.cuda.current_device():
        return "cuda"
    if not 0 <= wanted.index < torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise DecoderError(f"device {device!r} is not here; use {'cuda' if last == 0 else f'cuda:0 to cuda:{last}'}")
    return f"cuda:{wanted.index}"
