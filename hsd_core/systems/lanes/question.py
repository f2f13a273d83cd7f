"""Would a second machine pay? A question to a profile that `plan --overlap` and the Planner answer
(`SecondMachine`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hsd_core.theory.profiles.profile import Profile

NAME, OPTION = "second", "overlap"  # on the page; of `plan`
HELP = "would a second machine pay? Reckoned, beside the plan"
SECONDS = 6.0  # of CPU time, at most: every schedule of every drafter is computed
DRAWN = ("map",)  # the part of the answer that only the page shows; it is the same for every profile


def answer(profile: Profile, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """See `SecondMachine.answer`; `check` is called now and then and may raise to end the work."""
    from hsd_core.systems.lanes.second_machine import SecondMachine

    return SecondMachine(profile, check).answer()


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """The answer for people."""
    from hsd_core.systems.lanes.closed_forms import SAME
    from hsd_core.systems.lanes.second_machine import FREE, LOCK_STEP

    two = answer["two"]
    yield ""
    yield "on two machines of this kind, one for the target and one for what drafts for it"
    yield "RECKONED: passes as they were timed alone, laid on two clocks; never ranked with the plans above"
    yield f"{'drafts':<24} {'a token':>8} {'accepted':>9} {'on one':>9} {'pearl':>9} {'ahead':>9} {'gain':>6}"
    for one in answer["drafters"]:
        gain = one["gain"]
        remark = "  do not overlap" if gain < 1 - SAME else "" if gain > 1 + SAME else "  no difference"
        remark += f"  ({one['needs']} reads the target's last states, so it cannot run apart)" if one["needs"] else ""
        ms = "".join(f" {one[name]['ms']:>6.2f} ms" for name in ("apart", LOCK_STEP, FREE))
        yield f"{one['name']:<24} {one['share']:>7.0%}  {one['agreement']:>8.0%} {ms} {gain:>6.2f}{remark}"
    yield "a token: what it costs, in passes of the target; gain: over these levels one after another, on one machine"
    yield ""
    one = answer["one"]
    if two is None:
        yield "do not overlap: whatever drafts here reads the target's last states"
    elif answer["pays"]:
        busy = f"the target's machine busy {two['verifying']:.0%} of the time, the drafter's {two['drafting']:.0%}"
        yield f"a second machine would pay: {two['stack']}, {two['ms']:.2f} ms per token reckoned; {busy}"
        yield f"{answer['gain']:.2f} times as fast as {one['stack']}, the best on one ({one['ms']:.2f} ms)"
    else:
        yield f"do not overlap: the best on two machines, {two['stack']}, would take {two['ms']:.2f} ms per token,"
        yield f"and {one['stack']} takes {one['ms']:.2f} on one"
