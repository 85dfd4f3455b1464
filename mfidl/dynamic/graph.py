"""F6. The order of objects in a graph: as they are met from the root on, breadth first, the references of an
object in the order of field numbers; what is never met stands behind the others, in the order that it had.
"""

from collections import deque
from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.errors import EncodeError
from mfidl.dynamic.schema import Schema, refs_in
from mfidl.dynamic.value import UNKNOWN, Graph, Value

Renumber = Callable[[str, int], int]


def ordered(schema: Schema, root: str, graph: Graph, path: str) -> Graph:
    """The same graph, its objects numbered as a writer numbers them."""
    names = schema.tables(root)
    objects = {name: graph.tables.get(name, []) for name in names}
    if foreign := [name for name in graph.tables if name not in names]:
        raise EncodeError(path, f"a graph of {root} has no table of {foreign[0]}")
    if not objects[root]:
        raise EncodeError(path, "a graph without a root")
    order = _met(schema, root, objects, path)
    places = {name: {old: new for new, old in enumerate(order[name])} for name in names}
    tables: dict[str, list[Value]] = {}
    for name in names:
        type_ = schema.program.declaration(name)
        assert isinstance(type_, model.Struct | model.Union)
        tables[name] = [
            _renumbered(schema, type_.reference, objects[name][old], lambda to, old_: places[to][old_])
            for old in order[name]
        ]
    return Graph(tables)


def _met(schema: Schema, root: str, objects: dict[str, list[Value]], path: str) -> dict[str, list[int]]:
    """Of each table, the old places in their new order."""
    order: dict[str, dict[int, None]] = {name: {} for name in objects}
    pending: deque[tuple[str, int]] = deque()

    def meet(name: str, place: int) -> int:
        if not 0 <= place < len(objects[name]):
            reason = f"a reference to object {place} of {name}, of which there are {len(objects[name])}"
            raise EncodeError(path, reason)
        if place not in order[name]:
            order[name][place] = None
            pending.append((name, place))
        return place

    meet(root, 0)
    while pending:
        name, place = pending.popleft()
        type_ = schema.program.declaration(name)
        assert isinstance(type_, model.Struct | model.Union)
        _renumbered(schema, type_.reference, objects[name][place], meet)
    for name, found in order.items():
        for place in range(len(objects[name])):
            if place not in found:
                found[place] = None
                pending.append((name, place))
    while pending:  # only so that wrong references are found here too
        name, place = pending.popleft()
        type_ = schema.program.declaration(name)
        assert isinstance(type_, model.Struct | model.Union)
        _renumbered(schema, type_.reference, objects[name][place], meet)
    return {name: list(found) for name, found in order.items()}


def _leads_to_refs(schema: Schema, type_: model.Type) -> bool:
    return any(refs_in(type_)) or any(schema.tables(name) for name in model.names_in([type_]))


def _renumbered(schema: Schema, type_: model.Type, value: Value, renumber: Renumber) -> Value:
    """A copy with other numbers. What is not a value of the type stays, for the writer to refuse."""
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
