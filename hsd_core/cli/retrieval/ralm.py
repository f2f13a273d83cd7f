"""`ralm`: a passage of a folder before the prompt, another one every few tokens, with and without speculation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli.files import reads
from hsd_core.cli.shared_options import add_preset, add_sampling, check_sampling, command, counts, opened, prompt_of

MOST_TOKENS = 96  # of a passage that are read


def add(commands: Any) -> None:
    parser = command(commands, "ralm", "put the best passage of a folder before a prompt, again and again", act)
    reads(parser, "--docs", folder=True, required=True, metavar="DIR", help="a small folder of .txt, .md, .rst files")
    parser.add_argument("--prompt", required=True, metavar="TEXT", help="a text to go on with; - reads stdin")
    add_preset(parser)
    add_sampling(parser)
    counts(parser, "--every", default=4, metavar="N", help="tokens between two queries (default 4)")
    counts(parser, "--query", default=32, metavar="N", help="tokens that a query is made of (default 32)")
    counts(parser, "--stride", metavar="S", help="guesses that one batch of queries checks (default: as OS3 says)")


def act(options: argparse.Namespace) -> int:
    from hsd_core.core.choices import SeededChoices
    from hsd_core.systems.store.documents import Bm25, passages_of
    from hsd_core.systems.store.documents_run import Asking, Written, written_behind

    sampling = check_sampling(options)
    passages = passages_of(Path(options.docs))
    ranking = Bm25(passages)
    prompt = prompt_of(options)
    pipeline = opened(options, "target")
    tokenizer: Any = pipeline.tokenizer
    decoder = pipeline.target_layers()
    ids = [tokenizer.encode(f"{one.text}\n\n")[:MOST_TOKENS] for one in passages]
    line = tokenizer.encode(prompt)
    longest = MOST_TOKENS + len(line) + options.max_new_tokens
    if longest > decoder.max_positions:
        raise ValueError(f"passage, prompt and text are {longest} tokens, the context is {decoder.max_positions}")

    def ranks(query: Any) -> Any:
        return ranking.scores(tokenizer.decode(list(query)))

    def run(plain: bool) -> Written:
        asking = Asking(options.every, options.query, options.stride, plain)
        choices = SeededChoices(options.seed)
        return written_behind(
            decoder,
            ids,
            line,
            ranks,
            asking,
            sampling=sampling,
            choices=choices,
            tokens=options.max_new_tokens,
            ends=pipeline.ends,
        )

    speculated, plain = run(plain=False), run(plain=True)
    print(prompt + tokenizer.decode(speculated.ids))
    print(f"{len(passages)} passages of {options.docs}", file=sys.stderr)
    for name, one in (("with speculation", speculated), ("without", plain)):
        print(f"{name}: {told(one)}", file=sys.stderr)
    same = speculated.ids == plain.ids
    print("the same text" if same else "the texts DIFFER", file=sys.stderr)
    files = {passages[at].file: None for at in speculated.passages}
    print(f"passages of: {', '.join(files)}", file=sys.stderr)
    return 0 if same else 1


def told(one: Any) -> str:
    """What a run took, in a line."""
    guessed = f", {one.guesses} guesses, {one.wrong} rounds cut" if one.guesses else ""
    return (
        f"{len(one.ids)} tokens in {one.ms / 1e3:.1f} s; {one.queries} queries in {one.batches} batches, "
        f"{one.query_ms:.1f} ms; {one.read} tokens read for another passage, {one.read_ms / 1e3:.1f} s{guessed}"
    )
