"""Weights: from a `Source` to a folder that a decoder can open; fetched and converted once."""

from hsd_core.models.weights.fetch import ensure, is_local, local_config, local_folder
from hsd_core.models.weights.source import Source, WeightsError, Wheel
from hsd_core.models.weights.store import cache_folder
