"""JSON and JSON lines with types: one codec, one reader of lines, one set of limits for untrusted files.

Types are `msgspec` structs and plain annotations; a value that does not fit is refused with the field and the reason.
`values`: to JSON and back. `files`: bytes, text and JSON lines of files that a user names.
"""

from hsd_core.typed.files import TooLong, lines, opened, records, write_whole
from hsd_core.typed.values import (
    MAX_ENTRIES,
    MAX_INT,
    Int,
    Malformed,
    Wrong,
    builtins,
    check_free,
    convert,
    decode,
    decode_message,
    encode,
    encode_lines,
    json_decoder,
    message_decoder,
    plain,
    pretty,
)

__all__ = [
    "MAX_ENTRIES",
    "MAX_INT",
    "Int",
    "Malformed",
    "TooLong",
    "Wrong",
    "builtins",
    "check_free",
    "convert",
    "decode",
    "decode_message",
    "encode",
    "encode_lines",
    "json_decoder",
    "lines",
    "message_decoder",
    "opened",
    "plain",
    "pretty",
    "records",
    "write_whole",
]
