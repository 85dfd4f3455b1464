"""F6. Which declared types hold something, however far in: found for a whole program in one pass, because
asking each type by itself takes as many steps as there are pairs of types.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator

from mfidl.model import ArrayOf, ListOf, MapOf, Named, OptionalOf, Program, SetOf, Struct, Type, Union


def parts(type_: Type) -> Iterator[Type]:
    """The type, and the types that it is written with; a reference holds nothing."""
    yield type_
    match type_:
        case MapOf(key, value):
            yield from parts(key)
            yield from parts(value)
        case ListOf(element) | ArrayOf(element) | SetOf(element) | OptionalOf(element):
            yield from parts(element)
        case _:
            pass


def holders(
    program: Program, declared: Callable[[Struct | Union], bool], part: Callable[[Type], bool]
) -> frozenset[str]:
    """Full names of the structs, errors and unions that are `declared`, have such a `part`, or hold one
    that does.
    """
    users: defaultdict[str, list[str]] = defaultdict(list)
    pending: list[str] = []
    for each in _declarations(program):
        found = declared(each)
        for field in each.fields if isinstance(each, Struct) else each.alternatives:
            for inner in parts(field.type):
                found = found or part(inner)
                if isinstance(inner, Named):
                    users[inner.full_name].append(each.full_name)
        if found:
            pending.append(each.full_name)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += users[name]
    return frozenset(reached)


def _declarations(program: Program) -> Iterator[Struct | Union]:
    for module in program.modules:
        yield from module.structs
        yield from module.unions
