"""A class: the room on the terminal, who is let in, what may be sent to all screens, and whose runs wait."""

from __future__ import annotations

from collections.abc import Sequence

WRONG_CODE = "this is not the code of the room; it stands on the instructor's screen"
WRONG_KEY = "this is not the instructor's key; it was printed where the server was started"
NOT_IN = "enter the code of the room first"
NOT_LEADING = "only the instructor can do this; open the page with the instructor's key"
FULL = "the room is full; try again in a minute"
TOO_MANY_HELD = "this browser already waits for news of the room several times; close its other pages"
NO_FIELDS = "the body must be a JSON object of this request's fields"
NO_ADDRESS = "what is sent must be an address of this page: ? and its parameters, nothing before it"
NO_QUESTION = "no lesson here has this question"
NO_ANSWER = "this is no answer to this question: send the number of a choice, or a figure that is not negative"
NO_PAGE = "answers count while the page of the class is open; open it and answer again"
JOIN_FIRST = "enter the code of the room first: runs of your own belong to the class. Recordings are free."
NO_LEARNERS_RUNS = "in this class only the instructor starts runs; replay a recording"


def slow_down(seconds: float) -> str:
    return f"too many wrong guesses; try again in {max(1, round(seconds))} s"


def too_many_enter(seconds: float) -> str:
    return f"many browsers have just joined from your address; try again in {max(1, round(seconds))} s"


def too_long(most: int) -> str:
    return f"what is sent may have at most {most:,} characters; send a shorter link, or the run as a file"


def not_sent(name: str) -> str:
    return f"{name} belongs to one screen and cannot be sent; leave it out"


def of_learner(most: int) -> str:
    if most == 0:
        return NO_LEARNERS_RUNS
    runs = "a run that runs or waits" if most == 1 else f"{most} runs that run or wait"
    return f"you already have {runs}, as many as a learner may have here; wait for its end, or stop it"


def of_class(most: int, later: str) -> str:
    return f"all {most} places for runs of the class are taken; {later}"


def opened(code: str, key: str, addresses: Sequence[str]) -> str:
    """What the terminal says once the room is open.

    Args:
        addresses: of the page, the one that learners are told first.
    """
    first, *others = addresses
    lines = [
        "",
        "The room for the class is open.",
        f"  Learners open    {first}?room={code}",
        f"  or               {first} and enter the code {code}",
        f"  The instructor   {first}#workshop={key}",
        "The instructor's key is shown here, this once: keep it off the projector.",
    ]
    if others:
        lines.append(f"Other addresses of this machine: {', '.join(others)}")
    return "\n".join(lines)


def this_machine_only(address: str) -> str:
    return f"Other machines cannot reach {address}: join a network, or leave --host out, and start again."
