"""A run, from the request to its end: what is wrong with it, its place in line, its loading; files and recordings."""

from __future__ import annotations

import math

LOADING = {
    "download": "fetching the weights (once; they are kept)",
    "convert": "converting the weights (once, about a minute)",
    "load": "loading the weights (a few seconds)",
}
FETCHING = ("download", "convert")  # the stages of loading that no estimate covers
MEANWHILE = "Meanwhile you can replay a recording."
IN_LINE = "You may replay a recording meanwhile, or close the page: your place is kept for ten minutes."
GENERATING = "generating"
MEASURING = "measuring plain decoding of the same target"
READING = "reading what every layer would have written"
ENDINGS = {
    "eos": "the text is complete",
    "length": "the length limit was reached",
    "context": "the context is full",
    "stopped": "stopped",
}
INTERRUPTED = "interrupted"
SIMULATED = "simulated: no model ran"
CLOCKS = {  # what is said of a recording, by whose clock its times are of
    "simulated": SIMULATED,
    "reckoned": "{}; reckoned: each pass was timed alone, then laid on the clock of its lane",
    "real": "{}; two lanes at work at the same time, on a real clock",
}
RECORDED = "recorded"
STILL_HERE = "The run shown before is still here."
STOPPED_EARLY = "stopped before it began"
LOADING_ENDS = "Loading stops too, unless somebody else is waiting for the same preset."
LEFT = "nobody was waiting for this preset any more; ask for it again"
UNHEARD = "nobody asked for this run's answer; ask for it as soon as the run is posted"
NAME_KNOWN = "a run with this name already exists; reload the page and press Generate again"
NO_LONGER = "the server no longer has this run; generate again"
RESTARTED = "the server was restarted and no longer has this run; generate again"
OTHERS_OPEN = "others are opening files; try again in a minute"
NO_FILE = "no file arrived; choose a .jsonl or .jsonl.gz trace"
DAMAGED = "the file was damaged on its way here; try again"
NO_HEADER = "the trace has no header; it was not written by this program or was cut off"
NOT_A_HEADER = "its first line is not a header"
LEAST_LEFT = 2.0  # seconds; a shorter rest is not said
EMPTY_REQUEST = "the request is empty; reload the page and press Generate again"
NO_RUN_NAME = "the run has no usable name; reload the page and try again"
NO_LONG_TEXT = "there is no such text here; reload the page and choose it again"
EMPTY_PROMPT = "the prompt is empty; write something or choose an example"
TOO_MANY_DIGITS = "of hundreds of digits"


def ended(reason: str, measured: bool, shared: bool = False) -> str:
    """How a run ended. measured: plain decoding beside it. shared: its passes, with other runs."""
    said = f"{ENDINGS.get(reason, reason)}{', plain decoding measured beside it' if measured else ''}"
    return f"{said}; other runs shared its passes, so its times are those under load" if shared else said


def ended_early(seconds: float, *, done: bool) -> str:
    """A run that took as long as one may. done: its text is, and something was being measured beside it."""
    if done:
        return f"the text is done; the measurement beside it was stopped after {seconds:.0f} s, the limit here"
    return f"stopped after {seconds:.0f} s, the limit for a run here; ask for fewer tokens or a shorter prompt"


def reading(level: str, done: int, total: int, left: float | None = None, *, plain: bool = False) -> str:
    """How much of a prompt a level has read, and how long the rest may take it (s). plain: read for plain decoding."""
    rest = "" if left is None or left < LEAST_LEFT else f", {seconds(left)} left"
    if plain:
        return f"measuring plain decoding, which reads the prompt anew: {done:,} of {total:,} tokens{rest}"
    return f"reading the prompt: {done:,} of {total:,} tokens, by {level}{rest}"


def recorded_on(where: str) -> str:
    return f"recorded on {where}"


def seconds(value: float) -> str:
    """An estimated time, rounded up: seconds in steps of five, from 90 s on minutes."""
    return f"about {5 * max(1, math.ceil(value / 5))} s" if value < 90 else f"about {math.ceil(value / 60)} min"


def span(low: float, high: float) -> str:
    """A time of which it is known about how long it takes (s): rounded up as `seconds` does, in one unit."""
    if seconds(low) == seconds(high):
        return seconds(high)
    if high < 90:
        return f"{5 * max(1, math.ceil(low / 5))} to {5 * math.ceil(high / 5)} s"
    least = max(1, round(low / 60))
    return f"{least} to {math.ceil(high / 60)} min" if least < math.ceil(high / 60) else seconds(high)


def waiting(ahead: int, wait: tuple[float, float] | None) -> str:
    """How many runs come before this one, and about how long (s, from and to) that takes."""
    said = f"{ahead} {'run is' if ahead == 1 else 'runs are'} ahead of yours" if ahead else "yours is next"
    about = f", {span(*wait)} judging by similar runs here" if wait is not None and ahead else ""
    return f"waiting: {said}{about}"


def at_a_time(seats: int) -> str:
    """Where several runs have their turns together."""
    return f"{seats} runs are decoded at a time. {IN_LINE}"


def later(wait: float | None) -> str:
    """When to try again, in so many s."""
    return f"try again in {'a minute' if wait is None else seconds(max(wait, 5.0))}, or replay a recording"


def offers(presets: str) -> str:
    return f"this server offers {presets}"


def of_session(most: int) -> str:
    return f"this page or client already has {most} runs running or waiting; stop one or wait until one is done"


def all_fetches(most: int) -> str:
    return f"the weights for {most} other runs are being fetched; try again in a minute, or replay a recording"


def place_lost(later: str) -> str:
    return f"all places are taken, and your place went to a page that had fewer runs; {later}"


def all_places(most: int, later: str) -> str:
    return f"all {most} places for runs are taken; {later}"


def all_call_places(most: int, later: str) -> str:
    return f"all {most} places for API calls are taken; {later}"


def runs_on(device: str) -> str:
    return f"this server runs on {device} alone"


def of_bytes(done: float, total: float) -> str:
    """How much of what is fetched is here."""
    whole, unit = (1e9, "GB") if total >= 1e9 else (1e6, "MB")
    digits = 1 if total >= 1e9 or total < 1e7 else 0  # few MB need a decimal to be seen to move
    return f", {done / whole:.{digits}f} of {total / whole:.{digits}f} {unit}"


def file_too_large(mb: int) -> str:
    return f"the file is larger than {mb} MB; no trace of one run is that large when compressed with gzip"


def unreadable(seconds: int, gb: int) -> str:
    return (
        f"the file could not be read within {seconds} s and {gb} GB; record a shorter run, or one with less "
        "detail, or read it on your own machine: python -m hsd_core trace FILE"
    )


def contradicts(fault: str) -> str:
    return f"the trace contradicts itself: {fault}. Download it again or record the run again"


def trace_too_large(mb: float) -> str:
    return f"the page would need more than {mb:g} MB; record a shorter run"


def no_recording(name: str) -> str:
    return f"there is no recording {name!r}; choose one from the menu"


def no_preset(name: str, known: str) -> str:
    return f"there is no preset {name!r}; the presets are {known}"


def unusable_preset(name: str, why: str) -> str:
    return f"the preset {name} cannot be used: {why}"


def no_target(name: str, offered: list[str]) -> str:
    there = f" (targets here: {', '.join(offered)})" if offered else ""
    return (
        f"the target {name!r} is not offered by this server{there}; any target runs from the command line: python -m "
        f"hsd_core generate --target {name}"
    )


def unusable_device(name: str, why: str) -> str:
    return f"the device {name} cannot be used: {why}"


def unusable_level(name: str, why: str) -> str:
    return f"the level {name} cannot be used: {why}"


def unusable_weights(level: str, name: str, why: str) -> str:
    return f"the level {level} {name} cannot be used: {why}"


def no_file(preset: str, noun: str, name: str, offered: list[str]) -> str:
    there = f"; there is {', '.join(offered)}" if offered else ""
    return (
        f"the preset {preset} has no {noun} {name!r} here{there}; files of your own run from the command line: "
        "python -m hsd_core --help"
    )


def no_weights(preset: str, level: str, name: str) -> str:
    return (
        f"the preset {preset} has no {level} {name!r}; other weights run from the command line: python -m hsd_core "
        "--help"
    )


def long_prompt(length: int, most: int) -> str:
    return f"the prompt has {length} characters; the limit is {most}, so shorten it"


def nothing_given(name: str) -> str:
    return f"no {name} was given; choose one and press Generate again"


def long_text(name: str, length: int, most: int) -> str:
    return f"the {name} has {length} characters; the limit is {most}"


def out_of_range(name: str, low: float, high: float) -> str:
    return f"{name} must be a number between {low:g} and {high:g}"


def was_set(name: str, asked: str, value: float) -> str:
    return f"{name} {asked} was set to {value:g}"
