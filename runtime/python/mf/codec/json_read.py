"""R1. Reads JSON fast: what Python's own parser makes of a text becomes a value, by functions that are made
of the shapes of types when they are first used.

They take what writers make, and most of what people write, and give up on all else (GIVE_UP): rare forms, and
whatever is wrong. mf.codec.json then asks the careful reader, which decides.
"""

from binascii import a2b_base64
from collections.abc import Callable, Iterator
from json import JSONDecoder
from typing import Any, Final

from mf.codec import json_text
from mf.codec import shape as s
from mf.codec.json_function import FunctionText
from mf.codec.json_write import bare, begins_graph, is_flags, limits_of
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
    low, high = limits_of(scalar)
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


class _Text(FunctionText):
    _absent = "None"

    def _plain(self, shape: s.Scalar | s.Enum | s.Custom) -> Any:
        match shape:
            case s.Scalar():
                return _scalar(shape)
            case s.Enum():
                return _enum(shape)
            case _:
                return _gives_up

    def _other(self, shape: s.Shape) -> Reader:
        if shape not in self._around:
            return reader_of(shape, self._around)
        return lambda value, levels: reader_of(shape)(value, levels)

    def compiled(self, kind: str, lines: list[str]) -> Reader:
        head = [f"if not levels or type(value) is not {kind}:", "    raise MalformedError", "levels -= 1"]
        made: Reader = self._compiled("value, levels", [*head, *lines])
        return made


_readers: Final[dict[s.Shape, Reader]] = {}


def reader_of(shape: s.Shape, around: frozenset[s.Shape] = frozenset()) -> Reader:
    found = _readers.get(shape)
    if found is None:
        found = _readers[shape] = _made(bare(shape), around)
    return found


def _gives_up(*_: Any) -> Any:
    """What only the careful reader reads: graphs, and values of users' codecs, which may raise anything."""
    raise MalformedError


def _made(shape: s.Shape, around: frozenset[s.Shape]) -> Reader:
    if begins_graph(shape):
        return _gives_up
    text = _Text(around | {shape}, MISSING=_MISSING)
    match shape:
        case s.Struct():
            return text.compiled("dict", list(_struct(text, shape)))
        case s.Union():
            return text.compiled("dict", list(_union(text, shape)))
        case s.List() | s.Array():
            return text.compiled("list", list(_sequence(text, shape)))
        case s.Set():
            return text.compiled("list", list(_set(text, shape)))
        case s.Map():
            return text.compiled("dict", list(_map(text, shape)))
        case _:
            exec(f"def read(value, levels): return {text.expression(shape, 'value')}", text.known)
            made: Reader = text.known["read"]
            return made


def _struct(text: _Text, shape: s.Struct) -> Iterator[str]:
    names = text.constant(frozenset(each.name for each in shape.fields))
    yield f"if not value.keys() <= {names}: raise MalformedError"
    yield "get = value.get"
    parts = []
    for each in shape.fields:
        if each.default is not None:
            inner = text.expression(each.shape, "part")
            made = text.constant(each.default)
            parts.append(f'({made}() if (part := get("{each.name}", MISSING)) is MISSING else {inner})')
        elif isinstance(plain := bare(each.shape), s.Optional):
            inner = text.expression(plain.element, "part")
            parts.append(f'(None if (part := get("{each.name}")) is None else {inner})')
        else:
            parts.append(text.expression(each.shape, f'value["{each.name}"]'))
    yield f"return {text.constant(shape.make)}({', '.join(parts)})"


def _union(text: _Text, shape: s.Union) -> Iterator[str]:
    yield "if len(value) != 1: raise MalformedError"
    yield "((name, part),) = value.items()"
    for each in shape.alternatives:
        made = f"{text.constant(each.type)}({text.expression(each.shape, 'part')})"
        yield f'if name == "{each.name}": return {made}'
    yield "raise MalformedError"


def _sequence(text: _Text, shape: "s.List | s.Array") -> Iterator[str]:
    if isinstance(shape, s.Array):
        yield f"if len(value) != {shape.length}: raise MalformedError"
    element = bare(shape.element)
    if isinstance(element, s.Scalar) and element.name in ("i8", "i16", "i32", "u8", "u16", "u32"):
        low, high = limits_of(element)
        types = text.constant({int})
        yield f"if value and (set(map(type, value)) != {types} or min(value) < {low} or max(value) > {high}):"
        yield "    raise MalformedError"
        yield "return value"
    else:
        yield f"return [{text.expression(element, 'each')} for each in value]"


def _set(text: _Text, shape: s.Set) -> Iterator[str]:
    yield f"made = {{{text.expression(shape.element, 'each')} for each in value}}"
    yield "if len(made) != len(value): raise MalformedError"
    yield "return made"


def _map(text: _Text, shape: s.Map) -> Iterator[str]:
    key = f"{text.constant(_key(bare(shape.key)))}(name)"
    yield f"made = {{{key}: {text.expression(shape.value, 'part')} for name, part in value.items()}}"
    yield "if len(made) != len(value): raise MalformedError"
    yield "return made"
