"""F6. The types of proto2 for those of schemas, and what of the program an archive value can hold.

bool                        bool
u8 u16 u32, u64             uint32, uint64                      varint
i8 i16 i32, i64, duration   sint32, sint64                      zigzag varint
i32.varint, i64.varint      int32, int64                        varint in two's complement
i32.fixed, i64.fixed        sfixed32, sfixed64
u32.fixed, u64.fixed        fixed32, fixed64
timestamp                   sfixed64                            always large
f32 f64 string bytes        float double string bytes
uuid                        bytes, 16 of them
closed enum                 enum, while its numbers fit int32; else as an open one
open enum                   int64 or uint64: an unknown value must not vanish from a required field
flags                       uint32 or uint64
archive struct, union       message (a union holds one `oneof`)
other structs and unions    bytes: the value in its own tier
ref<T>                      uint32: the index in the table of T, see docs/proto.md
"""

from collections.abc import Iterator

from mfidl import model
from mfidl.model import Coding, Scalar, Tier

_SCALARS = {
    Scalar.BOOL: "bool",
    Scalar.I8: "sint32",
    Scalar.I16: "sint32",
    Scalar.I32: "sint32",
    Scalar.I64: "sint64",
    Scalar.U8: "uint32",
    Scalar.U16: "uint32",
    Scalar.U32: "uint32",
    Scalar.U64: "uint64",
    Scalar.F32: "float",
    Scalar.F64: "double",
    Scalar.STRING: "string",
    Scalar.BYTES: "bytes",
    Scalar.TIMESTAMP: "sfixed64",
    Scalar.DURATION: "sint64",
    Scalar.UUID: "bytes",
}
CODED = {
    (Coding.VARINT, Scalar.I32): "int32",
    (Coding.VARINT, Scalar.I64): "int64",
    (Coding.FIXED, Scalar.I32): "sfixed32",
    (Coding.FIXED, Scalar.I64): "sfixed64",
    (Coding.FIXED, Scalar.U32): "fixed32",
    (Coding.FIXED, Scalar.U64): "fixed64",
}
INT32 = (-(1 << 31), (1 << 31) - 1)
# What protobuf takes as the key of a map.
MAP_KEYS = frozenset((*_SCALARS.values(), *CODED.values())) - {"float", "double", "bytes"}


class Closure:
    """Look-ups over the program."""

    def __init__(self, program: model.Program) -> None:
        self._program = program
        self._used: set[str] = set()
        for module in program.modules:
            for each in module.declarations:
                if is_archive(each):
                    self._used.add(each.full_name)
                    self._used |= set(self.direct(each))

    def of_module(self, module: model.Module) -> list[model.Declaration]:
        """What the module's file declares, in the order of the schema: archive types, and enums in them."""
        return [
            each
            for each in module.declarations
            if is_archive(each)
            or (isinstance(each, model.Enum) and each.full_name in self._used and is_proto_enum(each))
        ]

    def direct(self, declaration: model.Declaration) -> Iterator[str]:
        """Full names of the declared types in the fields of one struct or union."""
        if isinstance(declaration, model.Struct | model.Union):
            yield from model.names_in(field.type for field in model.members(declaration))

    def scalar(self, type_: model.Type) -> str | None:
        """The scalar or `bytes` that carries a type; None for messages and proto enums."""
        match type_:
            case model.Primitive(scalar, coding):
                return _SCALARS[scalar] if coding is None else CODED[coding, scalar]
            case model.RefOf():
                return "uint32"
            case model.Named(_, model.DeclKind.FLAGS):
                return _SCALARS[self._program.flags(type_).base.scalar]
            case model.Named(_, model.DeclKind.ENUM):
                enum = self._program.enum(type_)
                signed = enum.base.scalar.is_signed
                return None if is_proto_enum(enum) else "int64" if signed else "uint64"
            case model.Named(full_name, _):
                return None if is_archive(self._program.declaration(full_name)) else "bytes"
            case _:
                return None

    def note(self, type_: model.Type) -> str:
        """What a reader of the proto file cannot see: the type in the schema, where its carrier is wider."""
        match type_:
            case model.Primitive(scalar):
                return "" if _SCALARS[scalar] == scalar.value else _noted(scalar)
            case model.Named(full_name, kind):
                declaration = self._program.declaration(full_name)
                if isinstance(declaration, model.Struct | model.Union):
                    return "" if is_archive(declaration) else f"{full_name}, {declaration.tier.value}"
                plain = kind is model.DeclKind.ENUM and self.scalar(type_) is None
                return "" if plain else f"{kind.value} {full_name}"
            case model.RefOf(element):
                return f"index in the table of {element.full_name}"
            case _:
                return ""


def _noted(scalar: Scalar) -> str:
    same = {Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64, Scalar.F32, Scalar.F64}
    if scalar in same:
        return ""
    units = {Scalar.TIMESTAMP: " in ns since 1970", Scalar.DURATION: " in ns", Scalar.UUID: ", 16 bytes"}
    return scalar.value + units.get(scalar, "")


def is_archive(declaration: model.Declaration) -> bool:
    return isinstance(declaration, model.Struct | model.Union) and declaration.tier is Tier.ARCHIVE


def is_proto_enum(enum: model.Enum) -> bool:
    low, high = INT32
    return not enum.open and all(low <= member.number <= high for member in enum.members)
