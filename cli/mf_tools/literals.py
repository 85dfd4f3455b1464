"""Defaults, which a description has as JSON, as a schema writes them (docs/language.md, "Values")."""

import base64
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from mf.described import (
    ArrayOf,
    Declared,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    Schema,
    SetOf,
    Type,
)

_FLOATS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns"))


class Literals:
    """`name` gives the name of a type as the schema has it."""

    def __init__(self, schema: Schema, name: Callable[[str], str]) -> None:
        self._schema = schema
        self._name = name

    def of(self, type_: Type, default: str) -> str:
        """What is no JSON of the type, since a peer has written it, stays as it is."""
        try:
            return self._literal(type_, json.loads(default, parse_float=Decimal))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
            return default

    def _literal(self, type_: Type, value: Any) -> str:
        match type_:
            case Scalar(name):
                return _scalar(name, value)
            case OptionalOf(element) | RefTo(element):
                return self._literal(element, value)
            case ListOf(element) | SetOf(element) | ArrayOf(element, _):
                return _listed(self._literal(element, each) for each in value)
            case MapOf(key, element):
                pairs = (
                    f"{self._literal(key, self._key(key, each))}: {self._literal(element, value[each])}"
                    for each in value
                )
                return _braced(pairs)
            case Named(name):
                return self._declared(self._schema.types[name], value)

    def _key(self, type_: Type, text: str) -> Any:
        """A key is the JSON of its value, without the quotes of a string."""
        is_word = isinstance(type_, Scalar) and type_.name == "bool"
        return json.loads(text) if is_word else text

    def _declared(self, declared: Declared, value: Any) -> str:
        name = self._name(declared.name)
        if declared.kind == "flags" and isinstance(value, list):
            return _listed(str(each) if isinstance(each, int) else f"{name}.{each}" for each in value)
        if declared.base:
            return f"{name}.{value}" if value in declared.numbers else str(value)
        types = {each.name: each.type for each in declared.fields}
        return _braced(f"{key}: {self._literal(types[key], each)}" for key, each in value.items())


def _scalar(name: str, value: Any) -> str:
    match name:
        case "bool":
            return "true" if value else "false"
        case "string":
            return _quoted(value)
        case "bytes":
            return '"' + "".join(f"\\x{byte:02x}" for byte in base64.b64decode(value)) + '"'
        case "timestamp":
            return value if value.lstrip("-").isdecimal() else _quoted(value)
        case "duration":
            return _duration(value)
        case "uuid":
            return _quoted(value)
    return _FLOATS.get(value, value) if isinstance(value, str) else str(value)


def _duration(text: str) -> str:
    """'1.500s' as '1500ms': a number and a unit."""
    nanoseconds = int(Decimal(text.removesuffix("s")) * 1_000_000_000)
    size, unit = next(each for each in _UNITS if nanoseconds % each[0] == 0)
    return f"{nanoseconds // size}{unit}"


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(each: str) -> str:
    if each in '"\\':
        return f"\\{each}"
    return each if each.isprintable() else f"\\u{{{ord(each):x}}}"


def _listed(parts: Any) -> str:
    return f"[{', '.join(parts)}]"


def _braced(parts: Any) -> str:
    inner = ", ".join(parts)
    return f"{{ {inner} }}" if inner else "{}"
