"""The example for which `explain` counts bytes: made by rule, so that it is the same in every run.

a default          where the schema has one
integers           1000 (8-bit: 100); in its @range the nearest
floats             1.5; in its @range the nearest
string, bytes      "example"; as long as its @length allows; its @pattern matched
timestamp          2026-01-01; duration: 250 ms; uuid: the one of docs/language.md
enum, union        the first member, the first alternative; flags: the first bit
list, set, map     3 elements, inside of another 2, inside of that 1, deeper none; 1 where a type holds
                   itself; more where @length asks
T?                 present, and absent three containers deep; ref: none
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mfidl import model
from mfidl.dynamic.value import Repeated
from mfidl.explain.closure import in_order
from mfidl.explain.samples import sample
from mfidl.explain.values import Example, Foreign, UnmeasuredError
from mfidl.model import Constraints, Scalar

Made = model.StructValue | model.UnionValue | Foreign

_ELEMENTS = (3, 2, 1, 0)  # by the number of containers around
_OF_RECURSION = 2  # where a type holds itself: one more level, and no further
_DEEPEST = 40  # containers, for those that may not be empty
_MOST_DIFFERENT = 4096  # elements of a set that are worth making
_WORD = "example"
_UUID = bytes.fromhex("123e4567e89b12d3a456426614174000")
_TIMES = {Scalar.TIMESTAMP: 1_767_225_600_000_000_000, Scalar.DURATION: 250_000_000}


class Examples:
    """Examples of a program's types, each made once."""

    def __init__(self, program: model.Program) -> None:
        self._program = program
        self._made: dict[tuple[str, int], Made] = {}
        self._open: set[tuple[str, int]] = set()
        order = in_order(program)
        for depth in reversed(range(len(_ELEMENTS))):  # needed ones first, so that no call goes deep
            for each in order:
                if isinstance(each, model.Struct | model.Union):
                    with contextlib.suppress(UnmeasuredError):  # raised again when it is asked for
                        self._declared(each, depth)

    def of(self, declaration: model.Struct | model.Union) -> Made:
        """Raises UnmeasuredError where no value satisfies all constraints."""
        return self._declared(declaration, 0)

    def of_type(self, type_: model.Type, constraints: Constraints = ()) -> Example:
        return self._value(type_, constraints, 0)

    def _declared(self, declaration: model.Struct | model.Union, depth: int) -> Made:
        key = (declaration.full_name, depth)
        if key not in self._made:
            if key in self._open or depth > _DEEPEST:
                raise UnmeasuredError(f"`{declaration.name}` holds itself without end")
            self._open.add(key)
            try:
                self._made[key] = self._new(declaration, depth)
            finally:
                self._open.discard(key)
        return self._made[key]

    def _new(self, declaration: model.Struct | model.Union, depth: int) -> Made:
        if isinstance(declaration, model.Union):
            return self._alternative(declaration, depth)
        if declaration.tier is model.Tier.CUSTOM:
            return Foreign(declaration.full_name)
        fields = tuple((f.name, self._field(f, declaration, depth)) for f in declaration.fields)
        return model.StructValue(declaration.full_name, fields)

    def _field(self, field: model.Field, owner: model.Struct, depth: int) -> Example:
        if field.default is not None:
            return field.default
        if not owner.cycle.isdisjoint(model.names_in([field.type])):
            depth = max(depth, _OF_RECURSION)
        return self._value(field.type, field.constraints, depth)

    def _alternative(self, union: model.Union, depth: int) -> model.UnionValue:
        problem = UnmeasuredError(f"`{union.name}` has no alternatives")
        for each in union.alternatives:
            try:
                value = self._value(each.type, each.constraints, depth)
            except UnmeasuredError as failure:
                problem = failure
            else:
                return model.UnionValue(union.full_name, each.name, value)
        raise problem

    def _named(self, named: model.Named, depth: int) -> Example:
        match self._program.declaration(named.full_name):
            case model.Enum() as enum:
                if not enum.members:
                    return model.EnumValue(enum.full_name, "0", 0)
                first = enum.members[0]
                return model.EnumValue(enum.full_name, first.name, first.number)
            case model.Flags() as flags:
                bits = flags.members[:1]
                value = 1 << bits[0].bit if bits else 0
                return model.FlagsValue(flags.full_name, tuple(each.name for each in bits), value)
            case model.Struct() | model.Union() as declaration:
                return self._declared(declaration, depth)
            case _:
                raise AssertionError("aliases are expanded in the model")

    def _value(self, type_: model.Type, constraints: Constraints, depth: int) -> Example:
        match type_:
            case model.Primitive(scalar):
                return _scalar(scalar, constraints)
            case model.Named():
                return self._named(type_, depth)
            case model.ArrayOf(element, length, inner):
                return Repeated(self._value(element, inner, depth), length)
            case model.OptionalOf(element):
                return self._value(element, constraints, depth + 1) if depth + 1 < len(_ELEMENTS) else None
            case model.ListOf(element, inner):
                count = _count(constraints, depth)
                return Repeated(self._value(element, inner, depth + 1) if count else None, count)
            case model.SetOf(element, inner):
                return model.ListValue(tuple(self._different(element, inner, constraints, depth)))
            case model.MapOf(key, value, of_keys, of_values):
                keys = self._different(key, of_keys, constraints, depth)
                held: Any = self._value(value, of_values, depth + 1) if keys else None
                return model.MapValue(tuple((each, held) for each in keys))
            case _:
                return None  # ref

    def _different(
        self, type_: model.Type, inner: Constraints, of_container: Constraints, depth: int
    ) -> list[Example]:
        """The keys of a set or map; fewer than requested if there are no more."""
        count = _count(of_container, depth)
        found = list(itertools.islice(self._keys(type_, inner), min(count, _MOST_DIFFERENT)))
        low = model.lengths_of(of_container)[0]
        if len(found) < low:
            raise UnmeasuredError(f"an example would need {low} different keys")
        return sorted(found, key=_on_the_wire)

    def _keys(self, type_: model.Type, constraints: Constraints) -> Iterator[Example]:
        """Different values of a type of keys."""
        match type_:
            case model.Named():
                match self._program.declaration(type_.full_name):
                    case model.Enum() as enum:
                        for each in enum.members:
                            yield model.EnumValue(enum.full_name, each.name, each.number)
                    case model.Flags() as flags:
                        for bit in flags.members:
                            yield model.FlagsValue(flags.full_name, (bit.name,), 1 << bit.bit)
                    case _:
                        raise AssertionError("structs are no keys")
            case model.Primitive(Scalar.BOOL):
                yield from (False, True)
            case model.Primitive(scalar) if scalar.held.is_integer:
                low, high = bounds_of(scalar, constraints)
                first = _scalar(scalar, constraints)
                assert isinstance(first, int)
                yield from range(first, high + 1)
                yield from range(first - 1, low - 1, -1)
            case model.Primitive(Scalar.UUID):
                yield from (_UUID[:-4] + number.to_bytes(4, "little") for number in range(_MOST_DIFFERENT))
            case model.Primitive(scalar):
                yield from _distinct(_texts(constraints, raw=scalar is Scalar.BYTES))


def bounds_of(scalar: Scalar, constraints: Constraints) -> tuple[int, int]:
    """The smallest and largest value that an integer, timestamp or duration may have."""
    least, most = scalar.held.limits()
    low, high = model.range_of(constraints)
    return least if low is None else max(least, int(low)), most if high is None else min(most, int(high))


def _count(constraints: Constraints, depth: int) -> int:
    low, high = model.lengths_of(constraints)
    wanted = max(low, _ELEMENTS[min(depth, len(_ELEMENTS) - 1)])
    return wanted if high is None else min(wanted, high)


def _scalar(scalar: Scalar, constraints: Constraints) -> Example:
    if scalar is Scalar.BOOL:
        return True
    if scalar is Scalar.UUID:
        return _UUID
    if scalar.is_float:
        least, most = model.range_of(constraints)
        value = 1.5 if least is None else max(1.5, float(least))
        return value if most is None else min(value, float(most))
    if scalar in (Scalar.STRING, Scalar.BYTES):
        return next(iter(_texts(constraints, raw=scalar is Scalar.BYTES)))
    low, high = bounds_of(scalar, constraints)
    wanted = _TIMES.get(scalar) or (100 if scalar.bits == 8 else 1000)
    return max(low, min(wanted, high))


_LONGEST: Final = 1 << 20
"""Bytes of a text."""


def _texts(constraints: Constraints, *, raw: bool) -> Iterator[str | bytes]:
    """Texts that satisfy the constraints, the example first."""
    low, high = model.lengths_of(constraints)
    pattern = next((each.pattern for each in constraints if isinstance(each, model.PatternConstraint)), None)
    if pattern is not None:
        for more in range(16):
            text = sample(pattern, low, high, more)
            if text is None:
                if more == 0:
                    raise UnmeasuredError(f"no short text matches @pattern({pattern!r})")
                return
            yield text
        return
    length = max(low, len(_WORD) if high is None else min(high, len(_WORD)))
    if length > _LONGEST:
        raise UnmeasuredError(f"its shortest text has {length} bytes, and examples have at most {_LONGEST}")
    word = (_WORD * -(-length // len(_WORD)))[:length]
    yield word.encode() if raw else word
    for number in range(_MOST_DIFFERENT) if length else ():
        tail = _letters(number)[-length:]
        text = word[: length - len(tail)] + tail
        yield text.encode() if raw else text


def _letters(number: int) -> str:
    text = chr(97 + number % 26)
    while number >= 26:
        number = number // 26 - 1
        text = chr(97 + number % 26) + text
    return text


def _distinct(texts: Iterable[str | bytes]) -> Iterator[str | bytes]:
    seen: set[str | bytes] = set()
    for each in texts:
        if each not in seen:
            seen.add(each)
            yield each


def _on_the_wire(key: Example) -> int | bytes:
    """The sort key of a set's or map's keys, which are all of one kind."""
    match key:
        case model.EnumValue(_, _, number) | model.FlagsValue(_, _, number):
            return number
        case str():
            return key.encode()
        case int() | bytes():
            return key
        case _:
            raise AssertionError("no key")
