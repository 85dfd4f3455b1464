"""Each field of a header that a type of frame does not have must be zero (docs/protocol.md, section 1): it is
set alone, in a frame that is good otherwise. The twin in C++ is tests/cpp/protocol/reserved_fields_test.cpp.
"""

import pytest

from mf.protocol import frame
from mf.protocol.client_session import ClientSession
from mf.protocol.events import Broken
from mf.protocol.handshake import Hello
from mf.protocol.server_session import ServerSession
from tests.python.protocol.test_session import NONCE, feed

ITEM_FLAGS = frame.ENCODING_MASK | frame.BULK | frame.ONEWAY | frame.METADATA | frame.STREAM
VALUE_FLAGS = frame.ENCODING_MASK | frame.METADATA
BOTH = ("client", "server")

# The side that sends it, the flags that it may have, and its other fields.
TYPES = {
    frame.HELLO: (BOTH, 0, ()),
    frame.REFUSE: (BOTH, 0, ("word",)),
    frame.BIND: (("client",), 0, ("route",)),
    frame.BOUND: (("server",), 0, ("route", "word")),
    frame.REQUEST: (("client",), ITEM_FLAGS, ("route", "id_", "word", "count")),
    frame.REPLY: (("server",), VALUE_FLAGS, ("route", "id_", "word", "count")),
    frame.CANCEL: (BOTH, 0, ("id_",)),
    frame.PING: (BOTH, 0, ()),
    frame.PONG: (BOTH, 0, ()),
    frame.GOAWAY: (("server",), 0, ("id_", "word")),
    frame.DESCRIBE: (("client",), 0, ()),
    frame.DESCRIPTOR: (("server",), 0, ()),
    frame.DATA: (BOTH, VALUE_FLAGS, ("id_", "count")),
    frame.CREDIT: (BOTH, 0, ("id_",)),
    frame.END: (("client",), 0, ("id_",)),
    frame.UNBIND: (("client",), 0, ("route",)),
}
GOOD = {
    frame.REQUEST: {"flags": 1, "id_": 1, "count": 1},
    frame.REPLY: {"flags": 1, "id_": 1, "count": 1},
    frame.DATA: {"flags": 1, "id_": 1},
    frame.CREDIT: {"id_": 1},
    frame.END: {"id_": 1},
}


def reason(type_: int, sender: str, fields: dict[str, int]) -> str:
    """Why a frame without payload ends the session of its receiver, if it does."""
    role = ServerSession if sender == "client" else ClientSession
    session = role(Hello(nonce=NONCE), bytearray(1000))
    if type_ != frame.HELLO:
        feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE).pack()))
    events = feed(session, frame.pack(type_, b"", **fields))
    return events[-1].reason if events and isinstance(events[-1], Broken) else ""


@pytest.mark.parametrize(
    ("type_", "sender"), [(type_, sender) for type_, (senders, *_) in TYPES.items() for sender in senders]
)
def test_fields_that_a_frame_does_not_have_are_to_be_zero(type_: int, sender: str) -> None:
    _, flags, has = TYPES[type_]
    good = GOOD.get(type_, {})
    # What has items or values says its fields; of the others the failure says that some field is wrong.
    told = "flags 0x" if type_ in (frame.REQUEST, frame.REPLY, frame.DATA) else "must be zero"
    sizes = {"flags": 8, "route": 16, "id_": 32, "word": 16, "count": 16}

    assert told not in reason(type_, sender, good)
    for field, bits in sizes.items():
        for bit in range(bits):
            allowed = flags >> bit & 1 if field == "flags" else field in has
            said = reason(type_, sender, {**good, field: good.get(field, 0) | 1 << bit})
            if not allowed:
                assert told in said, (field, bit)
            elif told == "must be zero":
                assert told not in said, (field, bit)
