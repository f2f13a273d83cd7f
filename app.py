"""Open HSD Explorer: `python app.py [--host HOST] [--port PORT] [--share] [--allow-host NAME] [--presets NAMES]
[--allow-models DIR] [--allow-embed ORIGINS]`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import Any

from app.closing import Closing
from app.guard import names
from app.offer import Offer, OfferError
from app.page import build, launch_options
from app.policy import OriginError, origins
from hsd_core.pipeline import Pipeline

SWITCH_S = 0.001  # how long a thread may keep the others from Python's lock: the engine asks for it at every small step


def main() -> None:
    """Parse the command line and serve until interrupted."""
    parser = argparse.ArgumentParser(description="Open HSD Explorer in a browser.")
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
        "--presets",
        default=os.environ.get("HSD_PRESETS", ""),
        metavar="NAME[,NAME...]",
        help="the presets that visitors may load (default: HSD_PRESETS, else all that can be used here)",
    )
    parser.add_argument(
        "--allow-models",
        default=os.environ.get("HSD_ALLOW_MODELS", ""),
        metavar="DIR",
        help="a folder whose models visitors may name as model@id=NAME (default: HSD_ALLOW_MODELS, else none)",
    )
    parser.add_argument(
        "--allow-embed",
        default=os.environ.get("HSD_ALLOW_EMBED", ""),
        metavar="ORIGIN[,ORIGIN...]",
        help="pages that may frame this one, such as https://teaching.example (default: HSD_ALLOW_EMBED, else none)",
    )
    options = parser.parse_args()
    try:
        frames = origins(options.allow_embed)
        offer = Offer.of(options.presets, options.allow_models, Pipeline.catalogue())
    except (OfferError, OriginError) as error:
        parser.error(str(error))
    closing = Closing()
    demo = build(closing.over(Pipeline), offer=offer)
    where = {"server_name": options.host, "server_port": options.port, "share": options.share}
    hosts = names(options.host, share=options.share, allowed=options.allow_host)

    def start() -> Any:
        demo.launch(**where, **launch_options(hosts=hosts, frames=frames), prevent_thread_lock=True)
        # What is there now stays: without it, every search for garbage halts the page's answers for 0.1 s.
        gc.collect()
        gc.freeze()
        sys.setswitchinterval(SWITCH_S)
        return demo

    closing.serve(start)


if __name__ == "__main__":
    main()
