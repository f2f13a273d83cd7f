"""The Planner's work in a process of its own, `python -m app.planner.worker PATIENCE FOLDER`, and how it is asked."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

from app.elsewhere import Elsewhere, Gone, attend, bound
from app.payload import dumps
from app.planner.desk import Desk
from app.planner.request import Look, PlannerError, read
from app.planner.sources import Sources

PATIENCE_S = 20.0  # for one answer, of which a processor may spend `desk.WORK_S`
MEMORY = 2**30  # bytes of the process's addresses, where the system can bound them


class Worker:
    """Works answers out elsewhere. Thread-safe.

    Args:
        profiles: folder of the profiles and validations that are shipped.
    """

    def __init__(self, profiles: Path) -> None:
        self._process = Elsewhere(__name__, str(profiles.resolve()), patience=PATIENCE_S)
        self.start = self._process.start

    def work(self, question: str, look: Look) -> str:
        """What `Desk.work` gives.

        Raises:
            PlannerError: what that raises, or the process ended.
        """
        drawn = {"dark": look.dark, "width": look.width, "figures": sorted(look.figures)}
        return self._asked({"question": question, "look": drawn})

    def check(self, profile: Any) -> str:
        """A profile as the page may use it, in JSON.

        Raises:
            PlannerError: it is none, or the process ended.
        """
        return self._asked({"check": profile})

    def _asked(self, question: dict[str, Any]) -> str:
        try:
            said = self._process.ask(json.dumps(question).encode()).decode(errors="surrogatepass")
        except Gone:
            raise PlannerError(
                f"planning took longer than {PATIENCE_S:g} s or more than {MEMORY / 2**30:g} GB and was ended; "
                "leave out levels or lower the longest block"
            ) from None
        if said[0] == "!":
            raise PlannerError(*json.loads(said[1:]))
        return said


def main(profiles: Path) -> None:
    """The process: answers are JSON objects; a refusal is a "!" and the arguments of its `PlannerError`."""
    desk = Desk(Sources(profiles))

    def answer(question: bytes) -> bytes:
        try:
            return _answer(desk, json.loads(question)).encode()
        except UnicodeEncodeError:
            return _refusal(PlannerError("a name holds half a character (a lone surrogate); write whole ones"))
        except PlannerError as error:
            return _refusal(error)

    gc.freeze()  # what is there now stays, and need not be searched for garbage
    attend(answer)


def _refusal(error: PlannerError) -> bytes:
    return ("!" + json.dumps([str(error), error.field])).encode()


def _answer(desk: Desk, asked: dict[str, Any]) -> str:
    if "check" in asked:
        return dumps({"profile": read(asked["check"]).as_dict()})
    drawn = asked["look"]
    return desk.work(asked["question"], Look(**{**drawn, "figures": frozenset(drawn["figures"])}))


if __name__ == "__main__":
    bound(memory=MEMORY)
    main(Path(sys.argv[2]))
