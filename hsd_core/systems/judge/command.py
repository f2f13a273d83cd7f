"""`judge`: makes labels and trains a target's judge (`target@judge=head`)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hsd_core.cli.depth import SILENCE, Subject, add_texts
from hsd_core.cli.options import option, writes
from hsd_core.cli.shared_options import add_preset, command, countdown
from hsd_core.typed import pretty, write_whole

STACK = "exit:4@at=8@id=smollm2-exit8,target"
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3)


def add(commands: Any) -> None:
    parser = command(commands, "judge", "train a head that says which differing drafts are good (AutoJudge)", act)
    add_preset(parser)
    add_texts(parser, 128)
    option(parser, "--stack S", "whose lowest level drafts, unfed", default=STACK)
    writes(parser, "--out FILE.json", "the head (default: where the target finds it)")


def act(options: argparse.Namespace) -> int:
    import torch

    from hsd_core.models.decoder_protocol import Layered
    from hsd_core.models.drafts.draft_file import fingerprint
    from hsd_core.systems.judge.head_file import FORMAT, own_path
    from hsd_core.systems.judge.labels import fitted, labelled, ranked_right, swaps

    subject = Subject.of(options)
    decoder, preset = subject.running(Layered, "which gives no states to judge by"), subject.pipeline.preset
    entries = subject.pipeline.entries(options.stack)
    texts = [(text.prompt_ids, kept) for text, kept in subject.written()]
    some = list(swaps([entries[0], entries[-1]], texts))
    if not some:
        raise ValueError("the draft writes what the target writes: there is nothing to judge")
    step = countdown("draft", len(some), silence=SILENCE)
    labels = labelled(decoder, some, ends=subject.pipeline.ends, step=step)
    if labels.good.all() or not labels.good.any():
        raise ValueError(f"all {len(some)} drafts are alike; give more texts")
    held, chosen_on = labels.texts % 5 == 4, labels.texts % 5 == 3  # a fifth of the texts each

    def reached(ridge: float, read: torch.Tensor, on: torch.Tensor) -> float:
        weights, bias = fitted(labels.states[read], labels.good[read], ridge)
        return ranked_right(labels.states[on].double() @ weights + bias, labels.good[on])

    ridge = max(RIDGES, key=lambda one: reached(one, ~held & ~chosen_on, chosen_on))
    ranked = reached(ridge, ~held, held)
    weights, bias = fitted(labels.states, labels.good, ridge)
    measured = {
        **subject.about("judge", draft=options.stack),
        "texts": len(texts),
        "labels": len(some),
        "good": round(float(labels.good.double().mean()), 4),
        "ranked_right": round(ranked, 4),
        "held_out": int(held.sum()),
        "ridge": ridge,
    }
    out = Path(options.out) if options.out else own_path(preset.key)
    out.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "format": FORMAT,
        "preset": preset.name,
        "target": preset.target.title,
        "fingerprint": fingerprint(decoder),
        "bias": float(f"{bias:.6g}"),
        "weights": [float(f"{x:.5g}") for x in weights.to(torch.float64).tolist()],
    }
    write_whole(out, f"{pretty({**about, 'measured': measured})}\n".encode())
    print(
        f"{preset.name}: {len(some)} drafts that differ, {measured['good']:.0%} of them good; of the {held.sum()} held "
        f"out, the head ranks a good one above another {ranked:.0%} of the time"
    )
    return 0
