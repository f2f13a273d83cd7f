"""The toy's tables: how far back each one looks."""

from __future__ import annotations

import torch

from hsd_core.systems.table.toy import toy_level


def test_a_table_looks_back_over_as_many_characters_as_its_name_says() -> None:
    for order in (1, 3, 6):
        row = toy_level(f"order{order}").table
        text = tuple(b"the roof ")
        other, beyond = list(text), list(text)
        other[-order], beyond[-order - 1] = ord("q"), ord("q")
        assert not torch.equal(row(text), row(tuple(other))), f"order {order} sees its last character"
        assert torch.equal(row(text), row(tuple(beyond))), f"order {order} sees no further"
        assert abs(float(row(text).sum()) - 1.0) < 1e-5
