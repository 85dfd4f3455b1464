"""F6. How a part of the model is written in a message, and read again: one description makes both.

A message has a field for each attribute of a class of the model, called the same. `Record` finds from the
message how most of them are written; only the others are named (messages.py).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Final, Protocol

from google.protobuf.message import Message

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.errors import DescriptorError

_INT64_MAX = (1 << 63) - 1
_ENUMS: dict[str, tuple[type[Enum], str]] = {
    pb.Scalar.DESCRIPTOR.full_name: (model.Scalar, "scalar"),
    pb.Coding.DESCRIPTOR.full_name: (model.Coding, "coding of an integer"),
    pb.Tier.DESCRIPTOR.full_name: (model.Tier, "tier"),
    pb.Struct.Kind.DESCRIPTOR.full_name: (model.StructKind, "kind of struct"),
    pb.Named.Kind.DESCRIPTOR.full_name: (model.DeclKind, "kind of declaration"),
}
"""Those of descriptor.proto, which have the words of the model."""


class Way(Protocol):
    """`write` makes what the constructor of a message takes, `read` the attribute again; it raises
    DescriptorError. The first argument of either is the writer or reader, which has the tables.
    """

    def write(self, w: Any, value: Any, /) -> Any: ...

    def read(self, r: Any, held: Any, /) -> Any: ...


class By:
    """By two functions."""

    def __init__(self, write: Callable[[Any, Any], Any], read: Callable[[Any, Any], Any]) -> None:
        self.write = write
        self.read = read


PLAIN = By(lambda _, value: value, lambda _, held: held)
BITS = By(lambda _, number: number - (1 << 64) if number > _INT64_MAX else number, lambda _, held: held)
"""64 bits as a signed number, which stays one."""


def many(way: Way, made: Callable[[Iterable[Any]], Any] = tuple) -> Way:
    return By(
        lambda w, values: [way.write(w, each) for each in values],
        lambda r, held: made(way.read(r, each) for each in held),
    )


class _Word:
    """A member of an enum of the model; 0 is none."""

    def __init__(self, of: Any) -> None:
        enum, self._what = _ENUMS[of.full_name]
        self._words = {of.values_by_name[each.name].number: each for each in enum}

    def write(self, _: Any, word: Enum) -> str:
        return word.name

    def read(self, _: Any, number: int) -> Enum:
        if number not in self._words:
            raise DescriptorError(f"{self._what} {number} is unknown to this version")
        return self._words[number]


def word(enum: Any) -> Way:
    return _Word(enum.DESCRIPTOR)


NOTHING_SPECIAL: Final[Mapping[str, Way]] = {}


class Record:
    """A message and a class of the model. An attribute whose field is not there is None, unless it is
    `needed`; so is an enum of no word. `finish` gets what was read, and what it gives is the result.
    """

    def __init__(
        self,
        message: type[Message],
        made: Any,
        ways: Mapping[str, Way] = NOTHING_SPECIAL,
        *,
        needed: Iterable[str] = (),
        finish: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self._message: Any = message
        self._made = made
        self._finish = finish
        described: Any = self._message.DESCRIPTOR.fields_by_name
        names = described if made is tuple else [each.name for each in fields(made)]
        self._fields = [
            (name, ways.get(name) or _usual(described[name]), _may_lack(described[name], name in needed))
            for name in sorted(names, key=lambda name: int(described[name].number))
        ]

    def write(self, w: Any, value: Any) -> Any:
        parts = value if self._made is tuple else [getattr(value, name) for name, _, _ in self._fields]
        given = zip(self._fields, parts, strict=True)
        return self._message(
            **{name: None if each is None else way.write(w, each) for (name, way, _), each in given}
        )

    def read(self, r: Any, message: Any) -> Any:
        parts = {
            name: None if lacks is not None and lacks(message) else way.read(r, getattr(message, name))
            for name, way, lacks in self._fields
        }
        made = tuple(parts.values()) if self._made is tuple else self._made(**parts)
        return made if self._finish is None else self._finish(r, made)


def _usual(field: Any) -> Way:
    way = PLAIN if field.enum_type is None else _Word(field.enum_type)
    return many(way) if field.is_repeated else way


def _may_lack(field: Any, needed: bool) -> Callable[[Any], bool] | None:
    name = field.name
    if needed:
        return None
    if field.has_presence:
        return lambda message: not message.HasField(name)
    if field.enum_type is not None:
        return lambda message: not getattr(message, name)
    return None


class Choice:
    """One of several fields of a message, by the class of what is written. `what` it is for errors."""

    def __init__(self, message: type[Message], what: str, **ways: tuple[type, Way]) -> None:
        self._message: Any = message
        self._what = what
        self._names = {made: name for name, (made, _) in ways.items()}
        self._ways: Mapping[str, Way] = {name: way for name, (_, way) in ways.items()}

    def write(self, w: Any, value: Any) -> Any:
        name = self._names[type(value)]
        return self._message(**{name: self._ways[name].write(w, value)})

    def read(self, r: Any, message: Any) -> Any:
        name = message.WhichOneof("kind")
        if name is None:
            raise DescriptorError(self._what)
        return self._ways[name].read(r, getattr(message, name))
