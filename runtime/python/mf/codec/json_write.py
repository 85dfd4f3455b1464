"""R1. Writes JSON: for each type a function that is made of its shape when it is first used.

The functions take values of the classes that decoding makes, and `levels`, how deep what they write may nest.
Whatever else they meet they give up on (GIVE_UP); mf.codec.json then asks the codec of the type.
"""

from collections.abc import Callable, Iterator
from json.encoder import encode_basestring
from typing import Any, Final

from mf.codec import json_text
from mf.codec import shape as s
from mf.codec.json_function import FunctionText
from mf.codec.malformed import MalformedError

Writer = Callable[[Any, int], str]

_TYPE_OF_INT: Final = {int}
_TYPE_OF_FLOAT: Final = {float}


class TooDeepError(MalformedError):
    """More levels than a reader takes."""


def _integer(scalar: s.Scalar) -> Callable[[Any], str]:
    low, high = limits_of(scalar)
    quoted = scalar.bits == 64

    def write(value: int) -> str:
        if type(value) is not int or not low <= value <= high:
            raise MalformedError
        return f'"{value}"' if quoted else f"{value}"

    return write


def limits_of(scalar: s.Scalar) -> tuple[int, int]:
    if scalar.name[0] == "i":
        return -(1 << scalar.bits - 1), (1 << scalar.bits - 1) - 1
    return 0, (1 << scalar.bits) - 1


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


def bare(shape: s.Shape) -> s.Shape:
    """Without its constraints: JSON does not check them."""
    while isinstance(shape, s.Checked):
        shape = shape.shape
    return shape


class _Text(FunctionText):
    _absent = "'null'"

    def _plain(self, shape: s.Scalar | s.Enum | s.Custom) -> Any:
        match shape:
            case s.Scalar():
                return scalar_writer(shape)
            case s.Enum():
                return enum_writer(shape)
            case _:
                return _custom(shape)

    def _other(self, shape: s.Shape) -> Writer:
        if begins_graph(shape):
            return writer_of(shape)
        if shape not in self._around:
            return writer_of(shape, self._around)
        return lambda value, levels: writer_of(shape)(value, levels)

    def compiled(self, lines: list[str]) -> Writer:
        head = ["if not levels:", "    raise TooDeepError", "levels -= 1"]
        made: Writer = self._compiled("value, levels", [*head, *lines])
        return made


def _custom(shape: s.Custom) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        from mf.codec.archive_wire import custom_bytes

        return json_text.base64_text(custom_bytes(shape, value))

    return write


_writers: Final[dict[s.Shape, Writer]] = {}


def writer_of(shape: s.Shape, around: frozenset[s.Shape] = frozenset()) -> Writer:
    found = _writers.get(shape)
    if found is None:
        found = _writers[shape] = _made(bare(shape), around)
    return found


def begins_graph(shape: s.Shape) -> bool:
    return isinstance(shape, s.Struct | s.Union) and bool(shape.tables)


def _made(shape: s.Shape, around: frozenset[s.Shape]) -> Writer:
    if isinstance(shape, s.Struct | s.Union) and shape.tables:
        from mf.codec.json_graph import graph_writer

        return graph_writer(shape)
    text = _Text(around | {shape}, TooDeepError=TooDeepError)
    match shape:
        case s.Struct():
            return text.compiled(list(_struct(text, shape)))
        case s.Union():
            return text.compiled(list(_union(text, shape)))
        case s.List() | s.Array():
            return text.compiled(list(_sequence(text, shape)))
        case s.Set():
            return text.compiled(["if type(value) is not set: raise MalformedError", *_set(text, shape)])
        case s.Map():
            return text.compiled(list(_map(text, shape)))
        case _:
            expression = text.expression(shape, "value")
            exec(f"def write(value, levels): return {expression}", text.known)
            made: Writer = text.known["write"]
            return made


def _struct(text: _Text, shape: s.Struct) -> Iterator[str]:
    if isinstance(shape.make, type):
        yield f"if not isinstance(value, {text.constant(shape.make)}): raise MalformedError"
    parts = []
    for each in shape.fields:
        value = f"value.{each.attribute}"
        plain = bare(each.shape)
        if isinstance(plain, s.Optional) and each.default is None:
            inner = text.expression(plain.element, "part")
            parts.append(f"""('' if (part := {value}) is None else ',"{each.name}":' + {inner})""")
        else:
            parts += [f"""',"{each.name}":'""", text.expression(each.shape, value)]
    yield "return '{' + ''.join((" + "".join(f"{each}, " for each in parts) + "))[1:] + '}'"


def _union(text: _Text, shape: s.Union) -> Iterator[str]:
    yield "kind = type(value)"
    for each in shape.alternatives:
        inner = text.expression(each.shape, "value.value")
        yield f"if kind is {text.constant(each.type)}: return '{{\"{each.name}\":' + {inner} + '}}'"
    yield "raise MalformedError"


def _sequence(text: _Text, shape: "s.List | s.Array") -> Iterator[str]:
    yield "if type(value) is not list and type(value) is not tuple: raise MalformedError"
    if isinstance(shape, s.Array):
        yield f"if len(value) != {shape.length}: raise MalformedError"
    element = bare(shape.element)
    if isinstance(element, s.Scalar) and element.name[0] in "iu" and element.name != "uuid":
        low, high = limits_of(element)
        types = text.constant(_TYPE_OF_INT)
        yield "if not value: return '[]'"
        yield f"if set(map(type, value)) != {types} or min(value) < {low} or max(value) > {high}:"
        yield "    raise MalformedError"
        quote = '"' if element.bits == 64 else ""
        yield f"return '[{quote}' + '{quote},{quote}'.join(map(str, value)) + '{quote}]'"
    elif element is s.F64:
        yield f"if value and set(map(type, value)) != {text.constant(_TYPE_OF_FLOAT)}: raise MalformedError"
        yield "text = ','.join(map(repr, value))"
        one = text.expression(element, "each")
        yield f"if 'n' in text: text = ','.join([{one} for each in value])"
        yield "return '[' + text + ']'"
    else:
        yield f"return '[' + ','.join([{text.expression(element, 'each')} for each in value]) + ']'"


def _set(text: _Text, shape: s.Set) -> Iterator[str]:
    yield "if type(value) is not set and type(value) is not frozenset: raise MalformedError"
    yield f"return '[' + ','.join([{text.expression(shape.element, 'each')} for each in sorted(value)]) + ']'"


def _map(text: _Text, shape: s.Map) -> Iterator[str]:
    yield "if type(value) is not dict: raise MalformedError"
    key = text.expression(shape.key, "key")
    if not is_quoted(bare(shape.key)):
        key = f"as_key({key})"
        text.known["as_key"] = _as_key
    inner = text.expression(shape.value, "value[key]")
    yield f"return '{{' + ','.join([{key} + ':' + {inner} for key in sorted(value)]) + '}}'"


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
