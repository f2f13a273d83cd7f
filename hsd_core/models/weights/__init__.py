"""Weights: from a `Source` to a folder that a decoder can open, fetched and converted once."""

from hsd_core.models.weights.errors import WeightsError
from hsd_core.models.weights.obtain import config_here, ensure, here, is_here
from hsd_core.models.weights.source import Source, Wheel
from hsd_core.models.weights.store import cache_folder
