"""Servers and clients that are killed or stopped in the middle of a stream: the call ends, once, as one that
may have run, and what is only stopped goes on."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.processes import Processes
from tests.conformance.table import CLIENTS, SERVERS, Cell

STOPPED = 1.0  # seconds; shorter than any limit of a connection
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


CALLS = ("linger red", "endless red", "sum_below red 2000000000")
# One is reached through a relay of its own, the other through a controller that relays.
RELAYED = ("cpp-plain", "python-asyncio")


@pytest.mark.parametrize("step", CALLS)
@pytest.mark.parametrize("server", RELAYED)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_call_is_lost_with_the_relay_that_it_goes_through(
    own: Processes, client: str, server: str, step: str
) -> None:
    cell = begin_through_a_relay(own, client, server, step)

    own.relay(cell).signal(signal.SIGKILL)

    observed = own.end(cell)
    assert {key: observed.get(key) for key in LOST} == LOST, observed


@pytest.mark.parametrize("step", CALLS)
@pytest.mark.parametrize("server", RELAYED)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_call_that_is_lost_behind_a_relay_names_the_relay(
    own: Processes, client: str, server: str, step: str
) -> None:
    cell = begin_through_a_relay(own, client, server, step)

    own.server(cell).signal(signal.SIGKILL)

    observed = own.end(cell)
    assert {key: observed.get(key) for key in LOST} == LOST, observed
    relay = own.address(cell).replace("relay://", "relay tcp://")
    assert f"{relay}: the connection to a server has ended" in observed["message"]


def begin_through_a_relay(own: Processes, client: str, server: str, step: str) -> Cell:
    """The handler of the step runs when this returns."""
    cell = Cell(client, server, "relay")
    own.begin(cell, step)
    watcher = Cell("asyncio" if client == "blocking" else "blocking", server, "relay")
    assert own.observe(watcher, "log red 1") == {"value": ["began"]}
    return cell


STREAMS = {"endless red": "reads", "sum_below red 2000000000": "writes"}


@pytest.mark.parametrize("step", STREAMS, ids=STREAMS.values())
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_handler_of_a_stream_learns_once_that_its_client_was_killed(
    own: Processes, client: str, server: str, step: str
) -> None:
    cell = Cell(client, server, "tcp")
    watcher = Cell("asyncio" if client == "blocking" else "blocking", server, "tcp")
    own.begin(cell, step)
    assert own.observe(watcher, "log red 1") == {"value": ["began"]}

    own.kill_client(cell)

    told = "asked to stop" if step.startswith("endless") else "cut off"
    assert own.observe(watcher, "log red 1") == {"value": [told]}
    assert own.observe(watcher, "twice red 21") == {"value": 42}
    assert own.observe(watcher, "log red 0") == {"value": []}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_goes_on_when_its_stopped_server_does(own: Processes, client: str, server: str) -> None:
    cell = Cell(client, server, "tcp")
    assert own.observe(cell, "twice red 21") == {"value": 42}
    count = 5_000_000 if client == "cpp" else 200_000
    own.begin(cell, f"sum_below red {count}")

    own.server(cell).signal(signal.SIGSTOP)
    time.sleep(STOPPED)
    own.server(cell).signal(signal.SIGCONT)

    assert own.end(cell) == {"value": count * (count - 1) // 2}
