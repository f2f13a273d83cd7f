"""The reference, on the server too: made at the first request, by a process that ends with it, as some commands import
torch for their options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.static import ROUTE
from app.words import page as says
from hsd_core.typed.program_files import ROOT

NAME = "reference.html"
REFERENCE = f"{ROUTE}/{NAME}"
PATIENCE_S = 120  # a busy machine imports torch for half a minute


def reference_route() -> Route:
    """GET; the page that `python -m hsd_core reference` writes."""
    packed = PackedBody(_made, "text/html")

    async def served(request: Request) -> Response:
        try:
            return await packed(request)
        except (OSError, subprocess.SubprocessError):
            return PlainTextResponse(says.NO_REFERENCE, 503)

    return Route(REFERENCE, served, methods=["GET"])


def _made() -> bytes:
    with TemporaryDirectory() as folder:
        out = Path(folder) / NAME
        command = [sys.executable, "-m", "hsd_core", "reference", "--out", str(out)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_S)
        return out.read_bytes()
