"""R8. Declared errors of described services, and what is said of descriptions that cannot be read."""

from collections.abc import Callable
from typing import Any, Final

from mf.codec.codec import Codec
from mf.codec.json import from_json, to_json
from mf.codec.shape import Shape
from mf.core.description import Description
from mf.core.error import Code, DeclaredError, Error, not_executed
from mf.core.service import ErrorCodec, Payload
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError, building


class DescribedError(DeclaredError):
    """A declared error. `name`: its full name; `json`: its fields."""

    name: Final[str]
    json: Final[str]

    def __init__(self, name: str, json: str) -> None:
        super().__init__(name, json)
        self.name = name
        self.json = json

    def __str__(self) -> str:
        return f"{self.name} {self.json}"


def error_codec(name: str, codec: Codec[Any, Any]) -> ErrorCodec:
    """Only clients use it: nothing is encoded."""

    def decode(payload: Payload) -> DeclaredError:
        return DescribedError(name, to_json(codec.decode(payload), codec.shape))

    def encode(value: Any) -> bytes:
        raise TypeError(f"a {type(value).__name__} is received, and never sent")

    return ErrorCodec(DescribedError, encode=encode, decode=decode)


def schema_of(description: Description, kind: str) -> Schema:
    """Of a peer, that may be hostile. Raises Error(SCHEMA_MISMATCH)."""
    try:
        with building():
            found = read(description.descriptor, description.annex)
    except SchemaError as wrong:
        raise _refused(description, f"cannot be read: {wrong}") from None
    if found.kind != kind:
        raise _refused(description, f"is of a {found.kind}, not of a {kind}")
    return found


def made(description: Description, make: Callable[[], Any]) -> Any:
    """Raises Error(SCHEMA_MISMATCH) for what Python cannot make of it."""
    try:
        with building():
            return make()
    except SchemaError as wrong:
        raise _refused(description, f"cannot be used: {wrong}") from None


def value_of(name: str, shape: Shape, json: str | bytes) -> Any:
    """Raises DecodeError, and Error(SCHEMA_MISMATCH) if a default that the text leaves out is no value."""
    try:
        with building():
            return from_json(shape, json)
    except SchemaError as wrong:
        raise not_executed(Code.SCHEMA_MISMATCH, f"{name}: {wrong}") from None


def _refused(description: Description, why: str) -> Error:
    at = f"{description.address}: " if description.address else ""
    text = f"{at}what it says of {description.name} {why}"
    return not_executed(Code.SCHEMA_MISMATCH, text)
