"""The machine of a run: processor, cores, accelerator, versions of libraries, memory."""

from __future__ import annotations

import errno
import math
import os
import platform
import re
import shutil
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("torch", "onnxruntime", "transformers", "tokenizers")
AVX512 = "with AVX-512"  # in a machine's name


@cache
def describe(device: str = "cpu") -> str:
    """For example "AMD EPYC with AVX-512, 2 cores" or the accelerator's name. Imports torch only for an accelerator."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(device)
    count = cores()
    return f"{_processor()}, {count} {'core' if count == 1 else 'cores'}"


def cores() -> int:
    """Cores that this process may use."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(here, cores_given() or here)


def cores_given(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Cores whose time a container gets (Linux), which may be fewer than it sees; None without a limit."""
    try:
        quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # "max" is not a number: no bound
        return None


def free_bytes(device: str = "cpu") -> int | None:
    """Free memory on a device, for models and runs; None if unknown. Imports torch only for an accelerator."""
    if device.startswith("cuda"):
        import torch

        try:
            return int(torch.cuda.mem_get_info(device)[0])
        except (RuntimeError, AssertionError):  # a build of torch that cannot tell
            return None
    known = [found for found in (_available(), _allowed()) if found is not None]
    return min(known) if known else None


def _available() -> int | None:
    """Memory that is available without swapping (Linux)."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _allowed(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Memory that a container may still use; cached pages of files count as free."""
    try:
        most, now = (int((group / f"memory.{name}").read_text(encoding="ascii")) for name in ("max", "current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
        return max(0, most - now + int(stat["file"]))
    except (OSError, ValueError, KeyError):  # "max" is not a number: no bound
        return None


@cache
def has_cuda() -> bool:
    """Whether there is an NVIDIA driver, or ZeroGPU provides one, and torch was built for CUDA. Does not import
    torch."""
    driver = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None
    return (driver or bool(os.environ.get("SPACES_ZERO_GPU"))) and not versions().get("torch", "+cpu").endswith("+cpu")


@cache
def devices() -> tuple[str, ...]:
    """The devices of this machine: "cpu", then "cuda", "cuda:1", ... Imports torch only for an accelerator."""
    if not has_cuda():
        return ("cpu",)
    import torch

    return ("cpu", *(f"cuda:{i}" if i else "cuda" for i in range(torch.cuda.device_count())))


def device_name(wanted: str | None) -> str:
    """The normal name of a device: None is the default one, "cuda:0" is "cuda".

    Raises:
        ValueError: this machine does not have it; the message lists the devices.
    """
    here = devices()
    name = "cuda" if wanted == "cuda:0" else wanted or here[min(1, len(here) - 1)]
    if name not in here:
        raise ValueError(f"device {name[:40]!r} is not here; devices are {', '.join(here)}")
    return name


@cache
def versions() -> dict[str, str]:
    """Installed versions of the libraries that affect a run."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's own name. A virtual one may omit its generation ("AMD EPYC"), so AVX-512, which changes kernels
    and times most, is added."""
    try:
        lines = info.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    given = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}
    name = given.get("model name") or platform.processor() or platform.machine()
    return f"{name} {AVX512}" if "avx512f" in given.get("flags", "").split() else name


# How libraries report that memory was refused: torch in a RuntimeError, a loader in an ImportError.
_REFUSED = re.compile(
    r"can(?:not|'t) allocate memory|out of memory|bad.?alloc|not enough memory|DefaultCPUAllocator"
    r"|failed to map segment from shared object",
    re.IGNORECASE,
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory was refused: to Python, by the system, or to a library."""
    number = error.errno if isinstance(error, OSError) else None
    return isinstance(error, MemoryError) or number == errno.ENOMEM or bool(_REFUSED.search(str(error)))


class TooLarge(ValueError):
    """A run or a model that does not fit into memory; the message has the sizes and the cure."""


def refuse(needed: int, free: int | None, what: str, cure: str) -> None:
    """
    Raises:
        TooLarge: `what` needs more bytes than are free; free is None if unknown.
    """
    if free is not None and needed > free:
        raise TooLarge(f"{what} takes {size(needed)} of memory and {size(free)} are free; {cure}")


def size(n: float) -> str:
    """Bytes in words, "1.2 GB" or "35 MB"."""
    return f"{n / 1e9:.1f} GB" if n >= 1e9 else f"{n / 1e6:.0f} MB"
