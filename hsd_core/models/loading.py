"""Opening a folder (config.json and safetensors) as a decoder, and checking that drafts cannot change its output.

Speculative decoding is exact only if a row depends on earlier tokens alone, and rejected tokens leave nothing in the
cache. A config does not tell this reliably, so it is measured on a few rows.
"""

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
from hsd_core.models.machine import out_of_memory, refuse

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.models.compiled.node_profile import NodeProfile

ROWS = 8
# Tolerances by dtype, relative to the spread of a row's logits: products of four and of eight rows round differently.
# A row that sees later tokens, or a state that is not rolled back, differs far more.
ROUNDING = {"float32": 1e-3}
COARSE = 0.05
ALIKE = 10  # a state that is read otherwise drifts away with every token


def check_opened(decoder: Decoder) -> Decoder:
    """The decoder, checked to work as a level.

    Raises:
        DecoderError: a later token changes an earlier row, a cache does not roll back, or a pass fails.
    """
    try:
        _check(decoder)
    except DecoderError:
        raise
    except Exception as error:  # the code of some model families takes no pass of several rows after a cache
        if out_of_memory(error):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise DecoderError(f"the model's own forward fails as a level runs it ({reason}); use another model") from error
    return decoder


def _check(decoder: Decoder) -> None:
    from hsd_core.models.one_pass import Pass  # imports torch, and listing models needs none

    rows = min(ROWS, decoder.max_positions)
    half = rows // 2
    if not half:
        return
    ids = [(k + 1) * decoder.vocab_size // (rows + 1) for k in range(rows)]
    changed = [*ids[:-1], ids[0]]
    whole = decoder.forward(Pass(ids, 0, rows), decoder.new_cache(rows))
    cache = decoder.new_cache(rows)
    other = decoder.forward(Pass(changed, 0, rows), cache)
    if cache.length != rows:
        raise DecoderError(f"the model keeps {cache.length} of {rows} positions that it read; {_FULL}")
    most = ROUNDING.get(decoder.dtype, COARSE)
    # passes of one size are equal to the last bit, except in a mixture of experts, which sorts its rows
    if float(_apart(whole[:-1], other[:-1]).max()) > (COARSE if decoder.dtype in QUANTISED else most):
        raise DecoderError(
            "a later token changes the model's earlier rows: it is an encoder, or reads both ways, and no draft can be "
            "checked by it; use a causal model (of a BERT: one saved with is_decoder)"
        )
    cache.cut(half)
    if cache.length < half:  # it goes back to copies of its state only
        decoder.forward(Pass(ids[:half]), cache)
        copy = cache.mark()
        for at in range(half, rows):
            alone = decoder.forward(Pass([ids[at]], at), cache)
        if float(_apart(whole[-1:], alone)) > (most / ALIKE if most < COARSE else most):
            raise DecoderError(
                "the model's own forward gives other rows to tokens that are read alone than to tokens that are read "
                "together, so no draft can be checked by it; use another model"
            )
        cache.restore(copy)
        decoder.forward(Pass(changed[half:], half), cache)
        cache.restore(copy)
    again = decoder.forward(Pass(ids[half:], half, rows - half), cache)
    # the median: a router of experts may choose another expert in some rows
    if float(_apart(whole[half:], again).median()) > most:
        raise DecoderError(
            f"after {rows - half} positions were taken back the model does not give the rows that it gave before: its "
            f"cache cannot roll back; {_FULL}"
        )


_FULL = "use a model with full or sliding attention and a cache of keys and values"


def _apart(one: Tensor, other: Tensor) -> Tensor:
    """(n,) the largest difference in each row, relative to the spread of its logits; 0 if not finite."""
    spread = one.amax(-1) - one.amin(-1)
    return ((one - other).abs().amax(-1) / spread).nan_to_num(0.0, 0.0)


DTYPES = ("float32", "bfloat16", "float16", *QUANTISED)
BITS = MappingProxyType(
    {"float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "int4": 4}
)  # of a weight, without its scales
KINDS = ("auto", "compiled", "lean", "transformers")
LANGUAGE = "language_model."  # before the names of the text's weights


def load_decoder(
    folder: str | Path,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    kind: str = "auto",
    vocab: int | None = None,
    progress: Callable[[float, float], None] = lambda done, total: None,
    profile: NodeProfile | None = None,
) -> Decoder:
    """A decoder over the weights in `folder`.

    Args:
        folder: holds config.json and *.safetensors (one file, or shards with their index).
        dtype: one of `DTYPES`; "int8" and "int4" are of the weights only, by the compiled and the lean decoder.
        device: "cpu", or a GPU of this machine: "cuda" or "cuda:N".
        kind: "compiled" (onnxruntime, on the CPU), "lean" (a forward pass in torch), "transformers" (any causal model),
            or "auto": the first of them that can run it.
        vocab: keep only the first `vocab` columns of the logits.
        progress: called with the number of opened layers and of all, if the decoder opens them one after another.
        profile: records the time of every node of a compiled decoder.
    Raises:
        DecoderError: the folder, the model or the options cannot work together; the message has the reason.
        TooLarge: the weights alone need more memory than is free.
    """
    return check_opened(_opened(Path(folder), dtype, device, kind, vocab, progress, profile))


def _opened(
    folder: Path,
    dtype: str,
    device: str,
    kind: str,
    vocab: int | None,
    progress: Callable[[float, float], None],
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

            weights = partial(opened_weights, folder)
            return CompiledDecoder(shape, weights, dtype=dtype, vocab=vocab, progress=progress, profile=profile)
        if kind == "compiled":
            raise DecoderError(f"{reason}; use the lean decoder")
    if shape is not None and kind in ("auto", "lean"):
        from hsd_core.models.gpu.graphs import cuda_graphs
        from hsd_core.models.lean.decoder import LeanDecoder

        graphs = None if device == "cpu" else cuda_graphs(device)
        with opened_weights(folder) as (tensor, names):
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
    from hsd_core.models.weights.source import text_of

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
        DecoderError: there are none, or only pickles.
    """
    from hsd_core.models.weights.source import text_of

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
    """The least memory of a folder's weights as `dtype`, from the files' headers.

    Raises:
        DecoderError: see `weight_files`.
    """
    numbers = 0
    for path in weight_files(folder):
        with _open(path) as opened:
            numbers += sum(prod(opened.get_slice(name).get_shape()) for name in opened.keys())  # noqa: SIM118
    return numbers * BITS[dtype] // 8


@contextmanager
def opened_weights(folder: Path) -> Iterator[tuple[Callable[[str], Tensor], set[str]]]:
    """The weights of a folder by name, and all names; those of a model that sees images without `LANGUAGE`."""
    with ExitStack() as stack:
        where: dict[str, tuple[Any, str]] = {}
        for path in weight_files(folder):
            opened = stack.enter_context(_open(path))
            where |= {name.removeprefix(LANGUAGE): (opened, name) for name in opened.keys()}  # noqa: SIM118

        def tensor(name: str) -> Tensor:
            opened, stored = where[name]
            found: Tensor = opened.get_tensor(stored)
            return found

        yield tensor, set(where)


def _open(path: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework="pt")
    except SafetensorError as error:
        raise DecoderError(f"{path} is damaged ({error}); download it again") from error


def known_device(device: str) -> str:
    """The normal name of a device: "cpu", "cuda" (the current GPU) or "cuda:N" (another one).

    Raises:
        DecoderError: this machine has no such device.
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
