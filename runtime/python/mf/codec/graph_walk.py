"""R1. Graphs of objects in memory (docs/protocol.md, section 8): what refers to what, in the order in which
writers number the objects of the tables. Nothing recurses along references, so chains may be long.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from mf.codec import shape as s
from mf.codec.archive_form import refers
from mf.codec.contents import bare

Composite = s.Struct | s.Union


def loose_of(tables: Iterable[Composite], root: Any) -> list[tuple[Composite, Any]]:
    """The objects that nothing referred to when the graph of this root was read, with their types."""
    found: tuple[tuple[str, Any], ...] = getattr(root, "__mf_loose__", ())
    if not found:
        return []
    named = {each.name: each for each in tables}
    return [(named[name], value) for name, value in found]


def references(shape: s.Shape, value: Any) -> Iterator[tuple[Composite, Any]]:
    """What a value refers to, also from what it holds, in the order of field numbers."""
    plain = bare(shape)
    if value is None:
        return
    match plain:
        case s.Ref(element=s.Struct() | s.Union() as element):
            yield element, value
        case s.Optional(element=element):
            yield from references(element, value)
        case s.List(element=element) | s.Array(element=element) if refers(element):
            for each in value:
                yield from references(element, each)
        case s.Map(value=element) if refers(element):
            for key in sorted(value):
                yield from references(element, value[key])
        case s.Struct() | s.Union():
            for inner, part in _referring(plain, value):
                yield from references(inner, part)


def _referring(shape: Composite, value: Any) -> Iterator[tuple[s.Shape, Any]]:
    """Of what a value holds, all that may refer to something."""
    if isinstance(shape, s.Struct):
        for field in referring_fields(shape):
            yield field.shape, getattr(value, field.attribute)
    elif shape.tables:
        for alternative in shape.alternatives:
            if type(value) is alternative.type:
                yield alternative.shape, value.value


@s.kept
def referring_fields(shape: s.Struct) -> list[s.Field]:
    """The fields that hold references, by number."""
    found = [each for each in shape.fields if refers(each.shape)] if shape.tables else []
    return sorted(found, key=lambda each: each.number)


def reachable(shape: Composite, root: Any) -> set[int]:
    """The ids of all objects of a graph."""
    met = {id(root)}
    waiting: list[tuple[Composite, Any]] = [(shape, root)]
    for at, value in waiting:  # grows while it is gone through
        for other, each in references(at, value):
            if id(each) not in met:
                met.add(id(each))
                waiting.append((other, each))
    return met


def keep_loose(shape: Composite, root: Any, tables: dict[Any, list[Any]]) -> None:
    """The objects to which nothing refers stay with the root of the graph that was read."""
    met = reachable(shape, root)
    loose = tuple((each.name, value) for each, own in tables.items() for value in own if id(value) not in met)
    if loose:
        root.__mf_loose__ = loose
