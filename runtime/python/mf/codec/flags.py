"""R1. Flags: sets of named bits. Bits that the schema does not name survive a round trip.

    class Field(Flags, bits=16):
        title = bit(0)
        body = bit(1)

    Field.title | Field.body        # Field.title|Field.body
    Field.title in field            # all of its bits are set
    field & ~Field.title            # without it
    list(field), field.names        # the members that are set

Integers, so that they compare and hash as their bits do. Not `enum.IntFlag`, which keeps every combination
that it has ever met: a peer could fill the memory with them.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, Self, TypeVar

F = TypeVar("F", bound="Flags")


class bit:  # noqa: N801 - it reads as a function
    """A member of the class around it, by its number: the class puts the value in this place."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def __set_name__(self, owner: "type[Flags]", name: str) -> None:
        setattr(owner, name, owner(1 << self._number))

    def __get__(self, instance: object, owner: type[F]) -> F:
        """What type checkers read; before anything runs, the member takes its place."""
        return owner(1 << self._number)


class Flags(int):
    """Base of generated classes; `bits` is the width of the integer on the wire. `Field()` has no bit set."""

    __slots__ = ()

    __members__: ClassVar[Mapping[str, "Flags"]] = MappingProxyType({})
    _mask: ClassVar[int] = 0

    def __init_subclass__(cls, *, bits: int) -> None:
        own = {name: each for name, each in vars(cls).items() if type(each) is cls}
        cls.__members__ = MappingProxyType(own)
        cls._mask = (1 << bits) - 1

    @property
    def names(self) -> tuple[str, ...]:
        """Of the members that are set, in the order of the schema."""
        return tuple(name for name, each in self.__members__.items() if self & int(each))

    def __iter__(self) -> Iterator[Self]:
        """The members that are set; bits without a name are not among them."""
        return (type(self)(each) for each in self.__members__.values() if self & int(each))

    def __contains__(self, bits: int) -> bool:
        """Whether all of `bits` are set."""
        return int(self) & bits == bits

    def __or__(self, other: int) -> Self:
        return type(self)(int(self) | other)

    def __and__(self, other: int) -> Self:
        return type(self)(int(self) & other)

    def __xor__(self, other: int) -> Self:
        return type(self)(int(self) ^ other)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __invert__(self) -> Self:
        """All other bits of the width, named or not."""
        return type(self)(~int(self) & self._mask)

    def __repr__(self) -> str:
        """`Field.title|Field.url|0x8`, and `Field(0)`."""
        parts = [f"{type(self).__name__}.{name}" for name in self.names]
        unknown = int(self)
        for each in self.__members__.values():
            unknown &= ~int(each)
        if unknown:
            parts.append(hex(unknown))
        if self.names:
            return "|".join(parts)
        try:
            return f"{type(self).__name__}({int(self)})"
        except ValueError:  # of thousands of digits
            return f"{type(self).__name__}({hex(self)})"
