"""Weight reads against the accounting for early exits with reuse: a bonus costs the layers that its draft skipped.

At a few rows a pass, decoding costs what reading the weights costs, whatever the rows. A trace says which layers each
pass ran (`ran`); here they are added up. What an early exit saves is then plain: after g tokens drafted behind layer d
of L, a verification that wants a bonus token runs the first d layers on the last drafted token too, so it reads all L;
without a bonus it goes on from d and reads L - d.

Only the model's own layers are counted. A trained draft's few layers and its trimmed head are not: its read-out counts
as one head.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
import torch
from lean_stacks import LeanStacks

import hsd_core
from hsd_core.cli.terminal import totals_lines
from hsd_core.core.events import Commit, Draft, Event, Verify
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace.metrics import measure

L = 6
HEAD = 2.4


@dataclass(frozen=True, slots=True)
class Reads:
    """One round. `layers`: layers read, each as often as it was; `heads`: read-outs; `passes`: both in full passes."""

    round: int
    layers: int
    heads: int
    committed: int
    passes: float


def weight_reads(events: Iterable[Event], layers: int, head_layers: float) -> tuple[Reads, ...]:
    """What a run read in each round, the prefill left out.

    Levels that tell no layers (lookups, nano drafts, models outside our own decoder) count nothing here.

    Args:
        layers: of the model. head_layers: what its head costs, in layers (Llama-2-7B 0.65, Llama-3-8B 2.4).
    """
    rounds: dict[int, list[int]] = {}
    for event in events:
        if isinstance(event, (Draft, Verify)):
            count = rounds.setdefault(event.round, [0, 0, 0])
            count[0] += sum(span.hi - span.lo for span in event.work.ran)
            if event.work.ran:
                count[1] += event.work.forwards
        elif isinstance(event, Commit):
            rounds.setdefault(event.round, [0, 0, 0])[2] += len(event.tokens)
    whole = layers + head_layers
    return tuple(Reads(r, n, heads, kept, (n + heads * head_layers) / whole) for r, (n, heads, kept) in rounds.items())


def reads(text: str) -> tuple[Reads, ...]:
    """The rounds of a run in which all levels agree: the layers of this model add nothing, at every exit."""
    stacks = LeanStacks(layers=L)

    def states(given: Pass, cache: object, lo: int, hi: int, x: torch.Tensor | None = None) -> torch.Tensor:
        return stacks.target.embed(given.ids) if x is None else x

    stacks.target.forward_layers = states  # type: ignore[method-assign]
    events = list(hsd_core.run(stacks.stack(text), [1, 2, 3], Sampling(0.0), 0, max_new_tokens=40))
    return weight_reads(events, L, HEAD)


def two_levels(g: int, d: int, bonus: bool) -> float:
    return g * (d + HEAD) + (L if bonus else L - d) + HEAD


@pytest.mark.parametrize(("g", "d", "bonus"), list(itertools.product((1, 2, 5), (1, 2, 5), (True, False))))
def test_two_levels_read_what_the_accounting_says(g: int, d: int, bonus: bool) -> None:
    first = reads(f"exit:{g}@at={d},target@bonus={int(bonus)}")[0]
    assert first.layers == g * d + (L if bonus else L - d)
    assert first.heads == g + 1
    assert first.committed == g + bonus
    assert first.passes == pytest.approx(two_levels(g, d, bonus) / (L + HEAD))


@pytest.mark.parametrize("bonus", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_three_levels_read_what_the_accounting_says(inner: bool, bonus: bool) -> None:
    d1, d2, g, rounds = 2, 4, 2, 2
    held = rounds * (g + inner)
    first = reads(f"exit:{g}@at={d1},exit:{held}@at={d2}@bonus={int(inner)},target@bonus={int(bonus)}")[0]
    middle = d2 if inner else d2 - d1
    # The last token held, drafted or an inner bonus, has been through no layer yet.
    assert first.layers == rounds * (g * d1 + middle) + (L if bonus else L - d2)
    assert first.heads == rounds * (g + 1) + 1
    assert first.committed == held + bonus


def test_after_a_reject_the_states_that_were_cut_are_computed_again() -> None:
    stacks = LeanStacks(layers=L)
    events = list(hsd_core.run(stacks.stack("exit:4@at=2,target"), [1, 2, 3], Sampling(0.0), 0, max_new_tokens=40))
    rounds = weight_reads(events, L, HEAD)
    assert any(r.committed < 5 for r in rounds[:-1])
    assert {(r.layers, r.heads) for r in rounds[:-2]} == {(4 * 2 + L, 5)}


def test_plain_decoding_reads_the_model_once_a_token() -> None:
    assert {(r.layers, r.heads, r.committed, r.passes) for r in reads("target")} == {(L, 1, 1, 1.0)}


def test_lookups_read_nothing() -> None:
    assert {(r.layers, r.heads) for r in reads("ngram:3,target")} == {(L, 1)}


def test_the_figure_of_a_run_is_what_the_levels_over_the_targets_weights_read() -> None:
    figures, told = {}, {}
    for text in ("exit:2@at=2,target", "exit:2@at=2@dtype=int8,int8:4,target", "ngram:3,target"):
        stacks = LeanStacks(layers=L)
        events = list(hsd_core.run(stacks.stack(text), [1, 2, 3], Sampling(0.0), 0, max_new_tokens=20))
        told[text] = [line for line in totals_lines(events, colour=False) if "layers read per token" in line]
        rounds = weight_reads(events, L, HEAD)
        figures[text] = (
            measure(events)["layers_per_token"],
            sum(r.layers for r in rounds) / sum(r.committed for r in rounds),
        )
    alone, counted = figures["exit:2@at=2,target"]
    assert alone == pytest.approx(counted) and alone >= L / 3
    assert told["exit:2@at=2,target"] == [f"{counted:.1f} layers read per token; plain decoding reads {L}"]
    assert told["ngram:3,target"] == []
    assert figures["exit:2@at=2@dtype=int8,int8:4,target"][0] is None, "the target shares its weights with nobody"
    assert figures["ngram:3,target"][0] is None
