"""R2. The state table of a client's call: for each state and event, the next state and step
(docs/decisions/0019). The state machine is call.py.
"""

from enum import IntEnum


class CallState(IntEnum):
    START = 0
    RESOLVING = 1
    BINDING = 2
    SENDING = 3
    SENT = 4
    ENDED = 5


class CallEvent(IntEnum):
    BEGIN = 0
    RESOLVED = 1
    """A connection to an instance is available."""
    BOUND = 2
    """The service is bound on it."""
    UNREACHABLE = 3
    """No instance is available, or the service cannot be bound."""
    REFUSED = 4
    """The connection did not accept the request: nothing was sent."""
    WRITTEN = 5
    """The connection has accepted the request."""
    DATA = 6
    CREDIT = 7
    STOPPED = 8
    """The server reads no more of the parameter stream."""
    REPLIED = 9
    LOST = 10
    """The connection has ended."""
    EXPIRED = 11
    CANCELLED = 12


class CallStep(IntEnum):
    NONE = 0
    """Too late: the call has ended."""
    RESOLVE = 1
    BIND = 2
    SEND = 3
    WAIT = 4
    DELIVER = 5
    """Pass what has arrived to the user of the stream."""
    END = 6
    CANCEL = 7
    """End, and tell the server."""
    AGAIN = 8
    """In the table only: RESOLVE, or END."""


_S, _E, _T = CallState, CallEvent, CallStep
_Cell = tuple[CallState, CallStep]

_RESOLVE = (_S.RESOLVING, _T.RESOLVE)
_SEND = (_S.SENDING, _T.SEND)
_DELIVER = (_S.SENT, _T.DELIVER)
_END = (_S.ENDED, _T.END)
_CANCEL = (_S.ENDED, _T.CANCEL)
_AGAIN = (_S.ENDED, _T.AGAIN)
_LATE = (_S.ENDED, _T.NONE)

TABLE: dict[CallState, dict[CallEvent, _Cell]] = {
    _S.START: {_E.BEGIN: _RESOLVE, _E.EXPIRED: _END, _E.CANCELLED: _END},
    _S.RESOLVING: {
        _E.RESOLVED: (_S.BINDING, _T.BIND),
        _E.BOUND: _SEND,
        _E.UNREACHABLE: _END,
        _E.EXPIRED: _END,
        _E.CANCELLED: _END,
    },
    _S.BINDING: {
        _E.BOUND: _SEND,
        _E.UNREACHABLE: _AGAIN,
        _E.LOST: _AGAIN,
        _E.EXPIRED: _END,
        _E.CANCELLED: _END,
    },
    _S.SENDING: {
        _E.REFUSED: _AGAIN,
        _E.WRITTEN: (_S.SENT, _T.WAIT),
        _E.LOST: _AGAIN,
        _E.EXPIRED: _END,
        _E.CANCELLED: _END,
    },
    _S.SENT: {
        _E.DATA: _DELIVER,
        _E.CREDIT: _DELIVER,
        _E.STOPPED: _DELIVER,
        _E.REPLIED: _AGAIN,
        _E.LOST: _AGAIN,
        _E.EXPIRED: _CANCEL,
        _E.CANCELLED: _CANCEL,
    },
    _S.ENDED: {
        event: _LATE for event in _E if event not in (_E.BEGIN, _E.RESOLVED, _E.BOUND, _E.UNREACHABLE)
    },
}

# What every single call uses, as names of this module, since attributes of their classes are slower. Call
# has methods for its transitions, which need no look-up: begin_at, written, take_result.
SENDING = _S.SENDING
SENT = _S.SENT
ENDED = _S.ENDED
END = _T.END
RESOLVE = _T.RESOLVE
