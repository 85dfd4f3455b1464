"""R1. The writer that explains: values to bytes by the description of their type, one check at a time.

It runs where the fast codec gave up, and decides: either the value is wrong (a `CarefulError` that says where
and why), or it was only rare, and its bytes come out after all. Slow on purpose; the tests also hold it
against the fast codec.
"""

import operator
import struct
import uuid
from collections.abc import Iterable, Set
from typing import Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.careful_error import CarefulError, Path, digits, shown
from mf.codec.checks import is_bool, is_list
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U32_MAX
from mf.codec.malformed import MalformedError
from mf.codec.rows import BLOCK
from mf.codec.rules import Rule
from mf.codec.sequences import as_bytes
from mf.codec.varint import write_unsigned
from mf.core.error import Code


def _code(numbers: list[int], *, signed: bool) -> int:
    for code in (0, 1, 2):
        bits = 8 << code
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if all(low <= number <= high for number in numbers):
            return code
    return 3


class CarefulWriter:
    """`out` holds the bytes so far."""

    def __init__(self, root: str = "") -> None:
        self.out = bytearray()
        self._path = Path(root)
        self._depth = 0
        self._graph: Any = None  # the one that is being written, in tier archive

    def alone(self, shape: s.Composite, value: Any) -> None:
        """A value of tier archive or custom, without its length."""
        from mf.codec import careful_archive_writer

        careful_archive_writer.write_alone(self, shape, value)

    def write(self, shape: s.Shape, value: Any) -> None:
        if isinstance(shape, s.Struct | s.Union | s.Custom) and shape.has_no_end:
            from mf.codec import careful_archive_writer

            careful_archive_writer.write_embedded(self, shape, value)
        else:
            self._write(shape, value)

    def _write(self, shape: s.Shape, value: Any) -> None:
        match shape:
            case s.Scalar():
                self._scalar(shape, value)
            case s.Enum():
                self._scalar(shape.base, self._number_of(shape, value))
            case s.Checked():
                self.write(shape.shape, value)
                self._check(shape.rules, value)
            case s.Optional():
                self.out.append(value is not None)
                if value is not None:
                    self.write(shape.element, value)
            case s.Struct():
                self._struct(shape, value)
            case s.Union():
                self._union(shape, value)
            case s.Map():
                self._map(shape, value)
            case s.Set():
                self._counted(shape.element, self._ordered(self._members(value)))
            case s.List():
                self._counted(shape.element, self._elements(value))
            case s.Array():
                self._of_length(shape, value)

    def memcpy(self, shape: s.Shape, value: Any, start: int) -> None:
        """A value in its layout, aligned from `start`."""
        _, align = sizes.layout(shape)
        self.out += bytes(-(len(self.out) - start) % align)
        match shape:
            case s.Scalar():
                self._fixed(shape, value)
            case s.Enum():
                self._fixed(shape.base, self._number_of(shape, value))
            case s.Checked():
                self.memcpy(shape.shape, value, start)
                self._check(shape.rules, value)
            case s.Array():
                for index, element in enumerate(self._array(shape, value)):
                    self._path.item(index)
                    self.memcpy(shape.element, element, start)
                    self._path.back()
            case s.Struct():
                begin = len(self.out)
                for each, part in zip(shape.fields, self._parts(shape, value), strict=True):
                    self._path.field(each.name)
                    self.memcpy(each.shape, part, begin)
                    self._path.back()
                self.out += bytes(shape.layout[0] - (len(self.out) - begin))
            case _:
                raise TypeError(f"{type(shape).__name__} has no memory layout")

    def fail(self, reason: str) -> CarefulError:
        return CarefulError(Code.INVALID_ARGUMENT, str(self._path), reason)

    def _check(self, rules: Iterable[Rule], value: Any) -> None:
        for rule in rules:
            reason = rule.violation(value)
            if reason is not None:
                raise self.fail(reason)

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")

    def _struct(self, shape: s.Struct, value: Any) -> None:
        if not shape.implicit:
            self._enter()
        if shape.memcpy:
            self.memcpy(shape, value, len(self.out))
        else:
            for each, part in zip(shape.fields, self._parts(shape, value), strict=True):
                self._path.field(each.name)
                self.write(each.shape, part)
                self._path.back()
        if not shape.implicit:
            self._depth -= 1

    def _union(self, shape: s.Union, value: Any) -> None:
        found = next((each for each in shape.alternatives if type(value) is each.type), None)
        if found is None:
            raise self.fail(f"expected an alternative of {shape.name}, got {shown(value)}")
        self._enter()
        write_unsigned(self.out, found.number, U32_MAX)
        self._path.field(found.name)
        self.write(found.shape, value.value)
        self._path.back()
        self._depth -= 1

    def _parts(self, shape: s.Struct, value: Any) -> list[Any]:
        if shape.parts is not None:
            return list(shape.parts(value))
        if isinstance(shape.make, type) and not isinstance(value, shape.make):
            raise self.fail(f"expected {shape.name}, got {shown(value)}")
        try:
            return [getattr(value, each.attribute) for each in shape.fields]
        except AttributeError:
            raise self.fail(f"expected {shape.name}, got {shown(value)}") from None

    def _count(self, count: int) -> None:
        if count > U32_MAX:
            raise self.fail(f"{count} elements are more than a message can count")
        write_unsigned(self.out, count, U32_MAX)

    def _items(self, shape: s.Shape, elements: Iterable[Any]) -> None:
        self._enter()
        for index, element in enumerate(elements):
            self._path.item(index)
            self.write(shape, element)
            self._path.back()
        self._depth -= 1

    def _counted(self, shape: s.Shape, elements: list[Any]) -> None:
        if sizes.row_of(shape) is not None:
            self._row(shape, elements, counted=True)
            return
        if len(elements) > MAX_EMPTY_ITEMS and sizes.smallest(shape) == 0:
            raise self.fail(f"{len(elements)} elements without bytes, more than {MAX_EMPTY_ITEMS}")
        self._count(len(elements))
        self._items(shape, elements)

    def _of_length(self, shape: s.Array, value: Any) -> None:
        elements = self._array(shape, value)
        if sizes.row_of(shape.element) is not None:
            self._row(shape.element, elements, counted=False)
        else:
            self._items(shape.element, elements)

    def _row(self, shape: s.Shape, elements: list[Any], *, counted: bool) -> None:
        """Blocks of 256 integers, each in the smallest width that holds them all."""
        name = sizes.row_of(shape) or ""
        self._enter()
        numbers = []
        for index, element in enumerate(elements):
            self._path.item(index)
            numbers.append(self._number(shape, element))
            self._path.back()
        self._depth -= 1
        blocks = [numbers[at : at + BLOCK] for at in range(0, len(numbers), BLOCK)]
        codes = [_code(block, signed=name[0] == "i") for block in blocks]
        if counted:
            write_unsigned(self.out, len(numbers) << 2 | (codes[0] if codes else 0), (1 << 64) - 1)
        codes_out = codes[1:] if counted else codes
        for at in range(0, len(codes_out), 4):
            self.out.append(sum(code << 2 * place for place, code in enumerate(codes_out[at : at + 4])))
        for code, block in zip(codes, blocks, strict=True):
            self._lay(block, code, signed=name[0] == "i")

    def _lay(self, numbers: list[int], code: int, *, signed: bool) -> None:
        for number in numbers:
            self.out += number.to_bytes(1 << code, "little", signed=signed)

    def _number(self, shape: s.Shape, value: Any) -> int:
        """An element of a row, or an entry's key or value in a block."""
        match shape:
            case s.Checked():
                number = self._number(shape.shape, value)
                self._check(shape.rules, value)
                return number
            case s.Enum():
                return self._in_range(shape.base.name, self._number_of(shape, value))
            case s.Scalar():
                return self._in_range(shape.name, value)
            case _:
                raise TypeError(f"{type(shape).__name__} stands in no row")

    def _elements(self, value: Any) -> list[Any]:
        if not is_list(value):
            raise self.fail(f"expected a list, got {shown(value)}")
        tolist = getattr(value, "tolist", None)
        try:
            return list(value if tolist is None else tolist())
        except (TypeError, NotImplementedError):
            raise self.fail(f"expected a list, got {shown(value)}") from None

    def _members(self, value: Any) -> Set[Any]:
        if not isinstance(value, Set):
            raise self.fail(f"expected a set, got {shown(value)}")
        return value

    def _ordered(self, keys: Iterable[Any]) -> list[Any]:
        try:
            return sorted(keys)
        except TypeError:
            raise self.fail("its keys are not all of one type") from None

    def _array(self, shape: s.Array, value: Any) -> list[Any]:
        elements = self._elements(value)
        if len(elements) != shape.length:
            raise self.fail(f"expected exactly {shape.length} elements, got {len(elements)}")
        return elements

    def _map(self, shape: s.Map, value: Any) -> None:
        if not hasattr(value, "items"):
            raise self.fail(f"expected a dict, got {shown(value)}")
        self._count(len(value))
        self._enter()
        integers = sizes.blocks_of(shape)
        if integers is not None:
            self._blocks(shape, integers, value)
        else:
            for key in self._ordered(value):
                self._path.item(key)
                self.write(shape.key, key)
                self.write(shape.value, value[key])
                self._path.back()
        self._depth -= 1

    def _blocks(self, shape: s.Map, integers: tuple[str, str], value: Any) -> None:
        """Of each 256 entries the codes, the keys and the values."""
        keys, values = [], []
        for key in self._ordered(value):
            self._path.item(key)
            keys.append(self._number(shape.key, key))
            values.append(self._number(shape.value, value[key]))
            self._path.back()
        signed = [each[0] == "i" for each in integers]
        for at in range(0, len(keys), BLOCK):
            sides = keys[at : at + BLOCK], values[at : at + BLOCK]
            codes = [_code(side, signed=own) for side, own in zip(sides, signed, strict=True)]
            self.out.append(codes[0] | codes[1] << 2)
            for side, code, own in zip(sides, codes, signed, strict=True):
                self._lay(side, code, signed=own)

    def _number_of(self, shape: s.Enum, value: Any) -> int:
        number = self._integer(shape.name, value)
        if shape.members is not None and number not in shape.members:
            raise self.fail(f"{digits(number)} is not a member of {shape.name}")
        return number

    def _integer(self, wanted: str, value: Any) -> int:
        try:
            return operator.index(value)
        except TypeError:
            raise self.fail(f"expected {wanted}, got {shown(value)}") from None

    def _in_range(self, name: str, value: Any) -> int:
        """An integer of the scalar `name`, which may be one of time."""
        signed, bits = (name[0] != "u", int(name[1:])) if name[0] in "iu" else (True, 64)
        number = self._integer(name, value)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if not low <= number <= high:
            raise self.fail(f"{digits(number)} does not fit in {name} ({low} to {high})")
        return number

    def _fixed(self, shape: s.Scalar, value: Any) -> None:
        """Scalars as a layout has them."""
        match shape.name:
            case "bool":
                if not is_bool(value):
                    raise self.fail(f"expected bool, got {shown(value)}")
                self.out.append(bool(value))
            case "f32" | "f64":
                self._float(shape, value)
            case "uuid":
                if not isinstance(value, uuid.UUID):
                    raise self.fail(f"expected uuid.UUID, got {shown(value)}")
                self.out += value.bytes
            case name:
                self.out += struct.pack(f"<{sizes.MEMCPY_CODES[name]}", self._in_range(name, value))

    def _float(self, shape: s.Scalar, value: Any) -> None:
        if isinstance(value, str):
            raise self.fail(f"expected {shape.name}, got {shown(value)}")
        try:
            self.out += struct.pack(f"<{sizes.MEMCPY_CODES[shape.name]}", value)
        except OverflowError:
            raise self.fail(f"{shown(value)} does not fit in {shape.name}") from None
        except struct.error:
            raise self.fail(f"expected {shape.name}, got {shown(value)}") from None

    def _scalar(self, shape: s.Scalar, value: Any) -> None:
        match shape.name:
            case "string":
                if not isinstance(value, str):
                    raise self.fail(f"expected str, got {shown(value)}")
                try:
                    self._blob(value.encode())
                except UnicodeEncodeError as error:
                    raise self.fail(f"text with a lone surrogate at {error.start}") from None
            case "bytes":
                try:
                    blob = as_bytes(value)
                except MalformedError:
                    raise self.fail(f"expected bytes, got {shown(value)}") from None
                self._blob(blob)
            case "bool" | "i8" | "u8" | "f32" | "f64" | "timestamp" | "uuid":
                self._fixed(shape, value)
            case name:
                number = self._in_range(name, value)
                write_unsigned(
                    self.out, number if name[0] == "u" else (number << 1) ^ (number >> 63), (1 << 64) - 1
                )

    def _blob(self, data: bytes) -> None:
        self._count(len(data))
        self.out += data
