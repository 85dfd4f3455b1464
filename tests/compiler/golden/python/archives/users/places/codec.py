"""A user's codec in two forms: a class of static functions, and an object in a namespace."""

from typing import Final, TypeAlias


class Place:
    def __init__(self, text: str = "") -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


class PlaceCodec:
    Value: TypeAlias = Place

    @staticmethod
    def encode(value: Place) -> bytes:
        return value.text.encode()

    @staticmethod
    def decode(data: bytes) -> Place:
        return Place(data.decode())


class places:  # noqa: N801 - a namespace
    class Codec:
        """Has state, so that it is an object."""

        Value: TypeAlias = int

        def __init__(self) -> None:
            self._width: Final = 2

        def encode(self, value: int) -> bytes:
            return value.to_bytes(self._width, "little")

        def decode(self, data: bytes) -> int:
            if len(data) != self._width:
                raise ValueError(f"expected {self._width} bytes")
            return int.from_bytes(data, "little")
