"""R1. The codec of one type: the fast functions that are made of its shape, and the careful path behind them.

A generated module holds for each struct, error and union S of its schema

    S_SHAPE        the type as data (mf.codec.shape)
    S_CODEC        a `Codec` over it

The fast functions (mf.codec.fast) are made when they are first needed. They read `bytes` (other buffers are
copied once, here), and let a slice run short: the position behind it then lies beyond the end, which the next
read or the final check of the position finds.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from mf.codec.limits import DEFAULT_LIMITS, Limits
from mf.codec.malformed import GIVE_UP, MalformedError
from mf.codec.shape import Composite, Struct, Union
from mf.core.error import Code, Error, Execution
from mf.core.service import Encoded

if TYPE_CHECKING:
    from mf.codec.careful_error import CarefulError
    from mf.codec.fast import Functions

Buffer = bytes | bytearray | memoryview
_FEW = 4096
"""Values together that take little memory themselves, whatever they hold."""

_MADE = (
    "_blob",
    "_check_read",
    "_check_written",
    "_pack",
    "_read",
    "_read_one",
    "_unpack",
    "_write",
    "_write_one",
    "_write_parts",
)


def bytes_of(data: Buffer) -> bytes:
    """A copy of what is not `bytes`. Numbers and lists, of which Python makes bytes too, are refused."""
    if type(data) is bytes:
        return data
    try:
        return bytes(memoryview(data))
    except TypeError:
        shown = type(data).__name__
        raise TypeError(f"expected bytes, a bytearray or a memoryview, not {shown}") from None


V = TypeVar("V")  # what is written
T = TypeVar("T")  # what is read: the same, or a tuple of its fields for the parameters of a method


def functions_of(shape: Composite) -> "Functions":
    """Imports what makes them when the first codec is used."""
    from mf.codec.fast import functions

    return functions(shape)


def classes_of(shape: Composite) -> tuple[type, ...]:
    """Of its values."""
    if isinstance(shape, Struct):
        return (shape.make,) if isinstance(shape.make, type) else (object,)
    if not isinstance(shape, Union):
        return (object,)
    return tuple(each.type if isinstance(each.type, type) else object for each in shape.alternatives)


class Codec(Generic[V, T]):
    """Immutable and shared by all threads. `where` begins every message: 'sf1.search.Index.query'."""

    __slots__ = (
        "_affordable",
        "_check_read",
        "_check_written",
        "_limits",
        "_read",
        "_read_one",
        "_where",
        "_write",
        "_write_one",
        "shape",
    )

    _write: Callable[..., None]
    _write_one: Callable[..., None]
    _read: Callable[..., tuple[list[T], int]]
    _read_one: Callable[..., tuple[T, int]]
    _check_written: Callable[[V], None] | None
    _check_read: Callable[[T], None] | None

    def __init__(self, shape: Composite, *, where: str = "", limits: Limits = DEFAULT_LIMITS) -> None:
        self.shape = shape
        self._where = where
        self._limits = limits
        self._affordable = -1  # bytes that surely decode within the limits; not known before the first use

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Called for a slot that is still empty: the first use makes the functions."""
            if name not in _MADE:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            self._prepare()
            return object.__getattribute__(self, name)

    def _prepare(self) -> None:
        made = functions_of(self.shape)
        self._check_written = made.check_written
        self._check_read = made.check_read
        self._write = made.write_alone
        self._write_one = made.write_one_alone
        self._read = made.read_alone
        self._read_one = made.read_one_alone

    def within(self, limits: Limits) -> "Codec[V, T]":
        """The same codec with other limits."""
        return Codec(self.shape, where=self._where, limits=limits)

    def encode(self, value: V) -> Encoded:
        """The bytes of one value. Raises Error(INVALID_ARGUMENT) with the field and the reason."""
        out = bytearray()
        try:
            if self._check_written is not None:
                self._check_written(value)
            self._write_one(out, value)
        except GIVE_UP:
            return self._write_carefully((value,))
        return out

    def check(self, value: V) -> None:
        """Whether it is of the type, and keeps its constraints; what its fields hold is found when it is
        encoded. Raises Error(INVALID_ARGUMENT)."""
        try:
            if self._check_written is not None:
                self._check_written(value)
            if isinstance(value, classes_of(self.shape)):
                return
        except GIVE_UP:
            pass
        self._write_carefully((value,))

    def encode_all(self, values: Sequence[V]) -> bytearray:
        """The bytes of all values, nothing between them."""
        out = bytearray()
        try:
            if self._check_written is not None:
                for value in values:
                    self._check_written(value)
            self._write(out, values)
        except GIVE_UP:
            return self._write_carefully(values)
        return out

    def decode(self, data: Buffer) -> T:
        """The only value in `data`."""
        if type(data) is not bytes:
            data = bytes_of(data)
        if len(data) <= self._affordable:
            try:
                value, end = self._read_one(data, 0)
                if end == len(data):
                    if self._check_read is not None:
                        self._check_read(value)
                    return value
            except GIVE_UP:
                pass
            return self._read_again(data, 0, 1, whole=True)[0][0]
        return self._decode(data, 0, 1, whole=True)[0][0]

    def decode_all(self, data: Buffer, count: int) -> list[T]:
        """Exactly `count` values that fill `data`. Raises DecodeError, or Error(INVALID_ARGUMENT) for a
        violated constraint, with offset, path and reason."""
        return self._decode(bytes_of(data), 0, count, whole=True)[0]

    def decode_at(self, data: Buffer, pos: int, count: int) -> tuple[list[T], int]:
        """`count` values from `pos` on, and the position behind them; more may follow."""
        return self._decode(bytes_of(data), pos, count, whole=False)

    def _decode(self, data: bytes, pos: int, count: int, *, whole: bool) -> tuple[list[T], int]:
        read = self._read
        if self._affordable < 0:
            self._affordable = max(0, self.shape.affordable(self._limits.decoded))
        size = len(data) - pos
        is_large = size > self._affordable or count > _FEW
        if is_large and self.shape.memory_of(count, size) > self._limits.decoded:
            return self._read_again(data, pos, count, whole, is_large=True)
        try:
            values, end = read(data, pos, count)
            if self._check_read is not None:
                for value in values:
                    self._check_read(value)
        except GIVE_UP:
            return self._read_again(data, pos, count, whole)
        if end > len(data) or (whole and end != len(data)):
            return self._read_again(data, pos, count, whole)
        return values, end

    def _read_again(
        self, data: bytes, pos: int, count: int, whole: bool, *, is_large: bool = False
    ) -> tuple[list[T], int]:
        """By the lenient functions, where they take what the fast ones do not, and then carefully."""
        if is_large or functions_of(self.shape).archive:
            from mf.codec.fast import lenient
            from mf.codec.metered import metered

            made = lenient(self.shape)
            memory = self._limits.decoded - self.shape.memory_of(count, 0)
            try:
                if memory < 0:
                    raise MalformedError
                values, end = made.read_alone(metered(data, memory), pos, count)
                if self._check_read is not None:
                    for value in values:
                        self._check_read(value)
                if end == len(data) or (end < len(data) and not whole):
                    return values, end
            except GIVE_UP:
                pass
        return self._read_carefully(data, pos, count, whole)

    def _write_carefully(self, values: Sequence[V]) -> bytearray:
        # Imported by who needs it: few programs ever do.
        from mf.codec.careful_error import CarefulError
        from mf.codec.careful_writer import CarefulWriter

        writer = CarefulWriter(self._root)
        write = writer.alone if self._is_alone(len(values)) else writer.write
        for item, value in enumerate(values):
            try:
                write(self.shape, value)
            except CarefulError as failure:
                self._refuse(failure, Execution.NOT_EXECUTED, f"item {item}: " if len(values) > 1 else "")
        return writer.out

    def _read_carefully(self, data: bytes, pos: int, count: int, whole: bool) -> tuple[list[T], int]:
        from mf.codec.careful_error import CarefulError
        from mf.codec.careful_reader import CarefulReader

        reader = CarefulReader(data, self._limits, self._root, pos)
        try:
            if count > 1:
                reader.check_items(count, self.shape.smallest)
            if count > _FEW:
                reader.afford(self.shape.memory_of(count, 0))
            reader.charge(8 * count)
            if self._is_alone(count):
                values = [reader.alone(self.shape)]
            elif count == 1:
                values = [reader.read(self.shape)]
            else:
                values = reader._items(self.shape, count, ascending=False)  # whose paths say which
            if whole:
                reader.finish()
            reader.settle()
        except CarefulError as failure:
            self._refuse(failure, Execution.UNKNOWN)
        return values, reader.pos

    def _is_alone(self, count: int) -> bool:
        if self.shape.has_no_end and count != 1:
            raise TypeError(
                f"values of {self.shape.name} have no end of their own, so they are written and read one by "
                "one; for many, take a list: mf.to_bytes(values, list[...])"
            )
        return self.shape.has_no_end

    @property
    def _root(self) -> str:
        return "" if self.shape.implicit else self.shape.name.rpartition(".")[2]

    def _refuse(self, failure: "CarefulError", execution: Execution, item: str = "") -> NoReturn:
        text = item + failure.text()
        if self._where:
            text = f"{self._where}: {text}"
        if failure.offset is None or failure.code is not Code.DECODE_ERROR:
            raise Error(failure.code, text, execution) from None
        from mf.codec.decode_error import DecodeError

        raise DecodeError(
            failure.fault, text, offset=failure.offset, path=failure.path, execution=execution
        ) from None


TypeCodec = Codec[T, T]
"""Of a declared type, which is written and read as the same class."""
