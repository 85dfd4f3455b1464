"""What `make bench-python` runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from harness.child import BenchError, output_of
from harness.interleaved import CPU, CROSS, SAME, Interleaved, Work
from harness.pair import System
from harness.rows import Samples

NAME = "python"

_WORKS = (
    Work("unary_int", 20_000, ("median_us", "p99_us", *CPU), syscalls=True),
    Work("cached_hit", 100_000, ("median_us",), placements=(SAME,)),
    Work("independent_100k", 100_000, ("ms", "requests_per_s", *CPU), syscalls=True),
    Work("batch_100k", 100_000, ("ms", *CPU)),
    Work("server_stream_100b", 100_000, ("values_per_s", *CPU)),
    Work("client_stream_100b", 100_000, ("values_per_s", *CPU)),
    Work("echo_16mib", 5, ("median_us", "mb_per_s", "cpu_us_per_request")),
    Work("array_1m_f64", 10, ("median_us", "mb_per_s", "cpu_us_per_request")),
)
# A peer that needs 300 us per call would take half a minute for what takes us two seconds.
_PEER_WORKS = {"unary_int": 2_000, "independent_100k": 10_000, "batch_100k": 100_000, "echo_16mib": 3}
_WORKS_OF_SERVERS = ("unary_int", "independent_100k", "echo_16mib")
CHART = {
    "unary_int": "median_us",
    "cached_hit": "median_us",
    "independent_100k": "requests_per_s",
    "batch_100k": "ms",
    "server_stream_100b": "values_per_s",
    "client_stream_100b": "values_per_s",
    "echo_16mib": "mb_per_s",
    "array_1m_f64": "mb_per_s",
    "import_ms": "ms",
}
_HERE = Path(__file__).parent
_GRPC_STUBS = Path("bench", "python-grpc")
_LIMIT_SECONDS = 60


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    stubs = _stubs(build)
    native = build / "runtime" / "python-native" / "module"
    paths = [stubs, _HERE.parent, _runtime(), native]
    env = {"PYTHONPATH": os.pathsep.join(map(str, paths))}

    def program(name: str, *arguments: str) -> list[str]:
        return [sys.executable, str(_HERE / f"{name}.py"), *arguments]

    systems = [
        System("raw", program("raw", "server"), program("raw", "client"), env=env),
        System(
            "mf/python",
            program("mf_server"),
            program("mf_client"),
            {
                "unary_int": ("", "async"),
                "independent_100k": ("async", "message"),
                "server_stream_100b": ("", "async"),
                "client_stream_100b": ("", "iterator", "async"),
            },
            env,
        ),
    ]
    # The same client, so that the rows differ by the server alone.
    on_a_loop = System(
        "mf/python/async-server",
        program("mf_server", "async"),
        program("mf_client"),
        {"independent_100k": ("async",)},
        env,
    )
    peers = _peers(build, env)
    for placement in (SAME, CROSS):
        Interleaved(systems, placement, samples, failures).run(_WORKS, 5 if quick else 11)
        of_servers = [work for work in _WORKS if work.name in _WORKS_OF_SERVERS]
        Interleaved([on_a_loop], placement, samples, failures).run(of_servers, 3 if quick else 5)
        fewer = [replace(work, count=_PEER_WORKS[work.name]) for work in _WORKS if work.name in _PEER_WORKS]
        Interleaved(peers, placement, samples, failures).run(fewer, 3 if quick else 5)
    _import_ms(env, 10 if quick else 30, samples)


def _peers(build: Path, env: dict[str, str]) -> list[System]:
    """The peers that are installed: grpcio and pycapnp beside us, Ice in Debian's own Python."""
    pythons = {"grpcio": sys.executable, "pycapnp": sys.executable, "ice": "/usr/bin/python3"}
    needed = {"grpcio": "grpc, grpc_tools", "pycapnp": "capnp", "ice": "Ice"}
    path = {"PYTHONPATH": os.pathsep.join([str(build / _GRPC_STUBS), env["PYTHONPATH"]])}
    peers = []
    for name, python in pythons.items():
        if not Path(python).exists() or not _succeeds(python, "-c", f"import {needed[name]}"):
            print(f"bench: {name} is not installed, so it is no peer", file=sys.stderr)
            continue
        if name == "grpcio":
            grpc_stubs(build, python)
        program = [python, str(_HERE / "peers" / f"{name}.py")]
        peers.append(System(name, [*program, "server"], [*program, "client"], env=path))
    return peers


def grpc_stubs(build: Path, python: str) -> Path | None:
    """Generates grpcio's stubs anew and returns their folder; None if grpcio is not installed."""
    if not _succeeds(python, "-c", "import grpc, grpc_tools"):
        return None
    stubs = build / _GRPC_STUBS
    stubs.mkdir(parents=True, exist_ok=True)
    schema = _HERE.parent / "rpc" / "peers"
    outs = [f"--{kind}_out={stubs}" for kind in ("python", "grpc_python")]
    if not _succeeds(python, "-m", "grpc_tools.protoc", "-I", str(schema), *outs, "bench.proto"):
        raise BenchError("grpc_tools.protoc refused bench.proto")
    return stubs


def _succeeds(*command: str) -> bool:
    done = subprocess.run(command, capture_output=True, check=False, timeout=_LIMIT_SECONDS)
    return done.returncode == 0


def _runtime() -> Path:
    return _HERE.parent.parent / "runtime" / "python"


def _stubs(build: Path) -> Path:
    out = build / "bench" / "python"
    out.mkdir(parents=True, exist_ok=True)
    compiler = Path(sys.executable).with_name("mfidlc")
    schema = _HERE.parent / "rpc" / "bench.mfidl"
    output_of([compiler, "compile", "--python", out, schema], _LIMIT_SECONDS)
    return out


def _import_ms(env: dict[str, str], rounds: int, samples: Samples) -> None:
    """How much longer `import mf` and the stubs take than a bare interpreter; a first round fills the
    caches."""
    for number in range(rounds + 1):
        bare, ours = (_start_ms(code, env) for code in ("pass", "import mf, bench"))
        if number > 0:
            samples.add("import_ms", "unpinned", "mf/python", {"ms": ours - bare})


def _start_ms(code: str, env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, check=True, timeout=_LIMIT_SECONDS
    )
    return (time.perf_counter() - start) * 1e3
