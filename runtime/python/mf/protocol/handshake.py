"""R2. Payloads of HELLO and BIND (docs/protocol.md, sections 2 and 3)."""

from struct import Struct

from mf.core.error import Code, not_executed
from mf.protocol.frame import CONTROL_LIMIT, DEFAULT_MAX_PAYLOAD, SMALLEST_MAX_PAYLOAD
from mf.protocol.wire import U16, Violation, pack_str16, read_str16

MAGIC = b"\x89MFIDL\r\n"
VERSION = 1
MAX_AUTH = 16 * 1024
MAX_ROUTES = 65_536
MAX_BINDINGS = 4_096

_HELLO = Struct("<8sHHIII16sH")
FINGERPRINT_SIZE = 16


class Hello:
    """What a side says about itself, once, first."""

    __slots__ = ("auth", "client_id", "highest", "lowest", "max_in_flight", "max_payload", "nonce")

    def __init__(
        self,
        *,
        nonce: bytes,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        max_in_flight: int = 0,
        client_id: int = 0,
        auth: bytes = b"",
        lowest: int = VERSION,
        highest: int = VERSION,
    ) -> None:
        self.nonce = nonce
        self.max_payload = max_payload
        self.max_in_flight = max_in_flight
        self.client_id = client_id
        self.auth = auth
        self.lowest = lowest
        self.highest = highest

    def pack(self) -> bytes:
        if len(self.auth) > MAX_AUTH:
            raise ValueError(f"authentication field of {len(self.auth)} bytes: at most {MAX_AUTH}")
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
        return fixed + self.auth

    @classmethod
    def unpack(cls, data: bytes | bytearray) -> "Hello":
        if bytes(data[:8]) != MAGIC:
            raise Violation("HELLO: not the MF magic")
        if len(data) < _HELLO.size:
            raise Violation(f"HELLO: {len(data)} bytes, at least {_HELLO.size} needed")
        _, lowest, highest, max_payload, max_in_flight, client_id, nonce, auth_size = _HELLO.unpack_from(data)
        if auth_size > MAX_AUTH or len(data) != _HELLO.size + auth_size:
            raise Violation(f"HELLO: authentication field of {auth_size} bytes in {len(data)}")
        if max_payload < SMALLEST_MAX_PAYLOAD:
            raise Violation(f"HELLO: max_payload {max_payload} is below {SMALLEST_MAX_PAYLOAD}")
        if lowest > highest:
            raise Violation(f"HELLO: versions {lowest} to {highest}")
        return cls(
            nonce=nonce,
            max_payload=max_payload,
            max_in_flight=max_in_flight,
            client_id=client_id,
            auth=bytes(data[_HELLO.size :]),
            lowest=lowest,
            highest=highest,
        )


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


def unpack_bind(data: bytes | bytearray) -> tuple[bytes, str, str, list[str]]:
    """Fingerprint, service, agent, method names."""
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
    if at != len(data):
        raise Violation(f"BIND: {len(data) - at} bytes too many")
    return bytes(data[:FINGERPRINT_SIZE]), service, agent, methods
