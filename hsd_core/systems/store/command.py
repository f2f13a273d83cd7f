"""`knn-store`: build the store for target@knn=store. `ralm`: generate with a retrieved passage before the prompt,
retrieved again every few tokens, with and without speculation."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, option, reads
from hsd_core.cli.shared_options import (
    add_preset,
    add_sampling,
    check_sampling,
    command,
    opened,
    preset_from,
    progress,
    prompt_of,
)
from hsd_core.models.machine import size
from hsd_core.systems.store.declaration import HEAT, MAKING, MIX, NEAR, store_path

if TYPE_CHECKING:
    from hsd_core.systems.store.neighbours import Store
    from hsd_core.systems.store.store_file import Owner

MOST_TOKENS = 96  # of a passage


def add(commands: Any) -> None:
    _add_ralm(commands)
    parser = command(commands, "knn-store", "make the store of a text that target@knn=store asks (kNN-LM)", act)
    add_preset(parser)
    counts(parser, "--places N", f"keys: places of the text (default 24,000, in {MAKING})")
    reads(parser, "--text FILE.npz", "a text of your own, as ngram-text builds it (default: preset's)")
    flag(parser, "--again", "make it anew where there is one")
    flag(parser, "--judge", "then measure what it is worth on text that it lacks")


def act(options: argparse.Namespace) -> int:
    from hsd_core.models.database_file import load_text
    from hsd_core.systems.store.store_file import owner_of, read_store
    from hsd_core.systems.store.store_making import DEFAULT_PLACES, held_out, judged, make_store

    preset = preset_from(options)
    file = options.text or preset.text_db
    if file is None:
        raise ValueError(f"preset {preset.name} has no text of its tokenizer; build one with ngram-text, for --text")
    pipeline = opened(options, "target")
    decoder = pipeline.target_layers()
    owner, path = owner_of(preset, decoder), store_path(preset.key)
    text = load_text(file, tokenizer=pipeline.tokenizer.digest)  # type: ignore[attr-defined]
    store = there(owner, path) if path.is_file() and not options.again else None
    if store is None:
        begun, places = time.monotonic(), options.places or DEFAULT_PLACES
        make_store(decoder, text, owner, path, places=places, source=str(file), progress=progress(left=True))
        store = read_store(owner, path)
        took = time.monotonic() - begun
        print(
            f"{path}: {len(store):,} places in {took:.0f} s; {size(store.nbytes)} of memory in a run", file=sys.stderr
        )
        print("to use it: --stack target@knn=store, or ngram:2,int8:5,target@knn=store", file=sys.stderr)
    if options.judge:
        windows = held_out(text, int(store.about["asked"]))
        count, found = judged(
            decoder, text, store, windows, near=int(NEAR.usual or 1), heat=float(HEAT.usual or 1.0), progress=progress()
        )
        print(f"perplexity of {count:,} tokens of the text that the store does not hold, by its share (@mix=):")
        print(", ".join(f"{share:g}: {value:.2f}" for share, value in found.items()))
        print(worth(found))
    return 0


def worth(found: dict[float, float]) -> str:
    """The conclusion from perplexities by share (with 0), in words."""
    usual = f"{MIX.usual:g} is the default"
    best = min((share for share in found if share), key=lambda share: found[share])
    if found[best] >= found[0.0]:
        return f"worse with the store than without it, least so at @mix={best:g}; {usual}, for its words to be seen"
    return f"better with the store than without it, most so at @mix={best:g}; {usual}"


def there(owner: Owner, path: Path) -> Store | None:
    """The existing store; None if it cannot be used."""
    from hsd_core.systems.store.store_file import StoreError, read_store

    try:
        store = read_store(owner, path)
    except StoreError as error:
        print(f"{error}; it is made anew now", file=sys.stderr)
        return None
    print(f"{path} is there, with {len(store):,} places; --again makes it anew", file=sys.stderr)
    return store


def _add_ralm(commands: Any) -> None:
    parser = command(commands, "ralm", "put the best passage of a folder before a prompt, again and again", run_ralm)
    reads(parser, "--docs DIR", "a small folder of .txt, .md, .rst files", folder=True, required=True)
    option(parser, "--prompt TEXT", "a text to go on with; - reads stdin", required=True)
    add_preset(parser)
    add_sampling(parser)
    counts(parser, "--every N", "tokens between two queries (default 4)", default=4)
    counts(parser, "--query N", "tokens that a query is made of (default 32)", default=32)
    counts(parser, "--stride S", "guesses that one batch of queries checks (default: as OS3 says)")
    flag(parser, "--apart", "ask a batch on a lane of its own while the next step is generated; times are reckoned")


def run_ralm(options: argparse.Namespace) -> int:
    from hsd_core.core.choices import SeededChoices
    from hsd_core.systems.store.documents import Bm25, passages_of
    from hsd_core.systems.store.ralm import RalmResult, RetrievalSettings, generate_with_passages

    sampling = check_sampling(options)
    passages = passages_of(Path(options.docs))
    store = Bm25(passages, lambda ids: tokenizer.decode(list(ids)))
    prompt = prompt_of(options)
    pipeline = opened(options, "target")
    tokenizer: Any = pipeline.tokenizer
    decoder = pipeline.target_layers()
    ids = [tokenizer.encode(f"{one.text}\n\n")[:MOST_TOKENS] for one in passages]
    line = tokenizer.encode(prompt)
    longest = MOST_TOKENS + len(line) + options.max_new_tokens
    if longest > decoder.max_positions:
        raise ValueError(f"passage, prompt and text are {longest} tokens, the context is {decoder.max_positions}")

    def run(plain: bool) -> RalmResult:
        asking = RetrievalSettings(options.every, options.query, options.stride, plain, options.apart)
        choices = SeededChoices(options.seed)
        return generate_with_passages(
            decoder,
            ids,
            line,
            store,
            asking,
            sampling=sampling,
            choices=choices,
            tokens=options.max_new_tokens,
            ends=pipeline.ends,
        )

    speculated, plain = run(plain=False), run(plain=True)
    print(prompt + tokenizer.decode(speculated.ids))
    print(f"{len(passages)} passages of {options.docs}", file=sys.stderr)
    clock = ", reckoned" if options.apart else ""
    for name, one in ((f"with speculation{clock}", speculated), ("without", plain)):
        print(f"{name}: {summary(one)}", file=sys.stderr)
    same = speculated.ids == plain.ids
    print("the same text" if same else "the texts DIFFER", file=sys.stderr)
    files = {passages[at].file: None for at in speculated.passages}
    print(f"passages of: {', '.join(files)}", file=sys.stderr)
    return 0 if same else 1


def summary(one: Any) -> str:
    """A run's counts and times, in a line."""
    guessed = f", {one.guesses} guesses, {one.wrong} rounds cut" if one.guesses else ""
    return (
        f"{len(one.ids)} tokens in {one.ms / 1e3:.1f} s; {one.queries} queries in {one.batches} batches, "
        f"{one.query_ms:.1f} ms; {one.read} tokens read for another passage, {one.read_ms / 1e3:.1f} s{guessed}"
    )
