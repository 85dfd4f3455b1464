"""F4. Checks that no struct or union contains itself directly, through fields, alternatives and arrays alone,
or through its defaults: such a value would have no end.
"""

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note
from mfidl.semantics.graph import TypeGraph, made_by, parts

_SHOWN = 12  # the shown steps of a loop


def check_recursion(graph: TypeGraph, diagnostics: Diagnostics) -> None:
    """One message a loop, at the first of its types, with the path and the fields on it."""
    for loop in graph.direct_loops():
        holders = [name for name in loop if isinstance(graph.declarations[name], model.Struct | model.Union)]
        if holders:
            _report(graph, holders, diagnostics)
    for loop in graph.default_loops():
        _report_default(graph, loop, diagnostics)


def _report(graph: TypeGraph, loop: list[str], diagnostics: Diagnostics) -> None:
    inside = frozenset(loop)
    name, seen, fields = loop[0], set[str](), []
    while name not in seen:
        seen.add(name)
        holder = graph.declarations[name]
        assert isinstance(holder, model.Struct | model.Union)
        field, name = _step(holder, inside)
        fields.append((holder, field))
    words = " -> ".join(f"{holder.name}.{field.name}" for holder, field in fields[:_SHOWN])
    words += " -> ..." if len(fields) > _SHOWN else ""
    first, field = fields[0]
    notes = [
        Note(f"through {_word(holder)} `{each.name}` of `{holder.name}`", each.span)
        for holder, each in fields[1:_SHOWN]
    ]
    hint = f"make it a list: `{field.name}: list<{_as_written(field.spelled)}>`"
    optional = next((each for holder, each in fields if isinstance(holder, model.Struct)), None)
    if optional is not None:
        hint = f"make the field optional, `{optional.name}: {_as_written(optional.spelled)}?`, or a list"
    diagnostics.error("E0406", field.span, notes=notes, help=hint, name=first.name, path=words)


def _report_default(graph: TypeGraph, loop: list[str], diagnostics: Diagnostics) -> None:
    """At the first default on the loop, with the way that leads back to its type."""
    inside = frozenset(loop)
    fields: list[tuple[model.Struct | model.Union, model.Field]] = []
    name, seen = loop[0], set[str]()
    while name not in seen:
        seen.add(name)
        holder = graph.declarations[name]
        if isinstance(holder, model.Struct | model.Union):
            field, name = _needing_step(holder, inside)
            fields.append((holder, field))
        else:
            name = next(target for target in graph.needed(name) if target in inside)
    start = next(
        (
            at
            for at, (_, field) in enumerate(fields)
            if any(name in inside for name in made_by(field.default))
        ),
        0,
    )
    fields = fields[start:] + fields[:start]
    words = " -> ".join(f"{holder.name}.{field.name}" for holder, field in fields[:_SHOWN])
    words += " -> ..." if len(fields) > _SHOWN else ""
    notes = [
        Note(f"through field `{each.name}` of `{holder.name}`", each.span)
        for holder, each in fields[1:_SHOWN]
    ]
    first, field = fields[0]
    diagnostics.error("E0442", field.span, notes=notes, name=first.name, path=words)


def _needing_step(holder: model.Struct | model.Union, loop: frozenset[str]) -> tuple[model.Field, str]:
    """A field that leads on inside the loop, preferably through its default, which can be repaired."""
    for field in model.members(holder):
        for target in made_by(field.default):
            if target in loop:
                return field, target
    return _step(holder, loop)


def _as_written(type_: model.Type) -> str:
    """A type on a loop is in the module of all types that it names: the last word of a name is enough."""
    if isinstance(type_, model.ArrayOf):
        return f"array<{_as_written(type_.element)}, {type_.length}>"
    return model.spell(type_).rpartition(".")[2]


def _word(holder: model.Struct | model.Union) -> str:
    return "field" if isinstance(holder, model.Struct) else "alternative"


def _step(holder: model.Struct | model.Union, loop: frozenset[str]) -> tuple[model.Field, str]:
    """A field that leads on, inside of the loop."""
    for field in model.members(holder):
        for target, direct in parts(field.type):
            if direct and target in loop:
                return field, target
    raise AssertionError("a strongly connected component has a way on from each member")
