"""R1. Writes integers in blocks of one width (docs/protocol.md, section 8, "Rows" and "Maps of integers").

    row_writer(shape, name, counted=...)    -> write(w, values): of a list or set, or of an array
    entries_writer(shape, names)            -> write(w, mapping): of a map, behind its count

`name` is the integer type on the wire, `shape` what the numbers stand for. No loop of Python sees a single
number, unless one of them is wrong or of a class of its own.
"""

from collections.abc import Callable
from typing import Any

from mf.codec import map_blocks, rows
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.layout import BULK_ERRORS, fits_of, number_of, rules_of
from mf.codec.limits import limits_of
from mf.codec.writer import Writer, check, elements, in_order, in_range


def row_writer(shape: s.Shape, name: str, *, counted: bool) -> Callable[[Writer, Any], None]:
    bulk, numbers_of = rows.WRITERS[name], _Numbers(shape, name)
    fits = fits_of(shape)

    def write(w: Writer, values: Any) -> None:
        begin = len(w.out)
        try:
            if fits is None or fits(values):
                bulk(w.out, values, counted)
                return
        except BULK_ERRORS:
            del w.out[begin:]
        bulk(w.out, numbers_of.one_by_one(values), counted)

    return write


def entries_writer(shape: s.Map, names: tuple[str, str]) -> Callable[[Writer, Any], None]:
    bulk = map_blocks.writer_of(*names)
    keys_of, values_of = _Numbers(shape.key, names[0]), _Numbers(shape.value, names[1])
    keys_fit, values_fit = fits_of(shape.key), fits_of(shape.value)

    def write(w: Writer, given: Any) -> None:
        keys = in_order(given)
        if not keys:
            return
        begin = len(w.out)
        try:
            values = [given[key] for key in keys]
            if (not keys_fit or keys_fit(keys)) and (not values_fit or values_fit(values)):
                bulk(w.out, keys, values)
                return
        except BULK_ERRORS:
            del w.out[begin:]
        numbers: tuple[list[int], list[int]] = ([], [])
        key: Any = None
        try:
            for key in keys:
                numbers[0].append(keys_of.number(key))
                numbers[1].append(values_of.number(given[key]))
        except CodecError as failure:
            failure.in_item(key)
            raise
        bulk(w.out, *numbers)

    return write


class _Numbers:
    """What numbers of one type may be."""

    def __init__(self, shape: s.Shape, name: str) -> None:
        self._plain = bare(shape)
        self._name = self._plain.name if isinstance(self._plain, s.Scalar) else name
        self._limits = limits_of(name)
        self._rules = rules_of(shape)

    def one_by_one(self, values: Any) -> list[int]:
        numbers: list[int] = []
        try:
            for value in elements(values):
                numbers.append(self.number(value))
        except CodecError as failure:
            failure.in_item(len(numbers))
            raise
        return numbers

    def number(self, value: Any) -> int:
        number = number_of(self._plain, value) if isinstance(self._plain, s.Enum) else value
        number = in_range(self._name, *self._limits, number)
        check(self._rules, value)
        return number
