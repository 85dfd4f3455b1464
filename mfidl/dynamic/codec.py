"""F6. Values to bytes, to JSON and back: by the runtime's codecs, which are made of the program's types."""

import re
from typing import Any

from mf.codec import decode_error, json
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.limits import DEFAULT_LIMITS, Limits
from mf.core.error import Error
from mfidl import model
from mfidl.dynamic.errors import DecodeError, EncodeError, UnknownTypeError, Violation
from mfidl.dynamic.names import Root, find, root_of_type
from mfidl.dynamic.objects import of_plain, to_plain
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Tier

_DECLARED = (model.DeclKind.STRUCT, model.DeclKind.ERROR, model.DeclKind.UNION)
_PLACED = re.compile(r"(?:(.*?), )?at byte \d+: (.*)", re.DOTALL)


def schema_of(program: model.Program | Schema) -> Schema:
    return program if isinstance(program, Schema) else Schema(program)


def root_of(schema: Schema, type_: str | model.Type) -> Root:
    """Raises UnknownTypeError."""
    return find(schema, type_) if isinstance(type_, str) else root_of_type(schema, type_)


def planned_tier(schema: Schema, type_: model.Type) -> Tier:
    """The tier of a value on its own."""
    if isinstance(type_, model.Named) and type_.kind in _DECLARED:
        return schema.tier(type_)
    return Tier.MEMCPY if schema.has_layout(type_) else Tier.FEBIRD


def possible_tier(schema: Schema, root: Root, tier: Tier | None) -> Tier:
    """The requested tier, if values of the type can have it; otherwise UnknownTypeError."""
    planned = planned_tier(schema, root.type)
    if tier is None or tier is planned or tier is Tier.FEBIRD:
        return tier or planned
    if tier is Tier.MEMCPY and schema.has_layout(root.type):
        return tier
    text = model.spell(root.type)
    raise UnknownTypeError(text, 0, len(text), f"`{text}` is {planned.value}, it cannot be {tier.value}")


class Coded:
    """The codec of a type in one tier. A value that is no struct or union, or in another tier than its own,
    is the only field of a struct."""

    def __init__(self, schema: Schema, root: Root, tier: Tier, *, checked: bool) -> None:
        self.name = root.name
        self.shape = schema.shape(root.type, root.constraints, checked=checked)
        whole = bare(self.shape)
        self.root = (
            whole if isinstance(whole, s.Composite) and planned_tier(schema, root.type) is tier else None
        )
        self.codec: Codec[Any, Any] = Codec(self.root or _alone(self.shape, tier))
        self.json = self.shape
        if isinstance(whole, s.Struct) and whole.implicit:
            # Parameters and results are objects in JSON; their name begins no path.
            self.json = s.Struct("", whole.type, lambda: whole.fields, memcpy=whole.memcpy)


def _alone(shape: s.Shape, tier: Tier) -> s.Struct:
    fields = (s.Field("", shape, "value"),)
    memcpy = tier is Tier.MEMCPY
    return s.Struct("value", s.bare_made, lambda: fields, memcpy=memcpy, implicit=True, parts=s.bare_parts)


def coded(schema: Schema, type_: str | model.Type, tier: Tier | None, *, checked: bool = False) -> Coded:
    """Made once. Raises UnknownTypeError."""
    key = (type_, tier, checked)
    found: Coded | None = schema.codecs.get(key)
    if found is None:
        root = root_of(schema, type_)
        found = Coded(schema, root, possible_tier(schema, root, tier), checked=checked)
        schema.codecs[key] = found
    return found


def encode(
    program: model.Program | Schema, type_: str | model.Type, value: Value, tier: Tier | None = None
) -> bytes:
    """The bytes of a value; EncodeError if it is not of this type. `tier`: another one than the planned one,
    if the type can have it (febird can hold everything).
    """
    made = coded(schema_of(program), type_, tier)
    try:
        return bytes(made.codec.encode(_object(made, value)))
    except Error as error:
        raise EncodeError(error.message) from None


def decode(
    program: model.Program | Schema,
    type_: str | model.Type,
    data: bytes,
    tier: Tier | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Value:
    """The value of all the bytes; DecodeError if they are invalid."""
    made = coded(schema_of(program), type_, tier)
    try:
        return to_plain(made.shape, made.codec.within(limits).decode(data))
    except decode_error.DecodeError as error:
        raise _malformed(error) from None


def to_json(program: model.Program | Schema, type_: str | model.Type, value: Value) -> str:
    """Canonical, without blanks and line ends: the same text as the runtimes make."""
    made = coded(schema_of(program), type_, None)
    try:
        return json.to_json(_object(made, value), made.json)
    except Error as error:
        raise EncodeError(error.message) from None


def from_json(
    program: model.Program | Schema,
    type_: str | model.Type,
    text: str | bytes,
    limits: Limits = DEFAULT_LIMITS,
) -> Value:
    """The value of the whole text; DecodeError, whose offset counts bytes, if it is invalid."""
    made = coded(schema_of(program), type_, None)
    try:
        return to_plain(made.shape, json.from_json(made.json, text, limits=limits))
    except decode_error.DecodeError as error:
        raise _malformed(error) from None


def violation(program: model.Program | Schema, type_: str | model.Type, value: Value) -> Violation | None:
    """The first constraint of the schema, in the order of the bytes, that a value violates. Programs refuse
    such values in both directions; bytes and JSON can contain them. `value` is as `decode` and `from_json`
    give it.
    """
    schema = schema_of(program)
    data = encode(schema, type_, value)
    try:
        coded(schema, type_, None, checked=True).codec.decode(data)
    except Error as error:
        placed = _PLACED.fullmatch(error.message)
        return Violation(placed[1] or "", placed[2]) if placed else Violation("", error.message)
    return None


def _object(made: Coded, value: Value) -> Any:
    try:
        return of_plain(made.shape, value)
    except CodecError as failure:
        raise EncodeError(failure.text(made.name)) from None


def _malformed(error: decode_error.DecodeError) -> DecodeError:
    place = f"{error.path}, at byte {error.offset}".removeprefix(", ")
    return DecodeError(error.fault, error.offset, error.path, error.message.removeprefix(f"{place}: "))
