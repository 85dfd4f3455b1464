"""R1. Graphs in JSON (docs/json.md): tables of objects, in which a `ref` is the index of its object.

Objects are numbered breadth first, as the writers of bytes do it, and references are read as indices, which
name their objects when all tables are there. Nothing recurses along references, so chains may be long.
"""

from typing import Any, Final

from mf.codec import shape as s
from mf.codec.archive_form import refers
from mf.codec.contents import bare, classes_of
from mf.codec.failure import MalformedError
from mf.codec.graph_walk import loose_of, references, referring_fields

Composite = s.Struct | s.Union
Tables = dict[Composite, list[Any]]
Numbers = dict[tuple[Composite, int], int]
"""The indices of objects, by type and identity."""


def numbered(root: Composite, value: Any) -> tuple[Tables, Numbers]:
    """The objects of each table, and their numbers."""
    objects: Tables = {each: [] for each in root.tables.values()}
    numbers: Numbers = {}
    queue: list[tuple[Composite, Any]] = []

    def add(shape: Composite, one: Any) -> None:
        if (shape, id(one)) in numbers:
            return
        if not isinstance(one, classes_of(shape)):
            raise MalformedError
        numbers[shape, id(one)] = len(objects[shape])
        objects[shape].append(one)
        queue.append((shape, one))

    def add_referred() -> None:
        for shape, one in queue:  # grows while it is gone through
            for other, referred in references(shape, one):
                add(other, referred)
        queue.clear()

    add(root, value)
    add_referred()
    for shape, one in loose_of(root.tables.values(), value):
        add(shape, one)
    add_referred()
    return objects, numbers


class Reference:
    """Takes the place of an object until all have been read: its index, and where that was read."""

    __slots__ = ("index", "offset", "path", "shape")

    def __init__(self, shape: Composite, index: int, offset: int, path: str) -> None:
        self.shape: Final = shape
        self.index: Final = index
        self.offset: Final = offset
        self.path: Final = path


def resolved(tables: Tables) -> list[Reference]:
    """Puts the objects in the places of all references to them; returns the references to none."""
    wrong: list[Reference] = []
    for shape, objects in tables.items():
        for each in objects:
            _resolved(shape, each, tables, wrong)
    return wrong


def _resolved(shape: s.Shape, value: Any, tables: Tables, wrong: list[Reference]) -> Any:
    """The same value, or what takes its place."""
    plain = bare(shape)
    if value is None or not refers(plain):
        return value
    match plain:
        case s.Ref():
            objects = tables[value.shape]
            if value.index < len(objects):
                return objects[value.index]
            wrong.append(value)
        case s.Optional():
            return _resolved(plain.element, value, tables, wrong)
        case s.List() | s.Array():
            value[:] = [_resolved(plain.element, each, tables, wrong) for each in value]
        case s.Map():
            for key, each in value.items():
                value[key] = _resolved(plain.value, each, tables, wrong)
        case s.Struct():
            for field in referring_fields(plain):
                part = getattr(value, field.attribute)
                setattr(value, field.attribute, _resolved(field.shape, part, tables, wrong))
        case s.Union():
            chosen = next(each for each in plain.alternatives if type(value) is each.type)
            value.value = _resolved(chosen.shape, value.value, tables, wrong)
    return value
