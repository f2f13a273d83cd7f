"""Which block lengths are best for code, for translation, ...? A question to a profile that `plan --categories` and
the Planner answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import CATEGORIES, COUNTED_ON, Profile
from hsd_core.typed import plain
from hsd_core.typed.files import read_bytes
from hsd_core.typed.program_files import ASSETS

NAME = OPTION = "categories"  # on the page, and of `plan`
HELP = "the best block lengths for each kind of text that bench counted acceptances on"
SECONDS = 6.0  # of CPU time, at most
DRAWN = ()  # nothing is for the page alone
SHIPPED = ASSETS / "profiles" / "by-category"


def answer(profile: Profile, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """See `best_lengths`; `counted` says on which prompts, `check` is called now and then and may raise to end the
    work.

    Raises:
        ProfileError: nothing was counted by category over the levels of this profile.
    """
    from hsd_core.systems.categories.best_lengths import best_lengths, rows_of

    given, counted = profile.about.get(CATEGORIES), profile.about.get(COUNTED_ON)
    path = SHIPPED / f"{profile.about.get('preset')}.json"
    if given is None and path.parent == SHIPPED and path.is_file() and not profile.temperature:
        shipped = plain(read_bytes(path))
        given, counted = shipped[CATEGORIES], shipped[COUNTED_ON]
    found = given and best_lengths(profile, rows_of(given), check)
    if not found:
        raise ProfileError(
            "no acceptances by kind of text come with this profile; measure them: python -m hsd_core bench "
            "--prompts FILE --out DIR, and open DIR/profile.json"
        )
    return {**found, "counted": str(counted)[:200]}


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """The answer for people."""
    yield ""
    yield f"by kind of text, counted on {answer['counted']}; speed-ups are predicted with this profile's costs"
    yield f"{'kind':<16} {'best':<28} {'speed-up':>8} {answer['stack']:>26}  accepted, by level"
    for row in answer["rows"]:
        accepted = " / ".join("-" if share is None else f"{share:.2f}" for share in row["acceptance"][1:])
        yield f"{row['category']:<16} {row['stack']:<28} {row['speed_up']:>8.2f} {row['usual']:>26.2f}  {accepted}"
