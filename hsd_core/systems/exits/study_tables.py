"""The records of a study of exits as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hsd_core.measure import tables
from hsd_core.systems.exits.exit_costs import PAPER, PAYS, reached

Records = Sequence[Mapping[str, Any]]


def of(records: Records, what: str) -> Iterator[Mapping[str, Any]]:
    """The records of a kind."""
    return (r for r in records if r["what"] == what)


def readings(records: Records) -> str:
    """A row per read-out: its agreement with the model's text."""
    head = ("layers", "read-out", "agrees (95 % interval)", "1 - TV (95 % interval)")
    body = []
    for r in of(records, "reading"):
        means = (tables.with_interval(r[name], r[f"{name}_interval"]) for name in ("agree", "overlap"))
        body.append((r["at"], r["readout"], *means))
    return tables.markdown(head, body)


def quarter_of(records: Records) -> int:
    """The depth nearest to a quarter of the layers; of two the deeper one."""
    depths = {r["verifier"][0] for r in of(records, "pair")}
    return min(depths, key=lambda at: (abs(at - max(depths) / 4), -at), default=0)


def quarter(records: Records) -> str:
    """How many of the tokens that a quarter of the layers accepts the last layer accepts: a row per pair."""
    nearest = quarter_of(records)
    head = ("drafted at", "checked at", "accepted there", "of those, kept by the last layer")
    body = []
    for r in of(records, "pair"):
        if r["verifier"][0] == nearest:
            kept = "-" if r["kept"] is None else f"{r['kept']:.3f}"
            body.append((_place(r["draft"]), _place(r["verifier"]), f"{r['accepts']:.3f}", kept))
    return tables.markdown(head, body)


def sweep(records: Records) -> str:
    """The best draft exit below each upper one, and the best exits alone; computed, not run."""
    stacks = [*of(records, "stack")]
    best: dict[int | None, Mapping[str, Any]] = {}
    for r in stacks:
        if r["above"] not in best or r["speed_up"] > best[r["above"]]["speed_up"]:
            best[r["above"]] = r
    head = ("upper exit", "best draft exit", "T", "computed speed-up")
    body = []
    for above, r in best.items():
        blocks = " and ".join(map(str, r["blocks"]))
        body.append(("none" if above is None else above, r["draft"], blocks, f"{r['speed_up']:.2f}"))
    return tables.markdown(head, body)


def runs(records: Records) -> str:
    """Measured stacks of exits, and the recursion's speed-up for the acceptances of those runs."""
    predicted = {r["stack"]: r["speed_up"] for r in of(records, "predicted")}
    head = ("stack", "measured speed-up (95 % interval)", "accepted, by level", "computed", "computed / measured")
    found, body = [*of(records, "run")], []
    called = tables.stack_cells(r["stack"] for r in found)
    for r in found:
        given = predicted.get(r["stack"])
        computed = ("-", "-") if given is None else (f"{given:.2f}", f"{given / r['speed_up'] - 1:+.1%}")
        measured = tables.with_interval(r["speed_up"], r["interval"], 2)
        body.append((called[r["stack"]], measured, tables.shares(r["accepted"]), *computed))
    return tables.markdown(head, body)


def ratios(records: Records) -> str:
    """The time of a verification of four tokens, in drafted tokens."""
    head = ("machine", "drafts", "ms of a drafted token", "ms of a verification", "ratio")
    return tables.markdown(
        head,
        (
            (r["machine"], f"`{r['draft']}`", f"{r['draft_ms']:.2f}", f"{r['verify_ms']:.2f}", f"{r['ratio']:.1f}")
            for r in of(records, "ratio")
        ),
    )


def needed(records: Records) -> str:
    """The acceptance of the upper exit's tokens from which each row of the maps reaches 1 and the paper's 1.28."""
    names = {
        ("plain", "measured"): "over plain decoding, this machine's costs; layers' share of a pass",
        ("one", "measured"): "over one exit, this machine's costs; draft exit's tokens accepted",
        ("one", "ideal"): "over one exit, layers alone and rows for nothing; draft exit's tokens accepted",
    }
    head = ("map and its rows", "row", f"reaches {PAYS:g} from", f"reaches {PAPER:g} from", "at most")
    body = []
    for r in of(records, "needed"):
        found = (reached(r["x"], r["z"], level) for level in (PAYS, PAPER))
        cells = ("never" if x is None else f"{x:.2f}" for x in found)
        body.append((names[r["map"], r["costs"]], f"{r['y']:.2f}", *cells, f"{max(r['z']):.2f}"))
    return tables.markdown(head, body)


def method(about: Mapping[str, Any]) -> str:
    """The method, in words."""
    return (
        f"{about['texts']} texts, {about['tokens']} tokens, written greedily after `{about['prompts']}`. Agreement, "
        "passes and runs are measured; the sweep and the maps are computed from them."
    )


def _place(pair: Sequence[Any]) -> str:
    return f"{pair[0]} ({pair[1]})"


TABLES: Mapping[str, Callable[[Records], str]] = {
    "readings": readings,
    "quarter": quarter,
    "sweep": sweep,
    "runs": runs,
    "ratios": ratios,
    "needed": needed,
}
