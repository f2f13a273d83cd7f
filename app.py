"""Open HSD Explorer: `python app.py [--host HOST] [--port PORT] [--share] [--engine process|inline|ray|ray://HOST:PORT]
[--replicas N] [--each cpus=N,gpus=N] [--batch N] [--allow-host NAME] [--root-path PATH] [--presets NAMES]
[--targets IDS] [--allow-models DIR] [--dtype F] [--device D] [--allow-embed ORIGINS] [--allow-origin ORIGINS] [--mcp]
[--log text|json] [--watch-key KEY] [--workshop [--learner-runs N] [--class-runs N]]`."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from app.kit.supervised import NOWHERE, Kept, attended, supervise

SWITCH_S = 0.001  # how long a thread may keep the others from Python's lock: the engine asks for it at every small step


def main(kept: Kept) -> None:
    """Parse the command line and serve until interrupted.

    Args:
        kept: what a predecessor left that died.
    """
    from app.kit.beginning import begin, begun
    from app.options import BAD_INPUT, parse

    options = parse()
    begin()
    # Seconds of imports: behind what a wrong command line is refused for.
    from app.page import build, launch_options, serve
    from app.serve.door.guard import names
    from app.serve.engines.choice import engine_for
    from app.serve.engines.closing import GRACE_S, Closing
    from app.serve.watch.logs import VARIABLE, structured
    from app.workshop.room_routes import announce, new_room
    from hsd_core.pipeline import Pipeline

    if options.log == "json":
        os.environ[VARIABLE] = options.log  # for the engine's process
        structured()
    if kept.ends:
        logging.getLogger(__name__).warning("the page's process ended (%s) and was started again", kept.ends[-1])
    closing = Closing()
    engine = engine_for(options.engine, closing.over(Pipeline), options.offer, options.replicas, options.batch)
    room = new_room(kept=kept) if options.workshop else None
    demo = build(Pipeline, offer=options.offer, engine=engine, room=room, caps=options.caps, kept=kept)
    where = {"server_name": options.host, "server_port": kept.port or options.port, "share": options.share}
    hosts = names(options.host, share=options.share, allowed=options.allow_host, public=options.public.host)

    def start() -> Any:
        try:
            chosen = {"frames": options.frames, "offer": options.offer, "key": options.watch_key, "mcp": options.mcp}
            chosen |= {"callers": options.callers, "public": options.public}
            serve(demo, trusted=options.trusted, **where, **launch_options(hosts=hosts, room=room, **chosen))
        except OSError as error:  # all ports are taken, or this one since it was looked at
            print(f"error: {error}", file=sys.stderr)
            sys.exit(BAD_INPUT)
        kept.serves(demo.server_port)
        engine.start()  # the page comes first
        if room is not None:
            announce(room, demo.server_name, demo.server_port, options.public)
        begun()
        sys.setswitchinterval(SWITCH_S)
        return demo

    closing.serve(start, lambda: engine.close(GRACE_S))


def open_page() -> None:
    """Serve in a process that this one supervises."""
    serving = attended()
    if serving is None and (code := supervise([sys.executable, *sys.orig_argv[1:]])) is not None:
        sys.exit(code)
    main(serving or NOWHERE)


if __name__ == "__main__":
    open_page()
