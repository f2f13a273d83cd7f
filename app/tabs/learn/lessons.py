"""The lessons: data files, in the order of their names. Adding one is enough; `assets/lessons/README.md` says how.

What a lesson says and asks is typed here and checked when the server starts. Figures are not in the files: a text names
them (`$speedup`, `$acceptance.Q`), and the page takes them from the run that is shown. `${08-loses|speedup}` is that of
another recording, `${bench|best.3.speed_up}` and `${bench:int8:8,target|speed_up}` those of the shipped benchmark.

    speedup, tokens_per_s, plain_tokens_per_s, plain_ms, ms_per_token: of the whole run, and of plain decoding beside it
    per_forward, kept, committed, rounds, rejections, equal: tokens per target pass, drafts kept, counts
    gain, gain.low, gain.high, gain.said: its stack's gain by a benchmark, with its interval, else by the run alone
    pass_ms, plain_pass_ms: of a pass with all its drafting; of plain decoding for as many tokens
    beside: the speed-up of the run shown over that of the recording named
    stack, machine, temperature, layers, layers_per_token, mbsu, plans: what it ran, and where
    spared, surprise, plain_surprise: of a text that is not exact, the share of tokens that are not the target's own
        choice, its mean surprise at it and at plain decoding's (nats a token)
    acceptance.Q, accepted.Q, judged.Q, forwards.Q, ms.Q, block.Q, depth.E, name.Q: of a level; `below` is the one
        under the target
    cost.Q, supplied.Q, share.Q: its ms for each committed token; tokens of the text that are its own
    yields.T, yields.T.8, ceiling.T: (1 - a^(n+1)) / (1 - a) with its acceptance and T below it, or n = 8; 1 / (1 - a)
    source.c: share of copied tokens from this database
    round.7.tokens, .ms, .ms.T, .rows.T, .calls.Q, .drafted.N, .usual.T, .over.1.T: of a round; the median of its
        level's calls over as many rows, and its ratio to round 1's
    reject.2.token, .instead, .p, .q, .alpha, .coin, .by, .of, .round, .raw, .wanted: of a rejection; `reject.Q.2` of
        those by a level
    plan.1.stack, .round, .ms, .levels, .blocks, .rounds, .tokens, .took: of one of Auto's plans; `plan.last`
    lanes.target, .below, .both, .gain, .dropped, .waste: of levels that work at the same time
    step.below, step.target, step.most: of a median round: all below the target, its pass; (L + c) / max(L, c)
    of requests (many at once): gain.32, low.32, high.32, said.32 (these in words, or a prediction), pass.32.4 (ms of a
        pass of 4 rows of each of 32), times.32.4 (to one row of each), rows.32.4, crowd.32 (a row of each of 32 to one
        row), twice.here, twice.h100, twice.phone, stack, machine
    of bench: speed_up, low, high, per_forward, tokens_per_s, stack, machine, best.3.over.2
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from app.kit.languages import overlaid
from hsd_core.typed import Wrong, builtins, convert, plain

LARGEST = 60_000  # bytes of a lesson
MOST = 40  # lessons
NOWHERE = Path("no-texts")  # English
WORDS = 70  # of a step's text: what is read below a picture that moves
log = logging.getLogger(__name__)

_LETTER = r"[A-Z]\d?"
_MOMENT = (
    r"^(start|end|round [1-9]\d{0,4}( drafted| end)?|token [1-9]\d{0,5}|\d{1,3}%"
    rf"|reject ({_LETTER} )?[1-9]\d{{0,4}}( end)?)$"
)
_NAME = r"[a-z_]+(?:\.[A-Za-z0-9_]+)*"
_REFERENCE = re.compile(rf"\$(?:({_NAME})|\{{([^{{}}|]+)\|({_NAME})\}})")  # as in js/tabs/learn/figures/refs.js
_SIGNS = ("<=", ">=", "<", ">", "=")

Short = Annotated[str, Meta(min_length=1, max_length=160)]
Text = Annotated[str, Meta(min_length=1, max_length=900)]
Moment = Annotated[str, Meta(pattern=_MOMENT)]
Name = Annotated[str, Meta(pattern=r"^[\w-]{1,80}$")]
Count = Annotated[int, Meta(ge=1, le=100_000)]
Condition = Annotated[str, Meta(min_length=1, max_length=300)]
Part = Literal[
    "speed", "per-pass", "equal", "exactness", "source", "acceptance", "caption"
]  # as in js/tabs/learn/question.js


class Settings(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Controls of the page. `block`: T by a level's letter."""

    stack: Annotated[str, Meta(max_length=400)] = ""
    prompt: Annotated[str, Meta(max_length=2000)] = ""
    temperature: Annotated[float, Meta(ge=0.0, le=5.0)] | None = None
    colour: Literal["level", "passed", "source", "time"] | None = None
    ghosts: Literal["show", "hide"] | None = None
    block: dict[Annotated[str, Meta(pattern=rf"^{_LETTER}$")], Annotated[int, Meta(ge=1, le=64)]] = {}


class Action(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What is done to Explore beside the lesson, in this order.

    `at`: a moment, counted from 1: `start`, `end`, `round 3`, `round 3 drafted`, `round 3 end`, `reject 2` of all,
    `reject Q 2` by a level, `token 10`, `40%`. `play`: from where it stands to this moment, then a pause. `token`:
    opens the card of a committed token, counted from 1, or of the first that was copied from this text. `light`: parts
    by the names of `js/tabs/learn/acts/page-parts.js`. `tab`: leaves the lesson for another tab.
    """

    recording: Name | None = None
    at: Moment | None = None
    play: Moment | None = None
    seconds: Annotated[float, Meta(gt=0.0, le=60.0)] | None = None
    token: Count | Literal["copied"] | None = None
    light: Annotated[list[Name], Meta(max_length=4)] = []
    set: Settings | None = None
    tab: Name | None = None


class Picture(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The picture of a step, by a name of `js/tabs/learn/pictures/pictures.js` or of a picture that a system brings.

    text, round, lanes, roll: a moment of the run. passes: tokens of each. rows: time of a pass by its rows. costs: what
    a token costs each level. gains: speed over plain decoding with its interval. yields, overlap: sliders for
    acceptance, block length and cost. coin: p, q, the residual, and a coin to toss. cache: what an exit and its target
    compute, and what once. lookup: a lookup in the text and the databases. hops: the shortest path over `levels`.
    requests, under_load, load_map, row_costs: passes, gains, levels and machines with many requests at once. fates: the
    texts of the recording and of those `beside` it, with what is not the target's own choice.

    A recorded moment (`text`, `round`, ...) stands `at` the action's moment and plays `to` that of its reveal if it
    does not say otherwise. `between`: the times at the edges of lanes. `stacks`: whose gains (`run`, `best.3`, or a
    stack of the shipped benchmark). `levels`: of a graph of hops. `guesses`: with which block length the curve of
    yields begins. `shows`, and `open` while a question is: which part of a cache.
    """

    kind: Name
    recording: Name | None = None
    at: Moment | None = None
    to: Moment | None = None
    between: tuple[Moment, Moment] | None = None
    colour: Literal["level", "passed", "source", "time"] | None = None
    stacks: Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(max_length=6)] = []
    levels: Annotated[list[Name], Meta(max_length=3)] = []
    guesses: Annotated[int, Meta(ge=1, le=16)] | None = None
    shows: Literal["exit", "both", "bonus"] | None = None
    open: Literal["exit", "both"] | None = None
    beside: Annotated[list[Name], Meta(max_length=3)] = []


class AnswerChoice(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`right`: holds whatever is loaded; `when`: right where this holds of the run, such as "$speedup < 1"."""

    text: Short
    right: bool = False
    when: Annotated[str, Meta(max_length=200)] = ""


class Number(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A figure to estimate. `within`: how far off still counts as near, as a share of the answer. `given`: a figure of
    the same kind that the step states; an estimate on the wrong side of it is never near."""

    answer: Annotated[str, Meta(max_length=120)]
    given: Annotated[str, Meta(max_length=120)] = ""
    unit: Annotated[str, Meta(max_length=40)] = ""
    within: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.15


class Question(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A prediction: either choices or a number. `hides`: what else of a picture would tell, beside the figures that the
    question names itself; it is not drawn until the question is answered. `told_by`: other figures that would answer
    it, which the tests look for on the page."""

    ask: Text
    hides: Annotated[list[Part], Meta(max_length=4)] = []
    told_by: Annotated[list[Annotated[str, Meta(max_length=120)]], Meta(max_length=6)] = []
    choices: Annotated[list[AnswerChoice], Meta(max_length=6)] = []
    number: Number | None = None


class Also(Struct, forbid_unknown_fields=True):
    """A sentence that is said where its condition holds."""

    when: Condition
    text: Text


class Reveal(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`figure`: takes the place of the step's once its question is answered."""

    text: Text
    figure: Picture | None = None
    also: Annotated[list[Also], Meta(max_length=4)] = []
    action: Action | None = None


class Step(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`rests_on`: conditions that its wording takes for granted. The page does not ask them; the tests do, of what is
    shipped. `needs`: a recording without which the step is left out."""

    title: Short
    text: Text
    needs: Name | None = None
    rests_on: Annotated[list[Condition], Meta(max_length=6)] = []
    figure: Picture | None = None
    action: Action | None = None
    question: Question | None = None
    reveal: Reveal | None = None


class Try(Struct, forbid_unknown_fields=True, omit_defaults=True):
    text: Text
    button: Short = "Set it up"
    action: Action | None = None


class Lesson(Struct, forbid_unknown_fields=True, omit_defaults=True):
    title: Short
    goal: Annotated[str, Meta(min_length=1, max_length=240)]
    minutes: Annotated[int, Meta(ge=1, le=60)]
    steps: Annotated[list[Step], Meta(min_length=1, max_length=12)]
    to_try: Try = field(name="try")
    summary: Annotated[list[Short], Meta(min_length=1, max_length=3)]
    sources: Annotated[list[Short], Meta(max_length=6)] = []


class Lessons:
    """The lessons of a folder, read once. What a step needs is looked for in the folder `traces` beside it."""

    def __init__(self, folder: Path, texts: Path = NOWHERE) -> None:
        """texts: of another language; its folder `lessons` holds files of the same names."""
        traces = folder.parent / "traces"
        self.found: list[dict[str, Any]] = []
        for path in sorted(folder.glob("*.json"))[:MOST]:
            try:
                lesson = read(path, texts / "lessons" / path.name)
                lesson.steps = [step for step in lesson.steps if _there(step.needs, traces)]
                self.found.append({"id": path.stem, **builtins(lesson)})
            except (ValueError, OSError) as error:
                log.warning("the lesson %s is passed over: %s", path.name, error)


def _there(recording: str | None, traces: Path) -> bool:
    return recording is None or any(traces.glob(f"{recording}.jsonl*"))


def read(path: Path, texts: Path = NOWHERE) -> Lesson:
    """A lesson out of its file. texts: its strings in another language, as `in_language` takes them.

    Raises:
        ValueError: it is none; the message names the field and what is wrong with it. OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"it has {size} bytes; at most {LARGEST} are expected")
    lesson = convert(overlaid(plain(path.read_bytes()), texts), Lesson)
    for where, step in ((f"steps[{i}]", step) for i, step in enumerate(lesson.steps)):
        _check(step, where)
    return lesson


def _check(step: Step, where: str) -> None:
    """What the types cannot say of a step."""
    also = step.reveal.also if step.reveal else []
    told = f"{step.reveal.text} {max((one.text for one in also), key=len, default='')}" if step.reveal else ""
    for name, text in (("text", step.text), ("reveal.text", told)):
        if (words := len(text.split())) > WORDS:
            raise Wrong(f"{words} words; at most {WORDS} are read below a moving picture", f"{where}.{name}")
    for i, condition in enumerate(step.rests_on):
        _hold(condition, f"{where}.rests_on[{i}]")
    for i, one in enumerate(also):
        _hold(one.when, f"{where}.reveal.also[{i}].when")
    question = step.question
    if (question is None) != (step.reveal is None):
        raise Wrong("a question and a reveal come together", where)
    if question is None:
        return
    where = f"{where}.question"
    if bool(question.choices) == bool(question.number):
        raise Wrong("give either choices or a number", where)
    if not all(map(_REFERENCE.fullmatch, question.told_by)):
        raise Wrong("expected references, such as $speedup", f"{where}.told_by")
    if question.number and not _REFERENCE.fullmatch(question.number.answer):
        raise Wrong("expected one reference, such as $speedup", f"{where}.number.answer")
    if not question.choices:
        return
    if len(question.choices) < 2:
        raise Wrong("fewer than 2 choices", f"{where}.choices")
    for i, choice in enumerate(question.choices):
        if choice.when:
            _hold(choice.when, f"{where}.choices[{i}].when")
    fixed, open_ = (sum(map(bool, of)) for of in zip(*((c.right, c.when) for c in question.choices), strict=True))
    if fixed + bool(open_) != 1:
        raise Wrong("expected one right choice, or a condition for each that may be", f"{where}.choices")


def _hold(condition: str, where: str) -> None:
    if not all(_comparison(part) for part in condition.split(" and ")):
        raise Wrong('expected a condition, such as "$speedup < 1 and $kept > 0.5"', where)


def _comparison(text: str) -> bool:
    left, sign, right = (*text.split(" "), "", "", "")[:3]
    return text == f"{left} {sign} {right}" and sign in _SIGNS and _operand(left) and _operand(right)


def _operand(text: str) -> bool:
    return bool(_REFERENCE.fullmatch(text) or re.fullmatch(r"-?\d+(\.\d+)?", text))
