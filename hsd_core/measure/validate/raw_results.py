"""A validation's raw results: the predictions, written before any run, then the runs of each sitting.

The first line of the file has all predictions, and names the one model that is tested; a sitting with other stacks,
prompts, profile or predictions is refused. Every sitting runs every stack on every prompt, and stays in the file.

Models give one number per stack. For endless decoding: `closed_form`, and `iid`, by which `plan` ranks. For texts as
long as the calibration's: `texts`, and `rows`, which adds the rows that a drafter catches up on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from hsd_core.core.events import Event
from hsd_core.measure import bench
from hsd_core.measure.validate.counters import Counters, count_run, counters_from
from hsd_core.theory import Profile, StackPlan, closed_form, expected, plan_of, profile_from
from hsd_core.theory.latency.recursion import OverTexts, over_texts
from hsd_core.typed import convert

NAMED = "rows"  # the tested model by default: the planner's acceptances, over texts that end
MODEL_NAMES = {
    "closed_form": "closed form",
    "iid": "exact recursion, i.i.d.",
    "texts": "i.i.d., over texts that end",
    NAMED: "i.i.d., over texts that end, with rows that catch up",
}
ENDLESS: dict[str, Callable[[Profile, StackPlan], float]] = {
    "closed_form": closed_form,
    "iid": lambda profile, plan: expected(profile, plan).ms_per_token,
}
ENDING = tuple(model for model in MODEL_NAMES if model not in ENDLESS)


def predictions(profile: Profile, plan: StackPlan, lengths: Sequence[int], limit: int) -> dict[str, float]:
    """ms per token by model, over texts of these lengths under a limit."""
    return {
        model: ENDLESS[model](profile, plan)
        if model in ENDLESS
        else ended(model, profile, plan, lengths, limit).ms_per_token
        for model in MODEL_NAMES
    }


def ended(model: str, profile: Profile, plan: StackPlan, lengths: Sequence[int], limit: int) -> OverTexts:
    """A prediction over texts that end, with its parts; model: one of `ENDING`."""
    return over_texts(profile, plan, lengths, limit, catch_up=model == NAMED)


@dataclass(frozen=True, slots=True)
class ValidationRun:
    """A measured run of a stack on a prompt (numbered as in the prompts file)."""

    measurement: bench.Measurement
    counters: Counters

    def as_record(self, sitting: int) -> dict[str, Any]:
        """A line of the file."""
        return {"sitting": sitting, "run": asdict(self.measurement), "books": self.counters.as_dict()}


@dataclass(frozen=True, slots=True)
class Sitting:
    """A session of runs. began: its date and machine. runs: by stack, in the order of the prompts."""

    number: int
    began: Mapping[str, Any]
    runs: Mapping[str, Sequence[ValidationRun]]

    @property
    def prompts(self) -> int:
        return min((len(runs) for runs in self.runs.values()), default=0)


@dataclass(frozen=True, slots=True)
class Validation:
    """about: the first line of the file. sittings: those with finished prompts."""

    about: Mapping[str, Any]
    profile: Profile
    sittings: tuple[Sitting, ...]

    @property
    def stacks(self) -> list[str]:
        return list(self.about["stacks"])

    def plan(self, stack: str) -> StackPlan:
        return plan_of(self.profile, stack)

    def models(self, stack: str) -> dict[str, float]:
        """ms per token by model."""
        return dict(self.about["predicted"][stack]["ms"])

    def work(self, stack: str) -> OverTexts:
        """The parts of the prediction."""
        return convert(self.about["predicted"][stack]["work"], OverTexts)


def predicted(
    profile: Profile, stacks: Sequence[str], lengths: Sequence[int], limit: int, model: str
) -> dict[str, dict[str, Any]]:
    """For every stack `ms` by model, and `work`, the parts of the named model's prediction; plain JSON types."""
    out = {}
    for stack in stacks:
        plan = plan_of(profile, stack)
        work = asdict(ended(model, profile, plan, lengths, limit))
        out[stack] = {"ms": _rounded(predictions(profile, plan, lengths, limit)), "work": _rounded(work)}
    return out


def _rounded(value: Any) -> Any:
    """Rounded to a nanosecond: last bits may differ between processes, and must not change a prediction."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, tuple) else value


def measure(
    runner: bench.Runner, stacks: Sequence[str], prompts: Sequence[bench.Prompt], done: frozenset[int]
) -> Generator[list[ValidationRun], None, None]:
    """Run every stack on every prompt that is not `done`, interleaved as in `bench.sweep`; yields a list per prompt.

    Args:
        stacks: each once, plain decoding of their targets among them.
    Raises:
        ValueError: a run was stopped.
    """
    counters: dict[tuple[str, str], Counters] = {}

    def counted(stack: str, prompt: str) -> Iterator[Event]:
        events = list(runner(stack, prompt))
        counters[stack, prompt] = count_run(events)  # replaces those of the warm-up
        yield from events

    with closing(bench.sweep(counted, stacks, prompts, done=done)) as measurements:
        while batch := list(islice(measurements, len(stacks))):  # of one prompt
            yield [ValidationRun(m, counters[m.stack, prompts[m.prompt].text]) for m in batch]


def read_validation(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Validation:
    """The lines of a file as sittings.

    Raises:
        ValueError: they are not of a validation.
    """
    try:
        if about["model"] not in MODEL_NAMES:
            raise ValueError(f"the model {about['model']!r} is none of {', '.join(MODEL_NAMES)}")
        sittings = tuple(
            _sitting(number, about, [each for each in records if each["sitting"] == number])
            for number in sorted({record["sitting"] for record in records})
        )
        profile = profile_from(about["profile"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"these are not results of a validation: {error} is missing or wrong; measure again") from None
    return Validation(about, profile, tuple(sitting for sitting in sittings if sitting.prompts))


def _sitting(number: int, about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Sitting:
    began = next(record for record in records if "began" in record)
    runs = [ValidationRun(bench.from_record(r["run"]), counters_from(r["books"])) for r in records if "run" in r]
    whole = {id(m) for m in bench.completed([run.measurement for run in runs], about["stacks"])}
    kept = sorted((run for run in runs if id(run.measurement) in whole), key=lambda run: run.measurement.prompt)
    by_stack = {stack: [run for run in kept if run.measurement.stack == stack] for stack in about["stacks"]}
    return Sitting(number, began, by_stack)
