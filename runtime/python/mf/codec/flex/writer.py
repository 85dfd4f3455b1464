"""R1. Encodes flexible values (docs/protocol.md, section 5c). Equal values of one kind have equal bytes, by
which messages are matched.

An unsupported value, or one that exceeds a limit, raises Error(INVALID_ARGUMENT) with the path of the value:
`data["rows"][3]: a set does not travel`.
"""

import struct
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, NoReturn
from uuid import UUID

from mf.codec.codec import Codec
from mf.codec.failure import CodecError
from mf.codec.flex import arrays
from mf.codec.flex.declared import Described, Known, Typed, known_of
from mf.codec.flex.kinds import I64_END, I64_MIN, U64_END, Tag
from mf.codec.limits import MAX_DEPTH, U32_MAX, U64_MAX
from mf.codec.times import Timestamp
from mf.codec.varint import write_unsigned
from mf.codec.writer import is_array
from mf.core.error import Code, Error, not_executed

_I64 = struct.Struct("<q").pack
_F64 = struct.Struct("<d").pack
_SMALL: Final = [
    bytes((Tag.I8, number & 0xFF)) for number in (*range(128), *range(-128, 0))
]  # index -1 is -1

_INTEGERS: Final = (
    (4, -(1 << 15), 1 << 15, struct.Struct("<h").pack),
    (5, -(1 << 31), 1 << 31, struct.Struct("<i").pack),
    (6, I64_MIN, I64_END, _I64),
    (7, I64_END, U64_END, struct.Struct("<Q").pack),
)
_ROWS: Final = ((1 << 7, "b"), (1 << 15, "h"), (1 << 31, "i"), (1 << 63, "q"))


def encode(value: Any, *, path: str = "") -> bytes:
    """Encodes one value. `path` is the root of the path in error messages."""
    out = bytearray()
    try:
        write(out, value)
    except CodecError as failure:
        raise refused(failure, path) from None
    return bytes(out)


def write(out: bytearray, value: Any, depth: int = 0) -> None:
    """Appends one value. Raises CodecError."""
    writer = _WRITERS.get(type(value))
    if writer is None:
        _write_other(out, value, depth)
    else:
        writer(out, value, depth)


def _none(out: bytearray, _value: None, _depth: int) -> None:
    out.append(Tag.NONE)


def _bool(out: bytearray, value: bool, _depth: int) -> None:
    out.append(2 if value else 1)


def _int(out: bytearray, value: int, _depth: int) -> None:
    if -128 <= value < 128:
        out += _SMALL[value]
        return
    for tag, low, end, pack in _INTEGERS:
        if low <= value < end:
            out.append(tag)
            out += pack(value)
            return
    raise CodecError("an int of more than 64 bits does not travel")


def _float(out: bytearray, value: float, _depth: int) -> None:
    out.append(8)
    out += _F64(value)


def _text(out: bytearray, value: str, _depth: int) -> None:
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise CodecError("a str with half of a surrogate pair does not travel") from None
    _blob(out, 9, data)


def _bytes(out: bytearray, value: bytes | bytearray | memoryview, _depth: int) -> None:
    _blob(out, 10, memoryview(value).cast("B") if type(value) is memoryview else value)


def _blob(out: bytearray, tag: int, data: bytes | bytearray | memoryview) -> None:
    out.append(tag)
    _count(out, len(data))
    out += data


def _check_count(count: int) -> None:
    if count > U32_MAX:
        raise CodecError(f"{count:,} elements do not travel: at most {U32_MAX:,}")


def _count(out: bytearray, count: int) -> None:
    if count < 128:
        out.append(count)
    else:
        _check_count(count)
        write_unsigned(out, count, U32_MAX)


def _timestamp(out: bytearray, value: Timestamp, _depth: int) -> None:
    if not I64_MIN <= value < I64_END:
        raise CodecError("a Timestamp of more than 64 bits does not travel")
    out.append(11)
    out += _I64(value)


def _uuid(out: bytearray, value: UUID, _depth: int) -> None:
    out.append(12)
    out += value.bytes


def _list(out: bytearray, values: "list[Any] | tuple[Any, ...]", depth: int) -> None:
    kinds = set(map(type, values))
    if len(kinds) == 1:
        kind = next(iter(kinds))
        if kind is float:
            out.append(15)
            _count(out, len(values))
            out += struct.pack(f"<{len(values)}d", *values)
            return
        if kind is int and _row(out, values):
            return
    if depth >= MAX_DEPTH:
        raise CodecError(f"nested deeper than {MAX_DEPTH}")
    out.append(13)
    _count(out, len(values))
    depth += 1
    for index, value in enumerate(values):
        try:
            write(out, value, depth)
        except CodecError as failure:
            failure.steps.append(f"[{index}]")
            raise


def _row(out: bytearray, values: "list[int] | tuple[int, ...]") -> bool:
    """Writes a row if all values fit into 64 bits with sign; False: nothing was written."""
    low, high = min(values), max(values)
    for code, (end, form) in enumerate(_ROWS):
        if -end <= low and high < end:
            _check_count(len(values))
            out.append(14)
            write_unsigned(out, len(values) * 4 + code, U64_MAX)
            out += struct.pack(f"<{len(values)}{form}", *values)
            return True
    return False


def _map(out: bytearray, values: "dict[Any, Any]", depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise CodecError(f"nested deeper than {MAX_DEPTH}")
    out.append(16)
    _count(out, len(values))
    depth += 1
    for key, name, value in sorted(
        [(*_key(name), value) for name, value in values.items()], key=itemgetter(0)
    ):
        out += key
        try:
            write(out, value, depth)
        except CodecError as failure:
            failure.steps.append(f"[{name!r}]")
            raise


def _key(name: Any) -> tuple[bytes, Any]:
    if type(name) not in _KEYS:
        kinds = "int, str, bytes or UUID"
        raise CodecError(f"a key is of {_shown(name)}: keys are {kinds}")
    out = bytearray()
    write(out, name)
    return bytes(out), name


class Out(bytearray):
    """Bytes, and the declared types of which there are values in them, as far as they are known: by
    fingerprint."""

    __slots__ = ("types",)

    def __init__(self, types: dict[bytes, Known | Described]) -> None:
        super().__init__()
        self.types = types


def _typed(out: bytearray, value: Typed, _depth: int) -> None:
    _declared(out, value.name, value.fingerprint, value.data, value.described)


def _declared(
    out: bytearray, name: str, fingerprint: bytes, data: bytes, type_: Known | Described | None
) -> None:
    if type_ is not None and type(out) is Out:
        out.types[fingerprint] = type_
    _blob(out, 18, name.encode())
    out += fingerprint
    _count(out, len(data))
    out += data


def _write_other(out: bytearray, value: Any, depth: int) -> None:
    if is_array(value):
        return _number(out, value, depth) if arrays.is_scalar(value) else _array(out, value)
    known = known_of(type(value))
    if known is None:
        hint = _HINTS.get(type(value).__name__, "")
        raise CodecError(f"a value of {_shown(value)} does not travel{hint}")
    codec: Codec[Any, Any] = known.codec
    try:
        data = bytes(codec.encode(value))
    except Error as failed:
        raise CodecError(failed.message) from None
    return _declared(out, known.name, known.fingerprint, data, known)


_HINTS: Final = {
    "Duration": ": send its nanoseconds as an int",
    "datetime": ": make it an mf.Timestamp",
    "set": ": make it a list",
    "frozenset": ": make it a list",
    "function": ": code never does",
    "method": ": code never does",
    "type": ": code never does",
}


def _number(out: bytearray, value: Any, depth: int) -> None:
    """Writes a numpy scalar as the Python value."""
    own = value.item()
    if type(own) not in (bool, int, float, str, bytes):
        raise CodecError(f"a value of {_shown(value)} does not travel")
    write(out, own, depth)


def _array(out: bytearray, value: Any) -> None:
    try:
        code, shape, data = arrays.parts(value)
    except TypeError as bad:
        raise CodecError(str(bad)) from None
    out += bytes((17, code, len(shape)))
    for size in shape:
        write_unsigned(out, size, U64_MAX)
    gap = -(len(out) + 1) % arrays.ALIGNMENT
    out.append(gap)
    out += bytes(gap)
    out += data


def _shown(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


_KEYS: Final = frozenset((int, str, bytes, UUID))
_WRITERS: Final[dict[type, Callable[[bytearray, Any, int], None]]] = {
    type(None): _none,
    bool: _bool,
    int: _int,
    float: _float,
    str: _text,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    Timestamp: _timestamp,
    UUID: _uuid,
    list: _list,
    tuple: _list,
    dict: _map,
    Typed: _typed,
}


def refuse(text: str) -> NoReturn:
    raise not_executed(Code.INVALID_ARGUMENT, text)


def refused(failure: CodecError, root: str) -> Error:
    """With the path of the value in its message."""
    path = root + "".join(reversed(failure.steps))
    return not_executed(Code.INVALID_ARGUMENT, f"{path}: {failure.reason}" if path else failure.reason)
