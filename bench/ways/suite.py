"""What `make bench-ways` runs: the same calls over tcp, unix sockets and tls, from 8 bytes to 16 MiB, over
one to eight connections, by one and two threads that read; and calls and streams through the HTTP door of a
relay, beside those of a client that reaches the server."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.child import BenchError, output_of
from harness.idle import idle_connections
from harness.interleaved import CPU, CROSS, SAME, UNPINNED, Interleaved, Work
from harness.lines import Panel, write_lines
from harness.pair import System
from harness.rows import Row, Samples
from harness.table import table

NAME = "ways"

_OPENSSL_SECONDS = 60.0
_WAYS = ("tcp", "unix", "tls")
_SIZES = tuple(8**i for i in range(1, 9))  # 8 bytes to 16 MiB
_LATENCY = ("median_us", "p99_us", *CPU)
_WORKS = (
    Work("unary_i32", 10_000, _LATENCY),
    *(
        Work(f"echo_{size}", max(min(5_000, (64 << 20) // size), 4), ("median_us", "mb_per_s"))
        for size in _SIZES
    ),
)
_CONNECTIONS = tuple(
    Work(f"connections_{n}", 300_000, ("requests_per_s", *CPU), placements=(UNPINNED,)) for n in (1, 2, 4, 8)
)

_DOOR = (
    Work("unary_i32", 5_000, _LATENCY, placements=(CROSS,)),
    Work("connections_64", 50_000, ("requests_per_s", *CPU), placements=(CROSS,)),
    Work("stream_100", 500_000, ("values_per_s", *CPU), placements=(CROSS,)),
)
_STREAMS = {"stream_100": ("", "events", "websocket")}
_IDLE_CONNECTIONS = 512


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    ends = ("raw", "server", "client", "door-server", "door-client")
    raw, server, client, door, door_client = (build / "bench" / f"bench-ways-{end}" for end in ends)
    for program in (raw, server, client, door, door_client):
        if not program.exists():
            raise BenchError(f"{program} is not there; `make bench-ways` builds it")
    rounds = 3 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        _make_certificates(folder)
        ways = [
            system
            for way in _WAYS
            for system in (
                System(f"raw/{way}", [str(raw), "server", way, folder], [str(raw), "client", way, folder]),
                System(f"mf/{way}", [str(server), way, "1", folder], [str(client), way, folder]),
            )
        ]
        for placement in (SAME, CROSS):
            Interleaved(ways, placement, samples, failures).run(_WORKS, rounds)
        threads = [
            System(f"mf/io-{n}", [str(server), "tcp", str(n), folder], [str(client), "tcp", folder])
            for n in (1, 2)
        ]
        Interleaved(threads, UNPINNED, samples, failures).run(_CONNECTIONS, rounds)
        doors = [
            System("mf/direct", [str(server), "tcp", "1", folder], [str(client), "tcp", folder]),
            System("mf/http", [str(door)], [str(door_client)], _STREAMS),
        ]
        Interleaved(doors, CROSS, samples, failures).run(_DOOR, rounds)
        for _ in range(rounds):
            idle_connections(doors[1], _IDLE_CONNECTIONS, samples)


def _make_certificates(folder: str) -> None:
    """ca.pem, server.pem and server.key."""

    def openssl(*words: str) -> None:
        output_of(["openssl", *words], _OPENSSL_SECONDS, cwd=folder)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = Path(folder, "names")
    names.write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=bench", "-days", "2")
    openssl("req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "server.pem", "-days", "2", "-extfile", str(names))  # fmt: skip


def draw(rows: Sequence[Row], out: Path) -> None:
    panels = []
    for placement in (SAME, CROSS):
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            size = re.fullmatch(r"echo_(\d+)", row.work)
            if size and row.placement == placement and row.metric == "median_us" and row.value:
                lines.setdefault(row.system, []).append((int(size[1]), row.value))
        if lines:
            panels.append(Panel(f"an echo, {placement}", "bytes", "us", lines))
    if panels:
        write_lines(panels, out / f"{NAME}.svg")


def show(rows: Sequence[Row]) -> str:
    return table(rows) if rows else ""
