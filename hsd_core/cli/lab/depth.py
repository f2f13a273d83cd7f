"""`depth`: after how many layers a preset's target already knows the next token, over a file of prompts.

With --out also what exits at these depths would be worth: HiSpec's figures 2, 4 and 5, and what two exits would need to
pay (see `lab/exits`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from hsd_core.cli.files import reads, writes
from hsd_core.cli.shared_options import add_preset, command, countdown, counts, opened, plain_stack, within_context
from hsd_core.measure.bench.prompts import task_of
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Profile, read_profile
from hsd_core.theory.profiles.kept import FOLDER, shipped_profile
from hsd_core.trace.prompt_files import PromptText, check_ids, read_texts
from hsd_core.typed import encode_lines, pretty, put

SILENCE = 5.0  # seconds between two lines of progress
CONTEXT = 128  # tokens before the passes that are timed
LENGTHS = "1024 2048 4096 7500"


def add(commands: Any) -> None:
    parser = command(commands, "depth", "measure at which depth the target knows the next token", act)
    add_preset(parser)
    reads(
        parser,
        "--prompts",
        required=True,
        metavar="FILE",
        help="JSON lines with prompt, turns or prompt_ids; output_ids are read where given, else written greedily",
    )
    counts(parser, "--max-new-tokens", default=128, metavar="N", help="tokens read a text (default 128)")
    counts(parser, "--limit", metavar="N", help="only the first N prompts")
    counts(parser, "--batch", default=8, metavar="B", help="texts written side by side (default 8)")
    parser.add_argument("--raw", action="store_true", help="no chat template: the prompt is the text itself")
    parser.add_argument("--loops", choices=("cut", "keep"), default="cut", help="what follows a loop's start in a text")
    parser.add_argument("--drafts-only", action="store_true", help="leave out the untrained layers: much quicker")
    counts(
        parser, "--places", metavar="N", help="instead: each draft's first to N-th token, where those before are right"
    )
    counts(
        parser,
        "--lengths",
        nargs="+",
        metavar="N",
        help="with --places 1: along the last tokens before the N-th of each prompt, not what is written after it; "
        f"with --views: of the text before (default {LENGTHS})",
    )
    counts(
        parser,
        "--parallel",
        nargs="+",
        metavar="N",
        help="instead: the target's layers with N attentions at once (EasySpec), by what calibrates them",
    )
    counts(
        parser,
        "--views",
        nargs="+",
        metavar="BUDGET",
        help="instead: views of so many positions of the target's cache (TriForce) along the prompts themselves, by "
        "length: how often they choose its token, what their passes take, and from which length on they pay",
    )
    reads(parser, "--drafts", nargs="+", metavar="FILE", help="with --places: drafts (default: those shipped)")
    parser.add_argument(
        "--ready",
        metavar="LEVEL",
        help="instead: how often the target's token is among the k likeliest of a level, such as "
        "nano:4@id=smollm2-nano, and what @with=duo and card make of that",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    said = "also time passes to each depth and price exits there, as JSON lines; what was read in it is kept"
    writes(parser, "--out", goes_on=True, metavar="FILE", help=said)
    reads(parser, "--runs", metavar="FILE", help="with --out: a benchmark of stacks of exits (bench's runs.jsonl)")
    reads(parser, "--profile", metavar="FILE", help="with --runs: costs of this machine (default: those shipped)")


def act(options: argparse.Namespace) -> int:
    if options.parallel and (options.places or options.drafts_only):
        raise ValueError("--parallel is a study of its own; leave --places and --drafts-only out")
    if options.lengths and options.places != 1 and not options.views:
        raise ValueError("--lengths says how far into a text drafts are read; add --places 1")
    if options.out and options.drafts_only:
        raise ValueError("--out needs every layer; leave --drafts-only out")
    stack = plain_stack(options)
    pipeline = opened(options, stack)
    texts = read_texts(options.prompts, lambda prompt: pipeline.encode(prompt, raw=options.raw))[: options.limit]
    fits = within_context(texts, pipeline.lean_target(stack).max_positions)
    if options.views:
        _views(options, pipeline, stack, fits)
        return 0
    if options.places:
        _places(options, pipeline, stack, fits)
        return 0
    if options.ready:
        _ready(options, pipeline, stack, fits)
        return 0
    if options.parallel:
        _grouped(options, pipeline, stack, fits)
        return 0
    if options.out and Path(options.out).exists():
        _keep(options, pipeline, stack, fits)
        return 0
    study, read = _read(options, pipeline, stack, fits)
    if options.out:
        over = {name: study["all"][name] for name in ("texts", "tokens")}
        put(Path(options.out), encode_lines(({**_about(options, pipeline, stack), **over}, *read)))
        _keep(options, pipeline, stack, fits)
    if options.json:
        print(pretty(study, 2))
    else:
        from hsd_core.systems.exits import depth_table as depth

        whole = study["all"]
        print(
            f"{pipeline.preset.name}, {whole['texts']} texts, {whole['tokens']} tokens, {pipeline.about['machine']}\n"
        )
        print(depth.tables(study))
    return 0


def _places(options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]) -> None:
    """Print how often drafts agree by place."""
    from hsd_core.models.drafts.known_drafts import shipped
    from hsd_core.systems.nano.train.by_place import by_place, places_table
    from hsd_core.systems.nano.train.data.texts import Sample

    drafts = [Path(file) for file in options.drafts or ()] or [d.path for d in shipped(pipeline.preset.name)]
    if not drafts:
        raise ValueError(f"preset {pipeline.preset.name} ships no trained drafts; name some with --drafts")
    if options.lengths:
        from hsd_core.systems.nano.train.by_length import by_length, lengths_table

        ids = [[*text.prompt_ids, *(text.output_ids or ())] for text in texts]
        told = countdown("text", len(ids) * len(options.lengths), silence=SILENCE)
        tallies = by_length(pipeline.lean_target(stack), drafts, ids, options.lengths, told)
        print(f"{pipeline.preset.name}, {len(ids)} texts, {pipeline.about['machine']}; agreement, 1 - TV\n")
        print(lengths_table(tallies, drafts))
        return
    read = []
    for text, output in outputs(pipeline, stack, texts, options):
        kept = [*text.before_loop(output)] if options.loops == "cut" else output
        if kept := kept[: options.max_new_tokens]:
            read.append(Sample((*text.prompt_ids, *kept), len(text.prompt_ids), text.sort, len(text.prompt_ids)))
    if not read:
        raise ValueError(f"{options.prompts}: no text in it has a token to read")
    tell = countdown("text", len(read), silence=SILENCE)
    tally = by_place(pipeline.lean_target(stack), drafts, read, options.places, tell)
    tokens = sum(len(text.ids) - text.start for text in read)
    print(f"{pipeline.preset.name}, {len(read)} texts, {tokens} tokens, {pipeline.about['machine']}\n")
    print(places_table(tally, drafts, options.places))


def _ready(options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]) -> None:
    """Print how often the target's token is among a level's k likeliest, and what schedules make of it."""
    from hsd_core.stacks.chosen_driver import check_apart
    from hsd_core.systems.lanes.ready import ranks, ready_table, tallied

    entries = pipeline.entries(f"{options.ready},{stack}@with=duo")
    check_apart(entries)
    found, tell = [], countdown("text", len(texts), silence=SILENCE)
    for text, output in outputs(pipeline, stack, texts, options):
        kept = [*text.before_loop(output)] if options.loops == "cut" else output
        if kept := kept[: options.max_new_tokens]:
            found.append(ranks(entries, text.prompt_ids, kept))
        tell()
    if not found:
        raise ValueError(f"{options.prompts}: no text in it has a token to read")
    tokens = sum(len(own) for own in found)
    print(
        f"{pipeline.preset.name}, {options.ready}, {len(found)} texts, {tokens} tokens, {pipeline.about['machine']}\n"
    )
    print(ready_table(tallied(found), entries[0].block or 1))


def _grouped(options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]) -> None:
    """Print, or with --out keep, how often the target's layers in groups choose its own token."""
    from hsd_core.levels.self_draft import Grouped
    from hsd_core.systems.easyspec import grouped

    decoder = getattr(pipeline.entries(stack)[-1].level, "decoder", None)
    if not isinstance(decoder, Grouped):
        raise ValueError("the target runs through transformers, which runs its layers in their order alone")
    read = []
    for text, output in outputs(pipeline, stack, texts, options):
        kept = [*text.before_loop(output)] if options.loops == "cut" else output
        if kept := kept[: min(options.max_new_tokens, decoder.max_positions - len(text.prompt_ids))]:
            read.append(([*text.prompt_ids, *kept], len(text.prompt_ids)))
    if not read:
        raise ValueError(f"{options.prompts}: no text in it has a token to read")
    records = [*grouped.read(decoder, read, options.parallel, countdown("text", len(read), silence=SILENCE))]
    if options.out:
        about = {**_about(options, pipeline, stack), "kind": "grouped", "texts": len(read)}
        put(Path(options.out), encode_lines((about, *records)))
    print(grouped.agreement(records))


def _views(options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]) -> None:
    """Print, or with --out keep, what views of the target's cache are worth along texts as they stand."""
    from hsd_core.levels.trunk import Layered
    from hsd_core.systems.views import view_study, views_report

    lengths = options.lengths or [int(n) for n in LENGTHS.split()]
    short = [n for n in lengths if n + view_study.WINDOW >= max(len(text.prompt_ids) for text in texts)]
    if len(set(lengths)) - len(set(short)) < 2:
        raise ValueError(
            f"views are measured along {view_study.WINDOW} tokens behind each length, and the longest text has "
            f"{max(len(text.prompt_ids) for text in texts)} tokens; name two lengths that fit with --lengths"
        )
    decoder = getattr(pipeline.entries(stack)[-1].level, "decoder", None)
    if not isinstance(decoder, Layered):
        raise ValueError("the target runs through transformers, whose cache no view reads")
    copies = {decoder.dtype: decoder}
    if decoder.dtype == "float32" and decoder.device == "cpu":
        copies["int8"] = pipeline.entries(f"int8,{stack}")[0].level.decoder  # type: ignore[attr-defined]
    given = [(text.sort or "text", text.prompt_ids) for text in texts]
    tell = countdown("length of a text", len(texts) * len(lengths), silence=SILENCE)
    records = [*view_study.read(decoder, copies, given, lengths, options.views, tell)]
    about = {**_about(options, pipeline, stack), "kind": "views", "texts": len(texts)}
    if options.out:
        put(Path(options.out), encode_lines((about, *records)))
    print("\n\n".join(table(records) for table in views_report.TABLES.values()))


def _read(
    options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The study of all texts, and its records.

    Raises:
        ValueError: there is nothing to read.
    """
    from hsd_core.systems.exits import depth_table as depth
    from hsd_core.systems.exits import exits_file
    from hsd_core.systems.exits.agreements import Agreements
    from hsd_core.systems.exits.depths import read_depths

    decoder, drafts = pipeline.lean_target(stack), pipeline.trained(stack)
    for text in texts:
        check_ids((*text.prompt_ids, *(text.output_ids or ())), decoder.vocab_size)
    sums, together, reading, tell = [], None, None, countdown("text", len(texts), silence=SILENCE)
    for text, output in outputs(pipeline, stack, texts, options):
        room = decoder.max_positions - len(text.prompt_ids)
        output = output[: min(options.max_new_tokens, room)]
        if options.loops == "cut":
            output = [*text.before_loop(output)]
        if not output:
            continue
        ids = [*text.prompt_ids, *output]
        reading = read_depths(decoder, ids, len(text.prompt_ids), drafts, lens=not options.drafts_only)
        sums.append(depth.Sums.of(reading, task_of(text.sort)))
        together = together or Agreements(len(reading.at))
        together.add(reading)
        tell()
    if reading is None or together is None:
        raise ValueError(f"{options.prompts}: no text in it has a token to read")
    study = {"preset": pipeline.preset.name, **pipeline.about["versions"], **depth.summary(reading, sums)}
    return study, [*exits_file.readings(study), *together.records(reading)]


def _about(options: argparse.Namespace, pipeline: Pipeline, stack: str) -> dict[str, Any]:
    from hsd_core.measure.results.rawfile import measured_by, prompts_file, ran_on

    return {
        **measured_by("depth", options.said),
        "preset": pipeline.preset.name,
        "device": pipeline.device,
        "dtype": pipeline.dtype,
        **ran_on(pipeline.device),
        **prompts_file(options.prompts),
        "max_new_tokens": options.max_new_tokens,
        "layers": pipeline.lean_target(stack).layers,
        "context": CONTEXT,
        "profile": "",
    }


def _keep(options: argparse.Namespace, pipeline: Pipeline, stack: str, texts: list[PromptText]) -> None:
    """Complete the file of `--out`: beside what was read, what passes cost, and what follows from both."""
    from hsd_core.levels.trunk import Layered
    from hsd_core.systems.exits import exits_file
    from hsd_core.systems.exits.exit_costs import ROWS, time_passes

    decoder = getattr(pipeline.entries(stack)[-1].level, "decoder", None)
    if not isinstance(decoder, Layered):
        raise ValueError("the target cannot be stopped between layers; nothing can be priced at its depths")
    about, read = exits_file.kept(Path(options.out), _about(options, pipeline, stack))
    text = list(islice(cycle(i for one in texts for i in one.prompt_ids), CONTEXT + max(ROWS)))
    depths = sorted({max(1, round(decoder.layers * eighths / 8)) for eighths in (1, 2, 4, 6, 8)})
    costs = time_passes(decoder, text, depths)
    put(Path(options.out), encode_lines((about, *read, *costs)))
    records = [*read, *costs, *exits_file.swept(read, costs)]
    for path in sorted(FOLDER.glob(f"{pipeline.preset.name}-*.json")):
        if not path.stem.endswith("-validation") and not (profile := read_profile(path)).temperature:
            records += exits_file.ratios(path.stem, profile)
    if options.runs:
        runs, profile = exits_file.measured(Path(options.runs)), _profile(options, pipeline)
        about["profile"] = f"{profile.about.get('machine', '')}, {profile.about.get('recorded', '')}"
        records += [*runs, *exits_file.needed(profile, runs, decoder.layers)]
    put(Path(options.out), encode_lines((about, *records)))


def _profile(options: argparse.Namespace, pipeline: Pipeline) -> Profile:
    if options.profile:
        return read_profile(Path(options.profile))
    if (found := shipped_profile(pipeline.preset.name, pipeline.device)) is None:
        raise ValueError(f"no profile is shipped for {pipeline.preset.name}; name one with --profile")
    return found


def outputs(
    pipeline: Pipeline, stack: str, texts: list[PromptText], options: argparse.Namespace
) -> Iterator[tuple[PromptText, list[int]]]:
    """Every text with what follows its prompt: as the file has it, or written now."""
    from hsd_core.measure.texts.selfgen import Job, generate

    yield from ((text, list(text.output_ids)) for text in texts if text.output_ids is not None)
    jobs = [Job(text, 0) for text in texts if text.output_ids is None]
    written = generate(
        pipeline.lean_target(stack),
        jobs,
        Sampling(),
        ends=pipeline.ends,
        max_new_tokens=options.max_new_tokens,
        batch=options.batch,
    )
    yield from ((job.text, output) for job, output in written)
