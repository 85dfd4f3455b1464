"""What a failure says: in every situation the clients of both languages end a call by the same code,
execution and words, which name the peer and the cause (docs/calls.md, "What a failure says"). Where no retry
mends anything, the call ends at once and not at its deadline, which these texts would say.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.conformance import troubled
from tests.conformance.processes import PATIENCE, ROOT, Processes, program
from tests.conformance.table import CLIENTS, Cell
from tests.interop.peers import BUILD, Process

CALL = "twice red 1 deadline=700"
GAVE_UP = "gave up at the deadline: "
REFUSED_CONTROLLER = "connect tcp://127.0.0.1:1: connection refused"
NO_CONTROLLER = f"the controller at mf://127.0.0.1:1 does not answer: {REFUSED_CONTROLLER}"
UNKNOWN_AGENT = (
    '{at}: this server does not offer conformance.Shapes for agent "green"; known agents: "blue", "red"'
)
TLS_HINT = "its first bytes look like TLS; an address begins with tls:// at both ends, or at none"


def at(where: Callable[[Processes], str]) -> Callable[[Processes], AbstractContextManager[str]]:
    return lambda processes: nullcontext(where(processes))


def in_trouble(peer: Callable[[], AbstractContextManager[str]]) -> Callable[..., AbstractContextManager[str]]:
    return lambda _: peer()


def peer(serve: troubled.Serve) -> Callable[..., AbstractContextManager[str]]:
    return lambda _: troubled.peer(serve)


@contextmanager
def controller(processes: Processes) -> Iterator[str]:
    """It is a server in C++ that offers a service of its own."""
    command = [str(BUILD / "mf-controller"), "--log-level", "error", "--listen", "tcp://127.0.0.1:0"]
    process = Process(command, processes.environment, Path(os.devnull))
    try:
        yield process.line(PATIENCE).replace("mf://", "tcp://")
    finally:
        process.close()


@contextmanager
def offers_nothing(_: Processes) -> Iterator[str]:
    with mf.Server("tcp://127.0.0.1:0") as server:
        yield server.address


def server(name: str, way: str) -> Callable[[Processes], str]:
    return lambda processes: processes.address(Cell("cpp", name, way))


def other_scheme(name: str, way: str, scheme: str) -> Callable[..., AbstractContextManager[str]]:
    return at(lambda processes: f"{scheme}:" + server(name, way)(processes).partition(":")[2])


# The situation; the call; code and execution; the words, where {at} is the address.
SITUATIONS: dict[str, tuple[Callable[..., AbstractContextManager[str]], str, str, str, str]] = {
    "refused": (
        in_trouble(troubled.nobody),
        CALL,
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + "connect {at}: connection refused",
    ),
    "no such name": (
        at(lambda _: "tcp://no-such-host.invalid:7401"),
        CALL,
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + "connect {at}: cannot resolve the name: Name or service not known",
    ),
    "no controller": (
        at(lambda _: "mf://127.0.0.1:1"),
        "twice red 1 deadline=3000",
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + 'nothing is known of conformance.Shapes for agent "red": ' + NO_CONTROLLER,
    ),
    "connect takes too long": (
        in_trouble(troubled.full),
        CALL,
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + "connect {at}: no answer within the deadline",
    ),
    "silent before HELLO": (
        peer(troubled.silent),
        CALL,
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + "connect {at}: no answer within the deadline",
    ),
    "closed at once": (
        peer(troubled.closes_at_once),
        CALL,
        "UNAVAILABLE",
        "NOT_EXECUTED",
        GAVE_UP + "the connection to {at} has ended",
    ),
    "closed in flight": (
        peer(troubled.session(troubled.closes_in_flight)),
        CALL,
        "CONNECTION_LOST",
        "UNKNOWN",
        "the connection to {at} has ended",
    ),
    "reset in flight": (
        peer(troubled.session(troubled.resets_in_flight)),
        CALL,
        "CONNECTION_LOST",
        "UNKNOWN",
        "the connection to {at} has ended",
    ),
    "no reply": (
        peer(troubled.session(troubled.keeps_quiet)),
        CALL,
        "DEADLINE_EXCEEDED",
        "UNKNOWN",
        "no reply from {at} within the deadline",
    ),
    "http": (
        peer(troubled.speaks_http),
        CALL,
        "PROTOCOL_ERROR",
        "NOT_EXECUTED",
        "protocol error of {at}: the peer speaks no MF: its first bytes look like HTTP",
    ),
    "tcp at a tls port": (
        other_scheme("cpp-plain", "tls", "tcp"),
        CALL,
        "PROTOCOL_ERROR",
        "NOT_EXECUTED",
        "protocol error of {at}: the peer speaks no MF: " + TLS_HINT,
    ),
    "tls at a tcp port": (
        other_scheme("python-plain", "tcp", "tls"),
        CALL,
        "PROTOCOL_ERROR",
        "NOT_EXECUTED",
        "connect {at}: the server speaks no TLS",
    ),
    "unknown service in C++": (
        controller,
        CALL,
        "UNKNOWN_SERVICE",
        "NOT_EXECUTED",
        "{at}: this server does not offer conformance.Shapes; it offers mf.controller.Controller",
    ),
    "unknown service in Python": (
        offers_nothing,
        CALL,
        "UNKNOWN_SERVICE",
        "NOT_EXECUTED",
        "{at}: this server does not offer conformance.Shapes; it offers nothing",
    ),
    "another schema": (
        peer(troubled.other_schema("service conformance.Shapes\n")),
        CALL,
        "SCHEMA_MISMATCH",
        "NOT_EXECUTED",
        "schemas differ from {at}: Shapes: per room string here, per nothing there",
    ),
    "another schema, which is not described": (
        peer(troubled.other_schema("")),
        CALL,
        "SCHEMA_MISMATCH",
        "NOT_EXECUTED",
        "{at}: client and server were generated from different schemas of conformance.Shapes",
    ),
    "unknown agent in C++": (
        at(server("cpp-plain", "tcp")),
        "twice green 1",
        "UNKNOWN_AGENT",
        "NOT_EXECUTED",
        UNKNOWN_AGENT,
    ),
    "unknown agent in Python": (
        at(server("python-plain", "tcp")),
        "twice green 1",
        "UNKNOWN_AGENT",
        "NOT_EXECUTED",
        UNKNOWN_AGENT,
    ),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_failure_says_the_same_in_both_languages(
    processes: Processes, stubs: Path, tmp_path: Path, client: str, situation: str
) -> None:
    place, step, code, execution, words = SITUATIONS[situation]
    with place(processes) as where:
        said = observe(processes, stubs, tmp_path, client, where, step)
    assert said == {"code": code, "execution": execution, "message": words.format(at=where)}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_says_once_in_its_log_that_its_controller_does_not_answer(
    processes: Processes, stubs: Path, tmp_path: Path, client: str
) -> None:
    said = observe(processes, stubs, tmp_path, client, "mf://127.0.0.1:1", "twice red 1 deadline=3000")
    log = (tmp_path / f"{client}.stderr").read_text()
    assert said["message"].endswith(NO_CONTROLLER)
    lines = [line for line in log.splitlines() if REFUSED_CONTROLLER in line]
    assert len(lines) == 1
    assert "mf://127.0.0.1:1" in lines[0]


def test_a_server_that_stops_is_said_to_stop(processes: Processes, stubs: Path, tmp_path: Path) -> None:
    for client in CLIENTS:
        with troubled.peer(troubled.refuses(Code.SHUTTING_DOWN, "the server is stopping")) as where:
            said = observe(processes, stubs, tmp_path, client, where, CALL)
        assert (said["code"], said["execution"]) == ("SHUTTING_DOWN", "NOT_EXECUTED")
        assert "the server is stopping" in said["message"]


def observe(
    processes: Processes, stubs: Path, folder: Path, client: str, where: str, step: str
) -> dict[str, Any]:
    of = CLIENTS[client]
    path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
    environment = processes.environment | {"PYTHONPATH": path}
    command = [*program(of.language, "client"), *of.command, where]
    process = Process(command, environment, folder / f"{client}.stderr")
    try:
        process.tell(step)
        answer: dict[str, Any] = json.loads(process.line(PATIENCE))
        return answer
    finally:
        process.close()
