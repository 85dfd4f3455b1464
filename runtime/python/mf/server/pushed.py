"""R5. A stream of values without a waiting handler: values are fetched when there is credit and room for
them, on the thread or loop that does the IO. A subscription to a topic is one.

Threads. `take` is called under the lock of the connection. The source of new values calls `Push.kick`, from
any thread and without that lock.
"""

from mf.core.error import Code, Error, Execution
from mf.core.identity import Identity
from mf.core.service import Encoded
from mf.core.source import PushServant, PushSource
from mf.server.answers import answer_raised, arguments_of, bad_value
from mf.server.stream import BadValueError, PushDriver, StreamCall

_TAKEN_AT_ONCE = 64


class Push(PushDriver):
    """The stream of one call."""

    __slots__ = ("_call", "_finished", "_is_last", "_next", "_source")

    def __init__(self, call: StreamCall) -> None:
        self._call = call
        self._source: PushSource | None = None
        self._next: Encoded | Error | None = None
        self._finished = False
        self._is_last = False

    @property
    def peer(self) -> str:
        return self._call.connection.peer

    @property
    def identity(self) -> Identity:
        return self._call.connection.identity

    def check_subscription(self, agents: str) -> None:
        self._call.connection.check_subscription(self._call.service, agents)

    @property
    def authentication(self) -> bytes:
        hello = self._call.connection.session.peer
        return hello.auth if hello is not None else b""

    def kick(self) -> None:
        """There is something to take."""
        call = self._call
        if call.becomes_due():
            call.connection.turn_soon(call)

    def begin(self, source: PushSource) -> None:
        self._source = source
        self.kick()

    def _shutting_down(self) -> Error | None:
        if not self._is_last:
            return None
        return Error(Code.SHUTTING_DOWN, "this server is shutting down", Execution.UNKNOWN)

    # For the connection

    @property
    def held_bytes(self) -> int:
        return 0 if self._source is None else self._source.held_bytes()

    def fill(self) -> None:
        """Under the lock: takes values as far as there is credit and room."""
        call, source = self._call, self._source
        if source is None or call.stopped is not None or self._finished:
            return
        outgoing = call.outgoing
        call.push()
        while not len(outgoing):  # a remaining value says that there is no credit, or no room
            for _ in range(_TAKEN_AT_ONCE):
                if self._next is None:
                    self._next = source.take() or self._shutting_down()
                value = self._next
                if value is None or isinstance(value, Error):
                    break
                self._next = None
                try:
                    call.add(value)
                except BadValueError as too_large:
                    self._next = source.instead() or bad_value(call, too_large.raised)
                if call.is_full:
                    break
            if not len(outgoing):
                return
            call.push()

    def settle(self) -> None:
        call, source = self._call, self._source
        if self._finished or source is None:
            return
        if call.stopped is not None:
            self._end(source)
            call.connection.drop(call)
            return
        failure = source.failure()
        if failure is None and isinstance(self._next, Error) and not len(call.outgoing):
            failure = self._next  # all earlier values have been sent
        if failure is not None:
            self._end(source)
            call.connection.fail(call, failure)

    def shut_down(self) -> None:
        """Sends what is there, as far as there is credit; then the client has to look for another server."""
        self._is_last = True
        self.kick()

    def _end(self, source: PushSource) -> None:
        self._finished = True
        source.gone()


def run_pushed(call: StreamCall) -> None:
    """Starts a pushed stream, where its request was read."""
    handler = call.handler
    decoded = arguments_of(call)
    if decoded is None:
        return
    push = call.pushed = Push(call)
    call.driven_by(push.kick)
    call.waiting = 1  # always
    if not call.connection.started(call, push.kick):
        return
    handler.counters.on_executed(1)
    servant = handler.offer.servant
    assert isinstance(servant, PushServant)
    try:
        source = servant.subscribe(push, *decoded[0])
    except Error as refused:
        call.pushed = None
        call.connection.fail(call, refused)
        return
    except BaseException as raised:
        call.pushed = None
        answer_raised(call, handler, raised)
        return
    push.begin(source)
