"""How the processes of each system are started."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from harness.child import BenchError, Child
from topics.chain import Ends, Shape, System

_START_SECONDS = 20.0
_HERE = Path(__file__).parent
_NATS = "nats-server"


def ours(build: Path) -> System:
    """Publisher, relays in a row, subscribers; a controller where there are relays."""
    return _mf(build, "next", "mf")


def decoding(build: Path, threads: int) -> System:
    return _mf(build, f"decode-{threads}", f"mf/decode-{threads}")


def other_ways(build: Path) -> list[System]:
    return [_mf(build, way, f"mf/{way}") for way in ("callback", "shared")]


def raw(build: Path) -> System:
    return _programs("raw", [str(_program(build, "raw"))])


def peers(build: Path) -> list[System]:
    """Those that are installed."""
    found = []
    zeromq, broker, nats = (build / "bench" / f"bench-topics-{name}" for name in ("zeromq", "broker", "nats"))
    if zeromq.exists():
        found.append(_programs("zeromq", [str(zeromq)]))
    if nats.exists() and shutil.which(_NATS):
        found.append(_nats(nats))
    if broker.exists():
        found.append(_programs("broker", [str(broker)], slower=20))
    zenoh = [sys.executable, "-c", "import zenoh"]
    if subprocess.run(zenoh, capture_output=True, check=False).returncode == 0:
        command = [sys.executable, str(_HERE / "peers" / "zenoh_ends.py")]
        found.append(_programs("zenoh/python", command, slower=20))
    names = {each.name for each in found}
    for name in ("zeromq", "nats", "broker", "zenoh/python"):
        if name not in names:
            print(f"bench: {name} is not installed, so it is no peer", file=sys.stderr)
    return found


def _program(build: Path, name: str) -> Path:
    path = build / "bench" / f"bench-topics-{name}"
    if not path.exists():
        raise BenchError(f"{path} is not there; `make bench-topics` builds it")
    return path


def _programs(name: str, command: list[str], slower: int = 1) -> System:
    """`publisher`, `node PORT` and `subscriber SUBSCRIBERS PORT`; the first two tell their ports."""

    def start(stack: ExitStack, shape: Shape) -> Ends:
        publisher = stack.enter_context(Child([*command, "publisher"], shape.cores(0)))
        port = publisher.hear(_START_SECONDS)
        nodes = []
        for place in range(1, shape.nodes + 1):
            nodes.append(stack.enter_context(Child([*command, "node", port], shape.cores(place))))
            port = nodes[-1].hear(_START_SECONDS)
        last = [*command, "subscriber", str(shape.subscribers), port]
        subscriber = stack.enter_context(Child(last, shape.cores(shape.nodes + 1)))
        return Ends(publisher, nodes, subscriber)

    return System(name, start, slower=slower)


def _service(stack: ExitStack, command: list[str], cores: set[int]) -> Child:
    """A program that ends by a signal, and not with its stdin."""
    child = stack.enter_context(Child(command, cores))
    stack.callback(child.signal, signal.SIGTERM)
    return child


def _mf(build: Path, way: str, name: str) -> System:
    program = str(_program(build, "mf"))

    def start(stack: ExitStack, shape: Shape) -> Ends:
        nodes = []
        controller: list[str] = []
        if shape.nodes:
            listening = ["--listen", "tcp://127.0.0.1:0", "--store", "memory:", "--log-level", "warning"]
            every = _service(stack, [str(build / "mf-controller"), *listening], shape.cores(0))
            controller = [every.hear(_START_SECONDS)]
        publisher = stack.enter_context(Child([program, "publisher", *controller], shape.cores(0)))
        at = f"tcp://127.0.0.1:{publisher.hear(_START_SECONDS)}"
        for place in range(1, shape.nodes + 1):
            before = controller[0] if place == 1 else at
            command = [str(build / "mf-relay"), "--listen", "tcp://127.0.0.1:0", "--controller", before]
            nodes.append(_service(stack, [*command, "--log-level", "warning"], shape.cores(place)))
            at = nodes[-1].hear(_START_SECONDS)
        last = [program, "subscriber", way, str(shape.subscribers), at]
        subscriber = stack.enter_context(Child(last, shape.cores(shape.nodes + 1)))
        return Ends(publisher, nodes, subscriber)

    return System(name, start)


def _nats(program: Path) -> System:
    """There is at least one server; of several, each is a leaf of the one before."""

    def start(stack: ExitStack, shape: Shape) -> Ends:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        nodes: list[Child] = []
        ports: list[dict[str, str]] = []
        for place in range(1, max(shape.nodes, 1) + 1):
            log = folder / f"{place}.log"
            config = ["listen: 127.0.0.1:-1", "max_pending: 1GB", f'log_file: "{log}"']
            remote = f'remotes: [{{url: "nats://127.0.0.1:{ports[-1]["leafnode"]}"}}]' if ports else ""
            config.append(f"leafnodes {{listen: 127.0.0.1:-1\n{remote}}}")
            path = folder / f"{place}.conf"
            path.write_text("\n".join(config) + "\n")
            nodes.append(_service(stack, [_NATS, "-c", str(path)], shape.cores(place)))
            ports.append(_ports_in(log))
        first = [str(program), "publisher", ports[0]["client"]]
        publisher = stack.enter_context(Child(first, shape.cores(0)))
        publisher.hear(_START_SECONDS)
        last = [str(program), "subscriber", str(shape.subscribers), ports[-1]["client"]]
        return Ends(publisher, nodes, stack.enter_context(Child(last, shape.cores(len(nodes) + 1))))

    return System("nats", start, fewest_nodes=1)


def _ports_in(log: Path) -> dict[str, str]:
    """Where a nats-server listens for clients and leaves, as it says in its log."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        said = log.read_text() if log.exists() else ""
        if "Server is ready" in said:
            found = re.findall(r"Listening for (\w+) connections on \S+:(\d+)", said)
            return dict(found)
        time.sleep(0.01)
    raise BenchError(f"{_NATS} does not say where it listens: {said}")
