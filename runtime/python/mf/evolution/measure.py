"""R0. The size of values of a peer's types, and the length of the code that Python generates for them: both
are bounded before anything is generated. The bounds of sizes are those of C++
(mf/codec/described/schema.hpp).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from mf.evolution.schema import Declared, Field, Schema
from mf.evolution.types import (
    MOST_SIZE,
    ArrayOf,
    Named,
    OptionalOf,
    Scalar,
    SchemaError,
    Type,
    parts,
    spell_in_full,
)

MOST_EXPRESSIONS: Final = 32_768
"""Limit of named types and expressions of types together."""
MOST_PARTS: Final = 1 << 16
"""Limit of all types together: the code for a type in memory is one piece, in which the types that it holds
are expanded."""

_SIZES: Final = {"bool": 1, "timestamp": 8, "duration": 8}


class Measure(NamedTuple):
    """`size` and `align` in memory; `values`: a value and all values that it holds. `parts`: the parts that
    the generated code names; `codes`: those of the layout, where an array of structs counts once for each
    element."""

    size: int = 0
    align: int = 1
    values: int = 1
    parts: int = 1
    codes: int = 1


def measure(schema: Schema, order: Iterable[str]) -> None:
    """Raises SchemaError. `order`: the names of all types, those that a struct holds before it."""
    _Measuring(schema).run(order)


class _Measuring:
    __slots__ = ("_known", "_named", "_parts", "_schema", "_too_long")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._named: dict[str, Measure] = {}
        self._known: dict[Type, Measure] = {}
        self._parts = 0
        self._too_long = ""

    def run(self, order: Iterable[str]) -> None:
        schema = self._schema
        for name in order:
            self._named[name] = self._declared(schema.types[name])
        for method in schema.methods.values():
            for what, fields in (("params", method.params), ("results", method.results)):
                self._fields(f"{method.name}.{what}", fields.fields, memcpy=fields.tier == "memcpy")
            for stream in (method.params_stream, method.results_stream):
                if stream is not None:
                    self._of(stream)
        for lone in (schema.value, schema.per and schema.per[1]):
            if lone is not None:
                self._of(lone)
        if len(self._known) + len(self._named) > MOST_EXPRESSIONS:
            raise SchemaError(f"there are more than {MOST_EXPRESSIONS} types and expressions of types")
        if self._too_long:  # last, so that both languages refuse in the same words what both refuse
            raise SchemaError(f"type `{self._too_long}` has more parts than Python can make of it")

    def _declared(self, declared: Declared) -> Measure:
        if declared.base:
            return _scalar(declared.base)
        if declared.kind == "union":
            for field in declared.fields:
                self._of(field.type)
            return Measure()
        return self._fields(declared.name, declared.fields, memcpy=declared.tier == "memcpy")

    def _fields(self, name: str, fields: Iterable[Field], *, memcpy: bool) -> Measure:
        end, strictest, values, parts_, codes = 0, 1, 1, 1, 1
        for field in fields:
            held = self._of(field.type)
            values += held.values
            parts_ += held.parts
            codes += held.codes
            if memcpy:
                strictest = max(strictest, held.align)
                end += -end % held.align + held.size
                if end > MOST_SIZE:
                    raise SchemaError(f"type `{name}` is larger than any message")
        if values > MOST_SIZE:
            raise SchemaError(f"type `{name}` holds more values than any message")
        self._parts += parts_
        if max(codes, self._parts) > MOST_PARTS:
            self._too_long = self._too_long or name
        if not memcpy:  # its functions are called where it is held
            return Measure(values=values)
        return Measure(end + -end % strictest, strictest, values, parts_, codes)

    def _of(self, type_: Type) -> Measure:
        if isinstance(type_, Named):  # what a list or a union holds may come later, and is measured then
            return self._named.get(type_.name) or Measure()
        found = self._known.get(type_)
        if found is None:
            found = self._known[type_] = self._made(type_)
        return found

    def _made(self, type_: Type) -> Measure:
        match type_:
            case Scalar(name):
                return _scalar(name)
            case ArrayOf(element, length):
                return self._array(type_, self._of(element), length)
            case _:
                for part in parts(type_):
                    self._of(part)
                return Measure(parts=1 + isinstance(type_, OptionalOf))

    @staticmethod
    def _array(type_: Type, held: Measure, length: int) -> Measure:
        if held.size * length > MOST_SIZE:
            raise SchemaError(f"type `{spell_in_full(type_)}` is larger than any message")
        if held.values * length > MOST_SIZE:
            raise SchemaError(f"type `{spell_in_full(type_)}` holds more values than any message")
        codes = 1 if held.codes == 1 else held.codes * length
        return Measure(held.size * length, held.align, held.values * length, held.parts, codes)


def _scalar(name: str) -> Measure:
    if name == "uuid":
        return Measure(16, codes=2)  # an array of them is written out
    size = _SIZES.get(name) or (int(name[1:]) // 8 if name[1:].isdecimal() else 0)
    return Measure(size, max(1, size))
