"""F6. Defaults of the schema, and zeros, as plain values."""

from mfidl import model
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Scalar
from mfidl.semantics.numbers import as_held


def plain(schema: Schema, type_: model.Type, value: model.Value) -> Value:
    """A value of the model, of this type, as docs of value.py have it."""
    if isinstance(type_, model.OptionalOf):
        type_ = type_.element
    match value:
        case model.EnumValue():
            return value.number
        case model.FlagsValue():
            return value.bits
        case model.ListValue(elements):
            assert isinstance(type_, model.ListOf | model.SetOf | model.ArrayOf)
            return [plain(schema, type_.element, each) for each in elements]
        case model.MapValue(entries):
            assert isinstance(type_, model.MapOf)
            made = [(plain(schema, type_.key, k), plain(schema, type_.value, v)) for k, v in entries]
            return dict(sorted(made, key=lambda entry: _key(entry[0])))
        case model.StructValue(_, written):
            assert isinstance(type_, model.Named)
            given = dict(written)
            return {each.name: _of_field(schema, each, given) for each in schema.struct(type_).fields}
        case model.UnionValue(_, name, held):
            assert isinstance(type_, model.Named)
            chosen = next(each for each in schema.union(type_).alternatives if each.name == name)
            return {name: plain(schema, chosen.type, held)}
        case float():
            return as_held(value, type_)
        case _:
            return value


def _of_field(schema: Schema, field: model.Field, given: dict[str, model.Value]) -> Value:
    value = given.get(field.name, field.default)
    return zero(schema, field.type) if value is None else plain(schema, field.type, value)


def zero(schema: Schema, type_: model.Type) -> Value:
    """The value where nothing was given: 0, empty, absent, the first member, the first alternative."""
    number = schema.number(type_)
    if number is not None:
        if number.members is None or number.is_bool:
            return False if number.is_bool else 0.0 if number.is_float else 0
        assert isinstance(type_, model.Named)
        members = schema.program.enum(type_).members
        return members[0].number if members else 0
    match type_:
        case model.Primitive(Scalar.STRING):
            return ""
        case model.Primitive(scalar):
            return bytes(16) if scalar is Scalar.UUID else b""
        case model.ListOf() | model.SetOf():
            return []
        case model.MapOf():
            return {}
        case model.ArrayOf(element, length):
            first = zero(schema, element) if length else None
            return [_copied(first) for _ in range(length)] if _is_open(first) else [first] * length
        case model.Named(_, model.DeclKind.UNION):
            first = schema.union(type_).alternatives[0]
            return {first.name: zero(schema, first.type)}
        case model.Named():
            return {each.name: _of_field(schema, each, {}) for each in schema.struct(type_).fields}
        case _:
            return None


def _is_open(value: Value) -> bool:
    """Whether it can be changed in its place."""
    return isinstance(value, list | dict)


def _copied(value: Value) -> Value:
    """As deep as it can be changed: there may be millions, of which most are empty or flat."""
    if isinstance(value, list):
        return [_copied(each) for each in value] if value and _is_open(value[0]) else value.copy()
    return {name: _copied(each) if _is_open(each) else each for name, each in value.items()}


def zero_cost(schema: Schema, type_: model.Type) -> int:
    """Memory that `zero` takes beside a place for the value, roughly: a reader asks before it makes one that
    no bytes pay for.
    """
    if type_ not in schema.zero_costs:
        schema.zero_costs[type_] = _zero_cost(schema, type_)
    return schema.zero_costs[type_]


def _zero_cost(schema: Schema, type_: model.Type) -> int:
    match type_:
        case model.ArrayOf(element, length):
            return 56 + length * (8 + zero_cost(schema, element))
        case model.Named(_, model.DeclKind.UNION):
            return 48 + zero_cost(schema, schema.union(type_).alternatives[0].type)
        case model.Named() if schema.is_composite(type_):
            return 48 + sum(8 + zero_cost(schema, each.type) for each in schema.struct(type_).fields)
        case _:
            return 0


def cost(value: Value) -> int:
    """The same of a default that was made: its strings are the schema's own."""
    match value:
        case list():
            return 56 + sum(8 + cost(each) for each in value)
        case dict():
            return 48 + sum(100 + cost(each) for each in value.values())
        case _:
            return 0


def _key(value: Value) -> Value:
    return value.encode() if isinstance(value, str) else value
