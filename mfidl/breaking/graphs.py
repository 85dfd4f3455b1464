"""F6. Archive types whose values are graphs: each type that is referred to has a table with a number."""

from mfidl import model
from mfidl.breaking.change import Changes
from mfidl.breaking.reach import Reach
from mfidl.breaking.rules import Impact
from mfidl.model import Tier


def compare_graphs(old: model.Program, new: model.Program, reach: Reach, changes: Changes) -> None:
    """Every archive type that both programs have, because a reference far inside of it counts."""
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
    was, now = model.graph_tables(old, before), model.graph_tables(new, after)
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
        return
    changes.report("B0212", (Impact.WIRE,), words, after.span, before.span, reach.paths(after.full_name))
