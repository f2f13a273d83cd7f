"""A race: two to four stacks over one prompt and one seed, interleaved round by round on one machine."""

from hsd_core.measure.race.race_file import LANES, LaneTime, Race, Raced, check_storable, dumps, read, took, write
from hsd_core.measure.race.racing import HEADS, Heat, Turn, check_lanes, middle, race, refuse_too_large, rows, table
