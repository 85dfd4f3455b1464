"""R1. What a type is made of: the types in it, the tables of its graph, whether it has constraints.

A shape asks once and keeps the answer (mf.codec.shape), so nothing here is quick.
"""

from collections.abc import Iterable, Iterator

from mf.codec import shape as s
from mf.codec.flags import Flags


def bare(shape: s.Shape) -> s.Shape:
    """Without its constraints."""
    while isinstance(shape, s.Checked):
        shape = shape.shape
    return shape


def inside(shape: s.Shape) -> tuple[s.Shape, ...]:
    """The shapes that it is spelled with: elements, keys and values. Of a declared type none."""
    match shape:
        case s.Checked():
            return (shape.shape,)
        case s.List() | s.Set() | s.Array() | s.Optional() | s.Ref():
            return (shape.element,)
        case s.Map():
            return shape.key, shape.value
        case _:
            return ()


def is_flags(shape: s.Enum) -> bool:
    return isinstance(shape.type, type) and issubclass(shape.type, Flags)


def composites(shapes: Iterable[s.Shape]) -> Iterator[s.Struct | s.Union | s.Custom]:
    for shape in shapes:
        if isinstance(shape, s.Struct | s.Union | s.Custom):
            yield shape
        else:
            yield from composites(inside(shape))


def tables(root: s.Struct | s.Union) -> dict[str, s.Struct | s.Union]:
    """What archive values hold and refer to; in a value of another tier begin graphs of their own."""
    referred: set[s.Struct | s.Union] = set()
    seen: set[s.Composite] = set()
    waiting: list[s.Composite] = [root]
    while waiting:
        at = waiting.pop()
        if at.archive and at not in seen:
            seen.add(at)
            waiting += at.inner
            for shape in at.shapes:
                referred.update(_referred(shape))
    if not referred:
        return {}
    named: dict[str, s.Struct | s.Union] = {}
    for each in (root, *sorted(referred - {root}, key=lambda each: each.name)):
        name = snake(each.name.rpartition(".")[2])
        while name in named:
            name += "_"
        named[name] = each
    return named


def _referred(shape: s.Shape) -> Iterator[s.Struct | s.Union]:
    if isinstance(shape, s.Ref) and isinstance(shape.element, s.Struct | s.Union):
        yield shape.element
    for each in inside(shape):
        yield from _referred(each)


def snake(name: str) -> str:
    """NoSuchCollection -> no_such_collection, HTTPServer -> http_server."""
    import re

    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def has_rules(shape: s.Shape) -> bool:
    return isinstance(shape, s.Checked) or any(map(has_rules, inside(shape)))


def constrained(shape: s.Shape) -> bool:
    """Whether it, or what a value holds, has constraints."""
    if isinstance(shape, s.Struct | s.Union):
        if shape.constrained is None:
            shape.constrained = _any_constrained(shape)
        return shape.constrained
    if isinstance(shape, s.Ref):
        return False
    return isinstance(shape, s.Checked) or any(map(constrained, inside(shape)))


def _any_constrained(root: "s.Struct | s.Union") -> bool:
    seen: set[s.Composite] = set()
    waiting: list[s.Composite] = [root]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            if at.has_rules:
                return True
            waiting += at.inner
    return False
