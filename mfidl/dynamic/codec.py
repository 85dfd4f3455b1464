"""F6. Values to bytes and back, in any tier: the entry point of the tiers."""

from mfidl import model
from mfidl.dynamic import archive, custom, febird, memcpy
from mfidl.dynamic.decoding import Decoding, Limits, Listener, TierReader
from mfidl.dynamic.encoding import Encoding, TierWriter
from mfidl.dynamic.errors import UnknownTypeError
from mfidl.dynamic.names import Root, find
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Tier

_READERS: dict[Tier, TierReader] = {
    Tier.MEMCPY: memcpy.read_struct,
    Tier.FEBIRD: febird.read_struct,
    Tier.ARCHIVE: archive.read,
    Tier.CUSTOM: custom.read,
}
_WRITERS: dict[Tier, TierWriter] = {
    Tier.MEMCPY: memcpy.write_struct,
    Tier.FEBIRD: febird.write_struct,
    Tier.ARCHIVE: archive.write,
    Tier.CUSTOM: custom.write,
}
DEFAULT_LIMITS = Limits()
_DECLARED = (model.DeclKind.STRUCT, model.DeclKind.ERROR, model.DeclKind.UNION)


def schema_of(program: model.Program | Schema) -> Schema:
    return program if isinstance(program, Schema) else Schema(program)


def root_of(schema: Schema, type_: str | model.Type) -> Root:
    """Raises UnknownTypeError."""
    return find(schema, type_ if isinstance(type_, str) else model.spell(type_))


def planned_tier(schema: Schema, type_: model.Type) -> Tier:
    """The tier of a value on its own."""
    if isinstance(type_, model.Named) and type_.kind in _DECLARED:
        return schema.tier(type_)
    return Tier.FEBIRD if schema.fixed_size(type_) is None else Tier.MEMCPY


def encode(
    program: model.Program | Schema, type_: str | model.Type, value: Value, tier: Tier | None = None
) -> bytes:
    """The bytes of a value; EncodeError if it is not of this type. `tier`: another one than the planned one,
    if the type can have it (febird can hold everything).
    """
    schema = schema_of(program)
    root = root_of(schema, type_)
    chosen = possible_tier(schema, root, tier)
    to = Encoding(schema, _WRITERS, root.name)
    if isinstance(root.type, model.Named) and _is_whole(schema, root.type, chosen):
        to.in_tier(root.type, value)
    elif chosen is Tier.MEMCPY:
        memcpy.write(to, root.type, value)
    else:
        febird.write(to, root.type, value)
    return bytes(to.data)


def decode(
    program: model.Program | Schema,
    type_: str | model.Type,
    data: bytes,
    tier: Tier | None = None,
    limits: Limits = DEFAULT_LIMITS,
    listener: Listener | None = None,
) -> Value:
    """The value of all the bytes; DecodeError if they are invalid. `listener` is called for each part."""
    schema = schema_of(program)
    root = root_of(schema, type_)
    chosen = possible_tier(schema, root, tier)
    at = Decoding(schema, _READERS, bytes(data), root.name, limits, listener)
    if isinstance(root.type, model.Named) and _is_whole(schema, root.type, chosen):
        value = at.in_tier(root.type)
    elif chosen is Tier.MEMCPY:
        value = memcpy.read_alone(at, root.type)
    else:
        value = febird.read(at, root.type)
    at.finish()
    return value


def _is_whole(schema: Schema, type_: model.Named, chosen: Tier) -> bool:
    """A struct or union in its own tier: nothing is around it, not even a length."""
    return type_.kind in _DECLARED and schema.tier(type_) is chosen


def possible_tier(schema: Schema, root: Root, tier: Tier | None) -> Tier:
    """The requested tier, if values of the type can have it; otherwise UnknownTypeError."""
    planned = planned_tier(schema, root.type)
    if tier is None or tier is planned or tier is Tier.FEBIRD:
        return tier or planned
    if tier is Tier.MEMCPY and schema.fixed_size(root.type) is not None:
        return tier
    text = model.spell(root.type)
    raise UnknownTypeError(text, 0, len(text), f"`{text}` is {planned.value}, it cannot be {tier.value}")
