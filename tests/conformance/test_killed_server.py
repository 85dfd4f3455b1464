"""What every client observes of a server that is killed in the middle of a stream: the call ends, once, as
one that may have run."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.processes import Processes
from tests.conformance.table import CLIENTS, SERVERS, Cell

LOST = {"code": "CONNECTION_LOST", "execution": "UNKNOWN"}


@pytest.fixture
def own(tmp_path: Path, stubs: Path) -> Iterator[Processes]:
    started = Processes(tmp_path, stubs)
    yield started
    started.close()


@pytest.mark.parametrize("step", ["endless red", "sum_below red 2000000000"])
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_of_a_killed_server_is_lost(own: Processes, client: str, server: str, step: str) -> None:
    cell = Cell(client, server, "tcp")
    own.begin(cell, step)
    watcher = Cell("asyncio" if client == "blocking" else "blocking", server, "tcp")
    assert own.observe(watcher, "log red 1") == {"value": ["began"]}  # it waits for the handler

    own.server(cell).signal(signal.SIGKILL)

    observed = own.end(cell)
    assert {key: observed.get(key) for key in LOST} == LOST, observed
    assert own.address(cell).removeprefix("tcp://") in observed["message"]
