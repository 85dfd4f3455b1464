"""Two tenants of one server: what one is answered never comes to the other, in whatever way they call; and of
a server that sends replies without a request, none is accepted."""

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from mf.protocol import frame
from mf.protocol.handshake import Hello
from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import LANGUAGES, Peers
from tests.python.certificates import Authority
from tests.python.serving import LoopServer

SCHEMA = """\
module tenants;
service Mine {
  whose(n: u32) -> string;
  count(n: u32) -> stream<string>;
  @cached(entries = 10_000, ttl = 1h) kept(n: u32) -> string;
}
"""
CALLS = 1_000
TENANTS = ("spiffe://example.org/one", "spiffe://example.org/other")
OPTIONS = mf.CallOptions(deadline=120.0)


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("tenants")
    (folder / "tenants.mfidl").write_text(SCHEMA)
    outcome = compile_files([str(folder / "tenants.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(folder))
    yield import_module("tenants")
    sys.path.remove(str(folder))


def answer(n: int) -> str:
    return f"{mf.current_call().identity} {n}"


def blocking(tenants: ModuleType) -> Any:
    class Mine(tenants.MineServant):  # type: ignore[misc, name-defined] # as it was generated
        def whose(self, n: int) -> str:
            return answer(n)

        def count(self, n: int) -> Iterator[str]:
            yield from (answer(n), answer(n))

        def kept(self, n: int) -> str:
            return answer(n)

    return Mine()


def awaiting(tenants: ModuleType) -> Any:
    class Mine(tenants.MineAsyncServant):  # type: ignore[misc, name-defined] # as it was generated
        async def whose(self, n: int) -> str:
            await asyncio.sleep(0)
            return answer(n)

        async def count(self, n: int) -> AsyncIterator[str]:
            for _ in range(2):
                await asyncio.sleep(0)
                yield answer(n)

        async def kept(self, n: int) -> str:
            return answer(n)

    return Mine()


def direct(stub: Any) -> list[str]:
    return [stub.whose(n, options=OPTIONS) for n in range(CALLS)]


def batch(stub: Any) -> list[str]:
    requests = [import_module("tenants").MineWhoseRequest(n) for n in range(CALLS)]
    return [
        each.value() for each in stub.whose_batch(requests, options=mf.BatchOptions(deadline=120.0)).results()
    ]


def streams(stub: Any) -> list[str]:
    texts = []
    for n in range(CALLS):
        first, second = stub.count(n, options=OPTIONS)
        assert first == second
        texts.append(first)
    return texts


def cached(stub: Any) -> list[str]:
    first = [stub.kept(n, options=OPTIONS) for n in range(CALLS)]
    assert first == [stub.kept(n, options=OPTIONS) for n in range(CALLS)]
    return first


def asynchronous(tenants: ModuleType, address: str, tls: mf.Tls) -> list[str]:
    async def run() -> list[str]:
        async with mf.AsyncClient(address, mf.ClientOptions(tls=tls)) as client:
            stub = tenants.MineAsyncClient(client)
            calls: list[Awaitable[str]] = [stub.whose(n, options=OPTIONS) for n in range(CALLS)]
            return list(await asyncio.gather(*calls))

    return asyncio.run(run())


WAYS: dict[str, Callable[[Any], list[str]]] = {
    "direct": direct,
    "batch": batch,
    "stream": streams,
    "cached": cached,
}


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
@pytest.mark.parametrize("way", [*WAYS, "async"])
def test_no_answer_crosses_from_one_tenant_to_the_other(
    tenants: ModuleType, tmp_path: Path, kind: str, way: str
) -> None:
    authority = Authority(tmp_path)
    own = authority.issue(ca=authority.file)
    certificates = {
        name: authority.issue(names=f"DNS:localhost,IP:127.0.0.1,URI:{name}", ca=authority.file)
        for name in TENANTS
    }
    server: Any = (mf.Server if kind == "threads" else LoopServer)("tls://127.0.0.1:0", tls=own)
    server.offer(blocking(tenants) if kind == "threads" else awaiting(tenants))
    server.start()

    def run(name: str) -> list[str]:
        if way == "async":
            return asynchronous(tenants, server.address, certificates[name])
        with mf.Client(server.address, tls=certificates[name]) as client:
            return WAYS[way](tenants.MineClient(client))

    try:
        with ThreadPoolExecutor(len(TENANTS)) as pool:
            answers = dict(zip(TENANTS, pool.map(run, TENANTS), strict=True))
    finally:
        server.stop()
    for name in TENANTS:
        assert answers[name] == [f"{name} {n}" for n in range(CALLS)]


FORGED = 1_000_000
AT_ONCE = FORGED


class Liar:
    """A server that sends replies without a request, and nothing else."""

    def __init__(self, payload: bytes) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._listening.getsockname()[1]}"
        self._payload = payload
        self.offered = 0
        self.enough = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        stream = connected.makefile("rb")
        try:
            hello = Hello(nonce=bytes(range(16)), max_in_flight=1_000)
            connected.sendall(frame.pack(frame.HELLO, hello.pack()))
            while head := stream.read(frame.HEADER_SIZE):
                size, type_, _, _, route, _, id_ = frame.HEADER.unpack(head)
                stream.read((size + 7 & ~7) - frame.HEADER_SIZE)
                if type_ == frame.BIND:
                    connected.sendall(frame.pack(frame.BOUND, route=route))
                elif type_ == frame.REQUEST:
                    self._lie(connected, id_)
        except OSError:
            pass
        finally:
            connected.close()

    def _lie(self, connected: socket.socket, asked: int) -> None:
        """With all numbers but that of the request, the near ones first. A client may end the connection at
        the first of them, which refuses them all."""
        numbers = (asked + 1 + each for each in range(AT_ONCE))
        replies = b"".join(
            frame.pack(frame.REPLY, self._payload, flags=2, route=0, id_=n & 0xFFFFFFFF, count=1)
            for n in numbers
        )
        try:
            connected.sendall(replies)
        finally:
            self.offered += AT_ONCE
            if self.offered >= FORGED:
                self.enough.set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_a_million_forged_replies_none_is_accepted(peers: Peers, language: str) -> None:
    liar = Liar(b"\x04evil")
    client = peers.client(language, liar.address)
    client.tell("who red")
    while not liar.enough.wait(40.0):  # longer than the call's deadline
        assert client.answer()[0]["ok"] is False
        client.tell("who red")
    liar.close()
    client.kill()
    said = client.output()
    assert "evil" not in said
    assert '"ok": true' not in said.lower()
