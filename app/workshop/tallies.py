"""Answers to the lessons' questions, counted: how often each choice was taken, or a small histogram of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from app.words.room import workshop as says

BINS = 8
LARGEST = 1e9  # of a figure; what is asked for is counted or measured
DECIMALS = 4  # of a figure that are kept
Question = tuple[str, int]  # a lesson's id, and the number of a step of it from 1


def questions_of(lessons: Iterable[Mapping[str, Any]]) -> dict[Question, int | None]:
    """The questions of lessons: how many choices each has, None where a figure is estimated."""
    return {
        (lesson["id"], number): len(step["question"]["choices"]) if step["question"].get("choices") else None
        for lesson in lessons
        for number, step in enumerate(lesson["steps"], 1)
        if step.get("question")
    }


class Tallies:
    """One answer per browser and question: the first. Who gave which is forgotten with the room.

    Args:
        questions: as `questions_of` gives them.
    """

    def __init__(self, questions: Mapping[Question, int | None]) -> None:
        self._questions = questions
        self._answers: dict[Question, dict[str, float]] = {}  # by token

    def take(self, token: str, question: Question, answer: float) -> bool:
        """Count an answer; whether it was counted.

        Raises:
            ValueError: there is no such question, or this is no answer to it.
        """
        if question not in self._questions:
            raise ValueError(says.NO_QUESTION)
        choices = self._questions[question]
        fits = isinstance(answer, int) and 0 <= answer < choices if choices else 0 <= answer <= LARGEST
        if not fits:
            raise ValueError(says.NO_ANSWER)
        given = self._answers.setdefault(question, {})
        if token in given:
            return False
        given[token] = answer if choices else round(float(answer), DECIMALS)
        return True

    def saved(self) -> list[tuple[str, int, dict[str, float]]]:
        """Every answer: of a lesson, at a step, by token."""
        return [(lesson, step, given) for (lesson, step), given in self._answers.items()]

    def restore(self, saved: Iterable[tuple[str, int, dict[str, float]]]) -> None:
        """Take up what was `saved`."""
        self._answers = {(lesson, step): given for lesson, step, given in saved if (lesson, step) in self._questions}

    def counted(self, question: Question) -> dict[str, Any]:
        """One question's answers: {lesson, step, total, counts} of choices, or {..., bins} as `histogram` has them."""
        answers = list(self._answers.get(question, {}).values())
        choices = self._questions[question]
        said: dict[str, Any] = {"lesson": question[0], "step": question[1], "total": len(answers)}
        if choices:
            return {**said, "counts": [answers.count(one) for one in range(choices)]}
        return {**said, "bins": histogram(answers)}

    def all(self) -> list[dict[str, Any]]:
        """Every question that was answered."""
        return [self.counted(question) for question in sorted(self._answers)]

    def given(self) -> list[dict[str, Any]]:
        """Every answered question with its answers, the least first: nobody's stand together."""
        return [
            {"lesson": lesson, "step": step, "answers": sorted(given.values())}
            for (lesson, step), given in sorted(self._answers.items())
        ]

    def knows(self, question: Question) -> bool:
        return question in self._questions


def histogram(values: Sequence[float]) -> list[dict[str, Any]]:
    """At most `BINS` bins of one round width: {from, to, count}. `from` belongs to its bin; so does `to` where all
    values are whole numbers.

    The lowest and the highest tenth of the values do not widen the bins. Values outside are counted in the first and
    the last bin, which then have no `from`, or no `to`.

    Args:
        values: 0 to `LARGEST`, with at most `DECIMALS` decimals.
    """
    if not values:
        return []
    ranked = np.sort(np.asarray(values, dtype=float))
    aside = len(ranked) // 10  # one answer of a million does not hide all others
    low, high = float(ranked[aside]), float(ranked[-1 - aside])
    whole = bool(np.all(ranked == np.floor(ranked)))
    width = _round((high - low) / (BINS - 2) or (1.0 if whole else max(low / 10, 1.0)))
    if whole:
        width = max(width, 1.0)
    first, last = math.floor(low / width), math.floor(high / width)
    edges = [round(i * width, 12) for i in range(first, last + 2)]
    bins = np.clip(np.floor(ranked / width).astype(int), first, last) - first
    found: list[dict[str, Any]] = [
        {"from": edges[i], "to": edges[i + 1] - whole, "count": int(count)}
        for i, count in enumerate(np.bincount(bins, minlength=last - first + 1))
    ]
    if ranked[0] < edges[0]:
        found[0]["from"] = None
    if ranked[-1] >= edges[-1]:
        found[-1]["to"] = None
    return found


def _round(width: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= width * (1 - 1e-9)), 10 * power)
