"""The target's outputs as training examples.

An output that ends in a repeating pattern is cut where the loop starts (`loop_from`): a drafter trained on loops looks
better than it is.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hsd_core.trace.prompt_files import PromptText, check_ids, read_texts

SHORTEST = 4  # outputs shorter than this teach nothing
HELD_OUT = 20  # one prompt in this many is kept for validation


class DataError(ValueError):
    """A file that cannot be trained on; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One prompt and its output: ids[start:] was written by the target. kind: of the prompt, if the file names one.

    prompt: its length; longer than `start` if the target wrote the end of the prompt.
    """

    ids: tuple[int, ...]
    start: int
    kind: str
    prompt: int = 0

    @property
    def held_out(self) -> bool:
        """Whether it is a validation example: decided by the prompt only, so no prompt is on both sides."""
        prompt = ",".join(map(str, self.ids[: self.prompt or self.start])).encode()
        return int.from_bytes(hashlib.sha256(prompt).digest()[:4], "big") % HELD_OUT == 0


def read_examples(path: str | Path, *, vocab_size: int, longest: int, prompts: bool = False) -> list[Sample]:
    """The examples of a file in a fixed shuffled order.

    Args:
        longest: positions; a longer output is cut, and a text whose prompt is longer is left out.
        prompts: also learn the target's distribution over given prompts, behind their common beginning. Held-out texts
            keep their true start: a draft is judged by what the target writes.
    Raises:
        ValueError: a line is malformed, or no example is left.
    """
    texts = read_texts(path, _refuse)
    examples = [e for text in texts if (e := example(text, vocab_size=vocab_size, longest=longest))]
    if not examples:
        raise DataError(f"{path} holds no output of {SHORTEST} tokens or more; make some with selfgen")
    random.Random(0).shuffle(examples)
    if prompts:
        given = [e.ids for e in examples if e.start == e.prompt]  # in the others the target wrote a part of the prompt
        begun = max(1, next((i for i, column in enumerate(zip(*given, strict=False)) if len({*column}) > 1), 0))
        examples = [
            replace(e, start=min(begun, e.start)) if e.start == e.prompt and not e.held_out else e for e in examples
        ]
    return examples


def check_split(examples: Sequence[Sample]) -> None:
    """
    Raises:
        DataError: no example is held out, or all are.
    """
    held = sum(e.held_out for e in examples)
    if held == len(examples):
        raise DataError(
            f"all texts ({held}) are held out to judge drafts by, none is left to learn from; train on more texts"
        )
    if not held:
        raise DataError(
            f"of {len(examples)} texts none is held out to judge drafts by (one prompt in {HELD_OUT} is); "
            "train on more texts"
        )


def commonest(examples: list[Sample], rows: int, always: frozenset[int]) -> list[int]:
    """The ids that the target writes most, ascending: the rows of a trimmed head (VocabTrim, arXiv 2506.22694).

    always: ids that are included whatever their count, such as those that end a text.
    """
    counts = Counter(i for e in examples for i in e.ids[max(e.start, e.prompt) :])
    first = [i for i, _ in counts.most_common() if i not in always][: max(0, rows - len(always))]
    return sorted([*first, *always])


def example(text: PromptText, *, vocab_size: int, longest: int) -> Sample | None:
    """A text as an example, None if too little of it is left.

    Raises:
        ValueError: it has no output, or an id outside the target's vocabulary.
    """
    if text.output_ids is None:
        raise DataError("a line has a prompt but no output_ids; write outputs for the prompts with selfgen first")
    check_ids((*text.prompt_ids, *text.output_ids), vocab_size)
    ids = (*text.prompt_ids, *text.before_loop(text.output_ids))[:longest]
    if not text.prompt_ids or len(ids) - len(text.prompt_ids) < SHORTEST:
        return None
    return Sample(ids, len(text.given), text.sort or "any", len(text.prompt_ids))


def _refuse(prompt: str) -> list[int]:
    raise DataError("a line gives its prompt as text; train on a file that selfgen wrote, with prompt_ids")
