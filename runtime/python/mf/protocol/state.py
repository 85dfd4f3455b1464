"""R2. The table of session states: which frame may arrive when, and the resulting state.

It does not know which side it serves: the side is a column. Actions of this side (close, goaway) are in the
session.
"""

from enum import IntEnum

from mf.protocol.frame import (
    BIND,
    BOUND,
    CANCEL,
    CREDIT,
    DATA,
    DESCRIBE,
    DESCRIPTOR,
    END,
    GOAWAY,
    HELLO,
    LAST_TYPE,
    PING,
    PONG,
    REFUSE,
    REPLY,
    REQUEST,
    UNBIND,
)


class Role(IntEnum):
    """The role of this session."""

    CLIENT = 0
    SERVER = 1


class State(IntEnum):
    OPENING = 0
    """The peer's HELLO has not arrived."""
    OPEN = 1
    DRAINING = 2
    """GOAWAY was sent or has arrived: no new calls."""
    CLOSED = 3


_NEXT: dict[tuple[Role, State], dict[int, State]] = {
    (Role.CLIENT, State.OPENING): {HELLO: State.OPEN, REFUSE: State.CLOSED},
    (Role.CLIENT, State.OPEN): {
        BOUND: State.OPEN,
        REPLY: State.OPEN,
        DATA: State.OPEN,
        CREDIT: State.OPEN,
        CANCEL: State.OPEN,
        PING: State.OPEN,
        PONG: State.OPEN,
        DESCRIPTOR: State.OPEN,
        GOAWAY: State.DRAINING,
        REFUSE: State.CLOSED,
    },
    (Role.CLIENT, State.DRAINING): {
        BOUND: State.DRAINING,
        REPLY: State.DRAINING,
        DATA: State.DRAINING,
        CREDIT: State.DRAINING,
        CANCEL: State.DRAINING,
        PING: State.DRAINING,
        PONG: State.DRAINING,
        DESCRIPTOR: State.DRAINING,
        GOAWAY: State.DRAINING,
        REFUSE: State.CLOSED,
    },
    (Role.CLIENT, State.CLOSED): {},
    (Role.SERVER, State.OPENING): {HELLO: State.OPEN, REFUSE: State.CLOSED},
    (Role.SERVER, State.OPEN): {
        BIND: State.OPEN,
        UNBIND: State.OPEN,
        REQUEST: State.OPEN,
        DATA: State.OPEN,
        CREDIT: State.OPEN,
        END: State.OPEN,
        CANCEL: State.OPEN,
        PING: State.OPEN,
        PONG: State.OPEN,
        DESCRIBE: State.OPEN,
        REFUSE: State.CLOSED,
    },
    (Role.SERVER, State.DRAINING): {
        BIND: State.DRAINING,
        UNBIND: State.DRAINING,
        REQUEST: State.DRAINING,
        DATA: State.DRAINING,
        CREDIT: State.DRAINING,
        END: State.DRAINING,
        CANCEL: State.DRAINING,
        PING: State.DRAINING,
        PONG: State.DRAINING,
        DESCRIBE: State.DRAINING,
        REFUSE: State.CLOSED,
    },
    (Role.SERVER, State.CLOSED): {},
}

Row = tuple[State | None, ...]
"""By frame type: the state after it, or None if it may not arrive."""

TABLE: dict[tuple[Role, State], Row] = {
    key: tuple(row.get(type_) for type_ in range(LAST_TYPE + 1)) for key, row in _NEXT.items()
}
