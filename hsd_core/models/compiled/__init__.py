"""The decoder of the CPU: graphs for onnxruntime. Without it, or for other models, `lean` is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hsd_core.models.lean.shape import LeanShape

DTYPES = ("float32", "int8", "int4")
HEAD_STEP = 16  # the attention kernel needs head sizes in multiples of this
GROUP, SMOOTH_GROUP = 32, 64  # inputs that share a scale, without and with `smoothing`
# Bytes of a weight in its kernel's layout, with its share of the group's scale, zero point and offset (see `products`).
BYTES: Mapping[str, float] = MappingProxyType(
    {"float32": 4.0, "int8": 1 + 4 / SMOOTH_GROUP, "int4": (0.5 + 4.5 / GROUP) * (1 + 3 / GROUP)}
)


def refusal(shape: LeanShape, dtype: str, device: str) -> str | None:
    """Why these graphs cannot run a model of this shape on this device, or None."""
    if device != "cpu":
        return f"onnxruntime runs on the CPU here, and the device is {device}"
    if dtype not in DTYPES:
        return f"the graphs keep weights as {', '.join(DTYPES)}, not as {dtype}"
    if any(shape.windows) or shape.norm_offset:
        return f"the graphs have Llama's layers without windows, and this is a {shape.model_type}"
    if shape.head_size % HEAD_STEP:
        return f"onnxruntime's attention takes heads by {HEAD_STEP} numbers, and these have {shape.head_size}"
    if find_spec("onnxruntime") is None:
        return "onnxruntime is not installed; pip install onnxruntime"
    return None
