"""F6. Values of the schema (constants, defaults) as Python expressions, and the initial values of fields."""

import math

from mfidl.emit.python.context import Context
from mfidl.emit.python.names import enum_members
from mfidl.emit.python.types import annotation, scalar_name
from mfidl.model import (
    ArrayOf,
    Enum,
    EnumValue,
    Field,
    Flags,
    FlagsValue,
    ListOf,
    ListValue,
    MapOf,
    MapValue,
    Named,
    OptionalOf,
    Primitive,
    RefOf,
    Scalar,
    SetOf,
    Struct,
    StructValue,
    Tier,
    Type,
    Union,
    UnionValue,
    Value,
)
from mfidl.model.types import DeclKind
from mfidl.semantics.numbers import as_held

_ZERO = {Scalar.BOOL: "False", Scalar.F32: "0.0", Scalar.F64: "0.0", Scalar.STRING: '""', Scalar.BYTES: 'b""'}


def text_literal(text: str) -> str:
    """With double quotes, as the formatter has them."""
    shown = repr(text)
    if shown[0] == '"' or '"' in text:
        return shown
    return '"' + shown[1:-1].replace("\\'", "'") + '"'


def literal(context: Context, type_: Type, value: Value) -> str:
    """An expression whose value has the annotation of `type_`."""
    if isinstance(type_, OptionalOf):
        return literal(context, type_.element, value)
    match value:
        case bool() | int() | float() | str() | bytes():
            return _plain(context, type_, value)
        case EnumValue():
            return enum_member(context, value.enum, value.member)
        case FlagsValue():
            return _flags(context, value)
        case ListValue():
            return _list(context, type_, value)
        case MapValue():
            return _map(context, type_, value)
        case StructValue():
            return _struct(context, value)
        case UnionValue():
            return _union(context, value)


def _plain(context: Context, type_: Type, value: bool | int | float | str | bytes) -> str:
    match value:
        case bool():
            return str(value)
        case int():
            return _wrapped(context, type_, str(value))
        case float():
            return float_literal(type_, value)
        case str():
            return text_literal(value)
        case bytes():
            if isinstance(type_, Primitive) and type_.scalar is Scalar.UUID:
                return f'{scalar_name(context, Scalar.UUID)}(hex="{value.hex()}")'
            return "b" + text_literal(value.decode()) if value.isascii() else _bytes_literal(value)


def float_literal(type_: Type, value: float) -> str:
    """For an f32 the value after decoding: it is the same before encoding and after."""
    value = as_held(value, type_)
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def _bytes_literal(value: bytes) -> str:
    return 'b"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'


def enum_member(context: Context, enum: str, member: str) -> str:
    declared = context.program.declaration(enum)
    assert isinstance(declared, Enum | Flags)
    written = [each.name for each in declared.members]
    return f"{context.type_name(enum)}.{enum_members(declared.members)[written.index(member)]}"


def _flags(context: Context, value: FlagsValue) -> str:
    if not value.members:
        return f"{context.type_name(value.flags)}({value.bits})"
    return " | ".join(enum_member(context, value.flags, each) for each in value.members)


def _union(context: Context, value: UnionValue) -> str:
    union = context.program.union(Named(value.union, DeclKind.UNION))
    chosen = next(each for each in union.alternatives if each.name == value.alternative)
    return f"{context.alternative_name(union, chosen)}({literal(context, chosen.type, value.value)})"


def _map(context: Context, type_: Type, value: MapValue) -> str:
    assert isinstance(type_, MapOf)
    entries = (
        f"{literal(context, type_.key, key)}: {literal(context, type_.value, item)}"
        for key, item in value.entries
    )
    return "{" + ", ".join(entries) + "}"


def default_factory(context: Context, type_: Type, value: Value) -> str:
    """A function that makes the default of a field each time."""
    text = literal(context, type_, value)
    plain = type_.element if isinstance(type_, OptionalOf) else type_
    if text in ("[]", "{}", "set()"):
        return annotation(context, plain)
    if _needs_naming(plain):
        text = f"{annotation(context, plain)}({text})"
    return f"lambda: {text}"


def zero(context: Context, type_: Type) -> str:
    """What a field without a default starts with."""
    match type_:
        case Primitive():
            if type_.scalar is Scalar.UUID:
                return f"{scalar_name(context, type_.scalar)}(int=0)"
            return _ZERO.get(type_.scalar) or _wrapped(context, type_, "0")
        case OptionalOf():
            return "None"
        case ListOf():
            return "[]"
        case SetOf():
            return "set()"
        case MapOf():
            return "{}"
        case ArrayOf():
            element = zero(context, type_.element)
            if is_immutable(type_.element):
                return f"[{element}] * {type_.length}"
            return f"[{element} for _ in range({type_.length})]"
        case RefOf():
            return context.imports.name("mf.codec.archived", "UNSET")
        case Named():
            return _zero_of_declared(context, type_)
        case _:
            raise AssertionError(type_)


def _zero_of_declared(context: Context, named: Named) -> str:
    match context.program.declaration(named.full_name):
        case Enum() as enum:
            return _first_member(context, enum)
        case Union() as union:
            first_one = union.alternatives[0]
            return f"{context.alternative_name(union, first_one)}({zero(context, first_one.type)})"
        case Struct(tier=Tier.CUSTOM) as struct:
            return _custom(context, struct)
        case Struct():
            return f"{context.type_name(named.full_name)}()"
        case _:
            return f"{context.type_name(named.full_name)}(0)"  # flags


def _custom(context: Context, struct: Struct) -> str:
    """Its codec is imported when the first value is made."""
    name = context.imports.name("mf.codec.custom", "custom_value")
    codec = struct.python_codec
    return f'{name}("{codec.module}", "{codec.codec}")' if codec is not None else f'{name}("", "")'


def _first_member(context: Context, enum: Enum) -> str:
    if not enum.members:  # an open one, so it has the value all the same
        return f"{context.type_name(enum.full_name)}(0)"
    first = next((each for each in enum.members if each.number == 0), enum.members[0])
    return enum_member(context, enum.full_name, first.name)


def is_immutable(type_: Type) -> bool:
    match type_:
        case Primitive():
            return True
        case OptionalOf() | RefOf():
            return True
        case Named():
            return type_.kind in (DeclKind.ENUM, DeclKind.FLAGS)
        case _:
            return False


def field_default(context: Context, each: Field) -> tuple[str, bool]:
    """What a field begins with, and whether each instance needs one of its own, since it can be changed."""
    optional = isinstance(each.type, OptionalOf)
    mutable = not is_immutable(each.type) or (
        optional and isinstance(each.default, ListValue | MapValue | StructValue | UnionValue)
    )
    text = zero(context, each.type) if each.default is None else literal(context, each.type, each.default)
    if mutable and isinstance(each.type, OptionalOf) and _needs_naming(each.type.element):
        text = f"{annotation(context, each.type.element)}({text})"
    return text, mutable


def _needs_naming(type_: Type) -> bool:
    """A set, list or dict whose values are of several types: absent ones, or the alternatives of a union.
    mypy finds no common one where the container may be absent as well.
    """
    match type_:
        case ListOf() | ArrayOf() | SetOf():
            return _is_one_of_several(type_.element)
        case MapOf():
            return _is_one_of_several(type_.value)
        case _:
            return False


def _is_one_of_several(type_: Type) -> bool:
    union = isinstance(type_, Named) and type_.kind is DeclKind.UNION
    return union or isinstance(type_, OptionalOf) or _needs_naming(type_)


def is_made_by_call(each: Field) -> bool:
    """Whether a parameter's default is made for each call, because its content is mutable.

    Its signature then says None, which an optional parameter cannot: None is one of its values.
    """
    return not isinstance(each.type, OptionalOf) and _has_struct(each.default)


def _has_struct(value: Value | None) -> bool:
    match value:
        case StructValue() | UnionValue():
            return True
        case ListValue():
            return any(_has_struct(each) for each in value.elements)
        case MapValue():
            return any(_has_struct(item) for _, item in value.entries)
        case _:
            return False


def constant_default(context: Context, each: Field) -> str:
    """The default of a parameter in its signature: calls share it, so it has an immutable type where
    possible.
    """
    if each.default is None or is_made_by_call(each):
        return "None"
    text = literal(context, each.type, each.default)
    match each.default:
        case ListValue() if text.startswith("["):
            return f"({text[1:-1]}{',' * (len(each.default.elements) == 1)})"
        case ListValue():
            return "frozenset()" if text == "set()" else f"frozenset({text})"
        case MapValue():
            return f"{context.imports.name('types', 'MappingProxyType')}({text})"
        case _:
            return text


def _wrapped(context: Context, type_: Type, text: str) -> str:
    if isinstance(type_, Primitive) and type_.scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
        return f"{scalar_name(context, type_.scalar)}({text})"
    return text


def _list(context: Context, type_: Type, value: ListValue) -> str:
    assert isinstance(type_, ListOf | ArrayOf | SetOf)
    elements = ", ".join(literal(context, type_.element, each) for each in value.elements)
    if isinstance(type_, SetOf):
        return "{" + elements + "}" if elements else "set()"
    return f"[{elements}]"


def _struct(context: Context, value: StructValue) -> str:
    struct = context.program.struct(Named(value.struct, DeclKind.STRUCT))
    written = [each.name for each in struct.fields]
    parts = []
    for name, item in value.fields:
        at = written.index(name)
        parts.append(f"{context.attributes(struct)[at]}={literal(context, struct.fields[at].type, item)}")
    given = {name for name, _ in value.fields}
    for at, field in enumerate(struct.fields):  # an optional one, since a value has all others
        if field.required and field.name not in given:
            parts.append(f"{context.attributes(struct)[at]}=None")
    return f"{context.type_name(value.struct)}({', '.join(parts)})"
