"""The application on the cluster: replicas as many as are needed, and the desk before them. Imports Ray."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar
from urllib.parse import urlsplit

import ray
from ray import serve

from app.serve.engine import Job
from app.serve.engines.cluster.replica import Replica
from app.serve.engines.cluster.run_desk import Desk
from app.serve.engines.named import Replicas
from app.words import engine as says
from hsd_core.typed.program_files import PACKAGE, ROOT

_ELSEWHERE = [".git", ".venv", "tests", "node_modules", ".mypy_cache", ".ruff_cache", "assets/results", "assets/races"]
NAME = "hsd-explorer"
PORT = 10001  # of a cluster's head, where an address names none
KNOCK_S = 5.0
STARTS_S = 300.0  # a replica may wait for a machine to start
HEALTH_S = 5.0
UNHEALTHY_S = 20.0
IDLE_S = 120.0  # after which a replica that nobody needs ends
ON_A_DESK = 1000  # questions at the same time: of every run one, and a few


def deploy(
    address: str,
    replicas: Replicas,
    works: Callable[[], tuple[Any, Mapping[str, Job[Any]]]],
    hello: bytes,
    *,
    local: bool = False,
) -> tuple[Any, int]:
    """Start the application, unless it runs already with the same offer; a handle of its desk, and how many runs it
    works on at a time.

    Args:
        address: `ray://HOST:PORT`, or "" for a cluster that this machine is part of, else one that is started here.
        works: the class that opens presets, and what may be asked for; called where a replica is.
        hello: the packed first word of the page. local: without a cluster, in threads of this process, for tests.

    Raises:
        ConnectionError: no cluster answers, or it cannot run the application.
    """
    try:
        if not local:
            _connect(address)
        there: Any = {} if local else ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
        needs = _needs(replicas, there)
        same = hashlib.sha256(repr((hello, asdict(replicas), needs)).encode()).hexdigest()[:8]
        name = f"{NAME}-{same}"
        desk = serve.run(
            _application(name, replicas, needs, works, hello, local),
            name=name,
            route_prefix=None,
            _local_testing_mode=local,
        )
    except Exception as error:
        raise ConnectionError(says.unreachable(address, str(error).strip().partition("\n")[0])) from error
    return desk, replicas.most


def _connect(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster that is started here reports to nobody
    environment: dict[str, Any] = {"env_vars": {k: v for k, v in os.environ.items() if k.startswith(("HSD_", "HF_"))}}
    if address:
        where = urlsplit(address)  # knocked at first: Ray itself tries for half a minute
        socket.create_connection((where.hostname or "", where.port or PORT), KNOCK_S).close()
        environment |= {"working_dir": str(ROOT), "excludes": _ELSEWHERE}
        if not PACKAGE.is_relative_to(ROOT):
            environment["py_modules"] = [str(PACKAGE)]
    else:
        environment["env_vars"]["PYTHONPATH"] = str(ROOT)
    ray.init(address or None, runtime_env=environment, log_to_driver=False, include_dashboard=False)


def _needs(replicas: Replicas, there: Mapping[str, float]) -> dict[str, float]:
    if replicas.cpus is None and replicas.gpus is None:
        return {"num_gpus": 1} if there.get("GPU") else {"num_cpus": min(2.0, there.get("CPU", 2.0))}
    return {"num_cpus": replicas.cpus or 0.0, "num_gpus": replicas.gpus or 0.0}


def _application(
    name: str,
    replicas: Replicas,
    needs: Mapping[str, float],
    works: Callable[[], tuple[Any, Mapping[str, Job[Any]]]],
    hello: bytes,
    local: bool,
) -> Any:
    @serve.deployment(
        name="engine",
        ray_actor_options=dict(needs),
        max_ongoing_requests=1,
        health_check_period_s=HEALTH_S,
        health_check_timeout_s=UNHEALTHY_S,
        autoscaling_config={
            "min_replicas": replicas.least,
            "max_replicas": replicas.most,
            "target_ongoing_requests": 1,
            "upscale_delay_s": 1,
            "downscale_delay_s": IDLE_S,
        },
    )
    class Engine(Replica):
        def __init__(self) -> None:
            super().__init__(*works(), hello)

    @serve.deployment(name="desk", ray_actor_options={"num_cpus": 0}, max_ongoing_requests=ON_A_DESK)
    class Front(Desk):
        def __init__(self, engines: Any) -> None:
            super().__init__(engines, _Here(name) if local else serve.get_deployment_handle("desk", name))
            if local:
                _Here.desks[name] = self

    front: Any = Front
    engine: Any = Engine
    return front.bind(engine.bind())


class _Here:
    """The desk of an application in this process, asked as through a handle: by its name, since it is copied."""

    desks: ClassVar[dict[str, Desk]] = {}

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def wanted(self) -> _Here:
        return self

    def remote(self, key: str) -> Any:
        return self.desks[self._name].wanted(key)
