"""A race: two to four stacks over one prompt and one seed, interleaved round by round on one machine."""

from hsd_core.measure.race.figures import middle, rows, table
from hsd_core.measure.race.file import Race, Raced, Took, dumps, read, took, write
from hsd_core.measure.race.running import LANES, Heat, Turn, race, refuse_too_large
