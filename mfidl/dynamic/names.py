"""F6. Types by name: full names, short ones that are unique, expressions such as `list<sf1.search.Hit>`, the
parameters and results of methods (`sf1.search.Index.query.params`), values of topics.
"""

import re
from dataclasses import dataclass

from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.dynamic.errors import UnknownTypeError
from mfidl.dynamic.schema import Schema

_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*|\d[\d_]*|\S)")
_SCALARS = {scalar.value: model.Primitive(scalar) for scalar in model.Scalar}
_CONTAINERS = {"list": 1, "set": 1, "ref": 1, "map": 2, "array": 2}
_MOST_DEEP = 64
_KEYS = "keys of maps and elements of sets are bool, integers, enums, string, bytes and uuid"


@dataclass(frozen=True, slots=True)
class Root:
    """The subject of bytes: a type, the name with which paths begin, and the constraints of an alias."""

    type: model.Type
    name: str
    constraints: tuple[model.Constraint, ...] = ()


def find(schema: Schema, text: str) -> Root:
    """Raises UnknownTypeError."""
    parser = _Parser(schema, text)
    root = root_of_type(schema, parser.whole())
    return root if root.name else Root(root.type, "", parser.constraints)


def root_of_type(schema: Schema, type_: model.Type) -> Root:
    match type_:
        case model.Named(full_name, model.DeclKind.STRUCT | model.DeclKind.ERROR | model.DeclKind.UNION):
            return Root(type_, "" if schema.implicit(full_name) else full_name.rpartition(".")[2])
        case _:
            return Root(type_, "")


class _Parser:
    """One type expression, by recursive descent."""

    def __init__(self, schema: Schema, text: str) -> None:
        self._schema = schema
        self._text = text
        self._tokens = [(match[1], match.start(1), match.end(1)) for match in _TOKEN.finditer(text)]
        self._at = 0
        self.constraints: tuple[model.Constraint, ...] = ()
        """Of the type that was read last, where it is an alias."""

    def whole(self) -> model.Type:
        type_ = self._type(0)
        if self._at < len(self._tokens):
            raise self._wrong("behind the type is something more")
        return type_

    def _type(self, depth: int) -> model.Type:
        if depth > _MOST_DEEP:
            raise self._wrong("types are nested at most 64 deep")
        type_ = self._plain(depth)
        while self._peek() == "?":
            if isinstance(type_, model.OptionalOf):
                raise self._wrong("there is no `T??`")
            self._at += 1
            type_ = model.OptionalOf(type_)
        return type_

    def _plain(self, depth: int) -> model.Type:
        word = self._peek()
        if not re.match(r"[A-Za-z_]", word):
            raise self._wrong("a type is expected here")
        first = self._at
        self._at += 1
        self.constraints = ()
        if self._peek() == "<":
            return self._container(word, first, depth)
        if word in _CONTAINERS and word not in self._known():
            self._at = first
            parts = "<K, V>" if word == "map" else "<T, N>" if word == "array" else "<T>"
            raise self._wrong(f"`{word}` needs to say of what: `{word}{parts}`")
        if word in _SCALARS:
            return _SCALARS[word]
        return self._named("".join(word.split()), first)

    def _container(self, word: str, first: int, depth: int) -> model.Type:
        if word not in _CONTAINERS:
            self._at = first
            hint = did_you_mean(word, _CONTAINERS)
            raise self._wrong(f"there is no container `{word}`" + (f"; {hint}" if hint else ""))
        self._at += 1
        inner_at = self._at
        inner = self._type(depth + 1)
        asked = self.constraints
        match word:
            case "list":
                made: model.Type = model.ListOf(inner, asked)
            case "set":
                made = model.SetOf(self._key(inner, inner_at), asked)
            case "map":
                self._expect(",")
                key, value = self._key(inner, inner_at), self._type(depth + 1)
                made = model.MapOf(key, value, asked, self.constraints)
            case "array":
                self._expect(",")
                made = model.ArrayOf(inner, self._length(), asked)
            case _:
                self._at = first
                raise self._wrong("a `ref` stands only inside of archive types")
        self._expect(">")
        self.constraints = ()
        return made

    def _key(self, type_: model.Type, at: int) -> model.Type:
        number = self._schema.number(type_)
        if isinstance(type_, model.Named):
            fits = type_.kind is model.DeclKind.ENUM
        elif number is not None:
            fits = number.is_integer or number is model.Scalar.BOOL
        else:
            fits = isinstance(type_, model.Primitive)
        if not fits:
            self._at = at
            raise self._wrong(_KEYS)
        return type_

    def _length(self) -> int:
        word = self._peek()
        if not word[:1].isdigit():
            raise self._wrong("the length of the array is expected here, a number")
        digits = word.replace("_", "").lstrip("0")
        if not digits:
            raise self._wrong("an array has at least one element")
        number = int(digits[:9])  # more are too many, and Python reads no number of thousands of digits
        if number > 1 << 24:
            raise self._wrong("so long an array could never be sent")
        self._at += 1
        return number

    def _named(self, name: str, first: int) -> model.Type:
        known = self._known()
        candidates = [name] if name in known else sorted(full for full in known if full.endswith(f".{name}"))
        if len(candidates) == 1:
            self.constraints = self._schema.asked_by_alias(candidates[0])
            return known[candidates[0]]
        self._at = first
        if candidates:
            several = ", ".join(f"`{each}`" for each in candidates)
            raise self._wrong(f"`{name}` could be {several}; give one of them")
        shorts = {full.rpartition(".")[2] for full in known if not full.endswith((".params", ".results"))}
        hint = did_you_mean(name, sorted({*known, *shorts, *_SCALARS}))
        raise self._wrong(f"there is no type `{name}`" + (f"; {hint}" if hint else ""))

    def _known(self) -> dict[str, model.Type]:
        return self._schema.names()

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _expect(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._wrong(f"`{sign}` is expected here")
        self._at += 1

    def _wrong(self, reason: str) -> UnknownTypeError:
        if self._at < len(self._tokens):
            _, start, end = self._tokens[self._at]
        else:
            start = end = len(self._text)
        return UnknownTypeError(self._text, start, end, reason)
