"""R1. Writes JSON: for each type a function.

The functions take values of the classes that decoding makes, `levels`, how deep what they write may nest, and
in graphs the numbers of the objects. All other values they give up on; mf.codec.json then asks the codec of
the type.
"""

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final
from uuid import UUID

from mf.codec import json_text
from mf.codec import shape as s
from mf.codec.contents import bare, is_flags
from mf.codec.custom_coding import custom_bytes
from mf.codec.failure import CodecError, MalformedError, TooDeepError
from mf.codec.json_graph import Composite, Numbers, numbered
from mf.codec.json_shapes import Functions, Inner
from mf.codec.limits import limits_of

Writer = Callable[[Any, int, Numbers], str]
NO_GRAPH: Final[Numbers] = {}

# --- scalars


def _integer(shape: s.Scalar) -> Callable[[Any], str]:
    low, high = limits_of(shape.name)
    quoted = shape.bits == 64

    def text(value: int) -> str:
        if type(value) is not int or not low <= value <= high:
            raise MalformedError
        return f'"{value}"' if quoted else f"{value}"

    return text


def _bool(value: bool) -> str:
    if type(value) is not bool:
        raise MalformedError
    return "true" if value else "false"


def _bytes(value: bytes) -> str:
    if type(value) is not bytes:
        raise MalformedError
    return json_text.base64_text(value)


def _uuid(value: Any) -> str:
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


def _text_of(shape: s.Scalar) -> Callable[[Any], str]:
    return _SCALARS.get(shape.name) or _integer(shape)


def _scalar(shape: s.Scalar, _: Inner[Writer]) -> Writer:
    text = _text_of(shape)
    return lambda value, _, __: text(value)


def _enum(shape: s.Enum, _: Inner[Writer]) -> Writer:
    number = _text_of(shape.base)
    texts = {int(value): f'"{name}"' for name, value in shape.names.items()}
    bits, is_open = sorted(texts), shape.open

    def write(value: Any, _: int, __: Numbers) -> str:
        if not isinstance(value, int):
            raise MalformedError
        found = texts.get(int(value))
        if found is None and not is_open:
            raise MalformedError
        return number(int(value)) if found is None else found

    def write_flags(value: Any, _: int, __: Numbers) -> str:
        if not isinstance(value, int):
            raise MalformedError
        rest = int(value)
        parts = [texts[bit] for bit in bits if rest & bit]
        for bit in bits:
            rest &= ~bit
        return f"[{','.join([*parts, number(rest)] if rest else parts)}]"

    return write_flags if is_flags(shape) else write


def _custom(shape: s.Custom, _: Inner[Writer]) -> Writer:
    def write(value: Any, _: int, __: Numbers) -> str:
        try:
            return json_text.base64_text(custom_bytes(shape, value))
        except CodecError:
            raise MalformedError from None  # which its codec words

    return write


# --- what holds others


def _deeper(levels: int) -> int:
    if not levels:
        raise TooDeepError
    return levels - 1


def _optional(shape: s.Optional, inner: Inner[Writer]) -> Writer:
    write_it = inner(shape.element)
    return lambda value, levels, numbers: "null" if value is None else write_it(value, levels, numbers)


def _struct(shape: s.Struct, inner: Inner[Writer]) -> Writer:
    kind = shape.type
    steps = []
    for each in shape.fields:
        is_left_out = isinstance(bare(each.shape), s.Optional) and each.default is None
        steps.append((f'"{each.name}":', each.attribute, inner(each.shape), is_left_out))

    def write(value: Any, levels: int, numbers: Numbers) -> str:
        levels = _deeper(levels)
        if not isinstance(value, kind):
            raise MalformedError
        parts = []
        for name, attribute, write_it, is_left_out in steps:
            part = getattr(value, attribute)
            if part is not None or not is_left_out:
                parts.append(name + write_it(part, levels, numbers))
        return f"{{{','.join(parts)}}}"

    return write


def _union(shape: s.Union, inner: Inner[Writer]) -> Writer:
    chosen = {each.type: (each.name, inner(each.shape)) for each in reversed(shape.alternatives)}

    def write(value: Any, levels: int, numbers: Numbers) -> str:
        levels = _deeper(levels)
        found = chosen.get(type(value))
        if found is None:
            raise MalformedError
        name, write_it = found
        return f'{{"{name}":{write_it(value.value, levels, numbers)}}}'

    return write


def _elements(shape: "s.List | s.Array | s.Set", inner: Inner[Writer]) -> Writer:
    length = shape.length if isinstance(shape, s.Array) else None
    is_set = isinstance(shape, s.Set)
    kinds = (set, frozenset) if is_set else (list, tuple)
    write_one, at_once = inner(shape.element), _at_once(bare(shape.element))

    def write(value: Any, levels: int, numbers: Numbers) -> str:
        levels = _deeper(levels)
        if type(value) not in kinds or (length is not None and len(value) != length):
            raise MalformedError
        values = sorted(value) if is_set else value
        text = at_once(values) if at_once and values else None
        if text is None:
            text = ",".join([write_one(each, levels, numbers) for each in values])
        return f"[{text}]"

    return write


def _at_once(element: s.Shape) -> Callable[[Any], str | None] | None:
    """The texts of numbers, with commas between them; None: each has to be looked at."""
    if element is s.F64:

        def floats(values: Any) -> str | None:
            text = ",".join(map(repr, values))
            return text if set(map(type, values)) == {float} and "n" not in text else None

        return floats
    if not isinstance(element, s.Scalar) or element.name[0] not in "iu" or element is s.UUID:
        return None
    low, high = limits_of(element.name)
    comma, quote = ('","', '"') if element.bits == 64 else (",", "")

    def integers(values: Any) -> str | None:
        if set(map(type, values)) != {int} or min(values) < low or max(values) > high:
            return None
        return quote + comma.join(map(str, values)) + quote

    return integers


def _map(shape: s.Map, inner: Inner[Writer]) -> Writer:
    write_key, write_one = inner(shape.key), inner(shape.value)

    def write(value: Any, levels: int, numbers: Numbers) -> str:
        levels = _deeper(levels)
        if type(value) is not dict:
            raise MalformedError
        parts = []
        for key in sorted(value):
            name = write_key(key, levels, numbers)
            name = name if name[0] == '"' else f'"{name}"'
            parts.append(f"{name}:{write_one(value[key], levels, numbers)}")
        return f"{{{','.join(parts)}}}"

    return write


def _graph(shape: Composite, inner: Inner[Writer]) -> Writer:
    writers = [(name, each, inner(each, True)) for name, each in shape.tables.items()]

    def write(value: Any, levels: int, _: Numbers) -> str:
        if levels < 2:
            raise TooDeepError
        objects, numbers = numbered(shape, value)
        rows = []
        for name, each, write_one in writers:
            texts = [write_one(one, levels - 2, numbers) for one in objects[each]]
            rows.append(f'"{name}":[{",".join(texts)}]')
        return f"{{{','.join(rows)}}}"

    return write


def _reference(shape: s.Ref, _: Inner[Writer]) -> Writer:
    element: Any = shape.element
    return lambda value, _, numbers: str(numbers[element, id(value)])


writers: Final = Functions[Writer](
    {
        s.Scalar: _scalar,
        s.Enum: _enum,
        s.Custom: _custom,
        s.Optional: _optional,
        s.List: _elements,
        s.Array: _elements,
        s.Set: _elements,
        s.Map: _map,
        s.Struct: _struct,
        s.Union: _union,
        s.Ref: _reference,
    },
    _graph,
)
