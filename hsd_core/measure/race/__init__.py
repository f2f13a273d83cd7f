"""A race: two to four stacks over one prompt and one seed, interleaved round by round on one machine."""

from hsd_core.measure.race.race_file import Race, Raced, Took, check_kept, dumps, read, took, write
from hsd_core.measure.race.running import HEADS, LANES, Heat, Turn, check_lanes, race, refuse_too_large
from hsd_core.measure.race.standings import middle, rows, table
