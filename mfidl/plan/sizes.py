"""F5. The fewest bytes that values take in febird, and which integers lie in rows (docs/protocol.md, 8).

This is the only place of the compiler that has them; each runtime has one of its own: Python's is
mf/codec/sizes.py, C++'s codec/described/shapes.cpp. tests/vectors/wide/sizes.json holds the three to each
other.

Numbers in their shortest form begin at one byte, and so do texts, bytes, optionals, containers, and the
length before a value of tier archive or custom. An array of integers that lie in rows takes two bits for each
256 of them, and a byte for each. A struct of tier memcpy takes the size of its layout, another one the sum of
its fields; a union the number of its smallest alternative and that.
"""

from collections import defaultdict
from collections.abc import Iterator

from mfidl import model
from mfidl.model import Scalar, Tier
from mfidl.plan.layout import Declared

BLOCK = 256
"""Values of a row that share a width."""

_FIXED = {
    Scalar.BOOL: 1,
    Scalar.I8: 1,
    Scalar.U8: 1,
    Scalar.F32: 4,
    Scalar.F64: 8,
    Scalar.UUID: 16,
    Scalar.TIMESTAMP: 8,
}
_ENDLESS = 1 << 40


def fixed_size(scalar: Scalar) -> int | None:
    """Bytes of every value; None of a scalar whose values take more or fewer."""
    return _FIXED.get(scalar)


def is_packed(scalar: Scalar) -> bool:
    """Whether a value is a varint, and several of them are a row."""
    return scalar is Scalar.DURATION or (scalar.is_integer and scalar.bits > 8)


def row_of(type_: model.Type, declared: Declared) -> Scalar | None:
    """The integer that an element is in a row; None if such elements lie in none."""
    match type_:
        case model.Primitive(scalar) if is_packed(scalar):
            return scalar.held
        case model.Named(full_name, model.DeclKind.ENUM | model.DeclKind.FLAGS):
            numbered = declared[full_name]
            assert isinstance(numbered, model.Enum | model.Flags)
            return row_of(numbered.base, declared)
        case _:
            return None


def code_bytes(count: int) -> int:
    """Of the codes of so many values in a row, all blocks counted: two bits a block."""
    return -(-count // (4 * BLOCK))


def varint_size(number: int) -> int:
    """Bytes of an unsigned number."""
    return max(1, -(-number.bit_length() // 7))


class Sizes:
    """Of the types of a program whose structs are planned."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._smallest: dict[str, int] = {}
        self._measure()

    def smallest(self, type_: model.Type) -> int:
        """The fewest bytes that a value takes."""
        match type_:
            case model.Primitive(scalar):
                return _FIXED.get(scalar, 1)
            case model.ArrayOf(element, length):
                codes = code_bytes(length) if row_of(element, self._declared) is not None else 0
                return codes + length * self.smallest(element)
            case model.Named(_, model.DeclKind.ENUM | model.DeclKind.FLAGS):
                return 1
            case model.Named(full_name):
                return self._smallest[full_name]
            case _:
                return 1

    def smallest_of(self, declared: model.Struct | model.Union) -> int:
        """The same for a declaration, which may be the parameters or results of a method."""
        if declared.tier in (Tier.ARCHIVE, Tier.CUSTOM):
            return 1
        if isinstance(declared, model.Union):
            each = (varint_size(one.number or 0) + self.smallest(one.type) for one in declared.alternatives)
            return min(each, default=1)
        if declared.layout is not None:
            return declared.layout.size
        return sum(self.smallest(field.type) for field in declared.fields)

    def _measure(self) -> None:
        """Unions may hold each other: sizes begin without end and fall until none changes. Without recursion,
        however long the chain of types is.
        """
        users: dict[str, list[str]] = defaultdict(list)
        pending: list[str] = []
        for name, each in self._declared.items():
            if isinstance(each, model.Struct | model.Union):
                self._smallest[name] = _ENDLESS
                pending.append(name)
                for held in {held for field in model.members(each) for held in _held(field.type)}:
                    users[held].append(name)
        pending.reverse()  # what a type holds mostly comes before it
        while pending:
            name = pending.pop()
            each = self._declared[name]
            assert isinstance(each, model.Struct | model.Union)
            size = min(self.smallest_of(each), _ENDLESS)
            if size < self._smallest[name]:
                self._smallest[name] = size
                pending += users[name]


def _held(type_: model.Type) -> Iterator[str]:
    """The struct or union of which a value always holds one."""
    while isinstance(type_, model.ArrayOf):
        type_ = type_.element
    if isinstance(type_, model.Named):
        yield type_.full_name
