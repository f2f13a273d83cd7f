"""Lookups in databases of a given size, of n-grams that are made up: a lookup must not grow with what is stored.

D_c keeps `max_key - min_key + 1` n-grams a token of its text, so a million of them are 200,000 tokens; D_m is sorted
arrays. Ids are drawn so that few are common and most are rare, as in text.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsd_core.ngram import Databases, ModelDatabase
from hsd_core.ngram.databases import REACH
from hsd_core.ngram.model_db import Table
from hsd_core.ngram.packing import pack_windows

VOCAB, LIMIT, LOOKUPS, LONGEST_KEY = 49_152, 4, 2000, 4
_NS_PER_MS = 1e6
Ids = np.ndarray[Any, Any]


def made_up(tokens: int, seed: int = 0) -> Ids:
    """(tokens,) ids."""
    return np.minimum(np.random.default_rng(seed).zipf(1.2, tokens), VOCAB - 1).astype(np.int64)


def context_database(stored: int) -> tuple[Databases, list[int]]:
    """D_c with so many n-grams, and its text."""
    own = REACH["c"]
    text = made_up(stored // (own.max_key - own.min_key + 1) + own.max_key).tolist()
    databases = Databases("c")
    databases.insert(text)
    return databases, text


def model_database(stored: int) -> tuple[Databases, list[int]]:
    """D_m with so many n-grams, keys of every length alike, and the text that they are taken from."""
    text = made_up(stored // LONGEST_KEY + LONGEST_KEY)
    tables = {length: _table(text, length) for length in range(1, LONGEST_KEY + 1)}
    return Databases("m", model_db=ModelDatabase(tables, {"vocab_size": VOCAB})), text.tolist()


def _table(text: Ids, length: int) -> Table:
    keys = pack_windows(text[:-1], length, VOCAB + 1)
    order = np.argsort(keys, kind="stable")
    often = np.full(len(keys), 3, np.int64)
    return Table(keys[order], text[length:][order], often, often)


def time_databases(stored: int) -> dict[str, float]:
    """Median ms of a lookup of `LIMIT` tokens, by letter."""
    return {letter: _time(*made) for letter, made in (("c", context_database(stored)), ("m", model_database(stored)))}


def _time(databases: Databases, text: Sequence[int]) -> float:
    places = np.random.default_rng(1).integers(8, len(text), LOOKUPS)
    contexts, taken = [text[at - 8 : at] for at in places.tolist()], []
    for context in contexts:
        began = time.perf_counter_ns()
        databases.guess(context, LIMIT)
        taken.append(time.perf_counter_ns() - began)
    return statistics.median(taken) / _NS_PER_MS
