"""Models of the Hugging Face Hub: what of them is here, and fetching what is not."""

from hsd_core.models.weights.hub.fetching import Looked, fetch_hub, look_at
from hsd_core.models.weights.hub.snapshots import config_of, lacks_shard, snapshot
