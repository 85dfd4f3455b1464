"""F6. What is taken in the body of a generated function, and facts that its writer and its reader share."""

from collections.abc import Iterator

from mfidl.emit.naming import Scope
from mfidl.emit.python.context import Context
from mfidl.emit.python.fixed import Fixed
from mfidl.model import (
    ArrayOf,
    Field,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    Scalar,
    SetOf,
    Struct,
    Tier,
    Type,
)
from mfidl.model.types import DeclKind

MAX_DEPTH = 64
_OWN_LOCALS = frozenset(
    """
    append blob count data depth end item memoryview number out part parts pos present row rows size struct
    text value values i j k l m n
    """.split()  # noqa: SIM905
)
_SMALLEST = {Scalar.F32: 4, Scalar.F64: 8, Scalar.UUID: 16}

# The integer whose sequence helpers a scalar uses, and the plural of the rest.
_SEQUENCES = {
    Scalar.TIMESTAMP: "i64s",
    Scalar.DURATION: "i64s",
    Scalar.STRING: "strings",
    Scalar.BYTES: "blobs",
}


def function_scope(context: Context) -> Scope:
    """A local that had the name of anything global would hide it."""
    return Scope(context.facts.global_words, _OWN_LOCALS)


def sequence_name(scalar: Scalar) -> str:
    return _SEQUENCES.get(scalar, f"{scalar.value}s")


def integer_of(context: Context, type_: Type) -> Scalar | None:
    """The varint that a value is, or None: u16 to u64, i16 to i64, times, enums of such a base."""
    match type_:
        case Primitive(scalar=Scalar.TIMESTAMP | Scalar.DURATION):
            return Scalar.I64
        case Primitive():
            return type_.scalar if type_.scalar.is_integer and type_.scalar.bits > 8 else None
        case Named(kind=DeclKind.ENUM):
            return integer_of(context, context.program.enum(type_).base)
        case _:
            return None


def runs(context: Context, struct: Struct, names: tuple[str, ...]) -> Iterator[list[tuple[Field, str]]]:
    """The fields in order; neighbours of fixed size are together."""
    fixed = Fixed(context)
    run: list[tuple[Field, str]] = []
    for each, name in zip(struct.fields, names, strict=True):
        if fixed.is_fixed(each.type):
            run.append((each, name))
            continue
        if run:
            yield run
        run = []
        yield [(each, name)]
    if run:
        yield run


def smallest(context: Context, type_: Type) -> int:
    """Bytes of the smallest febird encoding."""
    match type_:
        case Primitive():
            return _SMALLEST.get(type_.scalar, 1)
        case ArrayOf():
            return type_.length * smallest(context, type_.element)
        case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
            return smallest_struct(context, context.program.struct(type_))
        case _:
            return 1


def smallest_struct(context: Context, struct: Struct) -> int:
    if struct.layout is not None:
        return struct.layout.size
    return sum(smallest(context, each.type) for each in struct.fields)


def counts_depth(context: Context, struct: Struct) -> bool:
    return struct.tier is Tier.FEBIRD and context.facts.reaches_recursion(struct)


def height(context: Context, type_: Type, most: int = MAX_DEPTH) -> int:
    """Levels of structs and containers in a value, but for what a function counts that knows its depth.

    Not looked for beyond `most`.
    """
    if most <= 0:
        return 0
    match type_:
        case ListOf() | ArrayOf() | SetOf():
            return 1 + height(context, type_.element, most - 1)
        case MapOf():
            return 1 + max(height(context, each, most - 1) for each in (type_.key, type_.value))
        case OptionalOf():
            return height(context, type_.element, most)
        case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
            struct = context.program.struct(type_)
            return 0 if counts_depth(context, struct) else 1 + struct_height(context, struct, most - 1)
        case _:
            return 0


def struct_height(context: Context, struct: Struct, most: int = MAX_DEPTH) -> int:
    if struct.tier is Tier.MEMCPY:
        return 0
    return max((height(context, each.type, most) for each in struct.fields), default=0)
