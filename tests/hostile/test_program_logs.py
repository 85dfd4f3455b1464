"""The log of the programs: lines that a program reads, and a reader that has stopped."""

import fcntl
import json
import signal
import subprocess
import sys
from typing import Any
from uuid import UUID

import mf
from mf.controller._generated.mf.controller import (
    ControllerClient,
    Credential,
    Key,
    KeyKind,
    Offer,
)
from tests.hostile.attacker import Attacker
from tests.interop.peers import BUILD, Peers, Process
from tools.log_events import LEVELS, events

SMALLEST_PIPE = 4096
SERVED = """
import mf, mf.config
mf.config.set_up_log("info", "json")
server = mf.Server("tcp://127.0.0.1:0")
server.start()
server.stop()
"""


def at(address: str) -> str:
    """The server at the address of a controller."""
    return "tcp://" + address.partition("://")[2]


def end(program: Process) -> None:
    program.signal(signal.SIGTERM)
    assert program.wait() == 0


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_of_a_controller_are_json_with_the_fields_of_the_page(peers: Peers) -> None:
    controller = peers.controller_at("tcp://127.0.0.1:0", "--log-format", "json")
    attacker = Attacker(controller.address)
    for _ in range(20):
        peer = attacker.connect()
        peer.send(b"\xff" * 64)
        assert peer.was_cut()
        peer.close()
    attacker.close()
    end(controller)

    lines = parsed(controller.said())
    listed, _ = events()
    assert {"restored", "started", "connection_broken", "draining", "drained", "stopped"} <= {
        line["event"] for line in lines
    }
    for line in lines:
        assert list(line)[:3] == ["time", "level", "event"], line
        assert line["level"] in LEVELS
        assert set(line) - {"time", "level", "event"} <= listed[line["event"]].fields.keys(), line
        assert all(isinstance(value, str) for value in line.values()), line


def test_the_life_of_a_server_has_the_same_members_in_both_languages(peers: Peers) -> None:
    controller = peers.controller_at("tcp://127.0.0.1:0", "--log-format", "json")
    end(controller)
    of_cpp = {line["event"]: list(line) for line in parsed(controller.said())}
    served = subprocess.run(
        [sys.executable, "-c", SERVED], capture_output=True, text=True, timeout=60, check=True
    )
    of_python = {line["event"]: list(line) for line in parsed(served.stderr)}
    life = ["started", "draining", "drained", "stopped"]
    assert list(of_python) == life
    assert {event: of_cpp[event] for event in life} == of_python


def test_a_controller_whose_log_is_not_read_serves_and_stops() -> None:
    with subprocess.Popen(
        [BUILD / "mf-controller", "--listen", "tcp://127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as controller:
        assert controller.stdout is not None
        assert controller.stderr is not None
        fcntl.fcntl(controller.stderr, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
        address = at(controller.stdout.readline().strip())
        with mf.Client(address) as client:
            stub = ControllerClient(client)
            for number in range(30):  # each of them is a line
                offer = Offer(Key(KeyKind.service, "x" * 200, ""), [address], UUID(int=0), 1, {}, False)
                standing = stub.register(Credential(UUID(int=number), UUID(int=1)), "test", [offer])
                assert next(standing).lease.to_seconds() > 0
                standing.cancel()
            assert stub.status(options=mf.CallOptions(deadline=20.0)).processes <= 30
        controller.terminate()
        assert controller.wait(60) == 0
        said = controller.stderr.read()
    assert " info started " in said
    assert len(said) <= SMALLEST_PIPE
    assert " info stopped" not in said, "the pipe was not full"
