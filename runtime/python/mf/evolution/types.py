"""R0. Type expressions as descriptors write them: `map<string,list<sf1.search.Hit>>`, `u32?`, `ref<a.B>`.

Types are compared by ==, which also compares the names of declared types; whether two of these mean the same
is what rules.py finds out.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mf.evolution.value import Value

MOST_LEVELS = 64
"""Of containers and optionals in one expression."""

UNSIGNED = ("u8", "u16", "u32", "u64")
SIGNED = ("i8", "i16", "i32", "i64")
SCALARS = frozenset(
    (*UNSIGNED, *SIGNED, "bool", "f32", "f64", "string", "bytes", "timestamp", "duration", "uuid")
)
KEYS = frozenset((*UNSIGNED, *SIGNED, "bool", "string", "bytes", "uuid"))
"""What may be a key, beside enums."""

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z", re.ASCII)
FULL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*\Z", re.ASCII)
_LONGEST_NAME = 1024
_TOKEN = re.compile(r"[A-Za-z0-9_.]+|[<>,?]", re.ASCII)
MOST_SIZE = 1 << 24
"""Elements of an array; bytes of a value of fixed size; values that another one holds by value."""


CODINGS = {"varint": ("i32", "i64"), "fixed": ("i32", "i64", "u32", "u64")}
"""How integers lie in an archive, where not as their type does: `i64.varint`, `u32.fixed`."""


class Scalar(Value):
    name: str
    coding: str = ""

    @property
    def bits(self) -> int:
        return int(self.name[1:])


class Named(Value):
    """A declared type, by its full name."""

    name: str


class ListOf(Value):
    element: "Type"


class SetOf(Value):
    element: "Type"


class MapOf(Value):
    key: "Type"
    value: "Type"


class ArrayOf(Value):
    element: "Type"
    length: int


class OptionalOf(Value):
    element: "Type"


class RefTo(Value):
    element: "Type"


Type = Scalar | Named | ListOf | SetOf | MapOf | ArrayOf | OptionalOf | RefTo


class SchemaError(Exception):
    """A text is no descriptor or annex. Says why."""


@contextmanager
def building() -> Iterator[None]:
    """Surrounds all that is made of a peer's schema: if Python cannot make it, the error becomes a
    SchemaError."""
    try:
        yield
    except RecursionError:
        raise SchemaError("its types are nested too deep") from None
    except MemoryError:
        raise SchemaError("its types take too much memory") from None


def quoted(text: str) -> str:
    """Of a peer, shortened: 80 bytes of it are shown, as in C++."""
    return f"`{text.encode('utf-8', 'replace')[:80].decode('utf-8', 'ignore')}`"


def parts(type_: Type) -> tuple[Type, ...]:
    """What a type is made of, one level down."""
    match type_:
        case MapOf(key, value):
            return key, value
        case ListOf(element) | SetOf(element) | OptionalOf(element) | RefTo(element):
            return (element,)
        case ArrayOf(element, _):
            return (element,)
        case _:
            return ()


def short(name: str) -> str:
    """The last component of a full name."""
    return name.rpartition(".")[2]


def spell(type_: Type) -> str:
    """As messages write it: with short names."""
    return _spelled(type_, short)


def spell_in_full(type_: Type) -> str:
    """As a descriptor writes it."""
    return _spelled(type_, str)


def _spelled(type_: Type, named: Callable[[str], str]) -> str:
    match type_:
        case Scalar(name, coding):
            return f"{name}.{coding}" if coding else name
        case Named(name):
            return named(name)
        case ListOf(element):
            return f"list<{_spelled(element, named)}>"
        case SetOf(element):
            return f"set<{_spelled(element, named)}>"
        case MapOf(key, value):
            return f"map<{_spelled(key, named)},{_spelled(value, named)}>"
        case ArrayOf(element, length):
            return f"array<{_spelled(element, named)},{length}>"
        case OptionalOf(element):
            return f"{_spelled(element, named)}?"
        case RefTo(element):
            return f"ref<{_spelled(element, named)}>"


class _Reader:
    __slots__ = ("_at", "_text", "_tokens")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        if "".join(self._tokens) != text:
            raise self.wrong()

    def wrong(self) -> SchemaError:
        return SchemaError(f"the type {quoted(self._text)} is not declared")

    def whole(self) -> Type:
        found = self._type(MOST_LEVELS)
        if self._at != len(self._tokens):
            raise self.wrong()
        return found

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise self.wrong()
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise self.wrong()

    def _type(self, levels: int) -> Type:
        if not levels:
            raise SchemaError("an expression of types is nested too deep")
        found = self._bare(levels)
        if self._at < len(self._tokens) and self._tokens[self._at] == "?":
            self._at += 1
            return OptionalOf(found)
        return found

    def _bare(self, levels: int) -> Type:
        word = self._next()
        followed = self._at < len(self._tokens) and self._tokens[self._at] == "<"
        if not followed:
            if word in SCALARS:
                return Scalar(word)
            name, _, coding = word.partition(".")
            if name in CODINGS.get(coding, ()):
                return Scalar(name, coding)
            if len(word) > _LONGEST_NAME or not FULL_NAME.match(word):
                raise self.wrong()
            return Named(word)
        self._at += 1
        element = self._type(levels - 1)
        found: Type
        if word == "map":
            self._expect(",")
            found = MapOf(element, self._type(levels - 1))
        elif word == "array":
            self._expect(",")
            found = ArrayOf(element, self._length())
        elif word == "list":
            found = ListOf(element)
        elif word == "set":
            found = SetOf(element)
        elif word == "ref":
            found = RefTo(element)
        else:
            raise self.wrong()
        self._expect(">")
        return found

    def _length(self) -> int:
        digits = self._next()
        if not digits.isdecimal() or len(digits) > 10 or not 0 < int(digits) <= MOST_SIZE:
            raise SchemaError(f"an array has no length that it can have: {quoted(self._text)}")
        return int(digits)


def parse(text: str) -> Type:
    """Raises SchemaError."""
    return _Reader(text).whole()
