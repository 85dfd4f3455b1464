"""Payloads of HELLO, BIND and DESCRIBE with their tagged values: any bytes are a violation in words, or are
written and read again as the same. The first byte picks the frame.
"""

from mf.protocol.handshake import Hello, pack_bind, pack_schema, unpack_bind, unpack_schema
from mf.protocol.wire import Violation
from tests.fuzz.in_python.harness import Target

_NONCE = bytes(range(16))
_VIA = b"\x01\x00\x20\x00" + _NONCE * 2
_UNKNOWN = b"\x07\x00\x03\x00abc"


def seeds() -> list[bytes]:
    hellos = [
        Hello(nonce=_NONCE),
        Hello(nonce=_NONCE, auth=b"token", name="a name", max_bindings=1, max_streams=2, stream_window=3),
        Hello(nonce=_NONCE, max_payload=4096, client_id=7, calls_open=5, calls_at_once=6, features=1 << 63),
    ]
    packed = [b"\0" + each.pack() for each in hellos]
    binds = [pack_bind(_NONCE, "a.Service", "agent", methods) for methods in ((), ("get",), ("a", "b", "ä"))]
    return [
        *packed,
        *(each + _UNKNOWN for each in packed),
        *(b"\1" + each + tags for each in binds for tags in (b"", _VIA, _UNKNOWN)),
        *(b"\2" + pack_schema(each) for each in (b"", _NONCE)),
    ]


def refusal(data: bytes) -> str:
    frame, body = data[:1], data[1:]
    try:
        if frame == b"\0":
            hello = Hello.unpack(body)
            assert Hello.unpack(hello.pack()) == hello
        elif frame == b"\1":
            fingerprint, service, agent, methods, _ = unpack_bind(
                body
            )  # what a client packs has come through no relay
            found = (fingerprint, service, agent, methods, False)
            assert unpack_bind(pack_bind(fingerprint, service, agent, tuple(methods))) == found
        else:
            schema = unpack_schema(body, 0, "DESCRIBE")
            assert unpack_schema(pack_schema(schema), 0, "DESCRIBE") == schema
    except Violation as violation:
        assert str(violation)
        return str(violation)
    return ""


TARGET = Target("handshake", seeds, refusal, (_VIA, _UNKNOWN, b"\x89MFIDL\r\n", b"\x07\x80\0\0", b"\xff\xff"))
