"""The service by which operators steer a server: which peers it lets in, and what it does."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.admin import AdminAsyncClient, AdminClient, Filter, Level, Outcome, Tapped
from mf.admin.tapping import MOST_QUEUED, MOST_QUEUED_BYTES, Tapping
from mf.core.error import Code
from mf.core.gate import ThreadGate
from mf.core.identity import Identity, IdentityKind
from mf.core.server_options import DEFAULTS, ServerOptions
from mf.health import HealthClient, State
from mf.interceptors import Recorder as Calls
from mf.server.access import Access
from mf.server.taps import MOST_TAPS
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import ECHO_SERVICE, EchoAsyncClient, EchoClient, Negative, Number
from tests.python.flow import FlowClient
from tests.python.flowing import Awaiting, Plain
from tests.python.serving import LoopServer, server_of

KINDS = [Recorder, AsyncRecorder]
OWN = f"uid:{os.geteuid()}"
FOREVER = mf.CallOptions(deadline=mf.INFINITE)
of_each_kind = pytest.mark.parametrize("kind", KINDS)
[TWICE] = [each for each in ECHO_SERVICE.methods if each.name == "twice"]


def encoded(x: int) -> bytes:
    """The parameters of twice."""
    return bytes(TWICE.encode_request(x))


def inner(server: Any) -> Any:
    return server.server if isinstance(server, LoopServer) else server


@pytest.fixture
def rules(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        file = tmp_path / "access.conf"
        file.write_text(text)
        return str(file)

    return write


@pytest.fixture
def level() -> Iterator[logging.Logger]:
    log = logging.getLogger("mf")
    before = log.level
    yield log
    log.setLevel(before)


# Which peers it lets in


def refusal(address: str, tls: mf.Tls | None = None) -> Code:
    with mf.Client(address, tls=tls) as client, pytest.raises(mf.Error) as raised:
        AdminClient(client).log_level()
    return raised.value.code


@of_each_kind
def test_without_an_access_file_it_lets_in_processes_of_this_host(
    kind: Callable[[], Any], tmp_path: Path
) -> None:
    for listen in ("tcp://127.0.0.1:0", f"unix:{tmp_path}/s"):
        with server_of(kind(), listen, agent="a") as server, mf.Client(server.address) as client:
            assert AdminClient(client).log_level() in Level


@pytest.mark.parametrize(
    ("peer", "identity", "allowed"),
    [
        ("tcp://127.0.0.1:4711", Identity(), True),
        ("tcp://[::1]:4711", Identity(), True),
        ("memory", Identity(), True),
        ("unix:/s (process 1, user 0)", Identity(IdentityKind.UID, "uid:0"), True),
        ("unix:/s", Identity(IdentityKind.UID, OWN), True),
        ("unix:/s", Identity(IdentityKind.UID, "uid:4711"), False),
        ("unix:/s", Identity(), False),
        ("tcp://10.0.0.7:4711", Identity(), False),
        ("tcp://10.0.0.7:4711", Identity(IdentityKind.CERTIFICATE, "dns:localhost"), False),
        ("tcp://127.0.0.1.evil:1", Identity(), False),
        ("local", Identity(), False),
        ("", Identity(), False),
    ],
)
def test_which_peers_are_of_this_host(peer: str, identity: Identity, allowed: bool) -> None:
    access = Access(DEFAULTS)
    assert access.may_administer(identity, peer, "drain", relayed=False) == (allowed, 0)
    assert access.may_administer(identity, peer, "drain", relayed=True) == (False, 0)


@of_each_kind
def test_an_access_file_decides_alone(
    kind: Callable[[], Any], tmp_path: Path, rules: Callable[[str], str]
) -> None:
    path = f"unix:{tmp_path}/s"
    with server_of(kind(), path, agent="a", access=rules(f"allow {OWN} call *\n")) as server:
        assert refusal(server.address) is Code.PERMISSION_DENIED  # it may call everything, and steer nothing
    access = rules(f"allow {OWN} administer\n")
    with server_of(kind(), path, agent="a", access=access) as server, mf.Client(server.address) as client:
        assert AdminClient(client).log_level() in Level
        with pytest.raises(mf.PermissionDenied):
            EchoClient(client).at("a").twice(1)
    with server_of(kind(), agent="a", access=rules(f"allow {OWN} administer\n")) as server:
        assert refusal(server.address) is Code.PERMISSION_DENIED  # a user is no identity over TCP


def test_an_identity_that_may_administer_need_not_be_of_this_host(rules: Callable[[str], str]) -> None:
    access = Access(ServerOptions(access=rules("allow dns:ops.example administer\n")))
    operator = Identity(IdentityKind.CERTIFICATE, "dns:ops.example", via=("dns:relay.example",))
    other = Identity(IdentityKind.CERTIFICATE, "dns:web.example")
    far = "tcp://10.0.0.7:4711"
    assert access.may_administer(operator, far, "drain", relayed=True) == (True, 1)
    assert access.may_administer(other, far, "drain", relayed=False) == (False, 0)
    assert access.may_administer(other, "tcp://127.0.0.1:1", "drain", relayed=False) == (False, 0)


def test_a_certificate_is_let_in_by_its_name(tmp_path: Path, rules: Callable[[str], str]) -> None:
    authority = Authority(tmp_path)
    access = rules("allow spiffe://example.org/ops administer\n")
    own = authority.issue(ca=authority.file)
    with server_of(Recorder(), "tls://127.0.0.1:0", agent="a", tls=own, access=access) as server:
        assert refusal(
            server.address, authority.issue("URI:spiffe://example.org/web", ca=authority.file)
        ) is (Code.PERMISSION_DENIED)
        operator = authority.issue("URI:spiffe://example.org/ops", ca=authority.file)
        with mf.Client(server.address, tls=operator) as client:
            assert AdminClient(client).log_level() in Level


@of_each_kind
def test_authorize_is_asked_too(kind: Callable[[], Any]) -> None:
    asked: list[tuple[str, str]] = []

    def authorize(_: mf.Identity, service: str, __: str, method: str) -> bool:
        asked.append((service, method))
        return method != "drain"

    with server_of(kind(), agent="a", authorize=authorize) as server:
        assert refusal(server.address) is Code.PERMISSION_DENIED
    assert ("mf.admin.Admin", "drain") in asked


@of_each_kind
def test_what_is_refused_is_logged_with_the_peer(
    kind: Callable[[], Any], rules: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "mf"), server_of(kind(), access=rules(""), agent="a") as server:
        refusal(server.address)
    [said] = [line for line in caplog.messages if line.startswith("call_denied ")]
    assert "service=mf.admin.Admin" in said
    assert "peer=tcp://127.0.0.1:" in said


def test_a_right_that_is_taken_back_ends_the_connection(tmp_path: Path, rules: Callable[[str], str]) -> None:
    access = rules(f"allow {OWN} administer\n")
    with (
        server_of(Recorder(), f"unix:{tmp_path}/s", agent="a", access=access) as server,
        mf.Client(server.address) as client,
    ):
        admin = AdminClient(client)
        assert admin.log_level() in Level
        rules("")
        assert inner(server).reload()

        def is_refused() -> bool:
            try:
                admin.log_level()
            except mf.PermissionDenied:
                return True
            return False

        assert eventually(is_refused)


# Level of the log


@of_each_kind
def test_the_level_of_the_log_is_read_and_set(
    kind: Callable[[], Any], level: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        admin = AdminClient(client)
        for wanted, number in (
            (Level.debug, logging.DEBUG),
            (Level.error, logging.ERROR),
            (Level.off, logging.CRITICAL + 1),
            (Level.info, logging.INFO),
        ):
            admin.set_log_level(wanted)
            assert (level.level, admin.log_level()) == (number, wanted)
        with pytest.raises(mf.InvalidArgument, match="17 is no level of a log"):
            admin.set_log_level(Level(17))
        assert level.level == logging.INFO
    assert any(
        'administered what="log level debug" peer=tcp://127.0.0.1:' in each for each in caplog.messages
    )


# Drain


class Held:
    """A handler that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.answers: list[int] = []
        self._runs = threading.Event()

    def call(self, x: int) -> int:
        self._runs.set()
        self.goes_on.wait(20)
        return x + 1

    async def awaited(self, x: int) -> int:
        return await asyncio.to_thread(self.call, x)

    def called(self, address: str) -> threading.Thread:
        """Its caller, once the handler runs."""

        def ask() -> None:
            with mf.Client(address) as client:
                self.answers.append(EchoClient(client).at("a").flaky(7))

        caller = threading.Thread(target=ask)
        caller.start()
        assert self._runs.wait(20)
        return caller


@of_each_kind
def test_drain_finishes_what_runs_and_ends_the_server(kind: Callable[[], Any]) -> None:
    servant, holds = kind(), Held()
    servant.flaky = holds.call if isinstance(servant, Recorder) else holds.awaited
    with server_of(servant, agent="a") as server:
        caller = holds.called(server.address)
        with mf.Client(server.address) as client, HealthClient(client).watch("", options=FOREVER) as watch:
            assert next(watch).state is State.serving
            AdminClient(client).drain()
            assert [each.reasons for each in watch] == [["the server is stopping"]]
        holds.goes_on.set()
        caller.join()
        assert holds.answers == [8]

        place = ("127.0.0.1", int(server.address.rpartition(":")[2]))

        def is_gone() -> bool:
            with suppress(ConnectionRefusedError), socket.create_connection(place, 20):
                return False
            return True

        assert eventually(is_gone)


# Taps


MARK = 1000


class Tapper:
    """A tap of a server at `agent` a, read by a thread."""

    def __init__(self, address: str, **what: Any) -> None:
        self._address = address
        self._client = mf.Client(address)
        self._stream = AdminClient(self._client).tap(Filter(**what), options=FOREVER)
        self._seen: list[Tapped] = []
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read(self) -> None:
        try:
            for each in self._stream:
                self._seen.append(each)
            self.ended.set()
        except mf.Error:
            pass  # the reader has left

    def begun(self) -> bool:
        """Whether it shows calls, which calls of a mark find out."""
        with mf.Client(self._address) as client:
            echo = EchoClient(client).at("a")
            return eventually(lambda: echo.twice(MARK) == 2 * MARK and bool(self._seen))

    def shown(self, count: int) -> list[Tapped]:
        """Those that are no marks, which are so many."""

        def others() -> list[Tapped]:
            return [each for each in self._seen if each.request != encoded(MARK)]

        assert eventually(lambda: len(others()) >= count)
        return others()

    def __enter__(self) -> "Tapper":
        self._stream.__enter__()
        self._thread.start()
        assert self.begun()
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.__exit__(None, None, None)
        self._client.close()
        self._thread.join()


def functions_of(server: Any) -> list[Any]:
    return [(each.function, each.batch) for each in inner(server)._offers.handlers()]


@of_each_kind
def test_a_tap_shows_calls_with_their_values_and_ends(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2  # bound before
        with Tapper(server.address) as tapper:
            assert echo.twice(21) == 42
            with pytest.raises(Negative):
                echo.twice(-1)
            first, second = tapper.shown(2)
    assert (first.service, first.method, first.agent, first.is_stream) == ("demo.Echo", "twice", "a", False)
    assert first.peer.startswith("tcp://127.0.0.1:")
    assert (Code(first.code), first.error, first.dropped) == (Code.OK, "", 0)
    assert first.request is not None
    assert first.result is not None
    assert TWICE.decode_request(first.request) == (21,)
    assert TWICE.decode_result(first.result) == 42
    assert (Code(second.code), second.result) == (Code.DECLARED, None)
    assert second.error.startswith("Negative")


@of_each_kind
def test_handlers_have_their_own_functions_again_without_a_tap(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        before = functions_of(server)
        with Tapper(server.address):
            assert functions_of(server) != before
        assert eventually(lambda: functions_of(server) == before)
        assert EchoClient(client).at("a").twice(2) == 4


@of_each_kind
def test_a_call_outlives_the_tap_that_saw_it_begin(kind: Callable[[], Any]) -> None:
    servant, holds = kind(), Held()
    servant.flaky = holds.call if isinstance(servant, Recorder) else holds.awaited
    tapping = Tapping(Filter(), ThreadGate())
    with server_of(servant, agent="a") as server:
        inner(server).add_tap(tapping)
        caller = holds.called(server.address)
        inner(server).remove_tap(tapping)
        assert functions_of(server)
        holds.goes_on.set()
        caller.join()
        assert holds.answers == [8]
        assert [each.method for each in tapping.taken()] == ["flaky"]


@pytest.mark.parametrize(
    ("what", "shown"),
    [
        ({}, ["twice", "flaky", "twice"]),
        ({"service": "demo.*", "method": "twice"}, ["twice", "twice"]),
        ({"method": "fl*"}, ["flaky"]),
        ({"service": "demo.Ech"}, []),
        ({"agent": "a"}, ["twice", "flaky", "twice"]),
        ({"agent": "b"}, []),
        ({"peer": "tcp://127.0.0.1:*"}, ["twice", "flaky", "twice"]),
        ({"peer": "dns:*"}, []),
        ({"outcome": Outcome.ok}, ["twice", "flaky"]),
        ({"outcome": Outcome.declared}, ["twice"]),
        ({"outcome": Outcome.failed}, []),
        ({"sample": 0.0}, []),
    ],
)
@of_each_kind
def test_a_tap_filters(kind: Callable[[], Any], what: dict[str, Any], shown: list[str]) -> None:
    tapping = Tapping(Filter(**what), ThreadGate())
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        echo = EchoClient(client).at("a")
        echo.twice(1)
        echo.flaky(2)
        with pytest.raises(Negative):
            echo.twice(-1)
        assert [each.method for each in tapping.taken()] == shown


@of_each_kind
def test_a_share_of_the_calls_is_drawn(kind: Callable[[], Any]) -> None:
    tapping = Tapping(Filter(sample=0.5), ThreadGate())
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        echo = EchoClient(client).at("a")
        for each in range(400):
            echo.twice(each)
    assert 100 < len(tapping.taken()) < 300


@of_each_kind
def test_items_of_a_message_are_shown_one_by_one(kind: Callable[[], Any]) -> None:
    tapping = Tapping(Filter(), ThreadGate())
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        EchoClient(client).at("a").twice_bulk([Number(1), Number(-1), Number(2)])
        taken = tapping.taken()
    codes = [Code(each.code).name for each in taken]
    assert sorted(codes) == ["DECLARED", "OK", "OK"]
    assert [each.request for each in taken if each.code == Code.OK] == [encoded(1), encoded(2)]


@of_each_kind
def test_values_are_left_out_unless_wanted_and_if_they_are_large(kind: Callable[[], Any]) -> None:
    without, with_ = Tapping(Filter(values=False), ThreadGate()), Tapping(Filter(), ThreadGate())
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        for tapping in (without, with_):
            inner(server).add_tap(tapping)
        echo = EchoClient(client).at("a")
        echo.echo(b"little")
        echo.echo(b"x" * (1 << 17))
        assert [(each.request, each.result) for each in without.taken()] == [(None, None)] * 2
        little, large = with_.taken()
        assert b"little" in (little.request or b"")
        assert (large.request, large.result) == (None, None)


def test_what_finds_no_room_is_counted() -> None:
    tapping = Tapping(Filter(values=False), ThreadGate())
    with server_of(Recorder(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        echo = EchoClient(client).at("a")
        echo.twice_bulk([Number(each) for each in range(MOST_QUEUED + 5)])
        first = tapping.taken()
        assert (len(first), {each.dropped for each in first}) == (MOST_QUEUED, {0})
        echo.twice(1)
        assert [each.dropped for each in tapping.taken()] == [5]


def test_large_values_are_bounded_by_their_bytes() -> None:
    """And small ones are taken again once those were read."""
    tapping = Tapping(Filter(), ThreadGate())
    value = b"x" * (60 << 10)
    with server_of(Recorder(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        echo = EchoClient(client).at("a")
        for _ in range(100):
            echo.echo(value)
        first = tapping.taken()
        echo.echo(value)
        [last] = tapping.taken()
    one = len(last.request or b"") + len(last.result or b"")
    assert len(first) == MOST_QUEUED_BYTES // one
    assert last.dropped == 100 - len(first)


@of_each_kind
def test_taps_are_bounded(kind: Callable[[], Any]) -> None:
    taps = [Tapping(Filter(), ThreadGate()) for _ in range(MOST_TAPS)]
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        for each in taps:
            inner(server).add_tap(each)
        stream = AdminClient(client).tap(Filter())
        with pytest.raises(mf.Overloaded, match="has 8 taps already"), stream:
            next(stream)
        EchoClient(client).at("a").twice(1)
        assert [len(each.taken()) for each in taps] == [1] * MOST_TAPS
        inner(server).remove_tap(taps[0])
        with Tapper(server.address):
            pass


@of_each_kind
def test_a_tap_covers_what_is_offered_later(kind: Callable[[], Any]) -> None:
    tapping = Tapping(Filter(), ThreadGate())
    with server_of(kind(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        server.offer(kind(), "b")
        EchoClient(client).at("b").twice(1)
        assert [each.agent for each in tapping.taken()] == ["b"]


@of_each_kind
def test_a_tap_is_around_interceptors_which_go_on(kind: Callable[[], Any]) -> None:
    calls, tapping = Calls(), Tapping(Filter(), ThreadGate())
    with (
        server_of(kind(), agent="a", interceptors=[calls], monitor="127.0.0.1:0") as server,
        mf.Client(server.address) as client,
    ):
        echo = EchoClient(client).at("a")
        echo.twice(1)
        inner(server).add_tap(tapping)
        echo.twice(2)
        inner(server).remove_tap(tapping)
        echo.twice(3)
        assert [call.arguments for call, _ in calls.wait_for(3)] == [(1,), (2,), (3,)]
        assert [each.request for each in tapping.taken()] == [encoded(2)]


@pytest.mark.parametrize("kind", [Plain, Awaiting])
def test_streams_are_shown_when_they_end(kind: Callable[[], Any]) -> None:
    tapping = Tapping(Filter(), ThreadGate())
    with server_of(kind()) as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        flow = FlowClient(client)
        assert list(flow.count(3)) == [1, 2, 3]
        assert flow.total(10, [1, 2, 3]) == 16
        seen: list[Tapped] = []
        assert eventually(lambda: len(seen_of(seen, tapping)) == 2)
    ends = [(each.method, each.is_stream, Code(each.code).name, each.result) for each in seen]
    assert ends == [("count", True, "OK", None), ("total", True, "OK", None)]


def seen_of(seen: list[Tapped], tapping: Tapping) -> list[Tapped]:
    seen += tapping.taken()
    return seen


@of_each_kind
def test_a_tap_ends_when_the_server_stops(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server, Tapper(server.address) as tapper:
        with mf.Client(server.address) as client:
            AdminClient(client).drain()
        assert tapper.ended.wait(20)


def test_its_own_calls_and_those_about_health_are_not_shown() -> None:
    tapping = Tapping(Filter(), ThreadGate())
    with server_of(Recorder(), agent="a") as server, mf.Client(server.address) as client:
        inner(server).add_tap(tapping)
        AdminClient(client).log_level()
        HealthClient(client).check("")
        assert tapping.taken() == []


def test_asyncio_taps_too() -> None:
    async def main(address: str) -> Tapped:
        async with mf.AsyncClient(address) as client, AdminAsyncClient(client).tap(Filter()) as tap:
            echo = EchoAsyncClient(client).at("a")
            calls = asyncio.create_task(_calls(echo))
            found = await anext(tap)
            calls.cancel()
            return found

    async def _calls(echo: EchoAsyncClient) -> None:
        while True:
            await echo.twice(4)

    with server_of(AsyncRecorder(), agent="a") as server:
        assert asyncio.run(main(server.address)).request == encoded(4)
