"""The target's texts after the calibration prompts, on which every level is measured.

Both greedy and sampled texts come from the target alone, so they follow its distribution, whatever the levels below
are. A text is cut where it begins to repeat itself, as loops flatter every drafter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hsd_core.core.driver import Stopped
from hsd_core.core.events import Event
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.texts.selfgen import Job, generate
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.prepared import run
from hsd_core.trace.conventions import loop_from
from hsd_core.trace.metrics import committed_ids
from hsd_core.typed.program_files import ASSETS

if TYPE_CHECKING:
    from hsd_core.measure.bench import Prompt
    from hsd_core.pipeline import Pipeline


def run_to_end(
    entries: Sequence[StackEntry],
    prompt: Sequence[int],
    sampling: Sampling,
    seed: int,
    *,
    stop: Callable[[], bool],
    **settings: Any,
) -> list[Event]:
    """The events of a run, see `stacks.prepared.run`.

    Raises:
        Stopped: `stop` returned True.
    """
    events = list(run(entries, prompt, sampling, seed, stop=stop, **settings))
    if stop():
        raise Stopped
    return events


PROMPTS = ASSETS / "prompts" / "calibration.jsonl"
BATCH = 12
FEWEST = 4  # texts, even if the target is slow
LONGEST_PROMPT = 320  # tokens: a long document would take the time of many short prompts
PIECES = 4  # of one text, if a length is requested
SEED = 20


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A prompt and the target's output (at least one token), up to where it repeats itself.

    ended: the number of tokens after which the target ended the text; None: it did not, within the limit.
    """

    prompt: tuple[int, ...]
    output: tuple[int, ...]
    ended: int | None = None


def write(
    pipeline: Pipeline,
    target: str,
    prompts: Sequence[Prompt],
    tokens: int,
    temperature: float,
    *,
    length: int | None = None,
    batch: int = BATCH,
    seconds: float = math.inf,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> list[WrittenText]:
    """The target's own texts, in the order of the prompts; prompts of more than 320 tokens are left out.

    Args:
        target: its spec. length: of the prompts instead: pieces of so many tokens, cut from the texts as they stand and
            written one after another; None for prompts as they are. batch: texts at a time, through the lean decoder;
            1: one after another, as the engine runs it, which needs no other weights. seconds: after which no further
            text is begun of those that are written one after another, beyond the first few. progress: called with the
            texts finished and their number.
    Raises:
        ValueError: no prompt is left. Stopped: `stop` turned true.
    """
    from hsd_core.trace.prompt_files import PromptText

    sampling = Sampling(temperature)
    coded = [tuple(pipeline.encode(p.text, raw=length is not None)) for p in prompts]
    kept = [ids for ids in coded if 0 < len(ids) <= LONGEST_PROMPT] if length is None else _pieces(coded, length)
    if not kept:
        raise ValueError(f"no calibration prompt has 1 to {LONGEST_PROMPT} tokens; give shorter ones")
    found: dict[int, list[int]] = {}
    try:
        decoder = pipeline.lean_target(target) if batch > 1 and length is None else None
    except StackError:
        decoder = None
    if decoder is None:
        began = time.monotonic()
        for i, ids in enumerate(kept):
            if i >= FEWEST and time.monotonic() - began > seconds:
                break
            found[i] = _alone(pipeline, target, ids, tokens, sampling, stop)
            progress(len(found), len(kept))
    else:
        # copies of a prompt get numbers of their own, hence texts of their own
        jobs = {Job(PromptText(ids), i): i for i, ids in enumerate(kept)}
        for job, output in generate(
            decoder, list(jobs), sampling, ends=pipeline.ends, max_new_tokens=tokens, batch=batch, seed=SEED
        ):
            if stop():
                raise Stopped
            found[jobs[job]] = output
            progress(len(found), len(kept))
    return [
        WrittenText(ids, tuple(out[: loop_from(out)]), len(out) if out[-1] in pipeline.ends else None)
        for ids, out in ((ids, found[i]) for i, ids in enumerate(kept) if i in found)
    ]


def _pieces(texts: Sequence[tuple[int, ...]], length: int) -> list[tuple[int, ...]]:
    """The first pieces of `length` tokens of each text.

    Raises:
        ValueError: no text is as long.
    """
    found = [ids[at : at + length] for ids in texts for at in range(0, len(ids) - length + 1, length)[:PIECES]]
    if not found:
        longest = max(map(len, texts), default=0)
        raise ValueError(f"--length {length}: the longest text has {longest} tokens; name longer ones with --prompts")
    return found


def _alone(
    pipeline: Pipeline, target: str, ids: tuple[int, ...], tokens: int, sampling: Sampling, stop: Callable[[], bool]
) -> list[int]:
    """One text by plain decoding, for targets without batches."""
    settings = {"max_new_tokens": tokens, "ends": pipeline.ends, "heads": 0}
    return committed_ids(run_to_end(pipeline.entries(target), ids, sampling, SEED, stop=stop, **settings))
