"""A GPU that is none: tensors say that they are on "cuda:0", lie in ordinary memory, and refuse what CUDA refuses.

No machine that tests this project is sure to have a GPU. What goes wrong there first is placement: an operation over
tensors of two devices, a read of GPU memory as if it were the CPU's, a table that was never moved. `PretendGpu` finds
those with the real engine and real weights; kernels, memory and speed of a GPU it cannot show.

It counts the waits (`item`, `tolist`, `cpu`, ...): each of them halts a GPU's queue.
"""

from __future__ import annotations

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


class OnGpu(Tensor):
    """A tensor that is on the pretended GPU."""


class PretendGpu(TorchFunctionMode):
    """While it is entered, "cuda" is a device."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()

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
        if here and name in _WAITS:
            self.waits[name] += 1
        place, args, kwargs = _placed(name, args, kwargs)
        on_gpu = bool(here) if place is None else place.type == "cuda"
        with torch._C.DisableTorchFunctionSubclass():
            out = func(*args, **kwargs)
            if (
                place is not None
                and len(tensors) == 1
                and isinstance(out, Tensor)
                and isinstance(args[0], OnGpu) != on_gpu
            ):
                out = out.clone()  # another device is other memory
        if name.endswith("_") and not name.endswith("__"):
            return args[0]  # in place
        return tree_map(lambda one: _put(one, on_gpu) if isinstance(one, Tensor) else one, out)


@contextmanager
def pretend_gpu() -> Iterator[PretendGpu]:
    """A machine with a GPU of that kind."""
    cuda = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda *_: NAME,
        "current_device": lambda: 0,
        "is_bf16_supported": lambda *_: True,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "is_current_stream_capturing": lambda: False,
    }
    # A build of torch for CUDA asks the accelerator for its stream before an optimizer's step; there is no driver.
    none = patch.object(torch.accelerator, "current_accelerator", lambda *_, **__: None)
    with patch.multiple(torch.cuda, **cuda), none, PretendGpu() as mode:
        yield mode


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
