"""R1. The codec of a caller that asked for arrays: lists of numbers, and of structs of tier memcpy, are read
as arrays of numpy over the message (mf.codec.arrays). All else is read and written as by `Codec`.

Lists in messages of tier archive stay lists, and so do arrays of fixed length, sets and maps.
"""

from typing import Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.codec import Buffer, Codec, T, V, bytes_of
from mf.codec.failure import CodecError, InPartsError
from mf.codec.limits import Limits
from mf.codec.reader import Reader


def _is_array(shape: s.Composite) -> bool:
    """Whether a whole message is one list that is read as an array."""
    if not isinstance(shape, s.Struct) or shape.archive or not shape.implicit or len(shape.fields) != 1:
        return False
    only = shape.fields[0].shape
    return isinstance(only, s.List) and sizes.is_array_element(only.element)


class Arrayed(Codec[V, T]):
    """Raises ImportError when it is made and numpy is not installed."""

    __slots__ = ("_in_place",)

    def __init__(self, shape: s.Composite, *, where: str, limits: Limits) -> None:
        try:
            import numpy  # noqa: F401 - the first message is too late to find that it is not there
        except ImportError as missing:
            raise ImportError("arrays are wanted, and numpy is not installed: pip install numpy") from missing
        super().__init__(shape, where=where, limits=limits)
        self._in_place = _is_array(shape)

    def within(self, limits: Limits) -> "Arrayed[V, T]":
        return Arrayed(self.shape, where=self._where, limits=limits)

    def arrays(self) -> "Arrayed[V, T]":
        return self

    def decode(self, data: Buffer) -> T:
        return self._decode_over(data, 0, 1, whole=True)[0][0]

    def decode_all(self, data: Buffer, count: int) -> list[T]:
        return self._decode_over(data, 0, count, whole=True)[0]

    def decode_at(self, data: Buffer, pos: int, count: int) -> tuple[list[T], int]:
        return self._decode_over(data, pos, count, whole=False)

    def _decode_over(self, data: Buffer, pos: int, count: int, *, whole: bool) -> tuple[list[T], int]:
        """`data` is copied only if it is not `bytes`, and holds wrong bytes or, by the pure codec, more than
        one array."""
        self._check_end(count)
        plan = self._planned()
        if plan:
            found: Any = plan.decode_items(data, pos, count, self._limits.decoded, whole, True)
            if found is not NotImplemented:
                return found  # type: ignore[no-any-return]
        elif self._in_place and isinstance(data, memoryview | bytearray):
            r = self._reader(memoryview(data), pos)
            try:
                return self._read(r, count, whole=whole), r.pos
            except (CodecError, InPartsError):
                pass  # of which the pure codec finds the place, in bytes
        return self._decode_purely(bytes_of(data), pos, count, whole=whole)

    def _reader(self, data: Any, pos: int, *, in_parts: bool = False, hunted: int | None = None) -> Reader:
        r = super()._reader(data, pos, in_parts=in_parts, hunted=hunted)
        r.arrays = True
        return r
