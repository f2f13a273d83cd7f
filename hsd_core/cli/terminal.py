"""A trace as terminal text: the output, coloured by level, and the totals per level."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Iterator, Sequence
from typing import Any

from hsd_core.core import events as trace
from hsd_core.core.events import Committed, Event, LevelInfo
from hsd_core.grammar import drawn_as, level_letters
from hsd_core.grammar.registry import plugins
from hsd_core.grammar.stack_names import level_names, stack_name
from hsd_core.models.sampling import is_greedy
from hsd_core.theory.plan_reasons import origin_words
from hsd_core.theory.replan import BY_LOAD
from hsd_core.theory.search.default_stack import PLANNED
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import Comparison, differing
from hsd_core.trace.conventions import Ghost, accepted_by, clock_of, ghosts, lanes_of, round_number

_RESET = "\033[0m"
NARROWEST, WIDEST = 24, 44  # width of the column of level names in the table of totals
NOBODY = 245  # of 256 colours: no level below the target accepted it
SUPPLIED, ACCEPTED = "supplied", "accepted"  # which level gives a token its colour


def show(events: Sequence[Event], *, colour: bool, by: str = SUPPLIED, rejected: bool = False) -> None:
    """Prints the text of a run and its totals."""
    text = text_lines(events, colour=colour, by=by, rejected=rejected)
    print(f"{text}\n", *totals_lines(events, colour=colour), sep="\n")


def text_lines(events: Sequence[Event], *, colour: bool, by: str = SUPPLIED, rejected: bool = False) -> str:
    """The output, each token in the colour of the level that supplied it, or of the highest that accepted it before the
    target; without colour, each change of level is marked [letter]. `rejected`: also shows rejected drafts at their
    position, struck out, in the colour of the level that rejected them.
    """
    tint = Tint(colour=colour, by=by, ghosts=ghosts(events) if rejected else ())
    return "".join(map(tint.of, events)) + tint.end()


class Tint:
    """The text of a run for a terminal, event by event."""

    def __init__(self, *, colour: bool, by: str, ghosts: Sequence[Ghost] = ()) -> None:
        self._colour, self._by = colour, by
        self._ghosts: dict[int, list[Ghost]] = {}
        for ghost in ghosts:
            self._ghosts.setdefault(ghost.at, []).append(ghost)
        self._pieces: dict[int, bytes] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._shown: str | None = None

    def of(self, event: Event) -> str:
        """The text that an event adds."""
        if isinstance(event, trace.Header):
            self._header = event
        elif isinstance(event, trace.Piece):
            self._pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, trace.Commit):
            places = range(event.at, event.at + len(event.tokens))
            return "".join(self._struck(at) + self._token(x) for at, x in zip(places, event.tokens, strict=True))
        return ""

    def end(self) -> str:
        """The rest of the text after the run."""
        last = printable(self._decoder.decode(b"", final=True))
        return last + "".join(self._struck(at) for at in sorted(self._ghosts))

    def _token(self, token: Committed) -> str:
        text = printable(self._decoder.decode(self._pieces.get(token.id, b"")))
        if not text:
            return ""
        top = len(self._header.levels) - 1
        level = token.level if self._by == SUPPLIED else accepted_by(token, top)
        if self._colour:
            return f"\033[38;5;{NOBODY if level is None else _ink(self._header, level)}m{text}{_RESET}"
        mark = "-" if level is None else letter(self._header, level)
        before, self._shown = self._shown, mark
        return (f"[{mark}]" if mark != before else "") + text

    def _struck(self, at: int) -> str:
        struck = []
        for _, _, id_, level in self._ghosts.pop(at, ()):
            text = printable(self._pieces.get(id_, b"").decode(errors="replace")).replace("\n", "\u21b5")
            by = letter(self._header, level)
            if self._colour:
                struck.append(f"\033[9;38;5;{_ink(self._header, level)}m{text}{_RESET}")
            else:
                struck.append(f"{{{text} x{by}}}")
        return "".join(struck)


def totals_lines(events: Sequence[Event], *, colour: bool) -> Iterator[str]:
    """The table of the levels, and lines about the run."""
    header = metrics.header_of(events)
    footer = next((e for e in events if isinstance(e, trace.Footer)), None)
    figures = metrics.measure(events)
    if header.simulated:
        yield printable(f"SIMULATED: {header.simulated}")
    yield from _lane_lines(header, events)
    yield printable(f"{stack_name(header.stack)} ({header.stack})")
    called = level_names(header.stack, [info.label for info in header.levels])
    told = [_named(name, info) for name, info in zip(called, header.levels, strict=True)]
    names = [printable(f"{letter(header, i)} {name}")[:WIDEST] for i, name in enumerate(told)]
    width = max(NARROWEST, *map(len, names))
    heads = f"{'T':>3} {'calls':>6} {'rows':>6} {'ms/call':>8} {'busy ms':>9} {'accepts':>12} {'waste':>6}"
    yield f"{'level':<{width}} {heads}"
    for name, info, level in zip(names, header.levels, figures["levels"], strict=True):
        cells = f"{name:<{width}}"
        if colour:
            cells = f"\033[38;5;{_ink(header, info.index)}m{cells}{_RESET}"
        accepts = f"{level['accepted']}/{level['judged']} {_percent(level['acceptance'])}" if level["judged"] else "-"
        yield (
            f"{cells} {info.block or '-':>3} {level['forwards']:>6} {level['rows']:>6} "
            f"{_number(level['ms_per_call']):>8} {level['busy_ms']:>9.0f} {accepts:>12} {_percent(level['waste']):>6}"
        )
    ended = f"ended by {printable(footer.reason)}" if footer is not None else "interrupted"
    first = _number(figures["ttft_ms"])
    yield (
        f"{figures['committed']} tokens, {_number(figures['tokens_per_s'])} tokens/s, "
        f"{_number(figures['tokens_per_target_forward'])} per target forward, "
        f"{_percent(figures['drafts_kept'])} of drafts kept, first token after {first} ms; {ended}"
    )
    yield from _outgrown_lines(header, figures["committed"])
    yield from _branch_lines(events)
    yield from _bound_lines(header, figures["levels"])
    if (bound := figures["mbsu"]) is not None:
        yield f"{bound:.2f}x memory-bound speed-up: weights that plain decoding would read / weights read"
    if (read := figures["layers_per_token"]) is not None:
        yield f"{read:.1f} layers read per token; plain decoding reads {header.levels[-1].layers}"
    if (moved := figures.get("moved_bytes")) is not None:
        each = moved / max(1, figures["committed"])
        yield f"between devices: {each / 1e3:.1f} kB a token, {figures['moved_ms']:.1f} ms in all"
    for notes in plugins("notes"):
        yield from getattr(notes, "lines", lambda _: ())(figures)
    yield printable(_exactness_line(header, differing(events)))
    yield from _plan_lines(events)
    yield from _baseline_lines(events)


def _named(name: str, info: LevelInfo) -> str:
    """A level's name, with its label if the name does not say what it was made of."""
    kind = drawn_as(info.kind)
    complete = kind.lookup.origins or (kind.shares.reads is not None and kind.shares.reads.weights)
    if complete or not info.label or name.startswith(info.label):
        return name
    return info.label if info.label.startswith(name) else f"{name}: {info.label}"


def read_checked(path: str) -> list[Event]:
    """The run in a file.

    Raises:
        ValueError: its trace is inconsistent.
    """
    events = tracefile.read(path)
    if wrong := check(events):
        raise ValueError(f"{path}: the trace does not add up: {wrong[0]} ({len(wrong)} in all)")
    return events


def _exactness_line(header: trace.Header, found: Comparison | None) -> str:
    """Whether the stack is exact, or how its text differs from that of plain decoding."""
    if not header.lossless or found is None:
        return f"{'exact' if header.lossless else 'lossy'}: {header.lossless_reason}"
    if found.margin is None:
        return "another text than plain decoding's"
    if found.holds:
        return "another text: at a near tie, which products of one row and of several rows may round either way"
    return "another text, and no near tie: this target's logits depend on the other rows of a pass"


def _outgrown_lines(header: trace.Header, committed: int) -> Iterator[str]:
    """Which levels stopped drafting because the text exceeded their context, and where."""
    for info in header.levels:
        most = info.params.get("context")
        if isinstance(most, int) and len(header.prompt_ids) + committed > most:
            drafted = max(0, most - len(header.prompt_ids))
            what = f"the context of {letter(header, info.index)}, {most} tokens, was full"
            yield printable(f"{what} after {drafted} tokens of the answer: it stopped drafting")


def _branch_lines(events: Sequence[Event]) -> Iterator[str]:
    drafts = [e for e in events if isinstance(e, trace.Draft) and e.tokens]
    trees = [
        e for e in drafts if len(set(e.parent_serials)) < len(e.tokens)
    ]  # without chains whose tokens were only drawn again
    if trees:
        tokens = sum(len(e.tokens) for e in trees) / len(trees)
        wide = sum(len({*e.serials} - {*e.parent_serials}) for e in trees) / len(trees)
        yield (
            f"{len(trees)} of {len(drafts)} drafts offered several sequences, on average {wide:.1f} with "
            f"{tokens:.1f} tokens in all; accepts counts the positions where one of the offers was kept"
        )


def _bound_lines(header: trace.Header, levels: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What each verifier accepted, compared with the most that any exact rule could accept with the same rows."""
    greedy = is_greedy(header.sampling)
    for level in levels:
        best, accepted, by_rule = level["bound"], level["acceptance"], level["expected"]
        if best is None or accepted is None:
            continue
        lead = f"{letter(header, level['level'])} accepted {accepted:.2f} of {level['judged']} places with candidates; "
        mean = "" if by_rule is None else f"its rule {by_rule:.2f} in the mean, "
        yield lead + (
            f"greedy: with these candidates no exact rule could accept more than {best:.2f}"
            if greedy
            else f"with these rows {mean}no exact rule more than {best:.2f}"
        )


def _plan_lines(events: Sequence[Event]) -> Iterator[str]:
    header = metrics.header_of(events)
    if header.replan is not None and BY_LOAD in header.replan:
        yield f"by requests at once: {printable(str(header.replan[BY_LOAD]))}"
    elif header.replan is not None:
        yield f"auto: {printable(origin_words(header.profile, header.machine, header.preset))}"
    elif planned := ((header.profile or {}).get("about") or {}).get(PLANNED):
        yield f"default stack: {printable(str(planned))}"
    for event in events:
        if isinstance(event, trace.Plan):
            since = f"from round {round_number(event.round)}"
            line = f"{since}: {stack_name(event.stack)} ({event.stack})"
            yield printable(f"{line}: {event.why}" if event.why else line)


def _lane_lines(header: trace.Header, events: Sequence[Event]) -> Iterator[str]:
    """For levels that work at the same time: the clock of the run, and how busy its lanes were."""
    if (found := metrics.lanes(events)) is None:
        return
    clock = clock_of(header)
    if clock == "reckoned":
        more = len(found.busy) - 1
        clocks, given = ("two", "a second machine") if more == 1 else (more + 1, f"{more} more machines")
        laid = f"laid on {clocks} clocks: what {given} of this kind would give"
        yield f"RECKONED: each pass was run and timed alone, then {laid}"
    elif clock == "real":
        yield "REAL: two processes worked at the same time, with one thread each"
    if found.gain is not None:
        *below, target = found.use
        two, lanes = len(below) == 1, lanes_of(header)
        names = [
            "the levels below it" if two else " and ".join(one.name for one in header.levels if lanes[one.index] == at)
            for at in range(len(below))
        ]
        yield (
            f"{'two' if two else len(found.use)} lanes: the target busy {_percent(target)} of the time, "
            f"{', '.join(f'{name} {_percent(own)}' for name, own in zip(names, below, strict=True))}, "
            f"{'both' if two else 'two or more'} "
            f"at once {_percent(found.together)}; overlap gain {found.gain:.2f}; {found.dropped} drafted tokens "
            f"dropped before they were judged, {_percent(found.waste)} of all rows in vain"
        )


def _baseline_lines(events: Sequence[Event]) -> Iterator[str]:
    baseline = next((e for e in events if isinstance(e, trace.Baseline)), None)
    ratio = metrics.speed_up(events)
    if baseline is None or ratio is None:
        return
    plain = len(baseline.token_ns) / (baseline.token_ns[-1] / 1e9)
    header = metrics.header_of(events)
    how = "simulated" if header.simulated else "measured"
    laid = f"{clock} speed-up" if (clock := clock_of(header)) in ("reckoned", "real") else "speed-up"
    yield f"plain decoding of the same target, {how} beside it: {plain:.1f} tokens/s; {laid} {ratio:.2f}x"
    if differing(events):
        margin = "unknown" if baseline.margin is None else f"{baseline.margin:.2g}"
        yield f"first divergence from plain decoding at token {baseline.equal}, its top-two margin {margin}"


def letter(header: trace.Header, level: int) -> str:
    """The level's letter: T for the target, else by kind; numbered if a stack has two with one letter."""
    return level_letters([info.kind for info in header.levels])[level]


def printable(text: str) -> str:
    """Text without control characters except newline and tab, which a terminal would act on."""
    return "".join(c if c in "\n\t" or c.isprintable() or ord(c) > 0x9F else "\N{REPLACEMENT CHARACTER}" for c in text)


def _ink(header: trace.Header, level: int) -> int:
    return drawn_as(header.levels[level].kind, last=level == len(header.levels) - 1).look.colour.ink


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
