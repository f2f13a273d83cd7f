"""Questions to the two lanes' processes, each answered once, whoever waits for which first."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from itertools import count
from time import monotonic
from typing import Any

from torch import Tensor

from hsd_core.engine.driver import unless_stopped
from hsd_core.engine.lanes.real.lane_messages import Done, Failed, Message
from hsd_core.engine.lanes.real.spawned_lane import Answered, SpawnedLane

ANSWERS_S = 120.0  # the longest that a pass may take
LOOK_S = 0.1  # between two looks at whether the run is to stop


class Answers:
    """What both processes answer, by the number of the question."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[tuple[AskedLane, Answered | None]] = queue.SimpleQueue()
        self._kept: dict[int, tuple[AskedLane, Answered]] = {}
        self._nobody: set[int] = set()  # waits for these answers
        self.numbers = count()
        self.stop: Callable[[], bool] = lambda: False

    def hear(self, lane: AskedLane, answered: Answered | None) -> None:
        """Called by the threads that listen."""
        self._heard.put((lane, answered))

    def look(self, seconds: float) -> bool:
        """Take up what was heard, after waiting so many seconds for it at most. Whether there was anything.

        Raises:
            LaneEnded: a lane has ended.
        """
        try:
            lane, answered = self._heard.get(timeout=seconds) if seconds else self._heard.get_nowait()
        except queue.Empty:
            return False
        if answered is None:
            self._heard.put((lane, None))  # whoever looks again is told again
            raise lane.process.ended()
        told = answered.told
        if isinstance(told, Done):
            lane.cached = dict(zip(lane.levels, told.cached, strict=False))
        if told.number in self._nobody:
            self._nobody.remove(told.number)
        else:
            self._kept[told.number] = lane, answered
        return True

    def drop(self, number: int) -> None:
        """Nobody will ask for this answer."""
        if self._kept.pop(number, None) is None:
            self._nobody.add(number)

    def seen(self, number: int) -> Answered | None:
        """An answer, if it is there.

        Raises:
            LaneEnded: a lane has ended. RuntimeError: it could not do what it was asked.
        """
        while self.look(0.0):
            pass
        if number not in self._kept:
            return None
        lane, answered = self._kept[number]
        if isinstance(answered.told, Failed):
            raise RuntimeError(f'the lane "{lane.process.name}" could not do what it was asked: {answered.told.why}')
        return answered

    def take(self, number: int) -> Answered:
        """An answer that is there, once."""
        return self._kept.pop(number)[1]


class AskedLane:
    """One lane's process, and what it holds of the present run.

    levels: the indices of its levels. cached: of each, as it last said. at_work: it runs a request of a round.
    """

    def __init__(self, name: str, answers: Answers) -> None:
        self.levels = range(0)
        self.cached: dict[int, int] = {}
        self.at_work = False
        self._answers = answers
        self.process = SpawnedLane(name, lambda answered: answers.hear(self, answered))

    def ask(self, kind: Callable[..., Message], *given: Any, tensors: Sequence[Tensor] = ()) -> int:
        """Put a question of this kind; returns its number.

        Raises:
            LaneEnded: see `SpawnedLane.ask`.
        """
        number = next(self._answers.numbers)
        self.process.ask(kind(number, *given), tensors)
        return number

    def is_answered(self, number: int) -> bool:
        """Whether the answer is there.

        Raises:
            LaneEnded, RuntimeError: see `Answers.seen`.
        """
        return self._answers.seen(number) is not None

    def forget(self, number: int) -> None:
        """The answer says nothing new."""
        self._answers.drop(number)

    def answer(self, number: int, seconds: float = ANSWERS_S) -> Answered:
        """The answer to a question, waited for.

        Raises:
            LaneEnded: there is none within so many seconds, or a lane has ended. Stopped: the run is to end.
            RuntimeError: it could not do what it was asked.
        """
        began = monotonic()
        while self._answers.seen(number) is None:
            if not self._answers.look(LOOK_S):
                unless_stopped(self._answers.stop)
                if monotonic() - began > seconds:
                    raise self.process.silent(seconds)
        return self._answers.take(number)
