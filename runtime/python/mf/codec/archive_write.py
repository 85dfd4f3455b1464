"""R1. Functions that write tier archive (docs/proto.md): fields by number, a tag in front of each.

    message_write(shape, of)        -> write(w, value): the message of a struct or union, without its length
    graph_write(shape, of)          -> write(w, root): a table for each type that is referred to

A graph numbers its objects breadth first, from the root on; identity is `id()`. So nothing recurses, however
long a chain of references is. Whether its unknown fields can stay is known when all have their numbers: it is
written again if not (mf.codec.graph_unknown).
"""

import struct
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from mf.codec import packed, sequences, sizes
from mf.codec import shape as s
from mf.codec.archive_form import code_of, integer_of, is_wrapped, is_zigzag, wire_of
from mf.codec.archive_wire import BYTES, close, tag_of
from mf.codec.contents import bare
from mf.codec.custom_coding import custom_bytes
from mf.codec.failure import CodecError, digits, item_step
from mf.codec.febird_write import write_of
from mf.codec.graph_unknown import Kept, kept_fields
from mf.codec.graph_walk import loose_of, types_of
from mf.codec.layout import BULK_ERRORS, number_of, rules_of, write_fixed
from mf.codec.limits import MAX_DEPTH, U64_MAX, limits_of
from mf.codec.varint import write_unsigned
from mf.codec.writer import (
    Writer,
    blob,
    check,
    elements,
    exactly,
    expected,
    in_order,
    integer,
    listed,
    mapping,
    members,
    truth,
    utf8,
)

Composite = s.Struct | s.Union
Write = Callable[[Writer, Any], None]
Of = Callable[[s.Composite], Any]


# --- Messages


def message_write(shape: Composite, of: Of) -> Write:
    return _union(shape, of) if isinstance(shape, s.Union) else _struct(shape, of)


def _union(shape: s.Union, of: Of) -> Write:
    chosen = [(each.type, each.name, _single(each.number, each.shape, of)) for each in shape.alternatives]
    by_type = {kind: (name, write) for kind, name, write in reversed(chosen)}
    types: Any = types_of(shape)

    def write(w: Writer, value: Any) -> None:
        if not isinstance(value, types):
            raise expected(shape.name, value)
        w.enter()
        found = by_type.get(type(value))
        if found is None:  # of a class derived from one
            found = next((name, own) for kind, name, own in chosen if isinstance(value, kind))  # type: ignore[arg-type]
        name, write_value = found
        try:
            write_value(w, value.value)
        except CodecError as failure:
            failure.in_field(name)
            raise
        w.depth -= 1

    return write


def _struct(shape: s.Struct, of: Of) -> Write:
    steps = [
        (each.name, attrgetter(each.attribute), _field(each.number, each.shape, of))
        for each in sorted(shape.fields, key=lambda each: each.number)
    ]
    types: Any = types_of(shape)

    def write(w: Writer, value: Any) -> None:
        if not isinstance(value, types):
            raise expected(shape.name, value)
        w.depth += 1
        if w.depth > MAX_DEPTH:
            raise CodecError(f"nested deeper than {MAX_DEPTH}")
        name = ""
        try:
            for name, get, step in steps:  # noqa: B007 - the path wants it
                step(w, get(value))
        except CodecError as failure:
            failure.in_field(name)
            raise
        if value.__mf_unknown__:
            w.out += kept_fields(value.__mf_unknown__, w.graph and w.graph.kept)
        w.depth -= 1

    return write


def _field(number: int, shape: s.Shape, of: Of) -> Write:
    """A field, or what a message around a container holds; nothing for what is absent or empty."""
    match shape:
        case s.Checked(shape=inner, rules=rules):
            write_inner = _field(number, inner, of)

            def write_checked(w: Writer, value: Any) -> None:
                write_inner(w, value)
                check(rules, value)

            return write_checked
        case s.Optional(element=element):
            write_present = _single(number, element, of)

            def write_optional(w: Writer, value: Any) -> None:
                if value is not None:
                    write_present(w, value)

            return write_optional
        case s.List(element=element):
            return _repeated(number, element, listed, of)
        case s.Set(element=element):
            return _repeated(number, element, members, of)
        case s.Array(element=element, length=length):
            return _repeated(number, element, lambda value: exactly(value, length), of)
        case s.Map():
            return _map(number, shape, of)
        case _:
            return _single(number, shape, of)


def _single(number: int, shape: s.Shape, of: Of) -> Write:
    """One value with its tag."""
    if isinstance(shape, s.Checked):
        inner, rules = _single(number, shape.shape, of), shape.rules

        def write_checked(w: Writer, value: Any) -> None:
            inner(w, value)
            check(rules, value)

        return write_checked
    tag = tag_of(number, wire_of(shape))
    if is_wrapped(shape):
        return _sized(tag, _field(1, shape, of))
    match shape:
        case s.Struct() | s.Union() if shape.archive:
            coding = of(shape)
            if coding.write_message is not None:
                return _sized(tag, coding.write_message)
            return _sized(tag, lambda w, value: coding.write_message(w, value))  # which holds itself
        case s.Struct() | s.Union():
            return _sized(tag, _foreign(shape, of))
        case s.Custom():
            return _sized(tag, lambda w, value: w.out.extend(custom_bytes(shape, value)))
        case s.Scalar(name="string"):
            return _text(tag)
        case s.Scalar(name="bytes"):

            def write_bytes(w: Writer, value: Any) -> None:
                data = blob(value)
                w.out += tag
                w.count(len(data))
                w.out += data

            return write_bytes
        case _:
            return _payload(shape, tag)


def _text(tag: bytes) -> Write:
    def write(w: Writer, value: Any) -> None:
        try:
            data = value.encode() if type(value) is str else utf8(value)
        except UnicodeEncodeError:
            data = utf8(value)
        size = len(data)
        w.out += tag
        if size < 128:
            w.out.append(size)
        else:
            w.count(size)
        w.out += data

    return write


def _sized(tag: bytes, inner: Write) -> Write:
    """The bytes behind their length."""
    head = tag + b"\0"

    def write(w: Writer, value: Any) -> None:
        out = w.out
        out += head
        begin = len(out)
        inner(w, value)
        size = len(out) - begin
        if size < 128:
            out[begin - 1] = size
        else:
            close(out, begin)

    return write


def _foreign(shape: Composite, of: Of) -> Write:
    write_value = write_of(shape, of)

    def write(w: Writer, value: Any) -> None:
        graph, w.graph = w.graph, None
        write_value(w, value)
        w.graph = graph

    return write


def _payload(shape: s.Shape, tag: bytes = b"") -> Write:
    """Of a scalar, enum or reference, behind its tag."""
    match shape:
        case s.Ref(element=s.Struct() | s.Union() as element):

            def write_index(w: Writer, value: Any) -> None:
                w.out += tag
                w.count(w.graph.index(element, value))

            return write_index
        case s.Scalar(name="bool"):

            def write_bool(w: Writer, value: Any) -> None:
                w.out += tag
                w.out.append(truth(value))

            return write_bool
        case s.Scalar(name="f32" | "f64" | "timestamp" | "uuid") | s.Scalar(coding="fixed"):
            return _fixed(shape, tag + b"\x10" if shape.name == "uuid" else tag)
        case s.Enum(open=False):
            return _enum(shape, tag)
        case _:
            return _varint(shape, tag)


def _fixed(shape: s.Scalar, tag: bytes) -> Write:
    pack = struct.Struct("<d").pack

    def write(w: Writer, value: Any) -> None:
        w.out += tag
        write_fixed(w, shape, value)

    def write_f64(w: Writer, value: Any) -> None:
        w.out += tag
        if type(value) is float:
            w.out += pack(value)
        else:
            write_fixed(w, shape, value)

    return write_f64 if shape is s.F64 else write


def _enum(shape: s.Enum, tag: bytes) -> Write:
    """Of a closed one, which has all its bytes here."""
    write = _varint(shape, b"")
    texts: dict[Any, bytes] = {}
    for each in shape.numbers:
        w = Writer()
        write(w, each)
        texts[each] = tag + w.out

    def write_member(w: Writer, value: Any) -> None:
        if isinstance(value, int) and value in texts:
            w.out += texts[value]
        else:
            w.out += texts[number_of(shape, value)]

    return write_member


def _varint(shape: s.Shape, tag: bytes) -> Write:
    name = integer_of(shape)
    assert name is not None
    low, high = limits_of(name)
    zigzag = is_zigzag(shape)

    def write(w: Writer, value: Any) -> None:
        number = value
        if type(value) is not int or isinstance(shape, s.Enum):
            number = number_of(shape, value) if isinstance(shape, s.Enum) else integer(name, value)
        if not low <= number <= high:
            raise CodecError(f"{digits(number)} does not fit in {name} ({low} to {high})")
        w.out += tag
        number = (number << 1) ^ (number >> 63) if zigzag else number & U64_MAX
        if number < 128:
            w.out.append(number)
        else:
            write_unsigned(w.out, number, U64_MAX)

    return write


# --- Containers


def _repeated(number: int, element: s.Shape, taken: Callable[[Any], Any], of: Of) -> Write:
    if wire_of(element) == BYTES:
        items = _each(_single(number, element, of))
    else:
        items = _sized(tag_of(number, BYTES), _packed(element))

    def write(w: Writer, value: Any) -> None:
        values = taken(value)
        if len(values):
            w.enter()
            items(w, values)
            w.depth -= 1

    return write


def _each(write_one: Write) -> Write:
    def write(w: Writer, values: Any) -> None:
        index = 0
        values = elements(values)
        try:
            for index, value in enumerate(values):  # noqa: B007 - the path wants it
                write_one(w, value)
        except CodecError as failure:
            failure.in_item(index)
            raise

    return write


def _packed(element: s.Shape) -> Write:
    plain, rules = bare(element), rules_of(element)
    payload = _payload(plain)

    def write_checked(w: Writer, value: Any) -> None:
        payload(w, value)
        check(rules, value)

    each = _each(write_checked if rules else payload)
    if isinstance(plain, s.Ref):
        return each
    pack = _packer(plain)
    numbers = plain.numbers.keys() if isinstance(plain, s.Enum) and not plain.open else None

    def write(w: Writer, values: Any) -> None:
        try:
            fits = all(rule.holds_all(values) for rule in rules)
            if fits and (numbers is None or numbers >= set(values)):
                w.out += pack(values)
                return
        except BULK_ERRORS:
            pass  # which one is wrong?
        each(w, values)

    return write


def _packer(plain: s.Shape) -> Callable[[Any], Any]:
    name = integer_of(plain)
    if name is None:
        assert isinstance(plain, s.Scalar)
        if plain.coding:
            letter = sizes.MEMCPY_CODES[plain.name]
            return lambda values: packed.pack_fixed(values, letter)
        return sequences.WRITERS[plain.name]
    low, high = limits_of(name)
    if is_zigzag(plain):
        return lambda values: packed.pack_signed(values, code_of(name))
    if name[0] == "i":
        return lambda values: packed.pack_members(values, low, high)
    return lambda values: packed.pack_unsigned(values, code_of(name))


def _map(number: int, shape: s.Map, of: Of) -> Write:
    head = tag_of(number, BYTES) + b"\0"
    write_key, write_value = _single(1, shape.key, of), _single(2, shape.value, of)

    def write(w: Writer, value: Any) -> None:
        if not mapping(value):
            return
        w.enter()
        key: Any = None
        keys = in_order(value)
        try:
            for key in keys:
                w.out += head
                begin = len(w.out)
                write_key(w, key)
                write_value(w, value[key])
                close(w.out, begin)
        except CodecError as failure:
            failure.in_item(key)
            raise
        w.depth -= 1

    return write


# --- Graphs


class _Table:
    """Objects of one type, in the order in which they are met."""

    __slots__ = ("name", "numbers", "out", "tag", "types", "write")

    def __init__(self, name: str, number: int, shape: Composite, of: Of) -> None:
        self.name = name
        self.types = types_of(shape)
        self.write = _sized(tag_of(number, BYTES), of(shape).write_message)
        self.numbers: dict[int, int] = {}
        self.out = bytearray()


class Graph:
    """While it is written: its tables, and the objects that are to be written yet."""

    def __init__(self, root: Composite, kept: Kept, of: Of) -> None:
        self.kept = kept
        self.tables = {
            shape: _Table(name, number, shape, of)
            for number, (name, shape) in enumerate(root.tables.items(), 1)
        }
        self._waiting: list[tuple[_Table, Any]] = []

    def index(self, shape: Composite, value: Any) -> int:
        """Its number from now on; it is written when its turn comes, and kept alive until then."""
        table = self.tables[shape]
        number = table.numbers.get(id(value))
        if number is None:
            if not isinstance(value, table.types):
                raise expected(shape.name, value)
            number = table.numbers[id(value)] = len(table.numbers)
            self._waiting.append((table, value))
        return number

    def write(self, w: Writer) -> None:
        out = w.out
        for table, value in self._waiting:  # grows while it is gone through
            w.out = table.out
            try:
                table.write(w, value)
            except CodecError as failure:
                failure.steps.append(item_step(table.numbers[id(value)]))
                failure.in_field(table.name)
                raise
        w.out = out
        self._waiting.clear()

    def numbers(self, shape: Composite) -> dict[int, int] | None:
        table = self.tables.get(shape)
        return None if table is None else table.numbers


def graph_write(shape: Composite, of: Of) -> Write:
    tables: Iterable[Composite] = shape.tables.values()

    def write(w: Writer, root: Any) -> None:
        outer, kept = w.graph, Kept()
        while True:
            graph = w.graph = Graph(shape, kept, of)
            graph.index(shape, root)
            graph.write(w)
            for each, value in loose_of(tables, root):
                graph.index(each, value)
            graph.write(w)
            unknown = kept.of_message(root)
            if kept.judge(shape, graph.numbers):
                break
        w.graph = outer
        for table in graph.tables.values():
            w.out += table.out
        w.out += unknown

    return write


def embedded(write: Write) -> Write:
    """Behind its length, in a value of another tier."""
    return _sized(b"", write)
