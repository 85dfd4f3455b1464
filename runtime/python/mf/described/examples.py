"""R8. A template of a value as JSON: each field with a value of its type, to be changed by a person."""

import json
from typing import Any

from mf.evolution.schema import Declared, Fields, Schema
from mf.evolution.types import ArrayOf, ListOf, MapOf, Named, OptionalOf, RefTo, Scalar, SetOf, Type

_MOST_LEVELS = 8
_MOST_ELEMENTS = 3
_MOST_VALUES = 2000
"""Of a template: what is behind these is left out, since types can hold each other many times."""

_SCALARS = {
    "bool": False,
    "string": "",
    "bytes": "",
    "timestamp": "1970-01-01T00:00:00Z",
    "duration": "0s",
    "uuid": "00000000-0000-0000-0000-000000000000",
    "u64": "0",
    "i64": "0",
    "f32": 0.0,
    "f64": 0.0,
}


def example(schema: Schema, of: Fields | Type) -> Any:
    """Of the parameters of a method, or of a type: what `json.dumps` takes. Defaults are those of the schema;
    of a list, set or map it shows one element, of a union its first alternative."""
    made = _Template(schema)
    if isinstance(of, Fields):
        return {each.name: made.field(each.type, each.default, 0) for each in of.fields}
    return made.value(of, 0)


class _Template:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._count = 0

    def field(self, type_: Type, default: str | None, level: int) -> Any:
        if default is not None:
            try:
                return json.loads(default)
            except (ValueError, RecursionError):  # of a peer
                pass
        return self.value(type_, level)

    def value(self, type_: Type, level: int) -> Any:
        self._count += 1
        ends = level >= _MOST_LEVELS or self._count > _MOST_VALUES
        match type_:
            case Scalar(name):
                return _SCALARS.get(name, 0)
            case OptionalOf(element):
                return None if ends else self.value(element, level + 1)
            case ListOf(element) | SetOf(element):
                return [] if ends else [self.value(element, level + 1)]
            case MapOf(key, value):
                return {} if ends else {_key(self.value(key, level + 1)): self.value(value, level + 1)}
            case ArrayOf(element, length):
                return [self.value(element, level + 1) for _ in range(min(length, _MOST_ELEMENTS))]
            case Named(name):
                return self._declared(self._schema.types[name], level)
            case RefTo():
                return 0

    def _declared(self, declared: Declared, level: int) -> Any:
        if declared.kind == "enum":
            return next(iter(declared.numbers), 0)
        if declared.kind == "flags":
            return [*declared.numbers][:1]
        if declared.tier == "custom":
            return ""
        if declared.kind == "union":
            first = declared.fields[0]
            return {first.name: self.value(first.type, level + 1)} if level < 2 * _MOST_LEVELS else {}
        if level >= 2 * _MOST_LEVELS:
            return {}
        return {each.name: self.field(each.type, each.default, level + 1) for each in declared.fields}


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
