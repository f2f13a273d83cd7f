"""At which layer the model knew: the grid out of a trace, its table, its words and its heat map."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from pagekit import plain_run
from sharedkit import LAYERS, SharedBench, depths_of, shared_run

from app.kit.figures.depth_map import LENS, knowledge, known, size, table
from app.kit.figures.panels import draw
from app.serve.engine import Loader, stream
from app.serve.line.known_runs import Run
from app.serve.settings import parse
from app.words.run import READING
from hsd_core.core.events import Piece, Report
from hsd_core.core.notes import noted
from hsd_core.systems.exits.notes import Depths

PIECES = {0: Piece(0, "IGE="), 1: Piece(1, "PGI+"), 2: Piece(2, "4g=="), 3: Piece(3, "!!")}


def reported(note: Depths) -> Report:
    return Report(0, None, None, noted(note))


def test_a_token_is_known_from_the_first_layer_from_which_the_lens_stays_right() -> None:
    right = [[1, 1], [0, 1], [1, 0], [1, 1]]  # layer by layer: token 0 wavers at 2, token 1 at 3
    note = Depths((1, 2, 3, 4), (LENS,) * 4, ((0.5, 0.5),) * 4, tuple(tuple(7 if x else 8 for x in r) for r in right))
    seen = known(reported(note), [7, 7], {})
    assert seen is not None
    assert seen.since == (3, 4)
    wrong_at_last = known(reported(replace(note, top=((7, 7),) * 3 + ((8, 8),))), [7, 7], {})
    assert wrong_at_last is not None
    assert wrong_at_last.since == (None, None)


def test_trained_drafts_stand_below_the_lens_and_do_not_count_for_it() -> None:
    seen = known(depths_of([0, 1, 2]), [0, 1, 2], PIECES)
    assert seen is not None
    assert [(row.readout, row.at) for row in seen.rows[:3]] == [("exit4", 4), ("exit8", 8), (LENS, 1)]
    assert seen.rows[-1].at == LAYERS
    assert seen.since == (1, 4, 7)


def test_tokens_are_named_by_their_text_their_bytes_or_their_id() -> None:
    seen = known(depths_of([0, 1, 2, 3, 4]), [0, 1, 2, 3, 4], PIECES)
    assert seen is not None
    assert seen.tokens == ("a", "<b>", "‹E2›", "#3", "#4")


@pytest.mark.parametrize(
    "note",
    [
        Depths((), (), (), ()),
        Depths((1,), (LENS,), ((0.5,),), ((1,),)),
        Depths((1,), (LENS,), (("x", "y"),), ((1, 1),)),  # type: ignore[arg-type]
        Depths(("<b>",), (LENS,), ((0.5, 0.5),), ((1, 1),)),  # type: ignore[arg-type]
    ],
)
def test_rows_that_fit_no_text_are_left_out(note: Depths) -> None:
    assert known(reported(note), [1, 1], {}) is None


def test_the_table_holds_every_cell_of_the_heat_map() -> None:
    seen = known(depths_of([0, 1, 2]), [0, 1, 2], PIECES)
    assert seen is not None
    columns, rows = table(seen)
    assert len(columns) == 2 + LAYERS + 2
    assert all(len(row) == len(columns) for row in rows)
    assert rows[1][:2] == ["2 <b>", "4"]
    assert rows[1][columns.index("layer 3")] == "0.03"
    assert rows[1][columns.index("layer 4")] == "0.90 ✓"


@pytest.mark.parametrize("dark", [False, True])
def test_the_heat_map_has_the_run_s_cells_dots_and_frames(dark: bool) -> None:
    events = shared_run()
    note, plot, _ = draw(events, dark=dark)[:3]
    assert note["title"] == "At which layer did the model know?"
    drafts, lens, dots, frames = json.loads(plot.value["plot"])["data"]
    assert (len(drafts["z"]), len(lens["z"]), len(lens["x"])) == (2, LAYERS, 12)
    seen = knowledge(events)
    assert seen is not None
    assert len(dots["x"]) == sum(sum(row.right) for row in seen.rows)
    assert list(frames["x"]).count(None) == 12


def test_a_long_text_gets_a_wider_figure_and_cells_keep_their_size() -> None:
    short, long = (known(depths_of([0] * n), [0] * n, PIECES) for n in (20, 96))
    assert short is not None
    assert long is not None
    assert size(long)["width"] - size(short)["width"] == 76 * 26
    assert size(long)["height"] == size(short)["height"]


def test_markup_in_tokens_and_names_stays_text() -> None:
    note = depths_of([1]).notes["depths"]
    event = reported(replace(note, readouts=(*note.readouts[:-1], "<i>x</i>")))
    plot = draw([*plain_run(["<b>&</b>"]), event], dark=False)[1]
    said = plot.value["plot"].replace("\\u002f", "/")
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in said
    assert "<b>" not in said
    assert "<i>" not in said


def test_a_trace_without_depths_has_no_heat_map() -> None:
    note, plot, again = draw(shared_run(depths=False), dark=False)[:3]
    assert (note, again, plot.visible) == (None, None, False)


def test_a_run_says_that_it_reads_the_layers_after_it_measured_plain_decoding() -> None:
    asked = parse({"run": "c" * 32, "prompt": "x", "stack": "target", "preset": "shared", "depths": True})
    run = Run("c" * 32)
    told = [payload["status"] for payload in stream(Loader(SharedBench), asked, run)]
    assert list(dict.fromkeys(state["phase"] for state in told if "phase" in state)) == ["plain", "depths", "done"]
    assert READING in [state["text"] for state in told]
    assert isinstance(run.events[-1], Report)
    assert "plain decoding measured beside it" in run.state["text"]
