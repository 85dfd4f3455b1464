"""R1. Reads JSON fast: what Python's own parser makes of a text becomes a value, by functions that are made
of the shapes of types when they are first used.

They take what writers make, and most of what people write, and give up on all else: rare forms, and whatever
is wrong. mf.codec.json then asks the careful reader, which decides.
"""

from binascii import a2b_base64
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, Final

from mf.codec import json_text
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.json_write import begins_graph, is_flags
from mf.codec.limits import limits_of
from mf.codec.malformed import MalformedError
from mf.codec.times import Duration, Timestamp

Reader = Callable[[Any, int], Any]

_MISSING: Final = object()
_EXACT: Final = 1 << 53  # beyond, an integer may be no f64


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


# --- scalars


def _integer(scalar: s.Scalar) -> Callable[[Any], int]:
    low, high = limits_of(scalar.name)
    quoted = scalar.bits == 64

    def read(value: Any) -> int:
        if quoted and type(value) is str:
            value = _plain_integer(value)
        if type(value) is not int or not low <= value <= high:
            raise MalformedError
        return value

    return read


def _plain_integer(text: str) -> int:
    value = int(text) if len(text) < 40 else 0
    if str(value) != text:
        raise MalformedError
    return value


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        raise MalformedError
    return value


def _f64(value: Any) -> float:
    if type(value) is float and value - value == 0:
        return value
    if type(value) is int and value and -_EXACT < value < _EXACT:  # 0 may have been -0
        return float(value)
    return _special(value)


def _f32(value: Any) -> float:
    value = _f64(value)
    near = json_text.to_f32(value)
    if near == value or value != value:
        return near
    other = near + 2 * (value - near)
    if near - near != 0 or json_text.to_f32(other) == other:  # half-way, or beyond: only the digits tell
        raise MalformedError
    return near


_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}


def _special(value: Any) -> float:
    if type(value) is not str:
        raise MalformedError
    return _SPECIAL[value]


def _string(value: Any) -> str:
    if type(value) is not str:
        raise MalformedError
    return value


def _bytes(value: Any) -> bytes:
    found = a2b_base64(_string(value))
    if json_text.base64_text(found)[1:-1] != value:
        raise MalformedError
    return found


def _uuid(value: Any) -> Any:
    from uuid import UUID

    found = UUID(_string(value))
    if str(found) != value:
        raise MalformedError
    return found


def _timestamp(value: Any) -> Timestamp:
    return Timestamp(json_text.timestamp_from(_string(value)))


def _duration(value: Any) -> Duration:
    return Duration(json_text.duration_from(_string(value)))


_SCALARS: Final[dict[str, Callable[[Any], Any]]] = {
    "bool": _bool,
    "f32": _f32,
    "f64": _f64,
    "string": _string,
    "bytes": _bytes,
    "timestamp": _timestamp,
    "duration": _duration,
    "uuid": _uuid,
}


def _scalar(scalar: s.Scalar) -> Callable[[Any], Any]:
    return _SCALARS.get(scalar.name) or _integer(scalar)


def _enum(shape: s.Enum) -> Callable[[Any], Any]:
    names = shape.names
    if not is_flags(shape):
        return lambda value: names[value]  # a name, or nothing that is fast

    def read(value: Any) -> Any:
        if type(value) is not list:
            raise MalformedError
        bits = 0
        for each in value:
            bit = int(names[each])
            if bits & bit:
                raise MalformedError
            bits |= bit
        return shape.type(bits)

    return read


def _key(shape: s.Shape) -> Callable[[str], Any]:
    """From a member's name, which is always a string."""
    if isinstance(shape, s.Scalar):
        if shape.name == "bool":
            return lambda name: _BOOLS[name]
        if shape.name in ("string", "bytes", "uuid"):
            return _scalar(shape)
        read = _integer(shape)
        return lambda name: read(_plain_integer(name))
    assert isinstance(shape, s.Enum)
    return _enum(shape)


_BOOLS: Final = {"true": True, "false": False}

# --- the rest


_readers: Final[dict[s.Shape, Reader]] = {}


def reader_of(shape: s.Shape, around: frozenset[s.Shape] = frozenset()) -> Reader:
    """`around`: the types that are being made just now."""
    found = _readers.get(shape)
    if found is None:
        found = _readers[shape] = _made(bare(shape), around)
    return found


def _inner(shape: s.Shape, around: frozenset[s.Shape]) -> Reader:
    """Of a value in another: a type that holds itself is found when it is read."""
    if shape in around:
        return lambda value, levels: reader_of(shape)(value, levels)
    return reader_of(shape, around)


def _gives_up(*_: Any) -> Any:
    """What only the careful reader reads: graphs, and values of users' codecs, which may raise anything."""
    raise MalformedError


def _made(shape: s.Shape, around: frozenset[s.Shape]) -> Reader:
    if begins_graph(shape):
        return _gives_up
    match shape:
        case s.Scalar():
            return _without_levels(_scalar(shape))
        case s.Enum():
            return _without_levels(_enum(shape))
        case s.Custom():
            return _gives_up
        case s.Optional():
            return _optional(_inner(shape.element, around))
    around |= {shape}
    match shape:
        case s.Struct():
            return _struct(shape, around)
        case s.Union():
            return _union(shape, around)
        case s.List() | s.Array():
            return _sequence(shape, around)
        case s.Set():
            return _set(shape, around)
        case s.Map():
            return _map(shape, around)
        case _:
            raise TypeError(f"{type(shape).__name__} has no JSON")


def _without_levels(read: Callable[[Any], Any]) -> Reader:
    return lambda value, _: read(value)


def _optional(inner: Reader) -> Reader:
    return lambda value, levels: None if value is None else inner(value, levels)


def _deeper(value: Any, levels: int, kind: type) -> int:
    if not levels or type(value) is not kind:
        raise MalformedError
    return levels - 1


def _struct(shape: s.Struct, around: frozenset[s.Shape]) -> Reader:
    names, make = {each.name for each in shape.fields}, shape.make
    steps = [
        (each.name, _inner(each.shape, around), each.default, isinstance(bare(each.shape), s.Optional))
        for each in shape.fields
    ]

    def read(value: Any, levels: int) -> Any:
        levels = _deeper(value, levels, dict)
        if not value.keys() <= names:
            raise MalformedError
        parts: list[Any] = []
        for name, inner, default, is_optional in steps:
            part = value.get(name, _MISSING)
            if part is not _MISSING:
                parts.append(inner(part, levels))
            elif default is not None:
                parts.append(default())
            elif is_optional:
                parts.append(None)
            else:
                raise MalformedError
        return make(*parts)

    return read


def _union(shape: s.Union, around: frozenset[s.Shape]) -> Reader:
    chosen = {each.name: (each.type, _inner(each.shape, around)) for each in shape.alternatives}

    def read(value: Any, levels: int) -> Any:
        levels = _deeper(value, levels, dict)
        if len(value) != 1:
            raise MalformedError
        ((name, part),) = value.items()
        kind, inner = chosen[name]
        return kind(inner(part, levels))

    return read


def _sequence(shape: "s.List | s.Array", around: frozenset[s.Shape]) -> Reader:
    length = shape.length if isinstance(shape, s.Array) else None
    element = bare(shape.element)
    inner = _inner(element, around)
    limits = None
    if isinstance(element, s.Scalar) and element.name in ("i8", "i16", "i32", "u8", "u16", "u32"):
        limits = limits_of(element.name)

    def read(value: Any, levels: int) -> Any:
        levels = _deeper(value, levels, list)
        if length is not None and len(value) != length:
            raise MalformedError
        if limits is None:
            return [inner(each, levels) for each in value]
        low, high = limits
        if value and (set(map(type, value)) != {int} or min(value) < low or max(value) > high):
            raise MalformedError
        return value

    return read


def _set(shape: s.Set, around: frozenset[s.Shape]) -> Reader:
    inner = _inner(shape.element, around)

    def read(value: Any, levels: int) -> Any:
        levels = _deeper(value, levels, list)
        made = {inner(each, levels) for each in value}
        if len(made) != len(value):
            raise MalformedError
        return made

    return read


def _map(shape: s.Map, around: frozenset[s.Shape]) -> Reader:
    key, inner = _key(bare(shape.key)), _inner(shape.value, around)

    def read(value: Any, levels: int) -> Any:
        levels = _deeper(value, levels, dict)
        made = {key(name): inner(part, levels) for name, part in value.items()}
        if len(made) != len(value):
            raise MalformedError
        return made

    return read
