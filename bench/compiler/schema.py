"""Makes the schema of a service of some size from a seed, as data that each translator writes in its
language.

It has structs whose fields hold numbers, strings, lists and other structs; enums; services whose methods take
and return them. It uses only what all four languages have, so that all four write the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SCALARS = ("bool", "i32", "i64", "u32", "u64", "f32", "f64", "string", "bytes")
_WORDS = (
    *("account", "address", "amount", "author", "batch", "channel", "city", "code", "colour", "comment"),
    *(
        "count",
        "country",
        "created",
        "currency",
        "customer",
        "depth",
        "document",
        "duration",
        "email",
        "entry",
    ),
    *("error", "event", "file", "filter", "folder", "group", "hash", "height", "history", "host"),
    *("image", "index", "item", "label", "language", "length", "level", "limit", "link", "list"),
    *("location", "message", "metric", "mode", "node", "note", "offset", "order", "owner", "page"),
    *("parent", "path", "phone", "place", "policy", "price", "product", "profile", "quality", "query"),
    *("rank", "reason", "record", "region", "report", "result", "role", "score", "segment", "session"),
    *("shape", "size", "source", "stage", "status", "store", "subject", "summary", "target", "task"),
    *("text", "ticket", "title", "token", "topic", "total", "tree", "unit", "user", "weight"),
)
_VERBS = ("add", "get", "find", "remove", "update", "move", "check")


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar or the name of an enum or struct; in a list or not."""

    name: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    doc: str


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    doc: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Enum:
    name: str
    doc: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    doc: str
    request: str
    result: str


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    doc: str
    methods: tuple[Method, ...]


Declaration = Struct | Enum | Service


@dataclass(frozen=True, slots=True)
class Shape:
    """`kinds` is repeated until there are enough lines. `fields` are the fewest and the most of a struct;
    `declared` is the share of them whose type is an enum or a struct.
    """

    kinds: tuple[type[Declaration], ...]
    fields: tuple[int, int]
    declared: float
    methods: int


DATA = Shape((Enum, *[Struct] * 9, Enum, *[Struct] * 8, Service), (4, 16), 0.25, 5)
"""Many values, few services: of 5,000 lines 260 structs, 31 enums and 15 services."""

SERVICES = Shape((*[Struct] * 4, Service), (4, 11), 0.5, 3)
"""A service for every four structs, whose messages reach many others: of 5,000 lines 308 structs and 77
services.
"""


def make(lines: int, shape: Shape = DATA, seed: int = 42) -> list[Declaration]:
    """Declarations of about `lines` lines in our own language; the same for the same seed."""
    return _Maker(shape, random.Random(seed)).make(lines)


_MOST_HELD = 40
"""The most scalars and containers of a struct, with those of the structs that it holds by value. A struct
that would exceed it is held in a list. C++ holds fields by value: without a bound, the nested structs of a
schema of 5,000 lines take hundreds of megabytes each, and g++ does not finish reading their header.
"""


class _Maker:
    def __init__(self, shape: Shape, chance: random.Random) -> None:
        self._shape = shape
        self._chance = chance
        self._structs: list[str] = []
        self._held: dict[str, int] = {}
        self._enums: list[str] = []
        self._number = 0

    def make(self, lines: int) -> list[Declaration]:
        made: list[Declaration] = []
        while lines > 0:
            each = self._declaration()
            made.append(each)
            lines -= _lines(each)
        return made

    def _declaration(self) -> Declaration:
        kind = self._shape.kinds[self._number % len(self._shape.kinds)]
        self._number += 1
        if kind is Enum:
            return self._enum()
        return self._service() if kind is Service else self._struct()

    def _name(self) -> str:
        return f"{self._word().capitalize()}{self._word().capitalize()}{self._number}"

    def _word(self) -> str:
        return self._chance.choice(_WORDS)

    def _doc(self, of: str) -> str:
        return f"The {self._word()} of a {of}, as its {self._word()} has it."

    def _enum(self) -> Enum:
        values = self._chance.sample(_WORDS, self._chance.randint(3, 10))
        made = Enum(self._name(), self._doc("kind"), tuple(values))
        self._enums.append(made.name)
        return made

    def _struct(self) -> Struct:
        names = self._chance.sample(_WORDS, self._chance.randint(*self._shape.fields))
        fields: list[Field] = []
        room = _MOST_HELD - len(names)
        for name in names:
            type_ = self._type(room)
            room -= self._weight(type_) - 1
            fields.append(Field(name, type_, self._doc(name)))
        made = Struct(self._name(), self._doc("record"), tuple(fields))
        self._structs.append(made.name)
        self._held[made.name] = sum(self._weight(each.type) for each in fields)
        return made

    def _weight(self, type_: Type) -> int:
        """How many scalars and containers a field of the type counts for."""
        return 1 if type_.many else self._held.get(type_.name, 1)

    def _type(self, room: int) -> Type:
        """The type of a field that may hold `room` more than one scalar."""
        chance = self._chance.random()
        if chance < 0.1 and self._enums:
            return Type(self._chance.choice(self._enums))
        if chance < self._shape.declared and self._structs:
            name = self._chance.choice(self._structs[-30:])
            return Type(name, self._chance.random() < 0.5 or self._held[name] - 1 > room)
        return Type(self._chance.choice(SCALARS), self._chance.random() < 0.15)

    def _service(self) -> Service:
        verbs = self._chance.sample(_VERBS, self._shape.methods)
        methods = tuple(
            Method(f"{verb}_{self._word()}", self._doc(verb), *self._chance.choices(self._structs, k=2))
            for verb in verbs
        )
        return Service(self._name(), self._doc("service"), methods)


def _lines(each: Declaration) -> int:
    if isinstance(each, Struct):
        return 3 + sum(2 if documented(number) else 1 for number in range(len(each.fields))) + 1
    if isinstance(each, Enum):
        return 3 + len(each.values) + 1
    return 3 + 2 * len(each.methods) + 1


def documented(number: int) -> bool:
    """Whether the field with this number has a comment: every fourth has, about as in schemas that people
    write."""
    return number % 4 == 0
