"""R2. Payloads of HELLO and BIND (docs/protocol.md, sections 2 and 3).

Tagged values follow the fixed fields of both: tag:u16 length:u16 value. Bit 15 of a tag marks values that
must not be skipped.
"""

from collections.abc import Callable
from struct import Struct

from mf.core.client_options import DEFAULT_MAX_PAYLOAD
from mf.core.error import Code, not_executed
from mf.core.identity import Identity, IdentityKind, is_name_of
from mf.core.plain_struct import PlainStruct
from mf.core.secret import Secret
from mf.core.server_options import DEFAULT_MAX_BINDINGS, DEFAULT_MAX_STREAMS, DEFAULT_STREAM_WINDOW
from mf.core.service import Payload
from mf.protocol.frame import CONTROL_LIMIT, SMALLEST_MAX_PAYLOAD
from mf.protocol.wire import U16, U32, U64, Violation, pack_str16, read_str16

MAGIC = b"\x89MFIDL\r\n"
VERSION = 1
MAX_AUTH = 16 * 1024
MAX_ROUTES = 65_536
MAX_NAME = 255
MAX_CREDENTIAL = 2048
MOST_RELAYS = 8
MAX_PASSED = 8192
MAX_WINDOW = (1 << 31) - 1

_HELLO = Struct("<8sHHIII16sH")
FINGERPRINT_SIZE = 16
NONCE_SIZE = 16

_CRITICAL = 0x8000
_MOST_TAGS = 64
_TAG_HEAD = Struct("<HH")
_LOAD = Struct("<II")
_MAX_BINDINGS, _MAX_STREAMS, _STREAM_WINDOW, _NAME, _LOAD_HINT, _FEATURES, _CREDENTIAL, _PASSED = range(1, 9)
_VIA = 1  # of a BIND
_SCHEMA = 1  # of a DESCRIBE and a DESCRIPTOR
_KINDS = (IdentityKind.NONE, IdentityKind.UID, IdentityKind.CERTIFICATE, IdentityKind.TOKEN)


def check_max_payload(size: int) -> None:
    """Raises ValueError for what a peer would not accept in a HELLO."""
    if not SMALLEST_MAX_PAYLOAD <= size < 1 << 32:
        most = (1 << 32) - 1
        raise ValueError(f"max_payload is {size}: give bytes from {SMALLEST_MAX_PAYLOAD} to {most}")


def check_authentication(shown: bytes) -> None:
    """Raises ValueError for more than a HELLO takes."""
    if len(shown) > MAX_AUTH:
        raise ValueError(f"authentication field of {len(shown)} bytes: at most {MAX_AUTH}")


class Hello(PlainStruct):
    """What a side says about itself, once, first. `calls_open` and `calls_at_once` are the load of a server
    at the time of this HELLO; 0 and 0 are unknown. `credential`: a token, of a client that has verified the
    server. `passed`: of a relay, the client that it makes this connection for; its `via` are the relays
    before this one.
    """

    __slots__ = __match_args__ = (
        "nonce",
        "max_payload",
        "max_in_flight",
        "client_id",
        "auth",
        "lowest",
        "highest",
        "max_bindings",
        "max_streams",
        "stream_window",
        "name",
        "calls_open",
        "calls_at_once",
        "features",
        "credential",
        "passed",
    )

    def __init__(
        self,
        nonce: bytes,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        max_in_flight: int = 0,
        client_id: int = 0,
        auth: bytes = b"",
        lowest: int = VERSION,
        highest: int = VERSION,
        max_bindings: int = DEFAULT_MAX_BINDINGS,
        max_streams: int = DEFAULT_MAX_STREAMS,
        stream_window: int = DEFAULT_STREAM_WINDOW,
        name: str = "",
        calls_open: int = 0,
        calls_at_once: int = 0,
        features: int = 0,
        credential: Secret | None = None,
        passed: Identity | None = None,
    ) -> None:
        self.nonce = nonce
        self.max_payload = max_payload
        self.max_in_flight = max_in_flight
        self.client_id = client_id
        self.auth = auth
        self.lowest = lowest
        self.highest = highest
        self.max_bindings = max_bindings
        self.max_streams = max_streams
        self.stream_window = stream_window
        self.name = name
        self.calls_open = calls_open
        self.calls_at_once = calls_at_once
        self.features = features
        self.credential = credential
        self.passed = passed

    def pack(self) -> bytes:
        check_authentication(self.auth)
        fixed = _HELLO.pack(
            MAGIC,
            self.lowest,
            self.highest,
            self.max_payload,
            self.max_in_flight,
            self.client_id,
            self.nonce,
            len(self.auth),
        )
        return fixed + self.auth + self._pack_tags()

    def _pack_tags(self) -> bytes:
        """Default values are omitted."""
        name = self.name.encode()
        if len(name) > MAX_NAME:
            raise ValueError(f"a name of {len(name)} bytes: at most {MAX_NAME}")
        values: dict[int, bytes] = {}
        if self.max_bindings != DEFAULT_MAX_BINDINGS:
            values[_MAX_BINDINGS] = U32.pack(self.max_bindings)
        if self.max_streams != DEFAULT_MAX_STREAMS:
            values[_MAX_STREAMS] = U32.pack(self.max_streams)
        if self.stream_window != DEFAULT_STREAM_WINDOW:
            values[_STREAM_WINDOW] = U32.pack(self.stream_window)
        if name:
            values[_NAME] = name
        if self.calls_open or self.calls_at_once:
            values[_LOAD_HINT] = _LOAD.pack(self.calls_open, self.calls_at_once)
        if self.features:
            values[_FEATURES] = U64.pack(self.features)
        if self.credential:
            values[_CREDENTIAL] = self.credential.reveal().encode()
        if self.passed is not None:
            values[_PASSED] = _pack_passed(self.passed)
        return b"".join(_TAG_HEAD.pack(tag, len(value)) + value for tag, value in values.items())

    @classmethod
    def unpack(cls, data: Payload) -> "Hello":
        if bytes(data[:8]) != MAGIC:
            raise Violation("HELLO: not the MF magic")
        if len(data) < _HELLO.size:
            raise Violation(f"HELLO: {len(data)} bytes, at least {_HELLO.size} needed")
        _, lowest, highest, max_payload, max_in_flight, client_id, nonce, auth_size = _HELLO.unpack_from(data)
        tags = _HELLO.size + auth_size
        if auth_size > MAX_AUTH or len(data) < tags:
            raise Violation(f"HELLO: authentication field of {auth_size} bytes in {len(data)}")
        if max_payload < SMALLEST_MAX_PAYLOAD:
            raise Violation(f"HELLO: max_payload {max_payload} is below {SMALLEST_MAX_PAYLOAD}")
        if lowest > highest:
            raise Violation(f"HELLO: versions {lowest} to {highest}")
        hello = cls(
            nonce=nonce,
            max_payload=max_payload,
            max_in_flight=max_in_flight,
            client_id=client_id,
            auth=bytes(data[_HELLO.size : tags]),
            lowest=lowest,
            highest=highest,
        )
        _unpack_tags(data, tags, "HELLO", hello._take_tag)
        return hello

    def _take_tag(self, number: int, value: bytes) -> bool:
        """False: the number is not known here."""
        if number == _MAX_BINDINGS:
            self.max_bindings = _read_number(U32, number, value)
        elif number == _MAX_STREAMS:
            self.max_streams = _read_number(U32, number, value)
        elif number == _STREAM_WINDOW:
            self.stream_window = _read_number(U32, number, value)
            if self.stream_window > MAX_WINDOW:
                raise Violation(f"HELLO: stream_window {self.stream_window} is above {MAX_WINDOW}")
        elif number == _NAME:
            if len(value) > MAX_NAME:
                raise Violation(f"HELLO: a name of {len(value)} bytes, at most {MAX_NAME}")
            try:
                self.name = value.decode()
            except UnicodeDecodeError:
                raise Violation("HELLO: the name is not UTF-8") from None
        elif number == _LOAD_HINT:
            if len(value) != _LOAD.size:
                raise Violation(f"HELLO: tag {number} has {len(value)} bytes instead of {_LOAD.size}")
            self.calls_open, self.calls_at_once = _LOAD.unpack(value)
        elif number == _FEATURES:
            self.features = _read_number(U64, number, value)
        else:
            return self._take_proof(number, value)
        return True

    def _take_proof(self, number: int, value: bytes) -> bool:
        """False: the number is not known here."""
        if number == _PASSED:
            self.passed = _unpack_passed(value)
            return True
        if number != _CREDENTIAL:
            return False
        if len(value) > MAX_CREDENTIAL or not value.isascii():
            raise Violation(f"HELLO: a credential that is not ASCII, or has more than {MAX_CREDENTIAL} bytes")
        self.credential = Secret(value.decode("ascii"))
        return True


def _pack_passed(client: Identity) -> bytes:
    texts = (client.name, client.issuer, *client.via)
    return bytes([_KINDS.index(client.kind)]) + b"".join(map(pack_str16, texts))


def _unpack_passed(value: bytes) -> Identity:
    """kind:u8 name:str16 issuer:str16, then the relays, each a str16, to the end."""
    what = "HELLO: the identity that a relay passes on"
    if not value or len(value) > MAX_PASSED or value[0] >= len(_KINDS):
        raise Violation(f"{what} has no kind that there is, or more than {MAX_PASSED} bytes")
    kind = _KINDS[value[0]]
    name, at = read_str16(value, 1, what)
    issuer, at = read_str16(value, at, what)
    via = []
    while at < len(value):
        relay, at = read_str16(value, at, what)
        if not any(is_name_of(each, relay) for each in _KINDS[1:]):
            raise Violation(f"{what} names a relay by what is no name")
        via.append(relay)
    if not is_name_of(kind, name) or (issuer and kind is IdentityKind.NONE):
        raise Violation(f"{what} has a name that its kind does not have")
    if len(via) >= MOST_RELAYS:
        raise Violation(f"{what} has come through {len(via)} relays before, at most {MOST_RELAYS - 1} may be")
    return Identity(kind, name, issuer, tuple(via))


def _unpack_tags(data: Payload, at: int, frame: str, take: Callable[[int, bytes], bool]) -> None:
    """Reads the tagged values from `at` to the end; `take` returns False for an unknown number."""
    seen: set[int] = set()
    while at < len(data):
        if at + _TAG_HEAD.size > len(data):
            raise Violation(f"{frame}: a tag is cut off")
        tag, length = _TAG_HEAD.unpack_from(data, at)
        at += _TAG_HEAD.size
        number = tag & ~_CRITICAL
        if at + length > len(data):
            raise Violation(f"{frame}: the value of tag {number} is cut off")
        if number in seen:
            raise Violation(f"{frame}: tag {number} comes twice")
        if len(seen) == _MOST_TAGS:
            raise Violation(f"{frame}: more than {_MOST_TAGS} tags")
        seen.add(number)
        known = take(number, bytes(data[at : at + length]))
        if not known and tag & _CRITICAL:
            raise Violation(f"{frame}: tag {number} is critical, and this side does not know it")
        at += length


def pack_schema(fingerprint: bytes) -> bytes:
    """The tagged value of DESCRIBE and DESCRIPTOR; nothing for an empty fingerprint."""
    return _TAG_HEAD.pack(_SCHEMA, len(fingerprint)) + fingerprint if fingerprint else b""


def unpack_schema(data: Payload, at: int, frame: str) -> bytes:
    """The fingerprint among the tagged values from `at` on; empty: there is none."""
    found = b""

    def take(number: int, value: bytes) -> bool:
        nonlocal found
        if number != _SCHEMA:
            return False
        if len(value) != FINGERPRINT_SIZE:
            raise Violation(f"{frame}: tag {number} has {len(value)} bytes, which is no fingerprint")
        found = value
        return True

    _unpack_tags(data, at, frame, take)
    return found


def _read_number(form: Struct, number: int, value: bytes) -> int:
    if len(value) != form.size:
        raise Violation(f"HELLO: tag {number} has {len(value)} bytes instead of {form.size}")
    return int(form.unpack(value)[0])


def pack_bind(fingerprint: bytes, service: str, agent: str, methods: tuple[str, ...]) -> bytes:
    """Raises Error(MESSAGE_TOO_LARGE), NOT_EXECUTED, for more than fits."""
    names = (service, agent, *methods)
    size = FINGERPRINT_SIZE + 2 + sum(2 + len(name.encode()) for name in names)
    if size > CONTROL_LIMIT:
        text = (
            f"the names of service, agent and methods take {size:,} bytes, at most {CONTROL_LIMIT:,} may go"
        )
        raise not_executed(Code.MESSAGE_TOO_LARGE, text)
    return b"".join(
        (
            fingerprint,
            pack_str16(service),
            pack_str16(agent),
            U16.pack(len(methods)),
            *map(pack_str16, methods),
        )
    )


def unpack_bind(data: Payload) -> tuple[bytes, str, str, list[str], bool]:
    """Fingerprint, service, agent, method names, and whether it has come through a relay."""
    relayed = False

    def take(number: int, value: bytes) -> bool:
        nonlocal relayed
        if number != _VIA:
            return False
        if len(value) % NONCE_SIZE:
            raise Violation(f"BIND: tag {number} has {len(value)} bytes, which is no number of nonces")
        relayed = bool(value)
        return True

    if len(data) < FINGERPRINT_SIZE:
        raise Violation("BIND: fingerprint cut off")
    service, at = read_str16(data, FINGERPRINT_SIZE, "BIND service")
    agent, at = read_str16(data, at, "BIND agent")
    if at + 2 > len(data):
        raise Violation("BIND: number of methods cut off")
    (count,) = U16.unpack_from(data, at)
    at += 2
    if count * 2 > len(data) - at:
        raise Violation(f"BIND: {count} methods announced in {len(data) - at} bytes")
    methods = []
    for _ in range(count):
        name, at = read_str16(data, at, "BIND method")
        methods.append(name)
    _unpack_tags(data, at, "BIND", take)
    return bytes(data[:FINGERPRINT_SIZE]), service, agent, methods, relayed
