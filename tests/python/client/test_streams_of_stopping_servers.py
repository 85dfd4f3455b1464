"""Streams of servers that stop before they have accepted them: which are started elsewhere."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

import mf
from mf.protocol.frame import GOAWAY, pack
from tests.python.client.test_stream_peers import U32, Peer, on_request
from tests.python.flow import FlowAsyncClient, FlowClient
from tests.python.flowing import Plain


class Both:
    """A server that stops when a request arrives, and one that serves. A client chooses either."""

    def __init__(self, *, value: bool = False) -> None:
        self.stopping = Peer()
        self.met = 0
        self._value = value
        on_request(self.stopping, self._refuse)
        self.serving = mf.Server()
        self.serving.offer(Plain())
        self.serving.start()
        self.where = f"{self.stopping.where},{self.serving.address}"

    def _refuse(self, request: Any) -> None:
        session = self.stopping.session
        if self._value:
            self.stopping.data(request[1], U32)
        before = b"".join(session.take_output())
        goaway = pack(GOAWAY, b"\0\0", word=mf.Code.SHUTTING_DOWN)  # it has accepted no request
        self.stopping._theirs.sendall(before + goaway)
        self.stopping._listening.close()  # it accepts no more connections
        self.met += 1
        self.stopping._theirs.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.stopping.close()
        self.serving.stop()


@pytest.fixture
def both() -> Iterator[Both]:
    one = Both()
    yield one
    one.close()


def test_a_stream_is_read_from_another_server(both: Both) -> None:
    with mf.Client(both.where) as client:
        for _ in range(200):
            assert list(FlowClient(client).count(3)) == [1, 2, 3]
            if both.met:
                return
    pytest.fail("the server that stops was never asked")


def test_an_awaited_stream_is_read_from_another_server(both: Both) -> None:
    async def read() -> None:
        async with mf.AsyncClient(both.where) as client:
            for _ in range(200):
                assert [value async for value in FlowAsyncClient(client).count(3)] == [1, 2, 3]
                if both.met:
                    return
        pytest.fail("the server that stops was never asked")

    asyncio.run(read())


def test_a_stream_is_not_begun_anew_when_a_value_has_come() -> None:
    both = Both(value=True)
    try:
        ended: list[str] = []
        with mf.Client(both.where) as client:
            while not both.met and len(ended) < 200:
                try:
                    ended.append(str(list(FlowClient(client).count(3))))
                except mf.Error as failed:
                    ended.append(failed.code.name)
        assert ended[-1] == "SHUTTING_DOWN"
        assert set(ended[:-1]) <= {"[1, 2, 3]"}
    finally:
        both.close()


def test_a_stream_is_not_written_anew(both: Both) -> None:
    ended: list[str] = []
    with mf.Client(both.where) as client:
        while not both.met and len(ended) < 200:
            try:
                ended.append(str(FlowClient(client).total(1, [2, 3])))
            except mf.Error as failed:
                ended.append(f"{failed.code.name} {failed.execution.name}")
    assert ended[-1] == "SHUTTING_DOWN NOT_EXECUTED"
    assert set(ended[:-1]) <= {"6"}
