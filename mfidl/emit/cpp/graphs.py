"""F6. Finds the types that are graphs: archive types with references, directly or in their content."""

from collections.abc import Iterable, Iterator

from mfidl.emit.naming import Scope, snake
from mfidl.model import (
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Program,
    RefOf,
    Struct,
    Tier,
    Type,
    Union,
    members,
)


class Graphs:
    """Look-ups over a program. A value of another tier inside of an archive has graphs of its own."""

    def __init__(self, program: Program) -> None:
        self._archives: dict[str, Struct | Union] = {}
        for module in program.modules:
            for each in module.declarations:
                if isinstance(each, Struct | Union) and each.tier is Tier.ARCHIVE:
                    self._archives[each.full_name] = each
        self._linked = self._find_linked()

    def is_linked(self, full_name: str) -> bool:
        """Whether a value of the type holds references, directly or deeper."""
        return full_name in self._linked

    def holds(self, type_: Type) -> bool:
        """The same for a value of this type inside an archive."""
        return any(isinstance(each, RefOf) or self._names_linked(each) for each in parts(type_))

    def names(self, type_: Type) -> bool:
        """Whether the type names a graph, so that its values outside of archives are handles."""
        return any(self._names_linked(each) for each in parts(type_))

    def tables(self, root: Struct | Union) -> list[tuple[str, str]]:
        """(name, full name of its type) of every table of the graph with such a root."""
        scope = Scope()
        others = sorted(self._referred(root.full_name) - {root.full_name})
        return [(scope.take(snake(each.rpartition(".")[2])), each) for each in (root.full_name, *others)]

    def _names_linked(self, type_: Type) -> bool:
        return isinstance(type_, Named) and type_.full_name in self._linked

    def _referred(self, root: str) -> set[str]:
        """The types that objects of the graph refer to, anywhere."""
        found: set[str] = set()
        seen: set[str] = set()
        pending = [root]
        while pending:
            name = pending.pop()
            if name in seen or name not in self._archives:
                continue
            seen.add(name)
            for part in self._parts_of(name):
                if isinstance(part, RefOf):
                    found.add(part.element.full_name)
                    pending.append(part.element.full_name)
                elif isinstance(part, Named):
                    pending.append(part.full_name)
        return found

    def _parts_of(self, name: str) -> Iterable[Type]:
        return (part for field in members(self._archives[name]) for part in parts(field.type))

    def _find_linked(self) -> frozenset[str]:
        holders: dict[str, list[str]] = {}
        pending = []
        for name in self._archives:
            for part in self._parts_of(name):
                if isinstance(part, RefOf):
                    pending.append(name)
                elif isinstance(part, Named):
                    holders.setdefault(part.full_name, []).append(name)
        found: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += holders.get(name, ())
        return frozenset(found)


def parts(type_: Type) -> Iterator[Type]:
    """The expanded type, and the types in its expression; the target of a reference is not held."""
    yield type_
    match type_:
        case MapOf(key, value):
            yield from parts(key)
            yield from parts(value)
        case ListOf(element) | ArrayOf(element) | OptionalOf(element):
            yield from parts(element)
        case _:
            pass
