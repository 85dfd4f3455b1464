"""R1. The codec of one type: what reads and writes its values, within limits, and the words of its errors.

A generated module holds for each struct, error and union S of its schema

    S_SHAPE        the type as data (mf.codec.shape)
    S_CODEC        a `Codec` over it

What reads and writes is made when it is first needed: a plan, where the native codec is there and covers the
type (mf.codec.native), and the pure codec (mf.codec.coding). A plan gives up by NotImplemented where anything
is wrong or rare; the pure codec then begins anew, so it alone decides what is refused, and in which words.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar

from mf.codec.contents import classes_of, constrained
from mf.codec.decode_error import DecodeError
from mf.codec.failure import CodecError, InPartsError
from mf.codec.limits import DEFAULT_LIMITS, Limits
from mf.codec.reader import Reader
from mf.codec.shape import Composite, List, Struct
from mf.codec.sizes import is_array_element, memory_of, smallest
from mf.codec.writer import Writer
from mf.core.error import Code, Error, Execution
from mf.core.service import Encoded

if TYPE_CHECKING:
    from mf.codec.coding import Coding

Buffer = bytes | bytearray | memoryview
_PLACE: Final = 8  # of a value among those that are read
_FEW: Final = 4096
"""Values together that take little memory themselves, whatever they hold."""


def buffer_of(data: Buffer, also: str = "") -> memoryview:
    """Numbers and lists, of which Python makes bytes too, are refused. `also`: what else a caller takes."""
    try:
        return memoryview(data)
    except TypeError:
        shown = type(data).__name__
        raise TypeError(f"expected {also}bytes, a bytearray or a memoryview, not {shown}") from None


def bytes_of(data: Buffer, also: str = "") -> bytes:
    """A copy of what is not `bytes`."""
    return data if type(data) is bytes else bytes(buffer_of(data, also))


V = TypeVar("V")  # what is written
T = TypeVar("T")  # what is read: the same, or a tuple of its fields for the parameters of a method


def _is_array(shape: Composite) -> bool:
    """Whether a whole message is one list that may be read as an array."""
    if not isinstance(shape, Struct) or shape.archive or not shape.implicit or len(shape.fields) != 1:
        return False
    only = shape.fields[0].shape
    return isinstance(only, List) and is_array_element(only.element)


class Codec(Generic[V, T]):
    """Immutable and shared by all threads. `where` begins every message: 'sf1.search.Index.query'. `arrays`
    is as of the method `arrays`."""

    def __init__(
        self, shape: Composite, *, where: str = "", limits: Limits = DEFAULT_LIMITS, arrays: bool = False
    ) -> None:
        self.shape = shape
        self._where = where
        self._limits = limits
        self._arrays = arrays

    def within(self, limits: Limits) -> "Codec[V, T]":
        """The same codec with other limits."""
        return Codec(self.shape, where=self._where, limits=limits, arrays=self._arrays)

    def arrays(self) -> "Codec[V, T]":
        """The same codec, but lists of numbers, and of structs of tier memcpy, are read as arrays of numpy
        over the message (mf.codec.arrays), which cannot be written to. Lists in messages of tier archive stay
        lists, and so do arrays of fixed length, sets and maps. Raises ImportError if numpy is not installed.
        """
        try:
            import numpy  # noqa: F401 - the first message is too late to find that it is not there
        except ImportError as missing:
            raise ImportError("arrays are wanted, and numpy is not installed: pip install numpy") from missing
        return Codec(self.shape, where=self._where, limits=self._limits, arrays=True)

    @cached_property
    def _plan(self) -> Any:
        """What reads and writes natively, or False. It is imported when the first codec is used."""
        from mf.codec.native import plan_of

        return plan_of(self.shape)

    @cached_property
    def _coding(self) -> "Coding":
        """What does so in Python, imported in the same way."""
        from mf.codec.coding import coding_of

        return coding_of(self.shape)

    def encode(self, value: V) -> Encoded:
        """The bytes of one value. Raises Error(INVALID_ARGUMENT) with the field and the reason."""
        if plan := self._plan:
            out: Encoded = plan.encode(value)
            if out is not NotImplemented:
                return out
        return self._written(self._coding.write_alone, value)

    def plain(self) -> Callable[[V], Any]:
        """See ElementCodec.plain."""
        plan = self._plan
        return plan.encode if plan else self.encode

    def _written(self, write: Callable[[Writer, Any], None], value: Any) -> Encoded:
        w = Writer()
        try:
            write(w, value)
        except CodecError as failure:
            self._refuse(failure, Execution.NOT_EXECUTED)
        return w.out

    def check(self, value: V) -> None:
        """Whether it is of the type, and keeps its constraints; what its fields hold is found when it is
        encoded. Raises Error(INVALID_ARGUMENT)."""
        if constrained(self.shape) or not isinstance(value, classes_of(self.shape)):
            self.encode(value)

    def encode_all(self, values: Sequence[V]) -> bytes | bytearray:
        """The bytes of all values, nothing between them."""
        self._check_end(len(values))
        if plan := self._plan:
            out: bytes = plan.encode_items(values)
            if out is not NotImplemented:
                return out
        coding, w = self._coding, Writer()
        if coding.write_many is not None:
            try:
                coding.write_many(w, values)
                return w.out
            except CodecError:
                pass  # of which one?
        write = coding.write_alone if self.shape.has_no_end else coding.write
        item = 0
        try:
            for item, value in enumerate(values):  # noqa: B007 - the path wants it
                write(w, value)
        except CodecError as failure:
            self._refuse(failure, Execution.NOT_EXECUTED, f"item {item}: " if len(values) > 1 else "")
        return w.out

    def decode(self, data: Buffer) -> T:
        """The only value in `data`."""
        if self._arrays:
            return self._decode(data, 0, 1, whole=True)[0][0]
        if type(data) is not bytes:
            data = bytes_of(data)
        if plan := self._plan:
            value: T = plan.decode(data, self._limits.decoded - _PLACE)
            if value is not NotImplemented:
                return value
        r = Reader(data, self._limits.decoded - _PLACE)
        try:
            value = self._coding.read_alone(r)
            if r.pos == r.end and r.violation is None:
                return value
        except (CodecError, InPartsError):
            pass  # of which one reads again, and raises the error
        return self._decode_again(data, 0, 1, whole=True)[0][0]

    def decode_all(self, data: Buffer, count: int) -> list[T]:
        """Exactly `count` values that fill `data`. Raises DecodeError, or Error(INVALID_ARGUMENT) for a
        violated constraint, with offset, path and reason."""
        return self._decode(data, 0, count, whole=True)[0]

    def decode_at(self, data: Buffer, pos: int, count: int) -> tuple[list[T], int]:
        """`count` values from `pos` on, and the position behind them; more may follow."""
        return self._decode(data, pos, count, whole=False)

    def _decode(self, data: Buffer, pos: int, count: int, *, whole: bool) -> tuple[list[T], int]:
        """Arrays refer to `data` itself if the native codec reads them, or if a message is one array."""
        self._check_end(count)
        plan = self._plan
        is_buffer = isinstance(data, memoryview | bytearray)
        over: Any = data
        if not self._arrays or not (plan or (is_buffer and _is_array(self.shape))):
            over = bytes_of(data)
        if plan:
            found: tuple[list[T], int] = plan.decode_items(
                over, pos, count, self._limits.decoded, whole, self._arrays
            )
            if found is not NotImplemented:
                return found
            over = bytes_of(data)
        r = self._reader(over, pos)
        try:
            return self._read(r, count, whole=whole), r.pos
        except (CodecError, InPartsError):
            return self._decode_again(bytes_of(data), pos, count, whole=whole)

    def _decode_again(self, data: bytes, pos: int, count: int, *, whole: bool) -> tuple[list[T], int]:
        """Where the first reader gave up: messages may come in parts, and that of a violated constraint only
        knows where it is, not its path."""
        r = self._reader(data, pos, in_parts=True)
        try:
            values = self._read(r, count, whole=whole)
            if r.violation is not None:
                hunter = self._reader(data, pos, in_parts=True, hunted=r.violation)
                self._read(hunter, count, whole=whole)
        except CodecError as failure:
            self._refuse(failure, Execution.UNKNOWN)
        return values, r.pos

    def _reader(self, data: Any, pos: int, *, in_parts: bool = False, hunted: int | None = None) -> Reader:
        r = Reader(data, self._limits.decoded, pos, in_parts=in_parts, hunted=hunted)
        r.arrays = self._arrays
        return r

    def _read(self, r: Reader, count: int, *, whole: bool) -> list[T]:
        coding = self._coding
        if count > 1:
            r.check_items(count, smallest(self.shape))
        if count > _FEW:
            r.afford(memory_of(self.shape, count, 0))
        r.charge(_PLACE * count)
        if self.shape.has_no_end:
            values: list[T] = [coding.read_alone(r)]
        elif count == 1:
            values = [coding.read(r)]
        else:
            values = coding.read_items(r, count)
        if whole:
            r.finish()
        if r.violation is not None and not r.in_parts:
            raise InPartsError
        return values

    def _check_end(self, count: int) -> None:
        if self.shape.has_no_end and count != 1:
            raise TypeError(
                f"values of {self.shape.name} have no end of their own, so they are written and read one by "
                "one; for many, take a list: mf.to_bytes(values, list[...])"
            )

    def _refuse(self, failure: CodecError, execution: Execution, item: str = "") -> NoReturn:
        root = "" if self.shape.implicit else self.shape.name.rpartition(".")[2]
        text = item + failure.text(root)
        if self._where:
            text = f"{self._where}: {text}"
        if failure.offset is None or failure.code is not Code.DECODE_ERROR:
            raise Error(failure.code, text, execution) from None
        raise DecodeError(
            failure.fault, text, offset=failure.offset, path=failure.path(root), execution=execution
        ) from None


TypeCodec = Codec[T, T]
"""Of a declared type, which is written and read as the same class."""
