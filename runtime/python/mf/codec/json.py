"""R1. Values as JSON (docs/json.md): the same text in every runtime, for people, logs, tests and tools.

    text = mf.to_json(hit)                  hit = mf.from_json(Hit, text)
    text = mf.to_json(hits, list[Hit])      hits = mf.from_json(list[Hit], text)

What a type may be, `codec_of` says (mf.codec.lookup).
"""

import struct
from functools import cache
from typing import Any, Final, TypeVar, overload

from mf.codec.codec import Buffer, bytes_of
from mf.codec.contents import bare
from mf.codec.decode_error import DecodeError
from mf.codec.failure import TooDeepError
from mf.codec.json_read import Reader, parsed, readers
from mf.codec.json_scan import JsonError, JsonScanner
from mf.codec.json_write import NO_GRAPH, writers
from mf.codec.limits import DEFAULT_LIMITS, MAX_DEPTH, Limits
from mf.codec.lookup import codec_of
from mf.codec.shape import Composite, Shape, Struct, Union
from mf.codec.sizes import defaults_of, memory
from mf.core.error import Code, Error, Execution

T = TypeVar("T")

_GIVE_UP: Final = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,  # in values that are nested too deeply, or in themselves
    struct.error,
)
"""What the quick reader and the writer raise where something is wrong, or only rare."""


def to_json(value: Any, kind: Any = None, /) -> str:
    """The JSON text of `value`; `kind`: its type where the class does not say it, as of `to_bytes`.

    Raises Error(INVALID_ARGUMENT) with the field and the reason.
    """
    codec = codec_of(value.__class__ if kind is None else kind)
    write = writers.of(_shape(codec.shape))
    try:
        return _unicode(write(value, MAX_DEPTH, NO_GRAPH))
    except _GIVE_UP:
        pass
    # Its codec says what is wrong, or makes the value one of the classes that the writer takes.
    value = codec.decode(codec.encode(value))
    try:
        return _unicode(write(value, MAX_DEPTH, NO_GRAPH))
    except TooDeepError:
        reason = f"a value is nested deeper than {MAX_DEPTH} objects and arrays"
        raise Error(Code.INVALID_ARGUMENT, reason, Execution.NOT_EXECUTED) from None


@overload
def from_json(kind: type[T], text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> T: ...
@overload
def from_json(kind: Any, text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> Any: ...  # unions
def from_json(kind: Any, text: str | Buffer, /, *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The only value in `text`, which is of the type `kind`; `limits`: of the memory that it may take.

    Raises DecodeError with fault, byte offset, path and reason.
    """
    outer = codec_of(kind).shape
    shape = _shape(outer)
    read = readers.of(shape)
    if not isinstance(text, str | bytes):
        text = bytes_of(text, "a str, ")
    try:
        plain = _unicode(text) if isinstance(text, str) else text.decode()
        if _affordable(outer, plain, limits):
            return read(parsed(plain), MAX_DEPTH)
    except _GIVE_UP:
        pass
    return _scanned(read, shape, text, limits)


def value_of(shape: Shape, text: str) -> Any:
    """The same of any shape, and nothing of it is kept: for texts that are read once."""
    return _scanned(readers.passing(shape), bare(shape), text, DEFAULT_LIMITS)


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


@cache
def _heaviest(shape: Any) -> int:
    """Bytes of the smallest value of the largest struct or union in it."""
    seen: set[Any] = set()
    waiting = [shape]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting += at.inner
    return max(memory(each) + defaults_of(each) for each in seen)


def _scanned(read: Reader, shape: Shape, text: str | bytes, limits: Limits) -> Any:
    """The value after all, or the first fault of the text."""
    scanner = JsonScanner(limits, shape.name.rpartition(".")[2] if isinstance(shape, Composite) else "")
    try:
        return scanner.whole(text, read)
    except JsonError as error:
        offset, path = scanner.start if error.offset is None else error.offset, scanner.path
        message = f"{path}, at byte {offset}: {error.reason}".removeprefix(", ")
        raise DecodeError(
            error.fault, message, offset=offset, path=path, execution=Execution.NOT_EXECUTED
        ) from None
