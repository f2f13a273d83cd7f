"""A host or port that cannot be is refused at once: one line with the cure, exit code 2, before the page is built."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.options import parse
from app.serve.door.proxied import AddressError, check_address

ROOT = Path(__file__).parents[2]
NO_HOST = "no-such-host.invalid"  # a name that nobody may have (RFC 6761)
ELSEWHERE = "192.0.2.1"  # kept for examples: an address of no machine (RFC 5737)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        yield other.getsockname()[1]


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRADIO_SERVER_NAME", "HSD_PRESETS", "HSD_ALLOW_MODELS", "HSD_ALLOW_EMBED"):
        monkeypatch.delenv(name, raising=False)


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("error: ") and said.err.count("\n") == 1
    return said.err


def test_a_taken_port_is_refused_in_one_line(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(["--port", str(taken)], capsys)
    assert f"port {taken} is taken; end the program that uses it, or name another with --port" in said


def test_a_port_that_is_none_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for port in ("65536", "99999", "0", "-1"):
        assert f"--port is {port}; use 1 to 65535, or leave it out" in refusal([f"--port={port}"], capsys)
    assert "invalid int value" in refusal(["--port", "http"], capsys)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (NO_HOST, "is not known here; use 127.0.0.1"),
        (ELSEWHERE, "is not an address of this machine; use 127.0.0.1"),
        ("a..b", "is not known here"),
        ("x" * 300, "is not known here"),
    ],
)
def test_a_host_that_is_none_is_refused_in_one_line(host: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refusal(["--host", host], capsys)


def test_the_host_of_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_SERVER_NAME", ELSEWHERE)
    with pytest.raises(AddressError, match="is not an address of this machine"):
        check_address(None, None)
    check_address("127.0.0.1", None)


def test_what_can_be_listened_on_passes_and_stays_free() -> None:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        free = tried.getsockname()[1]
    for host in (None, "127.0.0.1", "localhost", "0.0.0.0"):
        check_address(host, free)
        check_address(host, free)
    options = parse(["--port", str(free), "--allow-host", "a.example"])
    assert (options.port, options.allow_host, options.frames) == (free, ["a.example"], ())


def test_a_wrong_option_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "none-such" in refusal(["--presets", "none-such"], capsys)
    assert "attacker" in refusal(["--allow-embed", "attacker"], capsys)
    assert "is not a folder" in refusal(["--allow-models", "no-such-folder"], capsys)


def test_the_program_refuses_it_before_the_page_is_built(taken: int) -> None:
    # whoever imports Gradio now fails: neither page nor model is there
    ended = started("sys.modules['gradio'] = None", taken)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: port {taken} is taken") and ended.stderr.count("\n") == 1


@pytest.mark.everything
def test_a_port_that_is_taken_after_it_was_looked_at_is_one_line_too(taken: int) -> None:
    ended = started(
        "import app.serve.door.proxied; app.serve.door.proxied.check_address = lambda host, port: None", taken
    )
    assert ended.returncode == 2
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert str(taken) in line and "Traceback" not in ended.stderr


def started(first: str, port: int) -> subprocess.CompletedProcess[str]:
    """`app.py` on that port, behind a line of Python."""
    code = f"import runpy, sys\n{first}\nsys.argv[0] = 'app.py'\nrunpy.run_path('app.py', run_name='__main__')\n"
    command = [sys.executable, "-c", code, "--port", str(port)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=dict(os.environ), check=False)
