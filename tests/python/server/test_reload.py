"""Files that are read again while servers and clients of both kinds run: no call fails, and peers that they
do not allow any more are gone.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.python.certificates import Authority, expire_after
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoAsyncClient, EchoClient
from tests.python.flow import FlowClient, FlowServant
from tests.python.flowing import Awaiting
from tests.python.serving import AnyServer, server_of
from tests.python.topics.made import PATIENCE, events, indexed

ROOT = Path(__file__).parents[3]
NEVER = 3600.0
Kind = type[Recorder] | type[AsyncRecorder]
KINDS = pytest.mark.parametrize("kind", [Recorder, AsyncRecorder], ids=["blocking", "asyncio"])


class Trust:
    """An authority whose certificates all peers demand of each other, by one list of revoked ones."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.crl = self.authority.revoke()

    def issue(self) -> mf.Tls:
        return replace(self.authority.issue(), ca=self.authority.file, crl=self.crl)

    def renew(self, options: mf.Tls) -> None:
        by = self.authority.issue()
        Path(by.certificate).rename(options.certificate)
        Path(by.key).rename(options.key)


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path)


@contextmanager
def serving(
    kind: Kind, tls: mf.Tls | None, interval: float = NEVER, offered: tuple[Any, ...] = (), **options: Any
) -> Iterator[AnyServer]:
    listen = "tls://127.0.0.1:0" if tls is not None else "tcp://127.0.0.1:0"
    how = {"tls": tls, "drain_timeout": 0.3, "reload_interval": interval, **options}
    server = server_of(kind(), listen, agent="a", **how)
    for each in offered:
        server.offer(each)
    with server:
        yield server


def calling(server: AnyServer, tls: mf.Tls | None, interval: float = NEVER) -> mf.Client:
    return mf.Client(server.address, mf.ClientOptions(tls=tls, reload_interval=interval))


def connections(server: AnyServer) -> int:
    return server.stats().connections.open


@KINDS
def test_a_revoked_client_is_gone_and_no_other(trust: Trust, kind: Kind) -> None:
    lost, kept = trust.issue(), trust.issue()
    with serving(kind, trust.issue()) as server, calling(server, lost) as one, calling(server, kept) as two:
        for client in (one, two):
            assert EchoClient(client).at("a").twice(1) == 2
        trust.authority.revoke(lost)
        assert server.reload()
        assert eventually(lambda: connections(server) == 1)
        assert EchoClient(two).at("a").twice(2) == 4
        assert server.stats().connections.accepted == 2, "the other client has kept its connection"
        with pytest.raises(mf.Error) as refused:
            EchoClient(one).at("a").twice(1, options=mf.CallOptions(deadline=1.0))
        assert refused.value.code is Code.UNAUTHENTICATED


@KINDS
def test_it_happens_without_being_asked_for(trust: Trust, kind: Kind) -> None:
    lost = trust.issue()
    with serving(kind, trust.issue(), interval=0.01) as server, calling(server, lost) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        trust.authority.revoke(lost)
        assert eventually(lambda: connections(server) == 0)


@KINDS
def test_the_calls_of_a_revoked_client_are_cut_if_they_do_not_end(trust: Trust, kind: Kind) -> None:
    lost = trust.issue()
    failed: list[mf.Error] = []

    def call() -> None:
        try:
            EchoClient(client).at("a").sleep(3.0, options=mf.CallOptions(deadline=60))
        except mf.Error as error:
            failed.append(error)

    with serving(kind, trust.issue()) as server, calling(server, lost) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        running = threading.Thread(target=call)
        running.start()
        assert eventually(lambda: server.stats().connections.calls == 1)
        trust.authority.revoke(lost)
        assert server.reload()
        running.join()
        assert [error.execution for error in failed] == [mf.Execution.UNKNOWN]


@KINDS
def test_a_file_that_cannot_be_used_changes_nothing(trust: Trust, kind: Kind) -> None:
    tls = trust.issue()
    with serving(kind, tls) as server:
        Path(trust.authority.issue().key).rename(tls.key)
        assert not server.reload()
        with calling(server, trust.issue()) as client:
            assert EchoClient(client).at("a").twice(1) == 2


def test_a_client_leaves_a_revoked_server(trust: Trust) -> None:
    tls = trust.issue()
    with serving(Recorder, tls) as server, calling(server, trust.issue()) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        assert client.reload()
        assert echo.twice(1) == 2
        assert server.stats().connections.accepted == 1
        trust.authority.revoke(tls)
        assert client.reload()
        assert eventually(lambda: connections(server) == 0)
        with pytest.raises(mf.Error) as refused:
            echo.twice(1, options=mf.CallOptions(deadline=1.0))
        assert refused.value.code is Code.UNAUTHENTICATED


def sockets() -> int:
    """How many sockets this process holds."""
    return sum(descriptor.is_socket() for descriptor in Path("/proc/self/fd").iterdir())


def test_a_client_closes_an_idle_connection_that_it_leaves(trust: Trust) -> None:
    tls = trust.issue()
    with serving(Recorder, tls) as server:
        before = sockets()
        with calling(server, trust.issue()) as client:
            assert EchoClient(client).at("a").twice(1) == 2
            trust.authority.revoke(tls)
            assert client.reload()
            assert eventually(lambda: sockets() == before)


def test_a_client_leaves_a_revoked_server_by_itself(trust: Trust) -> None:
    tls = trust.issue()
    with serving(Recorder, tls) as server, calling(server, trust.issue(), interval=0.01) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        trust.authority.revoke(tls)
        assert eventually(lambda: connections(server) == 0)


def test_a_client_of_asyncio_leaves_a_revoked_server_by_itself(trust: Trust) -> None:
    tls = trust.issue()
    with serving(Recorder, tls) as server:

        async def main() -> None:
            options = mf.ClientOptions(tls=trust.issue(), reload_interval=0.01)
            async with mf.AsyncClient(server.address, options) as client:
                assert await EchoAsyncClient(client).at("a").twice(1) == 2
                trust.authority.revoke(tls)
                async with asyncio.timeout(20):
                    while connections(server):
                        await asyncio.sleep(0.005)

        asyncio.run(main())


@KINDS
def test_a_client_is_gone_when_its_certificate_has_expired(
    trust: Trust, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    clients: list[mf.Client] = []
    with serving(kind, trust.issue(), interval=0.05) as server, calling(server, trust.issue()) as other:

        def use(seconds: int) -> bool:
            issued = trust.authority.issue(seconds=seconds)
            clients.append(calling(server, replace(issued, ca=trust.authority.file)))
            try:
                return EchoClient(clients[-1]).at("a").twice(1) == 2
            except mf.Error:
                return False

        assert EchoClient(other).at("a").twice(1) == 2
        expire_after(use)
        assert eventually(lambda: connections(server) == 1)
        assert "its certificate has expired" in caplog.text

        def is_refused_in_words() -> bool:
            with pytest.raises(mf.Error) as refused:  # the first connection, with a session, ends without
                EchoClient(clients[-1]).at("a").twice(1)
            assert refused.value.execution is mf.Execution.NOT_EXECUTED
            return refused.value.code is Code.UNAUTHENTICATED and "it has expired" in refused.value.message

        assert eventually(is_refused_in_words)
        assert EchoClient(other).at("a").twice(2) == 4
        for client in clients:
            client.close()


# Access files


def write_access(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


@KINDS
def test_a_replaced_access_file_decides_again_about_what_is_bound(tmp_path: Path, kind: Kind) -> None:
    access = tmp_path / "access"
    write_access(access, "allow anyone call *\n")
    with serving(kind, None, access=str(access)) as server, calling(server, None) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        assert server.reload()
        assert echo.twice(1) == 2
        assert server.stats().connections.accepted == 1, "nothing has changed for it"
        write_access(access, "deny anyone call *.twice\nallow anyone call *\n")
        assert server.reload()
        assert eventually(lambda: connections(server) == 0)
        with pytest.raises(mf.Error) as denied:
            echo.twice(1)
        assert denied.value.code is Code.PERMISSION_DENIED
        echo.note(1)
        write_access(access, "allow anyone call *\n")
        assert server.reload()
        assert eventually(lambda: connections(server) == 0)
        assert echo.twice(2) == 4


@KINDS
def test_an_access_file_with_a_mistake_keeps_the_rules_before(
    tmp_path: Path, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    access = tmp_path / "access"
    write_access(access, "allow anyone call *\n")
    with serving(kind, None, access=str(access)) as server, calling(server, None) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        write_access(access, "allow anyone call *\nallow anyone cal *\n")
        assert not server.reload()
        assert EchoClient(client).at("a").twice(1) == 2
        assert connections(server) == 1
    kept = [each.getMessage() for each in caplog.records if "access_file_kept" in each.getMessage()]
    assert len(kept) == 1
    assert f"{access}:2: " in kept[0]
    assert "did you mean 'call'?" in kept[0]


@KINDS
def test_an_access_file_that_others_may_write_keeps_the_rules_before(
    tmp_path: Path, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    access = tmp_path / "access"
    write_access(access, "allow anyone call *\n")
    with serving(kind, None, access=str(access)) as server, calling(server, None) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        access.write_text("deny anyone call *\n")
        access.chmod(0o666)
        assert not server.reload()
        assert EchoClient(client).at("a").twice(1) == 2
    kept = [each.getMessage() for each in caplog.records if "access_file_kept" in each.getMessage()]
    assert len(kept) == 1
    assert "others may write to it (mode 0666): chmod 644 it" in kept[0]


# Signals

PROGRAM = """
import asyncio, sys, mf
from tests.python.conftest import AsyncRecorder, Recorder
access = sys.argv[2]
if sys.argv[1] == "blocking":
    server = mf.Server("tcp://127.0.0.1:0", access=access)
    server.offer(Recorder(), agent="a")
    server.start()
    print(server.address, flush=True)
    server.run()
else:
    async def main():
        server = mf.AsyncServer("tcp://127.0.0.1:0", access=access)
        server.offer(AsyncRecorder(), agent="a")
        await server.start()
        serving = asyncio.create_task(server.serve())
        await asyncio.sleep(0)
        print(server.address, flush=True)
        await serving
    asyncio.run(main())
print("over", flush=True)
"""


def catches_hangups(process: "subprocess.Popen[str]") -> bool:
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGHUP - 1))


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_sighup_reads_files_again_and_never_ends_a_server(kind: str, tmp_path: Path) -> None:
    access = tmp_path / "access"
    write_access(access, "allow anyone call *\n")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/runtime/python"}
    command = [sys.executable, "-c", PROGRAM, kind, str(access)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert eventually(lambda: catches_hangups(process))
        with mf.Client(address) as client:
            echo = EchoClient(client).at("a")
            assert echo.twice(1) == 2
            write_access(access, "deny anyone call *\n")
            for _ in range(3):
                process.send_signal(signal.SIGHUP)

            def is_denied() -> bool:
                try:
                    echo.twice(1)
                except mf.Error as error:
                    return error.code is Code.PERMISSION_DENIED
                return False

            assert eventually(is_denied)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "over\n"
        assert process.wait(20) == 0


ELSEWHERE = """
import signal, sys, threading
import mf
from tests.python.conftest import Recorder

server = mf.Server("tcp://127.0.0.1:0", access=sys.argv[1])
server.offer(Recorder(), agent="a")
server.start()
print(server.address, flush=True)

def signals():
    for word in sys.stdin:  # the main thread is not interrupted by what this thread receives
        signal.pthread_kill(threading.get_ident(), getattr(signal, word.strip()))

threading.Thread(target=signals, daemon=True).start()
server.run()
print("over", flush=True)
"""


def test_a_signal_that_another_thread_receives_is_not_lost(tmp_path: Path) -> None:
    access = tmp_path / "access"
    write_access(access, "allow anyone call *\n")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/runtime/python"}
    command = [sys.executable, "-c", ELSEWHERE, str(access)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with mf.Client(process.stdout.readline().strip()) as client:
                echo = EchoClient(client).at("a")
                assert echo.twice(1) == 2
                assert eventually(lambda: catches_hangups(process))
                write_access(access, "deny anyone call *\n")
                print("SIGHUP", file=process.stdin, flush=True)

                def is_denied() -> bool:
                    with contextlib.suppress(mf.PermissionDenied):
                        return echo.twice(1) == 0
                    return True

                assert eventually(is_denied)
            print("SIGTERM", file=process.stdin, flush=True)
            assert process.stdout.readline() == "over\n"
        finally:
            process.kill()


# Under load


@KINDS
def test_replaced_files_fail_no_call_no_stream_and_no_subscription(trust: Trust, kind: Kind) -> None:
    tls, shown = trust.issue(), trust.issue()
    topics = mf.Topics()
    publisher = events.AdditionsPublisher(topics)
    over = threading.Event()
    failures: list[BaseException] = []
    done = {"calls": 0, "streams": 0, "messages": 0}

    def work(step: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                while not over.is_set():
                    step()
            except BaseException as failed:
                failures.append(failed)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def call() -> None:
        assert EchoClient(client).at("a").twice(7) == 14
        done["calls"] += 1
        time.sleep(0.002)

    def stream() -> None:
        assert list(FlowClient(client).count(2_000)) == list(range(1, 2_001))
        done["streams"] += 1

    def publish() -> None:
        publisher.at("a").publish(indexed(done["messages"]))
        message = subscriber.next(PATIENCE)
        assert (message.value.doc, message.missed) == (done["messages"], 0)
        done["messages"] += 1

    offered = (FlowServant() if kind is Recorder else Awaiting(), topics)
    with (
        serving(kind, tls, interval=0.005, offered=offered) as server,
        calling(server, shown, interval=0.005) as client,
        events.AdditionsSubscriber(client, "*") as subscriber,
    ):
        assert publisher.await_subscribers(1, PATIENCE)
        working = [work(step) for step in (call, stream, publish)]
        try:
            for round_ in range(15):
                trust.renew(tls)
                trust.renew(shown)
                trust.authority.revoke(trust.issue())
                if round_ % 2:
                    assert server.reload()
                    assert client.reload()
                with calling(server, trust.issue()) as another:
                    assert EchoClient(another).at("a").twice(round_) == 2 * round_
        finally:
            over.set()
            for thread in working:
                thread.join()
    assert failures == []
    assert all(done.values()), done
