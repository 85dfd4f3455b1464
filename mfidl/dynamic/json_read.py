"""F6. JSON text to values (docs/json.md): from left to right, each kind of value told by its first byte."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.dynamic.codec import root_of, schema_of
from mfidl.dynamic.decoding import MAX_DEPTH
from mfidl.dynamic.defaults import plain
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.fault import Fault
from mfidl.dynamic.json_moment import duration_of, timestamp_of
from mfidl.dynamic.json_scalar import (
    NUMBER,
    WrongError,
    base64_of,
    bool_of,
    float_in,
    in_range,
    or_wrong_type,
    scalar_of,
    short,
    whole_of,
)
from mfidl.dynamic.json_text import JsonText
from mfidl.dynamic.number import Number
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Graph, Value
from mfidl.model import Scalar, Tier


def from_json(program: model.Program | Schema, type_: str | model.Type, text: str | bytes) -> Value:
    """The value that all of the text is; DecodeError, its offset in bytes of UTF-8, where it is none."""
    schema = schema_of(program)
    root = root_of(schema, type_)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    json = JsonText(data, root.name)
    value = _Reader(schema, json).value(root.type)
    json.finish()
    return value


class _Reader:
    def __init__(self, schema: Schema, json: JsonText) -> None:
        self._schema = schema
        self._json = json
        self._depth = 0
        # Of the graph that is being read: (offset, path, type, index) of each reference.
        self._references: list[tuple[int, str, str, int]] | None = None

    def value(self, type_: model.Type) -> Value:
        number = self._schema.number(type_)
        if number is not None:
            return self._number(number)
        match type_:
            case model.Primitive(scalar):
                return self._text(type_, lambda text: scalar_of(scalar, text))
            case model.OptionalOf(element):
                if self._json.kind() == "null":
                    return self._json.word()
                return self.value(element)
            case model.ListOf(element):
                return self._array(type_, element, None)
            case model.ArrayOf(element, length):
                return self._array(type_, element, length)
            case model.SetOf(element):
                return self._set(type_, element)
            case model.MapOf():
                return self._map(type_)
            case model.RefOf():
                return self._reference(type_)
            case _:
                assert isinstance(type_, model.Named)
                return self._declared(type_)

    # Scalars ------------------------------------------------------------------------------------------------

    def _kind(self, type_: model.Type, *kinds: str) -> tuple[str, int]:
        """One of these kinds of JSON value begins here; and where."""
        kind = self._json.kind()
        if kind not in kinds:
            wanted = " or ".join("`true` or `false`" if each == "bool" else _article(each) for each in kinds)
            reason = f"{_article(kind)} where {model.spell(type_)} is {wanted}"
            raise self._json.fail(Fault.JSON_WRONG_TYPE, reason)
        return kind, self._json.pos

    def _number(self, number: Number) -> Value:
        if number.is_bool:
            self._kind(number.type, "bool")
            return self._json.word()
        if isinstance(number.type, model.Named) and number.type.kind is model.DeclKind.FLAGS:
            kind, _ = self._kind(number.type, "array", "string", "number")
            if kind == "array":
                return self._flags(number.type, number)
        if number.scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
            return self._text(number.type, lambda text: self._of_text(number, text))
        kind, start = self._kind(number.type, "number", "string")
        text = self._json.number() if kind == "number" else self._json.string()
        return self._at(start, lambda: self._of_text(number, text, quoted=kind == "string"))

    def _of_text(self, number: Number, text: str, *, quoted: bool = True) -> Value:
        """A number, moment, duration or member of an enum from the text that stands for it."""
        if number.is_float:
            return float_in(number, text, quoted)
        if number.scalar is Scalar.TIMESTAMP and not NUMBER.fullmatch(text):
            return in_range(number, or_wrong_type(lambda: timestamp_of(text)))
        if number.scalar is Scalar.DURATION:
            return in_range(number, or_wrong_type(lambda: duration_of(text)))
        if number.is_bool:
            return bool_of(text)
        if quoted and number.is_declared and not NUMBER.fullmatch(text):
            assert isinstance(number.type, model.Named)
            return self._member(number.type, text)
        value = in_range(number, whole_of(text))
        if number.members is not None and value not in number.members:
            raise WrongError(Fault.UNKNOWN_ENUM_VALUE, f"{value} is no member of {model.spell(number.type)}")
        return value

    def _member(self, type_: model.Named, name: str) -> int:
        if type_.kind is model.DeclKind.FLAGS:
            raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(name)} is no number; names stand in an array")
        members = self._schema.program.enum(type_).members
        for each in members:
            if each.name == name:
                return each.number
        raise WrongError(
            Fault.UNKNOWN_ENUM_VALUE,
            _unknown(f"{type_.name} has no member `{short(name)}`", name, (each.name for each in members)),
        )

    def _flags(self, type_: model.Named, number: Number) -> int:
        flags = self._schema.program.flags(type_)
        bits = {each.name: 1 << each.bit for each in flags.members}
        total = 0

        def element(_: int) -> None:
            nonlocal total
            kind, start = self._kind(type_, "string", "number")
            text = self._json.number() if kind == "number" else self._json.string()

            def found() -> int:
                if kind == "string" and not NUMBER.fullmatch(text):
                    if text not in bits:
                        problem = f"{type_.name} has no bit `{short(text)}`"
                        raise WrongError(Fault.UNKNOWN_ENUM_VALUE, _unknown(problem, text, bits))
                    return bits[text]
                return in_range(number, whole_of(text))

            value = self._at(start, found)
            if total & value:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, "a bit is there twice", start)
            total |= value

        self._elements(element, None, type_)
        return total

    def _text(self, type_: model.Type, make: Callable[[str], Value]) -> Value:
        _, start = self._kind(type_, "string")
        text = self._json.string()
        return self._at(start, lambda: make(text))

    def _at(self, start: int, make: Callable[[], Any]) -> Any:
        """What `make` finds wrong is wrong with the value that began at `start`."""
        try:
            return make()
        except WrongError as wrong:
            raise self._json.fail(wrong.fault, wrong.reason, start) from None

    def _reference(self, type_: model.RefOf) -> int:
        kind, start = self._kind(type_, "number", "string")
        text = self._json.number() if kind == "number" else self._json.string()
        index: int = self._at(start, lambda: whole_of(text))
        if not 0 <= index < 1 << 32:
            raise self._json.fail(Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in u32", start)
        if self._references is not None:
            self._references.append((start, str(self._json.path), type_.element.full_name, index))
        return index

    # Containers ---------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        if self._depth == MAX_DEPTH:
            raise self._json.fail(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}")
        self._depth += 1

    def _elements(self, element: Callable[[int], None], length: int | None, type_: model.Type) -> None:
        """An array, of which the bracket is here."""
        json = self._json
        json.expect("[")
        json.blanks()
        index = 0
        if json.peek() == ord("]"):
            json.pos += 1
        else:
            if length == 0:
                raise json.fail(Fault.WRONG_LENGTH, f"{model.spell(type_)} has no elements", json.pos)
            while True:
                json.path.steps.append(index)
                element(index)
                json.path.steps.pop()
                index += 1
                if json.expect(",", "]") == "]":
                    break
                if index == length:
                    reason = f"{model.spell(type_)} has {length} elements, here are more"
                    raise json.fail(Fault.WRONG_LENGTH, reason, json.pos - 1)
        if length is not None and index < length:
            reason = f"{model.spell(type_)} has {length} elements, not {index}"
            raise json.fail(Fault.WRONG_LENGTH, reason, json.pos - 1)

    def _array(self, type_: model.Type, element: model.Type, length: int | None) -> list[Value]:
        self._kind(type_, "array")
        self._enter()
        values: list[Value] = []
        self._elements(lambda _: values.append(self.value(element)), length, type_)
        self._depth -= 1
        return values

    def _set(self, type_: model.SetOf, element: model.Type) -> list[Value]:
        self._kind(type_, "array")
        self._enter()
        found: dict[Value, None] = {}

        def one(_: int) -> None:
            self._json.blanks()
            start = self._json.pos
            value = self.value(element)
            if value in found:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, "an element of the set is there twice", start)
            found[value] = None

        self._elements(one, None, type_)
        self._depth -= 1
        return sorted(found)

    def _members(self, member: Callable[[str, int], None], *, are_entries: bool = False) -> int:
        """An object, of which the brace is here; the offset of the closing one. Keys belong to entries."""
        json = self._json
        json.expect("{")
        json.blanks()
        if json.peek() == ord("}"):
            json.pos += 1
            return json.pos - 1
        for index in count():
            json.blanks()
            start = json.pos
            if json.peek() != ord('"'):
                json.expect('"')
            if are_entries:
                json.path.steps.append(index)
            name = json.string()
            member(name, start)
            if are_entries:
                json.path.steps.pop()
            if json.expect(",", "}") == "}":
                return json.pos - 1
        raise AssertionError("an object ends somewhere")

    def _map(self, type_: model.MapOf) -> dict[Value, Value]:
        self._kind(type_, "object")
        self._enter()
        found: dict[Value, Value] = {}

        def entry(name: str, start: int) -> None:
            key = self._at(start, lambda: self._key(type_.key, name))
            if key in found:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, f"{short(name)} is there twice", start)
            self._json.expect(":")
            found[key] = self.value(type_.value)

        self._members(entry, are_entries=True)
        self._depth -= 1
        return dict(sorted(found.items(), key=lambda each: each[0]))

    def _key(self, type_: model.Type, text: str) -> Value:
        number = self._schema.number(type_)
        if number is not None:
            return self._of_text(number, text)
        assert isinstance(type_, model.Primitive)
        return scalar_of(type_.scalar, text)

    # Declared types -----------------------------------------------------------------------------------------

    def _declared(self, type_: model.Named) -> Value:
        tier = self._schema.tier(type_)
        if tier is Tier.CUSTOM:
            return self._text(type_, base64_of)
        outer = self._references
        try:
            if tier is Tier.ARCHIVE and outer is None and self._schema.tables(type_.full_name):
                return self._graph(type_)
            if tier is not Tier.ARCHIVE:
                self._references = None
            return self._object(type_)
        finally:
            self._references = outer

    def _object(self, type_: model.Named) -> Value:
        is_union = type_.kind is model.DeclKind.UNION
        self._kind(type_, "object")
        implicit = not is_union and self._schema.is_implicit(self._schema.struct(type_))
        if not implicit:
            self._enter()
        value = self._union(type_) if is_union else self._struct(self._schema.struct(type_))
        if not implicit:
            self._depth -= 1
        return value

    def _struct(self, struct: model.Struct) -> Value:
        json = self._json
        fields = {each.name: each for each in struct.fields}
        found: dict[str, Value] = {}

        def member(name: str, start: int) -> None:
            if name not in fields:
                problem = f"{struct.name} has no field `{short(name)}`"
                raise json.fail(Fault.JSON_UNKNOWN_FIELD, _unknown(problem, name, fields), start)
            json.path.steps.append(name)
            if name in found:
                raise json.fail(Fault.JSON_DUPLICATE_KEY, f"`{name}` is there twice", start)
            json.expect(":")
            found[name] = self.value(fields[name].type)
            json.path.steps.pop()

        end = self._members(member)
        return {each.name: self._given(each, found, end) for each in struct.fields}

    def _given(self, field: model.Field, found: dict[str, Value], end: int) -> Value:
        if field.name in found:
            return found[field.name]
        if field.default is not None:
            return plain(self._schema, field.type, field.default)
        if isinstance(field.type, model.OptionalOf):
            return None
        self._json.path.steps.append(field.name)
        raise self._json.fail(Fault.MISSING_FIELD, f"`{field.name}` is missing", end)

    def _union(self, type_: model.Named) -> Value:
        json = self._json
        union = self._schema.union(type_)
        alternatives = {each.name: each for each in union.alternatives}
        json.expect("{")
        json.blanks()
        if json.peek() == ord("}"):
            raise json.fail(Fault.MISSING_FIELD, f"no alternative of {union.full_name} is there")
        start = json.pos
        if json.peek() != ord('"'):
            json.expect('"')
        name = json.string()
        if name not in alternatives:
            problem = f"{union.name} has no alternative `{short(name)}`"
            raise json.fail(Fault.UNKNOWN_ALTERNATIVE, _unknown(problem, name, alternatives), start)
        json.path.steps.append(name)
        json.expect(":")
        value = self.value(alternatives[name].type)
        json.path.steps.pop()
        if json.expect(",", "}") == ",":
            raise json.fail(Fault.JSON_WRONG_TYPE, "a union holds one alternative", json.pos - 1)
        return {name: value}

    def _graph(self, type_: model.Named) -> Graph:
        """The tables of a graph; references are checked when all are known."""
        json = self._json
        self._kind(type_, "object")
        self._enter()
        references = self._references = []
        tables = self._schema.tables(type_.full_name)
        full_names = {name: full_name for full_name, name in tables.items()}
        found: dict[str, list[Value]] = {}

        def table(name: str, start: int) -> None:
            if name not in full_names:
                problem = f"a graph of {type_.full_name} has no table `{short(name)}`"
                raise json.fail(Fault.JSON_UNKNOWN_FIELD, _unknown(problem, name, full_names), start)
            full_name = full_names[name]
            json.path.steps.append(name)
            if full_name in found:
                raise json.fail(Fault.JSON_DUPLICATE_KEY, f"`{name}` is there twice", start)
            json.expect(":")
            objects = found[full_name] = []
            declaration = self._schema.program.declaration(full_name)
            assert isinstance(declaration, model.Struct | model.Union)
            reference = declaration.reference
            self._kind(model.ListOf(reference), "array")
            self._enter()
            self._elements(lambda _: objects.append(self._object(reference)), None, reference)
            self._depth -= 1
            json.path.steps.pop()

        end = self._members(table)
        self._depth -= 1
        graph = {full_name: found.get(full_name, []) for full_name in tables}
        self._check_graph(type_.full_name, graph, references, end)
        return Graph(graph)

    def _check_graph(
        self,
        root: str,
        graph: dict[str, list[Value]],
        references: list[tuple[int, str, str, int]],
        end: int,
    ) -> None:
        for start, path, name, index in references:
            if index >= len(graph[name]):
                reason = f"{index} is behind the end of the table of {name}, which has {len(graph[name])}"
                raise DecodeError(Fault.INVALID_REFERENCE, start, path, reason)
        if not graph[root]:
            raise self._json.fail(Fault.INVALID_REFERENCE, f"a graph of {root} without a root", end)


def _unknown(problem: str, name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"{problem}; {hint}" if hint else problem


def _article(kind: str) -> str:
    return {"null": "null", "array": "an array", "object": "an object"}.get(kind, f"a {kind}")
