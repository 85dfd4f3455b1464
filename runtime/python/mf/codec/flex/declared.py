"""R1. Types of schemas in flexible messages, identified by full name and fingerprint.

A receiver decodes known types: those that it has sent, used in a pattern, or passed to `know`, also
values of another version of such a type if its rules allow that (docs/evolution.md). A value of another type
stays a `Typed` (name, fingerprint and bytes), which `to` decodes later, and can be sent on."""

from typing import Any, Final, Protocol, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.lookup import codec_of, shape_of
from mf.codec.texts import Texts, fingerprint, texts_of
from mf.core.error import Code, Error, Execution

T = TypeVar("T")


class Known:
    """A type that this process can read and write."""

    __slots__ = ("_texts", "codec", "fingerprint", "name", "shape")

    def __init__(self, name: str, shape: "s.Declared", codec: Codec[Any, Any]) -> None:
        self.name = name
        self.shape = shape
        self.fingerprint = fingerprint(shape)
        self.codec = codec
        self._texts: Texts | None = None

    @property
    def texts(self) -> Texts:
        """Descriptor and annex."""
        if self._texts is None:
            self._texts = texts_of(self.shape)
        return self._texts


class Described(Protocol):
    """A type as described by the sender of its values."""

    @property
    def texts(self) -> Texts: ...

    def convert(self, data: bytes, known: Known) -> Any:
        """The value in `data` as one of another version of the type. Raises Error."""


class Typed:
    """The encoded value of a declared type that this process does not know, or of a version of it from which
    no rule leads to the one that it knows. `described`: what its sender has said of the type."""

    __slots__ = ("data", "described", "fingerprint", "name")

    def __init__(
        self, name: str, fingerprint: bytes, data: bytes, described: Described | None = None
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.data = data
        self.described = described

    def to(self, kind: type[T]) -> T:
        """Decodes it as a generated class. Raises Error(SCHEMA_MISMATCH) if it is of another type, or of a
        version that cannot be read as that class, with the reason; DECODE_ERROR for a value that this class
        cannot have, and for invalid bytes."""
        found = know(kind)
        if found.name == self.name:
            if found.fingerprint == self.fingerprint:
                value: T = found.codec.decode(self.data)
                return value
            if self.described is not None:
                converted: T = self.described.convert(self.data, found)
                return converted
        why = "of another version of that type" if found.name == self.name else f"not of {found.name}"
        text = f"the value is of {self.name}, {why}"
        raise Error(Code.SCHEMA_MISMATCH, text, Execution.NOT_EXECUTED)

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
_latest: Final[dict[str, Known]] = {}


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
    if not isinstance(shape, s.Declared):
        return None
    found = Known(shape.name, shape, codec)
    _by_class[kind] = found
    _by_name[found.name, found.fingerprint] = found
    _latest[found.name] = found
    return found


def find(name: str, fingerprint: bytes) -> Known | None:
    return _by_name.get((name, fingerprint))


def find_version(name: str) -> Known | None:
    """The version of the type that is known here."""
    return _latest.get(name)
