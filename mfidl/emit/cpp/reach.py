"""F6. Finds which declared types hold something, at any depth, and how deep they nest: for a whole program in
one pass, because checking each type separately takes as many steps as there are pairs of types.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator

from mfidl.model import (
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Program,
    SetOf,
    Struct,
    Type,
    Union,
    members,
)


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


def levels(program: Program, own: Callable[[Type], int], most: int) -> dict[str, int]:
    """How many levels of nesting each struct, error and union has at most, itself included; `own` of a type
    are those that it adds around what it holds. Some number above `most` where there are more, or no bound
    because it holds itself.
    """
    users: defaultdict[str, list[Struct | Union]] = defaultdict(list)
    pending = list(_declarations(program))
    for each in pending:
        held = (part for type_ in _types(each) for part in parts(type_) if isinstance(part, Named))
        for name in {part.full_name for part in held}:
            users[name].append(each)
    found = {each.full_name: 1 for each in pending}
    while pending:
        each = pending.pop()
        deepest = 1 + max((depth(type_, own, found) for type_ in _types(each)), default=0)
        if found[each.full_name] < deepest and found[each.full_name] <= most:
            found[each.full_name] = deepest
            pending += users[each.full_name]
    return found


def depth(type_: Type, own: Callable[[Type], int], found: dict[str, int]) -> int:
    """Of the type, where `found` are those of the declared ones."""
    match type_:
        case MapOf(key, value):
            inner = max(depth(key, own, found), depth(value, own, found))
        case ListOf(element) | ArrayOf(element) | SetOf(element) | OptionalOf(element):
            inner = depth(element, own, found)
        case Named(full_name=name):
            inner = found.get(name, 0)
        case _:
            inner = 0
    return own(type_) + inner


def _types(declared: Struct | Union) -> list[Type]:
    return [field.type for field in members(declared)]


def _declarations(program: Program) -> Iterator[Struct | Union]:
    for module in program.modules:
        yield from module.structs
        yield from module.unions
