"""F6. The order of objects in a graph: breadth first from the root, the references of an object in the order
of field numbers; unreachable objects follow the others in their original order. Fields that the schema does
not know may contain indices: they are kept only if no object moves.
"""

from collections import deque
from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.errors import EncodeError
from mfidl.dynamic.schema import Schema, refs_in
from mfidl.dynamic.value import UNKNOWN, Graph, Value

Renumber = Callable[[str, int], int]


def ordered(schema: Schema, root: str, graph: Graph, path: str) -> Graph:
    """The same graph, with its objects numbered as a writer numbers them."""
    return _Order(schema, root, graph, path).graph(keep_unmet=True)


def without_unmet(schema: Schema, root: str, graph: Graph) -> Graph:
    """The same without unreachable objects."""
    return _Order(schema, root, graph, "").graph(keep_unmet=False)


class _Order:
    def __init__(self, schema: Schema, root: str, graph: Graph, path: str) -> None:
        names = schema.tables(root)
        if foreign := [name for name in graph.tables if name not in names]:
            raise EncodeError(path, f"a graph of {root} has no table of {foreign[0]}")
        self._schema = schema
        self._path = path
        self._unknown = graph.unknown
        self._keeps_unknown = True
        self._objects = {name: graph.tables.get(name, []) for name in names}
        if not self._objects[root]:
            raise EncodeError(path, "a graph without a root")
        # For each table the old indices, in the order of visiting.
        self._met: dict[str, dict[int, None]] = {name: {} for name in names}
        self._pending: deque[tuple[str, int]] = deque()
        self._meet(root, 0)
        self._follow()

    def graph(self, *, keep_unmet: bool) -> Graph:
        if keep_unmet:
            for name, objects in self._objects.items():
                self._pending += [
                    (name, place) for place in range(len(objects)) if place not in self._met[name]
                ]
            for name, place in self._pending:
                self._met[name][place] = None
            self._follow()  # finds nothing new, but refuses invalid references
        places = {name: {old: new for new, old in enumerate(met)} for name, met in self._met.items()}
        self._keeps_unknown = all(
            list(met) == list(range(len(self._objects[name]))) for name, met in self._met.items()
        )
        tables = {
            name: [self._copied(name, old, lambda to, place: places[to][place]) for old in met]
            for name, met in self._met.items()
        }
        return Graph(tables, self._unknown if self._keeps_unknown else b"")

    def _follow(self) -> None:
        while self._pending:
            name, place = self._pending.popleft()
            self._copied(name, place, self._meet)

    def _meet(self, name: str, place: int) -> int:
        count = len(self._objects[name])
        if not 0 <= place < count:
            raise EncodeError(
                self._path, f"a reference to object {place} of {name}, of which there are {count}"
            )
        if place not in self._met[name]:
            self._met[name][place] = None
            self._pending.append((name, place))
        return place

    def _copied(self, name: str, place: int, renumber: Renumber) -> Value:
        declaration = self._schema.program.declaration(name)
        assert isinstance(declaration, model.Struct | model.Union)
        value = self._objects[name][place]
        copied = _renumbered(self._schema, declaration.reference, value, renumber)
        return (
            copied if self._keeps_unknown else _without_unknown(self._schema, declaration.reference, copied)
        )


def _without_unknown(schema: Schema, type_: model.Type, value: Value) -> Value:
    """A copy without the unknown fields of it and of what it holds in this tier."""
    match type_, value:
        case model.OptionalOf(element), _:
            return None if value is None else _without_unknown(schema, element, value)
        case ((model.ListOf(element) | model.ArrayOf(element, _)), (list() | tuple())):
            return [_without_unknown(schema, element, each) for each in value]
        case model.MapOf(_, held), dict():
            return {key: _without_unknown(schema, held, each) for key, each in value.items()}
        case model.Named(full_name, _), dict():
            declaration = schema.program.declaration(full_name)
            assert isinstance(declaration, model.Struct | model.Union)
            if declaration.tier is not model.Tier.ARCHIVE:
                return value
            types = {field.name: field.type for field in model.members(declaration)}
            return {
                name: _without_unknown(schema, types[name], each) if name in types else each
                for name, each in value.items()
                if name != UNKNOWN
            }
        case _:
            return value


def _leads_to_refs(schema: Schema, type_: model.Type) -> bool:
    return any(refs_in(type_)) or any(schema.tables(name) for name in model.names_in([type_]))


def _renumbered(schema: Schema, type_: model.Type, value: Value, renumber: Renumber) -> Value:
    """A copy with other indices. Invalid values are kept, for the writer to refuse."""
    if not _leads_to_refs(schema, type_):
        return value
    match type_, value:
        case model.RefOf(element), int():
            return renumber(element.full_name, value)
        case model.OptionalOf(element), _:
            return None if value is None else _renumbered(schema, element, value, renumber)
        case ((model.ListOf(element) | model.ArrayOf(element, _)), (list() | tuple())):
            return [_renumbered(schema, element, each, renumber) for each in value]
        case model.MapOf(_, held), dict():
            return {key: _renumbered(schema, held, value[key], renumber) for key in _sorted(value)}
        case model.Named(full_name, _), dict():
            declaration = schema.program.declaration(full_name)
            assert isinstance(declaration, model.Struct | model.Union)
            if declaration.tier is not model.Tier.ARCHIVE:
                return value
            fields = sorted(model.members(declaration), key=lambda field: field.number or 0)
            copied = dict(value)
            for field in fields:
                if field.name in value and field.name != UNKNOWN:
                    copied[field.name] = _renumbered(schema, field.type, value[field.name], renumber)
            return copied
        case _:
            return value


def _sorted(keys: dict[Value, Value]) -> list[Value]:
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)
