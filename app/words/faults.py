"""What went wrong inside the server, for visitors; the server's log says it whole."""

from __future__ import annotations

NO_MEMORY = (
    "there is not enough memory on the server for this; choose a smaller preset or fewer levels, or try again later"
)
DISK_FULL = "the server's disk is full; whoever runs it must make room; recordings still work"
UNREADABLE = (
    "a file that the server needs cannot be read; choose another preset or stack, and tell whoever runs the server, "
    "whose log names the file"
)


def lacks(package: str) -> str:
    return f"the server lacks {f'the package {package}' if package else 'a package'}; choose another preset or stack"


def broken(package: str) -> str:
    return f"the server cannot load {f'the library {package}' if package else 'a library'}; tell whoever runs it"


def failed(kind: str) -> str:
    return f"the server failed at this ({kind}); try again; if it fails again, tell whoever runs it, whose log says why"
