"""F6. The types that are one number: scalars of a fixed size, and the enums and flags over them."""

from dataclasses import dataclass

from mfidl.model import Scalar, Type
from mfidl.plan.sizes import is_packed

# The letter of Python's `struct` for each scalar; a bool is its byte.
LETTERS = {
    Scalar.BOOL: "B",
    Scalar.I8: "b",
    Scalar.I16: "h",
    Scalar.I32: "i",
    Scalar.I64: "q",
    Scalar.U8: "B",
    Scalar.U16: "H",
    Scalar.U32: "I",
    Scalar.U64: "Q",
    Scalar.F32: "f",
    Scalar.F64: "d",
    Scalar.TIMESTAMP: "q",
    Scalar.DURATION: "q",
}
SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "f": 4, "d": 8}
_BOOLS = frozenset((0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """`members`: the only numbers that a bool or a closed enum has; None: all of its base.

    `is_packed`: an integer of 2, 4 or 8 bytes, which febird writes as a varint, and several of them as a row.
    """

    type: Type
    scalar: Scalar
    members: frozenset[int] | None
    is_declared: bool  # an enum or flags

    @property
    def is_bool(self) -> bool:
        return self.scalar is Scalar.BOOL

    @property
    def is_float(self) -> bool:
        return self.scalar.is_float

    @property
    def letter(self) -> str:
        return LETTERS[self.scalar]

    @property
    def size(self) -> int:
        return SIZES[self.letter]

    @property
    def is_signed(self) -> bool:
        return self.letter.islower()

    @property
    def is_packed(self) -> bool:
        return is_packed(self.scalar)

    @property
    def limits(self) -> tuple[int, int]:
        bits = self.size * 8
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if self.is_signed else (0, (1 << bits) - 1)


def number_of(type_: Type, scalar: Scalar) -> Number:
    return Number(type_, scalar, _BOOLS if scalar is Scalar.BOOL else None, False)
