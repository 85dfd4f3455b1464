"""R2. The small parts of control payloads and failure records: str16, failure records.

Reading is strict: any deviation from docs/protocol.md raises Violation.
"""

from struct import Struct

from mf.core.error import Code, Error, Execution, cut
from mf.core.service import Payload

U16 = Struct("<H")
U32 = Struct("<I")
U64 = Struct("<Q")


class Violation(Exception):  # noqa: N818 - the peer did it, not this side
    """The peer violated the protocol. Session.received turns it into REFUSE and a closed session."""

    code = Code.PROTOCOL_ERROR


class Unauthenticated(Violation):
    """The peer's HELLO is well-formed, and the server does not admit the peer."""

    code = Code.UNAUTHENTICATED


def pack_str16(text: str) -> bytes:
    """A name: complete or an error."""
    data = text.encode()
    if len(data) > 0xFFFF:
        raise ValueError(f"a name of {len(data)} bytes: at most 65,535 go over the wire")
    return U16.pack(len(data)) + data


def pack_text(text: str) -> bytes:
    """Text for people, as str16: a too long text is cut, so that no text can break a connection."""
    return pack_str16(cut(text).decode())


def read_str16(data: Payload, at: int, what: str) -> tuple[str, int]:
    """The text at `at` and the position after it."""
    if at + 2 > len(data):
        raise Violation(f"{what}: its length is cut off")
    end = at + 2 + U16.unpack_from(data, at)[0]
    if end > len(data):
        raise Violation(f"{what}: {end - at - 2} bytes announced, {len(data) - at - 2} there")
    try:
        return str(data[at + 2 : end], "utf-8"), end
    except UnicodeDecodeError:
        raise Violation(f"{what}: not UTF-8") from None


def read_only_str16(data: Payload, what: str) -> str:
    """The text that is the whole payload; an empty payload is an empty text."""
    if not data:
        return ""
    text, end = read_str16(data, 0, what)
    if end != len(data):
        raise Violation(f"{what}: {len(data) - end} bytes too many")
    return text


def pack_failure(error: Error) -> bytes:
    """u8 execution, u8 zero, str16 message."""
    text = cut(f"{error.message}")  # or another object that a servant passed
    # What a handler has met in a file says nothing of calls: this one has begun.
    return bytes((error.execution != Execution.NOT_EXECUTED, 0)) + U16.pack(len(text)) + text


def read_failure(code: int, data: Payload, at: int) -> tuple[Error, int]:
    """The failure recorded at `at`, and the position after it."""
    if at + 4 > len(data) or data[at] > 1 or data[at + 1]:
        raise Violation("failure record: malformed")
    message, end = read_str16(data, at + 2, "failure record")
    return Error(to_code(code), message, Execution(data[at])), end


def to_code(number: int) -> Code:
    """A code of the peer; one that this version does not know becomes INTERNAL."""
    try:
        return Code(number)
    except ValueError:
        return Code.INTERNAL
