"""Rows of a pass: the ratio beside its limit, what products reach beside their kernel, and the reason in words."""

from __future__ import annotations

from typing import Any

import pytest

from hsd_core.measure.passes import passes_report
from hsd_core.measure.passes.passes_report import FEW, KINDS, MANY, kernel_rate, key_of, limit_of, more_rows

PARTS = ("products", "attention", "head", "kernels", "around")


def passed(level: str, rows: int, parts: tuple[float, ...] | None, rates: tuple[float, float] | None = None) -> dict:
    """A record of a pass whose ms are those of its parts. rates: reached, and of the kernel with few rows, G/s."""
    found: dict[str, Any] = {"what": "pass", "level": level, "context": 128, "rows": rows, "ms": sum(parts or (9.0,))}
    found["parts"] = parts and dict(zip(PARTS, parts, strict=True))
    found |= {"profiled_ms": None, "least": None}
    if rates:
        found["multiplies"] = {"reached": rates[0] * 1e6, "few": rates[1] * 1e6, "many": 2e6 * rates[1]}
    return found


ONE = (10.0, 1.0, 2.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("few", "rates", "why"),
    [
        ((11.0, 1.5, 2.5, 1.2, 0.0), (90.0, 100.0), ""),
        (
            (18.0, 1.0, 4.0, 1.0, 0.0),
            (90.0, 100.0),
            "products: 100% of the difference, as quick as the kernel multiplies",
        ),
        ((18.0, 1.0, 4.0, 1.0, 0.0), (30.0, 100.0), "products: 100% of the difference, at 30% of what the kernel"),
        ((18.0, 1.0, 4.0, 1.0, 0.0), None, "products: 100% of the difference"),
        ((11.0, 1.0, 2.0, 1.0, 9.0), (90.0, 100.0), "around: 90% of the difference"),
        ((10.0, 8.0, 2.0, 1.0, 0.0), (90.0, 100.0), "attention: 100% of the difference"),
    ],
)
def test_a_missed_limit_has_its_reason(few: tuple[float, ...], rates: tuple[float, float] | None, why: str) -> None:
    (found,) = more_rows([passed("target", 1, ONE), passed("target", 4, ONE), passed("target", FEW, few, rates)])
    assert (found.one, found.few, found.limit) == (14.0, sum(few), 1.3)
    assert found.why.startswith(why) and bool(found.why) == (found.ratio > 1.3)


def test_each_kind_has_its_limit_and_what_was_not_taken_apart_says_so() -> None:
    assert [limit_of(one) for one in ("target", "exit@at=4", "int8", "target@dtype=int4", "nano")] == [
        *(1.3, 1.3),
        *(1.6, 1.6, 1.6),
    ]
    (found,) = more_rows([passed("int8", 1, None), {**passed("int8", FEW, None), "ms": 20.0}])
    assert found.why == "passes were not recorded one by one"
    assert not list(more_rows([passed("int8", 1, ONE), passed("int8", 2, ONE)])), "of eight rows nothing is known"


def test_the_table_has_rates_beside_each_other_and_the_method_names_the_machine_s() -> None:
    records = [passed("int8", 1, ONE), passed("int8", FEW, (18.0, 1.0, 4.0, 1.0, 0.0), (90.0, 100.0))]
    row = passes_report.rows(records).splitlines()[-1]
    assert row.startswith("| `int8` | 128 | 14.00 | 24.00 | 1.71 | 1.6 | 90 | 100 | 200 | products: 100%")
    limits = {"bytes_per_ms": 1e6, "floats_per_ms": 1e6}
    said = passes_report.method({"limits": limits})
    assert "One product" not in said and "torch's multiply-adds at 1.0 G/s of floats, each" in said
    limits |= {key_of(kind, rows): 5e6 for kind in KINDS for rows in (MANY, FEW)}
    assert "5 and 5 in float32, 5 and 5 in int8, 5 and 5 in int4 (G/s)" in passes_report.method({"limits": limits})


def test_the_kernels_of_passes_are_measured_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    from hsd_core.measure.passes import level_passes

    monkeypatch.setattr(level_passes, "SIDE", 64)
    monkeypatch.setattr(level_passes, "TRIES", 1)
    found = level_passes.kernel_rates()
    assert set(found) == {key_of(kind, rows) for kind in KINDS for rows in (MANY, FEW)} and min(found.values()) > 0
    assert kernel_rate(found, "int8", FEW) == found["int8_few_per_ms"] and kernel_rate({}, "int8", FEW) is None
