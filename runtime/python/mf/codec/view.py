"""R1. Values of tier memcpy read where they lie, without decoding them: views over a buffer, numpy arrays.

    points = mf.view(Point, data)           a sequence: points[3] is a Point, made when it is asked for
    points.column("x")                      a memoryview over the x of all points
    mf.view(shape.F32, data)                numbers alone: a memoryview
    mf.as_numpy(Point, data)["x"]           an array over the same bytes; mf.numpy_dtype(Point)

Nothing is copied, nothing can be changed, and the buffer stays alive as long as the view. All bytes are
checked when the view is made: their number, every bool, every closed enum and the constraints of the schema.
numpy is imported by the functions that have it in their names, and by nothing else.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from mf.codec import layouts, sizes
from mf.codec import shape as s
from mf.codec.arrays import dtype_of
from mf.codec.codec import Buffer, buffer_of
from mf.codec.coding import coding_of
from mf.codec.contents import bare
from mf.codec.layout import places
from mf.codec.lookup import codec_of, shape_of
from mf.codec.reader import Reader

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

_CHUNK: Final = 256  # values that an iteration makes at once


class View(Sequence[T]):
    """`count` values of the type `kind`, which `shape` says the layout of. `memory` is what they are read
    from; `mf.view` makes one."""

    __slots__ = ("_count", "_kind", "_shape", "_size", "memory")

    def __init__(self, kind: Any, shape: s.Shape, memory: memoryview, count: int) -> None:
        """Of bytes that have been checked."""
        self.memory: Final = memory
        self._kind = kind
        self._shape = shape
        self._size = sizes.layout(shape)[0]
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> "list[T]": ...
    def __getitem__(self, index: int | slice) -> "T | list[T]":
        if isinstance(index, slice):
            begin, end, step = index.indices(self._count)
            if step == 1:
                return self._read(begin, max(begin, end))
            return [self[each] for each in range(begin, end, step)]
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(f"index {index} of {self._count} values")
        return self._read(at, at + 1)[0]

    def __iter__(self) -> Iterator[T]:
        for begin in range(0, self._count, _CHUNK):
            yield from self._read(begin, min(self._count, begin + _CHUNK))

    def column(self, field: str) -> memoryview:
        """One field of all values, by its name in Python: a bool or a number; of an enum its number."""
        shape = bare(self._shape)
        found = places(shape) if isinstance(shape, s.Struct) else iter(())
        for each, offset in found:
            letter = layouts.letter_of(each.shape)
            if each.attribute == field and letter is not None:
                if not self._count:
                    return memoryview(b"").cast(letter)  # type: ignore[call-overload,no-any-return] # any letter
                size, _ = sizes.layout(each.shape)
                numbers = layouts.column(self.memory, letter, size, offset, self._count, self._size)
                return layouts.native(numbers)
        raise KeyError(f"{field!r} is no number, bool or enum of {_name(self._shape)}")

    def __repr__(self) -> str:
        return f"<mf.view of {self._count} {getattr(self._shape, 'name', 'values')}>"

    def _read(self, begin: int, end: int) -> list[T]:
        data = bytes(self.memory[begin * self._size : end * self._size])
        r = Reader(data, sys.maxsize)
        values: list[T] = coding_of(codec_of(self._kind).shape).read_items(r, end - begin)
        return values


@overload
def view(kind: type[T], data: Buffer, /) -> View[T]: ...
@overload
def view(kind: Any, data: Buffer, /) -> Any: ...  # shapes of numbers: memoryview
def view(kind: Any, data: Buffer, /) -> Any:
    """A read-only view of the values in `data`, which are of the type `kind`, a struct of tier memcpy or a
    shape of numbers. Raises DecodeError if it does not hold whole, valid ones, and Error(INVALID_ARGUMENT)
    for a violated constraint.
    """
    shape = _laid_out(kind)
    memory = buffer_of(data).toreadonly().cast("B")
    count = layouts.checked(shape, memory, _name(shape))
    letter: Any = layouts.letter_of(shape)
    if isinstance(kind, type) or letter is None:
        return View[Any](kind, shape, memory, count)
    return layouts.native(memory.cast(letter))


def numpy_dtype(kind: Any, /) -> "np.dtype[Any]":
    """The layout of the type `kind` as numpy says it, with our offsets. Times are their i64, uuids 16
    bytes."""
    return dtype_of(_laid_out(kind))


def as_numpy(kind: Any, data: Buffer, /) -> "np.ndarray[Any, np.dtype[Any]]":
    """A read-only array over `data`, of values of the type `kind`. Raises DecodeError as `view` does."""
    import numpy as np

    shape = _laid_out(kind)
    memory = buffer_of(data).toreadonly().cast("B")
    count = layouts.checked(shape, memory, _name(shape))
    dtype = dtype_of(shape)
    return np.frombuffer(memory, dtype) if count else np.zeros(0, dtype)


def _laid_out(kind: Any) -> s.Shape:
    shape = shape_of(kind)
    if not sizes.has_layout(shape):
        raise TypeError(f"{_name(shape)} is not of tier memcpy: its values do not lie in memory as they are")
    return shape


def _name(shape: s.Shape) -> str:
    return str(getattr(shape, "name", type(shape).__name__)).rpartition(".")[2]
