"""R2. The one table of a client's call: its states, what may happen in each, and what is to be done then
(docs/decisions/0019). The machine that follows it is call.py.
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
    """A connection to an instance is at hand."""
    BOUND = 2
    """And the service is bound on it."""
    UNREACHABLE = 3
    """There is none, or the service cannot be bound."""
    REFUSED = 4
    """The connection did not take the request: nothing has left."""
    WRITTEN = 5
    """The connection has taken the request."""
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
    """Give what has come to the user of the stream."""
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

# What every lone call meets, by names of this module: looking members up in their classes takes longer.
SENT = _S.SENT
END = _T.END
RESOLVE = _T.RESOLVE

# Ways through the table that every lone call takes, walked once here.
BOUND_AT_ONCE = TABLE[TABLE[_S.START][_E.BEGIN][0]][_E.BOUND][0]
WRITTEN_AT_ONCE = TABLE[BOUND_AT_ONCE][_E.WRITTEN][0]
REPLIED_AT_ONCE = TABLE[WRITTEN_AT_ONCE][_E.REPLIED][0]
