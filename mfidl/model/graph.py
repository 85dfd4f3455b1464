"""F3. Which types the values of an archive type refer to: the tables of its graph (docs/proto.md)."""

from collections.abc import Iterator, Mapping

from mfidl.model.declaration import Declaration, Struct, Union, members
from mfidl.model.plan import Tier
from mfidl.model.types import ArrayOf, ListOf, MapOf, OptionalOf, RefOf, Type, names_in


def graph_tables(declared: Mapping[str, Declaration], start: Struct | Union) -> tuple[str, ...]:
    """Full names of the tables in order, its own type first; empty if its values refer to nothing.

    They refer to what they hold in this tier refers to: in a value of another one begin graphs of their own.
    """
    found: set[str] = set()
    seen: set[str] = set()
    pending = [start.full_name]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        held = declared[name]
        if isinstance(held, Struct | Union) and held.tier is Tier.ARCHIVE:
            types = [field.type for field in members(held)]
            pending += names_in(types)
            for each in types:
                found |= set(_referred(each))
    return (start.full_name, *sorted(found - {start.full_name})) if found else ()


def _referred(type_: Type) -> Iterator[str]:
    match type_:
        case RefOf(element):
            yield element.full_name
        case MapOf(_, value):
            yield from _referred(value)
        case ListOf(element) | ArrayOf(element, _) | OptionalOf(element):
            yield from _referred(element)
        case _:
            return
