"""Models of the Hugging Face Hub: what of them is here, and fetching what is not."""

from hsd_core.models.weights.hub.fetching import fetch_hub
from hsd_core.models.weights.hub.snapshots import lacks_shard, snapshot
