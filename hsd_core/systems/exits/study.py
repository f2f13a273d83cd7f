"""After how many layers does a target know the next token? With --out also the value of exits there: HiSpec's figures
2, 4 and 5, and when two exits would pay."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import flag, reads
from hsd_core.measure.bench.prompts import tasks_of
from hsd_core.systems.exits.study_tables import TABLES as TABLES
from hsd_core.systems.exits.study_tables import method as method
from hsd_core.theory import Profile, read_profile
from hsd_core.theory.profiles.profile_store import FOLDER, shipped_profile
from hsd_core.trace.prompt_files import check_ids
from hsd_core.typed import pretty

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION = "depth", ""
CONTEXT = 128  # tokens before the passes that are timed


def add(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--drafts-only", "leave out the untrained layers: much quicker")
    flag(parser, "--json", "as JSON")
    reads(parser, "--runs FILE", "with --out: a benchmark of stacks of exits (bench's runs.jsonl)")
    reads(parser, "--profile FILE", "with --runs: costs of this machine (default: those shipped)")


def check(options: argparse.Namespace) -> None:
    if options.out and options.drafts_only:
        raise ValueError("--out needs every layer; leave --drafts-only out")


def act(subject: Subject) -> None:
    """Print each depth's agreement; with --out also time passes to each depth and price exits there."""
    from hsd_core.systems.exits.depths import tables

    out = subject.options.out
    if out and Path(out).exists():
        _complete(subject)
        return
    study, read = _read(subject)
    whole = study["all"]
    if out:
        subject.keep({**_about(subject), "texts": whole["texts"], "tokens": whole["tokens"]}, read)
        _complete(subject)
    if subject.options.json:
        print(pretty(study, 2))
    else:
        print(subject.title(f"{whole['texts']} texts", f"{whole['tokens']} tokens"))
        print(tables(study))


def _read(subject: Subject) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The study over all texts, and its records."""
    from hsd_core.systems.exits import depths
    from hsd_core.systems.exits.depths import Agreements, read_depths

    decoder, drafts = subject.decoder, subject.pipeline.trained(subject.stack)
    for text in subject.texts:
        check_ids((*text.prompt_ids, *(text.output_ids or ())), decoder.vocab_size)
    tasks = tasks_of(text.sort for text in subject.texts)
    sums, together, progress = [], None, subject.progress()
    for text, kept in subject.written():
        ids, start = [*text.prompt_ids, *kept], len(text.prompt_ids)
        reading = read_depths(decoder, ids, start, drafts, lens=not subject.options.drafts_only)
        sums.append(depths.Sums.of(reading, tasks[text.sort]))
        together = together or Agreements(len(reading.at))
        together.add(reading)
        progress()
    assert together is not None, "else nothing was written"
    about = subject.pipeline
    study = {"preset": about.preset.name, **about.about["versions"], **depths.summary(reading, sums)}
    return study, [*depths.readings(study), *together.records(reading)]


def _about(subject: Subject) -> dict[str, Any]:
    return subject.about(KIND, layers=subject.decoder.layers, context=CONTEXT, profile="")


def _complete(subject: Subject) -> None:
    """Complete the file of `--out`: add the costs of passes, and what follows from readings and costs."""
    from hsd_core.levels.trunk import Layered
    from hsd_core.systems.exits import study_records
    from hsd_core.systems.exits.exit_costs import ROWS, time_passes

    preset, options = subject.pipeline.preset.name, subject.options
    decoder = subject.running(Layered, "which cannot be stopped between layers; nothing can be priced at its depths")
    about, read = study_records.kept(Path(options.out), _about(subject))
    text = list(islice(cycle(i for one in subject.texts for i in one.prompt_ids), CONTEXT + max(ROWS)))
    depths = sorted({max(1, round(decoder.layers * eighths / 8)) for eighths in (1, 2, 4, 6, 8)})
    costs = time_passes(decoder, text, depths)
    subject.keep(about, (*read, *costs))
    records = [*read, *costs, *study_records.swept(read, costs)]
    for path in sorted(FOLDER.glob(f"{preset}-*.json")):
        if not path.stem.endswith("-validation") and not (profile := read_profile(path)).temperature:
            records += study_records.ratios(path.stem, profile)
    if options.runs:
        runs, profile = study_records.measured(Path(options.runs)), _profile(subject)
        about["profile"] = f"{profile.about.get('machine', '')}, {profile.about.get('recorded', '')}"
        records += [*runs, *study_records.needed(profile, runs, decoder.layers)]
    subject.keep(about, records)


def _profile(subject: Subject) -> Profile:
    preset = subject.pipeline.preset.name
    if subject.options.profile:
        return read_profile(Path(subject.options.profile))
    if (found := shipped_profile(preset, subject.pipeline.device)) is None:
        raise ValueError(f"no profile is shipped for {preset}; name one with --profile")
    return found
