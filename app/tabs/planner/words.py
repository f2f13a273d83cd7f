"""The Planner: its figures, and what is wrong with a question. Why a plan is best stands in app/tabs/planner/why.py."""

from __future__ import annotations

MEASURING = "measuring this machine"
MEASURED_HERE = "this machine is measured; its default stack is planned from that"
MEASURING_STOPPED = "stopped; nothing was kept"
GRAPH_COLUMNS = ["edge", "cost, ms a unit", "gain", "ms of each token"]
TOKEN = "token"
BLOCK = "block"
ONE_TOKEN = "1 token"
SURFACE_COLUMNS = ["drafter", "acceptance", "cost ratio", "best block", "speed-up, exact recursion"]
SPEED_UP = "speed-up"
PREDICTED = "predicted"
MEASURED = "measured"
VALIDATION_COLUMNS = [
    "stack",
    "as written",
    "predicted, ms",
    "measured, ms",
    "interval, ms",
    "off by",
    "speed-up predicted",
    "measured",
]
OTHERS_SIMULATE = "others are simulating runs; try again in a minute"
FOREIGN_PLAN = "the plan has levels that the profile lacks; wait for the answer and try again"
NO_TREES = "a simulated run cannot draft trees; take the stack to Explore, where it runs"
WHOLE_BLOCKS = "block lengths must be whole numbers; reload the page and try again"
EMPTY_REQUEST = "the request is empty; reload the page and try again"
WHICH_AGREEMENT = "agreement: enter a number from 0 to 1"
GREEDY_LENGTHS = "a stack with a view is priced by the length of the text, and greedily alone; set the temperature to 0"
WHICH_TEMPERATURE = "temperature: enter a number from 0 to 100"
NO_PROFILE = "no profile was given; choose one or open a file"
TOO_DEEP = "the profile is nested too deeply; it is not a profile file"
TOO_LARGE = "a number in the profile is too large to calculate with"
EMPTY_OUTPUT = "one of the texts is empty; paste what the engine printed"
WHICH_PLAIN_MS = "plain_ms: enter the milliseconds of a token without speculation, such as 35"
WHICH_CATEGORIES = "categories: enter tokens a pass by kind of text, such as coding=3.1, chat=2"
FAILED = "this could not be worked out, by a fault of ours; the log has it"
NOT_JSON = "the request is not valid JSON; reload the page and try again"
SOURCE_OF_COSTS = "Source of the costs: {}."
HALF_CHARACTER = "a name contains half a character (a lone surrogate); use whole characters"
GRAPH = "The shortest path"
ONLY_TARGET = "The target is the only level that may be used, so there is one path: plain decoding."
BLOCK_LENGTH = "block length"
PER_TOKEN = "ms per token handed up"
BLOCK_HOVER = "a block of %{y}: at least %{customdata:.3g} ms for each token<extra></extra>"
TARGET_HOVER = "the target: asked for one token<extra></extra>"
ENDS = "drafts by itself: the path ends"
SURFACE_HOVER = (
    "acceptance %{x:.2f}, a drafted token costs %{y:.3g} of a pass:<br>%{z:.2f} times plain decoding<extra></extra>"
)
ACCEPTANCE_AXIS = "acceptance by the target"
COST_AXIS = "cost of a drafted token / cost of a pass"
SURFACE = "Where one drafter pays"
DOT_HOVER = (
    "<b>%{text}</b> alone under the target: %{customdata[1]:.2f} times plain decoding<br>acceptance %{x:.2f}, cost "
    "ratio %{customdata[2]:.3g}, best block %{customdata[0]}<extra></extra>"
)
VALIDATION = "Predicted and measured"
NOT_VALIDATED = (
    "No stack of this profile has been checked against its prediction here. The command python -m hsd_core validate "
    "runs some on other kinds of prompts and records how long they took."
)
PREDICTED_HOVER = "%{customdata[0]}<br>predicted %{x:.1f} ms per token (%{customdata[1]})<extra></extra>"
PICK_HOVER = ", the planner's pick"
MEASURED_HOVER = "%{customdata[0]}<br>measured %{x:.1f} ms per token%{customdata[1]}<extra></extra>"
PER_TOKEN_AXIS = "ms per token"
PREDICTED_QUICKEST = "the one predicted fastest"
ONE_SITTING = "One sitting"


def validation_text(stacks: int, where: str, sittings: str, picked: str) -> str:
    return (
        f"{stacks} stacks on prompts that were not used for tuning{where}. {sittings}{picked[0].upper()}{picked[1:]}."
    )


def measured_on(machine: str) -> str:
    return f", measured on {machine}"


def measured_elsewhere(machine: str, own: str) -> str:
    return (
        f", measured on a different machine from this profile's ({machine}, not {own}), with that machine's predictions"
    )


def retry(error: object) -> str:
    return f"{error}; reload the page and try again"


def measures_one(no_profile: str) -> str:
    return f"{no_profile} measures one"


def ended(seconds: float) -> str:
    return f"planning was stopped after {seconds:g} s of work; leave out levels or lower the longest block"


def diagnosis_ended(seconds: float) -> str:
    return f"reading this was stopped after {seconds:g} s of work; paste fewer lines, such as those of one run"


def which_stacks(longest: int) -> str:
    return f"stacks: give a list of strings of at most {longest} characters"


def how_many_stacks(given: int, most: int) -> str:
    return f"stacks: {given} were given; give 1 to {most}"


def no_preset(preset: str, device: str) -> str:
    return f"there is no preset {preset!r}{f' on {device!r}' if device else ''}"


def no_profile(preset: str, option: str) -> str:
    return f"there is no profile of {preset} here; python -m hsd_core calibrate {option}"


def no_lengths(preset: str, option: str, levels: str, device: str, texts: str) -> str:
    file = f"assets/profiles/by-length/{preset.replace('/', '--')}-{device}-4096.json"
    return (
        f"what a view is worth depends on the length of the text, and no profile of {preset} here knows it; python -m "
        f"hsd_core calibrate {option} --levels {levels} --length 4096 --prompts {texts} --out {file}"
    )


def which_length(most: int) -> str:
    return f"length: enter the tokens of text, a whole number from 1 to {most}"


def long_block(most: int, asked: int) -> str:
    return f"the profile covers blocks of up to {most} tokens, not {asked}"


def reads_target(level: str, schedule: str) -> str:
    return (
        f"{level} reads the target's last states, which @with={schedule} runs elsewhere; name a draft that is not fed, "
        f"or leave @with={schedule} out"
    )


def too_much(levels: int, block: int, most: int) -> str:
    return (
        f"{levels} levels with blocks of up to {block} are too many to plan here; leave out levels, or lower the "
        f"longest block to {most}"
    )


def many_levels(given: int, most: int) -> str:
    return f"levels: {given} were given; the page plans with at most {most}"


def many_pairs(name: str, given: int, most: int) -> str:
    return f"{name}: {given} pairs were given; at most {most} make sense"


def many_rules(given: int, most: int) -> str:
    return f"by_rule: {given} rules were given; the page plans with at most {most}"


def times_between(low: float, high: float) -> str:
    return f"times must be between {low:g} and {high:g} ms"


def long_name(where: str, most: int) -> str:
    return f"{where}…: the name is longer than {most} characters"


def many_entries(where: str, name: str, given: int, most: int) -> str:
    return f"{where}: {name} has {given} entries; use at most {most}"


def which_level(names: str) -> str:
    return f"cost: choose one of the levels {names}"


def out_of_range(name: str, low: float, high: float) -> str:
    return f"{name}: enter a number from {low:g} to {high:g}"


def no_number(name: str) -> str:
    return f"the profile contains {name}; a browser could not read the answer"


def profile_too_large(kb: int) -> str:
    return f"the profile is larger than {kb} kB; leave out what is not needed"


def unreadable(file: str) -> str:
    return f"{file} cannot be read"


def own_questions(most: int) -> str:
    return f"{most} questions from your address are already waiting; try again once they are answered"


def all_questions(most: int) -> str:
    return f"{most} questions are waiting; try again in a moment"


def took_too_long(seconds: float, gb: float) -> str:
    return (
        f"planning took longer than {seconds:g} s or more than {gb:g} GB and was stopped; leave out levels or lower "
        "the longest block"
    )


def graph_text(others: int) -> str:
    return (
        "A stack is a path from the target down to a level that drafts by itself. Columns are levels, rows block "
        "lengths; the stronger a cell's colour, the more ms each token of such a block takes. The cost of an edge is "
        "its verifications; its gain is how many blocks of the next level they need. Highlighted: the best path; "
        f"thin: the next {others}."
    )


def station(level: str, block: int) -> str:
    return f"{level} hands up blocks of {block}<extra></extra>"


def block_of(level: str, block: int) -> str:
    return f"{level}, {block} at a time" if block > 1 else level


def drafts(level: str) -> str:
    return f"{level}: drafts"


def decodes(level: str) -> str:
    return f"{level}: decodes"


def gain(gain: float, level: str, unit: str) -> str:
    return f"gain {gain:.2f}: blocks of {level} for each {unit}"


def cost(ms: float, unit: str) -> str:
    return f"cost {ms:.3g} ms for each {unit}"


def cost_share(cost: str, ms: float) -> str:
    return f"{cost}, {ms:.3g} ms of every token"


def surface_text(longest: int) -> str:
    return (
        f"Speed-up of one drafter under this target, at its best block length up to {longest}. Left of the dashed "
        "line it is slower than plain decoding. Dots: the levels of this profile, alone under the target (a lookup's "
        "miss counts as a token that is not accepted; several tokens side by side count as one)."
    )


def picked(stack: str) -> str:
    return f"the planner's pick, “{stack}” (the star),"


def is_quickest(who: str) -> str:
    return f"{who} was also measured fastest"


def was_slower(who: str, by: str) -> str:
    return f"{who} took {by} more than the one measured fastest"


def interval(low: float, high: float) -> str:
    return f"{low:.1f} to {high:.1f}"


def beside(where: str, stack: str, predicted: str, measured: str, count: int, off: str, worst: str) -> str:
    return (
        f"Measured {f'on {where}' if where else 'there'}: \u201c{stack}\u201d ran {measured} times as fast, predicted "
        f"{predicted}; over {count} stacks the prediction was {off} off in the median, {worst} at most."
    )


def fixed(model: str, named: str) -> str:
    return f" Predictions ({model}) were fixed {named}, before the first run."


def sitting(began: str, gains: str, ms: str, pace: str) -> str:
    return f"{began}: speed-ups {gains}, milliseconds {ms}, plain decoding at {pace} of its calibrated time"


def sittings(count: int) -> str:
    return f"{count} sittings, none left out"


def off(sittings: str, gains: str, worst: str, ms: str, worst_ms: str, fixed: str, each: str, before: str) -> str:
    return (
        f"{sittings}: speed-ups were off by {gains} in the median and {worst} at most, milliseconds by {ms} and "
        f"{worst_ms}.{fixed} By sitting: {each}. {before}"
    )


def earlier(began: str, model: str, named: str, gains: str, ms: str) -> str:
    return (
        f"Before that, {began} with another prediction ({model}), fixed {named}: speed-ups off by {gains}, "
        f"milliseconds by {ms}. "
    )


def measuring_too_long(seconds: float, preset: str) -> str:
    return (
        f"measuring took longer than {seconds:.0f} s, so nothing was kept; measure on the command line: "
        f"python -m hsd_core calibrate --preset {preset} --quick"
    )


def agreement(machine: object, day: object) -> str:
    where = ", ".join(str(part)[:60] for part in (machine, day) if part)
    return f"acceptances of the shipped profile ({where})"


def quick(preset: str) -> str:
    return f"{preset}, in 20 seconds"


def which_outputs(most: int) -> str:
    return f"paste what an engine printed of its speculation: 1 to {most} texts, each with its name"


def outputs_too_large(mb: int) -> str:
    return (
        f"what was given has more than {mb} MB; keep the lines that speak of speculation, or use the command: "
        "python -m hsd_core doctor FILE"
    )


def output(number: int) -> str:
    return f"text {number}"
