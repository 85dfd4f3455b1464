"""R1. Open enums: numbers that the schema does not name survive a round trip."""

from enum import IntEnum
from typing import Any


class OpenEnum(IntEnum):
    """`Lang(7)` is a value also when Lang has no member 7: equal to 7, named `unknown_7`, not among the
    members.
    """

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        try:
            member._name_ = f"unknown_{value}"
        except ValueError:  # of thousands of digits, which fits in no enum
            member._name_ = f"unknown_{hex(value)}"
        member._value_ = value
        return member

    def __reduce_ex__(self, _: object) -> Any:
        return type(self), (self._value_,)

    @property
    def is_known(self) -> bool:
        return self._value_ in type(self)._value2member_map_
