"""R1. Types of schemas in flexible messages, identified by full name and fingerprint.

A receiver decodes types that it knows: those that it has sent, used in a pattern, or passed to `know`. A
value of another type stays a `Typed` (name, fingerprint and bytes), which `to` decodes later, and can be
sent on."""

from typing import Any, Final, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.lookup import codec_of, shape_of
from mf.codec.texts import fingerprint
from mf.core.error import Code, Error, Execution

T = TypeVar("T")


class Known:
    """A type that this process can read and write."""

    __slots__ = ("codec", "fingerprint", "name")

    def __init__(self, name: str, fingerprint: bytes, codec: Codec[Any, Any]) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.codec = codec


class Typed:
    """The encoded value of a declared type that this process does not know."""

    __slots__ = ("data", "fingerprint", "name")

    def __init__(self, name: str, fingerprint: bytes, data: bytes) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.data = data

    def to(self, kind: type[T]) -> T:
        """Decodes it as a generated class. Raises Error(SCHEMA_MISMATCH) if it is of another type or another
        version of it, and DecodeError for invalid bytes."""
        found = know(kind)
        if (found.name, found.fingerprint) != (self.name, self.fingerprint):
            same = found.name == self.name
            why = "of another version of that type" if same else f"not of {found.name}"
            text = f"the value is of {self.name}, {why}"
            raise Error(Code.SCHEMA_MISMATCH, text, Execution.NOT_EXECUTED)
        value: T = found.codec.decode(self.data)
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Typed):
            return NotImplemented
        mine = (self.name, self.fingerprint, self.data)
        return mine == (other.name, other.fingerprint, other.data)

    def __hash__(self) -> int:
        return hash((self.name, self.fingerprint, self.data))

    def __repr__(self) -> str:
        return f"mf.flex.Typed({self.name!r}, {len(self.data)} bytes)"


_by_class: Final[dict[type, Known]] = {}
_by_name: Final[dict[tuple[str, bytes], Known]] = {}


def know(kind: type) -> Known:
    """Makes a type known to this process. Raises TypeError for a class that no schema declares."""
    found = known_of(kind)
    if found is None:
        raise TypeError(f"{kind.__qualname__} is no type that a schema declares")
    return found


def known_of(kind: type) -> Known | None:
    """`know`, but None for a class that no schema declares."""
    found = _by_class.get(kind)
    if found is not None:
        return found
    if kind.__module__ == "builtins":
        return None
    try:
        shape = shape_of(kind)
        codec: Codec[Any, Any] = codec_of(kind)
    except TypeError:
        return None
    if not isinstance(shape, s.Struct | s.Union | s.Custom | s.Enum):
        return None
    found = Known(shape.name, fingerprint(shape), codec)
    _by_class[kind] = found
    _by_name[found.name, found.fingerprint] = found
    return found


def find(name: str, fingerprint: bytes) -> Known | None:
    return _by_name.get((name, fingerprint))
