"""Instances that accept a connection and never answer, like a stopped process, delay no other call."""

import asyncio
import select
import socket
from collections.abc import Iterator

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.conftest import Served
from tests.python.echo import EchoAsyncClient, EchoClient


@pytest.fixture
def hole() -> Iterator[str]:
    """The kernel accepts connections for it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def full() -> Iterator[str]:
    """Its queue is full: connections are neither accepted nor refused."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            assert select.select([listening], [], [], 20)[0]  # the client has a connection before its server
            yield f"tcp://127.0.0.1:{port}"


@pytest.mark.parametrize("round_", range(5))
def test_it_holds_up_no_call_while_another_instance_answers(
    served: Served, hole: str, full: str, round_: int
) -> None:
    # The deadline is shorter than an attempt may last, and longer than the moments for late instances.
    options = mf.CallOptions(deadline=3.0)
    addresses = [hole, served.server.address, full]
    addresses = addresses[round_ % 3 :] + addresses[: round_ % 3]
    with mf.Client(",".join(addresses)) as client:
        echo = EchoClient(client).at("a")
        assert [echo.twice(x, options=options) for x in range(200)] == [2 * x for x in range(200)]


def test_it_holds_up_no_call_that_is_awaited(served: Served, hole: str) -> None:
    async def run() -> list[int]:
        async with mf.AsyncClient(f"{hole},{served.server.address}") as client:
            echo = EchoAsyncClient(client).at("a")
            options = mf.CallOptions(deadline=3.0)
            return list(await asyncio.gather(*(echo.twice(x, options=options) for x in range(50))))

    assert asyncio.run(run()) == [2 * x for x in range(50)]


def test_alone_it_ends_a_call_at_its_deadline(hole: str) -> None:
    with mf.Client(hole) as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.1))

    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
