"""F6. JSON text to values (docs/json.md): from left to right; the first byte of a value decides its kind."""

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.codec import DEFAULT_LIMITS, root_of, schema_of
from mfidl.dynamic.decoding import Limits
from mfidl.dynamic.defaults import cost, plain
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.json_number import ScalarReader, unknown
from mfidl.dynamic.json_scalar import (
    base64_of,
    scalar_of,
    short,
    whole_of,
)
from mfidl.dynamic.json_text import JsonText
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Graph, Value
from mfidl.model import Tier

# What values take in memory, roughly, as readers of bytes reckon.
_CONTAINER = 56
_ENTRY = 8  # of a list or struct
_NODE = 100  # of a set or map
_STRUCT = 48
_REFERENCE = 160  # while its graph is being read


def from_json(
    program: model.Program | Schema,
    type_: str | model.Type,
    text: str | bytes,
    limits: Limits = DEFAULT_LIMITS,
) -> Value:
    """The value of the whole text. Raises DecodeError, with an offset in bytes of UTF-8."""
    schema = schema_of(program)
    root = root_of(schema, type_)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    json = JsonText(data, root.name)
    value = _Reader(schema, json, limits).value(root.type)
    json.finish()
    return value


class _Reader(ScalarReader):
    def __init__(self, schema: Schema, json: JsonText, limits: Limits) -> None:
        super().__init__(schema, json, limits)
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

    def _reference(self, type_: model.RefOf) -> int:
        kind, start = self._kind(type_, "number", "string")
        text = self._json.number() if kind == "number" else self._json.string()
        index: int = self._at(start, lambda: whole_of(text))
        if not 0 <= index < 1 << 32:
            raise self._json.fail(Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in u32", start)
        if self._references is not None:
            path = str(self._json.path)
            self._charge(_REFERENCE + len(path))
            self._references.append((start, path, type_.element.full_name, index))
        return index

    # Containers ---------------------------------------------------------------------------------------------

    def _array(self, type_: model.Type, element: model.Type, length: int | None) -> list[Value]:
        self._kind(type_, "array")
        self._enter()
        self._charge(_CONTAINER)
        values: list[Value] = []

        def one(_: int) -> None:
            self._charge(_ENTRY)
            values.append(self.value(element))

        self._elements(one, length, type_)
        self._depth -= 1
        return values

    def _set(self, type_: model.SetOf, element: model.Type) -> list[Value]:
        self._kind(type_, "array")
        self._enter()
        self._charge(_CONTAINER)
        found: dict[Value, None] = {}

        def one(_: int) -> None:
            self._charge(_NODE)
            self._json.blanks()
            start = self._json.pos
            value = self.value(element)
            if value in found:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, "an element of the set is there twice", start)
            found[value] = None

        self._elements(one, None, type_)
        self._depth -= 1
        return sorted(found)

    def _map(self, type_: model.MapOf) -> dict[Value, Value]:
        self._kind(type_, "object")
        self._enter()
        self._charge(_CONTAINER)
        found: dict[Value, Value] = {}

        def entry(name: str, start: int) -> None:
            self._charge(_NODE)
            key = self._at(start, lambda: self._key(type_.key, name))
            if key in found:
                raise self._json.fail(Fault.JSON_DUPLICATE_KEY, f"{short(name)} is there twice", start)
            self._json.expect(":")
            found[key] = self.value(type_.value)

        self._members(entry, are_entries=True)
        self._depth -= 1
        return dict(sorted(found.items(), key=lambda each: each[0]))

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
        self._charge(_STRUCT + _ENTRY * len(struct.fields))
        fields = {each.name: each for each in struct.fields}
        found: dict[str, Value] = {}

        def member(name: str, start: int) -> None:
            if name not in fields:
                problem = f"{struct.name} has no field `{short(name)}`"
                raise json.fail(Fault.JSON_UNKNOWN_FIELD, unknown(problem, name, fields), start)
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
            made = plain(self._schema, field.type, field.default)
            self._charge(cost(made))  # one too many is no harm: the schema has it in full
            return made
        if isinstance(field.type, model.OptionalOf):
            return None
        self._json.path.steps.append(field.name)
        raise self._json.fail(Fault.MISSING_FIELD, f"`{field.name}` is missing", end)

    def _union(self, type_: model.Named) -> Value:
        json = self._json
        self._charge(_STRUCT)
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
            raise json.fail(Fault.UNKNOWN_ALTERNATIVE, unknown(problem, name, alternatives), start)
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
                raise json.fail(Fault.JSON_UNKNOWN_FIELD, unknown(problem, name, full_names), start)
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

            def one(_: int) -> None:
                self._charge(_ENTRY)
                objects.append(self._object(reference))

            self._elements(one, None, reference)
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
