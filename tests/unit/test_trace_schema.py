"""What other programs are told of a trace is what is written and read here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from small_trace import small_run

from hsd_core.core.events import EVENTS, Baseline, Event, Piece, Plan, Report
from hsd_core.core.notes import noted
from hsd_core.systems.exits.notes import Depths
from hsd_core.systems.ngram.notes import Filed
from hsd_core.systems.views.notes import Chosen, Held
from hsd_core.trace.codec import from_dict
from hsd_core.trace.file import dumps
from hsd_core.trace.schema import FILE, schema
from hsd_core.typed import Wrong, pretty

SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))
ASSETS = Path(__file__).parents[2] / "assets"
SHIPPED = sorted([*ASSETS.glob("traces/*.jsonl.gz"), *ASSETS.glob("races/*.jsonl.gz")])
TYPES = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, int | float) and not isinstance(x, bool),
    "boolean": lambda x: isinstance(x, bool),
    "null": lambda x: x is None,
}
READ = Depths((1,), ("lens",), ((0.5,),), ((3,),))
SEEN = Report(0, 4, 4, noted(Chosen(9, 8, 6, (Held(0, 4, 6), Held(6, 9, 2))), Filed(1, 0, ((3, 4),)), READ))
BESIDE = (Piece(3, "aGk="), SEEN, Plan(1, "table", (1,), (), 8, 9))
MEASURED = (Baseline("target", 5, (1, 2), 2, True),)
EACH = {event.event: event for event in (*small_run(), *BESIDE, *MEASURED)}
SAYS_NOTHING = {"$schema", "$defs", "title", "description", "default", "discriminator"}


def holds(value: Any, form: dict[str, Any]) -> bool:
    """Whether a value is of a form, by the keywords that our schema has, `type` before the others."""
    for keyword, said in form.items():
        if keyword in SAYS_NOTHING:
            continue
        elif keyword == "$ref":
            right = holds(value, SCHEMA["$defs"][said.removeprefix("#/$defs/")])
        elif keyword == "anyOf":
            right = any(holds(value, one) for one in said)
        elif keyword == "type":
            right = TYPES[said](value)
        elif keyword == "enum":
            right = any(value == one and type(value) is type(one) for one in said)
        elif keyword in ("minimum", "maximum"):
            right = value >= said if keyword == "minimum" else value <= said
        elif keyword == "required":
            right = value.keys() >= set(said)
        elif keyword == "properties":
            right = all(holds(value[name], one) for name, one in said.items() if name in value)
        elif keyword == "additionalProperties":
            others = value.keys() - form.get("properties", {}).keys()
            right = all(holds(value[name], said) for name in others) if said else not others
        elif keyword in ("maxProperties", "maxItems"):
            right = len(value) <= said
        elif keyword == "minItems":
            right = len(value) >= said
        elif keyword == "prefixItems":
            right = all(holds(one, of) for one, of in zip(value, said, strict=False))
        elif keyword == "items" and said is False:
            right = len(value) <= len(form["prefixItems"])
        else:
            assert keyword == "items", f"the schema has a keyword that this test does not know: {keyword}"
            right = all(holds(one, said) for one in value)
        if not right:
            return False
    return True


def test_the_file_is_made_from_the_classes() -> None:
    assert FILE.read_text(encoding="utf-8") == pretty(schema()) + "\n", "run python -m hsd_core.trace.schema"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_line_of_what_is_shipped_is_of_that_form(path: Path) -> None:
    for line in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
        assert line["event"] == "race" or holds(line, SCHEMA), line  # a race's file begins with a line of its own


@pytest.mark.parametrize("event", EACH.values(), ids=EACH)
def test_a_line_is_of_that_form_where_a_reader_takes_it_and_only_there(event: Event) -> None:
    """Every field left out, and replaced by every kind of JSON value."""
    line, unknown = json.loads(dumps([event])), {"colour": 1}
    assert EACH.keys() == EVENTS.keys()
    changed = [{key: value for key, value in line.items() if key != left_out} for left_out in line]
    values = (None, True, 7, 2**63, 2.5, "x", "draft", [], [None], [7], ["x"], [[1]], {}, {"x": "y"})
    changed += [line | {key: value} for key in line for value in values]
    for one in (line, line | unknown, *changed):
        try:
            taken = bool(from_dict(one))
        except Wrong as error:
            if "differ in length" in str(error) or "not one entry for each" in str(error):
                continue
            taken = False
        assert holds(one, SCHEMA) == taken, one
