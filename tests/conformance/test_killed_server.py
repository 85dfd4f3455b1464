"""What every client observes of a server that is killed in the middle of a stream: the call ends, once, as
one that may have run."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.processes import PATIENCE, ROOT, program
from tests.conformance.table import CLIENTS, SERVERS
from tests.interop.peers import Process
from tests.interop.peers import Server as ServerProcess

LOST = {"code": "CONNECTION_LOST", "execution": "UNKNOWN"}


class Started:
    """Processes of one test."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
        self._environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self.processes: list[Process] = []

    def server(self, name: str) -> ServerProcess:
        server = SERVERS[name]
        serve = ("serve",) if server.language == "cpp" else ()
        command = [*program(server.language, "server"), *serve, server.kind]
        started = ServerProcess(command, self._environment, self._errors())
        self.processes.append(started)
        return started

    def client(self, name: str, address: str) -> Process:
        client = CLIENTS[name]
        command = [*program(client.language, "client"), *client.command, address]
        started = Process(command, self._environment, self._errors())
        self.processes.append(started)
        return started

    def _errors(self) -> Path:
        return self._folder / f"{len(self.processes)}.stderr"


@pytest.fixture
def started(tmp_path: Path, stubs: Path) -> Iterator[Started]:
    all_ = Started(tmp_path, stubs)
    yield all_
    for process in all_.processes:
        process.close()


@pytest.mark.parametrize("step", ["endless red", "sum_below red 2000000000"])
@pytest.mark.parametrize("server_name", SERVERS)
@pytest.mark.parametrize("client_name", CLIENTS)
def test_a_stream_of_a_killed_server_is_lost(
    started: Started, client_name: str, server_name: str, step: str
) -> None:
    server = started.server(server_name)
    client = started.client(client_name, server.address)
    watcher = started.client("blocking", server.address)
    client.tell(step)
    watcher.tell("log red 1")  # waits for the handler
    assert json.loads(watcher.line(PATIENCE)) == {"value": ["began"]}

    server.signal(signal.SIGKILL)

    observed = json.loads(client.line(PATIENCE))
    assert {key: observed.get(key) for key in LOST} == LOST, observed
    assert server.address.removeprefix("tcp://") in observed["message"]
