"""R1. Reads JSON: for each type a function of what the text is there.

That is what Python's own parser has made of the text, in the first place. Where a function gives up on it,
because something is wrong or written in a rare form, mf.codec.json calls the functions again, with a scanner:
it is at the same value in the text, and says what a value is, to the digit, and where a fault is.
"""

import re
from collections.abc import Callable, Iterable
from json import JSONDecoder
from math import isfinite
from typing import Any, Final
from uuid import UUID

from mf.codec import json_text, sizes
from mf.codec import shape as s
from mf.codec.contents import bare, is_flags
from mf.codec.custom import user_codec
from mf.codec.failure import MalformedError
from mf.codec.fault import Fault
from mf.codec.graph_walk import keep_loose
from mf.codec.json_graph import Reference, Tables, resolved
from mf.codec.json_scan import JsonError, JsonScanner, Members, unknown_name
from mf.codec.json_shapes import Functions, Inner
from mf.codec.limits import limits_of
from mf.codec.times import Duration, Timestamp

Reader = Callable[[Any, int], Any]
"""Of a value, and how many levels of objects and arrays it may have."""

_ENTRY: Final = 8  # bytes of memory: a list's pointer to its element
_TEXT: Final = 64  # ... that a text or bytes take beside what they hold
_REFERENCE: Final = 160
_EXACT: Final = 1 << 53  # beyond, an integer may be no f64
_MISSING: Final = object()
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SMALL: Final = ("i8", "i16", "i32", "u8", "u16", "u32")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedError
    return found


def _refused(_: str) -> Any:
    """NaN and the like, which are no JSON."""
    raise MalformedError


_parse: Final = JSONDecoder(object_pairs_hook=_once, parse_constant=_refused).decode


def parsed(text: str) -> Any:
    """Gives up on halves of surrogate pairs, which are no Unicode, and on whole ones with them."""
    if "\\ud" in text or "\\uD" in text:
        raise MalformedError
    return _parse(text)


def _scanned(value: Any) -> JsonScanner:
    """Gives up on all that is no scanner: the parser's value is not what the function reads."""
    if type(value) is not JsonScanner:
        raise MalformedError
    return value


def _charge(value: Any, memory: int) -> None:
    if type(value) is JsonScanner:
        value.charge(memory)


def _held(shape: s.Shape) -> int:
    """The memory of an empty list or dict in a container; that of a field counts with its struct."""
    plain = bare(shape)
    return sizes.memory(plain) if isinstance(plain, s.List | s.Map) else 0


# --- scalars


def _literal(value: Any, wanted: str) -> tuple[str, bool]:
    """The text of a string or number, and whether it is a number's."""
    if type(value) is str:
        return value, json_text.NUMBER.fullmatch(value) is not None
    return _scanned(value).literal(wanted)


def _number(value: Any) -> str:
    text, is_number = _literal(value, "a number")
    if not is_number:
        raise JsonError(Fault.JSON_WRONG_TYPE, "a string holds no number")
    return text


def _fitting(number: str, limits: tuple[int, int]) -> int:
    value = json_text.integer_from(number)
    if value is None:
        raise JsonError(Fault.JSON_WRONG_TYPE, "a number is not whole")
    if not limits[0] <= value <= limits[1]:
        raise JsonError(Fault.NUMBER_OUT_OF_RANGE, "a number does not fit in its type")
    return value


def _integer(shape: s.Scalar) -> Reader:
    low, high = limits = limits_of(shape.name)

    def read(value: Any, _: int) -> int:
        if type(value) is int and low <= value <= high:
            return value
        return _fitting(_number(value), limits)

    return read


def _bool(value: Any, _: int) -> bool:
    return value if type(value) is bool else _scanned(value).truth()


def _float(value: Any, *, single: bool) -> float:
    text, is_number = _literal(value, "a string")
    if not is_number:
        if text not in json_text.SPECIAL:
            raise JsonError(Fault.JSON_WRONG_TYPE, "a string holds no number")
        return json_text.SPECIAL[text]
    found = json_text.float_from(text, single=single)
    if not isfinite(found):
        raise JsonError(Fault.NUMBER_OUT_OF_RANGE, "a number does not fit in its type")
    return found


def _f64(value: Any, _: int) -> float:
    if type(value) is float and isfinite(value):
        return value
    if type(value) is int and value and -_EXACT < value < _EXACT:  # 0 may have been -0
        return float(value)
    return _float(value, single=False)


def _f32(value: Any, _: int) -> float:
    if type(value) is float:
        near = json_text.to_f32(value)
        if isfinite(near) and (near == value or not json_text.is_between(value)):
            return near
    return _float(value, single=True)


def _string(value: Any, _: int) -> str:
    return value if type(value) is str else _scanned(value).text()


def _characters(value: Any) -> str:
    return value if type(value) is str else _scanned(value).string()


def _bytes(value: Any, _: int) -> bytes:
    data = json_text.bytes_from(_characters(value))
    if data is None:
        raise JsonError(Fault.JSON_WRONG_TYPE, "bytes are not base64 with padding")
    _charge(value, _TEXT + len(data))
    return data


def _uuid(value: Any, _: int) -> UUID:
    text = _characters(value)
    if not _UUID.fullmatch(text):
        raise JsonError(Fault.JSON_WRONG_TYPE, "a uuid is not 8-4-4-4-12 hexadecimal digits")
    return UUID(text)


def _timestamp(value: Any, _: int) -> Timestamp:
    text = _characters(value)
    if json_text.NUMBER.fullmatch(text):
        return Timestamp(_fitting(text, limits_of("i64")))
    return Timestamp(_moment(json_text.timestamp_from(text), "a timestamp is not as RFC 3339 has it"))


def _duration(value: Any, _: int) -> Duration:
    return Duration(_moment(json_text.duration_from(_characters(value)), "a duration is not like -1.5s"))


def _moment(value: Any, reason: str) -> int:
    if value is None:
        raise JsonError(Fault.JSON_WRONG_TYPE, reason)
    if value is json_text.OUT_OF_RANGE:
        raise JsonError(Fault.NUMBER_OUT_OF_RANGE, "a time does not fit in 64 bits of nanoseconds")
    return int(value)


_SCALARS: Final[dict[str, Reader]] = {
    "bool": _bool,
    "f32": _f32,
    "f64": _f64,
    "string": _string,
    "bytes": _bytes,
    "timestamp": _timestamp,
    "duration": _duration,
    "uuid": _uuid,
}


def _scalar(shape: s.Scalar, _: Inner[Reader]) -> Reader:
    return _SCALARS.get(shape.name) or _integer(shape)


def _named(shape: s.Enum, name: str) -> Any:
    if name not in shape.names:
        raise unknown_name(Fault.UNKNOWN_ENUM_VALUE, name, "a member", shape.names)
    return shape.names[name]


def _enum(shape: s.Enum, _: Inner[Reader]) -> Reader:
    limits, names = limits_of(shape.base.name), shape.names

    def read(value: Any, _: int) -> Any:
        if type(value) is str and value in names:
            return names[value]
        text, is_number = _literal(value, "a string")
        if not is_number:
            return _named(shape, text)
        number = _fitting(text, limits)
        if shape.members is not None and number not in shape.members:
            raise JsonError(Fault.UNKNOWN_ENUM_VALUE, f"{number} is not a member of {shape.name}")
        return shape.values[number]

    def read_flags(value: Any, _: int) -> Any:
        if type(value) is not list and not _scanned(value).is_a("an array"):
            return shape.type(_fitting(_number(value), limits))
        bits = 0
        for each in _elements(value, 1, 0):
            text, is_number = _literal(each, "a string")
            more = _fitting(text, limits) if is_number else int(_named(shape, text))
            if bits & more:
                raise JsonError(Fault.JSON_DUPLICATE_KEY, "a bit is named twice")
            bits |= more
        return shape.type(bits)

    return read_flags if is_flags(shape) else read


def _custom(shape: s.Custom, _: Inner[Reader]) -> Reader:
    def read(value: Any, levels: int) -> Any:
        scanner = _scanned(value)  # a user's codec is called once for a value
        data = _bytes(scanner, levels)
        scanner.charge(sizes.memory(shape) + len(data))
        codec = user_codec(shape.module, shape.codec)
        try:
            made = codec.decode(data)
        except Exception as error:
            reason = f"the codec of {shape.name} failed: {error!r}"
            raise JsonError(Fault.CUSTOM_CODEC_FAILED, reason) from error
        if made is None:
            reason = f"the codec of {shape.name} made None of it: its decode must return a value"
            raise JsonError(Fault.CUSTOM_CODEC_FAILED, reason)
        return made

    return read


# --- what holds others


def _optional(shape: s.Optional, inner: Inner[Reader]) -> Reader:
    read_it, held = inner(shape.element), _held(shape.element)

    def read(value: Any, levels: int) -> Any:
        if value is None or (type(value) is JsonScanner and value.is_null(held)):
            return None
        return read_it(value, levels)

    return read


def _elements(value: Any, levels: int, memory: int, length: int | None = None) -> Iterable[Any]:
    if type(value) is not list or not levels:
        return _scanned(value).elements(levels, memory, length)
    if length is not None and len(value) != length:
        raise MalformedError
    return value


def _sequence(shape: "s.List | s.Array", inner: Inner[Reader]) -> Reader:
    length = shape.length if isinstance(shape, s.Array) else None
    element, read_one = bare(shape.element), inner(shape.element)
    memory, are_ready = _ENTRY + _held(element), _ready(element)

    def read(value: Any, levels: int) -> Any:
        values = _elements(value, levels, memory, length)
        if are_ready is not None and type(values) is list and are_ready(values):
            return values
        return [read_one(each, levels - 1) for each in values]

    return read


def _ready(element: s.Shape) -> Callable[[list[Any]], bool] | None:
    """Whether the parser's numbers are the values already."""
    if element is s.F64:
        return lambda values: set(map(type, values)) == {float} and isfinite(sum(values))
    if not isinstance(element, s.Scalar) or element.name not in _SMALL:
        return None
    low, high = limits_of(element.name)
    return lambda values: set(map(type, values)) == {int} and low <= min(values) <= max(values) <= high


def _set(shape: s.Set, inner: Inner[Reader]) -> Reader:
    read_one = inner(shape.element)

    def read(value: Any, levels: int) -> set[Any]:
        _charge(value, sizes.memory(shape))
        made: set[Any] = set()
        for each in _elements(value, levels, sizes.ENTRY):
            one = read_one(each, levels - 1)
            if one in made:
                raise JsonError(Fault.JSON_DUPLICATE_KEY, "an element of a set is there twice")
            made.add(one)
        return made

    return read


def _map(shape: s.Map, inner: Inner[Reader]) -> Reader:
    key = bare(shape.key)
    read_key, read_one = _bool_key if key is s.BOOL else inner(key), inner(shape.value)
    memory = sizes.ENTRY + _held(shape.value) + (_TEXT if key in (s.STRING, s.BYTES) else 0)

    def read(value: Any, levels: int) -> dict[Any, Any]:
        if type(value) is dict and levels:
            entries: Iterable[tuple[str, Any]] = value.items()
        else:
            entries = _scanned(value).entries(levels, memory, sizes.FIRST_ENTRY)
        made: dict[Any, Any] = {}
        for name, each in entries:
            one = read_key(name, 0)
            if one in made:
                raise JsonError(Fault.JSON_DUPLICATE_KEY, "a key of a map is there twice")
            made[one] = read_one(each, levels - 1)
        return made

    return read


def _bool_key(name: str, _: int) -> bool:
    if name not in ("true", "false"):
        raise JsonError(Fault.JSON_WRONG_TYPE, "a key is neither true nor false")
    return name == "true"


def _members(value: Any, levels: int, allowed: Members) -> Iterable[tuple[str, Any]]:
    return value.items() if type(value) is dict and levels else _scanned(value).members(levels, allowed)


def _struct(shape: s.Struct, inner: Inner[Reader]) -> Reader:
    fields, make = shape.fields, shape.make
    places = {each.name: (at, inner(each.shape)) for at, each in enumerate(fields)}
    none = [_MISSING] * len(fields)
    allowed = Members(places, Fault.JSON_UNKNOWN_FIELD, "a field", sizes.memory(shape))

    def read(value: Any, levels: int) -> Any:
        parts = none.copy()
        for name, each in _members(value, levels, allowed):
            at, read_one = places[name]
            parts[at] = read_one(each, levels - 1)
        if type(value) is not dict or len(value) < len(parts):
            parts = [
                _absent(fields[at], value) if each is _MISSING else each for at, each in enumerate(parts)
            ]
        return make(*parts)

    return read


def _absent(field: s.Field, value: Any) -> Any:
    if field.default is not None:
        made = field.default()
        _charge(value, sizes.taken(made))  # one too many is no harm: a schema has its defaults in full
        return made
    if isinstance(bare(field.shape), s.Optional):
        return None
    scanner = _scanned(value)
    scanner.enter(field.name)
    raise JsonError(Fault.MISSING_FIELD, "a field is missing that has no default", scanner.closing)


def _union(shape: s.Union, inner: Inner[Reader]) -> Reader:
    chosen = {each.name: (each.type, inner(each.shape)) for each in shape.alternatives}
    allowed = Members(chosen, Fault.UNKNOWN_ALTERNATIVE, "an alternative", sizes.memory(shape), only=True)

    def read(value: Any, levels: int) -> Any:
        made = []
        for name, each in _members(value, levels, allowed):
            kind, read_one = chosen[name]
            made.append(kind(read_one(each, levels - 1)))
        (only,) = made
        return only

    return read


def _graph(root: "s.Struct | s.Union", inner: Inner[Reader]) -> Reader:
    shapes = root.tables
    readers = {each: inner(each, True) for each in shapes.values()}
    allowed = Members(shapes, Fault.JSON_UNKNOWN_FIELD, "a table", 0)

    def read(value: Any, levels: int) -> Any:
        tables: Tables = {each: [] for each in shapes.values()}
        for name, rows in _members(value, levels, allowed):
            shape = shapes[name]
            read_one, own = readers[shape], tables[shape]
            for each in _elements(rows, levels - 1, _ENTRY):
                own.append(read_one(each, levels - 2))
        wrong = resolved(tables)
        if wrong:
            first = min(wrong, key=lambda each: each.offset)
            _scanned(value).steps[:] = [first.path]
            reason = "a reference names no object of its table"
            raise JsonError(Fault.INVALID_REFERENCE, reason, first.offset)
        if not tables[root]:
            raise JsonError(Fault.INVALID_REFERENCE, "a graph has no root", _scanned(value).closing)
        made = tables[root][0]
        keep_loose(root, made, tables)
        return made

    return read


def _reference(shape: s.Ref, _: Inner[Reader]) -> Reader:
    element = shape.element
    assert isinstance(element, s.Struct | s.Union)
    read_index = _integer(s.U32)

    def read(value: Any, levels: int) -> Reference:
        index = read_index(value, levels)
        _charge(value, _REFERENCE)
        is_placed = type(value) is JsonScanner
        return Reference(element, index, *((value.start, value.path) if is_placed else (0, "")))

    return read


readers: Final = Functions[Reader](
    {
        s.Scalar: _scalar,
        s.Enum: _enum,
        s.Custom: _custom,
        s.Optional: _optional,
        s.List: _sequence,
        s.Array: _sequence,
        s.Set: _set,
        s.Map: _map,
        s.Struct: _struct,
        s.Union: _union,
        s.Ref: _reference,
    },
    _graph,
)
