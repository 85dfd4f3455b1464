"""The table sizes.json: of every type and every expression of a type that a descriptor mentions, what values
of it take. The compiler's plan makes it; each runtime makes its own from the descriptor, and tests compare
them.

    {"descriptor": TEXT, "sizes": LINES}, a line for each expression and for all scalars, sorted:

    EXPRESSION | SIZE/ALIGN in tier memcpy, or - | fewest bytes in febird | row, or -
"""

from collections.abc import Iterator

from mfidl import model
from mfidl.plan.fingerprint import Descriptors
from mfidl.plan.layout import Declared, size_and_align
from mfidl.plan.reach import Reach
from mfidl.plan.sizes import Sizes, row_of


def table(program: model.Program) -> Iterator[dict[str, str]]:
    """An entry for each struct, union and error of the modules that were asked for."""
    reach = Reach(program.declarations)
    descriptors, sizes = Descriptors(reach), Sizes(program.declarations)
    for module in program.requested:
        composites: tuple[model.Struct | model.Union, ...] = (*module.structs, *module.unions)
        for each in composites:
            types: list[model.Type] = [model.Primitive(scalar) for scalar in model.Scalar]
            for name in reach.of([each.reference]):
                types += _mentioned(program.declarations[name])
            lines = {_line(type_, program.declarations, sizes) for type_ in types}
            yield {"descriptor": descriptors.type(each.reference), "sizes": "\n".join(sorted(lines))}


def line(spelled: str, layout: tuple[int, int] | None, smallest: int, *, row: bool) -> str:
    shown = "-" if layout is None else f"{layout[0]}/{layout[1]}"
    return f"{spelled} | {shown} | {smallest} | {'row' if row else '-'}"


def _line(type_: model.Type, declared: Declared, sizes: Sizes) -> str:
    row = row_of(type_, declared) is not None
    return line(model.spell(type_), size_and_align(type_, declared), sizes.smallest(type_), row=row)


def _mentioned(declared: model.Declaration) -> Iterator[model.Type]:
    assert not isinstance(declared, model.Alias)
    yield declared.reference
    if isinstance(declared, model.Struct | model.Union):
        for field in model.members(declared):
            yield from _parts(field.type)


def _parts(type_: model.Type) -> Iterator[model.Type]:
    yield type_
    match type_:
        case model.MapOf(key, value):
            yield from _parts(key)
            yield from _parts(value)
        case (
            model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element) | model.OptionalOf(element)
        ):
            yield from _parts(element)
        case _:
            return
