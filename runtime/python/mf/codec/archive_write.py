"""R1. Functions that write tier archive (docs/proto.md): fields by number, a tag in front of each.

    message_write(shape, of)        -> write(w, value): the message of a struct or union, without its length
    graph_write(shape, of)          -> write(w, root): a table for each type that is referred to

A graph numbers its objects breadth first, from the root on; identity is `id()`. So nothing recurses, however
long a chain of references is. Whether its unknown fields can stay is known when all have their numbers: it is
written again if not (mf.codec.graph_unknown).
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from mf.codec import packed, sequences, sizes
from mf.codec import shape as s
from mf.codec.archive_form import integer_of, is_wrapped, is_zigzag, wire_of
from mf.codec.archive_wire import BYTES, tag_of
from mf.codec.composed import Of, Write, checked_write, items_write, named_write, numbers_write, sized_write
from mf.codec.contents import bare, classes_of
from mf.codec.custom_coding import custom_bytes
from mf.codec.failure import CodecError, item_step
from mf.codec.febird import fixed_pair, pair_of
from mf.codec.graph_unknown import Kept, kept_fields
from mf.codec.graph_walk import loose_of
from mf.codec.layout import attributes_of, number_of
from mf.codec.limits import U64_MAX, limits_of
from mf.codec.varint import write_unsigned
from mf.codec.writer import (
    Writer,
    changed,
    check_set,
    exactly,
    expected,
    in_order,
    in_range,
    listed,
    mapping,
    members,
)

Composite = s.Struct | s.Union


# --- Messages


def message_write(shape: Composite, of: Of) -> Write:
    return _union(shape, of) if isinstance(shape, s.Union) else _struct(shape, of)


def _union(shape: s.Union, of: Of) -> Write:
    writes = [
        (each.type, each.name, tag_of(each.number, wire_of(each.shape)), _value(each.shape, of))
        for each in shape.alternatives
    ]
    types: Any = classes_of(shape)

    def write(w: Writer, value: Any) -> None:
        if not isinstance(value, types):
            raise expected(shape.name, value)
        w.enter()
        for kind, name, tag, write_value in writes:
            if isinstance(value, kind):  # type: ignore[arg-type] # a class, then
                try:
                    w.out += tag
                    write_value(w, value.value)
                except CodecError as failure:
                    failure.in_field(name)
                    raise
                except AttributeError:
                    check_set(((name, "value"),), value)
                    raise
                break
        w.depth -= 1

    return write


def _struct(shape: s.Struct, of: Of) -> Write:
    fields = sorted(shape.fields, key=attrgetter("number"))
    get = attributes_of(fields)
    types: Any = classes_of(shape)
    write_fields = named_write(
        [each.name for each in fields], [_field(each.number, each.shape, of) for each in fields]
    )
    names = [(each.name, each.attribute) for each in shape.fields]

    def write(w: Writer, value: Any) -> None:
        if not isinstance(value, types):
            raise expected(shape.name, value)
        w.enter()
        try:
            parts = get(value)
        except AttributeError:
            check_set(names, value)
            raise
        write_fields(w, parts)
        if value.__mf_unknown__:
            w.out += kept_fields(value.__mf_unknown__, w.graph and w.graph.kept)
        w.depth -= 1

    return write


def _field(number: int, shape: s.Shape, of: Of) -> Write:
    """A field, or what a message around a container holds; nothing for what is absent or empty."""
    match shape:
        case s.Checked(shape=inner, rules=rules):
            return checked_write(_field(number, inner, of), rules)
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
    return _tagged(tag_of(number, wire_of(shape)), _value(shape, of))


def _tagged(tag: bytes, write_value: Write) -> Write:
    def write(w: Writer, value: Any) -> None:
        w.out += tag
        write_value(w, value)

    return write


# --- Values behind their tags


def _value(shape: s.Shape, of: Of) -> Write:
    if is_wrapped(shape) and not isinstance(shape, s.Checked):
        return sized_write(_field(1, shape, of))
    match shape:
        case s.Checked(shape=inner, rules=rules):
            return checked_write(_value(inner, of), rules)
        case s.Struct() | s.Union() if shape.archive:
            coding = of(shape)
            if coding.write_message is not None:
                return sized_write(coding.write_message)
            return sized_write(lambda w, value: coding.write_message(w, value))  # which holds itself
        case s.Struct() | s.Union():
            return sized_write(_foreign(shape, of))
        case s.Custom():
            return sized_write(lambda w, value: w.out.extend(custom_bytes(shape, value)))
        case s.Ref(element=s.Struct() | s.Union() as element):
            return lambda w, value: w.count(w.graph.index(element, value))
        case s.Scalar(name="uuid"):
            return sized_write(pair_of(shape, of)[1])
        case s.Scalar(coding="fixed"):
            return fixed_pair(shape)[1]
        case s.Scalar(name="bool" | "f32" | "f64" | "timestamp" | "string" | "bytes"):
            return pair_of(shape, of)[1]
        case _:
            return _varint(shape)


def _foreign(shape: Composite, of: Of) -> Write:
    """Of another tier, in which graphs of their own begin."""
    write_value = pair_of(shape, of)[1]

    def write(w: Writer, value: Any) -> None:
        graph, w.graph = w.graph, None
        write_value(w, value)
        w.graph = graph

    return write


def _varint(shape: s.Shape) -> Write:
    name = integer_of(shape)
    assert name is not None
    low, high = limits_of(name)
    zigzag, enum = is_zigzag(shape), shape if isinstance(shape, s.Enum) else None

    def write(w: Writer, value: Any) -> None:
        number = value if enum is None else number_of(enum, value)
        if type(number) is not int or not low <= number <= high:
            number = in_range(name, low, high, number)
        number = (number << 1) ^ (number >> 63) if zigzag else number & U64_MAX
        if number < 128:
            w.out.append(number)
        else:
            write_unsigned(w.out, number, U64_MAX)

    return write


# --- Containers


def _repeated(number: int, element: s.Shape, taken: Callable[[Any], Any], of: Of) -> Write:
    tag = tag_of(number, BYTES)
    if wire_of(element) == BYTES:
        items = items_write(_value(element, of), tag)
    else:
        items = _tagged(tag, sized_write(_packed(element, of)))

    def write(w: Writer, value: Any) -> None:
        values = taken(value)
        if len(values):
            w.enter()
            items(w, values)
            w.depth -= 1

    return write


def _packed(element: s.Shape, of: Of) -> Write:
    plain, each = bare(element), items_write(_value(element, of))
    return each if isinstance(plain, s.Ref) else numbers_write(element, _packer(plain), each)


def _packer(plain: s.Shape) -> Callable[[Any], Any]:
    name = integer_of(plain)
    if name is None:
        assert isinstance(plain, s.Scalar)
        if plain.coding:
            letter = sizes.MEMCPY_CODES[plain.name]
            return lambda values: packed.pack_fixed(values, letter)
        return sequences.WRITERS[plain.name]
    (low, high), code = limits_of(name), sizes.MEMCPY_CODES[name]
    if is_zigzag(plain):
        return lambda values: packed.pack_signed(values, code)
    if name[0] == "i":
        return lambda values: packed.pack_complements(values, low, high)
    return lambda values: packed.pack_unsigned(values, code)


def _map(number: int, shape: s.Map, of: Of) -> Write:
    tag = tag_of(number, BYTES)
    write_key, write_value = _single(1, shape.key, of), _single(2, shape.value, of)

    def write_pair(w: Writer, entry: tuple[Any, Any]) -> None:
        write_key(w, entry[0])
        write_value(w, entry[1])

    write_entry = sized_write(write_pair)

    def write(w: Writer, value: Any) -> None:
        if not mapping(value):
            return
        w.enter()
        key: Any = None
        keys = in_order(value)
        try:
            for key in keys:
                w.out += tag
                write_entry(w, (key, value[key]))
        except CodecError as failure:
            failure.in_item(key)
            raise
        except KeyError:
            raise changed() from None
        w.depth -= 1

    return write


# --- Graphs


class _Table:
    """Objects of one type, in the order in which they are met."""

    def __init__(self, name: str, number: int, shape: Composite, of: Of) -> None:
        self.name = name
        self.types = classes_of(shape)
        self.write = _single(number, shape, of)
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
