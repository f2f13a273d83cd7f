"""`sets`: searches attentions and MLPs of a preset's target that a draft can leave out (`skip@set=NAME`)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hsd_core.cli.depth import SILENCE, Subject, add_texts
from hsd_core.cli.options import counts, reads, writes
from hsd_core.cli.shared_options import add_preset, command, countdown
from hsd_core.theory import ProfileLevel, read_profile
from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.typed import encode_lines, pretty, write_whole


def add(commands: Any) -> None:
    parser = command(commands, "sets", "search the attentions and MLPs that a draft can do without", act)
    add_preset(parser)
    add_texts(parser, 32)
    counts(parser, "--every N", "judge every N-th token (default 2)", default=2)
    counts(parser, "--steps N", "how many sublayers are left out in the end (default 12)", default=12)
    counts(parser, "--keep N", "write sets of the first N of them (default: all)", nargs="+")
    counts(
        parser,
        "--bayes N",
        "also let a Gaussian process search for sets at least as small as the first N, with as many reads as they took",
        nargs="+",
    )
    reads(parser, "--profile FILE", "the target's costs (default: those shipped)")
    help = (
        "the ladder, as JSON; sets of N go beside it, PRESET-skipN.json; what was read is kept in FILE.part until then"
    )
    writes(parser, "--out FILE.json", help, goes_on=True, required=True)


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.rawfile import prompts_file
    from hsd_core.models.drafts.draft_file import fingerprint
    from hsd_core.systems.skip.agreement import SublayerAgreement
    from hsd_core.systems.skip.bayes import beside, compared
    from hsd_core.systems.skip.search import ResumeFile, Weights, answer, priced, reads_of, search, table

    subject = Subject.of(options)
    decoder, out, preset = subject.decoder, Path(options.out), subject.pipeline.preset
    if not options.steps <= 2 * decoder.layers:
        raise ValueError(f"--steps {options.steps}: the target has {2 * decoder.layers} sublayers")
    if beyond := [count for count in options.bayes or () if count > options.steps]:
        raise ValueError(f"--bayes {beyond[0]}: the greedy search has {options.steps} steps; ask for more by --steps")
    texts = [([*text.prompt_ids, *kept], len(text.prompt_ids)) for text, kept in subject.written()]
    agrees = SublayerAgreement(decoder, texts, options.every)
    search_of = {"fingerprint": fingerprint(decoder), "places": agrees.places, **prompts_file(options.prompts)}
    part = out.with_name(f"{out.name}.part")
    taken = [reads_of(2 * decoder.layers, count) for count in (options.steps, *(options.bayes or ()))]
    progress, kept = countdown("read", sum(taken), silence=SILENCE), ResumeFile(part, search_of)
    weights = Weights.of(decoder)
    found = search(agrees, weights, options.steps, kept, progress)
    bayes = [beside(agrees, weights, found["path"], count, kept, progress) for count in options.bayes or ()]
    target = _target(options, preset.name, subject.pipeline.device)
    path = priced(target, found["path"])
    about = {
        "format": "hsd-sublayer-ladder/1",
        **subject.about("sets", layers=decoder.layers, target=preset.target.title),
        **search_of,
        "texts": len(texts),
        "answer": " ".join([answer(path), *map(compared, bayes)]),
    }
    ladder = {**about, "alone": found["alone"], "path": path, "bayes": bayes}
    write_whole(out, f"{pretty(ladder)}\n".encode())
    for count in options.keep or [options.steps]:
        _set(out.with_name(f"{preset.name}-skip{count}.json"), about, path, count)
    part.unlink()
    print(f"{preset.name}, {agrees.places} tokens of {len(texts)} texts\n\n{table(path)}\n{about['answer']}")
    return 0


def _target(options: argparse.Namespace, preset: str, device: str) -> ProfileLevel:
    profile = read_profile(Path(options.profile)) if options.profile else shipped_profile(preset, device)
    if profile is None:
        raise ValueError(f"no profile is shipped for {preset}; name one with --profile")
    return profile.levels[-1]


def _set(path: Path, about: Mapping[str, Any], steps: list[dict[str, Any]], count: int) -> None:
    """Write the set of the first `count` steps of a path."""
    from hsd_core.systems.skip.search import without_first
    from hsd_core.systems.skip.sublayer_sets import FORMAT

    if not 1 <= count <= len(steps):
        raise ValueError(f"--keep {count}: the path has {len(steps)} steps")
    without, last = without_first(steps, count), steps[count - 1]
    found = {
        "format": FORMAT,
        **{name: about[name] for name in ("preset", "target", "fingerprint", "layers")},
        "attention": sorted(without.attention),
        "mlp": sorted(without.mlp),
        "measured": {**{name: last[name] for name in ("agree", "left", "speed_up")}, "command": about["command"]},
    }
    write_whole(path, encode_lines([found]))
