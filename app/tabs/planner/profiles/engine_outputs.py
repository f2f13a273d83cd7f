"""What the doctor is asked: texts that another engine printed, and the plain time where it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.tabs.planner import words as says
from app.tabs.planner.profiles.plan_request import PlannerError
from hsd_core.doctor.by_batch import costs_in
from hsd_core.doctor.categories import diagnose_kinds
from hsd_core.doctor.reading.counts import DoctorError
from hsd_core.doctor.reading.inputs import FORMAT, read_texts
from hsd_core.typed import builtins

MAX_OUTPUT = 2_000_000  # characters: some hours of a log's lines of speculation
MAX_REQUEST = 2 * MAX_OUTPUT  # bytes of its JSON, in which a line's end is two
MAX_TEXTS = 8  # outputs of one engine
LONGEST_FILE_NAME = 100
LONGEST_CATEGORIES = 8_000  # characters: a hundred names with a number each


class Outputs(msgspec.Struct):
    """texts: pairs of a name and what was printed. plain_ms: of a token without speculation. categories: tokens a pass
    by kind of text, as `read_categories` wants them."""

    texts: list[tuple[str, str]]
    plain_ms: float | None = None
    categories: str = ""


def outputs(data: Any) -> Outputs:
    """The question in the page's JSON.

    Raises:
        PlannerError: something is missing or too large.
    """
    if not isinstance(data, Mapping):
        raise PlannerError(says.EMPTY_REQUEST)
    texts, plain, kinds = data.get("texts"), data.get("plain_ms"), data.get("categories", "")
    if not isinstance(texts, list) or not 1 <= len(texts) <= MAX_TEXTS:
        raise PlannerError(says.which_outputs(MAX_TEXTS), "texts")
    pairs = []
    for number, one in enumerate(texts, 1):
        name, text = (one.get("name"), one.get("text")) if isinstance(one, Mapping) else (None, None)
        if not isinstance(name, str) or not isinstance(text, str):
            raise PlannerError(says.which_outputs(MAX_TEXTS), "texts")
        if not text.strip():
            raise PlannerError(says.EMPTY_OUTPUT, "texts")
        pairs.append((name[:LONGEST_FILE_NAME] or says.output(number), text))
    if sum(len(text) for _, text in pairs) > MAX_OUTPUT:
        raise PlannerError(says.outputs_too_large(MAX_OUTPUT // 1_000_000), "texts")
    if plain is not None and (isinstance(plain, bool) or not isinstance(plain, int | float)):
        raise PlannerError(says.WHICH_PLAIN_MS, "plain_ms")
    if not isinstance(kinds, str) or len(kinds) > LONGEST_CATEGORIES:
        raise PlannerError(says.WHICH_CATEGORIES, "categories")
    return Outputs(pairs, None if plain is None else float(plain), kinds.strip())


def diagnosed(asked: Outputs) -> dict[str, Any]:
    """The doctor's answer, and `runs`: the counts that it was read from, which with `plain_given` and `categories` give
    the same answer again, unless a profile among the texts prices it (`profile_given`).

    Raises:
        PlannerError: the texts say nothing of speculation, or contradict each other; or the categories are wrong.
    """
    try:
        costs, outputs = costs_in(asked.texts)
        seen, texts = read_texts(outputs), (text for _, text in outputs)
        answer = diagnose_kinds(seen, texts, asked.categories, plain_ms=asked.plain_ms, costs=costs)
    except DoctorError as error:
        raise PlannerError(str(error), "texts") from error
    runs = {"format": FORMAT, "runs": builtins(seen)}
    return {**answer, "runs": runs, "plain_given": asked.plain_ms, "profile_given": costs is not None}
