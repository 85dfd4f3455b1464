"""F6. Finds which declared types hold something, at any depth, and how deep they nest: for a whole program in
one pass, because checking each type separately takes as many steps as there are pairs of types.
"""

from collections import defaultdict, deque
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
    users: defaultdict[str, list[str]] = defaultdict(list)
    held: dict[str, list[tuple[int, str]]] = {}
    found: dict[str, int] = {}
    for each in _declarations(program):
        types = _types(each)
        inside = {pair for type_ in types for pair in _held(type_, own)}
        held[each.full_name] = [pair for pair in inside if pair[1]]
        found[each.full_name] = 1 + max((around for around, name in inside if not name), default=0)
        for name in {name for _, name in held[each.full_name]}:
            users[name].append(each.full_name)
    # What a type holds mostly comes before it, so that most types are visited once.
    pending = deque(each.full_name for module in program.modules for each in module.declarations)
    while pending:
        name = pending.popleft()
        if found.get(name, most + 1) > most:
            continue
        deepest = 1 + max((around + found.get(inner, 0) for around, inner in held[name]), default=0)
        if found[name] < deepest:
            found[name] = deepest
            pending += users[name]
    return found


def _held(type_: Type, own: Callable[[Type], int], around: int = 0) -> Iterator[tuple[int, str]]:
    """The declared types that a type holds, each with the levels around it; "" for everything else."""
    around += own(type_)
    match type_:
        case MapOf(key, value):
            yield from _held(key, own, around)
            yield from _held(value, own, around)
        case ListOf(element) | ArrayOf(element) | SetOf(element) | OptionalOf(element):
            yield from _held(element, own, around)
        case Named(full_name=name):
            yield around, name
        case _:
            yield around, ""


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
