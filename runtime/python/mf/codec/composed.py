"""R1. What the tiers febird and archive read and write in the same way: positions with constraints, many
values of one type, the fields of a struct, texts behind their length. Each function is a closure over those
of its parts, and adds its step to the path of a failure.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mf.codec import shape as s
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.layout import BULK_ERRORS, fits_of
from mf.codec.reader import Reader
from mf.codec.rules import Rule, held_by
from mf.codec.varint import varint
from mf.codec.writer import Writer, check, elements

Read = Callable[[Reader], Any]
Write = Callable[[Writer, Any], None]
Of = Callable[[s.Composite], Any]
"""Gives the coding of a struct or union inside (mf.codec.coding)."""


def checked_read(read_inner: Read, rules: Sequence[Rule]) -> Read:
    holds = held_by(rules)

    def read(r: Reader) -> Any:
        at = r.pos
        value = read_inner(r)
        if value is not None and not holds(value):
            r.check(rules, value, at)
        return value

    return read


def checked_write(write_inner: Write, rules: Sequence[Rule]) -> Write:
    holds = held_by(rules)

    def write(w: Writer, value: Any) -> None:
        write_inner(w, value)
        if value is not None and not holds(value):
            check(rules, value)

    return write


def items_read(read_one: Read) -> Callable[[Reader, int], list[Any]]:
    """So many values, one behind the other."""

    def read(r: Reader, count: int) -> list[Any]:
        values: list[Any] = []
        append = values.append
        try:
            for _ in range(count):
                append(read_one(r))
        except CodecError as failure:
            failure.in_item(len(values))
            raise
        return values

    return read


def items_write(write_one: Write, tag: bytes = b"") -> Write:
    """`tag`: what each has in front of it."""

    def write(w: Writer, values: Any) -> None:
        index, out = 0, w.out
        values = elements(values)
        try:
            for index, value in enumerate(values):  # noqa: B007 - the path wants it
                if tag:
                    out += tag
                write_one(w, value)
        except CodecError as failure:
            failure.in_item(index)
            raise

    return write


def numbers_write(shape: s.Shape, bulk: Callable[[Any], Any], write_each: Write) -> Write:
    """Many numbers by one call of `bulk`; one by one where that fails: which of them is wrong?"""
    fits = fits_of(shape)

    def write(w: Writer, values: Any) -> None:
        try:
            if fits is None or fits(values):
                w.out += bulk(values)
                return
        except BULK_ERRORS:
            pass
        write_each(w, values)

    return write


def named_write(names: Sequence[str], writes: Sequence[Write]) -> Callable[[Writer, Sequence[Any]], None]:
    """A struct, from the values of its fields."""

    def write(w: Writer, parts: Sequence[Any]) -> None:
        name = ""
        try:
            for name, write_field, part in zip(names, writes, parts):  # noqa: B007, B905 - for the path; faster
                write_field(w, part)
        except CodecError as failure:
            failure.in_field(name)
            raise

    return write


def texts_read(length: Callable[[Reader], int]) -> tuple[Read, Read]:
    """Strings and bytes behind their length, which `length` reads where it is not short."""

    def read_string(r: Reader) -> str:
        pos = r.pos
        if pos < r.end and (size := r.data[pos]) < 128 and pos + size < r.end:
            pos += 1
        else:
            size = length(r)
            pos = r.pos
        r.budget -= 64 + size
        if r.budget < 0:
            r.pos = pos
            raise r.over_budget()
        r.pos = end = pos + size
        try:
            return r.data[pos:end].decode()
        except UnicodeDecodeError as error:
            raise r.fail(Fault.INVALID_UTF8, "text is not UTF-8", pos + error.start) from None

    def read_bytes(r: Reader) -> bytes:
        size = length(r)
        r.charge(64 + size)
        return r.take(size)

    return read_string, read_bytes


def sized_read(read_inner: Read, length: Callable[[Reader], int]) -> Read:
    """What fills the bytes behind a length."""

    def read(r: Reader) -> Any:
        size = length(r)
        outer, r.end = r.end, r.pos + size
        value = read_inner(r)
        r.end = outer
        return value

    return read


def sized_write(write_inner: Write) -> Write:
    """Behind the length of its bytes, which is known when they have been written."""

    def write(w: Writer, value: Any) -> None:
        out = w.out
        out.append(0)
        begin = len(out)
        write_inner(w, value)
        size = len(out) - begin
        if size < 128:
            out[begin - 1] = size
        else:
            out[begin - 1 : begin] = varint(size)

    return write
