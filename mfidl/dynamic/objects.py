"""F6. Plain values (value.py) as the objects that the runtime's codecs take, and back.

The tables of a `Graph` become objects that refer to each other. Its unknown fields mean what they meant only
while no object moves: the runtime's writer decides that, from the order which a `Reading` keeps.
"""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any
from uuid import UUID

from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.graph_unknown import GraphUnknown, Reading
from mf.codec.graph_walk import keep_loose
from mf.codec.json_graph import Numbers, Tables, numbered
from mf.codec.json_text import to_f32
from mfidl.dynamic.value import UNKNOWN, Graph, Repeated, Value

Composite = s.Struct | s.Union


def of_plain(shape: s.Shape, value: Value) -> Any:
    """Raises CodecError for a value of another form; what numbers and texts are, the codec checks."""
    return _Objects().value(bare(shape), value)


def of_root(
    shape: s.Shape,
    value: Any,
    opened: Callable[[Any], Value],
    others: Callable[[str], list[Value]] = lambda _: [],
) -> Any:
    """The same of a value of the model, each part of which `opened` makes plain. Where a graph begins, it is
    the root without the graph; every reference leads to the first of the `others` of its type.
    """
    return _FromRoots(opened, others).value(bare(shape), value)


def to_plain(shape: s.Shape, value: Any) -> Value:
    return _Plain({}).value(bare(shape), value)


def reachable(shape: s.Shape, graph: Graph) -> Graph:
    """Without objects that nothing refers to, numbered as writers number them."""
    root = of_plain(shape, graph)
    root.__mf_loose__ = ()
    found: Graph = to_plain(shape, root)
    return found


def _is_same(shape: s.Shape) -> bool:
    """Whether an object is its plain value."""
    return isinstance(shape, s.Scalar) and shape.name not in ("timestamp", "duration", "uuid", "f32")


class _Objects:
    def __init__(self, opened: Callable[[Any], Value] | None = None) -> None:
        self._opened = opened
        self._tables: dict[str, list[Any]] | None = None
        """Of the graph that is made, by the names of its types."""
        self._reading: Reading | None = None

    def value(self, shape: s.Shape, value: Value) -> Any:
        if self._opened is not None:
            value = self._opened(value)
        match shape:
            case s.Scalar() | s.Enum() | s.Custom():
                return _simple(shape, value)
            case s.Optional(element=element):
                return None if value is None else self.value(bare(element), value)
            case s.List(element=element) | s.Array(element=element):
                return self._elements(bare(element), value)
            case s.Set(element=element):
                return _different(self._elements(bare(element), value))
            case s.Map():
                return self._map(shape, value)
            case s.Ref(element=element):
                return self._referred(element.name, value)  # type: ignore[union-attr] # a struct or union
            case s.Struct() | s.Union() if shape.tables and self._tables is None:
                return self._graph(shape, value)
            case s.Struct() | s.Union():
                return self._filled(shape, value)
            case _:
                raise AssertionError(shape)

    def _elements(self, element: s.Shape, values: Any) -> list[Any]:
        if isinstance(values, Repeated):
            return [self.value(element, values.element)] * values.count if values.count else []
        if not isinstance(values, list | tuple | set | frozenset):
            raise CodecError(f"expected a list, not {type(values).__name__}")
        if _is_same(element):
            return list(values)
        made: list[Any] = []
        try:
            for each in values:
                made.append(self.value(element, each))
        except CodecError as failure:
            failure.in_item(len(made))
            raise
        return made

    def _map(self, shape: s.Map, entries: Any) -> dict[Any, Any]:
        if not isinstance(entries, dict):
            raise CodecError(f"expected a dict, not {type(entries).__name__}")
        keys = self._elements(bare(shape.key), list(entries))
        return dict(zip(keys, self._elements(bare(shape.value), list(entries.values())), strict=True))

    def _referred(self, name: str, index: Any) -> Any:
        objects = (self._tables or {}).get(name, [])
        if not isinstance(index, int) or not 0 <= index < len(objects):
            raise CodecError(f"a reference to object {index} of {name}, of which there are {len(objects)}")
        return objects[index]

    def _graph(self, root: Composite, graph: Any) -> Any:
        if not isinstance(graph, Graph):
            raise CodecError(f"{root.name} is a Python Graph, not {type(graph).__name__}")
        shapes = {each.name: each for each in root.tables.values()}
        for name in graph.tables:
            if name not in shapes:
                raise CodecError(f"a graph of {root.name} has no table of {name}")
        if not graph.tables.get(root.name):
            raise CodecError("a graph without a root")
        self._reading = Reading()
        self._tables = {
            name: [self._empty(shape, each) for each in graph.tables.get(name, [])]
            for name, shape in shapes.items()
        }
        for name, objects in self._tables.items():
            for made, value in zip(objects, graph.tables.get(name, []), strict=True):
                self._filled(shapes[name], value, made)
            self._reading.objects.append((shapes[name], objects))
        value = self._tables[root.name][0]
        if graph.unknown:
            self._reading.unknown = graph.unknown
            value.__mf_reading__ = self._reading
        keep_loose(root, value, {shapes[name]: own for name, own in self._tables.items()})
        self._tables = self._reading = None
        return value

    def _empty(self, shape: Composite, value: Any) -> Any:
        """The object that the contents of this value go into."""
        if not isinstance(value, dict):
            raise CodecError(f"{shape.name} is a Python dict, not {type(value).__name__}")
        if isinstance(shape, s.Struct):
            return object.__new__(shape.type)
        return object.__new__(_chosen(shape, value).type)  # type: ignore[arg-type] # a class

    def _filled(self, shape: Composite, value: Any, into: Any = None) -> Any:
        made = self._empty(shape, value) if into is None else into
        outer = self._tables, self._reading
        if not shape.archive:
            self._tables = self._reading = None  # in a value of another tier begin graphs of their own
        for name, attribute, part in _given(shape, value, made):
            try:
                setattr(made, attribute, self.value(bare(part), value[name]))
            except CodecError as failure:
                failure.in_field(name)
                raise
        if shape.archive and isinstance(shape, s.Struct):
            unknown = value.get(UNKNOWN, b"")
            made.__mf_unknown__ = self._reading.kept(unknown) if self._reading and unknown else unknown
        self._tables, self._reading = outer
        return made


class _FromRoots(_Objects):
    def __init__(self, opened: Callable[[Any], Value], others: Callable[[str], list[Value]]) -> None:
        super().__init__(opened)
        self._others = others

    def _graph(self, root: Composite, value: Any) -> Any:
        tables = {each.name: self._others(each.name) for each in root.tables.values() if each is not root}
        made = super()._graph(root, Graph({root.name: [value], **tables}))
        made.__mf_loose__ = ()
        return made

    def _referred(self, name: str, _: Any) -> Any:
        return super()._referred(name, 0)


def _simple(shape: s.Shape, value: Any) -> Any:
    match shape:
        case s.Scalar(name="uuid"):
            if not isinstance(value, bytes) or len(value) != 16:
                raise CodecError("a uuid is 16 bytes")
            return UUID(bytes=value)
        case s.Scalar(name="f32") if type(value) is float and isfinite(near := to_f32(value)):
            return near
        case _:
            return value


def _different(elements: list[Any]) -> set[Any]:
    made = set(elements)
    if len(made) != len(elements):
        raise CodecError("an element of a set is there twice")
    return made


def _given(shape: Composite, value: dict[str, Any], made: Any) -> Iterator[tuple[str, str, s.Shape]]:
    """(name, attribute, shape) of what the value has; the object gets the defaults of the others."""
    if isinstance(shape, s.Union):
        chosen = _chosen(shape, value)
        yield chosen.name, "value", chosen.shape
        return
    names = {each.name for each in shape.fields}
    for name in value:
        if name not in names and (name != UNKNOWN or not shape.archive):
            raise CodecError(f"{shape.name} has no field `{name}`")
    for each in shape.fields:
        if each.name in value:
            yield each.name, each.attribute, each.shape
        elif each.default is not None:
            setattr(made, each.attribute, each.default())
        elif isinstance(bare(each.shape), s.Optional):
            setattr(made, each.attribute, None)
        else:
            raise CodecError(f"the field `{each.name}` is missing")


def _chosen(shape: s.Union, value: dict[str, Any]) -> s.Alternative:
    name = next(iter(value), "")
    for each in shape.alternatives:
        if each.name == name and len(value) == 1:
            return each
    raise CodecError(f"{shape.name} is a dict of one alternative, not of {', '.join(value) or 'none'}")


class _Plain:
    """`numbers`: indices of the objects of the graph around, by type and identity."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def value(self, shape: s.Shape, value: Any) -> Value:
        match shape:
            case s.Scalar(name="uuid"):
                return value.bytes
            case s.Enum() | s.Scalar(name="timestamp" | "duration"):
                return int(value)
            case s.Scalar() | s.Custom():
                return value
            case s.Optional(element=element):
                return None if value is None else self.value(bare(element), value)
            case s.List(element=element) | s.Array(element=element):
                return self._elements(bare(element), value)
            case s.Set(element=element):
                return self._elements(bare(element), sorted(value))
            case s.Map(key=key, value=held):
                ordered = sorted(value)
                keys = self._elements(bare(key), ordered)
                return dict(
                    zip(keys, self._elements(bare(held), [value[each] for each in ordered]), strict=True)
                )
            case s.Ref(element=s.Struct() | s.Union() as element):
                return self._numbers[element, id(value)]
            case s.Struct() | s.Union():
                return self._composite(shape, value)
            case _:
                raise AssertionError(shape)

    def _elements(self, element: s.Shape, values: Any) -> list[Any]:
        if isinstance(values, Repeated):
            return [self.value(element, values.element)] * values.count if values.count else []
        return list(values) if _is_same(element) else [self.value(element, each) for each in values]

    def _composite(self, shape: Composite, value: Any) -> Value:
        if shape.tables and not self._numbers:
            return _graph(shape, value)
        inner = self if shape.archive else _Plain({})
        return inner.contents(shape, value)

    def contents(self, shape: Composite, value: Any) -> dict[str, Any]:
        if isinstance(shape, s.Union):
            chosen = next(each for each in shape.alternatives if type(value) is each.type)
            return {chosen.name: self.value(bare(chosen.shape), value.value)}
        made = {
            each.name: self.value(bare(each.shape), getattr(value, each.attribute)) for each in shape.fields
        }
        if shape.archive and value.__mf_unknown__:
            made[UNKNOWN] = bytes(value.__mf_unknown__)
        return made


def _graph(root: Composite, value: Any) -> Graph:
    objects, numbers = numbered(root, value)
    reading = _reading(value, objects)
    if reading is not None:  # unknown fields are worth something in the order in which they were read
        objects = dict(reading.objects)
        numbers = {(shape, id(each)): at for shape, own in objects.items() for at, each in enumerate(own)}
    inner = _Plain(numbers)
    tables = {shape.name: [inner.contents(shape, each) for each in own] for shape, own in objects.items()}
    return Graph(tables, b"" if reading is None else reading.unknown)


def _reading(root: Any, objects: Tables) -> Reading | None:
    """That of unknown fields in the graph, if there are any."""
    found: Reading | None = getattr(root, "__mf_reading__", None)
    for own in objects.values():
        for each in own:
            unknown = getattr(each, "__mf_unknown__", b"")
            if found is None and isinstance(unknown, GraphUnknown):
                found = unknown.reading
    return found
