"""`pair`: whether a draft would pay below a target: tokenizers, costs, acceptance over texts, and the verdict."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, flag, option, reads
from hsd_core.cli.shared_options import command, countdown, progress
from hsd_core.typed import pretty
from hsd_core.typed.program_files import ASSETS

SHIPPED = ASSETS / "prompts" / "held-out.jsonl"
FEWEST = 8  # tokens read of a text, at least
_CONTEXT = 8  # tokens of a text before the part that is read
_TIMED = 128  # tokens before the timed passes


def add(commands: Any) -> None:
    parser = command(commands, "pair", "whether a draft would pay below a target, before any GPU is rented", act)
    option(parser, "draft DRAFT", "a Hub id, a folder or a .gguf file")
    option(parser, "target TARGET", "the same")
    reads(
        parser,
        "--texts FILE",
        "your texts: plain text (a blank line between two), or JSON lines with prompt or turns, and output_ids if "
        "known (default: shipped prompts)",
    )
    counts(parser, "--limit N", "texts that are read (default 24)", default=24)
    counts(parser, "--max-tokens N", "tokens read of each (default 256)", default=256)
    flag(parser, "--sampled", "assume runs at temperature 1 instead of greedy ones")
    flag(parser, "--by-size", "no measured passes: costs only by the bytes of the weights")
    option(parser, "--dtype F", "dtype of both: float32, int8, int4, on a GPU bfloat16")
    option(parser, "--draft-dtype F", "dtype of the draft: int8 or int4 for a copy of the target")
    option(parser, "--device D", "cpu, cuda, ... (default: an accelerator if there is one)")
    flag(parser, "--json", "as JSON")


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.pair import fit_of, read_bytes, size_words
    from hsd_core.models.tokenizer import Tokenizer
    from hsd_core.models.weights import ensure
    from hsd_core.stacks.targets import source_of

    report = progress()
    sources = [source_of(name) for name in (options.draft, options.target)]
    folders = [ensure(source, report) for source in sources]
    fit = fit_of(*map(Tokenizer, folders))
    dtypes = (options.draft_dtype or options.dtype, options.dtype)
    sizes = [read_bytes(*one) for one in zip(sources, folders, dtypes, strict=True)]
    found: dict[str, Any] = {
        "draft": options.draft,
        "target": options.target,
        "fits": fit.fits,
        "differences": list(fit.differences),
        "bytes": dict(zip(("draft", "target"), sizes, strict=True)),
    }
    lines = [
        fit.sentence(),
        f"By size a pass of the draft reads {sizes[0] / sizes[1]:.1%} of the bytes of a pass of the target "
        f"({' and '.join(map(size_words, sizes, sources, dtypes))}).",
    ]
    if not fit.fits:
        found["verdict"] = lines[0]
    else:
        lines += _judged(options, sizes, found)
    print(pretty(found, 2) if options.json else "\n\n".join(lines))
    return 0


def _judged(options: argparse.Namespace, sizes: Sequence[int], found: dict[str, Any]) -> list[str]:
    """Acceptance, costs and the verdict as text; also added to `found`."""
    from hsd_core.measure.pair import MOST, acceptance_of, as_json, by_passes, by_size, read_pair, table, verdict_of
    from hsd_core.pipeline import Pipeline
    from hsd_core.stacks.targets import target_preset

    draft, target = options.draft_dtype or options.dtype, options.dtype
    stack = f"model:4{f'@dtype={draft}' if draft else ''},target{f'@dtype={target}' if target else ''}"
    preset = target_preset(options.target, options.draft)
    pipeline = Pipeline.open(preset, stack=stack, device=options.device, progress=progress())
    entries = pipeline.entries(stack)
    texts = _texts(options, pipeline)
    report = countdown("text", len(texts), silence=5.0)
    read = []
    for context, text in texts:
        read.append(read_pair(entries, context, text))
        report()
    accepted = acceptance_of(read, MOST)
    shares = accepted.sampled if options.sampled else accepted.greedy
    timed = [i for context, text in texts for i in (*context, *text)]
    timed = (timed * (1 + (_TIMED + MOST + 2) // len(timed)))[: _TIMED + MOST + 2]
    costs = by_size(*sizes) if options.by_size else by_passes(entries, timed, lambda *_: None)
    verdict = verdict_of(shares, costs)
    where = options.texts or "the shipped prompts; name texts of your own with --texts"
    given = f"acceptance over {accepted.texts} texts, {accepted.tokens} tokens"
    found |= {
        "texts": {"file": options.texts or SHIPPED.name, "texts": accepted.texts, "tokens": accepted.tokens},
        "temperature": 1 if options.sampled else 0,
        "acceptance_by_position": [{"value": one.value, "low": one.low, "high": one.high} for one in shares],
        "acceptance": {"greedy": accepted.greedy_each.value, "sampled": accepted.sampled_each.value},
        "costs": {"measured": costs.measured, "draft": costs.draft, "target": list(costs.target)},
        **as_json(verdict),
        "verdict": verdict.sentence(costs, given),
        "machine": pipeline.about["machine"],
    }
    kind = "at temperature 1" if options.sampled else "greedy"
    places = ", ".join(map(str, shares))
    measured = f"{costs.draft:.2f} ms a drafted token, {costs.target[0]:.2f} ms a pass of the target over one row and "
    measured += f"{costs.target[MOST]:.2f} over {MOST + 1} ({pipeline.about['machine']})"
    return [
        f"Accepted over {where} ({accepted.texts} texts, {accepted.tokens} tokens), {kind}, by position: {places}. The "
        f"same for all positions: {accepted.greedy_each} greedy, {accepted.sampled_each} at temperature 1.",
        f"Passes: {measured}." if costs.measured else "Costs: by size alone, memory being the limit; rows are free.",
        table(verdict, costs),
        verdict.sentence(costs, given),
    ]


def _texts(options: argparse.Namespace, pipeline: Any) -> list[tuple[list[int], list[int]]]:
    """Pairs of ids: the context and the part that is read.

    Raises:
        ValueError: no text is long enough.
    """
    found = []
    for before, after in _listed(options, pipeline):
        ids = [*before, *after]
        cut = len(before) if after else min(_CONTEXT, len(ids) - 1)
        if len(ids) - cut >= FEWEST and cut >= 1:
            found.append((ids[:cut], ids[cut : cut + options.max_tokens]))
    if not found:
        raise ValueError(
            f"--texts {options.texts or SHIPPED}: no text in it has {_CONTEXT + FEWEST} tokens; give longer ones"
        )
    step = max(1, len(found) // options.limit)
    if len(found) > options.limit:
        print(f"{len(found)} texts, of which {options.limit} are read (--limit)", file=sys.stderr)
    return found[::step][: options.limit]


def _listed(options: argparse.Namespace, pipeline: Any) -> list[tuple[list[int], list[int]]]:
    from hsd_core.trace.prompt_files import check_ids, read_texts
    from hsd_core.typed.files import read_text

    path = Path(options.texts or SHIPPED)
    if path.name.endswith((".jsonl", ".jsonl.gz", ".gz")):
        read = read_texts(path, lambda prompt: pipeline.encode(prompt, raw=True))
        for one in read:
            check_ids((*one.prompt_ids, *(one.output_ids or ())), pipeline.tokenizer.vocab_size)
        return [(list(one.prompt_ids), list(one.output_ids or ())) for one in read]
    blocks = [block.strip() for block in read_text(path, 20_000_000).replace("\r\n", "\n").split("\n\n")]
    return [(pipeline.encode(block, raw=True), []) for block in blocks if block]
