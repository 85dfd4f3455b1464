"""In each turn a server checks only the connections that have something to do, not all of them."""

import socket
from typing import Any

import pytest

from mf.server.server_io import ServerIo
from tests.python.conftest import Served, eventually


def test_a_slow_reader_does_not_make_the_server_check_all_connections(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    one = ServerIo._look_at

    def counted(self: ServerIo, connection: Any) -> None:
        looks.append(connection)
        one(self, connection)

    monkeypatch.setattr(ServerIo, "_look_at", counted)
    port = int(served.server.address.rpartition(":")[2])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    assert eventually(lambda: served.server.stats().connections.open >= 20)
    large = bytes(4 << 20)
    assert served.echo.at("b").echo(large) == large  # replies that do not fit into the socket at once
    assert served.echo.at("b").twice(1) == 2
    of_idle = [each for each in looks if not each.is_greeted]
    assert of_idle == []
    for each in idle:
        each.close()
