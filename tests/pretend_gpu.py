"""A GPU that is none: tensors say that they are on "cuda:0", lie in ordinary memory, and refuse what CUDA refuses.

No machine that tests this project is sure to have a GPU. What goes wrong there first is placement: an operation over
tensors of two devices, a read of GPU memory as if it were the CPU's, a table that was never moved. `PretendGpu` finds
those with the real engine and real weights; kernels, memory and speed of a GPU it cannot show.

It counts the waits: each of them halts a GPU's queue. To read a value is one (`item`, `tolist`, `cpu`, ...), so is a
copy from memory of the CPU that is not `non_blocking`, a list or a tensor of the CPU as an index, and whatever has as
many results as there are hits (`nonzero`). A `non_blocking` copy to the CPU is there after `synchronize`, not before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

GPU = torch.device("cuda", 0)
NAME = "a pretended GPU"
# What CUDA allows over two devices: copies, and indices that lie on the CPU.
_INDEXES = {"__getitem__", "__setitem__", "index_put_"}
_ACROSS = {"to", "type_as", "copy_", *_INDEXES}
_WAITS = {"item", "tolist", "__float__", "__int__", "__bool__", "__index__", "cpu", "numpy"}
_READS = {"numpy", "__array__", "data_ptr"}
_COUNTS_HITS = {"nonzero", "masked_select", "unique", "bincount"}
_HALVES = {torch.bfloat16, torch.float16}
_TAKES_VALUES = {"tensor", "as_tensor", "new_tensor"}


class OnGpu(Tensor):
    """A tensor that is on the pretended GPU."""


class PretendGpu(TorchFunctionMode):
    """While it is entered, "cuda" is a device."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()
        self.capability = (9, 0)
        self.fetched_bytes = 0  # that went to the host
        self._underway: list[tuple[Tensor, Tensor]] = []  # (to, what) of copies that nobody has waited for

    def synchronize(self) -> None:
        """Wait for everything."""
        self.waits["synchronize"] += 1
        with torch._C.DisableTorchFunctionSubclass():
            for to, what in self._underway:
                to.copy_(what)
        self._underway.clear()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if (said := _said(func, name, args)) is not None:
            return said
        tensors = _tensors((args, kwargs))
        here = [one for one in tensors if isinstance(one, OnGpu)]
        strangers = [one for one in tensors if not isinstance(one, OnGpu) and one.dim()]
        if here and strangers and name not in _ACROSS:
            raise RuntimeError(f"{name}: expected all tensors on the same device, found cuda:0 and cpu")
        if name in _INDEXES and not isinstance(args[0], OnGpu) and any(isinstance(i, OnGpu) for i in _tensors(args[1])):
            raise RuntimeError(f"{name}: a tensor of the cpu can't be indexed by one of cuda:0")
        if name in _READS and here:
            raise TypeError(f"{name}: can't read a tensor of cuda:0 as the CPU's")
        quick = bool(kwargs.get("non_blocking", name == "copy_" and args[2:] == (True,)))
        kwargs.pop("pin_memory", None)
        if name == "pin_memory":
            return args[0].clone()
        place, args, kwargs = _placed(name, args, kwargs)
        on_gpu = bool(here) if place is None else place.type == "cuda"
        if wait := _wait(name, args, bool(here), on_gpu, quick):
            self.waits[wait] += 1
        if name == "copy_" and quick and here and not isinstance(args[0], OnGpu):
            with torch._C.DisableTorchFunctionSubclass():
                args[0].fill_(0 if not args[0].is_floating_point() else float("nan"))
                self._underway.append((args[0], args[1].as_subclass(Tensor).clone()))
                self.fetched_bytes += args[1].nbytes
            return args[0]
        with torch._C.DisableTorchFunctionSubclass():
            func, args = _as_cuda_alone_does(func, name, args, kwargs, bool(here))
            out = func(*args, **kwargs)
            if (
                place is not None
                and len(tensors) == 1
                and isinstance(out, Tensor)
                and isinstance(args[0], OnGpu) != on_gpu
            ):
                out = out.clone()  # another device is other memory
        if name.endswith("_") and not name.endswith("__"):
            return args[0] if args else next(iter(kwargs.values()))  # in place
        return tree_map(lambda one: _put(one, on_gpu) if isinstance(one, Tensor) else one, out)


@contextmanager
def pretend_gpu() -> Iterator[PretendGpu]:
    """A machine with a GPU of that kind."""
    cuda = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda *_: NAME,
        "current_device": lambda: 0,
        "Event": PretendEvent,
        "get_device_capability": lambda *_: mode.capability,
        "is_bf16_supported": lambda *_, **__: mode.capability >= (8, 0),  # which torch asks too
        "empty_cache": lambda: None,
        "reset_peak_memory_stats": lambda *_: None,
        **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved"), lambda *_: 0),
        "is_current_stream_capturing": lambda: False,
    }
    # A build of torch for CUDA asks the accelerator for its stream before an optimizer's step; there is no driver.
    none = patch.object(torch.accelerator, "current_accelerator", lambda *_, **__: None)
    mode = PretendGpu()
    cuda |= {"current_stream": lambda *_: mode, "synchronize": lambda *_: mode.synchronize()}
    with patch.multiple(torch.cuda, **cuda), none, mode:
        yield mode


class PretendEvent:
    """A mark in a stream that is none: what is before it is over at once."""

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing, "it is asked for its time"
        self.at = 0.0

    def record(self, stream: object) -> None:
        self.at = time.perf_counter()

    def query(self) -> bool:
        return self.at > 0

    def elapsed_time(self, end: PretendEvent) -> float:
        return 1e3 * (end.at - self.at)


def _said(func: Callable[..., Any], name: str, args: tuple[Any, ...]) -> Any:
    """What a tensor says of its place; None where that is not asked."""
    if name == "__get__" and args and isinstance(args[0], Tensor):
        on_gpu, asked = isinstance(args[0], OnGpu), getattr(func, "__self__", None)
        answers = {
            Tensor.device: GPU if on_gpu else torch.device("cpu"),
            Tensor.is_cuda: on_gpu,
            Tensor.is_cpu: not on_gpu,
        }
        return answers.get(asked)
    if name == "_has_compatible_shallow_copy_type":  # asked where a module moves
        return isinstance(args[0], OnGpu) == isinstance(args[1], OnGpu)
    return None


def _wait(name: str, args: tuple[Any, ...], here: bool, on_gpu: bool, quick: bool) -> str | None:
    """What a call waits for, if for anything. here: it is given a tensor of the GPU. on_gpu: its result lies there."""
    if here and name in _WAITS | _COUNTS_HITS:
        return name
    if name in _TAKES_VALUES and on_gpu:
        return "upload"
    if name in ("to", "cuda", "type_as") and isinstance(args[0], OnGpu) != on_gpu and not quick:
        return "upload" if on_gpu else "cpu"
    if name == "copy_" and isinstance(args[0], OnGpu) != isinstance(args[1], OnGpu) and not quick:
        return "upload" if isinstance(args[0], OnGpu) else "cpu"
    if name in _INDEXES and isinstance(args[0], OnGpu):
        parts = args[1] if isinstance(args[1], tuple) else (args[1],)
        for part in parts:
            if isinstance(part, list) or (isinstance(part, Tensor) and _halts(part)):
                return "index"
    return None


def _as_cuda_alone_does(
    func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any], here: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What the CPU has no kernel for: products of halves in float32."""
    if name == "mm" and (wide := kwargs.pop("out_dtype", None)) is not None:
        if not here or wide != torch.float32 or any(one.dtype not in _HALVES for one in args[:2]):
            raise RuntimeError(f"mm: out_dtype is CUDA's, float32 of halves; got {[one.dtype for one in args[:2]]}")
        return torch.mm, tuple(one.float() for one in args[:2])
    if name == "_convert_weight_to_int4pack":  # pairs of codes, the first one in the high bits
        pairs, tiles = args
        if not here or pairs.dtype != torch.uint8 or pairs.shape[0] % 8 or 2 * pairs.shape[1] % (16 * tiles):
            raise RuntimeError(f"{name}: uint8 of whole tiles on CUDA; got {pairs.dtype} {tuple(pairs.shape)}")
        codes = torch.stack((pairs >> 4, pairs & 15), -1).flatten(1).int()
        return torch.ops.aten._convert_weight_to_int4pack_for_cpu, (codes, 1)
    if name == "_weight_int4pack_mm":
        if not here or args[0].dtype != torch.bfloat16 or not args[0].is_contiguous():
            raise RuntimeError(f"{name}: contiguous bfloat16 on CUDA; got {args[0].dtype}")
        return torch.ops.aten._weight_int4pack_mm_for_cpu, args
    if name == "_scaled_dot_product_efficient_attention":
        if not here or any(one.stride(-1) != 1 for one in args[:4]) or len({one.dtype for one in args[:4]}) > 1:
            raise RuntimeError(f"{name}: tensors of one dtype, the last dimension in a row, on CUDA")
        return _with_sums, args
    return func, args


def _with_sums(q: Tensor, keys: Tensor, values: Tensor, bias: Tensor, wanted: bool) -> tuple[Tensor, ...]:
    """Attention and the logarithms of its sums, whose rows the kernel rounds up to 32."""
    scores = (q.float() @ keys.float().transpose(-1, -2)) * q.shape[-1] ** -0.5 + bias.float()
    sums = torch.nn.functional.pad(scores.logsumexp(-1), (0, -q.shape[2] % 32), value=float("inf"))
    out = (scores.softmax(-1) @ values.float()).to(q.dtype)
    return out, sums if wanted else sums[..., :0], torch.zeros(()), torch.zeros(())


def _halts(index: Tensor) -> bool:
    """Indices of the CPU are uploaded, a lone one is read, and of a mask the hits are counted."""
    return not isinstance(index, OnGpu) or not index.dim() or index.dtype == torch.bool


def _placed(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[torch.device | None, tuple[Any, ...], dict[str, Any]]:
    """Where the result is asked to be, if anywhere, and the call as it is made on the CPU."""
    place = kwargs.pop("device", None)
    if name == "to":
        kinds = [one for one in args[1:] if isinstance(one, torch.dtype)] or [kwargs.pop("dtype", args[0].dtype)]
        for one in args[1:]:
            if isinstance(one, str | torch.device):
                place = one
            elif isinstance(one, Tensor):
                place, kinds = GPU if isinstance(one, OnGpu) else "cpu", [one.dtype]
        args = (args[0], *kinds)
    if name == "cuda":
        return GPU, (args[0], args[0].dtype), {}
    if name in ("cpu", "tolist", "item", "numpy"):
        place = "cpu"
    return None if place is None else torch.device(place), args, kwargs


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    tree_map(lambda one: found.append(one) if isinstance(one, Tensor) else None, values)
    return found


def _put(tensor: Tensor, on_gpu: bool) -> Tensor:
    if isinstance(tensor, OnGpu) == on_gpu:
        return tensor
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.as_subclass(OnGpu if on_gpu else Tensor)
