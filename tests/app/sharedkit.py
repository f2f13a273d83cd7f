"""Hand-written traces and a hand-written preset of levels that share one model: exits, a draft model, the target."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace
from pagekit import AllHere

from hsd_core.core.events import (
    FORMAT,
    SCHEMA,
    Baseline,
    Bonus,
    Check,
    Commit,
    Committed,
    Draft,
    Drafted,
    Event,
    Footer,
    Header,
    LevelInfo,
    LevelTotal,
    Piece,
    Prefill,
    Report,
    Span,
    Verify,
    Work,
)
from hsd_core.core.notes import noted
from hsd_core.levels.notes import Copied, Copies
from hsd_core.systems.exits.notes import Depths

LAYERS = 30
STACK = "exit:2@at=4,exit:4@at=8,target"
WORDS = ("The", " tower", " has", " thirty", " layers", " and", " <b>one</b>", " &amp; only", ".", "\n")
MS = 1_000_000


def exit_info(index: int, at: int, block: int, top: int = 2) -> LevelInfo:
    rule = "tokenwise" if index else None
    return LevelInfo(
        index,
        "exit",
        "exit",
        f"exit at layer {at}",
        block,
        "fixed",
        None,
        rule,
        True,
        "cpu",
        "float32",
        at,
        params={"at": at},
        shares=top,
    )


def shared_run(rounds: int = 4, *, depths: bool = True, title: str = "One model, three levels") -> list[Event]:
    """A stack of exits at 4 and 8 under a model of 30 layers. Each round drafts two tokens, and each verifier keeps
    both; the target adds a bonus token, for which the layers below 8 are run on one row. The second token of a draft
    is a copy: of the prompt's last, and after ten tokens of what the text says again."""
    target = LevelInfo(
        2, "target", "target", "SmolLM2", None, None, None, "tokenwise", True, "cpu", "float32", LAYERS, shares=2
    )
    events: list[Event] = [
        Header(
            FORMAT,
            SCHEMA,
            STACK,
            (exit_info(0, 4, 2), exit_info(1, 8, 4), target),
            {"temperature": 0.0, "top_k": 0, "top_p": 1.0},
            0,
            (0, 1),
            3 * rounds,
            True,
            "greedy",
            preset="shared",
            machine="a desk",
            recorded="2026-01-02",
            title=title,
        ),
        *(Piece(i, base64.b64encode(text.encode()).decode()) for i, text in enumerate(WORDS)),
        Prefill(2, 2, 0, MS),
    ]
    t, serial = MS, 0
    for n in range(rounds):
        at = 3 * n
        one, two, own = serial, serial + 1, serial + 2
        ids = [(at + i) % len(WORDS) for i in range(3)]
        checks = tuple(Check(s, i, 1.0, None, "accepted", 0.9, 0.8) for s, i in ((one, ids[0]), (two, ids[1])))
        events += [
            Draft(
                n,
                0,
                at,
                tuple(Drafted(serial, id_, "exit", 0.8, 0.8) for serial, id_ in ((one, ids[0]), (two, ids[1]))),
                Work(2, 2, 0, (Span(0, 4, 1), Span(0, 4, 1))),
                t,
                t + 2 * MS,
                noted(Copies((None, copied))) if (copied := copy_at(at + 1)) else {},
            ),
            Verify(n, 1, 0, at, Work(1, 2, 0, (Span(4, 8, 2),)), checks, t + 2 * MS, t + 4 * MS),
            Verify(
                n,
                2,
                1,
                at,
                Work(1, 3, 0, (Span(0, 8, 1), Span(8, LAYERS, 3))),
                checks,
                t + 4 * MS,
                t + 10 * MS,
            ),
            Bonus(n, 2, at + 2, own, ids[2], 0.7, t + 10 * MS),
            Commit(
                n,
                at,
                (
                    Committed(one, ids[0], 0, "draft", "exit", (1, 2)),
                    Committed(two, ids[1], 0, "draft", "exit", (1, 2)),
                    Committed(own, ids[2], 2, "bonus", "model", ()),
                ),
                t + 10 * MS,
            ),
        ]
        t, serial = t + 10 * MS, serial + 3
    count = 3 * rounds
    totals = tuple(
        LevelTotal(i, rounds * (2 if i == 0 else 1), 2 * rounds, 2 * rounds, 2 * rounds, 3 * MS) for i in range(3)
    )
    events.append(Footer("length", rounds, count, MS, t - MS, totals))
    if depths:
        events.append(depths_of([(i % len(WORDS)) for i in range(count)]))
    return events


def copy_at(at: int) -> Copied | None:
    """What the token at a position of `shared_run` repeats: the words come round, and the prompt was the first two."""
    if at == 1:
        return Copied(-1, 1, 0.9)
    again = at - len(WORDS)
    return Copied(again, again, 0.7) if again > 0 else None


def depths_of(ids: list[int]) -> Report:
    """Token t is known for good from layer 3 t on; trained drafts at 4 and 8 know every second one."""
    at = (*range(1, LAYERS + 1), 4, 8)
    names = ("lens",) * LAYERS + ("exit4", "exit8")
    right = [
        [(depth >= min(LAYERS, 3 * t + 1)) if name == "lens" else t % 2 == 0 for t in range(len(ids))]
        for depth, name in zip(at, names, strict=True)
    ]
    p = tuple(tuple(0.9 if yes else depth / 100 for yes in row) for depth, row in zip(at, right, strict=True))
    top = tuple(tuple(i if yes else 999 for i, yes in zip(ids, row, strict=True)) for row in right)
    return Report(2, None, None, noted(Depths(at, names, p, top)))


def preset() -> dict[str, Any]:
    """A catalogue entry with exits and draft models."""
    level: Callable[..., dict[str, Any]] = lambda name, label, block, **more: {  # noqa: E731
        "name": name,
        "kind": name,
        "letter": name[0].upper(),
        "label": label,
        "can_draft": True,
        "can_verify": True,
        "default_block": block,
        "usable": True,
        "reason": "",
        "params": {},
        **more,
    }
    drafts = [
        {"name": "tiny", "title": "embeddings alone", "fed": False},
        {"name": "tiny-fed", "title": "fed by the target", "fed": True},
    ]
    return {
        "name": "shared",
        "title": "A shared model",
        "usable": True,
        "reason": "",
        "needs_download": False,
        "download_mb": 0,
        "default_stack": STACK,
        "devices": [{"name": "cpu", "usable": True, "reason": ""}],
        "stacks": [{"name": "hispec", "title": "HiSpec", "stack": STACK, "note": "two exits"}],
        "levels": [
            level("ngram", "n-gram lookup", 3, can_verify=False, params={"db": "c"}, drafts=drafts),
            level("nano", "draft model", 4, params={"id": "tiny-fed"}, drafts=drafts),
            level(
                "exit",
                "early exit",
                2,
                params={"at": 4},
                depth={"min": 1, "max": LAYERS - 1, "default": 4, "trained": [4, 8]},
            ),
            level("int8", "int8 copy", 8),
            level("target", "SmolLM2", None, can_draft=False),
        ],
    }


class SharedBench(AllHere):
    """A pipeline of that preset; whatever is asked for, it writes the same text. `asked` keeps the requests."""

    asked: tuple[dict[str, Any], ...] = ()

    @staticmethod
    def catalogue() -> list[dict[str, Any]]:
        return [preset()]

    @classmethod
    def open(cls, name: str, **options: Any) -> SharedBench:
        return cls()

    def run(self, stack: str, prompt: str, *, depths: bool = False, **options: Any) -> Iterator[Event]:
        type(self).asked = (*self.asked, {"stack": stack, "depths": depths, **options})
        events = shared_run(depths=depths)
        assert isinstance(events[0], Header)
        yield replace(events[0], stack=stack)
        for event in events[1:]:
            if isinstance(event, Report) and options.get("baseline"):
                yield Baseline("target", MS, tuple(8 * MS * (i + 1) for i in range(12)), 12, False)
            yield event
