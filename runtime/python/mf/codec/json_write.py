"""R1. Writes JSON: for each type a function, a closure over those of the types in it, when it is first used.

The functions take values of the classes that decoding makes, and `levels`, how deep what they write may nest.
Whatever else they meet they give up on; mf.codec.json then asks the codec of the type.
"""

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final

from mf.codec import json_text
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.custom_coding import custom_bytes
from mf.codec.failure import CodecError
from mf.codec.json_graph import graph_writer
from mf.codec.limits import limits_of
from mf.codec.malformed import MalformedError, TooDeepError

Writer = Callable[[Any, int], str]


def _integer(scalar: s.Scalar) -> Callable[[Any], str]:
    low, high = limits_of(scalar.name)
    quoted = scalar.bits == 64

    def write(value: int) -> str:
        if type(value) is not int or not low <= value <= high:
            raise MalformedError
        return f'"{value}"' if quoted else f"{value}"

    return write


def _bool(value: bool) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    raise MalformedError


def _bytes(value: bytes) -> str:
    if type(value) is not bytes:
        raise MalformedError
    return json_text.base64_text(value)


def _uuid(value: Any) -> str:
    from uuid import UUID

    if type(value) is not UUID:
        raise MalformedError
    return f'"{value}"'


_SCALARS: Final[dict[str, Callable[[Any], str]]] = {
    "bool": _bool,
    "f32": json_text.f32_text,
    "f64": json_text.f64_text,
    "string": encode_basestring,
    "bytes": _bytes,
    "timestamp": json_text.timestamp_text,
    "duration": json_text.duration_text,
    "uuid": _uuid,
}


def scalar_writer(scalar: s.Scalar) -> Callable[[Any], str]:
    return _SCALARS.get(scalar.name) or _integer(scalar)


def enum_writer(shape: s.Enum) -> Callable[[Any], str]:
    number = scalar_writer(shape.base)
    names = {int(value): name for name, value in shape.names.items()}
    if is_flags(shape):
        bits = sorted(names)

        def write_flags(value: Any) -> str:
            rest = _number_of(value)
            parts = [f'"{names[bit]}"' for bit in bits if rest & bit]
            for bit in bits:
                rest &= ~bit
            return f"[{','.join([*parts, number(rest)] if rest else parts)}]"

        return write_flags
    texts = {each: f'"{name}"' for each, name in names.items()}
    closed = not shape.open

    def write(value: Any) -> str:
        found = texts.get(_number_of(value))
        if found is None:
            if closed:
                raise MalformedError
            return number(int(value))
        return found

    return write


def _number_of(value: Any) -> int:
    if not isinstance(value, int):
        raise MalformedError
    return int(value)


def is_flags(shape: s.Enum) -> bool:
    from mf.codec.flags import Flags

    return isinstance(shape.type, type) and issubclass(shape.type, Flags)


_writers: Final[dict[s.Shape, Writer]] = {}


def writer_of(shape: s.Shape, around: frozenset[s.Shape] = frozenset()) -> Writer:
    """`around`: the types that are being made just now."""
    found = _writers.get(shape)
    if found is None:
        found = _writers[shape] = _made(bare(shape), around)
    return found


def _inner(shape: s.Shape, around: frozenset[s.Shape]) -> Writer:
    """Of a value in another: a type that holds itself is found when it is written."""
    if shape in around and not begins_graph(shape):
        return lambda value, levels: writer_of(shape)(value, levels)
    return writer_of(shape, around)


def begins_graph(shape: s.Shape) -> bool:
    return isinstance(shape, s.Struct | s.Union) and bool(shape.tables)


def _made(shape: s.Shape, around: frozenset[s.Shape]) -> Writer:
    match shape:
        case s.Scalar():
            return _without_levels(scalar_writer(shape))
        case s.Enum():
            return _without_levels(enum_writer(shape))
        case s.Custom():
            return _without_levels(_custom(shape))
        case s.Optional():
            return _optional(_inner(shape.element, around))
    around |= {shape}
    match shape:
        case s.Struct() | s.Union() if shape.tables:
            return graph_writer(shape, writer_of)
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


def _without_levels(write: Callable[[Any], str]) -> Writer:
    return lambda value, _: write(value)


def _optional(inner: Writer) -> Writer:
    return lambda value, levels: "null" if value is None else inner(value, levels)


def _deeper(levels: int) -> int:
    if not levels:
        raise TooDeepError
    return levels - 1


def _custom(shape: s.Custom) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        try:
            return json_text.base64_text(custom_bytes(shape, value))
        except CodecError:
            raise MalformedError from None  # which its codec words

    return write


def _struct(shape: s.Struct, around: frozenset[s.Shape]) -> Writer:
    kind = shape.make if isinstance(shape.make, type) else object
    steps = []
    for each in shape.fields:
        plain = bare(each.shape)
        is_left_out = isinstance(plain, s.Optional) and each.default is None
        steps.append((f'"{each.name}":', each.attribute, _inner(plain, around), is_left_out))

    def write(value: Any, levels: int) -> str:
        levels = _deeper(levels)
        if not isinstance(value, kind):
            raise MalformedError
        parts = []
        for name, attribute, inner, is_left_out in steps:
            part = getattr(value, attribute)
            if part is not None or not is_left_out:
                parts.append(name + inner(part, levels))
        return f"{{{','.join(parts)}}}"

    return write


def _union(shape: s.Union, around: frozenset[s.Shape]) -> Writer:
    chosen = {each.type: (each.name, _inner(each.shape, around)) for each in reversed(shape.alternatives)}

    def write(value: Any, levels: int) -> str:
        levels = _deeper(levels)
        found = chosen.get(type(value))
        if found is None:
            raise MalformedError
        name, inner = found
        return f'{{"{name}":{inner(value.value, levels)}}}'

    return write


def _sequence(shape: "s.List | s.Array", around: frozenset[s.Shape]) -> Writer:
    items = _items(bare(shape.element), around)
    length = shape.length if isinstance(shape, s.Array) else None

    def write(value: Any, levels: int) -> str:
        levels = _deeper(levels)
        if type(value) is not list and type(value) is not tuple:
            raise MalformedError
        if length is not None and len(value) != length:
            raise MalformedError
        return f"[{items(value, levels)}]" if value else "[]"

    return write


def _items(element: s.Shape, around: frozenset[s.Shape]) -> Callable[[Any, int], str]:
    """The texts of one or more, with commas between them; of numbers at once."""
    inner = _inner(element, around)
    if isinstance(element, s.Scalar) and element.name[0] in "iu" and element.name != "uuid":
        low, high = limits_of(element.name)
        comma, quote = ('","', '"') if element.bits == 64 else (",", "")

        def integers(value: Any, _: int) -> str:
            if set(map(type, value)) != {int} or min(value) < low or max(value) > high:
                raise MalformedError
            return quote + comma.join(map(str, value)) + quote

        return integers
    if element is s.F64:

        def floats(value: Any, levels: int) -> str:
            if set(map(type, value)) != {float}:
                raise MalformedError
            text = ",".join(map(repr, value))
            return ",".join([inner(each, levels) for each in value]) if "n" in text else text

        return floats
    return lambda value, levels: ",".join([inner(each, levels) for each in value])


def _set(shape: s.Set, around: frozenset[s.Shape]) -> Writer:
    items = _items(bare(shape.element), around)

    def write(value: Any, levels: int) -> str:
        levels = _deeper(levels)
        if type(value) is not set and type(value) is not frozenset:
            raise MalformedError
        return f"[{items(sorted(value), levels)}]" if value else "[]"

    return write


def _map(shape: s.Map, around: frozenset[s.Shape]) -> Writer:
    write_key, write_value = _inner(shape.key, around), _inner(shape.value, around)
    quoted = is_quoted(bare(shape.key))

    def write(value: Any, levels: int) -> str:
        levels = _deeper(levels)
        if type(value) is not dict:
            raise MalformedError
        parts = []
        for key in sorted(value):
            name = write_key(key, levels)
            parts.append(f"{name if quoted else _as_key(name)}:{write_value(value[key], levels)}")
        return f"{{{','.join(parts)}}}"

    return write


def is_quoted(key: s.Shape) -> bool:
    """Whether all texts of its values are strings."""
    match key:
        case s.Scalar():
            return key.name in ("string", "bytes", "uuid", "i64", "u64")
        case s.Enum():
            return not key.open
        case _:
            return False


def _as_key(text: str) -> str:
    return text if text[0] == '"' else f'"{text}"'
