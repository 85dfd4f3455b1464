"""F6. Values as JSON text (docs/json.md): one line without blanks."""

import base64

from mfidl import model
from mfidl.dynamic.codec import root_of, schema_of
from mfidl.dynamic.decoding import MAX_DEPTH
from mfidl.dynamic.errors import EncodeError
from mfidl.dynamic.graph import ordered
from mfidl.dynamic.number import Number
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Graph, Value
from mfidl.model import Scalar, Tier
from mfidl.plan.json_words import float_text, integer_text, moment_text, quoted, string_text


def to_json(program: model.Program | Schema, type_: str | model.Type, value: Value) -> str:
    """The JSON text of a value that its type holds, as `decode` and `from_json` give them.

    EncodeError: a graph whose values nest as deep as bytes may, which is deeper than JSON may.
    """
    schema = schema_of(program)
    pieces: list[str] = []
    _Writer(schema, pieces).value(root_of(schema, type_).type, value)
    return "".join(pieces)


def scalar_text(schema: Schema, type_: model.Type, value: Value) -> str:
    """For people: a scalar, an enum or flags, without the quotes of what is no string; a ref's index."""
    if isinstance(type_, model.RefOf):
        return str(value)
    if isinstance(type_, model.Named) and schema.number(type_) is None:
        return bytes(value).hex(" ")
    if isinstance(type_, model.Primitive) and type_.scalar is Scalar.BYTES:
        return bytes(value).hex(" ")
    pieces: list[str] = []
    _Writer(schema, pieces).value(type_, value)
    text = "".join(pieces)
    return text if type_ == model.Primitive(Scalar.STRING) else text.replace('"', "")


class _Writer:
    def __init__(self, schema: Schema, pieces: list[str]) -> None:
        self._schema = schema
        self._add = pieces.append
        self._in_graph = False
        self._depth = 0

    def value(self, type_: model.Type, value: Value) -> None:
        number = self._schema.number(type_)
        if number is not None:
            self._add(number_text(self._schema, number, value))
            return
        match type_:
            case model.Primitive(scalar):
                self._add(quoted(string_text(scalar, value)))
            case model.OptionalOf(element):
                self._add("null") if value is None else self.value(element, value)
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                self._array(element, value)
            case model.MapOf(key, held):
                self._map(key, held, value)
            case model.RefOf():
                self._add(str(value))
            case model.Named():
                self._declared(type_, value)

    def _open(self, bracket: str) -> None:
        if self._depth == MAX_DEPTH:
            raise EncodeError("", f"as JSON it is nested deeper than {MAX_DEPTH}")
        self._depth += 1
        self._add(bracket)

    def _close(self, bracket: str) -> None:
        self._depth -= 1
        self._add(bracket)

    def _array(self, element: model.Type, values: Value) -> None:
        self._open("[")
        for index, each in enumerate(values):
            if index:
                self._add(",")
            self.value(element, each)
        self._close("]")

    def _map(self, key: model.Type, held: model.Type, value: Value) -> None:
        self._open("{")
        for index, (each, found) in enumerate(value.items()):
            self._name(self._key(key, each), index)
            self.value(held, found)
        self._close("}")

    def _key(self, type_: model.Type, value: Value) -> str:
        number = self._schema.number(type_)
        if number is not None:
            return number_text(self._schema, number, value).strip('"')
        assert isinstance(type_, model.Primitive)
        return string_text(type_.scalar, value)

    def _name(self, name: str, index: int) -> None:
        if index:
            self._add(",")
        self._add(quoted(name))
        self._add(":")

    def _declared(self, type_: model.Named, value: Value) -> None:
        tier = self._schema.tier(type_)
        if tier is Tier.CUSTOM:
            self._add(quoted(base64.b64encode(value).decode()))
            return
        outer = self._in_graph
        if tier is Tier.ARCHIVE and not outer and self._schema.tables(type_.full_name):
            self._in_graph = True
            self._graph(type_.full_name, value)
        else:
            self._in_graph = outer and tier is Tier.ARCHIVE
            self._members(type_, value)
        self._in_graph = outer

    def _graph(self, root: str, value: Value) -> None:
        if not isinstance(value, Graph):
            raise EncodeError("", f"{root} is a Graph, not {type(value).__name__}")
        graph = ordered(self._schema, root, value, "")
        self._open("{")
        for index, (full_name, name) in enumerate(self._schema.tables(root).items()):
            declaration = self._schema.program.declaration(full_name)
            assert isinstance(declaration, model.Struct | model.Union)
            self._name(name, index)
            self._open("[")
            for place, each in enumerate(graph.tables[full_name]):
                if place:
                    self._add(",")
                self._members(declaration.reference, each)
            self._close("]")
        self._close("}")

    def _members(self, type_: model.Named, value: Value) -> None:
        is_union = type_.kind is model.DeclKind.UNION
        counts = is_union or not self._schema.is_implicit(self._schema.struct(type_))
        self._open("{") if counts else self._add("{")
        if is_union:
            [(name, held)] = value.items()
            self._name(name, 0)
            of = next(each for each in self._schema.union(type_).alternatives if each.name == name)
            self.value(of.type, held)
        else:
            index = 0
            for field in self._schema.struct(type_).fields:
                found = value[field.name]
                left_out = isinstance(field.type, model.OptionalOf) and field.default is None
                if found is not None or not left_out:
                    self._name(field.name, index)
                    self.value(field.type, found)
                    index += 1
        self._close("}") if counts else self._add("}")


def number_text(schema: Schema, number: Number, value: Value) -> str:
    """A number as JSON, enums and flags by name."""
    match number.type:
        case model.Named(_, model.DeclKind.ENUM):
            enum = schema.program.enum(number.type)
            name = next((each.name for each in enum.members if each.number == value), None)
            return _plain(number, value) if name is None else quoted(name)
        case model.Named():
            return _flags(schema.program.flags(number.type), number, value)
        case _:
            return _plain(number, value)


def _flags(flags: model.Flags, number: Number, value: int) -> str:
    named = sorted((each for each in flags.members if value >> each.bit & 1), key=lambda each: each.bit)
    rest = value & ~sum(1 << each.bit for each in named)
    texts = [quoted(each.name) for each in named]
    return f"[{','.join([*texts, _plain(number, rest)] if rest else texts)}]"


def _plain(number: Number, value: Value) -> str:
    match number.scalar:
        case Scalar.BOOL:
            return "true" if value else "false"
        case Scalar.F32 | Scalar.F64:
            return float_text(value, single=number.scalar is Scalar.F32)
        case Scalar.TIMESTAMP | Scalar.DURATION:
            return moment_text(number.scalar, value)
        case scalar:
            return integer_text(scalar, value)
