"""F6. Whether bytes of one type can be read as another, for each tier."""

from mfidl import model
from mfidl.model import Scalar, Tier

_FEBIRD_WIDTHS = (
    (Scalar.U16, Scalar.U32, Scalar.U64),
    (Scalar.I16, Scalar.I32, Scalar.I64),
)
_ARCHIVE_WIDTHS = (
    (Scalar.U8, Scalar.U16, Scalar.U32, Scalar.U64),
    (Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64),
)


def readable_as(old: model.Type, new: model.Type, tier: Tier) -> bool:
    """Whether a reader of `new` accepts every value that a writer of `old` sends. Declared types are compared
    by name: changes inside of them are reported there.
    """
    if old == new:
        return True
    match old, new:
        case model.Primitive(before, coding), model.Primitive(after, new_coding):
            return coding == new_coding and coding is not model.Coding.FIXED and _scalars(before, after, tier)
        case model.ListOf(before), model.ListOf(after):
            return tier is not Tier.MEMCPY and readable_as(before, after, tier)
        case model.SetOf(before), model.SetOf(after):
            return tier is not Tier.MEMCPY and readable_as(before, after, tier)
        case model.MapOf(key, value), model.MapOf(new_key, new_value):
            return readable_as(key, new_key, tier) and readable_as(value, new_value, tier)
        case model.OptionalOf(before), model.OptionalOf(after):
            return readable_as(before, after, tier)
        case model.ArrayOf(before, length), model.ArrayOf(after, new_length):
            return length == new_length and tier is not Tier.MEMCPY and readable_as(before, after, tier)
        case _:
            return False


def uncoded(type_: model.Type) -> model.Type:
    """As code sees it, to which it is the same how an integer of an archive is written."""
    match type_:
        case model.Primitive(scalar, _):
            return model.Primitive(scalar)
        case model.ListOf(element):
            return model.ListOf(uncoded(element))
        case model.SetOf(element):
            return model.SetOf(uncoded(element))
        case model.MapOf(key, value):
            return model.MapOf(uncoded(key), uncoded(value))
        case model.OptionalOf(element):
            return model.OptionalOf(uncoded(element))
        case model.ArrayOf(element, length):
            return model.ArrayOf(uncoded(element), length)
        case _:
            return type_


def _scalars(old: Scalar, new: Scalar, tier: Tier) -> bool:
    if tier is Tier.ARCHIVE and (old, new) == (Scalar.STRING, Scalar.BYTES):
        return True
    widths = {Tier.FEBIRD: _FEBIRD_WIDTHS, Tier.ARCHIVE: _ARCHIVE_WIDTHS}.get(tier, ())
    return any(old in row and new in row and row.index(old) < row.index(new) for row in widths)


def zero_is_legal(type_: model.Type, program: model.Program) -> bool:
    """Whether all bits zero is a value of a fixed-size type: that is what an older writer's padding contains
    for a new field."""
    match type_:
        case model.Named(_, model.DeclKind.ENUM):
            enum = program.enum(type_)
            return enum.open or any(member.number == 0 for member in enum.members)
        case model.Named(_, model.DeclKind.STRUCT):
            return all(zero_is_legal(field.type, program) for field in program.struct(type_).fields)
        case model.ArrayOf(element, _):
            return zero_is_legal(element, program)
        case _:
            return True
