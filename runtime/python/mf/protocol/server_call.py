"""R2. The server's state machine of one call (docs/decisions/0019), from the REQUEST to the end of its
handler. No socket, clock, thread or lock: drivers report events, and it returns the next step.

A state and event that the table does not contain are an error of the driver: ValueError.
"""

from enum import IntEnum


class ServerCallState(IntEnum):
    RECEIVED = 0
    WAITING = 1
    RUNNING = 2
    STOPPING = 3
    ENDED = 4


class ServerCallEvent(IntEnum):
    STARTED = 0
    """A thread, or the loop, starts the handler."""
    QUEUED = 1
    """It will be run later."""
    ANSWERED = 2
    """The handler has ended, or the call was refused before it started."""
    DATA = 3
    END_OF_STREAM = 4
    CREDIT = 5
    CANCELLED = 6
    """The client does not want the reply any more."""
    EXPIRED = 7
    LOST = 8
    """The connection has ended."""


class ServerCallStep(IntEnum):
    NONE = 0
    RUN = 1
    WAIT = 2
    DELIVER = 3
    """Pass what has arrived to the handler's stream."""
    ANSWER = 4
    REFUSE = 5
    """Answer that it was not executed."""
    STOP = 6
    """Ask the handler to stop."""
    DROP = 7
    """No answer is expected."""


_S, _E, _T = ServerCallState, ServerCallEvent, ServerCallStep
_Cell = tuple[ServerCallState, ServerCallStep]


def _stream(cell: _Cell) -> dict[ServerCallEvent, _Cell]:
    return dict.fromkeys((_E.DATA, _E.END_OF_STREAM, _E.CREDIT), cell)


def _end(cell: _Cell) -> dict[ServerCallEvent, _Cell]:
    return dict.fromkeys((_E.CANCELLED, _E.EXPIRED, _E.LOST), cell)


_REFUSED = (_S.ENDED, _T.REFUSE)
_DROPPED = (_S.ENDED, _T.DROP)

TABLE: dict[ServerCallState, dict[ServerCallEvent, _Cell]] = {
    _S.RECEIVED: {
        _E.STARTED: (_S.RUNNING, _T.RUN),
        _E.QUEUED: (_S.WAITING, _T.WAIT),
        _E.ANSWERED: (_S.ENDED, _T.ANSWER),
        **_stream((_S.RECEIVED, _T.DELIVER)),
        _E.CANCELLED: _REFUSED,
        _E.EXPIRED: _REFUSED,
        _E.LOST: _DROPPED,
    },
    _S.WAITING: {
        _E.STARTED: (_S.RUNNING, _T.RUN),
        _E.ANSWERED: (_S.ENDED, _T.ANSWER),
        **_stream((_S.WAITING, _T.DELIVER)),
        _E.CANCELLED: _REFUSED,
        _E.EXPIRED: _REFUSED,
        _E.LOST: _DROPPED,  # for a one-way call see `on`
    },
    _S.RUNNING: {
        _E.ANSWERED: (_S.ENDED, _T.ANSWER),
        **_stream((_S.RUNNING, _T.DELIVER)),
        **_end((_S.STOPPING, _T.STOP)),
    },
    _S.STOPPING: {
        _E.ANSWERED: _DROPPED,
        **_stream((_S.STOPPING, _T.NONE)),
        **_end((_S.STOPPING, _T.NONE)),
    },
    # Code that is about to run or to queue a call may learn only now that it has ended.
    _S.ENDED: dict.fromkeys(_E, (_S.ENDED, _T.NONE)),
}


class ServerCall:
    """The state of one call. The server's own object of a call derives from it."""

    __slots__ = ("oneway", "state")

    def __init__(self, *, oneway: bool = False) -> None:
        self.oneway = oneway
        self.state = ServerCallState.RECEIVED

    def on(self, event: ServerCallEvent) -> ServerCallStep:
        """The step after `event`. Raises ValueError for an event that is invalid now."""
        cell = TABLE[self.state].get(event)
        if cell is None:
            raise ValueError(f"a call that is {self.state.name} cannot be {event.name}")
        if self.oneway and event is ServerCallEvent.LOST and self.state is ServerCallState.WAITING:
            return ServerCallStep.WAIT  # a one-way call is not cancelled, and runs nevertheless
        self.state, step = cell
        return step
