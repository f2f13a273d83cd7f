"""What a page without a server says of that, and what the reference says of the server."""

from __future__ import annotations

NO_ENGINE = (
    "this copy of the page has no engine: it replays what was recorded; to run prompts of your own, start the program: "
    "python app.py"
)
NO_SERVER = "this copy of the page has no engine; for that start the program: python app.py"
NOT_AHEAD = (
    "this copy of the page has prices of recorded, ready-made and planned stacks alone; for others start the program: "
    "python app.py"
)
OPENING = "Opening the page…"
FAILED = "This part of the page could not be opened."
NO_SCRIPT = "This page needs JavaScript, which is off here."


def too_large(mb: float, most: float) -> str:
    return f"the page would take {mb:.1f} MB, and at most {most:g} are allowed"


def holds(folder: str, name: str) -> str:
    return f"{folder} holds {name!r}, which is of no page; name an empty folder or a new one"


def no_answer(path: str, code: int) -> str:
    return f"{path} is answered with {code}"


# ---- the reference

SERVER = "`python app.py` opens the page. `app/README.md` says how to serve it to others."
VARIABLES_ARE = "Most options of the server have one, which stands beside the option. These have none."
VARIABLES = {
    "HSD_CACHE": "the folder for converted weights, profiles and fetched files; else `hsd-explorer` in the user's "
    "cache folder",
    "HSD_DEFAULT": "`preset` keeps each preset's own stack, instead of the one that is planned for this machine",
    "HSD_WEIGHTS": "the kind of source that is preferred where a model has two, such as `wheels` (from PyPI)",
    "HF_HOME": "where files of the Hugging Face Hub are kept",
    "HF_TOKEN": "lets gated and private models be fetched from the Hub",
}
LIMITS = (
    "Every bound on what one visitor may cost, with its constant. A request beyond one is refused in one sentence that "
    "names the cure."
)
HTTP = (
    "Every path that is answered; anything else is 404. Bodies are JSON of a stated size, calls come from the page's "
    'own origin or from programs, and what is wrong is said as `{"error": ...}`. The paths of a class are there with '
    "`--workshop`, those of MCP with `--mcp`."
)
GRADIO = "of Gradio, whose page this is"
ENDPOINTS = (
    "For programs, by `gradio_client`, by `POST /gradio_api/call/NAME` (then GET with the event that it names), and as "
    "MCP tools with `--mcp`. They stand in one line with the page's runs and have its limits."
)
PROMETHEUS = (
    "`GET /metrics`, for callers of this machine, or with `--watch-key`. A level's acceptance over any time is "
    "`hsd_accepted_total` / `hsd_judged_total`."
)
ROUTES = {
    "/hx/planner/sources": "the profiles that the Planner can plan in",
    "/hx/planner/origin": "what a run of ?preset=&device=&temperature= would plan with",
    "/hx/planner/faults": "what speaks against the levels of ?stack=, as the grammar says it",
    "/hx/planner/answer": "the plan of a profile",
    "/hx/planner/another": "whether another level is worth it",
    "/hx/planner/lengths": "what passes and stacks take by the length of the text",
    "/hx/planner/price": "what some stacks would cost here",
    "/hx/planner/doctor": "what another engine's output says of its speculation",
    "/hx/lib/plotly.min.js": "the library that draws figures",
    "/hx/recordings/{name}": "a recorded run",
    "/hx/races": "the recorded races",
    "/hx/races/{name}": "one of them",
    "/hx/races/load": "the recorded races of many requests at once",
    "/hx/races/load/{name}": "one of them",
    "/hx/results": "the benchmarks",
    "/hx/exits": "what each depth knows, and exits on the clock",
    "/hx/memory": "what a draft remembers of a text, and what its next token takes",
    "/hx/scaling": "acceptance over training text and size",
    "/hx/lessons": "lessons and classes",
    "/hx/lessons-requests": "figures of the lesson on many requests at once",
    "/hx/systems": "the systems of the Atlas",
    "/hx/qr": "a link as a QR code",
    "/hx/offline.html": "the page of a saved run, still without its run",
    "/hx/reference.html": "this page",
    "/hx/left": "a page says that it is closed",
    "/health": "how page and engine are, as JSON; for this machine, or with a key",
    "/metrics": "figures for Prometheus; for this machine, or with a key",
    "/hx/room/now": "of a class: its news, once there is some",
    "/hx/room/answers": "of a class: all answers, question by question, for the instructor alone",
    "/hx/room/enter": "of a class: come in by the code or the key",
    "/hx/room/send": "of a class: the instructor sends a place to all screens",
    "/hx/room/free": "of a class: the instructor frees the screens",
    "/hx/room/keep": "of a class: whether what the instructor opens next is sent too",
    "/hx/room/show": "of a class: the instructor shows the answers to all",
    "/hx/room/answer": "of a class: a learner's answer",
    "/hx/{version}/{name:path}": "scripts and styles, kept for good under the hash of them all",
}
