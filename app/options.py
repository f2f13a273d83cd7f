"""The command line of `app.py`. What it gets wrong is one line on stderr that names the cure, and exit code 2."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from app.serve.door.cross_origin import named_origins
from app.serve.door.policy import OriginError, origins
from app.serve.door.proxied import AddressError, check_address, public, trusted_proxies
from app.serve.engines.named import ENGINES, ZEROGPU, EngineError, Replicas, batch_of, check_engine, usual
from app.serve.line.class_caps import OF_A_LEARNER, OF_ALL_LEARNERS, ClassCaps
from app.serve.offer import OfferError, ServerOffer
from app.serve.watch.health import SHORTEST_KEY
from app.serve.watch.logs import FORMATS, VARIABLE
from app.workshop.lan import lan_addresses
from hsd_core.models import DTYPES
from hsd_core.pipeline import Pipeline

BAD_INPUT = 2
EVERY_NETWORK = "0.0.0.0"  # a class is on other machines
_FROM_ENVIRONMENT = (  # option, variable, value, what it is, and what holds without both
    ("--presets", "HSD_PRESETS", "NAME[,NAME...]", "the presets that visitors may load", "all that can be used here"),
    (
        "--targets",
        "HSD_TARGETS",
        "ID[,ID...]",
        "other targets that visitors may choose: Hub ids, folders, .gguf files",
        "none",
    ),
    (
        "--allow-models",
        "HSD_ALLOW_MODELS",
        "DIR",
        "a folder whose models visitors may choose as targets and name as model@id=NAME, and whose databases as "
        "ngram@db=c+NAME.npz",
        "none",
    ),
    ("--dtype", "HSD_DTYPE", "F", f"the targets' dtype: {', '.join(DTYPES)}", "each preset's own"),
    ("--device", "HSD_DEVICE", "D", "where levels run, and nowhere else: cpu, cuda, cuda:1, ...", "the best there is"),
    (
        "--prompt-tokens",
        "HSD_PROMPT_TOKENS",
        "N",
        "how many tokens a prompt may have",
        "2048, and 8192 on a GPU",
    ),
    (
        "--batch",
        "HSD_BATCH",
        "N",
        "how many visitors' runs of one preset are decoded at the same time, in joint passes",
        "1: one after another",
    ),
    (
        "--allow-embed",
        "HSD_ALLOW_EMBED",
        "ORIGIN[,ORIGIN...]",
        "pages that may frame this one, such as https://teaching.example",
        "none",
    ),
    (
        "--allow-origin",
        "HSD_ALLOW_ORIGIN",
        "ORIGIN[,ORIGIN...]",
        "pages elsewhere that may call this server with Gradio's JavaScript client",
        "none",
    ),
    (
        "--root-path",
        "HSD_ROOT_PATH",
        "/PATH|https://HOST/PATH",
        "where a proxy serves the page, such as /hsd or https://host/hsd",
        "no proxy, or one without a path of its own",
    ),
    (
        "--trust-proxy",
        "HSD_TRUST_PROXY",
        "ADDRESS[,NETWORK...]",
        "proxies before this server, such as 127.0.0.1 or 10.0.0.0/8, that say who visits (X-Forwarded-For)",
        "none; on a Space the Hub's",
    ),
    (
        "--watch-key",
        "HSD_WATCH_KEY",
        "KEY",
        "a key with which /health and /metrics answer other machines too, sent as Authorization: Bearer KEY",
        "this machine alone",
    ),
)
MCP_CURE = "--mcp needs the package mcp: pip install -r app/requirements-mcp.txt"


REPEATED = ("--allow-embed", "--allow-origin")


class _Joined(argparse.Action):
    """An option that may be given several times; the first time replaces the variable's."""

    def __call__(self, parser: Any, options: argparse.Namespace, value: Any, option: str | None = None) -> None:
        given = getattr(options, self.dest)
        setattr(options, self.dest, value if given == self.default else f"{given},{value}")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"error: {message}; see {self.prog} --help\n")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no number of runs; give 0 to 999")
    return int(text)


def command_line() -> argparse.ArgumentParser:
    """The parser of `app.py`; what it reads, `parse` checks."""
    parser = _Parser(description="Open HSD Explorer in a browser.")
    parser.add_argument("--host", default=None, help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=None, help="port (default: the first free one from 7860)")
    parser.add_argument("--share", action="store_true", help="also open a public Gradio link")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which a proxy on this machine addresses the server (default: localhost; with --host, any)",
    )
    parser.add_argument(
        "--engine",
        default=usual(),
        metavar="|".join(ENGINES),
        help="where models run: in a process of their own, which may end without the page, in the page's, on cards "
        "that ZeroGPU lends a Space, or on a Ray cluster: one of this machine, or one elsewhere by its head (default: "
        "process; zerogpu where there is one)",
    )
    parser.add_argument("--replicas", default="", metavar="N|MIN-MAX", help="engines of a cluster (default: 1)")
    parser.add_argument(
        "--each",
        default="",
        metavar="cpus=N,gpus=N",
        help="what each of them is given (default: a GPU where the cluster has one, else two cores)",
    )
    parser.add_argument(
        "--mcp", action="store_true", help="offer the named endpoints as MCP tools too, at /gradio_api/mcp/"
    )
    parser.add_argument(
        "--log",
        choices=FORMATS,
        default=os.environ.get(VARIABLE, FORMATS[0]),
        help=f"the log's form; json is an object a line, of each run too, without prompts (default: {VARIABLE}, else "
        f"{FORMATS[0]})",
    )
    parser.add_argument(
        "--workshop",
        action="store_true",
        help="hold a class on every network of this machine: learners join by a code, and follow whoever has the "
        "instructor's key, which is printed once",
    )
    for option, whose, default in (
        ("--learner-runs", "one learner", OF_A_LEARNER),
        ("--class-runs", "all learners", OF_ALL_LEARNERS),
    ):
        text = f"in a class: runs of {whose} that run or wait at a time (default: {default}; 0: none)"
        parser.add_argument(option, type=_count, default=default, metavar="N", help=text)
    for option, variable, value, said, otherwise in _FROM_ENVIRONMENT:
        text = f"{said} (default: {variable}, else {otherwise})"
        more: Any = {"action": _Joined} if option in REPEATED else {}
        parser.add_argument(option, default=os.environ.get(variable, ""), metavar=value, help=text, **more)
    return parser


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for, checked: host, port, share, allow_host, engine, batch, mcp, log, watch_key, `frames` and
    `callers` (origins), `public` (where a proxy serves the page), `offer`, and `caps` of a class, None where none is
    held. Ends the process where it cannot be done."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if options.mcp and find_spec("mcp") is None:
        parser.error(MCP_CURE)
    if options.watch_key and len(options.watch_key) < SHORTEST_KEY:
        parser.error(f"--watch-key has {len(options.watch_key)} characters; use at least {SHORTEST_KEY}")
    options.caps = ClassCaps(options.learner_runs, options.class_runs) if options.workshop else None
    if options.workshop and options.host is None and "GRADIO_SERVER_NAME" not in os.environ:
        options.host = EVERY_NETWORK
    if options.workshop and options.allow_host:  # learners come by the address as well
        options.allow_host += lan_addresses()
    try:
        check_address(options.host, options.port)
        options.public = public(options.root_path)
        options.trusted = trusted_proxies(options.trust_proxy, share=options.share)
        check_engine(options.engine)
        if options.engine == ZEROGPU:
            import_module("spaces")  # before torch, which is asked for devices next
        options.replicas = Replicas.of(options.replicas, options.each)
        options.batch = batch_of(options.batch or "1", options.engine)
        options.frames = origins(options.allow_embed)
        options.callers = named_origins(options.allow_origin)
        options.offer = ServerOffer.of(
            options.presets,
            options.allow_models,
            Pipeline.catalogue(),
            targets=options.targets,
            device=options.device,
            dtype=options.dtype,
            prompt_tokens=options.prompt_tokens,
        )
    except (AddressError, EngineError, OfferError, OriginError) as error:
        parser.error(str(error))
    return options
