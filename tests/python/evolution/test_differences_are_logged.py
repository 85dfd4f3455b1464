"""A client logs once for each schema of a server that it is not its own: what differs, and what becomes of
calls, as C++ does."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import ClassVar

import pytest

import mf
from mf.core.service import ServiceInfo
from tests.python.conftest import Recorder, eventually
from tests.python.echo import DESCRIPTOR, EchoAsyncClient, EchoClient, service

MORE = DESCRIPTOR + " method more\n  params memcpy\n   x i32\n  results memcpy\n"
"""A server with this has what the client needs."""
APART = DESCRIPTOR + " method echo\n  params memcpy\n   x bool\n  results memcpy\n"
OURS = DESCRIPTOR + " method echo\n  params memcpy\n   x f64\n  results memcpy\n"


@contextmanager
def served(*descriptors: str) -> Iterator[str]:
    """The addresses of servers that have these schemas."""
    with ExitStack() as stack:
        addresses = []
        for descriptor in descriptors:

            class Stranger(Recorder):
                mf_service: ClassVar[ServiceInfo] = service(descriptor)

            server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
            server.offer(Stranger(), "a")
            stack.enter_context(server)
            addresses.append(server.address)
        yield ",".join(addresses)


def call(addresses: str, ours: str, *, awaited: bool) -> None:
    """Calls until every server has had a call, whatever becomes of it."""

    async def main() -> None:
        async with mf.AsyncClient(addresses) as client:
            stub = EchoAsyncClient(client, service(ours)).at("a")
            for _ in range(30):
                with suppress(mf.Error):
                    await stub.twice(1)

    if awaited:
        asyncio.run(main())
        return
    with mf.Client(addresses) as client:
        stub = EchoClient(client, service(ours)).at("a")
        for _ in range(30):
            with suppress(mf.Error):
                stub.twice(1)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [
        (each.levelname, each.getMessage())
        for each in caplog.records
        if each.getMessage().startswith("schema_differs ")
    ]


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_difference_that_calls_do_not_meet_is_an_info(
    caplog: pytest.LogCaptureFixture, *, awaited: bool
) -> None:
    with served(MORE) as address:
        call(address, DESCRIPTOR, awaited=awaited)
        words = 'difference="nothing that calls need" next="calls go on, adapted"'
        said = [("INFO", f"schema_differs service=demo.Echo server={address} {words}")]

        assert eventually(lambda: lines(caplog) == said), lines(caplog)


def test_a_method_that_cannot_be_called_is_a_warning_with_its_field(
    caplog: pytest.LogCaptureFixture, *, awaited: bool
) -> None:
    with served(APART) as address:
        call(address, OURS, awaited=awaited)
        difference = '"Echo.echo: parameter x: f64 here, bool there"'
        words = f'difference={difference} next="other calls go on, adapted"'
        said = [("WARNING", f"schema_differs service=demo.Echo server={address} {words}")]

        assert eventually(lambda: lines(caplog) == said), lines(caplog)


def test_a_server_where_nothing_can_be_called_is_a_warning(
    caplog: pytest.LogCaptureFixture, *, awaited: bool
) -> None:
    with served(DESCRIPTOR + "type a.T struct febird\n x a.T\n") as address:
        call(address, DESCRIPTOR, awaited=awaited)

        assert eventually(lambda: len(lines(caplog)) == 1), lines(caplog)
        ((level, said),) = lines(caplog)
        assert level == "WARNING"
        assert said.startswith(f"schema_differs service=demo.Echo server={address} difference=")
        assert "type `a.T` holds itself by value" in said
        assert said.endswith('next="no call is made there"')


def test_it_is_logged_once_for_each_schema_and_not_for_each_server(
    caplog: pytest.LogCaptureFixture, *, awaited: bool
) -> None:
    other = MORE.replace("method more", "method others")
    with served(MORE, MORE, other, DESCRIPTOR) as addresses:
        call(addresses, DESCRIPTOR, awaited=awaited)

        assert eventually(lambda: len(lines(caplog)) == 2), lines(caplog)
        assert {level for level, _ in lines(caplog)} == {"INFO"}
