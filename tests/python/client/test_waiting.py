"""How long a call waits for a server that was never offered, with a test clock."""

import errno
import socket
import threading

import pytest

import mf
from mf.client import scatter
from mf.client.scatter import AgentsTarget
from mf.core.immediate import immediate
from mf.core.service import ServiceInfo
from mf.protocol.events import BindRequested
from mf.protocol.handshake import Hello
from mf.protocol.server_session import ServerSession
from mf.route import finder, routing
from mf.route.blocking_pool import BlockingPool
from mf.route.blocking_routing import BlockingRouting
from mf.route.resolver import Instance, Resolver, StaticResolver, View
from mf.transport.inproc import pair
from mf.transport.stream import Stream
from tests.python.conftest import Served
from tests.python.echo import ECHO_SERVICE, TWICE, EchoClient


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Story(Resolver):
    """The known instances at each second. Waiting moves the clock to the next change."""

    def __init__(self, clock: Clock, views: dict[float, View]) -> None:
        self._clock = clock
        self._views = views

    def view(self, service: str) -> View:  # noqa: ARG002 - of one service
        return self._views[max(at for at in self._views if at <= self._clock.now)]

    def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        changes = [at for at in self._views if at > self._clock.now]
        self._clock.now = min([*changes, self._clock.now + timeout])
        return self.view(service)

    def close(self) -> None:
        pass


def test_a_wait_for_a_server_counts_from_the_controllers_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    for module in (finder, routing):
        monkeypatch.setattr(module, "monotonic", clock)
    nobody = View({}, reached=False, trouble="the controller is away")
    story = Story(clock, {1000.0: nobody, 1004.0: View({})})
    router = BlockingRouting(story, BlockingPool())
    service = ServiceInfo(name="a.S", agent=None, descriptor="", fingerprint=bytes(16), methods=())

    with pytest.raises(mf.Error, match=r"no server offers a\.S"):
        immediate(router.find(service, None, TWICE, 1030.0))

    assert clock.now == pytest.approx(1009.0)


def test_agents_that_nobody_has_heard_of_are_waited_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    for module in (finder, routing, scatter):
        monkeypatch.setattr(module, "monotonic", clock)
    story = Story(clock, {1000.0: View({})})
    router = BlockingRouting(story, BlockingPool())
    agents = AgentsTarget(router, ECHO_SERVICE, [f"unknown {number}" for number in range(5)])

    scattered = agents.call(TWICE, mf.CallOptions(deadline=30), 1)

    assert clock.now == pytest.approx(1005.0)
    assert len(scattered.failed) == 5


def test_an_unknown_agent_does_not_hold_up_a_known_one(served: Served) -> None:
    at = Instance(served.server.address)
    resolver = StaticResolver({"a": [at.address], "b": [at.address]})
    with mf.Client(resolver, mf.ClientOptions(wait_for_server=10.0)) as client:
        started = EchoClient(client).on(["unknown", "b", "a"])
        scattered = started.twice(4, options=mf.CallOptions(deadline=0.5))

    assert scattered.ok == {"b": 8, "a": 8}
    assert list(scattered.failed) == ["unknown"]


def test_bindings_of_several_agents_are_asked_for_together() -> None:
    """The server answers no BIND before it has all of them (except the first, which shows its limits)."""
    agents = ["w", "x", "y", "z"]

    def serve(theirs: socket.socket) -> None:
        session = ServerSession(Hello(nonce=bytes(16), max_in_flight=100), bytearray(65536))
        asked: list[BindRequested] = []
        while count := theirs.recv_into(session.window()):
            for event in session.received(count):
                if isinstance(event, BindRequested):
                    asked.append(event)
                elif isinstance(event, tuple):
                    session.reply(event[1], event[2], 0, 1, 1, event[6])
            if len(asked) in (1, len(agents)):
                for bind in asked:
                    if bind.first not in session._ranges:
                        session.accept(bind, ["x"] * len(bind.methods))
            theirs.sendall(b"".join(session.take_output()))
        theirs.close()

    stream, theirs = pair()
    thread = threading.Thread(target=serve, args=(theirs,), daemon=True)
    thread.start()
    with mf.client.Client(
        "tcp://127.0.0.1:9",
        mf.ClientOptions(connect=lambda address, timeout: stream),  # noqa: ARG005
    ) as client:
        echo = EchoClient(client)
        first = echo.at("w").twice(3, options=mf.CallOptions(deadline=5))
        scattered = echo.on(agents).twice(4, options=mf.CallOptions(deadline=5))
    thread.join()

    assert first == 3
    assert scattered.ok == dict.fromkeys(agents, 4)  # this one answers with the request's bytes


def test_who_gives_up_says_what_its_last_whole_attempt_met() -> None:
    """Attempts that the deadline cuts short would only report a timeout."""
    timeouts: list[float] = []

    def connect(address: str, timeout: float) -> Stream:  # noqa: ARG001 - there is one
        timeouts.append(timeout)
        if timeout < 0.05:
            raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    with (
        mf.client.Client("tcp://127.0.0.1:9", mf.ClientOptions(connect=connect)) as client,
        pytest.raises(mf.Error) as raised,
    ):
        EchoClient(client).at("a").twice(3, options=mf.CallOptions(deadline=0.5))

    assert timeouts[0] > 0.4
    assert raised.value.message == "gave up at the deadline: connect tcp://127.0.0.1:9: connection refused"
