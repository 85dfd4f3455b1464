"""F6. Values of the schema as C++ expressions of exactly the type that they initialise."""

from mfidl.emit.cpp.names import Names
from mfidl.emit.cpp.text import quoted
from mfidl.emit.cpp.types import CppTypes
from mfidl.model import (
    AliasOf,
    ArrayOf,
    EnumValue,
    FlagsValue,
    ListOf,
    ListValue,
    MapOf,
    MapValue,
    Named,
    OptionalOf,
    Primitive,
    Program,
    RefOf,
    Scalar,
    SetOf,
    Struct,
    StructValue,
    Type,
    Union,
    UnionValue,
    Value,
    expand,
)

_SUFFIX = {Scalar.U64: "U", Scalar.U32: "U"}


class Literals:
    """Renders values; `home` as in CppTypes."""

    def __init__(self, program: Program, names: Names, types: CppTypes) -> None:
        self._program = program
        self._names = names
        self._types = types

    def within(self, declaration: Struct | Union) -> "Literals":
        """For values that the struct or union holds (CppTypes)."""
        return Literals(self._program, self._names, self._types.within(declaration))

    def of(self, value: Value, type_: Type, home: str) -> str:
        """An initialiser: the text after the `=` of a variable of the type."""
        type_ = expand(type_)
        match type_:
            case Primitive(scalar):
                return scalar_literal(value, scalar)
            case OptionalOf():
                return self._present(value, type_.element, home)
            case Named():
                return self._declared(value, type_, home)
            case ListOf() | SetOf():
                assert isinstance(value, ListValue)
                return _braced(self.of(each, type_.element, home) for each in value.elements)
            case ArrayOf():
                assert isinstance(value, ListValue)
                elements = _braced(self.of(each, type_.element, home) for each in value.elements)
                return "{" + elements + "}"  # the inner braces are those of the array inside std::array
            case MapOf():
                assert isinstance(value, MapValue)
                return _braced(
                    "{" + self.of(key, type_.key, home) + ", " + self.of(mapped, type_.value, home) + "}"
                    for key, mapped in value.entries
                )
            case AliasOf() | RefOf():
                raise AssertionError("expand() leaves no alias, and a ref has no value to write")

    def initial(self, type_: Type, home: str) -> str:
        """The initial value if it must differ from C++'s own, which is zero; otherwise empty."""
        enum = self._types.enum_without_zero(type_)
        if enum is None:
            return ""
        first = self._names.owner(enum.full_name).members(enum)[0]
        member = f"{self._types.declared(enum.full_name, home)}::{first}"
        is_array = isinstance(expand(type_), ArrayOf)
        return f"mf::filled<{self._types.spell(type_, home)}>({member})" if is_array else member

    def _present(self, value: Value, type_: Type, home: str) -> str:
        """The value of an optional: braces alone would initialise the optional itself, and empty ones make it
        empty."""
        written = self.of(value, type_, home)
        return self._types.spell(type_, home) + written if written.startswith("{") else written

    def _declared(self, value: Value, type_: Named, home: str) -> str:
        plain = self._plain(value, type_, home)
        return f"{self._types.spell(type_, home)}({plain})" if self._types.is_graph(type_) else plain

    def _plain(self, value: Value, type_: Named, home: str) -> str:
        name = self._types.declared(type_.full_name, home)
        if isinstance(value, EnumValue):
            enum = self._program.enum(type_)
            members = self._names.owner(type_.full_name).members(enum)
            index = next(i for i, each in enumerate(enum.members) if each.name == value.member)
            return f"{name}::{members[index]}"
        if isinstance(value, FlagsValue):
            return self._flags(value, type_, name)
        if isinstance(value, UnionValue):
            return self._union(value, type_, name, home)
        assert isinstance(value, StructValue)
        struct = self._program.struct(type_)
        members = self._names.owner(type_.full_name).members(struct)
        held = self.within(struct)
        given: dict[str, Value | None] = dict(value.fields)
        if (
            len(struct.cycle) > 1
        ):  # its members may stand without an initialiser (Describer), so all are given
            given = {each.name: given.get(each.name, each.default) for each in struct.fields}
        written = []
        for field, member in zip(struct.fields, members, strict=True):
            if field.name in given:
                inner = given[field.name]
                new = held.initial(field.type, home) or "{}"
                written.append(f".{member} = {new if inner is None else held.of(inner, field.type, home)}")
        return name + _braced(written)

    def _flags(self, value: FlagsValue, type_: Named, name: str) -> str:
        flags = self._program.flags(type_)
        members = self._names.owner(type_.full_name).members(flags)
        taken = [
            f"{name}::{member}"
            for each, member in zip(flags.members, members, strict=True)
            if each.name in value.members
        ]
        return " | ".join(taken) or f"{name}{{}}"

    def _union(self, value: UnionValue, type_: Named, name: str, home: str) -> str:
        union = self._program.union(type_)
        index = next(i for i, each in enumerate(union.alternatives) if each.name == value.alternative)
        make = self._names.owner(type_.full_name).union(union).alternatives[index].make
        inner = self.within(union).of(value.value, union.alternatives[index].type, home)
        return f"{name}::{make}({inner})"


def scalar_literal(value: Value, scalar: Scalar) -> str:
    """A value of a built-in type."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string_literal(value)
        case bytes():
            return _bytes_literal(value, scalar)
        case float():
            return _float_literal(value, scalar)
        case int():
            return _integer_literal(value, scalar)
        case _:
            raise AssertionError(f"{value!r} is no {scalar.value}")


_UNITS = {
    "hours": 3_600_000_000_000,
    "minutes": 60_000_000_000,
    "seconds": 1_000_000_000,
    "milliseconds": 1_000_000,
    "microseconds": 1_000,
    "nanoseconds": 1,
}


def chrono(nanoseconds: int) -> str:
    """A duration in the largest unit that it is a multiple of, as a schema's author would write it."""
    unit, size = next(
        each for each in _UNITS.items() if (nanoseconds and nanoseconds % each[1] == 0) or each[1] == 1
    )
    return f"std::chrono::{unit}({_integer_literal(nanoseconds // size, Scalar.I64)})"


def member_number(number: int) -> str:
    """The number of an enum's member, which needs no suffix where an int can hold it."""
    wide = Scalar.I64 if number < 0 else Scalar.U64
    return str(number) if -(1 << 31) < number < 1 << 31 else _integer_literal(number, wide)


def _integer_literal(value: int, scalar: Scalar) -> str:
    if scalar is Scalar.TIMESTAMP:
        return f"mf::Timestamp(mf::Duration({_integer_literal(value, Scalar.I64)}))"
    if scalar is Scalar.DURATION:
        return chrono(value)
    if value == -(1 << 63):  # the minus is no part of a C++ literal, and what it negates would not fit
        return "-9223372036854775807 - 1"
    if value == -(1 << 31) and scalar is Scalar.I32:
        return "-2147483647 - 1"
    return f"{value}{_SUFFIX.get(scalar, '')}"


def _float_literal(value: float, scalar: Scalar) -> str:
    name = "float" if scalar is Scalar.F32 else "double"
    if value != value:
        return f"std::numeric_limits<{name}>::quiet_NaN()"
    if value in (float("inf"), float("-inf")):
        return ("-" if value < 0 else "") + f"std::numeric_limits<{name}>::infinity()"
    return repr(value) + ("F" if scalar is Scalar.F32 else "")


def string_literal(text: str) -> str:
    """A literal of type std::string, also for text with zero bytes."""
    literal = quoted(text)
    return f"std::string({literal}, {len(text.encode())})" if "\0" in text else literal


def _bytes_literal(value: bytes, scalar: Scalar) -> str:
    if scalar is Scalar.UUID:
        return "{{" + ", ".join(f"0x{byte:02x}" for byte in value) + "}}"
    return _braced(f"std::byte{{0x{byte:02x}}}" for byte in value)


def _braced(elements: object) -> str:
    assert hasattr(elements, "__iter__")
    return "{" + ", ".join(elements) + "}"
