"""Races of a visitor's own."""

from __future__ import annotations

OWN_RACE = "A race of your own"
STOPPED = "stopped before the race was over"


def raced(repeats: int, ended_after: float | None) -> str:
    """`ended_after` (s): where time was over before all repeats were run."""
    early = "" if ended_after is None else f", ended after {ended_after:.0f} s"
    return f"{repeats} {'repeat' if repeats == 1 else 'repeats'} raced{early}"


def progress(repeat: int, of: int) -> str:
    return f"repeat {repeat} of {of}" if repeat else "warming up"


def no_race(name: str) -> str:
    return f"there is no race {name!r} here; choose one from the menu"


def nothing_finished(seconds: float, option: str, stacks: str) -> str:
    return (
        f"no repeat finished in {seconds:.0f} s; ask for fewer tokens, or race on your own machine: python -m "
        f"hsd_core race {option} {stacks}"
    )


def too_large(mb: float) -> str:
    return f"the page would need more than {mb:g} MB; record a shorter race"


def how_many(least: int, most: int) -> str:
    return f"a race has {least} to {most} stacks; choose as many"


def repeats(most: int) -> str:
    return f"repeats must be a whole number between 1 and {most}"


def cannot_race(stack: str, why: object) -> str:
    return f"the stack {stack} cannot be raced: {why}"


def two_targets(one: str, other: str) -> str:
    return f"a race is over one target, and these stacks name {one} and {other}; choose one of them"


def twice(stack: str) -> str:
    return f"the stack {stack} is in the race twice; choose another one"


PLAIN_ALONE = "plain decoding is run anyway; choose a stack of two levels or more"
LOADED = "both batches decoded"


def loads(known: tuple[int, ...]) -> str:
    return f"requests at once must be one of {', '.join(map(str, known))}"


def load_reading(side: int, read: int, of: int) -> str:
    return f"{'the stack' if side else 'plain decoding'}: {read} of {of} prompts read"


def load_progress(side: int, tokens: int, most: int) -> str:
    return f"{'the stack' if side else 'plain decoding'}: {tokens} of at most {most} tokens"


def load_too_long(seconds: float, command: str) -> str:
    return f"not finished in {seconds:.0f} s; ask for fewer requests, or race on your own machine: {command}"
