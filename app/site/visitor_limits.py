"""Every bound on what one visitor may cost: its constant, what it bounds, and why there is one.

The values are those of the constants, wherever they stand; `tests/unit/test_app_limits.py` finds one that is left out.
"""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from typing import NamedTuple

UNITS = {"": 1, "s": 1, "B": 1, "kB": 10**3, "MB": 10**6, "MiB": 2**20, "GiB": 2**30}
# A module below `app`; below it its constants, or entries within one, each with the unit in which it is shown.
_LISTED = """
serve.door.connections
    MOST: open connections | a page holds one, six while it loads; the longest silent one makes room
    OF_AN_ADDRESS: open connections of one address | a class of 60 pages loads at once
    HEADER_S s: time for a header | a connection that says nothing holds a place
    IDLE_S s: time between two requests on a connection | a connection without a request holds a place
    STALLED_S s: time for an answer that nobody takes | it is kept in memory
serve.door.guard
    LONGEST_PATH B: a path | a longer name is not a file's
    MAX_BODY MiB: a request's body, files and the doctor's texts apart | a planner's question has 0.3 MB
    MAX_HELD MiB: bodies of files that arrive or are worked on, all together | memory
    PATIENCE_S s: time for a body to arrive | until then it is held
serve.door.asked
    DEEPEST: nested JSON | a plan's question has 7
page
    IN_FLIGHT: requests that Gradio holds | they come before our own line
    SESSIONS: sessions whose last values are kept | memory
serve.door.packed_page
    MOST: pages kept packed, one for each language | memory
serve.door.checked
    DRAWN: figures drawn at once | drawing keeps Python's lock
    OWN: figures of one address that wait | a class that opens them together
    MOST: figures that wait | nobody waits for what comes too late
    PATIENCE_S s: time until figures are drawn | nobody waits for what comes too late
serve.service
    FETCHES: runs whose weights are fetched | each holds a thread of the engine
serve.engines.process
    BLAMED: times that the engine may end at one request | it would take the others' runs with it
    BLAMED_S s: how long such an end is remembered | memory may have been short then
serve.engines.named
    MOST: engines of a cluster, or runs of a batch | an operator's slip
serve.engines.zerogpu
    PLACES: runs on lent cards at a time | each holds a thread
    TOKENS_A_S: tokens for which a second of the quota is asked | what is asked has to be left of it
    MOST_S: seconds of the quota that a run asks for | a visitor without an account has as many a day
serve.line.line
    PLACES: runs that run or wait | more would wait too long
    FOR_CALLS: runs of API calls and scripts that run or wait | the rest is kept for pages
    OF_A_SESSION: runs of one page or client that run or wait | one that runs and the next
    HEARD_S s: time until somebody listens for a run | a run that nobody hears takes no place
    AWAY: places kept for pages that are closed | who comes back has the place, beside those who wait
serve.line.known_runs
    AWAY_S s: how long such a place is kept | a phone that is put away, a browser that is closed
    RETURN_S s: a run whose page was closed | a page that is reloaded comes back for it
    CUT_S s: a run whose page was cut off | it reloads itself when the connection is back, and goes on
    KEEP: finished runs kept | memory
    KEEP_BYTES MiB: finished runs kept, packed | memory
    OPENED: opened files and simulations kept | memory
serve.settings
    LONGEST_S s: a run or a race, loading left out | others wait
    PROMPT_TOKENS: tokens of a prompt on a CPU | a CPU reads some hundred in a second
    PROMPT_TOKENS_GPU: tokens of a prompt on a GPU | memory of its cache
    MAX_PROMPT: characters of a prompt | refused before it is tokenized; six a token where `--prompt-tokens` allows more
    MAX_STACK: characters of a stack | refused before it is parsed
    LIMITS[max_new_tokens][1]: new tokens of a run | time, and a trace that a page can hold
serve.loader
    OPEN: presets in memory | the one that runs and the one before it
serve.line.class_caps
    OF_A_LEARNER: a learner's runs that run or wait | or `--learner-runs`
    OF_ALL_LEARNERS: all learners' runs that run or wait | two minutes of a small machine; or `--class-runs`
workshop.members
    MOST_MEMBERS: learners' browsers in a room | memory; who was not heard of for a minute makes room
    MOST_LEADING: browsers in a room with the instructor's key | projector, desk, phones; the longest unseen makes room
    OF_AN_ADDRESS: learners' browsers of one address | one address never fills the room
workshop.members
    AT_ONCE: browsers that enter from one address at once | a class comes together; then 30 a minute
workshop.room
    LONGEST: what is sent to all screens, in characters | a link that holds a run has 32,000
    PATIENCE_S s: time that an answer without news is held back | proxies wait 30 s and more
    MOST_HELD: answers held back for one browser | its pages share a cookie
workshop.members
    LONGEST_WAIT_S s: wait after wrong codes, the right key never | from the ninth of an address, or the 61st of all
tabs.race.race_request
    TOKENS: new tokens of a race | it runs every lane
    REPEATS: repeats of a race | enough for an interval
tabs.race.load_job
    LOAD_TOKENS: new tokens of each of up to 32 requests at once | time
tabs.results.quick
    PROMPTS: prompts of the quick set | two of each task
    TOKENS: new tokens of each prompt of the quick set | time
    LONGEST_S s: the quick set, loading left out | others wait
tabs.explore.recordings
    MAX_FILE MiB: a file that a visitor brings | 10,000 tokens with all details are 7 MB
    MAX_UNPACKED MB: a file that a visitor brings, unpacked | a small file may unpack to any size
tabs.explore.reader
    MAX_ANSWER MB: what the page is sent of such a file | a page's memory
    WAITING: files that wait to be read | each holds a thread and a file
    PATIENCE_S s: time until a file is read | it shares the processor with a run
    CPU_S s: a reader's processor | 10,000 tokens with all details take 15
    MEMORY GiB: a reader's memory | the server's own is left alone
    KEPT: files whose figures can be drawn | memory
    MAX_KEPT MB: what is kept for the figures of one file | a run of 512 tokens with its depths takes 2
tabs.explore.codes
    LONGEST: a link as a QR code | smaller modules cannot be read from the back of a hall
tabs.planner.measuring
    LONGEST_S s: measuring this machine, loading left out | others wait
tabs.planner.profiles.plan_request
    MAX_BODY kB: a planner's question | a profile of 12 levels is a tenth of it
tabs.planner.profiles.engine_outputs
    MAX_OUTPUT MB: what the doctor is given | hours of a log's lines of speculation
    MAX_REQUEST MB: what the doctor is given, as JSON | a line's end is two characters there
    MAX_TEXTS: texts of one question to the doctor | two scrapes, and runs of some lengths
    LONGEST_FILE_NAME: characters of the names of these texts | answers show them
    LONGEST_CATEGORIES: characters of tokens a pass by kind of text | a hundred kinds
tabs.planner.profiles.plan_request
    MAX_LEVELS: levels of a profile | the search grows with them
    MAX_NODES: levels times the longest block | the search grows with them
    MAX_ROWS: row counts of a cost | the search grows with them
    MAX_RULES: rules beside `tokenwise` | each one more doubles the search
    MAX_DEPTH: nested JSON of a profile | a profile has 5
    LONGEST_NAME: characters of a level's name | figures show it
tabs.planner.desk
    WORK_S s: a planner's answer or a diagnosis, of a processor | others wait
tabs.planner.worker
    PATIENCE_S s: a planner's answer, in all | its process shares the processor with a run
    PROCESSES: processes that work such answers out | one that ends or takes long stops nobody else
    MEMORY GiB: the memory of such a process | the server's own is left alone
tabs.planner.planning_turns
    OWN: questions of one address that wait | a slider asks often
    ALL: questions that wait | nobody waits for what comes too late
    PATIENCE_S s: time until a question's turn | nobody waits for what comes too late
tabs.planner.price
    MOST: stacks that are priced at once | the tower's, and one for each level that may be added
    LONGEST: characters of a stack that is priced | as for a run
tabs.explore.simulator
    TOKENS: tokens of a simulated plan | a trace that a page can hold
    MOST_CALLS: calls of all levels of a simulated plan | some seconds of work
    WAITING: simulations that wait | each holds a thread of the server
    PATIENCE_S s: time until a simulation's turn | each holds a thread of the server
"""
_LINE = re.compile(r"(?P<name>\w+(?:\[\w+\]\[\d\])?)(?: (?P<unit>\w+))?: (?P<what>.+) \| (?P<why>.+)")


class Limit(NamedTuple):
    module: str
    name: str
    unit: str
    what: str
    why: str

    @property
    def constant(self) -> str:
        return self.name.split("[")[0]

    @property
    def value(self) -> float:
        """As the code has it."""
        value = pkgutil.resolve_name(f"app.{self.module}:{self.constant}")
        for key in re.findall(r"\[(\w+)\]", self.name):
            value = value[int(key) if key.isdigit() else key]
        return float(value)

    @property
    def shown(self) -> str:
        return f"{self.value / UNITS[self.unit]:,g} {self.unit}".strip()


@cache
def visitor_limits() -> tuple[Limit, ...]:
    found: list[Limit] = []
    module = ""
    for line in _LISTED.strip().splitlines():
        if not line.startswith(" "):
            module = line
        elif one := _LINE.fullmatch(line.strip()):
            found.append(Limit(module, one["name"], one["unit"] or "", one["what"], one["why"]))
        else:
            raise ValueError(f"no limit: {line}")
    return tuple(found)
