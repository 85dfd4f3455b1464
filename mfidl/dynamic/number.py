"""F6. The types that are one number: scalars of a fixed size, and the enums and flags over them."""

from dataclasses import dataclass

from mfidl.model import Scalar, Type

_BOOLS = frozenset((0, 1))
_TIMES = (Scalar.TIMESTAMP, Scalar.DURATION)


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """`members`: the only numbers that a bool or a closed enum has; None: all of its base."""

    type: Type
    scalar: Scalar
    members: frozenset[int] | None

    @property
    def is_bool(self) -> bool:
        return self.scalar is Scalar.BOOL

    @property
    def is_float(self) -> bool:
        return self.scalar.is_float

    @property
    def size(self) -> int:
        return self._whole.bits // 8

    @property
    def limits(self) -> tuple[int, int]:
        """Of an integer or a time."""
        return self._whole.limits()

    @property
    def _whole(self) -> Scalar:
        return Scalar.I64 if self.scalar in _TIMES else self.scalar


def number_of(type_: Type, scalar: Scalar) -> Number:
    return Number(type_, scalar, _BOOLS if scalar is Scalar.BOOL else None)
