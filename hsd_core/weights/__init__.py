"""Weights: from a `Source` to a folder that a decoder can open, fetched and converted once."""

from hsd_core.weights.errors import WeightsError
from hsd_core.weights.obtain import ensure, is_here
from hsd_core.weights.source import Source, Wheel
from hsd_core.weights.store import cache_folder

__all__ = ["Source", "WeightsError", "Wheel", "cache_folder", "ensure", "is_here"]
