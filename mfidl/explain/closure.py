"""The declarations that a type reaches, and all of a program in an order that keeps walks shallow."""

from collections.abc import Iterable, Iterator

from mfidl import model


def members(declaration: model.Declaration) -> tuple[model.Field, ...]:
    """The fields of a struct or the alternatives of a union; nothing of other kinds."""
    return model.members(declaration) if isinstance(declaration, model.Struct | model.Union) else ()


def reached(program: model.Program, types: Iterable[model.Type]) -> list[model.Declaration]:
    """Every declaration in the closure of the types, each behind what it needs where there is no cycle."""
    done: dict[str, model.Declaration] = {}
    for name in model.names_in(types):
        _visit(program, name, done)
    return list(done.values())


def in_order(program: model.Program) -> list[model.Declaration]:
    """The whole program's types, each behind what it needs where there is no cycle."""
    done: dict[str, model.Declaration] = {}
    for module in program.modules:
        for declaration in module.declarations:
            _visit(program, declaration.full_name, done)
    return list(done.values())


def _visit(program: model.Program, root: str, done: dict[str, model.Declaration]) -> None:
    """Depth first without recursion: schemas may chain thousands of types."""
    seen = set(done)
    stack: list[tuple[str, Iterator[str]]] = []

    def enter(name: str) -> None:
        if name not in seen:
            seen.add(name)
            fields = members(program.declaration(name))
            stack.append((name, model.names_in([field.type for field in fields])))

    enter(root)
    while stack:
        name, pending = stack[-1]
        following = next(pending, None)
        if following is None:
            stack.pop()
            done[name] = program.declaration(name)
        else:
            enter(following)
