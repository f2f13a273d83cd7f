"""What a text costs in exactness: its target reads it after the run."""

from __future__ import annotations

AFTER_RUN = {"price": "hsd_core.systems.price.price_reading:read_price"}
