"""The failure that a caller of an asyncio client gets when a connection ends before it could be used."""

import asyncio
import socket
import time
from contextlib import closing

import pytest

import mf
from mf.core.error import Code, Execution
from mf.link.async_link import AsyncLink
from mf.route.async_pool import AsyncPool
from mf.route.pool import Place


def test_a_connection_that_ends_as_soon_as_it_is_made_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected = Place[AsyncLink].connected

    def connect_and_end(place: Place[AsyncLink], link: AsyncLink) -> None:
        connected(place, link)
        link.close()

    async def use() -> mf.Error:
        with closing(socket.create_server(("127.0.0.1", 0))) as server:
            pool = AsyncPool(asyncio.get_running_loop())
            with pytest.raises(mf.Error) as raised:
                await pool.get(f"tcp://127.0.0.1:{server.getsockname()[1]}", time.monotonic() + 60)
            pool.close()
            await pool.end()
        return raised.value

    monkeypatch.setattr(Place, "connected", connect_and_end)
    error = asyncio.run(use())
    assert (error.code, error.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    assert error.message == "the client was closed"  # the reason of the connection
