"""F5. Our own layout rule for memcpy structs, the same on every ABI.

Little-endian. A scalar of 1, 2, 4 or 8 bytes is aligned to its size; a uuid is 16 bytes with alignment 1.
Fields lie in the order of the declaration, each at the next multiple of its alignment. A struct's alignment
is the largest of its fields, and its size is rounded up to it; an array's stride is its element's size. What
is between is padding, always zero. A struct without fields has size 0 and alignment 1.
"""

from collections.abc import Mapping, Sequence

from mfidl import model

_SIZES = {model.Scalar.BOOL: 1, model.Scalar.TIMESTAMP: 8, model.Scalar.DURATION: 8}

Declared = Mapping[str, model.Declaration]


def size_and_align(type_: model.Type, declared: Declared) -> tuple[int, int] | None:
    """Size and alignment of a type without aliases; None where the size is not fixed or a struct is not
    memcpy.
    """
    match type_:
        case model.Primitive(model.Scalar.UUID):
            return 16, 1
        case model.Primitive(model.Scalar.STRING | model.Scalar.BYTES):
            return None
        case model.Primitive(scalar):
            size = _SIZES.get(scalar) or scalar.bits // 8
            return size, size
        case model.ArrayOf(element, length):
            inner = size_and_align(element, declared)
            return None if inner is None else (inner[0] * length, inner[1])
        case model.Named(full_name, model.DeclKind.ENUM):
            enum = declared[full_name]
            assert isinstance(enum, model.Enum)
            return size_and_align(enum.base, declared)
        case model.Named(full_name, model.DeclKind.FLAGS):
            flags = declared[full_name]
            assert isinstance(flags, model.Flags)
            return size_and_align(flags.base, declared)
        case model.Named(_, model.DeclKind.UNION):
            return None
        case model.Named(full_name, _):
            struct = declared[full_name]
            assert isinstance(struct, model.Struct)
            return None if struct.layout is None else (struct.layout.size, struct.layout.align)
        case _:
            return None


def lay_out(fields: Sequence[model.Field], declared: Declared) -> model.Layout | None:
    """The layout of a struct of these fields; None where a field's size is not fixed."""
    at, align = 0, 1
    slots: list[model.FieldSlot] = []
    padding: list[model.Padding] = []
    for field in fields:
        found = size_and_align(field.type, declared)
        if found is None:
            return None
        size, field_align = found
        offset = _round_up(at, field_align)
        if offset > at:
            padding.append(model.Padding(at, offset - at))
        slots.append(model.FieldSlot(field.name, offset, size, field_align))
        at, align = offset + size, max(align, field_align)
    total = _round_up(at, align)
    if total > at:
        padding.append(model.Padding(at, total - at))
    return model.Layout(total, align, tuple(slots), tuple(padding))


def _round_up(value: int, align: int) -> int:
    return (value + align - 1) // align * align
