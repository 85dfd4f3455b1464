"""F6. The writing layer of all tiers: bytes that grow, and a path for what does not fit its type."""

import struct
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from mfidl import model
from mfidl.diagnostics import did_you_mean
from mfidl.dynamic.errors import EncodeError
from mfidl.dynamic.number import Number
from mfidl.dynamic.path import Path
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import UNKNOWN, Value
from mfidl.model import Tier

TierWriter = Callable[["Encoding", model.Named, Value], None]
MAX_DEPTH = 64


class Encoding:
    __slots__ = ("data", "depth", "path", "schema", "tables", "tiers")

    def __init__(self, schema: Schema, tiers: Mapping[Tier, TierWriter], root: str) -> None:
        self.schema = schema
        self.tiers = tiers
        self.path = Path(root)
        self.data = bytearray()
        self.depth = 0
        self.tables: dict[str, int] = {}

    def fail(self, reason: str) -> EncodeError:
        return EncodeError(str(self.path), reason)

    def enter(self) -> None:
        if self.depth == MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")
        self.depth += 1

    def leave(self) -> None:
        self.depth -= 1

    # Bytes --------------------------------------------------------------------------------------------------

    def varint(self, number: int) -> None:
        while number > 0x7F:
            self.data.append(number & 0x7F | 0x80)
            number >>= 7
        self.data.append(number)

    def fixed(self, number: Number, value: Value) -> None:
        """A number in its memory form."""
        try:
            self.data += struct.pack(f"<{number.letter}", value)
        except (struct.error, OverflowError):
            raise self.fail(f"{value!r} does not fit in {model.spell(number.type)}") from None

    def sealed(self, write: Callable[[], None]) -> None:
        """What `write` writes, behind its length."""
        outer, self.data = self.data, bytearray()
        write()
        inner, self.data = self.data, outer
        self.varint(len(inner))
        self.data += inner

    def in_tier(self, type_: model.Named, value: Value) -> None:
        self.tiers[self.schema.tier(type_)](self, type_, value)

    # Values -------------------------------------------------------------------------------------------------

    def number(self, number: Number, value: Value) -> Value:
        """The value as its type has it: an int in its range and among its members, or a float."""
        if number.is_bool:
            return self.of(bool, value, number.type)
        if number.is_float:
            if isinstance(value, int) and not isinstance(value, bool):
                try:
                    value = float(value)
                except OverflowError:
                    raise self.fail(
                        f"an integer of {value.bit_length()} bits does not fit in {model.spell(number.type)}"
                    ) from None
            return self.of(float, value, number.type)
        found: int = self.of(int, value, number.type)
        low, high = number.limits
        if not low <= found <= high:
            raise self.fail(f"{found} does not fit in {model.spell(number.type)}")
        if number.members is not None and found not in number.members:
            raise self.fail(f"{found} is no member of {model.spell(number.type)}")
        return found

    def of(self, kind: type, value: Value, type_: model.Type) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fail(f"{model.spell(type_)} is a Python {kind.__name__}, not {type(value).__name__}")
        return value

    def text(self, value: Value, type_: model.Type) -> bytes:
        text: str = self.of(str, value, type_)
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError:
            raise self.fail("a string with half of a surrogate pair has no UTF-8") from None

    def blob(self, value: Value, type_: model.Type) -> bytes:
        if not isinstance(value, bytes | bytearray | memoryview):
            raise self.fail(f"{model.spell(type_)} is Python bytes, not {type(value).__name__}")
        return bytes(value)

    def uuid(self, value: Value, type_: model.Type) -> bytes:
        data = self.blob(value, type_)
        if len(data) != 16:
            raise self.fail(f"a uuid has 16 bytes, not {len(data)}")
        return data

    def elements(self, value: Value, type_: model.ListOf | model.ArrayOf) -> list[Value]:
        if not isinstance(value, list | tuple):
            raise self.fail(f"{model.spell(type_)} is a Python list, not {type(value).__name__}")
        if isinstance(type_, model.ArrayOf) and len(value) != type_.length:
            raise self.fail(f"{model.spell(type_)} has {type_.length} elements, not {len(value)}")
        return list(value)

    def ascending(self, value: Value, type_: model.SetOf) -> list[Value]:
        """The elements of a set, in order."""
        if not isinstance(value, list | tuple | set | frozenset):
            raise self.fail(f"{model.spell(type_)} is a Python list or set, not {type(value).__name__}")
        return self._sorted(list(value), model.spell(type_))

    def entries(self, value: Value, type_: model.MapOf) -> list[tuple[Value, Value]]:
        """The entries of a map, in order of their keys."""
        found: dict[Value, Value] = self.of(dict, value, type_)
        return [(key, found[key]) for key in self._sorted(list(found), model.spell(type_))]

    def _sorted(self, keys: list[Value], type_: str) -> list[Value]:
        try:
            ordered = sorted(keys, key=lambda key: key.encode() if isinstance(key, str) else key)
        except (TypeError, UnicodeEncodeError):
            raise self.fail(f"keys of {type_} are not all of its type") from None
        for one, next_ in pairwise(ordered):
            if one == next_:
                raise self.fail(f"{one!r} is there twice in a {type_}")
        return ordered

    def fields(self, struct: model.Struct, value: Value) -> dict[str, Value]:
        """A value for each field: those that are left out have their default, or are absent."""
        found: dict[str, Value] = self.of(dict, value, struct.reference)
        names = {each.name for each in struct.fields}
        for name in found:
            if name not in names and name != UNKNOWN:
                raise self.fail(_unknown(f"{struct.name} has no field `{name}`", str(name), names))
        return {each.name: self._given(found, each) for each in struct.fields}

    def _given(self, found: Mapping[str, Value], field: model.Field) -> Value:
        if field.name in found:
            return found[field.name]
        if field.default is not None:
            from mfidl.dynamic.defaults import plain

            return plain(self.schema, field.type, field.default)
        if isinstance(field.type, model.OptionalOf):
            return None
        raise self.fail(f"the field `{field.name}` is missing")

    def alternative(self, union: model.Union, value: Value) -> tuple[model.Field, Value]:
        found: dict[str, Value] = self.of(dict, value, union.reference)
        if len(found) != 1:
            raise self.fail(f"a union holds one alternative, not {len(found)}")
        [(name, held)] = found.items()
        for each in union.alternatives:
            if each.name == name:
                return each, held
        names = [each.name for each in union.alternatives]
        raise self.fail(_unknown(f"{union.name} has no alternative `{name}`", str(name), names))


def _unknown(problem: str, name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"{problem}; {hint}" if hint else problem
