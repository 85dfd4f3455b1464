"""F6. Type expressions of the schema as Python annotations.

Values are concrete (`list[int]`); arguments of callers may be any type of the kind (`Sequence[int]`).
"""

from mfidl.emit.python.context import Context
from mfidl.model import (
    AliasOf,
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    RefOf,
    Scalar,
    SetOf,
    Type,
)

_PLAIN = {
    Scalar.BOOL: "bool",
    Scalar.F32: "float",
    Scalar.F64: "float",
    Scalar.STRING: "str",
    Scalar.BYTES: "bytes",
}


def annotation(context: Context, type_: Type, *, given: bool = False) -> str:
    """`type_` is best a spelled type, so that aliases keep their names. `given`: accept any container of the
    kind.
    """
    match type_:
        case Primitive():
            return scalar_name(context, type_.scalar)
        case Named():
            return context.type_name(type_.full_name)
        case RefOf():
            return annotation(context, type_.element, given=given)
        case AliasOf():
            if given and _holds_container(type_.target):
                return annotation(context, type_.target, given=True)
            return context.type_name(type_.full_name)
        case OptionalOf():
            return f"{annotation(context, type_.element, given=given)} | None"
        case ListOf() | ArrayOf():
            outer = context.imports.name("collections.abc", "Sequence") if given else "list"
            return f"{outer}[{annotation(context, type_.element, given=given)}]"
        case SetOf():
            outer = context.imports.name("collections.abc", "Set", "AbstractSet") if given else "set"
            return f"{outer}[{annotation(context, type_.element)}]"
        case MapOf():
            outer = context.imports.name("collections.abc", "Mapping") if given else "dict"
            key = annotation(context, type_.key)
            return f"{outer}[{key}, {annotation(context, type_.value, given=given)}]"


def scalar_name(context: Context, scalar: Scalar) -> str:
    match scalar:
        case Scalar.UUID:
            return context.imports.name("uuid", "UUID")
        case Scalar.TIMESTAMP:
            return context.imports.name("mf.codec.times", "Timestamp")
        case Scalar.DURATION:
            return context.imports.name("mf.codec.times", "Duration")
        case _:
            return _PLAIN.get(scalar, "int")


def _holds_container(type_: Type) -> bool:
    """Whether a caller may hand in another type than the one that it becomes."""
    match type_:
        case ListOf() | ArrayOf() | SetOf() | MapOf():
            return True
        case OptionalOf():
            return _holds_container(type_.element)
        case AliasOf():
            return _holds_container(type_.target)
        case _:
            return False
