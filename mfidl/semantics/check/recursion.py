"""F4. No struct contains itself directly: through fields and arrays alone, a value would have no end."""

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note
from mfidl.semantics.graph import TypeGraph, parts


def check_recursion(graph: TypeGraph, diagnostics: Diagnostics) -> None:
    """One message a loop, at its first struct, with the path and the fields on it."""
    for loop in graph.direct_loops():
        structs = [name for name in loop if isinstance(graph.declarations[name], model.Struct)]
        if structs:
            _report(graph, structs, diagnostics)


def _report(graph: TypeGraph, loop: list[str], diagnostics: Diagnostics) -> None:
    start = loop[0]
    path, name, fields = [start], start, []
    while len(path) == 1 or name not in path[:-1]:
        struct = graph.declarations[name]
        assert isinstance(struct, model.Struct)
        field, target = _step(struct, loop)
        fields.append((struct, field))
        name = target
        path.append(name)
    words = " -> ".join(f"{struct.name}.{field.name}" for struct, field in fields)
    first, field = fields[0]
    notes = [
        Note(f"through field `{each.name}` of `{struct.name}`", each.span) for struct, each in fields[1:]
    ]
    hint = f"make the field optional, `{field.name}: {_as_written(field.spelled)}?`, or a list"
    diagnostics.error("E0406", field.span, notes=notes, help=hint, name=first.name, path=words)


def _as_written(type_: model.Type) -> str:
    """A type that stands in the module of all that it names, as every type on a loop does."""
    if isinstance(type_, model.ArrayOf):
        return f"array<{_as_written(type_.element)}, {type_.length}>"
    return model.spell(type_).rpartition(".")[2]


def _step(struct: model.Struct, loop: list[str]) -> tuple[model.Field, str]:
    """A field that leads on, inside of the loop."""
    for field in struct.fields:
        for target, direct in parts(field.type):
            if direct and target in loop:
                return field, target
    raise AssertionError("a strongly connected component has a way on from each member")
