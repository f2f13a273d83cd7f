"""Fetches a snapshot from the Hub as a program, so that it can be ended: ID SECONDS PATTERN... (see `attended`).

Its last line says what is wrong.
"""

from __future__ import annotations

import sys

import huggingface_hub


def _main(hub_id: str, seconds: str, *patterns: str) -> None:
    huggingface_hub.snapshot_download(hub_id, allow_patterns=list(patterns), etag_timeout=float(seconds))


if __name__ == "__main__":
    _main(*sys.argv[1:])
