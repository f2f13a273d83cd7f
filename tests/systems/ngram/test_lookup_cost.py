"""A lookup does not grow with what is stored: reads are counted, in databases of n-grams that are made up.

D_c keeps `max_key - min_key + 1` n-grams a token of its text, so a million of them are 200,000 tokens; D_m is sorted
arrays. Ids are drawn so that few are common and most are rare, as in text.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hsd_core.core.level import Proposal, Work
from hsd_core.levels.fused import OrderedRun
from hsd_core.systems.ngram.databases import REACH, Databases
from hsd_core.systems.ngram.model_db import ModelDatabase, Table
from hsd_core.systems.ngram.packing import pack_windows

VOCAB, LONGEST_KEY = 49_152, 4


def made_up(tokens: int) -> np.ndarray:
    return np.minimum(np.random.default_rng(0).zipf(1.2, tokens), VOCAB - 1).astype(np.int64)


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
    tables = {length: table(text, length) for length in range(1, LONGEST_KEY + 1)}
    return Databases("m", model_db=ModelDatabase(tables, {"vocab_size": VOCAB})), text.tolist()


def table(text: np.ndarray, length: int) -> Table:
    keys = pack_windows(text[:-1], length, VOCAB + 1)
    order = np.argsort(keys, kind="stable")
    often = np.full(len(keys), 3, np.int64)
    return Table(keys[order], text[length:][order], often, often)


class Counted(dict):
    asked = 0

    def get(self, key, default=None):
        Counted.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize("stored", [10_000, 100_000, pytest.param(1_000_000, marks=pytest.mark.everything)])
def test_a_lookup_in_the_context_asks_once_a_key_length_however_much_is_stored(stored) -> None:
    databases, text = context_database(stored)
    context = databases._context
    assert context is not None and context.inserts >= stored
    context._index._places = Counted(context._index._places)
    Counted.asked = 0
    own = databases.reach["c"]
    for at in range(len(text) - 200, len(text)):
        databases.guess(text[at - 8 : at], 1)
    assert 200 <= Counted.asked <= 200 * (own.max_key - own.min_key + 1)


class Read:
    """A row of keys that counts how often one is read."""

    def __init__(self, keys) -> None:
        self.keys, self.reads = keys, 0

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at):
        self.reads += 1
        return self.keys[at]


@pytest.mark.parametrize("stored", [10_000, 100_000, pytest.param(1_000_000, marks=pytest.mark.everything)])
def test_a_lookup_in_the_models_database_halves_its_keys(stored) -> None:
    databases, text = model_database(stored)
    tables = databases._static["m"].tables
    assert sum(len(table.keys) for table in tables.values()) >= stored
    for table in tables.values():
        table._keys = Read(table._keys)
    for at in range(100, 300):
        databases.guess(text[at - 8 : at], 1)
    reads = sum(table._keys.reads for table in tables.values())
    most = sum(math.ceil(math.log2(len(table.keys))) + 2 for table in tables.values())
    assert 200 <= reads <= 200 * most


def test_a_lookup_that_finds_nothing_counts_beside_the_draft_that_follows_it() -> None:
    def giving(ids: tuple[int, ...], work: Work) -> SimpleNamespace:
        given = Proposal(ids, ("",) * len(ids), work)
        return SimpleNamespace(propose=lambda context, order: given, observe=None, keep=None, close=None, cached=0)

    drafter = giving((5, 6), Work(2, 3, 1))
    missed = OrderedRun(giving((), Work(1, 0, 0)), drafter).propose([1], None)
    assert (missed.ids, missed.work) == ((5, 6), Work(3, 3, 1))
    hit = OrderedRun(giving((7,), Work(1, 0, 0)), drafter).propose([1], None)
    assert (hit.ids, hit.work) == ((7,), Work(1, 0, 0))
