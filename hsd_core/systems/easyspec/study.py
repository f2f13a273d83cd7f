"""How often the target with grouped layers chooses the target's token along its text (EasySpec, arXiv 2502.02493).

Since the last calibration a draft reads its own approximate keys and values, so agreement falls with the place in the
draft. `verified`: calibrated by every verification, counted by place. `prompt`: by the prompt alone. `never`: the
prompt's keys and values are approximate too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hsd_core.cli.options import counts
from hsd_core.levels.self_draft import Grouped
from hsd_core.measure import tables
from hsd_core.measure.intervals import Tally
from hsd_core.measure.teacher_forced import first_choices, last_states
from hsd_core.models.cache import KVCache
from hsd_core.models.lean.decoder import CHUNK
from hsd_core.models.one_pass import Pass

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION = "grouped", "parallel"
LENGTH, EVERY = 8, 4  # tokens of a draft, and from the start of one draft to the next
VERIFIED, PROMPT, NEVER = "verified", "prompt", "never"
WORDS: Mapping[str, str] = MappingProxyType(
    {VERIFIED: "by every verification", PROMPT: "by the prompt alone", NEVER: "never"}
)
SHOWN = (1, 2, 4, 8)  # places of a draft


@torch.inference_mode()
def read(
    decoder: Grouped,
    texts: Sequence[tuple[Sequence[int], int]],
    sizes: Sequence[int],
    progress: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Agreement over all texts: a record for each group size, calibration and place in a draft (1 the first; 0: all).

    Args:
        texts: ids, and the index from which on the target wrote them. sizes: attentions at once.
    """
    tally = Tally(len(texts))
    for number, (ids, start) in enumerate(texts):
        cache = decoder.new_cache(len(ids))
        true = first_choices(decoder, last_states(decoder, ids, cache)[start - 1 : -1])
        for together in sizes:
            for how, at, same in _agreements(decoder, ids, start, together, cache, true):
                for of in (0, at) if at else (0,):
                    tally.add((together, how, of), number, float(same.sum()), len(same))
        progress()
    for together, how, place in product(sizes, WORDS, range(LENGTH + 1)):
        key = together, how, place
        if (interval := tally.interval(key)) is None:
            continue
        yield {
            "what": "agreement",
            "parallel": together,
            "calibrated": how,
            "place": place,
            "tokens": round(tally.weight(key)),
            "agree": round(tally.ratio(key) or 0.0, 5),
            "interval": [round(end, 5) for end in interval],
        }


@torch.inference_mode()
def _agreements(
    decoder: Grouped, ids: Sequence[int], start: int, together: int, cache: KVCache, true: Tensor
) -> Iterator[tuple[str, int, Tensor]]:
    """(calibration, place, whether the first choices agree). cache: the text's exact keys and values, restored."""
    run = decoder.in_groups(cache, together)
    for at in range(start - 1, len(ids) - 1, EVERY):
        end = min(at + LENGTH, len(ids) - 1)
        kept = [held[:, :, :, at : end + 1].clone() for held in (cache.keys, cache.values)]
        same = first_choices(decoder, run(Pass(ids[at:end], at))) == true[at - start + 1 : end - start + 1]
        for held, truth in zip((cache.keys, cache.values), kept, strict=True):
            held[:, :, :, at : end + 1] = truth
        yield from ((VERIFIED, place + 1, same[place : place + 1]) for place in range(len(same)))
    for how, known in ((PROMPT, start - 1), (NEVER, 0)):
        fresh = decoder.new_cache(len(ids))
        for held, truth in zip((fresh.keys, fresh.values), (cache.keys, cache.values), strict=True):
            held[:, :, :, :known] = truth[:, :, :, :known]
        fuzzy = torch.cat([decoder.in_groups(fresh, together)(part) for part in Pass(ids[known:], known).parts(CHUNK)])
        yield how, 0, first_choices(decoder, fuzzy[start - 1 - known : -1]) == true


def agreement(records: Sequence[Mapping[str, Any]]) -> str:
    """A row for each group size and calibration."""
    found = {(r["parallel"], r["calibrated"], r["place"]): r for r in records}
    head = ("attentions at once", "calibrated", "tokens", "agreement (95 % interval)", *(f"token {k}" for k in SHOWN))
    body = []
    for together in sorted({parallel for parallel, _, _ in found}):
        for how, words in WORDS.items():
            whole = found[together, how, 0]
            places = (found.get((together, how, k)) for k in SHOWN)
            each = (f"{r['agree']:.3f}" if r else "" for r in places)
            agrees = tables.with_interval(whole["agree"], whole["interval"])
            body.append((together, words, f"{whole['tokens']:,}", agrees, *each))
    return tables.markdown(head, body)


TABLES = {"agreement": agreement}


def method(about: Mapping[str, Any]) -> str:
    """The method, in words."""
    return (
        f"How many first choices of {about['preset']} with its attentions in groups, the first and the last layer "
        f"alone, are its own, along {about['texts']} greedy texts of `{about['prompts']}` of up to "
        f"{about['max_new_tokens']} tokens. Calibrated by every verification: drafts of {LENGTH} tokens that begin at "
        f"every {EVERY}th, token 1 standing on true keys and values alone."
    )


def add(parser: argparse.ArgumentParser) -> None:
    counts(
        parser,
        "--parallel N",
        "instead: the target's layers with N attentions at once (EasySpec), by what calibrates them",
        nargs="+",
    )


def act(subject: Subject) -> None:
    """Print how often the target with grouped layers chooses its own token; --out keeps the counts."""
    decoder = subject.running(Grouped, "which runs its layers in their order alone")
    texts = [([*text.prompt_ids, *kept], len(text.prompt_ids)) for text, kept in subject.written()]
    records = [*read(decoder, texts, subject.options.parallel, subject.progress())]
    subject.keep(subject.about(KIND, texts=len(texts)), records)
    print(agreement(records))
