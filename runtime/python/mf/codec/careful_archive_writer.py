"""R1. The careful writer's part for tier archive: the same bytes as the fast functions, or what is wrong with
a value and where. Functions on the `CarefulWriter`, whose path and depth are one for all tiers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mf.codec import shape as s
from mf.codec.archive_form import bare, integer_of, is_wrapped, is_zigzag, limits_of, wire_of
from mf.codec.archive_wire import BYTES, tag_of, varint
from mf.codec.careful_error import digits, shown
from mf.codec.graph import loose_of, types_of
from mf.codec.graph_unknown import Kept, kept_fields
from mf.codec.limits import U64_MAX

if TYPE_CHECKING:
    from mf.codec.careful_writer import CarefulWriter

Composite = s.Struct | s.Union


class _Table:
    """Objects of one type, in the order in which they are met."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.tag = tag_of(number, BYTES)
        self.numbers: dict[int, int] = {}
        self.out = bytearray()


class Graph:
    """While it is written: its tables, and the objects that are to be written yet."""

    def __init__(self, root: Composite, kept: Kept) -> None:
        self.kept = kept
        self.tables = {
            shape: _Table(name, number) for number, (name, shape) in enumerate(root.tables.items(), 1)
        }
        self.waiting: list[tuple[Composite, Any]] = []

    def meet(self, shape: Composite, value: Any) -> int:
        numbers = self.tables[shape].numbers
        if id(value) not in numbers:
            numbers[id(value)] = len(numbers)
            self.waiting.append((shape, value))
        return numbers[id(value)]

    def numbers(self, shape: Composite) -> dict[int, int] | None:
        table = self.tables.get(shape)
        return None if table is None else table.numbers


# Doors from the other tiers


def write_embedded(w: "CarefulWriter", shape: Composite | s.Custom, value: Any) -> None:
    """Behind its length."""
    with _sized(w):
        write_alone(w, shape, value)


def write_alone(w: "CarefulWriter", shape: Composite | s.Custom, value: Any) -> None:
    """A message, a graph, or what the user's codec makes."""
    if isinstance(shape, s.Custom):
        _custom(w, shape, value)
    elif shape.tables:
        _graph(w, shape, value)
    else:
        _message(w, shape, value)


@contextmanager
def _sized(w: "CarefulWriter", tag: bytes = b"") -> Iterator[None]:
    out, w.out = w.out, bytearray()
    yield
    out += tag + varint(len(w.out)) + w.out
    w.out = out


def _custom(w: "CarefulWriter", shape: s.Custom, value: Any) -> None:
    from mf.codec.custom import user_codec

    codec = user_codec(shape.module, shape.codec)
    try:
        made = codec.encode(value)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"[:200]
        raise w.fail(f"the codec of {shape.name} refused it: {text}") from None
    if not isinstance(made, (bytes, bytearray, memoryview)):
        raise w.fail(f"the codec of {shape.name} made {shown(made)}, and not bytes")
    w.out += made


# Graphs


def _graph(w: "CarefulWriter", shape: Composite, root: Any) -> None:
    outer, kept = w._graph, Kept()
    _check_object(w, shape, root)
    while True:
        graph = w._graph = Graph(shape, kept)
        graph.meet(shape, root)
        _write_objects(w, graph)
        for each, value in loose_of(graph.tables, root):
            graph.meet(each, value)
        _write_objects(w, graph)
        unknown = kept.of_message(root)
        if kept.judge(shape, graph.numbers):
            break
    w._graph = outer
    for table in graph.tables.values():
        w.out += table.out
    w.out += unknown


def _write_objects(w: "CarefulWriter", graph: Graph) -> None:
    for shape, value in graph.waiting:  # grows while it is gone through
        table = graph.tables[shape]
        w._path.field(table.name)
        w._path.item(table.numbers[id(value)])
        out, w.out = w.out, table.out
        with _sized(w, table.tag):
            _message(w, shape, value)
        w.out = out
        w._path.back()
        w._path.back()
    graph.waiting.clear()


def _check_object(w: "CarefulWriter", shape: Composite, value: Any) -> None:
    if not isinstance(value, types_of(shape)):
        raise w.fail(f"expected {shape.name}, got {shown(value)}")


def _index(w: "CarefulWriter", element: s.Shape, value: Any) -> int:
    assert isinstance(element, s.Struct | s.Union)
    assert w._graph is not None
    _check_object(w, element, value)
    return int(w._graph.meet(element, value))


# Messages


def _message(w: "CarefulWriter", shape: Composite, value: Any) -> None:
    _check_object(w, shape, value)
    w._enter()
    if isinstance(shape, s.Union):
        found = next(each for each in shape.alternatives if isinstance(value, each.type))  # type: ignore[arg-type]
        w._path.field(found.name)
        _single(w, found.number, found.shape, value.value)
        w._path.back()
    else:
        for each in sorted(shape.fields, key=lambda field: field.number):
            w._path.field(each.name)
            _field(w, each.number, each.shape, getattr(value, each.attribute))
            w._path.back()
        w.out += kept_fields(value.__mf_unknown__, w._graph and w._graph.kept)
    w._depth -= 1


def _field(w: "CarefulWriter", number: int, shape: s.Shape, value: Any) -> None:
    """A field, or what a message around a container holds."""
    match shape:
        case s.Checked():
            _field(w, number, shape.shape, value)
            w._check(shape.rules, value)
        case s.Optional():
            if value is not None:
                _single(w, number, shape.element, value)
        case s.List():
            _repeated(w, number, shape.element, w._elements(value))
        case s.Set():
            _repeated(w, number, shape.element, w._ordered(w._members(value)))
        case s.Array():
            _repeated(w, number, shape.element, w._array(shape, value))
        case s.Map():
            _map(w, number, shape, value)
        case _:
            _single(w, number, shape, value)


def _repeated(w: "CarefulWriter", number: int, element: s.Shape, values: list[Any]) -> None:
    if not values:
        return
    w._enter()
    if wire_of(element) == BYTES:
        for at, each in enumerate(values):
            w._path.item(at)
            _single(w, number, element, each)
            w._path.back()
    else:
        with _sized(w, tag_of(number, BYTES)):
            for at, each in enumerate(values):
                w._path.item(at)
                _payload(w, element, each)
                w._path.back()
    w._depth -= 1


def _map(w: "CarefulWriter", number: int, shape: s.Map, value: Any) -> None:
    if not hasattr(value, "items"):
        raise w.fail(f"expected a dict, got {shown(value)}")
    if not value:
        return
    w._enter()
    for key in w._ordered(value):
        w._path.item(key)
        with _sized(w, tag_of(number, BYTES)):
            _single(w, 1, shape.key, key)
            _single(w, 2, shape.value, value[key])
        w._path.back()
    w._depth -= 1


def _single(w: "CarefulWriter", number: int, shape: s.Shape, value: Any) -> None:
    """One value with its tag."""
    if isinstance(shape, s.Checked):
        _single(w, number, shape.shape, value)
        w._check(shape.rules, value)
        return
    tag = tag_of(number, wire_of(shape))
    if is_wrapped(shape):
        with _sized(w, tag):
            _field(w, 1, shape, value)
        return
    match shape:
        case s.Struct() | s.Union() if shape.archive:
            with _sized(w, tag):
                _message(w, shape, value)
        case s.Struct() | s.Union() | s.Custom():
            outer, w._graph = w._graph, None
            with _sized(w, tag):
                if isinstance(shape, s.Custom):
                    _custom(w, shape, value)
                else:
                    w.write(shape, value)
            w._graph = outer
        case _:
            w.out += tag
            _payload(w, shape, value)


def _payload(w: "CarefulWriter", shape: s.Shape, value: Any) -> None:
    """Of a scalar, enum or reference."""
    plain = bare(shape)
    match plain:
        case s.Ref(element=element):
            w.out += varint(_index(w, element, value))
        case s.Scalar(name="uuid"):
            w.out += b"\x10"
            w._fixed(plain, value)
        case s.Scalar(name="bool" | "f32" | "f64" | "timestamp"):
            w._fixed(plain, value)
        case s.Scalar(coding="fixed"):
            w._fixed(plain, value)
        case s.Scalar(name="string" | "bytes"):
            w._scalar(plain, value)
        case _:
            w.out += varint(_number(w, plain, value))
    if isinstance(shape, s.Checked):
        w._check(shape.rules, value)


def _number(w: "CarefulWriter", shape: s.Shape, value: Any) -> int:
    name = integer_of(shape)
    assert name is not None
    number = w._number_of(shape, value) if isinstance(shape, s.Enum) else w._integer(name, value)
    low, high = limits_of(name)
    if not low <= number <= high:
        raise w.fail(f"{digits(number)} does not fit in {name} ({low} to {high})")
    return (number << 1) ^ (number >> 63) if is_zigzag(shape) else number & U64_MAX
