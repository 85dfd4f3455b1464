"""Servers at paths, and at several addresses: all kinds of calls, over a unix socket."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient, EchoServant
from tests.python.flow import AnyFlowServant, FlowServant
from tests.python.flowing import Awaiting, Flow
from tests.python.serving import AnyServer, server_of


class WhoCalls(Recorder):
    """Records the name of its caller's connection."""

    peer = ""

    def twice(self, x: int) -> int:
        self.peer = mf.current_call().peer
        return super().twice(x)


def serving(listen: str, servant: EchoServant | AnyFlowServant) -> AnyServer:
    agent = "a" if isinstance(servant, EchoServant) else None
    return server_of(servant, listen, agent=agent, drain_timeout=2.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s"


@pytest.fixture(params=[False, True], ids=["blocking", "asyncio"])
def flow(request: pytest.FixtureRequest, path: Path) -> Iterator[Flow]:
    with serving(f"unix:{path}", Awaiting() if request.param else FlowServant()) as server:
        one = Flow(FlowServant(), awaits=request.param, where=server.address)
        yield one
        one.close()


def test_a_server_listens_at_all_its_addresses(path: Path) -> None:
    servant = WhoCalls()
    server = serving(f"tcp://127.0.0.1:0,unix:{path}", servant)
    server.start()

    assert server.addresses == [server.address, f"unix:{path}"]
    assert server.address.startswith("tcp://127.0.0.1:")
    peers = []
    for address in server.addresses:
        with mf.Client(address) as client:
            assert EchoClient(client).at("a").twice(21) == 42
        peers.append(servant.peer)
    assert peers[0].startswith("tcp://127.0.0.1:")
    assert peers[1].startswith(f"unix:{path} (process ")
    server.stop()
    assert not path.exists()


def test_an_address_that_cannot_be_had_gives_the_others_back(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = mf.Server(f"unix:{path},tcp://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(OSError, match="is taken by another program"):
            server.start()

    assert server.addresses == []
    assert not path.exists()


def test_only_addresses_of_servers_are_listened_at() -> None:
    with pytest.raises(ValueError, match=r"a server listens at tcp://.* or memory:name, not at mf://"):
        mf.Server("tcp://127.0.0.1:0,mf://127.0.0.1:1")
    with pytest.raises(
        ValueError, match=r"those of servers \(tcp, tls, unix, memory\), or of controllers \(mf, mf\+tls\)"
    ):
        mf.Client("unix:/s,ftp://127.0.0.1:1")


def test_all_kinds_of_calls(path: Path) -> None:
    servant = Recorder()
    with serving(f"unix:{path}", servant) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        echo.note(7)
        assert echo.twice(3) == 6
        assert echo.echo(b"x" * 3_000_000) == b"x" * 3_000_000
        assert EchoClient(client).on(["a", "none"]).twice(1).ok == {"a": 2}
        assert servant.notes == [7]


def test_streams(flow: Flow) -> None:
    assert flow.count(100_000) == list(range(1, 100_001))
    assert flow.total(list(range(1, 5000))) == 10 + sum(range(5000))
    assert flow.shout(["a", "bc", "é" * 50_000]) == ["A", "BC", "É" * 50_000]


def test_addresses_of_both_kinds_may_be_mixed_and_one_that_is_gone_hurts_nobody(path: Path) -> None:
    where = f"tcp://127.0.0.1:1,unix:{path}.gone,unix:{path}"
    with serving(f"unix:{path}", Recorder()), mf.Client(where) as client:
        echo = EchoClient(client).at("a")
        assert [echo.twice(x) for x in range(20)] == list(range(0, 40, 2))


def test_nobody_at_the_path_is_unavailable_and_not_executed(path: Path) -> None:
    with mf.Client(f"unix:{path}") as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.1))

    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    assert raised.value.message.endswith(f"connect unix:{path}: no such file or directory")
