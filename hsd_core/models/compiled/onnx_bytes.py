"""An ONNX model as bytes: the messages of onnx.proto that these graphs need, in protobuf's wire format.

So onnxruntime is the only requirement. The numbers are the fields of onnx.proto (IR version 8), which never change;
weights are not in the bytes but named, and given to the session as tensors.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

IR_VERSION = 8
OPSETS: Mapping[str, int] = {"": 17, "com.microsoft": 1}
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}  # TensorProto.DataType
Value = int | float | str | list[int]
Dims = Sequence[int | str]  # a name for a variable size


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Value) -> bytes:
    """NodeProto. An input "" is omitted."""
    fields = [*(_text(1, x) for x in inputs), *(_text(2, x) for x in outputs), _text(4, op), _text(7, domain)]
    return b"".join([*fields, *(_bytes(5, _attribute(name, value)) for name, value in attributes.items())])


def value(name: str, kind: str, dims: Dims) -> bytes:
    """ValueInfoProto: an input or output of the graph."""
    sizes = b"".join(_bytes(1, _int(1, d) if isinstance(d, int) else _text(2, d)) for d in dims)
    return _text(1, name) + _bytes(2, _bytes(1, _int(1, TYPES[kind]) + _bytes(2, sizes)))


def weight(name: str, kind: str, dims: Sequence[int]) -> bytes:
    """TensorProto of a weight that is given to the session separately."""
    sizes = b"".join(_int(1, d) for d in dims)
    place = _bytes(13, _text(1, "location") + _text(2, "*"))
    return sizes + _int(2, TYPES[kind]) + _text(8, name) + place + _int(14, 1)


def constant(name: str, numbers: Sequence[int]) -> bytes:
    """TensorProto (len(numbers),) int64, in the bytes."""
    return (
        _int(1, len(numbers))
        + _int(2, TYPES["int64"])
        + _text(8, name)
        + _bytes(9, struct.pack(f"<{len(numbers)}q", *numbers))
    )


def model(nodes: Iterable[bytes], weights: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes]) -> bytes:
    """ModelProto of one graph."""
    parts = ((1, nodes), (5, weights), (11, inputs), (12, outputs))
    graph = _text(2, "hsd") + b"".join(_bytes(field, part) for field, many in parts for part in many)
    opsets = b"".join(_bytes(8, _text(1, domain) + _int(2, version)) for domain, version in OPSETS.items())
    return _int(1, IR_VERSION) + _bytes(7, graph) + opsets


def _attribute(name: str, given: Value) -> bytes:
    if isinstance(given, float):
        return _text(1, name) + _key(2, 5) + struct.pack("<f", given) + _int(20, 1)
    if isinstance(given, int):
        return _text(1, name) + _int(3, given) + _int(20, 2)
    if isinstance(given, list):
        return _text(1, name) + b"".join(_int(8, number) for number in given) + _int(20, 7)
    return _text(1, name) + _text(4, given) + _int(20, 3)


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _int(field: int, number: int) -> bytes:
    return _key(field, 0) + _varint(number % 2**64)


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, data: bytes) -> bytes:
    return _key(field, 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
