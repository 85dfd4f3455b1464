"""R1. Values as JSON (docs/json.md): the same text in every runtime, for people, logs, tests and tools.

    text = mf.to_json(hit)                  hit = mf.from_json(Hit, text)
    text = mf.to_json(hits, list[Hit])      hits = mf.from_json(list[Hit], text)

What a type may be, `codec_of` says (mf.codec.lookup).
"""

import struct
from typing import Any, Final, NoReturn, TypeVar, overload

from mf.codec.codec import Buffer, bytes_of
from mf.codec.contents import bare
from mf.codec.decode_error import DecodeError
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.json_careful import JsonReader
from mf.codec.json_read import parsed, reader_of
from mf.codec.json_scan import failed
from mf.codec.json_write import writer_of
from mf.codec.limits import DEFAULT_LIMITS, MAX_DEPTH, Limits
from mf.codec.lookup import codec_of
from mf.codec.malformed import TooDeepError
from mf.codec.shape import Composite, Shape, Struct, Union
from mf.codec.sizes import defaults_of, memory
from mf.core.error import Code, Error, Execution

T = TypeVar("T")

_GIVE_UP: Final = (
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    OverflowError,
    RecursionError,  # in values that are nested too deeply, or in themselves
    struct.error,
)
"""What the quick reader and the writer raise where something is wrong, or only rare."""


def to_json(value: Any, kind: Any = None, /) -> str:
    """`kind` is given where the value's class does not say it: lists, sets, dicts, numbers.

    Raises Error(INVALID_ARGUMENT) with the field and the reason.
    """
    codec = codec_of(value.__class__ if kind is None else kind)
    write = writer_of(_shape(codec.shape))
    try:
        return _unicode(write(value, MAX_DEPTH))
    except _GIVE_UP:
        pass
    # Its codec says what is wrong, or makes the value one of the classes that the writer takes.
    value = codec.decode(codec.encode(value))
    try:
        return _unicode(write(value, MAX_DEPTH))
    except TooDeepError:
        reason = f"a value is nested deeper than {MAX_DEPTH} objects and arrays"
        raise Error(Code.INVALID_ARGUMENT, reason, Execution.NOT_EXECUTED) from None


@overload
def from_json(kind: type[T], text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> T: ...
@overload
def from_json(kind: Any, text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> Any: ...  # unions
def from_json(kind: Any, text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The only value in `text`. Raises DecodeError with fault, byte offset, path and reason."""
    outer = codec_of(kind).shape
    shape = _shape(outer)
    if not isinstance(text, str | bytes):
        text = _buffer(text)
    try:
        plain = text if isinstance(text, str) else text.decode()
        if _affordable(outer, plain, limits):
            return reader_of(shape)(parsed(plain), MAX_DEPTH)
    except _GIVE_UP:
        pass
    return _carefully(shape, text, limits)


def value_of(shape: Shape, text: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The same for any shape, and nothing of it is kept: for texts that are read once."""
    return _carefully(bare(shape), text, limits)


def _buffer(text: Any) -> bytes:
    try:
        return bytes_of(text)
    except TypeError:
        shown = type(text).__name__
        raise TypeError(f"expected a str, bytes, a bytearray or a memoryview, not {shown}") from None


def _shape(shape: Struct | Union | Any) -> Shape:
    """Without the struct that the codec of another type has around it."""
    return bare(shape.fields[0].shape) if isinstance(shape, Struct) and shape.implicit else shape


def _unicode(text: str) -> str:
    if not text.isascii():
        text.encode()
    return text


def _affordable(shape: Any, text: str, limits: Limits) -> bool:
    """Whether the value surely takes no more memory than it may."""
    objects = text.count("{")
    values = text.count(",") + text.count("[") + 2 * objects + 1
    return 256 * values + 4 * len(text) + objects * _heaviest(shape) <= limits.decoded


_heaviest_of: dict[Any, int] = {}


def _heaviest(shape: Any) -> int:
    """Bytes of the smallest value of the largest struct or union in it."""
    if shape not in _heaviest_of:
        seen: set[Any] = set()
        waiting = [shape]
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                waiting += at.inner
        _heaviest_of[shape] = max(memory(each) + defaults_of(each) for each in seen)
    return _heaviest_of[shape]


def _carefully(shape: Shape, text: str | bytes, limits: Limits) -> Any:
    root = shape.name.rpartition(".")[2] if isinstance(shape, Composite) else ""
    try:
        return JsonReader(_utf8(text, root), limits, root).whole(shape)
    except CodecError as failure:
        _refuse(failure)


def _utf8(text: str | bytes, root: str) -> bytes:
    try:
        if isinstance(text, str):
            return text.encode()
        text.decode()
        return text
    except UnicodeEncodeError as error:
        offset = len(error.object[: error.start].encode())
    except UnicodeDecodeError as error:
        offset = error.start
    raise failed(Fault.INVALID_UTF8, "the text is not UTF-8", offset, root)


def _refuse(failure: CodecError) -> NoReturn:
    assert failure.offset is not None
    raise DecodeError(
        failure.fault,
        failure.text(),
        offset=failure.offset,
        path=failure.path(),
        execution=Execution.NOT_EXECUTED,
    ) from None
