"""A Space as the Hub builds and starts it, and the first Generate on it.

    python .ci/as_a_space.py FOLDER [--environment DIR] [--state DIR]

FOLDER is what `python -m hsd_core space cpu|zerogpu --out FOLDER` wrote. An environment is made with its
`python_version`, of its requirements.txt and then of what the Hub adds, Gradio of its `sdk_version` among that.
--environment: one that holds all this already. --state: what an earlier call left, weights among it.

The page is started by user 1000, which may read everything and write nothing but a folder for its state (without root:
by whoever calls), with the Hub's variables, its port by GRADIO_SERVER_PORT, its state by HSD_CACHE and HF_HOME. A Space
on ZeroGPU is lent cards by a pretended service.

Needs playwright and a Chromium for the visitor. Exits with 1 and says why if the Space does not work.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.app.pretend_zerogpu import TOKEN, Lender, lending, token_of  # noqa: E402

USER = 1000  # the Hub's
HUB = ("uvicorn>=0.14.0", "websockets>=10.4", "spaces")  # what it adds beside Gradio
PASSED = ("PATH", "LANG", "PIP_", "SSL_", "REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy", "no_proxy")
READS = "-all,+dac_read_search"  # this machine's environments may lie in folders of root's
GENERATE_S, ENDS_S, LOOK_S = 600.0, 10.0, 0.2
TOKENS = 48  # enough for rounds of every level
VISITOR = token_of("visitor")
ABOUT = (
    "import sys; from importlib.metadata import version; print('Python', sys.version.split()[0], "
    "*(f'{name} {version(name)}' for name in ('gradio', 'torch', 'onnxruntime', 'transformers')), sep=', ')"
)


def main() -> str | None:
    """What is wrong, if anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of a Space")
    parser.add_argument("--environment", type=Path, help="an environment that holds what it needs (default: a new one)")
    parser.add_argument("--state", type=Path, help="the folder for the Space's state, kept (default: a new one)")
    options = parser.parse_args()
    readme = (options.folder / "README.md").read_text(encoding="utf-8")
    given = dict(re.findall(r'^(\w+): "?([^"\n]*)"?$', readme.split("---")[1], re.M))
    with scratch() as there:
        environment = options.environment or built(options.folder, given, there / "environment")
        python = (environment / "bin" / "python").absolute()
        print(said([python, "-c", ABOUT]), flush=True)
        app, home = there / "app", there / "home"
        state = (options.state or there / "state").absolute()
        shutil.copytree(options.folder, app)
        home.mkdir()
        only_read(home, app)
        for place in (state, state / "tmp"):
            place.mkdir(parents=True, exist_ok=True)
            if os.geteuid() == 0:
                os.chown(place, USER, USER)
        before = {path for place in (home, app) for path in place.rglob("*")}
        with ExitStack() as lent:
            lender, variables = None, named(home, state)
            if "spaces" in (app / "requirements.txt").read_text(encoding="utf-8"):
                lender, more = lent.enter_context(lending())
                variables |= {**more, "HSD_DEVICE": "cpu"}
            faults = served([python], app, given["app_file"], variables, lender)
        left = {path for place in (home, app) for path in place.rglob("*")} - before
        faults += [f"{path.relative_to(there)} was written" for path in sorted(left)]
    return "; ".join(faults) or None


def built(folder: Path, given: dict[str, str], out: Path) -> Path:
    """The environment that the Hub makes of a folder."""
    python = python_of(given["python_version"])
    subprocess.run([python, "-m", "venv", out], check=True)
    pip = [str(out / "bin" / "pip"), "install", "-q", "--no-cache-dir", "--disable-pip-version-check"]
    for wanted in (["-r", str(folder / "requirements.txt")], [f"gradio[oauth,mcp]=={given['sdk_version']}", *HUB]):
        began = time.monotonic()
        subprocess.run([*pip, *wanted], check=True)
        print(f"pip install {' '.join(wanted)}: {time.monotonic() - began:.0f} s", flush=True)
    subprocess.run([*pip[:1], "check"], check=True)
    return out


def python_of(version: str) -> str:
    """A Python of that version: on the path or among pyenv's; else the one that runs this, which is said."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (f"python{version}", *sorted(map(str, pyenv.glob(f"{version}*/bin/python3")))):
        with suppress(OSError, subprocess.CalledProcessError):
            if said([found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]) == version:
                return found
    print(f"there is no Python {version} here: {sys.version.split()[0]} stands in for it", flush=True)
    return sys.executable


def named(home: Path, state: Path) -> dict[str, str]:
    """The variables of a Space whose state lies in a folder of its own; what pip needs of this machine is kept."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(PASSED)}
    return {
        **kept,
        "HOME": str(home),
        "HSD_CACHE": str(state / "hsd-explorer"),
        "HF_HOME": str(state / "huggingface"),
        "TMPDIR": str(state / "tmp"),
        "PYTHONUNBUFFERED": "1",
        "SYSTEM": "spaces",
        "SPACE_ID": "visitor/hsd-explorer",
        "SPACE_HOST": "visitor-hsd-explorer.hf.space",
        "SPACE_AUTHOR_NAME": "visitor",
        "SPACE_REPO_NAME": "hsd-explorer",
        "GRADIO_ALLOW_FLAGGING": "never",
        "GRADIO_NUM_PORTS": "1",
        "GRADIO_SERVER_NAME": "0.0.0.0",
        "GRADIO_SERVER_PORT": str(free_port()),
        "GRADIO_THEME": "huggingface",
    }


def served(
    command: Sequence[Path | str],
    app: Path,
    file: str,
    variables: dict[str, str],
    lender: Lender | None,
) -> list[str]:
    """What is wrong with the page that is started so, and with a visitor's first Generate there."""
    if lender:
        command = [*command, ROOT / "tests" / "app" / "pretend_zerogpu.py"]
    if os.geteuid() == 0:
        rights = [f"--{kind}={READS}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
        command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *rights, *command]
    address, faults, log = f"http://127.0.0.1:{variables['GRADIO_SERVER_PORT']}", [], app.parent / "log"
    asked = f"{address}/?max_new_tokens={TOKENS}"
    generate = [sys.executable, ROOT / ".ci" / "first_generate.py", asked, f"{GENERATE_S:g}", f"{TOKEN}={VISITOR}"]
    with log.open("w") as sink:
        out = {"stdout": sink, "stderr": subprocess.STDOUT}
        page = subprocess.Popen([*command, file], cwd=app, env=variables, start_new_session=True, **out)
    visitor = subprocess.Popen(generate)
    try:
        while page.poll() is None and visitor.poll() is None:
            time.sleep(LOOK_S)
        if page.poll() is not None:
            faults.append(f"the page ended with {page.returncode}")
        elif visitor.returncode:
            faults.append("the first Generate failed")
        until = time.monotonic() + ENDS_S
        while lender and lender.lent and time.monotonic() < until:  # the last of a run comes before its card is back
            time.sleep(LOOK_S)
    finally:
        visitor.kill()
        page.terminate()
        with suppress(subprocess.TimeoutExpired):
            page.wait(ENDS_S)
        if page.poll() is None:
            faults.append("it did not end when it was asked to")
            page.kill()
    until = time.monotonic() + ENDS_S
    while (others := list(at_work(app))) and time.monotonic() < until:
        time.sleep(LOOK_S)
    faults += [f"process {pid} goes on: {what}" for pid, what in others]
    told = log.read_text(encoding="utf-8", errors="replace")
    if faults or "Traceback" in told or "Permission denied" in told:
        faults.append("its log:\n" + "\n".join(told.splitlines()[-60:]))
    if lender:
        print("cards were asked for:", *lender.asked)
        if not lender.started or [one.get("token") for one in lender.asked] != [VISITOR] or lender.lent:
            faults.append("a card was not asked for once, in the visitor's name, and given back")
    return faults


def at_work(folder: Path) -> Iterator[tuple[str, str]]:
    """The processes that work in a folder, and what each of them is."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or is another's
            if (process / "cwd").readlink() == folder:
                yield process.name, (process / "cmdline").read_text().replace("\0", " ")


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that everybody may enter, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="space-") as folder:
        there = Path(folder)
        there.chmod(0o755)
        yield there
        for path in there.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)


def only_read(*folders: Path) -> None:
    """Nobody but root may write there any more."""
    for folder in folders:
        for path in (*folder.rglob("*"), folder):
            path.chmod(0o555 if path.is_dir() else 0o444)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def said(command: Sequence[Path | str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
