"""What `make bench-rpc` runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.child import BenchError
from harness.idle import idle_connections
from harness.interleaved import CPU, CROSS, SAME, Interleaved, Work, cores
from harness.pair import Pair, System
from harness.proxy import CountingProxy
from harness.rows import Samples

NAME = "rpc"

_WORKS = (
    Work("unary_i32", 20_000, ("median_us", "p99_us", *CPU), syscalls=True),
    Work("pipelined_128", 400_000, ("requests_per_s", *CPU), syscalls=True),
    Work("independent_100k", 100_000, ("ms", "requests_per_s", *CPU), syscalls=True),
    Work("batch_100k", 100_000, ("ms", *CPU)),
    Work("echo_1mib", 50, ("median_us", "mb_per_s", "cpu_us_per_request")),
    Work("echo_16mib", 5, ("median_us", "mb_per_s", "cpu_us_per_request")),
    Work("echo_f64_1m", 10, ("median_us", "mb_per_s", "cpu_us_per_request")),
    Work("server_stream_100b", 2_000_000, ("values_per_s", *CPU)),
    Work("client_stream_100b", 2_000_000, ("values_per_s", *CPU)),
    Work("cancel_to_handler", 500, ("median_us", "p99_us")),
    Work("in_process", 2_000_000, ("ns",), placements=(SAME,)),
    Work("cached_hit", 2_000_000, ("ns",), placements=(SAME,)),
)
# A peer that needs 20 us of processor time per call would take a minute for what takes us one second.
_PEER_WORKS = {"pipelined_128": 40_000, "server_stream_100b": 200_000, "client_stream_100b": 200_000}
_PEERS = ("grpc", "capnp", "ice", "thrift")
_WORKS_OF_WAYS = ("unary_i32", "pipelined_128", "batch_100k", "echo_1mib")
_WIRE_CALLS = 1_000
_IDLE_CONNECTIONS = 2_000

CHART = {
    "unary_i32": "median_us",
    "pipelined_128": "requests_per_s",
    "independent_100k": "ms",
    "batch_100k": "ms",
    "echo_1mib": "median_us",
    "echo_16mib": "median_us",
    "echo_f64_1m": "median_us",
    "server_stream_100b": "values_per_s",
    "client_stream_100b": "values_per_s",
    "cancel_to_handler": "median_us",
    "in_process": "ns",
    "cached_hit": "ns",
    "idle_connection_kb": "kb",
}


def _systems(programs: Path) -> tuple[list[System], list[System], list[System]]:
    raw, mf_server, mf_client = (programs / f"bench-{name}" for name in ("raw", "mf-server", "mf-client"))
    for program in (raw, mf_server, mf_client):
        if not program.exists():
            raise BenchError(f"{program} is not there; `make bench-rpc` builds it")
    ours = [
        System("raw", [str(raw), "server"], [str(raw), "client"]),
        System(
            "mf",
            [str(mf_server)],
            [str(mf_client)],
            {
                "batch_100k": ("", "message", "list"),
                "echo_f64_1m": ("", "view"),
                "in_process": ("light", "light-deadline"),
            },
        ),
    ]
    # Other ways to run the same, only for the works in which they differ.
    ways = [
        System(
            "mf-default",
            [str(mf_server), "default"],
            [str(mf_client)],
            {"batch_100k": ("", "message", "list")},
        ),
        System("mf-unix", [str(mf_server), "unix"], [str(mf_client), "unix"]),
        System("mf-relay", [str(mf_server), "relay"], [str(mf_client)]),
        System("mf-splice", [str(mf_server), "splice"], [str(mf_client)]),
    ]
    at = {name: programs / f"bench-{name}" for name in _PEERS}
    peers = [
        System(name, [str(path), "server"], [str(path), "client"])
        for name, path in at.items()
        if path.exists()
    ]
    return ours, ways, peers


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    ours, ways, peers = _systems(build / "bench")
    rounds = 5 if quick else 11
    for placement in (SAME, CROSS):
        Interleaved(ours, placement, samples, failures).run(_WORKS, rounds)
        of_ways = [work for work in _WORKS if work.name in _WORKS_OF_WAYS]
        Interleaved(ways, placement, samples, failures).run(of_ways, 3 if quick else 5)
        if peers:
            fewer = [replace(work, count=_PEER_WORKS.get(work.name, work.count)) for work in _WORKS]
            Interleaved(peers, placement, samples, failures).run(fewer, 3 if quick else 5)
    for system in [*ours, *peers]:
        try:
            _wire_bytes(system, samples)
            if system.name != "raw":
                idle_connections(system, _IDLE_CONNECTIONS, samples)
        except BenchError as error:
            failures.append(f"{system.name}: {error}")


def _wire_bytes(system: System, samples: Samples) -> None:
    """Counted over a thousand calls of a connection in use, so that any traffic beside the calls would
    show."""
    proxies: list[CountingProxy] = []

    def through(port: int) -> int:
        proxies.append(CountingProxy(port))
        return proxies[0].port

    try:
        with Pair(system, cores(CROSS), through) as pair:
            if not pair.prepare("unary_i32", _WIRE_CALLS):
                return
            before = proxies[0].requests, proxies[0].replies
            pair.go()
            samples.add(
                "wire_bytes",
                CROSS,
                system.name,
                {
                    "request": (proxies[0].requests - before[0]) / _WIRE_CALLS,
                    "reply": (proxies[0].replies - before[1]) / _WIRE_CALLS,
                },
            )
    finally:
        for proxy in proxies:
            proxy.close()
