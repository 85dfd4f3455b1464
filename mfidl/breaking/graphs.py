"""F6. Archive types whose values are graphs: each referenced type has a numbered table."""

from collections.abc import Iterator

from mfidl import model
from mfidl.breaking.change import Changes
from mfidl.breaking.reach import Reach
from mfidl.breaking.rules import Impact
from mfidl.model import Tier


def compare_graphs(old: model.Program, new: model.Program, reach: Reach, changes: Changes) -> None:
    """Compares every archive type that both programs have, because a deeply nested reference matters, too."""
    declared = {each.full_name: each for module in new.modules for each in module.declarations}
    for module in old.modules:
        for before in module.declarations:
            after = declared.get(before.full_name)
            if _is_archive(before) and _is_archive(after):
                _compare(old, new, before, after, reach, changes)  # type: ignore[arg-type] # both are archives


def _is_archive(declaration: model.Declaration | None) -> bool:
    return isinstance(declaration, model.Struct | model.Union) and declaration.tier is Tier.ARCHIVE


def _compare(
    old: model.Program,
    new: model.Program,
    before: model.Struct | model.Union,
    after: model.Struct | model.Union,
    reach: Reach,
    changes: Changes,
) -> None:
    was, now = model.graph_tables(old.declarations, before), model.graph_tables(new.declarations, after)
    moved = [name for number, name in enumerate(was) if name in now and now.index(name) != number]
    if not was and now:
        words = f"values of `{after.full_name}` are graphs now, because they refer to `{now[-1]}`"
    elif was and not now:
        words = f"values of `{after.full_name}` are no longer graphs: they refer to nothing"
    elif moved:
        number, then = now.index(moved[0]) + 1, was.index(moved[0]) + 1
        words = (
            f"in graphs of `{after.full_name}` the table of `{moved[0]}` was number {then}, and is {number}"
        )
    else:
        if was:
            _new_references(new, before, after, changes)
        return
    changes.report("B0212", (Impact.WIRE,), words, after.span, before.span, reach.paths(after.full_name))


def _new_references(
    program: model.Program,
    before: model.Struct | model.Union,
    after: model.Struct | model.Union,
    changes: Changes,
) -> None:
    """New fields of a struct that was in graphs already. Alternatives of a union are B0311 in any case."""
    if not isinstance(after, model.Struct):
        return
    known = {field.number for field in model.members(before)}
    for field in after.fields:
        if field.number not in known and _refers(program, field.type):
            words = (
                f"field `{field.name}` of struct `{after.full_name}` is new in a graph, and refers to "
                "objects; older programs that write a graph in which objects have moved leave it out"
            )
            changes.report("B0213", (Impact.BEHAVIOUR,), words, field.span, before.span)


def _refers(program: model.Program, type_: model.Type) -> bool:
    """Whether its values hold references, directly or in values that they contain."""
    for each in _held(type_):
        if isinstance(each, model.RefOf):
            return True
        declared = program.declaration(each.full_name)
        if _is_archive(declared) and model.graph_tables(program.declarations, declared):  # type: ignore[arg-type] # an archive
            return True
    return False


def _held(type_: model.Type) -> Iterator[model.RefOf | model.Named]:
    match type_:
        case model.RefOf() | model.Named():
            yield type_
        case model.AliasOf(_, target):
            yield from _held(target)
        case (
            model.MapOf(_, element)
            | model.ListOf(element)
            | model.ArrayOf(element, _)
            | model.OptionalOf(element)
        ):
            yield from _held(element)
        case _:
            pass
